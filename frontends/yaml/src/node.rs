//! The YAML tree: every node with the bytes it came from.

use std::sync::Arc;

use locus_core::Span;

use super::schema::{Schema, Typed};

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Without quotes; its text may stand for a number, a boolean or null.
    Plain,
    /// `'...'`.
    SingleQuoted,
    /// `"..."`.
    DoubleQuoted,
    /// `|`.
    Literal,
    /// `>`.
    Folded,
}

/// A node of the tree.
///
/// The span of a scalar covers what an editor should underline: its quotes, but not its tag or
/// anchor; of a block scalar, the lines of its text without the `|`. The span of a flow collection
/// covers its brackets; that of a block collection runs from its first key or item to the end of its
/// last. A value left out has an empty span just after its key.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What the node holds.
    pub kind: Kind,
    /// Where it is written; for what an alias stands for, where the anchor is.
    pub span: Span,
    /// Tag, anchor and alias, which few nodes have.
    pub extra: Option<Box<Extra>>,
}

/// What few nodes have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra {
    /// The tag with its handle resolved, as in `tag:yaml.org,2002:str` or `!reset`.
    pub tag: Option<Arc<str>>,
    /// The name of the node's anchor.
    pub anchor: Option<Arc<str>>,
    /// Where the alias is through which the node is used here.
    pub alias: Option<Span>,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Text.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and values.
    Mapping(Mapping),
}

/// Text and how it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// The text, with escapes and folding undone.
    pub text: Arc<str>,
    /// How it was written.
    pub style: Style,
}

/// Keys and values in the order they were written, merge keys (`<<`) already merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    /// The entries; a repeated key is kept, and the last one counts.
    pub entries: Vec<Entry>,
}

/// One key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Node,
    /// The value.
    pub value: Node,
}

impl Entry {
    /// The key's text, when it is a scalar.
    pub fn name(&self) -> Option<&Arc<str>> {
        self.key.text()
    }

    /// From the key to the end of the value, when both are written together.
    pub fn span(&self) -> Span {
        self.key.span.to(self.value.span)
    }
}

impl Mapping {
    /// The value of a key; of a repeated key the last, as the parsers of Heat and Compose do.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// The entry of a key; of a repeated key the last.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.name().is_some_and(|key| &**key == name))
    }

    /// The entries with scalar keys.
    pub fn named(&self) -> impl Iterator<Item = (&Arc<str>, &Entry)> {
        self.entries
            .iter()
            .filter_map(|entry| entry.name().map(|name| (name, entry)))
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

impl Node {
    /// A node without tag and anchor.
    pub fn new(kind: Kind, span: Span) -> Self {
        Node {
            kind,
            span,
            extra: None,
        }
    }

    /// The text of a scalar.
    pub fn text(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// The text of a scalar as a plain reference.
    pub fn as_str(&self) -> Option<&str> {
        self.text().map(|text| &**text)
    }

    /// The entries of a mapping.
    pub fn as_mapping(&self) -> Option<&Mapping> {
        match &self.kind {
            Kind::Mapping(mapping) => Some(mapping),
            _ => None,
        }
    }

    /// The items of a sequence.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The value of a key, when this is a mapping that has it.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.as_mapping()?.get(name)
    }

    /// The tag, when there is one.
    pub fn tag(&self) -> Option<&str> {
        self.extra.as_ref()?.tag.as_deref()
    }

    /// The name of the anchor, when there is one.
    pub fn anchor(&self) -> Option<&str> {
        self.extra.as_ref()?.anchor.as_deref()
    }

    /// Where the alias is through which the node is used here.
    pub fn alias(&self) -> Option<Span> {
        self.extra.as_ref()?.alias
    }

    /// Where the node is used: the alias, or else where it is written.
    pub fn used_at(&self) -> Span {
        self.alias().unwrap_or(self.span)
    }

    /// What the scalar stands for under a schema; `None` for collections.
    pub fn typed(&self, schema: Schema) -> Option<Typed> {
        match &self.kind {
            Kind::Scalar(scalar) => Some(schema.resolve(scalar, self.tag())),
            _ => None,
        }
    }

    /// Whether the node is null under a schema.
    pub fn is_null(&self, schema: Schema) -> bool {
        matches!(self.typed(schema), Some(Typed::Null))
    }

    /// What the node is, in words for messages.
    pub fn describe(&self, schema: Schema) -> &'static str {
        match &self.kind {
            Kind::Sequence(_) => "a list",
            Kind::Mapping(_) => "a map",
            Kind::Scalar(scalar) => schema.resolve(scalar, self.tag()).describe(),
        }
    }
}
