//! The graph as petgraph sees it: cycles and reachability.

use std::collections::hash_map::Entry;

use petgraph::Direction;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeRef as _, Reversed};

use super::{Binding, LocationGraph, LocationId, RoleKind};

/// Locations as nodes and bound roles as edges, from the one that requires to the one that provides.
#[derive(Clone, Debug)]
pub struct View {
    graph: DiGraph<LocationId, Binding>,
}

/// A cycle, edge by edge: the requirer of each binding is the provider of the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The bindings around the cycle.
    pub bindings: Vec<Binding>,
}

impl View {
    /// The view with the roles of the given kinds.
    pub fn new(graph: &LocationGraph, kinds: &[RoleKind]) -> Self {
        let mut view = DiGraph::with_capacity(graph.len(), graph.roles.len());
        for (id, _) in graph.locations() {
            view.add_node(id);
        }
        for binding in graph.bindings() {
            if kinds.contains(&graph.role(binding.role).kind) {
                view.add_edge(
                    NodeIndex::new(binding.requirer.index()),
                    NodeIndex::new(binding.provider.index()),
                    binding,
                );
            }
        }
        View { graph: view }
    }

    /// The view with what decides the order of deployment.
    pub fn dependencies(graph: &LocationGraph) -> Self {
        View::new(
            graph,
            &[
                RoleKind::Reference,
                RoleKind::Attribute,
                RoleKind::Dependency,
            ],
        )
    }

    /// The petgraph graph itself.
    pub fn graph(&self) -> &DiGraph<LocationId, Binding> {
        &self.graph
    }

    /// One shortest cycle through each group of locations that depend on each other.
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut cycles = Vec::new();
        for group in tarjan_scc(&self.graph) {
            let Some(&start) = group.iter().min() else {
                continue;
            };
            let alone = group.len() == 1;
            if alone && self.graph.find_edge(start, start).is_none() {
                continue;
            }
            if let Some(bindings) = self.shortest_cycle(start) {
                cycles.push(Cycle { bindings });
            }
        }
        cycles.sort_by_key(|cycle| cycle.bindings.first().map(|binding| binding.requirer));
        cycles
    }

    /// The shortest way from a node back to itself, by breadth-first search.
    fn shortest_cycle(&self, start: NodeIndex) -> Option<Vec<Binding>> {
        let mut reached: rustc_hash::FxHashMap<NodeIndex, (NodeIndex, Binding)> =
            rustc_hash::FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for edge in self.graph.edges(node) {
                if edge.target() == start {
                    let mut bindings = vec![*edge.weight()];
                    let mut at = node;
                    while at != start {
                        let (before, binding) = reached.get(&at)?;
                        bindings.push(*binding);
                        at = *before;
                    }
                    bindings.reverse();
                    return Some(bindings);
                }
                if let Entry::Vacant(slot) = reached.entry(edge.target()) {
                    slot.insert((node, *edge.weight()));
                    queue.push_back(edge.target());
                }
            }
        }
        None
    }

    /// Everything that a location needs, directly or not, itself included.
    pub fn reachable_from(&self, location: LocationId) -> Vec<LocationId> {
        let mut dfs = Dfs::new(&self.graph, NodeIndex::new(location.index()));
        let mut found = Vec::new();
        while let Some(node) = dfs.next(&self.graph) {
            found.extend(self.graph.node_weight(node));
        }
        found.sort_unstable();
        found
    }

    /// Everything that needs a location, directly or not, itself included.
    pub fn reaching(&self, location: LocationId) -> Vec<LocationId> {
        let reversed = Reversed(&self.graph);
        let mut dfs = Dfs::new(reversed, NodeIndex::new(location.index()));
        let mut found = Vec::new();
        while let Some(node) = dfs.next(reversed) {
            found.extend(self.graph.node_weight(node));
        }
        found.sort_unstable();
        found
    }

    /// The layer of each location: 0 for those that need nothing, else one more than what they need.
    /// Members of a cycle share a layer.
    pub fn layers(&self) -> Vec<usize> {
        let mut layers = vec![0; self.graph.node_count()];
        // Tarjan gives what is needed before what needs it.
        for group in tarjan_scc(&self.graph) {
            let layer = group
                .iter()
                .flat_map(|&node| self.graph.neighbors_directed(node, Direction::Outgoing))
                .filter(|node| !group.contains(node))
                .filter_map(|node| layers.get(node.index()).map(|layer| layer + 1))
                .max()
                .unwrap_or(0);
            for node in group {
                if let Some(slot) = layers.get_mut(node.index()) {
                    *slot = layer;
                }
            }
        }
        layers
    }
}
