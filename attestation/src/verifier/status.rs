//! What the verifier thinks of workers and pods.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::node::Pod;
use super::store::StoreError;
use crate::clock::Timestamp;
use crate::ima::PodUid;

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
}

/// A pod as the verifier sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PodStatus {
    /// The pod.
    pub pod: Pod,
    /// Whether it is trusted.
    pub trust: Trust,
    /// Why, in words.
    pub reason: String,
    /// When that was decided.
    pub checked: Timestamp,
    /// The last result as a signed token; empty before the first.
    pub token: String,
}

/// The outcome for one pod.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The pod.
    pub uid: PodUid,
    /// Whether it is trusted.
    pub trust: Trust,
    /// Why.
    pub reason: String,
    /// The signed result.
    pub token: String,
}
