//! What registrar and verifier keep of a registered worker.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::tpm::Endorsement;

/// A registered worker, as the registrar keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerRecord {
    /// Its identifier.
    pub id: Uuid,
    /// Its host name.
    pub name: String,
    /// Its operating system.
    pub os: String,
    /// Where its agent listens: host and port.
    pub address: String,
    /// Its attestation key's public area (`TPMT_PUBLIC`).
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub ak_public: Vec<u8>,
    /// Its endorsement key's public area (`TPMT_PUBLIC`).
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub ek_public: Vec<u8>,
    /// Its endorsement key's certificate, in DER.
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub ek_certificate: Vec<u8>,
    /// The other endorsement keys of its TPM, with their certificates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ek_others: Vec<Endorsement>,
    /// Whether the operator's policy lists its keys: then its certificates are not compared with others'.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ek_listed: bool,
    /// The digest of the public key of its TLS certificates.
    pub tls_key: String,
    /// The templates that its log used when it was registered; absent if an earlier version registered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<Vec<String>>,
}

/// A worker to be taken in by the verifier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Admission {
    /// Its identifier.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Where its agent listens: host and port.
    pub address: String,
    /// Which registration this is: the same may be told twice, another starts over.
    pub registration: Uuid,
}

/// What has to be completed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outstanding {
    /// Registrations that were accepted and not confirmed.
    pub registrations: Vec<Admission>,
    /// The names of workers whose removal was begun.
    pub removals: Vec<String>,
}
