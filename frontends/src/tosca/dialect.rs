//! Files that say they are TOSCA 1.x and are written for a program that reads more than that.

use locus_core::Span;

use crate::yaml::{Kind, Mapping, Node};

/// A program, and what in a file is read by it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The name of the program.
    pub program: &'static str,
    /// What it is, as it is written.
    pub what: String,
    /// Where it is.
    pub span: Span,
}

/// The kinds of types that come with Unfurl.
const UNFURL: [&str; 8] = [
    "artifacts",
    "capabilities",
    "datatypes",
    "groups",
    "interfaces",
    "nodes",
    "policies",
    "relationships",
];

/// The first mark of such a program in a file.
pub(super) fn mark(root: &Mapping, text: &str) -> Option<Mark> {
    let topology = root.get("topology_template").and_then(Node::as_mapping);
    if let Some(variability) = topology.and_then(|topology| topology.entry("variability")) {
        return Some(Mark {
            program: "Vintner",
            what: "variability".to_owned(),
            span: variability.key.span,
        });
    }
    // A look at the text spares most files a walk.
    if !text.contains("unfurl") && !text.contains("eval:") {
        return None;
    }
    let repositories = root.get("repositories");
    let own = repositories.is_some_and(|all| all.get("unfurl").is_some());
    of_map(root, own)
}

fn of_map(map: &Mapping, own: bool) -> Option<Mark> {
    map.entries.iter().find_map(|entry| {
        let text = entry.value.as_str();
        let is = match (entry.key.as_str(), text) {
            (Some("eval"), Some(text)) => text.starts_with([':', '.', '$']),
            (Some("type" | "derived_from"), Some(text)) => is_type(text),
            (Some("repository"), Some("unfurl")) => !own,
            _ => false,
        };
        if is {
            let key = entry.key.as_str().unwrap_or_default();
            return Some(Mark {
                program: "Unfurl",
                what: match key {
                    "eval" => key.to_owned(),
                    _ => text.unwrap_or_default().to_owned(),
                },
                span: entry.value.used_at(),
            });
        }
        of_node(&entry.value, own)
    })
}

fn of_node(node: &Node, own: bool) -> Option<Mark> {
    match &node.kind {
        Kind::Scalar(_) => None,
        Kind::Sequence(items) => items.iter().find_map(|item| of_node(item, own)),
        Kind::Mapping(map) => of_map(map, own),
    }
}

/// Whether a name is that of a type of Unfurl: `unfurl.nodes.K8sCluster`.
fn is_type(name: &str) -> bool {
    let rest = name.strip_prefix("unfurl.");
    let kind = rest.and_then(|rest| rest.split_once('.'));
    kind.is_some_and(|(kind, _)| UNFURL.contains(&kind))
}
