//! What the schema allows at a place.

use super::node::{NodeId, Types};
use super::stored::SCHEMA;

/// What can be written at a place.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The keys of a map.
    pub(crate) keys: Vec<Key>,
    /// The texts that are listed, and truth values.
    pub(crate) choices: Vec<&'static str>,
    /// What can stand there, in words.
    pub(crate) types: String,
}

/// A key that a map can have.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// What its value can be, in words.
    pub(crate) types: String,
    pub(crate) required: bool,
    /// Whether a map or a list is all that it can hold.
    pub(crate) is_map: bool,
    pub(crate) is_list: bool,
}

/// What the schema allows under some keys; an empty key is an item of a list.
pub(crate) fn at_path(path: &[&str]) -> Option<Keys> {
    let schema = &*SCHEMA;
    let mut nodes = flat(schema.root());
    for key in path {
        let mut next = Vec::new();
        for &node in &nodes {
            let node = schema.node(node);
            let child = match *key {
                "" => node.items,
                key => schema.child(node, key),
            };
            next.extend(child.into_iter().flat_map(flat));
        }
        if next.is_empty() {
            return None;
        }
        nodes = next;
    }
    let mut found = Keys::default();
    let mut types = Types::NONE;
    for node in nodes {
        types = types.or(schema.accepts(node));
        let node = schema.node(node);
        for (name, child) in node.properties.iter() {
            let types = schema.accepts(child);
            if found.keys.iter().any(|known| known.name == name) {
                continue;
            }
            found.keys.push(Key {
                name,
                types: types.describe(),
                required: node.required.contains(&name),
                is_map: types.has(Types::MAP) && !types.has(Types::STR),
                is_list: types.has(Types::LIST) && !types.has(Types::STR) && !types.has(Types::MAP),
            });
        }
        found.choices.extend(&node.choices);
        // What may be any scalar is text, as a rule.
        if node.types.has(Types::BOOL) && !node.types.has(Types::INT) {
            found.choices.extend(["true", "false"]);
        }
    }
    found.types = types.describe();
    Some(found)
}

/// A node, or the alternatives that it stands for.
fn flat(id: NodeId) -> Vec<NodeId> {
    let node = SCHEMA.node(id);
    match node.one_of.is_empty() {
        true => vec![id],
        false => node.one_of.iter().flat_map(|&one| flat(one)).collect(),
    }
}
