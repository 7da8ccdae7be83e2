//! What the verifier knows of a worker and its pods.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::accepted::Accepted;
use super::history::History;
use crate::digest::Digest;
use crate::evidence::{Nonce, PodClaim};
use crate::ima::{ContainerId, Cursor, Ledger, PodUid};
use crate::policy::WorkerPolicy;
use crate::protocol::EvidenceRequest;
use crate::reference::ContainerImage;
use crate::tpm::pcr::BOOT_PCRS;
use crate::tpm::{PcrSelection, Public};

/// A registered worker.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Its identifier.
    pub id: Uuid,
    /// Its host name.
    pub name: String,
    /// Its operating system.
    pub os: String,
    /// Its attestation key.
    pub ak: Public,
    /// Whether its TPM is a program.
    pub software_tpm: bool,
    /// The templates that its log used when it was registered; none if that was not recorded.
    pub templates: Option<Vec<String>>,
}

/// One container of a pod, of any kind: init, regular, sidecar, ephemeral.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PodContainer {
    /// Its name.
    pub name: String,
    /// The name of the image it was made from, for people.
    pub image: String,
    /// The digest of that image.
    pub digest: Digest,
    /// Its identifier in the container runtime, once it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ContainerId>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pod {
    /// Its identifier.
    pub uid: PodUid,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The tenant that owns it.
    pub tenant: Uuid,
    /// The host name of the worker it runs on.
    pub worker: String,
    /// All its containers.
    pub containers: Vec<PodContainer>,
}

impl Pod {
    /// As evidence names it.
    pub fn claim(&self) -> PodClaim {
        PodClaim {
            uid: self.uid,
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    /// Its containers with their images, as the reference values judge them.
    pub fn images(&self) -> Vec<ContainerImage> {
        self.containers
            .iter()
            .map(|container| ContainerImage {
                container: container.id,
                name: container.image.clone(),
                digest: container.digest,
            })
            .collect()
    }

    /// Its namespace and name.
    pub fn label(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

/// How far a worker's log has been verified, and what it showed.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// Where the log is taken up; none before the first attestation.
    pub cursor: Option<Cursor>,
    /// What host, runtime and pods ran since the boot.
    pub ledger: Ledger,
    /// What of it was accepted already.
    pub accepted: Accepted,
    /// What is remembered beside it.
    pub history: History,
}

impl Node {
    /// Where the log is taken up, if it was verified in the registers of this policy; otherwise nothing is known.
    pub fn cursor_for(&self, policy: &WorkerPolicy) -> Option<&Cursor> {
        let cursor = self.cursor.as_ref()?;
        cursor
            .covers(&policy.banks, &policy.registers())
            .then_some(cursor)
    }

    /// Whether the log has to be read from its first entry on, as the policy was another one when it was read: whose an entry
    /// is, who signed it and what is left out is decided when it is read.
    pub fn reads_anew(&self, policy: &WorkerPolicy) -> bool {
        let cursor = self.cursor_for(policy);
        cursor.is_some_and(|cursor| cursor.next_entry > 0 && cursor.read_by != Some(policy.terms()))
    }

    /// How many bytes of memory it takes, about.
    pub fn footprint(&self) -> usize {
        size_of::<Node>()
            + self.ledger.footprint()
            + self.accepted.footprint()
            + self.history.footprint()
    }

    /// The request for the evidence that comes next; registers and banks are those of the policy.
    pub fn request(
        &self,
        worker: Uuid,
        nonce: Nonce,
        pod: Option<&Pod>,
        policy: &WorkerPolicy,
    ) -> EvidenceRequest {
        let registers = || BOOT_PCRS.into_iter().chain(policy.pcrs.iter().copied());
        let mut selection = PcrSelection::default();
        for bank in &policy.banks {
            selection = selection.and(*bank, registers());
        }
        EvidenceRequest {
            nonce,
            worker,
            pod: pod.map(Pod::claim),
            tenant: pod.map(|pod| pod.tenant),
            first_entry: match self.cursor_for(policy) {
                Some(cursor) if !self.reads_anew(policy) => cursor.next_entry,
                _ => 0,
            },
            selection,
            boot_log: policy.boot.is_some(),
        }
    }
}
