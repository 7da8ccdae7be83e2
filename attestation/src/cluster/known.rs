//! What is known of the cluster: every object that admission may need, watched and never fetched while somebody waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use p256::ecdsa::VerifyingKey;
use serde_json::Value;

use super::object::{at, field, items, name, namespace, text, uid};
use super::resources::{InvariantSetSpec, Mode};

/// A kind of object that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watched {
    /// Its group.
    pub group: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its kind.
    pub kind: &'static str,
    /// Its resource.
    pub resource: &'static str,
}

const fn watched(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    resource: &'static str,
) -> Watched {
    Watched {
        group,
        version,
        kind,
        resource,
    }
}

/// Every kind that is watched. Secrets are not: nothing that the gate decides is worth the right to read them all.
pub const WATCHED: &[Watched] = &[
    watched("", "v1", "ConfigMap", "configmaps"),
    watched("", "v1", "LimitRange", "limitranges"),
    watched("", "v1", "Namespace", "namespaces"),
    watched("", "v1", "Node", "nodes"),
    watched("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    watched("", "v1", "Pod", "pods"),
    watched("", "v1", "ReplicationController", "replicationcontrollers"),
    watched("", "v1", "ResourceQuota", "resourcequotas"),
    watched("", "v1", "Service", "services"),
    watched("", "v1", "ServiceAccount", "serviceaccounts"),
    watched("apps", "v1", "DaemonSet", "daemonsets"),
    watched("apps", "v1", "Deployment", "deployments"),
    watched("apps", "v1", "ReplicaSet", "replicasets"),
    watched("apps", "v1", "StatefulSet", "statefulsets"),
    watched(
        "autoscaling",
        "v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
    ),
    watched("batch", "v1", "CronJob", "cronjobs"),
    watched("batch", "v1", "Job", "jobs"),
    watched("locus.dev", "v1alpha1", "Agent", "agents"),
    watched(
        "locus.dev",
        "v1alpha1",
        "AttestationRequest",
        "attestationrequests",
    ),
    watched("locus.dev", "v1alpha1", "InvariantSet", "invariantsets"),
    watched("locus.dev", "v1alpha1", "ReferenceImage", "referenceimages"),
    watched(
        "networking.k8s.io",
        "v1",
        "NetworkPolicy",
        "networkpolicies",
    ),
    watched("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses"),
    watched(
        "policy",
        "v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
    ),
    watched(
        "scheduling.k8s.io",
        "v1",
        "PriorityClass",
        "priorityclasses",
    ),
    watched("storage.k8s.io", "v1", "StorageClass", "storageclasses"),
];

/// A tenant, and the key that its signatures are made with.
#[derive(Clone, Debug)]
pub struct Tenant {
    /// Its identifier.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its public key.
    pub key: VerifyingKey,
}

/// Rules that are in force for a namespace.
#[derive(Clone, Debug)]
pub struct Set {
    /// The name of the InvariantSet.
    pub name: String,
    /// What it says.
    pub spec: InvariantSetSpec,
    /// The texts of its own rules, by the name of the file.
    pub own: Vec<(String, String)>,
    /// Why it cannot be used. Nothing gets in by a set that cannot be read.
    pub problem: Option<String>,
}

impl Set {
    /// Whether what breaks a rule is refused.
    pub fn enforces(&self) -> bool {
        self.spec.mode == Mode::Enforce
    }
}

type Key = (String, String);

/// What is known of a cluster at one moment.
#[derive(Clone, Debug, Default)]
pub struct Known {
    objects: BTreeMap<&'static str, BTreeMap<Key, Arc<Value>>>,
    listed: BTreeSet<&'static str>,
    /// The tenants; none while the registrar was not heard.
    pub tenants: Option<Vec<Tenant>>,
    /// The user that the gate's controllers are.
    pub identity: String,
}

impl Known {
    /// Nothing yet; the controllers of the gate are the user `identity`.
    pub fn new(identity: &str) -> Self {
        Known {
            identity: identity.to_owned(),
            ..Known::default()
        }
    }

    /// Whether every kind was listed once.
    pub fn is_complete(&self) -> bool {
        WATCHED.iter().all(|kind| self.listed.contains(kind.kind))
    }

    /// Notes that all objects of a kind were seen, and that there are no others.
    pub fn replace(&mut self, kind: &'static str, objects: impl IntoIterator<Item = Value>) {
        let objects = objects
            .into_iter()
            .map(|object| (key(&object), Arc::new(object)));
        self.objects.insert(kind, objects.collect());
        self.listed.insert(kind);
    }

    /// Notes that a kind is not seen any more: what is known of it may be old.
    pub fn lose(&mut self, kind: &'static str) {
        self.listed.remove(kind);
    }

    /// Notes an object.
    pub fn put(&mut self, kind: &'static str, object: Value) {
        let objects = self.objects.entry(kind).or_default();
        objects.insert(key(&object), Arc::new(object));
    }

    /// Notes that an object is gone.
    pub fn remove(&mut self, kind: &'static str, object: &Value) {
        if let Some(objects) = self.objects.get_mut(kind) {
            objects.remove(&key(object));
        }
    }

    /// An object by its name; cluster-wide ones have an empty namespace.
    pub fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<&Arc<Value>> {
        let objects = self.objects.get(kind)?;
        objects.get(&(namespace.to_owned(), name.to_owned()))
    }

    /// The objects of a kind in a namespace.
    pub fn within<'k>(
        &'k self,
        kind: &str,
        namespace: &'k str,
    ) -> impl Iterator<Item = &'k Arc<Value>> {
        let first = (namespace.to_owned(), String::new());
        let all = self.objects.get(kind).into_iter();
        let all = all.flat_map(move |objects| objects.range(first.clone()..));
        all.take_while(move |((space, _), _)| space == namespace)
            .map(|(_, object)| object)
    }

    /// All objects of a kind.
    pub fn all<'k>(&'k self, kind: &str) -> impl Iterator<Item = &'k Arc<Value>> {
        self.objects
            .get(kind)
            .into_iter()
            .flat_map(BTreeMap::values)
    }

    /// The sets that are in force for a namespace.
    pub fn sets(&self, namespace: &str) -> Vec<Set> {
        let all = self.all("InvariantSet").map(|object| self.set(object));
        all.filter(|set| set.spec.namespaces.iter().any(|one| covers(one, namespace)))
            .collect()
    }

    /// All sets, with their objects.
    pub fn all_sets(&self) -> impl Iterator<Item = (&Arc<Value>, Set)> {
        self.all("InvariantSet")
            .map(|object| (object, self.set(object)))
    }

    fn set(&self, object: &Value) -> Set {
        let mut set = Set {
            name: name(object).to_owned(),
            spec: everywhere(),
            own: Vec::new(),
            problem: None,
        };
        match serde_json::from_value::<InvariantSetSpec>(field(object, "spec").clone()) {
            Ok(spec) => set.spec = spec,
            // Which namespaces it is for cannot be read either, so it is for all.
            Err(error) => set.problem = Some(error.to_string()),
        }
        for rule in set.spec.own_rules.clone() {
            let found = match (&rule.text, &rule.config_map) {
                (Some(text), None) => Some(text.clone()),
                (None, Some(from)) => {
                    let map = self.get("ConfigMap", &from.namespace, &from.name);
                    let found = map.map(|map| text(map, &["data", &from.key]).to_owned());
                    found.filter(|text| !text.is_empty())
                }
                _ => None,
            };
            match found {
                Some(text) => set.own.push((rule.name, text)),
                None => set.problem = Some(format!("the rules `{}` are not there", rule.name)),
            }
        }
        set
    }

    /// Whether an image needs no check in a namespace.
    pub fn exempts(&self, digest: &str, namespace: &str) -> bool {
        let mut said = self.references(digest).map(|image| {
            let exempt = at(image, &["spec", "exempt"]);
            let namespaces = items(field(exempt, "namespaces"));
            let mut patterns = namespaces.iter().filter_map(Value::as_str);
            let here = namespaces.is_empty() || patterns.any(|one| covers(one, namespace));
            here && !text(exempt, &["reason"]).is_empty()
        });
        // Several that disagree: the image is exempt only if all say so.
        said.next() == Some(true) && said.all(|exempt| exempt)
    }

    fn references<'k>(&'k self, digest: &'k str) -> impl Iterator<Item = &'k Arc<Value>> {
        self.all("ReferenceImage").filter(move |image| {
            let spec = field(image, "spec");
            text(spec, &["manifest"]) == digest || text(spec, &["configuration"]) == digest
        })
    }

    /// The ReferenceImage that names a digest.
    pub fn reference<'k>(&'k self, digest: &'k str) -> Option<&'k Arc<Value>> {
        self.references(digest).next()
    }

    /// Whether a node is trusted.
    pub fn trusts(&self, node: &str) -> bool {
        let agent = self.get("Agent", "", node);
        agent.is_some_and(|agent| text(agent, &["status", "trust"]) == "Trusted")
    }

    /// The object that an owner's reference means: its UID, not only its name.
    pub fn owner(&self, namespace: &str, reference: &Value) -> Option<&Arc<Value>> {
        let kind = text(reference, &["kind"]);
        let found = self.get(kind, namespace, text(reference, &["name"]))?;
        let same_group = super::object::group(text(found, &["apiVersion"]))
            == super::object::group(text(reference, &["apiVersion"]));
        let wanted = text(reference, &["uid"]);
        (same_group && !wanted.is_empty() && uid(found) == wanted).then_some(found)
    }

    /// A tenant by name or identifier.
    pub fn tenant(&self, name: &str) -> Option<&Tenant> {
        let mut all = self.tenants.iter().flatten();
        all.find(|tenant| tenant.id == name || tenant.name == name)
    }
}

