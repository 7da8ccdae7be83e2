//! Selectors of labels.

use locus_core::Span;

use super::Labels;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::object::Text;
use crate::yaml::Node;

/// How the label under a key must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It has one of the values.
    In,
    /// It is missing, or has none of the values.
    NotIn,
    /// It is there.
    Exists,
    /// It is missing.
    DoesNotExist,
}

/// What is required of the label under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The key.
    pub key: Text,
    /// How it must be.
    pub operator: Operator,
    /// The values.
    pub values: Vec<Text>,
}

impl Requirement {
    /// The value that the label must have, when only one will do.
    pub fn only_value(&self) -> Option<&str> {
        match (self.operator, self.values.as_slice()) {
            (Operator::In, [only]) => Some(&only.text),
            _ => None,
        }
    }

    /// Whether labels meet it.
    pub fn is_met(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key.text);
        let listed = |value: &str| self.values.iter().any(|known| *known.text == *value);
        match self.operator {
            Operator::In => value.is_some_and(|value| listed(value)),
            Operator::NotIn => value.is_none_or(|value| !listed(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

/// A selector: all of its requirements are met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// What is required.
    pub requirements: Vec<Requirement>,
    /// Where it is written.
    pub span: Span,
}

impl Selector {
    /// Reads a map of labels, as services have.
    pub fn of_labels(node: &Node) -> Selector {
        let mut selector = Selector {
            requirements: Vec::new(),
            span: node.used_at(),
        };
        selector.add_labels(node);
        selector
    }

    /// Reads a selector with `matchLabels` and `matchExpressions`.
    pub fn of(node: &Node) -> Selector {
        let mut selector = Selector {
            requirements: Vec::new(),
            span: node.used_at(),
        };
        if let Some(labels) = node.some("matchLabels") {
            selector.add_labels(labels);
        }
        for expression in node.items("matchExpressions") {
            let operator = match expression.str_of("operator") {
                Some("In") => Operator::In,
                Some("NotIn") => Operator::NotIn,
                Some("Exists") => Operator::Exists,
                Some("DoesNotExist") => Operator::DoesNotExist,
                _ => continue,
            };
            if let Some(key) = expression.text_of("key") {
                selector.requirements.push(Requirement {
                    key,
                    operator,
                    values: expression.texts("values"),
                });
            }
        }
        selector
    }

    fn add_labels(&mut self, node: &Node) {
        for entry in node.entries() {
            if let (Some(text), Some(value)) = (entry.name(), entry.value.text_at()) {
                self.requirements.push(Requirement {
                    key: Text {
                        text: text.clone(),
                        span: entry.key.used_at(),
                    },
                    operator: Operator::In,
                    values: vec![value],
                });
            }
        }
    }

    /// Whether nothing is required, so that everything matches.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether labels meet all requirements.
    pub fn matches(&self, labels: &Labels) -> bool {
        let mut all = self.requirements.iter();
        all.all(|requirement| requirement.is_met(labels))
    }
}
