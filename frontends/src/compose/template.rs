//! Variables in text: `$VAR`, `${VAR:-default}`, `${VAR:?message}`, `${VAR:+other}`, `$$`, nested.

use std::ops::Range;

/// A text with variables, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template<'t> {
    /// Its parts, in order.
    pub parts: Vec<Part<'t>>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// Text that stands for itself.
    Text(&'t str),
    /// A variable.
    Variable(Variable<'t>),
}

/// A use of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable<'t> {
    /// Its name.
    pub name: &'t str,
    /// What happens when it has a value, or none.
    pub rule: Rule<'t>,
    /// Whether an empty value counts as none: `:-` rather than `-`.
    pub empty_is_unset: bool,
    /// The bytes of the text that it takes.
    pub range: Range<usize>,
}

/// What happens when a variable has a value, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule<'t> {
    /// `${VAR}`: nothing, without a value.
    Plain,
    /// `${VAR:-text}`: that text, without a value.
    Default(Template<'t>),
    /// `${VAR:?text}`: refused with that message, without a value.
    Required(Template<'t>),
    /// `${VAR:+text}`: that text, with a value.
    Alternative(Template<'t>),
}

/// Why a text is not a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The bytes of the text that are wrong.
    pub range: Range<usize>,
    /// What is wrong with them.
    pub reason: &'static str,
}

/// Variables nested in the defaults of variables; more are refused.
const DEPTH: usize = 32;

/// Takes a text apart.
///
/// # Errors
/// When a `${` begins nothing that Compose knows.
pub fn parse(text: &str) -> Result<Template<'_>, Malformed> {
    Parser { text, at: 0 }.template(false, 0)
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

fn name_length(text: &str) -> usize {
    let mut bytes = text.bytes();
    match bytes.next() {
        Some(b'_' | b'a'..=b'z' | b'A'..=b'Z') => {
            1 + bytes
                .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
                .count()
        }
        _ => 0,
    }
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn between(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or("")
    }

    /// Reads up to the end, or to the `}` that closes a variable.
    fn template(&mut self, nested: bool, depth: usize) -> Result<Template<'t>, Malformed> {
        let mut parts = Vec::new();
        let mut text_from = self.at;
        let flush = |parts: &mut Vec<Part<'t>>, text: &'t str| {
            if !text.is_empty() {
                parts.push(Part::Text(text));
            }
        };
        loop {
            let rest = self.rest();
            let stop = rest.find(|c| c == '$' || (nested && c == '}'));
            let Some(offset) = stop else {
                self.at = self.text.len();
                flush(&mut parts, self.between(text_from, self.at));
                return Ok(Template { parts });
            };
            let dollar = self.at + offset;
            self.at = dollar;
            if self.rest().starts_with('}') {
                flush(&mut parts, self.between(text_from, dollar));
                return Ok(Template { parts });
            }
            if self.rest().starts_with("$$") {
                // The first of the two stands for both.
                flush(&mut parts, self.between(text_from, dollar + 1));
                self.at = dollar + 2;
                text_from = self.at;
                continue;
            }
            // A `$` before anything else stands for itself.
            let after = self.text.get(dollar + 1..).unwrap_or("");
            if !after.starts_with('{') && name_length(after) == 0 {
                self.at = dollar + 1;
                continue;
            }
            flush(&mut parts, self.between(text_from, dollar));
            parts.push(Part::Variable(self.variable(dollar, depth)?));
            text_from = self.at;
        }
    }

    fn variable(&mut self, dollar: usize, depth: usize) -> Result<Variable<'t>, Malformed> {
        let malformed = |end: usize, reason| Malformed {
            range: dollar..end,
            reason,
        };
        self.at = dollar + 1;
        let braced = self.rest().starts_with('{');
        if braced {
            self.at += 1;
        }
        let start = self.at;
        let length = name_length(self.rest());
        self.at += length;
        if length == 0 {
            let end = if braced { start } else { dollar + 1 };
            return Err(malformed(end, "no variable name follows"));
        }
        let name = self.between(start, self.at);
        let mut variable = Variable {
            name,
            rule: Rule::Plain,
            empty_is_unset: false,
            range: dollar..self.at,
        };
        if !braced {
            return Ok(variable);
        }
        if self.rest().starts_with(':') {
            variable.empty_is_unset = true;
            self.at += 1;
        }
        let operator = self.rest().chars().next();
        match operator {
            Some('}') if !variable.empty_is_unset => {}
            Some('-' | '?' | '+') => {
                self.at += 1;
                if depth >= DEPTH {
                    return Err(malformed(self.at, "variables are nested too deeply"));
                }
                let inner = self.template(true, depth + 1)?;
                variable.rule = match operator {
                    Some('-') => Rule::Default(inner),
                    Some('?') => Rule::Required(inner),
                    _ => Rule::Alternative(inner),
                };
            }
            None => return Err(malformed(self.at, "the `}` is missing")),
            Some(c) => {
                let end = self.at + c.len_utf8();
                return Err(malformed(
                    end,
                    "after the name comes `}`, `-`, `?` or `+`, the latter with or without `:`",
                ));
            }
        }
        if !self.rest().starts_with('}') {
            return Err(malformed(self.at, "the `}` is missing"));
        }
        self.at += 1;
        variable.range = dollar..self.at;
        Ok(variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(template: &Template<'_>) -> String {
        template
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => format!("[{text}]"),
                Part::Variable(v) => {
                    let colon = if v.empty_is_unset { ":" } else { "" };
                    match &v.rule {
                        Rule::Plain => format!("<{}>", v.name),
                        Rule::Default(t) => format!("<{}{colon}-{}>", v.name, show(t)),
                        Rule::Required(t) => format!("<{}{colon}?{}>", v.name, show(t)),
                        Rule::Alternative(t) => format!("<{}{colon}+{}>", v.name, show(t)),
                    }
                }
            })
            .collect()
    }

    #[test]
    fn every_form_is_taken_apart() {
        let cases = [
            ("plain", "[plain]"),
            ("", ""),
            ("$A-b", "<A>[-b]"),
            ("${A}${B}", "<A><B>"),
            ("x${A:-y}z", "[x]<A:-[y]>[z]"),
            ("${A-}", "<A->"),
            ("${A:?must be set}", "<A:?[must be set]>"),
            ("${A+${B:-c}}}", "<A+<B:-[c]>>[}]"),
            ("${A:-${B:-${C}}}", "<A:-<B:-<C>>>"),
            ("a$$b$$$C", "[a$][b$]<C>"),
            ("${A:-$$x}", "<A:-[$][x]>"),
            ("a$", "[a$]"),
            ("$(pwd) $1 $ $A", "[$(pwd) $1 $ ]<A>"),
        ];
        for (text, expected) in cases {
            assert_eq!(show(&parse(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn what_begins_no_variable_is_refused_where_it_is() {
        let cases = [
            ("x${", 1..3),
            ("${A", 0..3),
            ("${A:}", 0..5),
            ("${A/b}", 0..4),
            ("${A:-b", 0..6),
            ("${1}", 0..2),
            ("${é}", 0..2),
        ];
        for (text, range) in cases {
            assert_eq!(parse(text).unwrap_err().range, range, "{text}");
        }
        let deep = "${A:-".repeat(10_000);
        assert!(parse(&deep).is_err(), "deep nesting is refused");
    }

    proptest! {
        #[test]
        fn ranges_lie_on_characters(text in "[${}a-zA-Z:?é+-]{0,40}") {
            let range = match parse(&text) {
                Ok(template) => template.parts.iter().rev().find_map(|part| match part {
                    Part::Variable(v) => Some(v.range.clone()),
                    Part::Text(_) => None,
                }),
                Err(error) => Some(error.range),
            };
            if let Some(range) = range {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
