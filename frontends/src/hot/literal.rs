//! YAML nodes as values, without evaluating any function.

use locus_core::value::{Field, Item, Value};

use super::template::SCHEMA;
use crate::yaml::{Kind, Node, Typed};

/// The value of a scalar.
pub(super) fn scalar(typed: Typed) -> Value {
    match typed {
        Typed::Null => Value::Null,
        Typed::Bool(b) => Value::Bool(b),
        Typed::Int(n) => Value::Int(n),
        Typed::Float(f) => Value::Float(f),
        Typed::Str(text) => Value::Str(text),
    }
}

/// The value that a node spells out.
pub(super) fn literal(node: &Node) -> Item {
    let value = match &node.kind {
        Kind::Scalar(text) => scalar(SCHEMA.resolve(text, node.tag())),
        Kind::Sequence(items) => Value::List(items.iter().map(literal).collect()),
        Kind::Mapping(mapping) => Value::Map(
            mapping
                .named()
                .map(|(name, entry)| Field {
                    name: name.clone(),
                    key: entry.key.span,
                    item: literal(&entry.value),
                })
                .collect(),
        ),
    };
    Item::new(value, node.used_at())
}
