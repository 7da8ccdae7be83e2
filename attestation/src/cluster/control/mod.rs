//! What the gate does about workers and pods. Nothing here talks to anybody: what is known in, what is due out.
//!
//! What is due follows from what is there, not from what happened: after a restart, a lost answer or a missed event the same
//! things are due as before, and are done again until they show.

pub mod acting;
pub mod backoff;
mod orphans;
mod pods;
mod requests;
pub mod running;
mod sets;
#[cfg(test)]
mod tests;
mod workers;

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use super::known::Known;
use super::object::{at, items, name, namespace, text, uid};
use super::resources::{AgentStatus, AttestationRequestStatus, InvariantSetStatus};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::evidence::Nonce;
use crate::ima::PodUid;
use crate::verifier::{Pod, PodStatus, Trust, WorkerStatus};

/// Whose the pods are that no tenant signed for: the cluster's own.
pub const CLUSTER: Uuid = Uuid::nil();

/// What is done about a worker that is not to be trusted. Each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum OnUntrusted {
    /// Nothing more is scheduled on it.
    Taint,
    /// It is closed to pods that tolerate everything, too.
    Cordon,
    /// Its pods are evicted.
    #[default]
    Evict,
    /// Its node is deleted.
    Delete,
}

/// What is done about pods that nobody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OnOrphans {
    /// They are reported.
    #[default]
    Report,
    /// They are removed after the grace time.
    Remove,
}

/// What the operator decided.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// About workers.
    pub untrusted: OnUntrusted,
    /// About orphans.
    pub orphans: OnOrphans,
    /// How long a pod may be one before it is removed, in seconds.
    pub orphan_grace: i64,
    /// Where agents listen that say nothing else.
    pub agent_port: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            untrusted: OnUntrusted::default(),
            orphans: OnOrphans::default(),
            orphan_grace: 300,
            agent_port: 31_000,
        }
    }
}

/// What is known at one moment.
pub struct Facts<'f> {
    /// Of the cluster.
    pub known: &'f Known,
    /// The workers that the verifier knows, by name, as they are trusted now.
    pub workers: BTreeMap<String, WorkerStatus>,
    /// The pods that the verifier knows, by UID, as they are trusted now.
    pub pods: BTreeMap<String, PodStatus>,
    /// Whether reference values know an image by a digest.
    pub knows_image: &'f dyn Fn(&Digest) -> bool,
    /// Why workers could not be registered, by name.
    pub failures: &'f BTreeMap<String, String>,
    /// Since when pods are orphans, by UID.
    pub orphans: &'f BTreeMap<String, Timestamp>,
    /// What is known of InvariantSets, by name.
    pub sets: &'f BTreeMap<String, SetFacts>,
    /// The time.
    pub now: Timestamp,
    /// What the operator decided.
    pub settings: Settings,
}

/// Something to be shown by `kubectl describe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Whether it is a warning.
    pub warning: bool,
    /// A word for it.
    pub reason: &'static str,
    /// What happened.
    pub message: String,
}

impl Note {
    fn new(warning: bool, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Note {
            warning,
            reason,
            message,
        }
    }
}

/// An object that something is done to, as it was seen: one of the same name that came later is another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Its version of the API.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
}

impl Target {
    /// An object.
    pub fn of(object: &Value) -> Self {
        Target {
            api_version: text(object, &["apiVersion"]).to_owned(),
            kind: text(object, &["kind"]).to_owned(),
            namespace: namespace(object).to_owned(),
            name: name(object).to_owned(),
            uid: uid(object).to_owned(),
        }
    }
}

/// The state of the condition that a pod's readiness depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attested {
    /// Whether the pod was attested.
    pub yes: bool,
    /// A word for why.
    pub reason: &'static str,
    /// Why.
    pub message: String,
}

/// Something that is due.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Make an Agent of a node.
    MakeAgent {
        /// The node.
        node: Target,
        /// Where its agent listens.
        address: String,
    },
    /// Have a worker registered.
    Register {
        /// The worker.
        worker: String,
        /// Where its agent listens.
        address: String,
    },
    /// Have a worker that left forgotten.
    RemoveWorker(String),
    /// Have a worker and its pods attested; again at once when other pods wait for it.
    Attest {
        /// The worker.
        worker: String,
        /// The pods that wait, with the version of what is known of each.
        pods: Vec<(String, u64)>,
    },
    /// Say what is known of a worker.
    Report {
        /// The Agent.
        agent: Target,
        /// What is known.
        status: Box<AgentStatus>,
        /// What changed, if the trust did; it is said of the node, too.
        note: Option<(Note, Target)>,
    },
    /// Keep pods off a node, or let them on it.
    Taint(Target, bool),
    /// Close a node, or open it again.
    Cordon(Target, bool),
    /// Delete a node.
    DeleteNode(Target),
    /// Let a pod be scheduled, if it still breaks no rule.
    Open(Target),
    /// Describe a pod to the verifier.
    Declare(Box<Pod>),
    /// Have the verifier forget a pod that is gone.
    Forget(PodUid),
    /// Say whether a pod was attested.
    Condition(Target, Attested),
    /// Have a pod leave its node.
    Evict(Target, Note),
    /// Delete a pod that nobody knows.
    Remove(Target, Note),
    /// Say something of an object, once.
    Say(Target, Note),
    /// Answer a request by having its pod attested.
    Answer {
        /// The request.
        request: Target,
        /// The pod.
        pod: PodUid,
        /// What the result is to contain.
        nonce: Option<Nonce>,
    },
    /// Answer a request that cannot be granted.
    Refuse(Target, AttestationRequestStatus),
    /// Say what is known of an InvariantSet.
    Describe(Target, Box<InvariantSetStatus>),
}

