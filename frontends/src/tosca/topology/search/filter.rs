//! Node filters: whether a node fulfils each of their conditions.

use std::rc::Rc;

use super::super::{Here, Topology};
use super::Pair;
use crate::tosca::model::{Capability, Property, find, ordered};
use crate::tosca::text::{Call, call};
use crate::tosca::value::{Checker, Val, all};
use crate::yaml::Node;

/// One condition of a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clause<'a> {
    /// Its text.
    pub node: &'a Node,
    /// The file that it is in.
    file: usize,
    what: What<'a>,
}

#[derive(Clone, Copy, Debug)]
enum What<'a> {
    /// Of 1.x, about a property of the node.
    Property(&'a str),
    /// Of 1.x, about a property of a capability.
    Capability(&'a str, &'a str),
    /// Of 2.0.
    Boolean,
}

/// The conditions of a filter, all of which must hold.
pub(super) fn clauses<'a>(filter: &'a Node, file: usize, simple: bool) -> Vec<Clause<'a>> {
    let mut clauses = Vec::new();
    if !simple {
        split(filter, file, &mut clauses);
        return clauses;
    }
    let mut add = |node: Option<&'a Node>, capability: Option<&'a str>| {
        for (name, entry) in ordered(node) {
            let what = match capability {
                Some(capability) => What::Capability(capability, name),
                None => What::Property(name),
            };
            // One condition, or a list of them.
            let conditions = match entry.value.as_sequence() {
                Some(items) => items.iter().collect(),
                None => vec![&entry.value],
            };
            clauses.extend(
                conditions
                    .into_iter()
                    .map(|node| Clause { node, file, what }),
            );
        }
    };
    add(filter.get("properties"), None);
    for (name, entry) in ordered(filter.get("capabilities")) {
        add(entry.value.get("properties"), Some(name));
    }
    clauses
}

/// The parts of a conjunction are conditions of their own.
fn split<'a>(node: &'a Node, file: usize, clauses: &mut Vec<Clause<'a>>) {
    if let Some(arguments) = node.get("$and").and_then(Node::as_sequence)
        && node.as_mapping().is_some_and(|map| map.entries.len() == 1)
    {
        arguments.iter().for_each(|part| split(part, file, clauses));
        return;
    }
    let what = What::Boolean;
    clauses.push(Clause { node, file, what });
}

impl<'a> Topology<'_, 'a> {
    /// Whether a node and its capability fulfil a condition of a filter; none when that is not known.
    pub(super) fn passes(
        &self,
        clause: &Clause<'a>,
        source: usize,
        relationship: Option<crate::tosca::names::TypeId>,
        pair: &Pair<'a>,
    ) -> Option<bool> {
        let node = self.nodes.get(pair.node)?;
        match clause.what {
            What::Property(name) => match find(&node.flat.properties, name) {
                Some(property) => {
                    let value = self.node_value(pair.node, property);
                    self.meets(clause, source, &value, property)
                }
                None => (!node.flat.open).then_some(false),
            },
            What::Capability(word, name) => {
                let Some(capability) = self.capability_called(pair.node, word) else {
                    return (!node.flat.open).then_some(false);
                };
                match find(&capability.properties, name) {
                    Some(property) => {
                        let value = self.capability_value(pair.node, &capability, property);
                        self.meets(clause, source, &value, property)
                    }
                    None => {
                        let closed = capability.ty.is_some_and(|ty| self.model.is_closed(ty));
                        closed.then_some(false)
                    }
                }
            }
            What::Boolean => {
                let here = Here::Bound(relationship, source, pair.node, pair.capability.as_ref());
                let refer = |call: &Call<'a>| self.refer(here, call);
                let held = std::cell::RefCell::default();
                let checker = Checker {
                    model: self.model,
                    file: clause.file,
                    refer: &refer,
                    value: None,
                    diagnostics: &held,
                };
                match checker.literal(clause.node) {
                    Val::Bool(truth) => Some(truth),
                    _ => None,
                }
            }
        }
    }

    /// A capability of a node, by its name or its type.
    fn capability_called(&self, node: usize, word: &str) -> Option<Rc<Capability<'a>>> {
        let node = self.nodes.get(node)?;
        if let Some(named) = find(&node.flat.capabilities, word) {
            return Some(named.clone());
        }
        let kind = crate::tosca::grammar::TypeKind::Capability;
        let ty = self.model.names.lookup(self.file, kind, word).id()?;
        self.fitting(&node.flat.capabilities, Some(ty))
    }

    /// Whether a value fulfils a constraint of 1.x.
    fn meets(
        &self,
        clause: &Clause<'a>,
        source: usize,
        value: &Val,
        property: &Property<'a>,
    ) -> Option<bool> {
        let refer = |call: &Call<'a>| self.refer(Here::Node(source), call);
        let held = std::cell::RefCell::default();
        let checker = Checker {
            model: self.model,
            file: clause.file,
            refer: &refer,
            value: Some(value.clone()),
            diagnostics: &held,
        };
        // A call alone is the value that it must be equal to.
        if call(clause.node, self.version()).is_some() {
            return value.equals(&checker.literal(clause.node));
        }
        let several = clause.node.as_mapping().filter(|map| map.entries.len() > 1);
        if several.is_some() {
            return None;
        }
        all([checker.constraint(value, clause.node, &property.schema)])
    }
}
