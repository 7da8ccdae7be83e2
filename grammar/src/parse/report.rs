//! Syntax errors in the user's words.

use locus_core::{Diagnostic, FileId, Span};
use pest::error::{Error, ErrorVariant, InputLocation};

use super::{Rule, tokens};

/// The diagnostic for a paragraph that the grammar does not accept.
pub(super) fn syntax(file: FileId, source: &str, offset: usize, error: &Error<Rule>) -> Diagnostic {
    let at = match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    };
    let ErrorVariant::ParsingError { positives, .. } = &error.variant else {
        return Diagnostic::error("syntax", "this paragraph is nested too deeply")
            .at(Span::new(file, offset + at, offset + at))
            .help("give parts of it a name with `let`, `fun` or `pred`");
    };
    let rest = source.get(at..).unwrap_or("");
    let Some(token) = tokens(rest).find(|token| !token.is_comment()) else {
        let end = source.trim_end().len();
        return Diagnostic::error("syntax", "the paragraph ends too early")
            .at(Span::new(file, offset + end, offset + end))
            .maybe_help(expected(positives));
    };
    let start = offset + at + token.start;
    let span = Span::new(file, start, start + token.text.len());
    let before = source.get(..at).unwrap_or("").trim_end();
    Diagnostic::error(
        "syntax",
        format!("unexpected `{}`", super::shorten(token.text)),
    )
    .at(span)
    .maybe_help(mistake(before, token.text).or_else(|| expected(positives)))
}

/// Mistakes that many make, by the words around them.
fn mistake(before: &str, found: &str) -> Option<String> {
    let last = tokens(before).last().map_or("", |token| token.text);
    Some(match (last, found) {
        ("=", "=") => "equality is written `=`".to_owned(),
        ("sig", _) => "a signature is written `sig Name { .. }`".to_owned(),
        (_, "%") => "the remainder is `rem[a, b]` of `util/integer`".to_owned(),
        (_, "?") => "a choice is written `condition implies a else b`".to_owned(),
        (_, "disjoint") => "the keyword is `disj`".to_owned(),
        (_, "exists") => "the quantifier is `some`".to_owned(),
        (_, "forall") => "the quantifier is `all`".to_owned(),
        _ => return None,
    })
}

/// What would have been accepted, in a few words.
fn expected(rules: &[Rule]) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut add = |word: String| {
        if !words.contains(&word) {
            words.push(word);
        }
    };
    for rule in rules {
        match rule {
            Rule::expr | Rule::primary | Rule::prefix | Rule::binder | Rule::bound => {
                add("an expression".to_owned());
            }
            Rule::infix | Rule::dot | Rule::prime | Rule::box_args => add("an operator".to_owned()),
            Rule::name | Rule::ident | Rule::sig_ref | Rule::names => add("a name".to_owned()),
            Rule::number => add("a number".to_owned()),
            Rule::string => add("a string".to_owned()),
            Rule::block => add("a block `{ .. }`".to_owned()),
            Rule::colon => add("`:`".to_owned()),
            Rule::bar => add("`|`".to_owned()),
            Rule::equals => add("`=`".to_owned()),
            Rule::decl | Rule::decls | Rule::loose_decls => add("a declaration".to_owned()),
            Rule::paragraph => add("a paragraph such as `sig`, `fact`, `pred` or `run`".to_owned()),
            Rule::scope => add("a scope `for ..`".to_owned()),
            Rule::typescope | Rule::typescopes => add("a scope such as `3 A`".to_owned()),
            Rule::EOI => add("the next paragraph".to_owned()),
            rule => {
                if let Some(word) = format!("{rule:?}").strip_prefix("k_") {
                    let word = if word == "sigint" { "Int" } else { word };
                    add(format!("`{word}`"));
                }
            }
        }
    }
    words.truncate(5);
    let (last, rest) = words.split_last()?;
    Some(if rest.is_empty() {
        format!("expected {last}")
    } else {
        format!("expected {} or {last}", rest.join(", "))
    })
}
