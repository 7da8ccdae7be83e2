//! Names of objects, volumes, ports, keys and labels, across the files of a folder.

use std::collections::BTreeMap;

use locus_core::Span;

use super::documents::{Doc, documents, items};
use super::selectors::Selector;
use crate::kubernetes::object::Scope;
use crate::kubernetes::release;
use crate::kubernetes::schema::schema;
use crate::language::editing::push;
use crate::language::{FileText, NameAt, NameSort, Names, Place};
use crate::yaml::{Kind, Node};

const fn kind(what: &'static str, sort: NameSort) -> Names {
    Names {
        what,
        sort,
        defined: &[],
        used: &[],
        body: "",
    }
}

/// The kinds of names.
pub(in crate::kubernetes) static NAMES: &[Names] = &[
    kind("object", NameSort::Location),
    kind("volume", NameSort::Part),
    kind("container port", NameSort::Part),
    kind("service port", NameSort::Part),
    kind("key", NameSort::Part),
    kind("label", NameSort::Label),
    kind("container", NameSort::Part),
];

pub(super) const OBJECT: usize = 0;
pub(super) const VOLUME: usize = 1;
const CONTAINER_PORT: usize = 2;
const SERVICE_PORT: usize = 3;
pub(super) const DATA_KEY: usize = 4;
const LABEL: usize = 5;
const CONTAINER: usize = 6;

/// What a name of an object of a kind is a name in.
fn object_scope(kind: &str, namespace: &str) -> String {
    match release::scope(kind) {
        Scope::Cluster => format!("{kind}/"),
        _ => format!("{kind}/{namespace}"),
    }
}

/// The kind of object that a text names: by its key, what its key is in, and what stands beside it.
fn named_kind<'n>(path: &[&'n str], beside: Option<&'n Node>) -> Option<&'n str> {
    let said = |key: &str| beside.and_then(|node| node.get(key)?.as_str());
    // Items of lists are told by the list.
    let way: Vec<&str> = path.iter().copied().filter(|key| !key.is_empty()).collect();
    Some(match way.as_slice() {
        [.., "configMap" | "configMapRef" | "configMapKeyRef", "name"] => "ConfigMap",
        [
            ..,
            "secret" | "secretRef" | "secretKeyRef" | "nodePublishSecretRef",
            "name",
        ]
        | [.., "imagePullSecrets" | "secrets", "name"]
        | [.., "secret" | "tls", "secretName"] => "Secret",
        [.., "service", "name"] => "Service",
        ["spec", "serviceName"] => "Service",
        [.., "backendRefs", "name"] => said("kind").unwrap_or("Service"),
        [.., "serviceAccountName" | "serviceAccount"] => "ServiceAccount",
        [.., "persistentVolumeClaim", "claimName"] => "PersistentVolumeClaim",
        [.., "claimRef", "name"] => "PersistentVolumeClaim",
        ["spec", "volumeName"] => "PersistentVolume",
        [.., "storageClassName"] => "StorageClass",
        [.., "priorityClassName"] => "PriorityClass",
        [.., "runtimeClassName"] => "RuntimeClass",
        [.., "ingressClassName"] => "IngressClass",
        [.., "metadata", "namespace"] | [.., "subjects", "namespace"] => "Namespace",
        [.., "subjects", "name"] => said("kind").filter(|&kind| kind == "ServiceAccount")?,
        [.., "parentRefs", "name"] => said("kind").unwrap_or("Gateway"),
        [
            ..,
            "roleRef" | "scaleTargetRef" | "dataSource" | "targetRef",
            "name",
        ] => said("kind")?,
        _ => return None,
    })
}

