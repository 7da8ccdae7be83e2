//! The doc comment of a rule.
//!
//! ```text
//! /** HOT219 error: ports of one network have different hardware addresses
//!  * message: port `{q}` has the hardware address of port `{p}`
//!  * at: q.prop_mac_address "used again here"
//!  * also: p.prop_mac_address "used here"
//!  * help: leave `mac_address` out and Neutron chooses one
//!  * why: Neutron refuses the second port.
//!  * source: RR-9317, section 7.1.4
//!  */
//! assert DistinctMacs { ... }
//! ```

use locus_core::{FileId, Severity, Span};
use serde::{Deserialize, Serialize};

use super::template::{Path, Template};

/// A place that a finding points at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// An anchor, or a property of one.
    pub path: Path,
    /// What is said there.
    pub text: Template,
}

/// A rule: an assertion that configurations are checked against.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// Stable identifier.
    pub id: String,
    /// How bad a violation is.
    pub severity: Severity,
    /// What must hold, in one line.
    pub title: String,
    /// What a finding says.
    pub message: Template,
    /// Where it points, the first being its position.
    pub places: Vec<Place>,
    /// What to do about it: the first of these whose holes can all be filled is said.
    pub help: Vec<Template>,
    /// Why it matters.
    pub why: String,
    /// Where the rule comes from.
    pub source: String,
    /// Other identifiers under which the rule is known.
    pub aliases: Vec<String>,
    /// The language whose configurations it is about: the folder of its file.
    pub language: String,
    /// The module that states it.
    pub module: String,
    /// The name of the assertion.
    pub assertion: String,
    /// The text of the assertion.
    pub text: String,
    /// The name of the assertion in its file.
    pub span: Span,
}

/// Something wrong with a doc comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// Where.
    pub span: Span,
    /// What.
    pub message: String,
}

/// The rules of a file: assertions with a doc comment that starts with an identifier.
pub(super) fn rules(
    language: &str,
    module: &str,
    file: FileId,
    text: &str,
) -> (Vec<Rule>, Vec<RuleError>) {
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(start) = find(text, at, "/**") {
        let Some(end) = find(text, start, "*/") else {
            break;
        };
        at = end + 2;
        let after = text.get(at..).unwrap_or("");
        let assertion = after.trim_start();
        let Some(rest) = assertion.strip_prefix("assert") else {
            continue;
        };
        let name: String = rest
            .trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        let from = text.len() - assertion.len();
        let name_at = text.len() - rest.trim_start().len();
        let body = balanced(assertion);
        let comment = text.get(start + 3..end).unwrap_or("");
        let span = Span::new(file, name_at, name_at + name.len());
        match parse(comment) {
            Ok(mut rule) => {
                rule.language = language.to_owned();
                rule.module = module.to_owned();
                rule.assertion = name;
                rule.text = assertion.get(..body).unwrap_or("").to_owned();
                rule.span = span;
                rules.push(rule);
            }
            Err(message) => errors.push(RuleError { span, message }),
        }
        at = at.max(from);
    }
    (rules, errors)
}

fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    text.get(from..)?.find(what).map(|at| at + from)
}

