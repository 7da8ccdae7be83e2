//! A worker, and what is known of it and of its pods.

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::verifier::Trust;

/// A worker, by the name of its node.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "locus.dev",
    version = "v1alpha1",
    kind = "Agent",
    status = "AgentStatus",
    derive = "PartialEq",
    category = "locus",
    doc = "A worker: whether it is trusted, which of its pods are, and why.",
    validation = Rule::new("self.metadata.name == self.spec.node").message("an Agent has the name of its node"),
    printcolumn(name = "Trust", type_ = "string", json_path = ".status.trust"),
    printcolumn(name = "Pods", type_ = "integer", json_path = ".status.podCount"),
    printcolumn(name = "Untrusted", type_ = "integer", json_path = ".status.untrustedPods"),
    printcolumn(name = "Checked", type_ = "date", json_path = ".status.checked"),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.reason")
)]
#[serde(rename_all = "camelCase")]
pub struct AgentSpec {
    /// The name of the node.
    #[x_kube(validation = Rule::new("self == oldSelf").message("the node of an Agent does not change"))]
    #[schemars(length(min = 1, max = 253))]
    pub node: String,
    /// Where the worker's agent listens, host and port; `push` if it comes to the gate.
    #[schemars(length(min = 1, max = 300))]
    pub address: String,
}

/// Whether something is trusted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum TrustWord {
    /// Not proven yet.
    #[default]
    Unknown,
    /// Proven, and not refuted since.
    Trusted,
    /// Refuted.
    Untrusted,
}

impl From<Trust> for TrustWord {
    fn from(trust: Trust) -> Self {
        match trust {
            Trust::Unknown => TrustWord::Unknown,
            Trust::Trusted => TrustWord::Trusted,
            Trust::Untrusted => TrustWord::Untrusted,
        }
    }
}

/// What is known of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentStatus {
    /// Whether the worker is trusted.
    pub trust: TrustWord,
    /// Why, in words.
    pub reason: String,
    /// When that was decided, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
    /// How much of its log was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// How many pods of the worker are known.
    pub pod_count: i64,
    /// How many of them are untrusted.
    pub untrusted_pods: i64,
    /// Its pods, by UID.
    pub pods: Vec<PodTrust>,
}

/// How far a log was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Cursor {
    /// Changes whenever the worker is registered.
    pub generation: i64,
    /// The version of the last change of its trust.
    pub version: i64,
}

/// What is known of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PodTrust {
    /// Its UID: names come back, UIDs do not.
    pub uid: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Whether it is trusted.
    pub trust: TrustWord,
    /// Why, in words.
    pub reason: String,
    /// When that was decided, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<String>,
}
