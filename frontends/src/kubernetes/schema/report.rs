//! What is said about each kind of mistake.

use locus_core::diagnostic::{Applicability, Edit, Fix};
use locus_core::{Diagnostic, Span, suggest};

use super::schema;
use super::types::{Definition, Shape};
use crate::yaml::{Entry, Kind, Node, Schema, Style};

/// A step from the root of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'n> {
    Key(&'n str),
    Item(usize),
}

/// The way from the root of an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps<'n>(Vec<Step<'n>>);

impl<'n> Steps<'n> {
    pub(crate) fn key(&mut self, key: &'n str) {
        self.0.push(Step::Key(key));
    }

    pub(crate) fn item(&mut self, at: usize) {
        self.0.push(Step::Item(at));
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// The way as `kubectl explain` writes it, with positions in lists.
    pub(crate) fn path(&self) -> String {
        let mut out = String::new();
        for step in &self.0 {
            match step {
                Step::Key(key) => {
                    if !out.is_empty() {
                        out.push('.');
                    }
                    out.push_str(key);
                }
                Step::Item(at) => out.push_str(&format!("[{at}]")),
            }
        }
        out
    }

    /// Where that is, as in ``in `spec.containers[0]` ``.
    fn place(&self) -> String {
        match self.path() {
            path if path.is_empty() => "at the top of the object".to_owned(),
            path => format!("in `{path}`"),
        }
    }

    /// What is there, as in `` `spec.replicas` ``.
    pub(crate) fn subject(&self) -> String {
        match self.path() {
            path if path.is_empty() => "the object".to_owned(),
            path => format!("`{path}`"),
        }
    }
}

/// Words as an enumeration.
pub(crate) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [init @ .., last] if !init.is_empty() => format!("{} or {last}", init.join(", ")),
        _ => quoted.concat(),
    }
}

/// A field that the schema does not have; `parents` are the definitions that lead there, outermost first.
pub(super) fn unknown_field(
    steps: &Steps<'_>,
    entry: &Entry,
    name: &str,
    definition: &Definition,
    parents: &[&Definition],
) -> Diagnostic {
    let message = format!("unknown field `{name}` {}", steps.place());
    let diagnostic = Diagnostic::error("k8s-unknown-field", message).at(entry.key.span);
    let names = definition.fields.iter().map(|field| field.name);
    if let Some(help) = suggest::did_you_mean(name, names) {
        return diagnostic.help(help);
    }
    // The right field in the wrong place: one level too far out, or too far in.
    let under = definition.fields.iter().find(|field| match &field.shape {
        Shape::Object(at) => {
            let below = schema().definition(*at);
            below.is_some_and(|below| below.field(name).is_some())
        }
        _ => false,
    });
    if let Some(under) = under {
        return diagnostic.help(format!("`{name}` belongs under `{}`", under.name));
    }
    let above = parents
        .iter()
        .rev()
        .find(|parent| parent.field(name).is_some());
    match above {
        Some(parent) => diagnostic.help(format!(
            "`{name}` is a field of {}: indent it less",
            parent.name
        )),
        None => diagnostic.help(format!("{} has no such field", definition.name)),
    }
}

/// What a shape is called, with its article.
fn described(shape: &Shape) -> &'static str {
    match shape {
        Shape::Any => "any value",
        Shape::Open | Shape::Object(_) | Shape::Map(_) => "a map",
        Shape::Text | Shape::Word(_) | Shape::Bytes | Shape::Time => "a string",
        Shape::Int32 | Shape::Int64 => "an integer",
        Shape::Number => "a number",
        Shape::Bool => "a boolean",
        Shape::IntOrText => "an integer or a string",
        Shape::Quantity => "a quantity",
        Shape::List(_) => "a list",
    }
}

pub(super) fn wrong_type(steps: &Steps<'_>, node: &Node, shape: &Shape, at: Span) -> Diagnostic {
    wrong_kind(steps, node, described(shape), at, is_text(shape))
}

