//! What the registrar keeps, and why it may not.

use p256::ecdsa::VerifyingKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::certificate::CertificateError;
use super::chain::EkError;
use super::revocation::RevocationError;
use crate::clock::Timestamp;
use crate::database::DatabaseError;
use crate::evidence::jws::public_key_from_pem;
use crate::tpm::Endorsement;

/// Why the registrar could not do it.
#[derive(Debug, thiserror::Error)]
pub enum RegistrarError {
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// There is none of that name or identifier.
    #[error("there is no {kind} `{name}`")]
    NotFound {
        /// What was looked for.
        kind: &'static str,
        /// By which name.
        name: String,
    },
    /// There is one already.
    #[error("there is a {kind} with this name or key already")]
    Exists {
        /// Of which kind.
        kind: &'static str,
    },
    /// A TPM that is a worker already.
    #[error("this TPM is registered already, as worker `{worker}`: one TPM is one worker")]
    SameTpm {
        /// Which.
        worker: String,
    },
    /// Two workers whose certificates speak of one TPM, and which show different keys of it.
    #[error(
        "the endorsement certificates of this worker and of worker `{worker}` are for one TPM (`{subject}`), \
         by different keys of it: one TPM is one worker. If they are two TPMs, list their endorsement \
         keys in the policy"
    )]
    SameSubject {
        /// Which.
        worker: String,
        /// How the certificates call the TPM.
        subject: String,
    },
    /// The worker is on its way in or out.
    #[error("worker `{name}` is being {what}; try again in a moment")]
    Unsettled {
        /// Which.
        name: String,
        /// What happens to it.
        what: &'static str,
    },
    /// A public key cannot be read.
    #[error("the public key is not a P-256 key in PEM")]
    Key,
    /// A certificate cannot be read.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// A revocation list cannot be read.
    #[error(transparent)]
    Revocation(#[from] RevocationError),
    /// The EK certificate is refused.
    #[error(transparent)]
    Ek(#[from] EkError),
    /// A stored value cannot be read.
    #[error("a stored {0} cannot be read")]
    Unreadable(&'static str),
}

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    /// Its identifier, which says nothing about it.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// The thumbprint of its public key.
    pub key_id: String,
    /// Its public key, PEM.
    pub public_key: String,
    /// When it was enrolled.
    pub created: Timestamp,
}

impl Tenant {
    /// Its public key.
    pub fn key(&self) -> Result<VerifyingKey, RegistrarError> {
        public_key_from_pem(&self.public_key).map_err(|_| RegistrarError::Unreadable("public key"))
    }
}

/// A worker that was registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// Its identifier.
    pub id: Uuid,
    /// When it was registered.
    pub registered: Timestamp,
    /// What it registered with.
    #[serde(flatten)]
    pub with: NewWorker,
}

/// What a worker registers with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewWorker {
    /// Its host name.
    pub name: String,
    /// The public area of its attestation key (TPMT_PUBLIC).
    #[serde(with = "crate::evidence::base64url::bytes")]
    pub ak_public: Vec<u8>,
    /// The public area of its endorsement key (TPMT_PUBLIC).
    #[serde(with = "crate::evidence::base64url::bytes")]
    pub ek_public: Vec<u8>,
    /// Its EK certificate, DER without padding.
    #[serde(with = "crate::evidence::base64url::bytes")]
    pub ek_certificate: Vec<u8>,
    /// The other endorsement keys of its TPM, with their certificates.
    #[serde(default)]
    pub ek_others: Vec<Endorsement>,
    /// Whether the operator's policy lists its keys; not kept.
    #[serde(skip)]
    pub ek_listed: bool,
    /// The digest of the key of its TLS certificate, once there is one.
    pub tls_key: Option<String>,
    /// The operating system it booted.
    pub os: String,
    /// Where its agent answers.
    pub address: String,
    /// The templates that its measurement log used; none if an earlier version registered it.
    #[serde(default)]
    pub templates: Option<Vec<String>>,
}

/// A manufacturer of TPMs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manufacturer {
    /// The TCG's identifier, such as `id:49465800`.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// What a certificate of a manufacturer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaKind {
    /// Trusted by itself.
    Root,
    /// Trusted as far as a root vouches for it.
    Intermediate,
}

/// A stored certificate of a manufacturer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredCertificate {
    /// Its digest.
    #[schemars(with = "crate::digest::Digest")]
    pub digest: String,
    /// The manufacturer it belongs to.
    pub manufacturer: String,
    /// Whether it is a root.
    pub kind: CaKind,
}
