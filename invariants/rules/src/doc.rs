//! The doc comment of a rule.
//!
//! ```text
//! /** HOT219 duplicate-port-mac error: two ports on a network have the same MAC address
//!  * message: port `{q}` has the MAC address of port `{p}`
//!  * at: q.prop_mac_address "used again here"
//!  * also: p.prop_mac_address "first used here"
//!  * help: leave `mac_address` out and let Neutron choose one
//!  * fix: unsafe remove q.prop_mac_address
//!  * why: Neutron refuses the second port.
//!  * source: RR-9317, section 7.1.4
//!  */
//! assert DistinctMacs { ... }
//! ```
//!
//! `each: r.reasons` points at every one of many, with its name as the text, and `flow: r.first by next` gives the steps
//! that lead to what is wrong.
//!
//! A rule that is a matter of policy, and not wrong for everybody, says `default: off`: it is checked when it is asked for. With
//! `softer: PATH` a finding is a warning at most when the path leads to something.
//!
//! Identifier and name are stable; the name, the title and the message say what is wrong. A rule that is stated by several
//! assertions has one identifier and one name.

use locus_core::{FileId, Severity, Span};
use serde::{Deserialize, Serialize};

use crate::fix::{Change, Fix};
use crate::template::{Path, Template};

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
    /// Stable name in a few words, as in `port-shared`.
    pub name: String,
    /// How bad a violation is.
    pub severity: Severity,
    /// Whether it is only checked when it is asked for.
    pub opt_in: bool,
    /// What makes a violation a warning at most, when it is there.
    pub softer: Option<Path>,
    /// What is wrong, in one line.
    pub title: String,
    /// What a finding says.
    pub message: Template,
    /// Where it points, the first being its position.
    pub places: Vec<Place>,
    /// Where it points besides: every place that each of these leads to, with what is there as the text.
    pub each: Vec<Path>,
    /// The steps that lead to it: where they start, and the field that leads from one to the next.
    pub flow: Option<(Path, String)>,
    /// What to do about it: the first of these whose holes can all be filled is said.
    pub help: Vec<Template>,
    /// Edits that mend it, the best first.
    pub fixes: Vec<Fix>,
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

impl Rule {
    /// Whether the rule has an identifier, name or alias; in upper or lower case.
    pub fn is_called(&self, wanted: &str) -> bool {
        let mut names = [&self.id, &self.name].into_iter().chain(&self.aliases);
        names.any(|name| name.eq_ignore_ascii_case(wanted))
    }

    /// The texts with holes that it has.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        std::iter::once(&self.message)
            .chain(&self.help)
            .chain(self.places.iter().map(|place| &place.text))
            .chain(self.changes().filter_map(Change::text))
    }

    /// The paths to places that it has.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let places = self.places.iter().map(|place| &place.path);
        let flow = self.flow.iter().map(|(start, _)| start);
        let more = self.each.iter().chain(flow).chain(&self.softer);
        places.chain(more).chain(self.changes().map(Change::place))
    }

    fn changes(&self) -> impl Iterator<Item = &Change> {
        self.fixes.iter().flat_map(|fix| &fix.changes)
    }

    /// Whether two rules do not go together: identifier and name are both the same, or neither; parts of one rule are all off
    /// by default, or none.
    pub(crate) fn clashes(&self, other: &Rule) -> bool {
        let same = self.id == other.id;
        same != (self.name == other.name) || (same && self.opt_in != other.opt_in)
    }
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

const KEYS: &[&str] = &[
    "message", "at", "also", "each", "flow", "help", "fix", "why", "source", "alias", "default",
    "softer",
];

/// The identifier, name and severity that a rule starts with, and what is wrong.
fn head(line: &str) -> Result<(&str, &str, Severity, &str), String> {
    let shape = "the first line of a rule is `ID name severity: what is wrong`";
    let (start, title) = line.split_once(':').ok_or(shape)?;
    let [id, name, severity] = *start.split_whitespace().collect::<Vec<_>>() else {
        return Err(shape.to_owned());
    };
    let severity = match severity {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "info" => Severity::Info,
        other => {
            let message = format!("unknown severity `{other}`: use `error`, `warning` or `info`");
            return Err(message);
        }
    };
    let letters = id.trim_end_matches(|c: char| c.is_ascii_digit());
    if id.len() - letters.len() != 3
        || letters.len() < 2
        || !letters.starts_with(|c: char| c.is_ascii_uppercase())
        || !letters
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    {
        return Err(format!(
            "`{id}` is not an identifier: use two or more capital letters and three digits"
        ));
    }
    if !is_name(name) {
        return Err(format!(
            "`{name}` is not a name: use words in lower case, joined by `-`"
        ));
    }
    if title.trim().is_empty() {
        return Err(format!("{id} does not say what is wrong"));
    }
    Ok((id, name, severity, title.trim()))
}

/// Whether a text is a name of a rule: words in lower case, joined by `-`.
pub fn is_name(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.len() <= 40
        && text.split('-').all(word)
}

