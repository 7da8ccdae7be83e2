//! The JSON Schema of Compose to what the walker needs.
//!
//! Only the keywords that this schema uses are known; a test fails when the data brings another.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::node::{Node, NodeId, Pattern, Schema, Types};

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

pub(super) fn compile(data: &'static str) -> Option<Schema> {
    let raw: Raw = serde_json::from_str(data).ok()?;
    let mut compiler = Compiler {
        defs: &raw.defs,
        done: FxHashMap::default(),
        nodes: Vec::new(),
    };
    let root = compiler.node(&raw)?;
    Some(Schema {
        nodes: compiler.nodes,
        root,
    })
}

struct Compiler<'r> {
    defs: &'r BTreeMap<&'static str, Raw>,
    done: FxHashMap<&'static str, NodeId>,
    nodes: Vec<Node>,
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
        self.nodes.push(node);
        Some(NodeId(self.nodes.len() - 1))
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
            node.patterns.push((Pattern::from(pattern.as_str()), child));
        }
        node.closed |= raw.additional == Some(false) || raw.unevaluated == Some(false);
        if let Some(items) = &raw.items {
            node.items = Some(self.node(items)?);
        }
        node.unique |= raw.unique;
        node.choices.extend(&raw.choices);
        if let Some(pattern) = &raw.pattern {
            node.pattern = Some(Pattern::from(pattern.as_str()));
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
    use super::super::stored::{DATA, SCHEMA};
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
