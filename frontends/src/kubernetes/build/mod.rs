//! Objects to locations, roles and facts.

mod budgets;
mod escalation;
mod network;
mod objects;
mod open;
mod order;
mod placement;
mod pods;
mod policies;
mod policy;
mod reachability;
mod references;
mod rollout;
mod security;
mod standards;
mod storage;
mod values;

use std::sync::Arc;

use locus_core::facts::{AtomId, Facts};
use locus_core::graph::RoleKind;
use locus_core::value::SymbolId;
use locus_core::vocabulary::{FieldId, SigId};
use locus_core::{Int, Location, LocationGraph, LocationId, Span};
use rustc_hash::FxHashMap;

use super::model::{Model, WorkloadId};
use super::network as analysis;
use super::network::assertions::Assertion;
use super::object::Object;
use super::scale::Scales;
use super::vocabulary::{DECLARATIONS, field, sig};
use super::{Manifests, Options};
use crate::language::Loaded;

pub(super) use standards::STANDARDS;

/// Builds the graph and the facts of a project.
pub(super) fn build(mut manifests: Manifests, options: &Options, asked: &Asked<'_>) -> Loaded {
    let model = Model::of(&manifests.objects);
    let scales = Scales::of(&model, &options.replicas, &mut manifests.diagnostics);
    let asserted = analysis::check(asked.assertions, &model, &manifests.diagnostics);
    manifests.diagnostics.extend(asserted.findings);
    manifests.unchecked.extend(asserted.unchecked);
    let mut builder = Builder {
        model: &model,
        options,
        complete: manifests.complete,
        graph: LocationGraph::new(),
        facts: Facts::new(&DECLARATIONS),
        texts: FxHashMap::default(),
        numbers: FxHashMap::default(),
        truths: [None; 2],
        objects: Vec::with_capacity(manifests.objects.len()),
        names: FxHashMap::default(),
        containers: FxHashMap::default(),
        scales,
        open: FxHashMap::default(),
    };
    builder.cluster();
    builder.objects();
    builder.open_counts();
    builder.workloads();
    builder.network();
    if asked.audits {
        builder.policies();
    }
    builder.references();
    if asked.reaches {
        builder.reachability();
    }
    builder.escalations();
    builder.storage();
    builder.rollout();
    let questions = builder.placement();
    let Builder { graph, facts, .. } = builder;
    Loaded {
        questions,
        language: "kubernetes",
        graph,
        facts,
        declared: Arc::default(),
        diagnostics: manifests.diagnostics,
        unchecked: manifests.unchecked,
        about_settings: asserted.wrong,
        files: manifests.files,
    }
}

/// What is asked of a project beyond what is always stated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// Assertions about who can talk to whom.
    pub(super) assertions: &'a [Assertion],
    /// Whether a rule asks who can talk to whom.
    pub(super) reaches: bool,
    /// Whether a rule asks what policies do to each other.
    pub(super) audits: bool,
}

/// An object as a location and an atom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Built {
    pub(super) location: LocationId,
    pub(super) atom: AtomId,
}

/// A port that a container lists.
#[derive(Clone, Debug)]
pub(super) struct ListedPort {
    pub(super) atom: AtomId,
    pub(super) number: i64,
    pub(super) name: Option<Arc<str>>,
    pub(super) protocol: Arc<str>,
}

/// The name or number that something has for a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PortWord {
    Name(Arc<str>),
    Number(i64),
}

impl PortWord {
    /// Whether a port is meant.
    pub(super) fn means(&self, number: i64, name: Option<&str>) -> bool {
        match self {
            PortWord::Name(word) => name == Some(&**word),
            PortWord::Number(word) => number == *word,
        }
    }
}

pub(super) struct Builder<'b, 'o> {
    pub(super) model: &'b Model<'o>,
    pub(super) options: &'b Options,
    pub(super) complete: bool,
    pub(super) graph: LocationGraph,
    pub(super) facts: Facts,
    texts: FxHashMap<Arc<str>, AtomId>,
    numbers: FxHashMap<Int, AtomId>,
    truths: [Option<AtomId>; 2],
    /// The objects, by their position.
    pub(super) objects: Vec<Built>,
    /// How many locations have a name.
    names: FxHashMap<String, usize>,
    /// The ports that the containers of a workload list.
    pub(super) containers: FxHashMap<WorkloadId, Vec<ListedPort>>,
    /// How many pods workloads have.
    pub(super) scales: Scales,
    /// The symbols of the numbers of pods that are open, by the object that has them.
    open: FxHashMap<usize, SymbolId>,
}

