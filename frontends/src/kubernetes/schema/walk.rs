//! Walks an object along the schema.

use locus_core::values::Quantity;
use locus_core::{Diagnostic, Int, Span};

use super::report::{self, Steps};
use super::schema;
use super::types::{Definition, Shape};
use crate::kubernetes::checks::needed::may_be_empty;
use crate::kubernetes::checks::{self, Here};
use crate::kubernetes::text;
use crate::yaml::{Kind, Mapping, Node, Schema, Typed};

/// The fields of an object that is null.
static NOTHING: Mapping = Mapping {
    entries: Vec::new(),
};

/// Finds everything in which an object differs from the schema.
pub(crate) struct Walker<'n, 'd> {
    pub(crate) steps: Steps<'n>,
    parents: Vec<&'static Definition>,
    release: u8,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'n, 'd> Walker<'n, 'd> {
    pub(crate) fn new(release: u8, diagnostics: &'d mut Vec<Diagnostic>) -> Self {
        Walker {
            steps: Steps::default(),
            parents: Vec::with_capacity(12),
            release,
            diagnostics,
        }
    }

    /// Checks an object of a kind; `at` is where its kind is written.
    pub(crate) fn object(&mut self, at: u16, node: &'n Node, kind: Span) {
        if let Some(definition) = schema().definition(at) {
            match &node.kind {
                Kind::Mapping(mapping) => self.fields(definition, node, mapping, kind),
                _ => self.wrong_type(&Shape::Open, node, kind),
            }
        }
    }

    fn wrong_type(&mut self, shape: &Shape, node: &Node, at: Span) {
        let diagnostic = report::wrong_type(&self.steps, node, shape, at);
        self.diagnostics.push(diagnostic);
    }

    /// Checks a value; `at` is its key, or itself.
    pub(crate) fn value(&mut self, shape: &'static Shape, node: &'n Node, at: Span) {
        let text = match node.typed(Schema::GoYaml2) {
            // What is null is not given.
            Some(Typed::Null) => return,
            Some(typed) => {
                self.scalar(shape, node, &typed, at);
                return;
            }
            None => &node.kind,
        };
        match (shape, text) {
            (Shape::Any, _) | (Shape::Open, Kind::Mapping(_)) => {}
            (Shape::Object(id), Kind::Mapping(mapping)) => {
                if let Some(definition) = schema().definition(*id) {
                    self.fields(definition, node, mapping, at);
                }
            }
            (Shape::Map(values), Kind::Mapping(mapping)) => {
                for (name, entry) in mapping.named() {
                    self.steps.key(name);
                    self.value(values, &entry.value, entry.key.span);
                    self.steps.pop();
                }
            }
            (Shape::List(items), Kind::Sequence(nodes)) => {
                for (at, node) in nodes.iter().enumerate() {
                    self.steps.item(at);
                    self.item(items, node);
                    self.steps.pop();
                }
            }
            _ => self.wrong_type(shape, node, at),
        }
    }

    /// Checks an item of a list. What is null or empty there is not left out: it is an object without fields, or an empty word.
    fn item(&mut self, shape: &'static Shape, node: &'n Node) {
        let span = node.used_at();
        let null = node.is_null(Schema::GoYaml2);
        match shape {
            Shape::Object(id) if null => {
                if let Some(definition) = schema().definition(*id) {
                    self.fields(definition, node, &NOTHING, span);
                }
            }
            Shape::Word(words) if null || node.as_str() == Some("") => {
                let wrong = report::not_a_word(&self.steps, "", words, span);
                self.diagnostics.push(wrong);
            }
            _ => self.value(shape, node, span),
        }
    }

    fn fields(
        &mut self,
        definition: &'static Definition,
        node: &'n Node,
        mapping: &'n Mapping,
        at: Span,
    ) {
        for entry in &mapping.entries {
            let Some(name) = entry.name() else {
                let message = format!("a key of {} is not a string", self.steps.subject());
                let diagnostic = Diagnostic::error("k8s-type", message).at(entry.key.span);
                self.diagnostics.push(diagnostic);
                continue;
            };
            let Some(field) = definition.field(name) else {
                let parents = &self.parents;
                let unknown = report::unknown_field(&self.steps, entry, name, definition, parents);
                self.diagnostics.push(unknown);
                continue;
            };
            self.parents.push(definition);
            self.steps.key(name);
            self.value(&field.shape, &entry.value, entry.key.span);
            self.steps.pop();
            self.parents.pop();
        }
        for field in definition.fields.iter().filter(|field| field.required) {
            let given = mapping.get(field.name);
            match given {
                Some(node) if !node.is_null(Schema::GoYaml2) => {
                    let text = matches!(field.shape, Shape::Text | Shape::Word(_));
                    let (group, name) = (definition.group, definition.name);
                    if text
                        && node.as_str() == Some("")
                        && !may_be_empty(group, name, field.name)
                        && !self.steps.path().starts_with("status")
                    {
                        let empty = report::empty_field(&self.steps, field.name, node.used_at());
                        self.diagnostics.push(empty);
                    }
                }
                _ => {
                    let missing = report::missing_field(&self.steps, field.name, at);
                    self.diagnostics.push(missing);
                }
            }
        }
        let mut here = Here {
            node,
            at,
            steps: &self.steps,
            release: self.release,
            diagnostics: &mut *self.diagnostics,
        };
        checks::check(definition, &mut here);
    }

    fn scalar(&mut self, shape: &'static Shape, node: &'n Node, typed: &Typed, at: Span) {
        let steps = &self.steps;
        let span = node.used_at();
        let wrong = match (shape, typed) {
            (Shape::Any, _)
            | (Shape::Text, Typed::Str(_))
            | (Shape::IntOrText, Typed::Str(_))
            | (Shape::Bool, Typed::Bool(_))
            | (Shape::Number, Typed::Int(_) | Typed::Float(_)) => return,
            (Shape::Word(words), Typed::Str(word)) => {
                // What is empty is not given, and has its default.
                if word.is_empty() || words.contains(&&**word) {
                    return;
                }
                report::not_a_word(steps, word, words, span)
            }
            (Shape::Int32 | Shape::IntOrText, Typed::Int(n)) => match within(n, 31) {
                true => return,
                false => report::out_of_range(steps, node, 32),
            },
            (Shape::Int64, Typed::Int(n)) => match within(n, 63) {
                true => return,
                false => report::out_of_range(steps, node, 64),
            },
            // Sent as JSON, a number without a fraction is whole.
            (Shape::Int32 | Shape::Int64 | Shape::IntOrText, Typed::Float(n))
                if n.fract() == 0.0 =>
            {
                return;
            }
            (Shape::Quantity, Typed::Str(_) | Typed::Int(_) | Typed::Float(_)) => {
                let text = node.as_str().unwrap_or_default().trim();
                if Quantity::parse(text).is_some() || text::is_vast_quantity(text) {
                    return;
                }
                let help =
                    "write a number with a unit such as `m`, `k`, `M`, `Gi`: `250m`, `1.5Gi`";
                report::malformed(steps, text, "a quantity", help, span)
            }
            (Shape::Bytes, Typed::Str(text)) => {
                if text::is_base64(text) {
                    return;
                }
                let help =
                    "encode it (`base64 -w0`); in a Secret, plain text goes into `stringData`";
                report::malformed(steps, text, "base64", help, span)
            }
            (Shape::Time, Typed::Str(text)) => {
                if text.parse::<jiff::Timestamp>().is_ok() {
                    return;
                }
                let help = "write it as in `2026-01-31T12:00:00Z`";
                report::malformed(steps, text, "a time", help, span)
            }
            _ => report::wrong_type(steps, node, shape, at),
        };
        self.diagnostics.push(wrong);
    }
}

/// Whether a number fits into so many bits and a sign.
fn within(number: &Int, bits: u32) -> bool {
    let limit = 2_f64.powi(i32::try_from(bits).unwrap_or(0));
    let number = number.to_f64();
    // A double has fewer digits than 64 bits: at the very limit, what is one too large may pass.
    -limit <= number && number < limit
}