impl Action {
    /// What is done to what: one thing at a time.
    pub fn key(&self) -> (&'static str, String) {
        let id = |target: &Target| format!("{}/{}", target.uid, target.name);
        match self {
            Action::MakeAgent { node, .. } => ("make agent", id(node)),
            Action::Register { worker, .. } | Action::RemoveWorker(worker) => {
                ("register", worker.clone())
            }
            Action::Attest { worker, .. } => ("attest", worker.clone()),
            Action::Report { agent, .. } => ("report", id(agent)),
            Action::Taint(node, _) => ("taint", id(node)),
            Action::Cordon(node, _) => ("cordon", id(node)),
            Action::DeleteNode(node) => ("delete node", id(node)),
            Action::Open(pod) => ("open", id(pod)),
            Action::Declare(pod) => ("declare", pod.uid.to_string()),
            Action::Forget(pod) => ("forget", pod.to_string()),
            Action::Condition(pod, _) => ("condition", id(pod)),
            Action::Evict(pod, _) => ("evict", id(pod)),
            Action::Remove(pod, _) => ("remove", id(pod)),
            Action::Say(about, note) => ("say", format!("{}{}", id(about), note.reason)),
            Action::Answer { request, .. } => ("answer", id(request)),
            Action::Refuse(request, _) => ("answer", id(request)),
            Action::Describe(set, _) => ("describe", id(set)),
        }
    }
}

impl Facts<'_> {
    /// A worker as far as it is to be trusted: one that was proven before its node joined may be another machine.
    fn trust(&self, node: &Value) -> (Trust, String) {
        let name = name(node);
        let Some(worker) = self.workers.get(name) else {
            let why = match self.failures.get(name) {
                Some(why) => format!("not registered: {why}"),
                None => "not registered yet".to_owned(),
            };
            return (Trust::Unknown, why);
        };
        let joined = created(node);
        if worker.trust == Trust::Trusted && joined.is_none_or(|joined| worker.checked < joined) {
            let why = "not attested since its node joined the cluster";
            return (Trust::Unknown, why.to_owned());
        }
        (worker.trust, worker.reason.clone())
    }
}

/// When an object was made.
pub fn created(object: &Value) -> Option<Timestamp> {
    let text = text(object, &["metadata", "creationTimestamp"]);
    let time: k8s_openapi::jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_millis(time.as_millisecond()))
}

/// A time as the API server writes it.
pub(super) fn written(at: Timestamp) -> Option<String> {
    let time = k8s_openapi::jiff::Timestamp::from_second(at.secs()).ok()?;
    Some(time.to_string())
}

fn is_leaving(object: &Value) -> bool {
    at(object, &["metadata", "deletionTimestamp"]).is_string()
}

/// How long a pod that has to go may take for it, in seconds.
pub(super) const GRACE: i64 = 30;

/// Whether a pod is on its way out, and not only says so: whoever makes or deletes it chooses how long that takes.
fn leaves_soon(pod: &Value) -> bool {
    let grace = at(pod, &["metadata", "deletionGracePeriodSeconds"]).as_i64();
    is_leaving(pod) && grace.is_none_or(|grace| grace <= GRACE)
}

fn has_taint(node: &Value) -> bool {
    let taints = items(at(node, &["spec", "taints"]));
    taints.iter().any(|taint| {
        text(taint, &["key"]) == super::names::TAINT && text(taint, &["effect"]) == "NoSchedule"
    })
}

/// Everything that is due. Nothing is, as long as the cluster is not known.
pub fn due(facts: &Facts<'_>) -> Vec<Action> {
    let mut due = Vec::new();
    if facts.known.is_complete() {
        workers::due(facts, &mut due);
        pods::due(facts, &mut due);
        orphans::due(facts, &mut due);
        requests::due(facts, &mut due);
        sets::due(facts, &mut due);
    }
    due
}

pub use orphans::found as orphans;
pub use sets::SetFacts;