impl Builder<'_, '_> {
    /// States that a field relates an owner to an atom, as written at a place.
    pub(super) fn fact(&mut self, field: FieldId<2>, owner: AtomId, value: AtomId, span: Span) {
        self.facts.tuple_at(field, &[owner, value], span);
    }

    fn cluster(&mut self) {
        let Some(first) = self.model.objects.first() else {
            return;
        };
        let span = first.kind.span;
        let cluster = self.facts.atom(sig!("Cluster"), "cluster", span);
        let release = i64::from(self.options.release);
        self.number_fact(field!("Cluster", "release"), cluster, release, span);
        self.truth_fact(field!("Cluster", "complete"), cluster, self.complete, span);
        self.policy_facts(span);
    }

    /// Adds all objects, before anything that relates them.
    fn objects(&mut self) {
        let model = self.model;
        for (at, object) in model.objects.iter().enumerate() {
            let location = self.location(object);
            let kind = self.signature(at, object);
            let atom = self.facts.atom(kind, object.called(), object.span());
            self.facts.locate(atom, location);
            self.objects.push(Built { location, atom });
            self.describe(object, atom);
        }
        for at in 0..model.objects.len() {
            self.kind_facts(at);
        }
    }

    /// A location for an object; several objects of one name are told apart by a number.
    fn location(&mut self, object: &Object) -> LocationId {
        let kind = &object.kind.text;
        let mut name = match &object.namespace {
            Some(namespace) => format!("{namespace}/{kind}/{}", object.called()),
            None => format!("{kind}/{}", object.called()),
        };
        let count = self.names.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            name = format!("{name} ({count})");
        }
        let sort = kind.clone();
        self.graph
            .add_location(Location::new(name, sort, object.span()))
    }

    /// The signature of an object.
    fn signature(&self, at: usize, object: &Object) -> SigId {
        let workload = self.model.workload_of(at).is_some();
        match (object.group(), &*object.kind.text) {
            ("", "Pod") if workload => sig!("Pod"),
            (_, "Deployment") if workload => sig!("Deployment"),
            (_, "StatefulSet") if workload => sig!("StatefulSet"),
            (_, "DaemonSet") if workload => sig!("DaemonSet"),
            (_, "ReplicaSet") if workload => sig!("ReplicaSet"),
            ("", "ReplicationController") if workload => sig!("ReplicationController"),
            ("batch", "Job") if workload => sig!("Job"),
            ("batch", "CronJob") if workload => sig!("CronJob"),
            _ if workload => sig!("OtherWorkload"),
            ("", "Service") => sig!("Service"),
            ("networking.k8s.io" | "extensions", "Ingress") => sig!("Ingress"),
            ("networking.k8s.io" | "extensions", "NetworkPolicy") => sig!("NetworkPolicy"),
            ("", "ConfigMap") => sig!("ConfigMap"),
            ("", "Secret") => sig!("Secret"),
            ("", "PersistentVolumeClaim") => sig!("PersistentVolumeClaim"),
            ("", "PersistentVolume") => sig!("PersistentVolume"),
            ("storage.k8s.io", "StorageClass") => sig!("StorageClass"),
            ("", "ServiceAccount") => sig!("ServiceAccount"),
            ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => sig!("Role"),
            ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => sig!("Binding"),
            ("autoscaling", "HorizontalPodAutoscaler") => sig!("HorizontalPodAutoscaler"),
            ("policy", "PodDisruptionBudget") => sig!("PodDisruptionBudget"),
            ("", "Namespace") => sig!("Namespace"),
            ("networking.k8s.io", "IngressClass") => sig!("IngressClass"),
            ("scheduling.k8s.io", "PriorityClass") => sig!("PriorityClass"),
            ("node.k8s.io", "RuntimeClass") => sig!("RuntimeClass"),
            ("", "Node") => sig!("Node"),
            ("security.openshift.io", "SecurityContextConstraints") => {
                sig!("SecurityContextConstraints")
            }
            ("monitoring.coreos.com", "ServiceMonitor" | "PodMonitor") => sig!("Monitor"),
            _ => sig!("OtherObject"),
        }
    }

    /// The atom of an object.
    pub(super) fn atom_of(&self, object: usize) -> Option<AtomId> {
        self.objects.get(object).map(|built| built.atom)
    }

    /// Binds two objects: one provides what the other requires.
    pub(super) fn bind(
        &mut self,
        provider: usize,
        requirer: usize,
        kind: RoleKind,
        label: &str,
        span: Span,
    ) {
        let ends = self.objects.get(provider).zip(self.objects.get(requirer));
        if let Some((provider, requirer)) = ends.map(|(a, b)| (a.location, b.location))
            && provider != requirer
        {
            self.graph.bind(provider, requirer, kind, label, span);
        }
    }
}