/// What rules of access call the objects of a kind.
pub(super) fn plural(kind: &str) -> String {
    let word = kind.to_lowercase();
    match word.strip_suffix('y') {
        _ if word == "endpoints" => word,
        Some(stem) if !word.ends_with("ey") => format!("{stem}ies"),
        _ if word.ends_with('s') => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

/// The kind whose objects rules of access call so.
fn kind_of(resource: &str) -> Option<&'static str> {
    let mut kinds = schema().kinds.iter();
    kinds
        .find(|served| plural(served.kind) == resource)
        .map(|served| served.kind)
}

/// What a place uses, when it is a name: its kind and its scope.
fn used_at(
    doc: &Doc<'_>,
    ports: &Ports,
    path: &[&str],
    beside: Option<&Node>,
    around: &[&Node],
) -> Option<(usize, String)> {
    let said = |key: &str| beside.and_then(|node| node.get(key)?.as_str());
    let way: Vec<&str> = path.iter().copied().filter(|key| !key.is_empty()).collect();
    match way.as_slice() {
        [.., "volumeMounts" | "volumeDevices", "name"] => return Some((VOLUME, doc.id.clone())),
        [.., "resourceFieldRef", "containerName"] => return Some((CONTAINER, doc.id.clone())),
        [.., "httpGet" | "tcpSocket", "port"] => {
            return Some((CONTAINER_PORT, ports.of(&doc.id)));
        }
        ["spec", "ports", "targetPort"] if doc.kind == "Service" => {
            return Some((CONTAINER_PORT, ports.of(&doc.id)));
        }
        ["spec", "ingress" | "egress", "ports", "port"] if doc.kind == "NetworkPolicy" => {
            return Some((CONTAINER_PORT, ports.of(&doc.id)));
        }
        ["rules", "resourceNames"] if doc.kind == "Role" => {
            let mut resources = items(beside?.get("resources")).iter();
            let kind = resources.find_map(|one| kind_of(one.as_str()?))?;
            return Some((OBJECT, object_scope(kind, doc.namespace)));
        }
        [.., "nodeSelectorTerms", "matchExpressions", "values"] => {
            return Some((LABEL, format!("node {}", said("key")?)));
        }
        [.., "service", "port", "name"] => {
            // The service that the port is of stands one map further out.
            let mut maps = around
                .iter()
                .rev()
                .filter(|node| node.as_mapping().is_some());
            let service =
                maps.find_map(|node| node.get("name").filter(|_| node.get("port").is_some()));
            let service = service?.as_str()?;
            return Some((SERVICE_PORT, format!("{}/{service}", doc.namespace)));
        }
        [.., "configMapKeyRef", "key"] => {
            let name = said("name")?;
            return Some((DATA_KEY, format!("ConfigMap/{}/{name}", doc.namespace)));
        }
        [.., "secretKeyRef", "key"] => {
            let name = said("name")?;
            return Some((DATA_KEY, format!("Secret/{}/{name}", doc.namespace)));
        }
        [.., kind @ ("configMap" | "secret"), "items", "key"] => {
            let (kind, key) = match *kind {
                "configMap" => ("ConfigMap", "name"),
                _ => ("Secret", "secretName"),
            };
            let mut maps = around.iter().rev();
            let holder = maps.find(|node| node.get("items").is_some())?;
            let name = holder.get(key).or_else(|| holder.get("name"))?.as_str()?;
            return Some((DATA_KEY, format!("{kind}/{}/{name}", doc.namespace)));
        }
        [.., "matchLabels", label] | ["spec", "selector", label]
            if *label != "matchLabels" && *label != "matchExpressions" =>
        {
            return Some((LABEL, (*label).to_owned()));
        }
        [.., "nodeSelector", label] => return Some((LABEL, format!("node {label}"))),
        [.., "matchExpressions", "values"] => {
            return Some((LABEL, said("key")?.to_owned()));
        }
        _ => {}
    }
    let kind = named_kind(path, beside)?;
    let namespace = match way.as_slice() {
        [
            ..,
            "subjects" | "service" | "backendRefs" | "claimRef",
            "name",
        ] => said("namespace").unwrap_or(doc.namespace),
        _ => doc.namespace,
    };
    Some((OBJECT, object_scope(kind, namespace)))
}

/// What a place defines, when it is a name.
fn defined_at(doc: &Doc<'_>, ports: &Ports, path: &[&str]) -> Option<(usize, String)> {
    let way: Vec<&str> = path.iter().copied().filter(|key| !key.is_empty()).collect();
    Some(match way.as_slice() {
        ["metadata", "name"] => (OBJECT, object_scope(doc.kind, doc.namespace)),
        [.., "volumes", "name"] | ["spec", "volumeClaimTemplates", "metadata", "name"] => {
            (VOLUME, doc.id.clone())
        }
        [.., "containers" | "initContainers", "ports", "name"] => {
            (CONTAINER_PORT, ports.of(&doc.id))
        }
        [.., "containers" | "initContainers", "name"] => (CONTAINER, doc.id.clone()),
        ["spec", "ports", "name"] if doc.kind == "Service" => {
            (SERVICE_PORT, format!("{}/{}", doc.namespace, doc.name))
        }
        [.., "metadata", "labels", label] => match doc.kind {
            "Node" => (LABEL, format!("node {label}")),
            _ => (LABEL, (*label).to_owned()),
        },
        _ => return None,
    })
}

/// Which documents mean the same by the name of a port: a service or a policy, and the pods that it selects.
struct Ports(BTreeMap<String, String>);

impl Ports {
    fn new(documents: &[(usize, Doc<'_>)]) -> Self {
        let mut groups: BTreeMap<String, String> = BTreeMap::new();
        let find = |groups: &BTreeMap<String, String>, id: &str| {
            let mut at = id.to_owned();
            while let Some(next) = groups.get(&at) {
                at.clone_from(next);
            }
            at
        };
        for (_, holder) in documents {
            for selector in whose_ports(holder) {
                for (_, doc) in documents {
                    if doc.namespace == holder.namespace
                        && selector.selects(doc) == Some(true)
                        && !doc.port_names().is_empty()
                    {
                        let (a, b) = (find(&groups, &holder.id), find(&groups, &doc.id));
                        if a != b {
                            groups.insert(a, b);
                        }
                    }
                }
            }
        }
        let ids = documents.iter().map(|(_, doc)| &doc.id);
        Ports(ids.map(|id| (id.clone(), find(&groups, id))).collect())
    }

    fn of(&self, id: &str) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }
}

/// The selectors of the pods whose ports an object calls by name.
pub(super) fn whose_ports<'n>(doc: &Doc<'n>) -> Vec<Selector<'n>> {
    let spec = doc.node.get("spec");
    let get = |key: &str| spec.and_then(|spec| spec.get(key));
    match doc.kind {
        "Service" => {
            let selector = get("selector").and_then(|node| Selector::of(node, true));
            selector.into_iter().collect()
        }
        "NetworkPolicy" => {
            let is_named = |rule: &&Node| {
                let mut ports = items(rule.get("ports")).iter();
                let named = |port: &Node| port.get("port").is_some_and(|port| !is_number(port));
                ports.any(named)
            };
            let mut selectors = Vec::new();
            if items(get("ingress")).iter().any(|rule| is_named(&rule)) {
                selectors.extend(get("podSelector").and_then(|node| Selector::of(node, false)));
            }
            // Of pods elsewhere, the namespace does not tell which are meant.
            let rules = items(get("egress")).iter().filter(is_named);
            let peers = rules.flat_map(|rule| items(rule.get("to")));
            let peers = peers.filter(|peer| peer.get("namespaceSelector").is_none());
            let chosen = peers.filter_map(|peer| Selector::of(peer.get("podSelector")?, false));
            selectors.extend(chosen);
            selectors
        }
        _ => Vec::new(),
    }
}

