//! What the drivers of the protocols need from the world: agents, registrar, verifier, reference values.
//!
//! No transport and no database is named here. The gate implements these with HTTP and SQLite; a controller
//! in a cluster may implement them with the cluster's own API.

use std::future::Future;
use std::sync::Arc;

use uuid::Uuid;

use super::attestation::{Judged, Shown};
use super::message::{Acknowledgement, Challenge, EvidenceRequest, Identity, Proof};
use super::received::Received;
use super::record::{Admission, Outstanding, WorkerRecord};
use super::registration::ProvenWorker;
use crate::clock::Timestamp;
use crate::ima::PodUid;
use crate::policy::PolicySet;
use crate::reference::Whitelist;
use crate::tpm::Endorsement;
use crate::verifier::{Node, PodStatus, WorkerStatus};

/// What kind of failure it is, for whoever decides what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// There is no such thing.
    NotFound,
    /// Something else happened meanwhile, or somebody else has the name.
    Conflict,
    /// It was looked at and refused.
    Refused,
    /// It may work later.
    Unavailable,
}

/// Why somebody did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Fault {
    /// What kind of failure it is.
    pub kind: FaultKind,
    /// What happened, in words.
    pub detail: String,
}

impl Fault {
    /// A failure of some kind.
    pub fn new(kind: FaultKind, detail: impl ToString) -> Self {
        Fault {
            kind,
            detail: detail.to_string(),
        }
    }

    /// Something that may work later.
    pub fn unavailable(detail: impl ToString) -> Self {
        Fault::new(FaultKind::Unavailable, detail)
    }
}

/// Where an agent is, and who it must prove to be.
#[derive(Clone, Copy, Debug)]
pub struct AgentPlace<'a> {
    /// The worker's name.
    pub name: &'a str,
    /// Where its agent listens.
    pub address: &'a str,
}

/// How agents are reached.
pub trait Agents: Sync {
    /// Asks an agent to identify itself.
    fn identity(
        &self,
        agent: AgentPlace<'_>,
    ) -> impl Future<Output = Result<Identity, Fault>> + Send;

    /// Sends a challenge.
    fn challenge(
        &self,
        agent: AgentPlace<'_>,
        challenge: &Challenge,
    ) -> impl Future<Output = Result<Proof, Fault>> + Send;

    /// Sends the acknowledgement; the same may be sent twice.
    fn acknowledge(
        &self,
        agent: AgentPlace<'_>,
        acknowledgement: &Acknowledgement,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Asks an agent, whose certificate is bound to an attestation key, for evidence; longer evidence than `most`
    /// bytes is not taken.
    fn evidence(
        &self,
        agent: AgentPlace<'_>,
        attestation_key: &[u8],
        request: &EvidenceRequest,
        most: u64,
    ) -> impl Future<Output = Result<Received, Fault>> + Send;
}

/// The registrar's part: who is registered. A registration and a removal each leave a note here first, so
/// that whoever comes after a crash knows how to go on. Everything may be told twice.
pub trait Registrations: Sync {
    /// Whether an endorsement key is vouched for by a known manufacturer.
    fn check_endorsement(
        &self,
        endorsement: &Endorsement,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Notes a worker that proved itself, beside the one that is registered under the name, if one is. An
    /// earlier proposal for the name is void.
    fn propose(
        &self,
        registration: Uuid,
        worker: &WorkerRecord,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Takes a proposal back; nothing happens if there is none.
    fn withdraw(&self, registration: Uuid) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Notes that the agent took the acknowledgement: from now on the registration is completed.
    fn accept(&self, registration: Uuid) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Makes an accepted proposal the registered worker.
    fn confirm(&self, registration: Uuid) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Notes that a worker is to be removed; from now on it is not registered.
    fn begin_removal(&self, name: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Removes what was noted.
    fn finish_removal(&self, name: &str) -> impl Future<Output = Result<(), Fault>> + Send;

    /// What was begun by somebody who died, and has to be completed.
    fn outstanding(&self) -> impl Future<Output = Result<Outstanding, Fault>> + Send;

    /// A registered worker.
    fn worker(&self, name: &str) -> impl Future<Output = Result<WorkerRecord, Fault>> + Send;
}

/// The verifier's part of registration and removal. Everything may be told twice.
pub trait Admissions: Sync {
    /// The digest of the public key that the verifier shows to agents.
    fn key(&self) -> impl Future<Output = Result<String, Fault>> + Send;

    /// Takes in a worker that was registered: what was known of it before is void.
    fn admit(&self, worker: &Admission) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Forgets a worker and its pods.
    fn forget(&self, name: &str) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// Who issues the certificates of agents.
pub trait Issuer: Sync {
    /// A certificate for a worker, bound to its attestation key, in PEM; and the record to be kept.
    fn issue(
        &self,
        worker: &ProvenWorker,
        address: &str,
        now: Timestamp,
    ) -> Result<(String, WorkerRecord), Fault>;
}

/// Where the list to judge by comes from.
pub trait Values: Sync {
    /// The list as it is at this moment.
    fn whitelist(&self) -> impl Future<Output = Result<Arc<Whitelist>, Fault>> + Send;
}

/// What the verifier knows of workers and pods, durably.
pub trait TrustStore: Sync {
    /// A worker.
    fn worker(&self, name: &str) -> impl Future<Output = Result<WorkerStatus, Fault>> + Send;

    /// The pods of a worker.
    fn pods(&self, worker: &str) -> impl Future<Output = Result<Vec<PodStatus>, Fault>> + Send;

    /// How far a worker's log has been verified.
    fn node(&self, worker: Uuid) -> impl Future<Output = Result<Arc<Node>, Fault>> + Send;

    /// What is insisted on for workers at this moment; the same pointer as long as nothing changed.
    fn policies(&self) -> impl Future<Output = Result<Arc<PolicySet>, Fault>> + Send;

    /// Commits what an attestation came to, all or nothing, unless the worker changed since; says which pods
    /// changed since, about which nothing was concluded.
    fn commit(&self, judged: Judged) -> impl Future<Output = Result<Vec<PodUid>, Fault>> + Send;

    /// Records that a generation of a pod is refuted, and nothing else; false if there is another by now.
    fn refute(
        &self,
        pod: PodUid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// Keeps evidence that was judged, for whoever looks into it later. What is not kept is not missed.
    fn keep(&self, _shown: Shown) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Takes back the trust in a generation of a worker until it is booted; false if there is another by now.
    fn suspend(
        &self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;

    /// Distrusts a generation of a worker, and all its pods; false if there is another by now.
    fn distrust(
        &self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> impl Future<Output = Result<bool, Fault>> + Send;
}