fn is_text(shape: &Shape) -> bool {
    matches!(shape, Shape::Text | Shape::Word(_) | Shape::Bytes)
}

/// A value that is of another type than it must be, described with its article.
pub(crate) fn wrong_kind(
    steps: &Steps<'_>,
    node: &Node,
    wanted: &str,
    at: Span,
    text: bool,
) -> Diagnostic {
    let found = node.describe(Schema::GoYaml2);
    let span = match &node.kind {
        Kind::Scalar(_) => node.used_at(),
        _ => at,
    };
    let message = format!("{} must be {wanted}, not {found}", steps.subject());
    let diagnostic = Diagnostic::error("k8s-type", message).at(span);
    match &node.kind {
        Kind::Scalar(scalar) if text && scalar.style == Style::Plain && !scalar.text.is_empty() => {
            let quoted = format!("\"{}\"", scalar.text);
            diagnostic
                .help(format!("write it in quotes: `{quoted}`"))
                .fix(Fix {
                    title: "write it in quotes".to_owned(),
                    applicability: Applicability::Safe,
                    edits: vec![Edit {
                        span: node.span,
                        text: quoted,
                    }],
                })
        }
        Kind::Scalar(scalar) if scalar.style != Style::Plain && wanted != "a list" => {
            let plain = Schema::GoYaml2.plain(&scalar.text);
            match plain {
                Some(typed) if typed.describe() == wanted => {
                    diagnostic.help("write it without quotes")
                }
                _ => diagnostic,
            }
        }
        Kind::Mapping(_) if wanted == "a list" => {
            diagnostic.help("start each item of the list with `- `")
        }
        _ => diagnostic,
    }
}

pub(super) fn missing_field(steps: &Steps<'_>, name: &str, at: Span) -> Diagnostic {
    let message = format!("{} lacks the required field `{name}`", steps.subject());
    Diagnostic::error("k8s-missing-field", message).at(at)
}

pub(super) fn empty_field(steps: &Steps<'_>, name: &str, at: Span) -> Diagnostic {
    let path = match steps.path() {
        path if path.is_empty() => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    let diagnostic = Diagnostic::error("k8s-value", format!("`{path}` must not be empty"));
    diagnostic.at(at).help(format!("give `{name}` a value"))
}

pub(super) fn not_a_word(steps: &Steps<'_>, text: &str, words: &[&str], span: Span) -> Diagnostic {
    let message = format!("`{text}` is not a value of {}", steps.subject());
    let words: Vec<&str> = words.iter().copied().filter(|w| !w.is_empty()).collect();
    let same = words.iter().find(|word| word.eq_ignore_ascii_case(text));
    let help = match same
        .copied()
        .or_else(|| suggest::nearest(text, words.iter().copied()))
    {
        Some(near) => format!("did you mean `{near}`?"),
        None if words.len() > 12 => format!(
            "use one of {} and others",
            list(words.get(..6).unwrap_or(&words))
        ),
        None => format!("use {}", list(&words)),
    };
    Diagnostic::error("k8s-value", message).at(span).help(help)
}

pub(super) fn out_of_range(steps: &Steps<'_>, node: &Node, bits: u32) -> Diagnostic {
    let text = node.as_str().unwrap_or_default();
    let message = format!(
        "`{text}` is too large for {}, an integer of {bits} bits",
        steps.subject()
    );
    Diagnostic::error("k8s-value", message).at(node.used_at())
}

/// A text that cannot be read as what it must be.
pub(crate) fn malformed(
    steps: &Steps<'_>,
    text: &str,
    what: &str,
    help: &str,
    span: Span,
) -> Diagnostic {
    let shown: String = text.chars().take(60).collect();
    let message = format!("`{shown}` is not {what}, as {} must be", steps.subject());
    Diagnostic::error("k8s-value", message).at(span).help(help)
}
