//! The documents of a project as editors see them: half typed, perhaps, and never loaded.

use std::collections::BTreeMap;

use crate::language::FileText;
use crate::yaml::Node;

/// A document, and what its names are names in.
pub(super) struct Doc<'n> {
    pub(super) node: &'n Node,
    pub(super) kind: &'n str,
    pub(super) name: &'n str,
    pub(super) namespace: &'n str,
    /// What tells it from all others.
    pub(super) id: String,
}

impl<'n> Doc<'n> {
    fn of(node: &'n Node, number: usize) -> Doc<'n> {
        let text = |node: Option<&'n Node>| node.and_then(Node::as_str).unwrap_or_default();
        let metadata = node.get("metadata");
        let namespace = text(metadata.and_then(|metadata| metadata.get("namespace")));
        Doc {
            node,
            kind: text(node.get("kind")),
            name: text(metadata.and_then(|metadata| metadata.get("name"))),
            namespace: match namespace {
                "" => "default",
                given => given,
            },
            id: format!("document {number}"),
        }
    }

    /// The template of its pods, or itself when it is one.
    pub(super) fn pod(&self) -> Option<&'n Node> {
        let spec = self.node.get("spec")?;
        match self.kind {
            "Pod" => Some(self.node),
            "CronJob" => spec.get("jobTemplate")?.get("spec")?.get("template"),
            _ => spec.get("template"),
        }
    }

    /// The labels of its pods.
    pub(super) fn labels(&self) -> BTreeMap<&'n str, &'n str> {
        let labels = self
            .pod()
            .and_then(|pod| pod.get("metadata")?.get("labels"));
        pairs(labels)
    }

    /// The names of the ports of its pods.
    pub(super) fn port_names(&self) -> Vec<&'n str> {
        let spec = self.pod().and_then(|pod| pod.get("spec"));
        let mut names = Vec::new();
        for key in ["containers", "initContainers"] {
            for container in items(spec.and_then(|spec| spec.get(key))) {
                for port in items(container.get("ports")) {
                    names.extend(port.get("name").and_then(Node::as_str));
                }
            }
        }
        names
    }
}

pub(super) fn items(node: Option<&Node>) -> &[Node] {
    node.and_then(Node::as_sequence).unwrap_or_default()
}

pub(super) fn pairs(node: Option<&Node>) -> BTreeMap<&str, &str> {
    let entries = node.and_then(Node::as_mapping).into_iter();
    let entries = entries.flat_map(|mapping| mapping.named());
    entries
        .filter_map(|(key, entry)| Some((&**key, entry.value.as_str()?)))
        .collect()
}

/// All documents of some files: the number of the file with each. Items of lists are documents too.
pub(super) fn documents<'n>(files: &[FileText<'n>]) -> Vec<(usize, Doc<'n>)> {
    let mut all = Vec::new();
    for (at, file) in files.iter().enumerate() {
        for root in &file.roots {
            let listed = match root.get("kind").and_then(Node::as_str) {
                Some(kind) if kind.ends_with("List") => items(root.get("items")),
                _ => &[],
            };
            if listed.is_empty() {
                all.push((at, *root));
            }
            all.extend(listed.iter().map(|item| (at, item)));
        }
    }
    let numbered = all.into_iter().enumerate();
    numbered
        .map(|(number, (at, node))| (at, Doc::of(node, number)))
        .collect()
}