fn parse(comment: &str) -> Result<Rule, String> {
    let mut lines = comment
        .lines()
        .map(|line| line.trim().trim_start_matches('*').trim())
        .filter(|line| !line.is_empty());
    let (id, name, severity, title) = head(lines.next().unwrap_or(""))?;
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
    if places.is_empty() && all("each").next().is_none() {
        return Err("`at:` is missing".to_owned());
    }
    let opt_in = match all("default").next().as_deref() {
        None => false,
        Some("off") => true,
        Some(other) => return Err(format!("`default: {other}` is not `default: off`")),
    };
    let softer = match all("softer").next() {
        None => None,
        Some(path) => {
            let parsed = Path::parse(&path);
            Some(parsed.ok_or_else(|| format!("`{path}` is not a path"))?)
        }
    };
    Ok(Rule {
        id: id.to_owned(),
        name: name.to_owned(),
        severity,
        opt_in,
        softer,
        title: title.to_owned(),
        message: Template::parse(&required("message")?)?,
        places,
        each: all("each")
            .map(|text| path(&text))
            .collect::<Result<_, _>>()?,
        flow: all("flow").next().map(|text| flow(&text)).transpose()?,
        help: all("help")
            .map(|text| Template::parse(&text))
            .collect::<Result<_, _>>()?,
        fixes: all("fix")
            .map(|text| Fix::parse(&text))
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

fn path(text: &str) -> Result<Path, String> {
    Path::parse(text).ok_or_else(|| format!("`{text}` is not a path to a place"))
}

/// Reads `start by field`.
fn flow(text: &str) -> Result<(Path, String), String> {
    let (start, field) = text
        .split_once(" by ")
        .ok_or_else(|| format!("`{text}` is not of the form `start by field`"))?;
    Ok((path(start)?, field.trim().to_owned()))
}

fn place(text: &str) -> Result<Place, String> {
    let (path, label) = match text.split_once('"') {
        Some((path, rest)) => (path.trim(), rest.trim_end().trim_end_matches('"')),
        None => (text.trim(), ""),
    };
    Ok(Place {
        path: self::path(path)?,
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
            "/** what a helper does */\npred helper {}\n\n/** HOT219 same-port error: two are the same\n * message: port `{q}`\n *   is `{p}`\n * at: q.f \"here: {p}\"\n * also: p\n * fix: safe remove q.f\n * why: because.\n * source: ours\n */\nassert Distinct { all p: P { no p } }\n",
        );
        assert_eq!(errors, []);
        let [rule] = rules.as_slice() else {
            panic!("{rules:?}")
        };
        assert_eq!(
            (rule.id.as_str(), rule.name.as_str(), rule.title.as_str()),
            ("HOT219", "same-port", "two are the same")
        );
        assert_eq!(rule.text, "assert Distinct { all p: P { no p } }");
        assert_eq!(rule.places.len(), 2);
        assert_eq!(rule.fixes, [Fix::parse("safe remove q.f").unwrap()]);
        assert_eq!(
            rule.message,
            Template::parse("port `{q}` is `{p}`").unwrap()
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        let shape = "the first line of a rule is `ID name severity: what is wrong`";
        for (comment, message) in [
            ("nothing", shape),
            ("HOT123 error: x", shape),
            (
                "HOT1 a-b error: x",
                "`HOT1` is not an identifier: use two or more capital letters and three digits",
            ),
            (
                "hot123 a-b error: x",
                "`hot123` is not an identifier: use two or more capital letters and three digits",
            ),
            (
                "HOT123 A_b error: x",
                "`A_b` is not a name: use words in lower case, joined by `-`",
            ),
            (
                "HOT123 a--b error: x",
                "`a--b` is not a name: use words in lower case, joined by `-`",
            ),
            (
                "HOT123 a-b bad: x",
                "unknown severity `bad`: use `error`, `warning` or `info`",
            ),
            ("HOT123 a-b error:", "HOT123 does not say what is wrong"),
            ("HOT123 a-b error: x\nat: p", "`message:` is missing"),
            ("HOT123 a-b error: x\nmessage: m", "`at:` is missing"),
            (
                "HOT123 a-b error: x\nmessage: {\nat: p",
                "a `{` is not closed",
            ),
            (
                "HOT123 a-b error: x\nmessage: m\nat: p\nflow: p",
                "`p` is not of the form `start by field`",
            ),
            (
                "HOT123 a-b error: x\nmessage: m\nat: p\neach: p q",
                "`p q` is not a path to a place",
            ),
            (
                "HOT123 a-b error: x\nmessage: m\nat: p\nfix: remove p",
                "a fix starts with `safe` or `unsafe`",
            ),
        ] {
            let (rules, errors) = read(&format!("/** {comment} */ assert A {{}}"));
            assert!(rules.is_empty());
            assert_eq!(errors.first().map(|e| e.message.as_str()), Some(message));
        }
    }
}
