//! The tree of a Compose file: typed scalars, text keys, variables replaced.
//!
//! One pass over the YAML makes it, so that everything after speaks of values and not of syntax.
//! Every node keeps the span it was written at, also after files have been merged.

use std::sync::Arc;

use locus_core::{Int, Span};

/// A node of a Compose file.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// What it holds.
    pub kind: Kind,
    /// Where it is written.
    pub span: Span,
    /// What a file that overrides another asks for.
    pub mark: Mark,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Nothing, said explicitly.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(Int),
    /// Any other number.
    Float(f64),
    /// Text.
    Str(Arc<str>),
    /// Text that depends on variables without a value.
    Open(Box<Open>),
    /// A list.
    List(Vec<Tree>),
    /// Keys and values.
    Map(Vec<Pair>),
}

/// Text that depends on variables without a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// What was written, as in `${PORT}:80`.
    pub written: Arc<str>,
    /// What Compose makes of it: variables without a value are empty.
    pub given: Arc<str>,
    /// The same, with a [`HOLE`](super::environment::HOLE) for each variable without a value.
    pub pattern: Arc<str>,
    /// The variables, in the order they are written.
    pub variables: Vec<Arc<str>>,
    /// Whether the text is one variable and nothing else.
    pub whole: bool,
}

/// One key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The key.
    pub key: Arc<str>,
    /// Where the key is written.
    pub key_span: Span,
    /// The value.
    pub value: Tree,
}

/// What a file that overrides another asks for with a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing special: merge.
    #[default]
    None,
    /// `!reset`: remove what the other file says.
    Reset,
    /// `!override`: replace what the other file says.
    Override,
}

impl Tree {
    /// A node without a mark.
    pub fn new(kind: Kind, span: Span) -> Self {
        Tree {
            kind,
            span,
            mark: Mark::None,
        }
    }

    /// Text at a place.
    pub fn str(text: impl Into<Arc<str>>, span: Span) -> Self {
        Tree::new(Kind::Str(text.into()), span)
    }

    /// The value of a key; of a repeated key the last.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        self.pair(key).map(|pair| &pair.value)
    }

    /// As [`get`](Self::get), but a null counts as absent.
    pub fn some(&self, key: &str) -> Option<&Tree> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// The entry of a key; of a repeated key the last.
    pub fn pair(&self, key: &str) -> Option<&Pair> {
        self.pairs().iter().rev().find(|pair| &*pair.key == key)
    }

    /// The entries of a map; none for anything else.
    pub fn pairs(&self) -> &[Pair] {
        match &self.kind {
            Kind::Map(pairs) => pairs,
            _ => &[],
        }
    }

    /// The items of a list; none for anything else.
    pub fn items(&self) -> &[Tree] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The node itself when it is not a list, else its items: for `string or list of strings`.
    pub fn one_or_many(&self) -> &[Tree] {
        match &self.kind {
            Kind::List(items) => items,
            Kind::Null => &[],
            _ => std::slice::from_ref(self),
        }
    }

    /// Text that is known.
    pub fn as_str(&self) -> Option<&Arc<str>> {
        match &self.kind {
            Kind::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The text of any scalar as Compose sees it, variables without a value being empty.
    pub fn text(&self) -> Option<Arc<str>> {
        match &self.kind {
            Kind::Str(text) => Some(text.clone()),
            Kind::Open(open) => Some(open.given.clone()),
            Kind::Int(n) => Some(n.to_string().into()),
            Kind::Float(n) => Some(n.to_string().into()),
            Kind::Bool(b) => Some(if *b { "true" } else { "false" }.into()),
            Kind::Null | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The text of any scalar as it is written, variables included.
    pub fn shown(&self) -> Option<Arc<str>> {
        match &self.kind {
            Kind::Open(open) => Some(open.written.clone()),
            _ => self.text(),
        }
    }

    /// The text of any scalar, with a hole for each variable without a value.
    pub fn pattern(&self) -> Option<Arc<str>> {
        match &self.kind {
            Kind::Open(open) => Some(open.pattern.clone()),
            _ => self.text(),
        }
    }

    /// Text that depends on variables without a value.
    pub fn open(&self) -> Option<&Open> {
        match &self.kind {
            Kind::Open(open) => Some(open),
            _ => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// What it is, in words for messages.
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Int(_) => "an integer",
            Kind::Float(_) => "a number",
            Kind::Str(_) | Kind::Open(_) => "a string",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }

    /// Whether two nodes say the same, wherever they are written.
    pub fn same(&self, other: &Tree) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::List(a), Kind::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (Kind::Map(a), Kind::Map(b)) => {
                a.len() == b.len()
                    && a.iter().all(|pair| {
                        other
                            .get(&pair.key)
                            .is_some_and(|value| value.same(&pair.value))
                    })
            }
            (Kind::Open(a), Kind::Open(b)) => a.written == b.written,
            #[expect(clippy::float_cmp, reason = "two texts for one number give one float")]
            (Kind::Int(n), Kind::Float(f)) | (Kind::Float(f), Kind::Int(n)) => n.to_f64() == *f,
            (a, b) => a == b,
        }
    }
}
