//! Names of objects, volumes, ports, keys and labels, across the files of a folder.

use std::collections::BTreeMap;

use locus_core::Span;

use crate::kubernetes::object::Scope;
use crate::kubernetes::release;
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

/// A document, and what its names are names in.
pub(super) struct Doc<'n> {
    pub(super) node: &'n Node,
    kind: &'n str,
    name: &'n str,
    namespace: &'n str,
    /// What tells it from all others.
    id: String,
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

    fn labels(&self) -> BTreeMap<&'n str, &'n str> {
        let labels = self
            .pod()
            .and_then(|pod| pod.get("metadata")?.get("labels"));
        pairs(labels)
    }

    /// Whether its pods have all labels that a selector by labels asks for.
    fn is_selected(&self, selector: &BTreeMap<&str, &str>) -> bool {
        let labels = self.labels();
        !selector.is_empty()
            && self.pod().is_some()
            && selector
                .iter()
                .all(|(key, value)| labels.get(key) == Some(value))
    }

    fn port_names(&self) -> Vec<&'n str> {
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

fn items(node: Option<&Node>) -> &[Node] {
    node.and_then(Node::as_sequence).unwrap_or_default()
}

fn pairs(node: Option<&Node>) -> BTreeMap<&str, &str> {
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
        [
            ..,
            "roleRef" | "scaleTargetRef" | "dataSource" | "targetRef" | "parentRefs",
            "name",
        ] => said("kind")?,
        _ => return None,
    })
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

/// Which documents mean the same by the name of a port: a service and the pods that it selects.
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
        for (_, service) in documents.iter().filter(|(_, doc)| doc.kind == "Service") {
            let selector = pairs(
                service
                    .node
                    .get("spec")
                    .and_then(|spec| spec.get("selector")),
            );
            for (_, doc) in documents {
                if doc.namespace == service.namespace
                    && doc.is_selected(&selector)
                    && !doc.port_names().is_empty()
                {
                    let (a, b) = (find(&groups, &service.id), find(&groups, &doc.id));
                    if a != b {
                        groups.insert(a, b);
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
                    let is_number = value.chars().all(|c| c.is_ascii_digit());
                    if !(kind == CONTAINER_PORT && is_number) {
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
    // As in `find`, the document of the place is one of all; which number it has is not known here.
    let roots: Vec<&Node> = std::iter::once(place.root)
        .chain(place.others.iter().copied())
        .collect();
    let file = FileText { text: "", roots };
    let documents = documents(std::slice::from_ref(&file));
    let ports = Ports::new(&documents);
    let own = documents.iter().map(|(_, doc)| doc);
    let Some(doc) = own
        .into_iter()
        .find(|doc| std::ptr::eq(doc.node, place.root))
    else {
        return Vec::new();
    };
    let found = used_at(doc, &ports, place.path, place.map(), place.around);
    let Some((kind, scope)) = found else {
        return Vec::new();
    };
    vec![(kind, Some(scope))]
}

/// The selector of an object that selects pods, and what it selects.
struct Selection<'d, 'n> {
    /// The key of the selector.
    key: Span,
    /// The workloads whose pods it selects.
    chosen: Vec<&'d Doc<'n>>,
}

impl<'d, 'n> Selection<'d, 'n> {
    /// None of a selector with expressions, which are counted by nobody here: a wrong count is worse than none.
    fn of(doc: &Doc<'n>, documents: &'d [(usize, Doc<'n>)]) -> Option<Self> {
        let spec = doc.node.get("spec").and_then(Node::as_mapping)?;
        let entry = spec.entry(selector_key(doc.kind)?)?;
        let node = &entry.value;
        if node.get("matchExpressions").is_some() {
            return None;
        }
        let selector = pairs(node.get("matchLabels").or(Some(node)));
        if selector.is_empty() {
            return None;
        }
        let others = documents.iter().map(|(_, other)| other);
        let chosen =
            others.filter(|other| other.namespace == doc.namespace && other.is_selected(&selector));
        Some(Selection {
            key: entry.key.span,
            chosen: chosen.collect(),
        })
    }
}

/// The names of what a selector selects whose key is at a place: the number of the file with each.
pub(in crate::kubernetes) fn selected(
    files: &[FileText<'_>],
    file: usize,
    offset: usize,
) -> Vec<(usize, Span)> {
    let documents = documents(files);
    let own = documents.iter().filter(|(at, _)| *at == file);
    let mut selections = own.filter_map(|(_, doc)| Selection::of(doc, &documents));
    let covers = |span: Span| span.start as usize <= offset && offset <= span.end as usize;
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
        let Some(Selection { key, chosen }) = Selection::of(doc, &documents) else {
            continue;
        };
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
    all
}

fn word(count: usize, word: &str) -> String {
    match count {
        1 => word.to_owned(),
        _ => format!("{word}s"),
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