/// A set that cannot be read is for every namespace.
fn everywhere() -> InvariantSetSpec {
    InvariantSetSpec {
        namespaces: vec!["*".to_owned()],
        mode: Mode::Enforce,
        pod_security: Default::default(),
        rules: BTreeMap::new(),
        own_rules: Vec::new(),
        tenants: Vec::new(),
    }
}

/// Whether a set's pattern names a namespace.
pub fn covers(pattern: &str, namespace: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => namespace.starts_with(start),
        None => pattern == namespace,
    }
}

fn key(object: &Value) -> Key {
    (namespace(object).to_owned(), name(object).to_owned())
}

/// Objects as they are kept: without what nobody asks for, and of ConfigMaps that hold no rules the keys alone.
pub fn kept(kind: &str, mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    let keeps = [
        "Agent",
        "AttestationRequest",
        "Pod",
        "PersistentVolumeClaim",
    ]
    .contains(&kind);
    if !keeps && let Some(fields) = object.as_object_mut() {
        let status = fields.remove("status");
        // Where a node is, and whether it is ready.
        if kind == "Node"
            && let Some(Value::Object(mut status)) = status
        {
            status.retain(|key, _| matches!(key.as_str(), "addresses" | "conditions"));
            fields.insert("status".to_owned(), Value::Object(status));
        }
    }
    if kind == "ConfigMap"
        && let Some(data) = object.get_mut("data").and_then(Value::as_object_mut)
    {
        for (key, value) in data.iter_mut() {
            if !key.ends_with(".als") {
                *value = Value::String(String::new());
            }
        }
    }
    object
}

