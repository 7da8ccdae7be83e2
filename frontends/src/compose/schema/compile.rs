//! The JSON Schema of Compose, compiled at first use to what the walker needs.
//!
//! Only the keywords that this schema uses are known; a test fails when the data brings another.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashMap;
use serde::Deserialize;

static DATA: &str = include_str!("../../../data/compose-spec.json");

/// The compiled schema.
pub(crate) static SCHEMA: LazyLock<Schema> = LazyLock::new(|| compile(DATA).unwrap_or_default());

/// A schema: nodes that refer to each other.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    nodes: Vec<Node>,
    root: NodeId,
}

/// The identity of a node in its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(usize);

/// What a value must be.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) types: Types,
    pub(crate) properties: FxHashMap<&'static str, NodeId>,
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
            properties: FxHashMap::default(),
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
        node.properties.get(key).copied().or_else(|| {
            node.patterns
                .iter()
                .find(|(pattern, _)| pattern.matches(key))
                .map(|&(_, child)| child)
        })
    }
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    fn named(name: &str) -> Option<Types> {
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
#[derive(Debug)]
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

impl Pattern {
    fn new(text: &str) -> Pattern {
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

/// A schema as JSON has it; what the walker does not need is skipped while reading.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Raw {
    #[serde(rename = "$ref", borrow)]
    reference: Option<&'static str>,
    #[serde(rename = "$defs")]
    defs: BTreeMap<&'static str, Raw>,
    #[serde(rename = "type")]
    types: Option<RawTypes>,
    properties: BTreeMap<&'static str, Raw>,
    #[serde(rename = "patternProperties")]
    patterns: BTreeMap<String, Raw>,
    #[serde(rename = "additionalProperties")]
    additional: Option<bool>,
    #[serde(rename = "unevaluatedProperties")]
    unevaluated: Option<bool>,
    items: Option<Box<Raw>>,
    #[serde(rename = "uniqueItems")]
    unique: bool,
    #[serde(rename = "enum")]
    choices: Vec<&'static str>,
    pattern: Option<String>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    required: Vec<&'static str>,
    #[serde(rename = "oneOf")]
    one_of: Vec<Raw>,
    #[serde(rename = "anyOf")]
    any_of: Vec<Raw>,
    #[serde(rename = "allOf")]
    all_of: Vec<Raw>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawTypes {
    One(String),
    Many(Vec<String>),
}

fn compile(data: &'static str) -> Option<Schema> {
    let raw: Raw = serde_json::from_str(data).ok()?;
    let mut compiler = Compiler {
        defs: &raw.defs,
        done: FxHashMap::default(),
        schema: Schema::default(),
    };
    let root = compiler.node(&raw)?;
    compiler.schema.root = root;
    Some(compiler.schema)
}

struct Compiler<'r> {
    defs: &'r BTreeMap<&'static str, Raw>,
    done: FxHashMap<&'static str, NodeId>,
    schema: Schema,
}

impl<'r> Compiler<'r> {
    fn definition(&self, reference: &'static str) -> Option<(&'static str, &'r Raw)> {
        let name = reference.strip_prefix("#/$defs/")?;
        self.defs.get(name).map(|raw| (name, raw))
    }

    fn node(&mut self, raw: &Raw) -> Option<NodeId> {
        if let Some(reference) = raw.reference {
            let (name, raw) = self.definition(reference)?;
            if let Some(&done) = self.done.get(name) {
                return Some(done);
            }
            let id = self.node(raw)?;
            self.done.insert(name, id);
            return Some(id);
        }
        let mut node = Node::default();
        self.fill(&mut node, raw)?;
        self.schema.nodes.push(node);
        Some(NodeId(self.schema.nodes.len() - 1))
    }

    /// Adds what a schema says to a node. The parts of `allOf` are joined into one: as none of them
    /// closes its keys, refusing what no part knows (`unevaluatedProperties`) is then closing.
    fn fill(&mut self, node: &mut Node, raw: &Raw) -> Option<()> {
        for part in &raw.all_of {
            let part = match part.reference {
                Some(reference) => self.definition(reference)?.1,
                None => part,
            };
            self.fill(node, part)?;
        }
        if let Some(types) = &raw.types {
            let names = match types {
                RawTypes::One(name) => std::slice::from_ref(name),
                RawTypes::Many(names) => names.as_slice(),
            };
            let mut all = Types::NONE;
            for name in names {
                all = all.or(Types::named(name)?);
            }
            node.types = node.types.and(all);
        }
        for (name, property) in &raw.properties {
            let child = self.node(property)?;
            node.properties.insert(name, child);
        }
        for (pattern, property) in &raw.patterns {
            let child = self.node(property)?;
            node.patterns.push((Pattern::new(pattern), child));
        }
        node.closed |= raw.additional == Some(false) || raw.unevaluated == Some(false);
        if let Some(items) = &raw.items {
            node.items = Some(self.node(items)?);
        }
        node.unique |= raw.unique;
        node.choices.extend(&raw.choices);
        if let Some(pattern) = &raw.pattern {
            node.pattern = Some(Pattern::new(pattern));
        }
        node.minimum = raw.minimum.or(node.minimum);
        node.maximum = raw.maximum.or(node.maximum);
        node.required.extend(&raw.required);
        for alternative in &raw.any_of {
            node.required_any.extend(&alternative.required);
        }
        for alternative in &raw.one_of {
            let child = self.node(alternative)?;
            node.one_of.push(child);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const KNOWN: [&str; 23] = [
        "$schema",
        "$id",
        "$ref",
        "$defs",
        "title",
        "description",
        "deprecated",
        "default",
        "type",
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "items",
        "uniqueItems",
        "enum",
        "pattern",
        "minimum",
        "maximum",
        "required",
        "oneOf",
        "anyOf",
        "allOf",
    ];

    fn schemas<'v>(schema: &'v Value, visit: &mut impl FnMut(&'v serde_json::Map<String, Value>)) {
        let Some(map) = schema.as_object() else {
            return;
        };
        visit(map);
        for (keyword, value) in map {
            match keyword.as_str() {
                "properties" | "patternProperties" | "$defs" => value
                    .as_object()
                    .unwrap()
                    .values()
                    .for_each(|schema| schemas(schema, visit)),
                "oneOf" | "anyOf" | "allOf" => value
                    .as_array()
                    .unwrap()
                    .iter()
                    .for_each(|schema| schemas(schema, visit)),
                "items" => schemas(value, visit),
                _ => {}
            }
        }
    }

    #[test]
    fn the_data_uses_only_what_the_compiler_knows() {
        let data: Value = serde_json::from_str(DATA).unwrap();
        let mut seen = 0;
        schemas(&data, &mut |schema| {
            seen += 1;
            for (keyword, value) in schema {
                assert!(KNOWN.contains(&keyword.as_str()), "unknown {keyword}");
                let parts = || value.as_array().unwrap().iter();
                match keyword.as_str() {
                    "additionalProperties" | "unevaluatedProperties" => {
                        assert_eq!(value, &Value::Bool(false), "{keyword}");
                    }
                    "$ref" => assert!(
                        schema.keys().all(|k| k == "$ref" || k == "description"),
                        "a reference stands alone: {schema:?}"
                    ),
                    "anyOf" => assert!(
                        parts().all(|part| part.as_object().unwrap().len() == 1
                            && part["required"].as_array().unwrap().len() == 1),
                        "anyOf only lists required keys"
                    ),
                    "allOf" => assert!(
                        parts().all(|part| {
                            let name = part["$ref"].as_str().unwrap().replace("#/$defs/", "");
                            let part = data["$defs"][name].as_object().unwrap();
                            ["additionalProperties", "oneOf", "anyOf"]
                                .iter()
                                .all(|keyword| !part.contains_key(*keyword))
                        }),
                        "a part of allOf does not close its keys"
                    ),
                    _ => {}
                }
            }
        });
        assert!(seen > 400, "the whole schema was read: {seen}");
    }

    #[test]
    fn alternatives_are_told_apart_by_their_type() {
        let schema = &*SCHEMA;
        assert!(schema.nodes.len() > 100);
        for node in &schema.nodes {
            let mut seen = Types::NONE;
            for &alternative in &node.one_of {
                let types = schema.accepts(alternative);
                assert!(!seen.has(types), "two alternatives share a type");
                seen = seen.or(types);
            }
        }
    }
}
