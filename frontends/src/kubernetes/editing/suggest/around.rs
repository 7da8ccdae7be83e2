//! What the other objects of a project have that can be written again: labels, namespaces, numbers of ports.

use std::collections::BTreeMap;

use crate::kubernetes::access::Access as _;
use crate::kubernetes::editing::documents::{Doc, documents, items};
use crate::kubernetes::editing::names::whose_ports;
use crate::language::{FileText, Place};
use crate::yaml::Node;

/// All roots, the own one first.
fn roots<'a>(place: &Place<'a>) -> Vec<&'a Node> {
    std::iter::once(place.root)
        .chain(place.others.iter().copied())
        .collect()
}

/// The keys of all maps under a name, as `labels`, or the values of one of them; the most frequent first.
pub(super) fn seen(place: &Place<'_>, map: &str, key: Option<&str>) -> Vec<String> {
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for root in roots(place) {
        collect(root, place.around.last().copied(), map, key, &mut all);
    }
    let mut all: Vec<(String, usize)> = all.into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all.into_iter().map(|(text, _)| text).collect()
}

/// What is being typed is none yet.
fn collect(
    node: &Node,
    typed: Option<&Node>,
    map: &str,
    key: Option<&str>,
    all: &mut BTreeMap<String, usize>,
) {
    if let Some(mapping) = node.as_mapping() {
        for (name, entry) in mapping.named() {
            if &**name == map {
                let labels = entry.value.as_mapping().into_iter();
                for (label, value) in labels.flat_map(|labels| labels.named()) {
                    let text = match key {
                        None => Some(&**label),
                        Some(key)
                            if key == &**label
                                && !typed
                                    .is_some_and(|typed| std::ptr::eq(typed, &value.value)) =>
                        {
                            value.value.as_str()
                        }
                        Some(_) => None,
                    };
                    if let Some(text) = text.filter(|text| !text.is_empty()) {
                        *all.entry(text.to_owned()).or_default() += 1;
                    }
                }
            }
            collect(&entry.value, typed, map, key, all);
        }
    }
    for item in node.as_sequence().unwrap_or_default() {
        collect(item, typed, map, key, all);
    }
}

/// The labels that the nodes among the files have.
pub(super) fn node_labels(place: &Place<'_>, key: Option<&str>) -> Vec<String> {
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    for root in roots(place) {
        if root.str_of("kind") == Some("Node")
            && let Some(metadata) = root.get("metadata")
        {
            collect(metadata, None, "labels", key, &mut all);
        }
    }
    all.into_keys().collect()
}

/// The namespaces that objects are in, or that are defined.
pub(super) fn namespaces(place: &Place<'_>) -> Vec<String> {
    let roots = roots(place);
    let file = FileText {
        path: "",
        text: "",
        roots,
    };
    let documents = documents(std::slice::from_ref(&file));
    // What is being typed is none yet.
    let others = documents
        .iter()
        .filter(|(_, doc)| !std::ptr::eq(doc.node, place.root));
    let mut all: Vec<String> = others
        .map(|(_, doc)| match doc.kind {
            "Namespace" => doc.name.to_owned(),
            _ => doc.namespace.to_owned(),
        })
        .collect();
    all.extend(["default", "kube-system"].map(str::to_owned));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|name| !name.is_empty() && seen.insert(name.clone()));
    all
}

/// The numbers of ports that a place may mean.
pub(super) fn ports(place: &Place<'_>, definition: &str, field: &str) -> Vec<String> {
    let roots = roots(place);
    let file = FileText {
        path: "",
        text: "",
        roots,
    };
    let documents = documents(std::slice::from_ref(&file));
    let mut own = documents.iter().map(|(_, doc)| doc);
    let Some(doc) = own.find(|doc| std::ptr::eq(doc.node, place.root)) else {
        return Vec::new();
    };
    let mut all: Vec<String> = Vec::new();
    match (definition, field) {
        ("HTTPGetAction" | "TCPSocketAction" | "GRPCAction", "port") => all.extend(numbers(doc)),
        ("ServicePort", "targetPort") | ("NetworkPolicyPort", "port" | "endPort") => {
            let selectors = whose_ports(doc);
            for (_, other) in &documents {
                let is_selected = other.namespace == doc.namespace
                    && selectors.iter().any(|one| one.selects(other) == Some(true));
                if is_selected {
                    all.extend(numbers(other));
                }
            }
        }
        ("ServiceBackendPort", "number") => {
            // The service that the port is of stands one map further out.
            let mut maps = place.around.iter().rev();
            let service =
                maps.find_map(|node| node.str_of("name").filter(|_| node.get("port").is_some()));
            for (_, other) in &documents {
                if other.kind == "Service"
                    && other.namespace == doc.namespace
                    && Some(other.name) == service
                {
                    let ports = items(other.node.get("spec").and_then(|spec| spec.get("ports")));
                    let ports = ports.iter().filter_map(|port| port.get("port")?.as_str());
                    all.extend(ports.map(str::to_owned));
                }
            }
        }
        _ => {}
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|number| seen.insert(number.clone()));
    all
}

/// The numbers of the ports of the containers of an object.
fn numbers(doc: &Doc<'_>) -> Vec<String> {
    let spec = doc.pod().and_then(|pod| pod.get("spec"));
    let mut all = Vec::new();
    for key in ["containers", "initContainers"] {
        for container in items(spec.and_then(|spec| spec.get(key))) {
            let ports = items(container.get("ports")).iter();
            let ports = ports.filter_map(|port| port.get("containerPort")?.as_str());
            all.extend(ports.map(str::to_owned));
        }
    }
    all
}