/// The labels of an object that are texts.
pub fn labels(object: &Value) -> &Value {
    at(object, &["metadata", "labels"])
}

/// The names of the pods' volumes and variables that refer to objects of the namespace: kind and name.
pub fn references(spec: &Value) -> BTreeSet<(&'static str, &str)> {
    let mut found: BTreeSet<(&'static str, &str)> = BTreeSet::new();
    let account = text(spec, &["serviceAccountName"]);
    found.insert((
        "ServiceAccount",
        if account.is_empty() {
            "default"
        } else {
            account
        },
    ));
    let containers = ["containers", "initContainers", "ephemeralContainers"];
    for container in containers.iter().flat_map(|list| items(field(spec, list))) {
        for from in items(field(container, "envFrom")) {
            found.insert(("ConfigMap", text(from, &["configMapRef", "name"])));
        }
        for variable in items(field(container, "env")) {
            let path = ["valueFrom", "configMapKeyRef", "name"];
            found.insert(("ConfigMap", text(variable, &path)));
        }
    }
    for volume in items(field(spec, "volumes")) {
        found.insert(("ConfigMap", text(volume, &["configMap", "name"])));
        let claim = text(volume, &["persistentVolumeClaim", "claimName"]);
        found.insert(("PersistentVolumeClaim", claim));
        for source in items(at(volume, &["projected", "sources"])) {
            found.insert(("ConfigMap", text(source, &["configMap", "name"])));
        }
    }
    found.retain(|(_, name)| !name.is_empty());
    found
}
