//! What the verifier thinks of workers and pods.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::node::{Pod, PodContainer};
use super::store::StoreError;
use crate::clock::Timestamp;
use crate::ima::PodUid;
use crate::reference::ContainerImage;

/// Whether something is trusted. Nothing is, until it was proven.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Not proven yet.
    Unknown,
    /// Proven, and not refuted since.
    Trusted,
    /// Refuted.
    Untrusted,
}

impl Trust {
    /// Each of them.
    pub const ALL: [Trust; 3] = [Trust::Unknown, Trust::Trusted, Trust::Untrusted];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Trust::Unknown => "unknown",
            Trust::Trusted => "trusted",
            Trust::Untrusted => "untrusted",
        }
    }

    pub(super) fn parse(name: &str) -> Result<Self, StoreError> {
        Trust::ALL
            .into_iter()
            .find(|trust| trust.name() == name)
            .ok_or(StoreError::Content("trust"))
    }
}

/// A worker as the verifier sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerStatus {
    /// Its identifier.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Where its agent listens: host and port.
    pub address: String,
    /// Whether it is trusted.
    pub trust: Trust,
    /// Why, in words.
    pub reason: String,
    /// When that was decided.
    pub checked: Timestamp,
    /// The version of the last change of the above.
    pub version: u64,
    /// Changes whenever it is registered: a conclusion about another generation is about another worker.
    pub generation: u64,
}

/// A pod as the verifier sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PodStatus {
    /// The pod.
    pub pod: Pod,
    /// The containers it had before, by the identifiers and images they had.
    pub history: Vec<PodContainer>,
    /// Whether it is trusted.
    pub trust: Trust,
    /// Why, in words.
    pub reason: String,
    /// When that was decided.
    pub checked: Timestamp,
    /// The last result as a signed token; empty before the first.
    pub token: String,
    /// The version of the last change of trust, reason or description.
    pub version: u64,
    /// Changes whenever it is described: a conclusion about another generation is about another pod.
    pub generation: u64,
}

impl PodStatus {
    /// A pod that was just declared.
    pub fn declared(pod: Pod) -> Self {
        PodStatus {
            pod,
            history: Vec::new(),
            trust: Trust::Unknown,
            reason: String::new(),
            checked: Timestamp::from_secs(0),
            token: String::new(),
            version: 0,
            generation: 0,
        }
    }

    /// Its containers with their images: those it is described with, and those it had before.
    pub fn images(&self) -> Vec<ContainerImage> {
        let mut images = self.pod.images();
        for had in &self.history {
            if images.iter().all(|image| image.container != had.id) {
                images.push(ContainerImage {
                    container: had.id,
                    name: had.image.clone(),
                    digest: had.digest,
                });
            }
        }
        images
    }
}

/// The outcome for one pod.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The pod.
    pub uid: PodUid,
    /// Which description of it this is about.
    pub generation: u64,
    /// Whether it is trusted.
    pub trust: Trust,
    /// Why.
    pub reason: String,
    /// The signed result.
    pub token: String,
    /// Whether something waits to be explained: what was known of the pod before then stays.
    pub pending: bool,
}
