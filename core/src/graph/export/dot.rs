//! Graphviz.

use std::fmt::Write as _;

use crate::graph::{LocationGraph, Presence, RoleKind};

/// The graph in the language of Graphviz: an arrow from what requires to what provides.
pub fn to_dot(graph: &LocationGraph) -> String {
    let mut out =
        String::from("digraph locations {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
    for (id, location) in graph.locations() {
        let style = match (&location.presence, location.external) {
            (Presence::Absent, _) => ", style=\"rounded,dotted\"",
            (_, true) => ", style=\"rounded,dashed\"",
            _ => "",
        };
        let _ = writeln!(
            out,
            "  l{} [label=\"{}\\n{}\"{style}];",
            id.index(),
            escape(&location.name),
            escape(&location.sort),
        );
    }
    for binding in graph.bindings() {
        let role = graph.role(binding.role);
        let style = match role.kind {
            RoleKind::Reference | RoleKind::Connection => "",
            RoleKind::Attribute => ", style=dashed",
            RoleKind::Dependency => ", style=dotted",
            RoleKind::Containment => ", arrowhead=diamond",
        };
        let _ = writeln!(
            out,
            "  l{} -> l{} [label=\"{}\"{style}];",
            binding.requirer.index(),
            binding.provider.index(),
            escape(&role.label),
        );
    }
    out.push_str("}\n");
    out
}

fn escape(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '"' => vec!['\\', '"'],
            '\\' => vec!['\\', '\\'],
            '\n' => vec!['\\', 'n'],
            c if c.is_control() => vec!['?'],
            c => vec![c],
        })
        .collect()
}