fn is_number(node: &Node) -> bool {
    let text = node.as_str().unwrap_or_default();
    text.chars().all(|c| c.is_ascii_digit())
}

/// All names of some files that are checked together.
pub(in crate::kubernetes) fn find(files: &[FileText<'_>]) -> Vec<Vec<NameAt>> {
    let documents = documents(files);
    let ports = Ports::new(&documents);
    let mut found: Vec<Vec<NameAt>> = files.iter().map(|_| Vec::new()).collect();
    for (at, doc) in &documents {
        let (Some(file), Some(names)) = (files.get(*at), found.get_mut(*at)) else {
            continue;
        };
        let mut finder = Finder {
            doc,
            ports: &ports,
            text: file.text,
            found: names,
        };
        finder.walk(doc.node, &mut Vec::new(), &mut Vec::new());
        finder.data_keys();
    }
    for names in &mut found {
        names.sort_by_key(|name| (name.span.start, name.kind, !name.is_definition()));
        names.dedup();
    }
    found
}

struct Finder<'f, 'n> {
    doc: &'f Doc<'n>,
    ports: &'f Ports,
    text: &'f str,
    found: &'f mut Vec<NameAt>,
}

impl<'n> Finder<'_, 'n> {
    fn walk(&mut self, node: &'n Node, path: &mut Vec<&'n str>, around: &mut Vec<&'n Node>) {
        if node.alias().is_some() {
            return;
        }
        match &node.kind {
            Kind::Mapping(mapping) => {
                around.push(node);
                for (name, entry) in mapping.named() {
                    path.push(name);
                    self.walk(&entry.value, path, around);
                    path.pop();
                }
                around.pop();
            }
            Kind::Sequence(items) => {
                path.push("");
                items.iter().for_each(|item| self.walk(item, path, around));
                path.pop();
            }
            Kind::Scalar(_) => {
                let Some(value) = node.as_str() else { return };
                let beside = around.last().copied();
                if let Some((kind, scope)) = defined_at(self.doc, self.ports, path) {
                    let whole = self.whole(kind, node, around);
                    self.push(node, value, kind, scope, Some(whole));
                } else if let Some((kind, scope)) =
                    used_at(self.doc, self.ports, path, beside, around)
                {
                    // A port that is a number is no name.
                    if !(kind == CONTAINER_PORT && is_number(node)) {
                        self.push(node, value, kind, scope, None);
                    }
                }
            }
        }
    }

    /// The keys of a config map or secret.
    fn data_keys(&mut self) {
        if !matches!(self.doc.kind, "ConfigMap" | "Secret") {
            return;
        }
        let scope = format!("{}/{}/{}", self.doc.kind, self.doc.namespace, self.doc.name);
        for section in ["data", "binaryData", "stringData"] {
            let entries = self.doc.node.get(section).and_then(Node::as_mapping);
            for (name, entry) in entries.into_iter().flat_map(|entries| entries.named()) {
                let whole = Some(entry.span());
                self.push(&entry.key, name, DATA_KEY, scope.clone(), whole);
            }
        }
    }

    /// All of what a name is the name of: of an object the document, of a part the map that it stands in.
    fn whole(&self, kind: usize, node: &Node, around: &[&Node]) -> Span {
        match (kind, around) {
            (OBJECT, _) => self.doc.node.span,
            // The name of a claim of a stateful set is in its metadata.
            (VOLUME, [.., claim, _]) if claim.get("metadata").is_some() => claim.span,
            (LABEL, _) | (_, []) => node.span,
            (_, [.., item]) => item.span,
        }
    }

    fn push(&mut self, node: &Node, name: &str, kind: usize, scope: String, defines: Option<Span>) {
        let before = self.found.len();
        push(self.text, node, name, kind, defines, self.found);
        if let Some(new) = self.found.get_mut(before) {
            new.scope = scope;
        }
    }
}

