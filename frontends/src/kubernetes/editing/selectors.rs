//! Selectors: which workloads of a project they select, and how many pods these are.

use std::collections::BTreeMap;

use locus_core::Span;

use super::documents::{Doc, documents, items, pairs};
use crate::language::FileText;
use crate::yaml::Node;

/// What pods must have to be selected, as far as a text tells it.
pub(super) struct Selector<'n> {
    labels: BTreeMap<&'n str, &'n str>,
    expressions: &'n [Node],
}

impl<'n> Selector<'n> {
    /// Reads a selector: labels, as services have them, or requirements. One that is not written selects nothing.
    pub(super) fn of(node: &'n Node, is_plain: bool) -> Option<Self> {
        if is_plain {
            let labels = pairs(Some(node));
            return (!labels.is_empty()).then_some(Selector {
                labels,
                expressions: &[],
            });
        }
        // Without a map, it is being typed.
        node.as_mapping()?;
        Some(Selector {
            labels: pairs(node.get("matchLabels")),
            expressions: items(node.get("matchExpressions")),
        })
    }

    /// Whether it selects the pods of a document; none when the text does not tell.
    pub(super) fn selects(&self, doc: &Doc<'_>) -> Option<bool> {
        if doc.pod().is_none() {
            return Some(false);
        }
        let labels = doc.labels();
        let mut all = self.labels.iter();
        if !all.all(|(key, value)| labels.get(key) == Some(value)) {
            return Some(false);
        }
        for expression in self.expressions {
            let own = labels.get(expression.get("key")?.as_str()?);
            let listed = || {
                let values = items(expression.get("values")).iter();
                let mut values = values.filter_map(Node::as_str);
                own.is_some_and(|own| values.any(|value| value == *own))
            };
            let holds = match expression.get("operator")?.as_str()? {
                "In" => listed(),
                "NotIn" => !listed(),
                "Exists" => own.is_some(),
                "DoesNotExist" => own.is_none(),
                _ => return None,
            };
            if !holds {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// A selector of an object that selects pods, and what it selects.
struct Selection<'d, 'n> {
    /// The key of the selector.
    key: Span,
    /// The workloads whose pods it selects.
    chosen: Vec<&'d Doc<'n>>,
}

impl<'d, 'n> Selection<'d, 'n> {
    /// The selectors of an object. One of which the text does not tell what it selects is left out: a wrong count is worse
    /// than none.
    fn all(doc: &Doc<'n>, documents: &'d [(usize, Doc<'n>)]) -> Vec<Self> {
        let mut found = Vec::new();
        let Some(spec) = doc.node.get("spec") else {
            return found;
        };
        let is_plain = matches!(doc.kind, "Service" | "ReplicationController");
        let mut keys: Vec<(&Node, &str)> = selector_key(doc.kind)
            .map(|key| (spec, key))
            .into_iter()
            .collect();
        if doc.kind == "NetworkPolicy" {
            let rules = items(spec.get("ingress"))
                .iter()
                .map(|rule| rule.get("from"));
            let rules = rules.chain(items(spec.get("egress")).iter().map(|rule| rule.get("to")));
            // With a selector of namespaces, pods of others are meant.
            let peers = rules
                .flat_map(items)
                .filter(|peer| peer.get("namespaceSelector").is_none());
            keys.extend(peers.map(|peer| (peer, "podSelector")));
        }
        if let Some(pod) = doc.pod().and_then(|pod| pod.get("spec")) {
            let spread = items(pod.get("topologySpreadConstraints")).iter();
            keys.extend(spread.map(|one| (one, "labelSelector")));
        }
        for (holder, key) in keys {
            let Some(entry) = holder.as_mapping().and_then(|map| map.entry(key)) else {
                continue;
            };
            let Some(selector) = Selector::of(&entry.value, is_plain && key == "selector") else {
                continue;
            };
            let near = documents.iter().map(|(_, other)| other);
            let near = near.filter(|other| other.namespace == doc.namespace);
            let judged: Option<Vec<(&Doc<'n>, bool)>> = near
                .map(|other| Some((other, selector.selects(other)?)))
                .collect();
            let Some(judged) = judged else { continue };
            let chosen = judged.into_iter().filter(|(_, is_chosen)| *is_chosen);
            found.push(Selection {
                key: entry.key.span,
                chosen: chosen.map(|(other, _)| other).collect(),
            });
        }
        found
    }
}

/// The key of the specification under which objects of a kind select pods.
fn selector_key(kind: &str) -> Option<&'static str> {
    match kind {
        "Service" | "PodDisruptionBudget" | "ReplicationController" => Some("selector"),
        "NetworkPolicy" => Some("podSelector"),
        _ => None,
    }
}

/// The names of what a selector selects whose key is at a place, and the definition of a kind of custom resources: the number of
/// the file with each.
pub(in crate::kubernetes) fn selected(
    files: &[FileText<'_>],
    file: usize,
    offset: usize,
) -> Vec<(usize, Span)> {
    let documents = documents(files);
    let own = documents.iter().filter(|(at, _)| *at == file);
    let mut selections = own.flat_map(|(_, doc)| Selection::all(doc, &documents));
    let covers = |span: Span| span.start as usize <= offset && offset <= span.end as usize;
    // The kind of a custom resource is defined by an object.
    let mut own = documents.iter().filter(|(at, _)| *at == file);
    let custom = own.find(|(_, doc)| {
        doc.node
            .get("kind")
            .is_some_and(|kind| covers(kind.used_at()))
    });
    if let Some((_, custom)) = custom {
        let group = custom.node.get("apiVersion").and_then(Node::as_str);
        let group = group.and_then(|version| version.split_once('/'));
        let group = group.map(|(group, _)| group);
        let named = documents.iter().filter_map(|(at, doc)| {
            let spec = doc
                .node
                .get("spec")
                .filter(|_| doc.kind == "CustomResourceDefinition")?;
            let kind = spec.get("names")?.get("kind")?;
            let same = spec.get("group").and_then(Node::as_str) == group
                && kind.as_str() == Some(custom.kind);
            same.then(|| (*at, kind.used_at()))
        });
        return named.collect();
    }
    let Some(selection) = selections.find(|selection| covers(selection.key)) else {
        return Vec::new();
    };
    let name = |doc: &Doc<'_>| Some(doc.node.get("metadata")?.get("name")?.span);
    let found = documents.iter().filter_map(|(at, doc)| {
        let is_chosen = selection.chosen.iter().any(|one| one.id == doc.id);
        is_chosen.then(|| Some((*at, name(doc)?))).flatten()
    });
    found.collect()
}

/// How many pods a selector selects, and how often each of them is wanted.
pub(in crate::kubernetes) fn hints(files: &[FileText<'_>], file: usize) -> Vec<(usize, String)> {
    let documents = documents(files);
    let mut all = Vec::new();
    for (_, doc) in documents.iter().filter(|(at, _)| *at == file) {
        for Selection { key, chosen } in Selection::all(doc, &documents) {
            let mut pods = 0_u64;
            let mut open = false;
            for other in &chosen {
                match replicas(other) {
                    Some(count) => pods += count,
                    None => open = true,
                }
            }
            let text = match (chosen.len(), open) {
                (0, _) => "selects no pods".to_owned(),
                (n, true) => format!("selects pods of {n} {}", word(n, "workload")),
                (n, false) => {
                    let pods_word = if pods == 1 { "pod" } else { "pods" };
                    format!("selects {pods} {pods_word} of {n} {}", word(n, "workload"))
                }
            };
            all.push((key.end as usize + 1, text));
        }
    }
    all
}

fn word(count: usize, word: &str) -> String {
    match count {
        1 => word.to_owned(),
        _ => format!("{word}s"),
    }
}

/// How many pods a workload runs; none when the text does not tell.
fn replicas(doc: &Doc<'_>) -> Option<u64> {
    match doc.kind {
        "Pod" => Some(1),
        "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController" => {
            match doc.node.get("spec")?.get("replicas") {
                Some(count) => count.as_str()?.parse().ok(),
                None => Some(1),
            }
        }
        _ => None,
    }
}