/// The length of the text up to the brace that closes the first one.
fn balanced(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

const KEYS: &[&str] = &["message", "at", "also", "help", "why", "source", "alias"];

fn parse(comment: &str) -> Result<Rule, String> {
    let mut lines = comment
        .lines()
        .map(|line| line.trim().trim_start_matches('*').trim())
        .filter(|line| !line.is_empty());
    let head = lines.next().unwrap_or("");
    let shape = "the first line of a rule is `ID severity: what must hold`";
    let (id_and_severity, title) = head.split_once(':').ok_or(shape)?;
    let (id, severity) = id_and_severity.split_once(' ').ok_or(shape)?;
    let severity = match severity.trim() {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "info" => Severity::Info,
        other => return Err(format!("`{other}` is no severity: error, warning or info")),
    };
    let digits = id.chars().rev().take_while(char::is_ascii_digit).count();
    if digits != 3 || id.len() < 5 {
        return Err(format!("`{id}` is no identifier: letters and three digits"));
    }
    let mut entries: Vec<(&str, String)> = Vec::new();
    for line in lines {
        let entry = line
            .split_once(':')
            .filter(|(key, _)| KEYS.contains(key))
            .map(|(key, text)| (key, text.trim().to_owned()));
        match (entry, entries.last_mut()) {
            (Some(entry), _) => entries.push(entry),
            (None, Some((_, text))) => {
                text.push(' ');
                text.push_str(line);
            }
            (None, None) => return Err(format!("`{line}` is not part of any entry")),
        }
    }
    let all = |wanted: &'static str| {
        let of = move |(key, _): &&(&str, String)| *key == wanted;
        entries.iter().filter(of).map(|(_, text)| text.clone())
    };
    let required = |key: &'static str| all(key).next().ok_or(format!("`{key}:` is missing"));
    let mut places = Vec::new();
    for text in all("at").chain(all("also")) {
        places.push(place(&text)?);
    }
    if places.is_empty() {
        return Err("`at:` is missing".to_owned());
    }
    Ok(Rule {
        id: id.to_owned(),
        severity,
        title: title.trim().to_owned(),
        message: Template::parse(&required("message")?)?,
        places,
        help: all("help")
            .map(|text| Template::parse(&text))
            .collect::<Result<_, _>>()?,
        why: required("why")?,
        source: required("source")?,
        aliases: all("alias").collect(),
        language: String::new(),
        module: String::new(),
        assertion: String::new(),
        text: String::new(),
        span: Span::start_of(locus_core::Sources::new().add("", "")),
    })
}

fn place(text: &str) -> Result<Place, String> {
    let (path, label) = match text.split_once('"') {
        Some((path, rest)) => (path.trim(), rest.trim_end().trim_end_matches('"')),
        None => (text.trim(), ""),
    };
    Ok(Place {
        path: Path::parse(path).ok_or_else(|| format!("`{path}` leads to no place"))?,
        text: Template::parse(label)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::Sources;

    fn read(text: &str) -> (Vec<Rule>, Vec<RuleError>) {
        let file = Sources::new().add("a.als", text);
        rules("hot", "hot/a", file, text)
    }

    #[test]
    fn a_comment_becomes_a_rule() {
        let (rules, errors) = read(
            "/** what a helper does */\npred helper {}\n\n/** HOT219 error: distinct\n * message: port `{q}`\n *   is `{p}`\n * at: q.f \"here: {p}\"\n * also: p\n * why: because.\n * source: ours\n */\nassert Distinct { all p: P { no p } }\n",
        );
        assert_eq!(errors, []);
        let [rule] = rules.as_slice() else {
            panic!("{rules:?}")
        };
        assert_eq!(
            (rule.id.as_str(), rule.title.as_str()),
            ("HOT219", "distinct")
        );
        assert_eq!(rule.text, "assert Distinct { all p: P { no p } }");
        assert_eq!(rule.places.len(), 2);
        assert_eq!(
            rule.message,
            Template::parse("port `{q}` is `{p}`").unwrap()
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        for (comment, message) in [
            (
                "nothing",
                "the first line of a rule is `ID severity: what must hold`",
            ),
            (
                "HOT1 error: x",
                "`HOT1` is no identifier: letters and three digits",
            ),
            (
                "HOT123 bad: x",
                "`bad` is no severity: error, warning or info",
            ),
            ("HOT123 error: x\nat: p", "`message:` is missing"),
            ("HOT123 error: x\nmessage: m", "`at:` is missing"),
            ("HOT123 error: x\nmessage: {\nat: p", "a `{` is not closed"),
        ] {
            let (rules, errors) = read(&format!("/** {comment} */ assert A {{}}"));
            assert!(rules.is_empty());
            assert_eq!(errors.first().map(|e| e.message.as_str()), Some(message));
        }
    }
}
