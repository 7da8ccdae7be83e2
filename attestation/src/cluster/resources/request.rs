//! A request to have a pod attested.

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::TrustWord;

/// A tenant's request to have one of its pods attested. It is answered once; another question is another request.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[kube(
    group = "locus.dev",
    version = "v1alpha1",
    kind = "AttestationRequest",
    namespaced,
    status = "AttestationRequestStatus",
    derive = "PartialEq",
    category = "locus",
    doc = "A request to have a pod attested.",
    printcolumn(name = "Pod", type_ = "string", json_path = ".spec.pod"),
    printcolumn(name = "Trust", type_ = "string", json_path = ".status.trust"),
    printcolumn(name = "Reason", type_ = "string", json_path = ".status.reason")
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self == oldSelf").message("a request does not change: make another one"))]
pub struct AttestationRequestSpec {
    /// The name of the pod.
    #[schemars(length(min = 1, max = 253))]
    pub pod: String,
    /// Its UID: a pod of the same name that comes later is another pod.
    #[schemars(regex(pattern = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"))]
    pub uid: String,
    /// What the result is to contain: 32 bytes in base64url, chosen by whoever reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-]{43}$"))]
    pub nonce: Option<String>,
}

/// What came of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AttestationRequestStatus {
    /// Whether the pod is trusted; absent before the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustWord>,
    /// Why, in words.
    pub reason: String,
    /// The signed result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}