/// The kinds of names that can be written at a place, and what they are names in.
pub(in crate::kubernetes) fn names_for(place: &Place<'_>) -> Vec<(usize, Option<String>)> {
    if place.is_key {
        return Vec::new();
    }
    at(place, |doc, ports| {
        // A role of whose kind nothing is said is of either.
        let kind = place.map().and_then(|node| node.get("kind"));
        if let (["roleRef", "name"], None) = (place.path, kind) {
            let kinds = ["Role", "ClusterRole"];
            let all = kinds.map(|kind| (OBJECT, Some(object_scope(kind, doc.namespace))));
            return all.to_vec();
        }
        let found = used_at(doc, ports, place.path, place.map(), place.around);
        let found = found.into_iter();
        found.map(|(kind, scope)| (kind, Some(scope))).collect()
    })
}

/// The kinds of names that are defined by what is written at a place, and what they are names in.
pub(in crate::kubernetes) fn names_defined(place: &Place<'_>) -> Vec<(usize, Option<String>)> {
    at(place, |doc, ports| {
        let found = match (place.is_key, place.path) {
            (true, ["data" | "stringData"]) if matches!(doc.kind, "ConfigMap" | "Secret") => {
                let scope = format!("{}/{}/{}", doc.kind, doc.namespace, doc.name);
                Some((DATA_KEY, scope))
            }
            (true, _) => None,
            (false, path) => defined_at(doc, ports, path),
        };
        let found = found.into_iter().filter(|(kind, _)| *kind != LABEL);
        found.map(|(kind, scope)| (kind, Some(scope))).collect()
    })
}

/// Asks about the document that a place is in. As in `find`, it is one of all; which number it has is not known here.
fn at<T: Default>(place: &Place<'_>, ask: impl FnOnce(&Doc<'_>, &Ports) -> T) -> T {
    let roots: Vec<&Node> = std::iter::once(place.root)
        .chain(place.others.iter().copied())
        .collect();
    let file = FileText {
        path: "",
        text: "",
        roots,
    };
    let documents = documents(std::slice::from_ref(&file));
    let ports = Ports::new(&documents);
    let mut own = documents.iter().map(|(_, doc)| doc);
    let doc = own.find(|doc| std::ptr::eq(doc.node, place.root));
    doc.map_or_else(T::default, |doc| ask(doc, &ports))
}
