//! Which inputs a part of a topology may depend on: those that its text asks for, and those of what it asks about.

use std::collections::BTreeSet;
use std::sync::Arc;

use locus_core::LocationGraph;
use locus_core::value::{Domain, Symbol, SymbolId, SymbolKind, ValueType};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::tosca::text::call;
use crate::tosca::topology::{Assignment, NodeTemplate, Target, Topology};
use crate::yaml::{Kind, Node};

/// The inputs without a value, and what asks for them.
pub(super) struct Mentions<'t, 'm, 'a> {
    topology: &'t Topology<'m, 'a>,
    inputs: &'t FxHashMap<Arc<str>, SymbolId>,
    templates: FxHashMap<&'t str, usize>,
}

/// How deep a text is followed; deeper, it may ask for anything.
const DEEP: usize = 64;

impl<'t, 'm, 'a> Mentions<'t, 'm, 'a> {
    pub(super) fn new(
        topology: &'t Topology<'m, 'a>,
        inputs: &'t FxHashMap<Arc<str>, SymbolId>,
    ) -> Self {
        let nodes = topology.nodes.iter().enumerate();
        Mentions {
            topology,
            inputs,
            templates: nodes.map(|(at, node)| (&**node.name, at)).collect(),
        }
    }

    /// The inputs that a text depends on.
    pub(super) fn of(&self, node: &Node) -> Vec<SymbolId> {
        let mut found = BTreeSet::new();
        if !self.inputs.is_empty() {
            self.follow(node, 0, &mut FxHashSet::default(), &mut found);
        }
        found.into_iter().collect()
    }

    /// States that what can be said of a requirement depends on the inputs behind both ends, where it has conditions.
    pub(super) fn requirement(
        &self,
        graph: &mut LocationGraph,
        source: &NodeTemplate<'a>,
        assignment: &Assignment<'a>,
    ) {
        let definition = assignment.definition.as_ref();
        let filtered = assignment.get("node_filter").is_some()
            || definition.is_some_and(|definition| !definition.filters.is_empty());
        let allocates = assignment.get("allocation").is_some();
        let targets = match assignment.target {
            Target::Node(target) if filtered || allocates => {
                self.topology.nodes.get(target..=target).unwrap_or_default()
            }
            Target::Open(_) => self.topology.nodes.as_slice(),
            _ => return,
        };
        let mut depends = self.of(source.node);
        for target in targets {
            depends.extend(self.of(target.node));
        }
        depends.sort_unstable();
        depends.dedup();
        if depends.is_empty() {
            return;
        }
        graph.add_symbol(Symbol {
            name: assignment.name.clone(),
            kind: SymbolKind::Computed,
            domain: Domain::of(ValueType::Any),
            span: assignment.span,
            default: None,
            depends,
        });
    }

    fn follow(
        &self,
        node: &Node,
        depth: usize,
        seen: &mut FxHashSet<usize>,
        found: &mut BTreeSet<SymbolId>,
    ) {
        if depth > DEEP {
            found.extend(self.inputs.values());
            return;
        }
        if let Some(call) = call(node, self.topology.version()) {
            match call.name {
                "get_input" => match call.list().first().and_then(Node::as_str) {
                    Some(word) => found.extend(self.inputs.get(word)),
                    None => found.extend(self.inputs.values()),
                },
                "get_property" | "get_attribute" | "get_artifact" => {
                    match call.list().first().and_then(Node::as_str) {
                        // The template itself is followed by whoever asks about all of it.
                        Some(word) => match self.templates.get(word) {
                            Some(&at) => self.template(at, depth, seen, found),
                            None => found.extend(self.inputs.values()),
                        },
                        None => found.extend(self.inputs.values()),
                    }
                }
                _ => {}
            }
        }
        match &node.kind {
            Kind::Sequence(items) => {
                for item in items {
                    self.follow(item, depth + 1, seen, found);
                }
            }
            Kind::Mapping(map) => {
                for entry in &map.entries {
                    self.follow(&entry.value, depth + 1, seen, found);
                }
            }
            _ => {}
        }
    }

    fn template(
        &self,
        at: usize,
        depth: usize,
        seen: &mut FxHashSet<usize>,
        found: &mut BTreeSet<SymbolId>,
    ) {
        if seen.insert(at)
            && let Some(template) = self.topology.nodes.get(at)
        {
            self.follow(template.node, depth + 1, seen, found);
        }
    }
}
