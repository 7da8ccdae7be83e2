//! YAML to the tree of a Compose file: types resolved, variables replaced, keys made text.

use std::ops::Range;
use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Span};

use super::environment::{Environment, Usages, malformed, replace};
use super::template::{self, Part};
use super::tree::{Kind, Mark, Open, Pair, Tree};
use crate::yaml::{self, Node, Schema, Style, Typed};

/// What is needed to read one file.
pub(crate) struct Reader<'r> {
    /// The text of the file, to find a variable within a scalar.
    pub(crate) text: &'r str,
    /// The file.
    pub(crate) file: FileId,
    /// Values of variables.
    pub(crate) environment: &'r Environment,
    /// Whether a default leaves a variable open.
    pub(crate) all_inputs: bool,
    /// Collects the use of variables.
    pub(crate) usages: &'r mut Usages,
    /// Whether there was a mark.
    pub(crate) marked: &'r mut bool,
    /// Collects errors.
    pub(crate) diagnostics: &'r mut Vec<Diagnostic>,
}

impl Reader<'_> {
    /// Reads a node. Depth is limited by the YAML layer. The node is used up, so that its memory serves the tree.
    pub(crate) fn tree(&mut self, node: Node) -> Tree {
        let mark = match node.tag() {
            Some("!reset") => Mark::Reset,
            Some("!override") => Mark::Override,
            _ => Mark::None,
        };
        *self.marked |= mark != Mark::None;
        let kind = match node.kind {
            yaml::Kind::Scalar(scalar) => {
                // A tag of Compose says nothing about the type.
                let tag = node.extra.as_ref().and_then(|extra| extra.tag.as_deref());
                let tag = tag.filter(|_| mark == Mark::None);
                match Schema::GoYaml3.resolve(&scalar, tag) {
                    Typed::Null => Kind::Null,
                    Typed::Bool(b) => Kind::Bool(b),
                    Typed::Int(n) => Kind::Int(n),
                    Typed::Float(n) => Kind::Float(n),
                    Typed::Str(text) if text.contains('$') => {
                        self.interpolate(&text, node.span, scalar.style)
                    }
                    Typed::Str(text) => Kind::Str(text),
                }
            }
            yaml::Kind::Sequence(items) => {
                Kind::List(items.into_iter().map(|item| self.tree(item)).collect())
            }
            yaml::Kind::Mapping(mapping) => {
                let mut pairs = Vec::with_capacity(mapping.len());
                for entry in mapping.entries {
                    if let Some(key) = self.key(&entry.key) {
                        pairs.push(Pair {
                            key,
                            key_span: entry.key.used_at(),
                            value: self.tree(entry.value),
                        });
                    }
                }
                Kind::Map(pairs)
            }
        };
        Tree {
            kind,
            span: node.span,
            mark,
        }
    }

    fn key(&mut self, node: &Node) -> Option<Arc<str>> {
        let what = match node.typed(Schema::GoYaml3) {
            Some(Typed::Str(text)) => return Some(text),
            Some(typed) => typed.describe(),
            None => node.describe(Schema::GoYaml3),
        };
        let written = node.as_str().unwrap_or("");
        let (message, help) = if written.is_empty() {
            (
                format!("this key is {what}; keys must be text"),
                "write a name before the `:`".to_owned(),
            )
        } else {
            (
                format!("the key `{written}` is {what}; keys must be text"),
                format!("put it in quotes: `\"{written}\"`"),
            )
        };
        self.diagnostics.push(
            Diagnostic::error("compose-key", message)
                .at(node.used_at())
                .help(help),
        );
        None
    }

    /// Reports a `$` that begins nothing, and those after it.
    fn report_malformed(
        &mut self,
        text: &str,
        first: template::Malformed,
        span_of: &impl Fn(Range<usize>) -> Span,
    ) {
        let mut error = first;
        let mut spans = Vec::new();
        loop {
            let at = span_of(error.range.clone());
            if !spans.contains(&at) {
                self.diagnostics.push(malformed(&error, text, at));
                spans.push(at);
            }
            let from = error.range.end;
            match text.get(from..).map(template::parse) {
                Some(Err(next)) if next.range.end > 0 => {
                    error = template::Malformed {
                        range: from + next.range.start..from + next.range.end,
                        ..next
                    };
                }
                _ => return,
            }
        }
    }

    fn interpolate(&mut self, text: &Arc<str>, span: Span, style: Style) -> Kind {
        let span_of = locate(self.text, self.file, text, span, style);
        let template = match template::parse(text) {
            Ok(template) => template,
            Err(error) => {
                self.report_malformed(text, error, &span_of);
                return Kind::Str(text.clone());
            }
        };
        // What stands in for a variable that is set is not its value.
        let whole = matches!(template.parts.as_slice(), [Part::Variable(variable)]
            if !matches!(variable.rule, template::Rule::Alternative(_)));
        let replaced = replace(
            &template,
            self.environment,
            self.usages,
            self.all_inputs,
            &span_of,
        );
        let given: Arc<str> = replaced.text.into();
        if replaced.open.is_empty() {
            return Kind::Str(given);
        }
        Kind::Open(Box::new(Open {
            written: text.clone(),
            given,
            pattern: replaced.pattern.into(),
            whole: whole && replaced.open.len() == 1,
            variables: replaced.open,
        }))
    }
}

/// How ranges of a scalar's text map to the file: exactly when the text is written as it is, else to
/// the whole scalar.
fn locate(
    source: &str,
    file: FileId,
    text: &str,
    span: Span,
    style: Style,
) -> impl Fn(Range<usize>) -> Span {
    let written = source
        .get(span.start as usize..span.end as usize)
        .unwrap_or("");
    let quote = usize::from(matches!(style, Style::SingleQuoted | Style::DoubleQuoted));
    let exact = written
        .get(quote..written.len().saturating_sub(quote))
        .is_some_and(|inner| inner == text);
    let start = span.start as usize + quote;
    move |range| {
        if exact {
            Span::new(file, start + range.start, start + range.end)
        } else {
            span
        }
    }
}
