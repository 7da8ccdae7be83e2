//! Reading fields of objects: a value of the wrong type was reported, and is taken as not given.

use locus_core::{Int, Span};

use super::object::{Label, Text};
use crate::yaml::{Entry, Kind, Node, Schema, Typed};

/// Ways to read a map of an object.
pub trait Access {
    /// The text of a scalar that is a string, with its place.
    fn text_at(&self) -> Option<Text>;
    /// The value of a key; nothing for null.
    fn some(&self, key: &str) -> Option<&Node>;
    /// The entry of a key; nothing for null.
    fn some_entry(&self, key: &str) -> Option<&Entry>;
    /// The value at the end of a way of keys.
    fn at(&self, path: &[&str]) -> Option<&Node>;
    /// The text of a key.
    fn str_of(&self, key: &str) -> Option<&str>;
    /// The text of a key, with its place.
    fn text_of(&self, key: &str) -> Option<Text>;
    /// The whole number of a key.
    fn int_of(&self, key: &str) -> Option<i64>;
    /// The truth value of a key.
    fn bool_of(&self, key: &str) -> Option<bool>;
    /// The items of a key that is a list.
    fn items(&self, key: &str) -> &[Node];
    /// The entries of a map.
    fn entries(&self) -> &[Entry];
    /// The texts of a key that is a list of strings.
    fn texts(&self, key: &str) -> Vec<Text>;
    /// The labels or annotations of a key.
    fn labels(&self, key: &str) -> Vec<Label>;
    /// The value as a whole number.
    fn int(&self) -> Option<i64>;
    /// Where the value of a key is written, or this is.
    fn span_of(&self, key: &str) -> Span;
}

impl Access for Node {
    fn text_at(&self) -> Option<Text> {
        match self.typed(Schema::GoYaml2)? {
            Typed::Str(text) => Some(Text {
                text,
                span: self.used_at(),
            }),
            _ => None,
        }
    }

    fn some(&self, key: &str) -> Option<&Node> {
        self.get(key).filter(|node| !node.is_null(Schema::GoYaml2))
    }

    fn some_entry(&self, key: &str) -> Option<&Entry> {
        let entry = self.as_mapping()?.entry(key)?;
        (!entry.value.is_null(Schema::GoYaml2)).then_some(entry)
    }

    fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.some(key))
    }

    fn str_of(&self, key: &str) -> Option<&str> {
        let node = self.get(key)?;
        node.text_at().and_then(|_| node.as_str())
    }

    fn text_of(&self, key: &str) -> Option<Text> {
        self.get(key)?.text_at()
    }

    fn int_of(&self, key: &str) -> Option<i64> {
        self.get(key)?.int()
    }

    fn bool_of(&self, key: &str) -> Option<bool> {
        match self.get(key)?.typed(Schema::GoYaml2)? {
            Typed::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    fn items(&self, key: &str) -> &[Node] {
        self.get(key).and_then(Node::as_sequence).unwrap_or(&[])
    }

    fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Mapping(mapping) => &mapping.entries,
            _ => &[],
        }
    }

    fn texts(&self, key: &str) -> Vec<Text> {
        self.items(key).iter().filter_map(Node::text_at).collect()
    }

    fn labels(&self, key: &str) -> Vec<Label> {
        let entries = self.get(key).map_or(&[][..], Node::entries);
        let label = |entry: &Entry| {
            let text = entry.name()?.clone();
            let span = entry.key.used_at();
            Some(Label {
                key: Text { text, span },
                value: entry.value.text_at()?,
            })
        };
        entries.iter().filter_map(label).collect()
    }

    fn int(&self) -> Option<i64> {
        match self.typed(Schema::GoYaml2)? {
            Typed::Int(Int::Small(number)) => Some(number),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a number without a fraction that is small enough to be exact"
            )]
            Typed::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                Some(number as i64)
            }
            _ => None,
        }
    }

    fn span_of(&self, key: &str) -> Span {
        self.get(key).map_or(self.span, Node::used_at)
    }
}
