//! What the walker needs to know of the schema.

use regex::Regex;
use serde::{Deserialize, Serialize, Serializer};

/// A schema: nodes that refer to each other.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(crate) struct Schema {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
}

/// The identity of a node in its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct NodeId(pub(super) usize);

/// What a value must be.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(crate) struct Node {
    pub(crate) types: Types,
    pub(crate) properties: Properties,
    pub(crate) patterns: Vec<(Pattern, NodeId)>,
    /// Whether other keys are refused.
    pub(crate) closed: bool,
    pub(crate) items: Option<NodeId>,
    pub(crate) unique: bool,
    pub(crate) choices: Vec<&'static str>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) minimum: Option<f64>,
    pub(crate) maximum: Option<f64>,
    pub(crate) required: Vec<&'static str>,
    /// At least one of these keys.
    pub(crate) required_any: Vec<&'static str>,
    /// Alternatives, no two of which accept the same type.
    pub(crate) one_of: Vec<NodeId>,
}

impl Default for Node {
    fn default() -> Self {
        Node {
            types: Types::ALL,
            properties: Properties::default(),
            patterns: Vec::new(),
            closed: false,
            items: None,
            unique: false,
            choices: Vec::new(),
            pattern: None,
            minimum: None,
            maximum: None,
            required: Vec::new(),
            required_any: Vec::new(),
            one_of: Vec::new(),
        }
    }
}

/// Keys and what their values must be, in the order of the alphabet.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub(crate) struct Properties(Vec<(&'static str, NodeId)>);

impl Properties {
    fn find(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(name, _)| (*name).cmp(key))
    }

    pub(super) fn insert(&mut self, key: &'static str, node: NodeId) {
        match self.find(key) {
            Ok(at) => {
                if let Some(entry) = self.0.get_mut(at) {
                    entry.1 = node;
                }
            }
            Err(at) => self.0.insert(at, (key, node)),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<NodeId> {
        let at = self.find(key).ok()?;
        self.0.get(at).map(|&(_, node)| node)
    }

    pub(crate) fn contains_key(&self, key: &str) -> bool {
        self.find(key).is_ok()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, NodeId)> {
        self.0.iter().copied()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.iter().map(|(name, _)| name)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Schema {
    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "an identity is only ever made by the schema that holds the node"
    )]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// The types that a node accepts, alternatives included.
    pub(crate) fn accepts(&self, id: NodeId) -> Types {
        let node = self.node(id);
        if node.one_of.is_empty() {
            return node.types;
        }
        let any = node
            .one_of
            .iter()
            .fold(Types::NONE, |all, &one| all.or(self.accepts(one)));
        node.types.and(any)
    }

    /// The node of a key, by name or by pattern.
    pub(crate) fn child(&self, node: &Node, key: &str) -> Option<NodeId> {
        node.properties.get(key).or_else(|| {
            node.patterns
                .iter()
                .find(|(pattern, _)| pattern.matches(key))
                .map(|&(_, child)| child)
        })
    }
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Types = Types(0);
    pub(crate) const NULL: Types = Types(1);
    pub(crate) const BOOL: Types = Types(2);
    pub(crate) const INT: Types = Types(4);
    /// A number that is not whole.
    pub(crate) const FRACTION: Types = Types(8);
    pub(crate) const STR: Types = Types(16);
    pub(crate) const LIST: Types = Types(32);
    pub(crate) const MAP: Types = Types(64);
    pub(crate) const ALL: Types = Types(127);

    pub(crate) fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    pub(crate) fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn named(name: &str) -> Option<Types> {
        Some(match name {
            "null" => Types::NULL,
            "boolean" => Types::BOOL,
            "integer" => Types::INT,
            "number" => Types::INT.or(Types::FRACTION),
            "string" => Types::STR,
            "array" => Types::LIST,
            "object" => Types::MAP,
            _ => return None,
        })
    }

    /// The types in words: `a string or a list`.
    pub(crate) fn describe(self) -> String {
        let number = Types::INT.or(Types::FRACTION);
        let mut words = Vec::new();
        for (ty, word) in [
            (Types::STR, "a string"),
            (Types::BOOL, "a boolean"),
            (Types::LIST, "a list"),
            (Types::MAP, "a map"),
        ] {
            if self.has(ty) {
                words.push(word);
            }
        }
        if self.and(number) == number {
            words.push("a number");
        } else if self.has(Types::INT) {
            words.push("an integer");
        }
        // Null is mentioned only where nothing else is accepted: nobody writes it on purpose.
        if words.is_empty() {
            words.push("null");
        }
        match words.as_slice() {
            [init @ .., last] if !init.is_empty() => format!("{} or {last}", init.join(", ")),
            _ => words.concat(),
        }
    }
}

/// A regular expression; the common ones need no machine.
#[derive(Debug, Deserialize)]
#[serde(from = "&str")]
pub(crate) enum Pattern {
    /// `^x-`.
    Extension,
    /// `^[a-zA-Z0-9._-]+$`.
    Name,
    /// `.+` and `^.+$`.
    NonEmpty,
    /// `^[a-z]+$`.
    Lower,
    /// Any other, compiled when it is first needed.
    Regex(LazyRegex),
}

/// A regular expression that is compiled when it is first needed: most files need none.
#[derive(Debug)]
pub(crate) struct LazyRegex {
    text: String,
    compiled: std::sync::OnceLock<Option<Regex>>,
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Pattern {
        match text {
            "^x-" => Pattern::Extension,
            "^[a-zA-Z0-9._-]+$" => Pattern::Name,
            ".+" | "^.+$" => Pattern::NonEmpty,
            "^[a-z]+$" => Pattern::Lower,
            other => Pattern::Regex(LazyRegex {
                text: other.to_owned(),
                compiled: std::sync::OnceLock::new(),
            }),
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Pattern::Extension => "^x-",
            Pattern::Name => "^[a-zA-Z0-9._-]+$",
            Pattern::NonEmpty => ".+",
            Pattern::Lower => "^[a-z]+$",
            Pattern::Regex(lazy) => &lazy.text,
        })
    }
}

impl Pattern {
    pub(crate) fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Extension => text.starts_with("x-"),
            Pattern::Name => {
                !text.is_empty()
                    && text
                        .bytes()
                        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
            }
            Pattern::NonEmpty => text.bytes().any(|b| b != b'\n'),
            Pattern::Lower => !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase()),
            Pattern::Regex(lazy) => lazy
                .compiled
                .get_or_init(|| Regex::new(&lazy.text).ok())
                .as_ref()
                .is_some_and(|regex| regex.is_match(text)),
        }
    }
}
