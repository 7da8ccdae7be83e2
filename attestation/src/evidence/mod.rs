//! Conceptual messages on the wire: evidence, attestation results, signed requests, nonces.
//!
//! | message | standard | form |
//! |---|---|---|
//! | evidence | RATS conceptual message wrapper (CMW), EAT claims (RFC 9711) | [`Evidence`], CBOR |
//! | attestation result | EAT attestation result (EAR) in a JWT (RFC 7519), ES256 | [`AttestationResult`] |
//! | the verifier's public keys | JWK Set (RFC 7517) | [`JwkSet`] |
//! | a tenant's request | HTTP message signature (RFC 9421), content digest (RFC 9530) | [`request`] |
//! | reference values | JWS (RFC 7515) | [`jws`] |
//!
//! Evidence is not a signed token: an attestation key is restricted and signs nothing but what the TPM
//! made itself. Its claims are bound by the quote instead, which is over their digest and the nonce.
//! The log is bound by the PCR.

pub mod base64url;
mod cbor;
mod cmw;
#[cfg(feature = "gate")]
mod ear;
mod eat;
#[cfg(feature = "gate")]
mod jwks;
#[cfg(feature = "gate")]
pub mod jws;
mod nonce;
#[cfg(feature = "gate")]
pub mod request;

pub use cmw::{Cmw, CmwError, Indicator, collection_from_cbor, collection_to_cbor};
#[cfg(feature = "gate")]
pub use ear::{
    Appraisal, AttestationResult, EarError, EarExpectations, Tier, TrustVector, WORKER_SUBMODULE,
    pod_submodule, registration_submodule,
};
pub use eat::{
    Evidence, EvidenceClaims, EvidenceError, LogClaim, MAX_EVENT_LOG, PcrValue, PodClaim,
    QuotePart, binding,
};
#[cfg(feature = "gate")]
pub use jwks::{Jwk, JwkSet};
pub use nonce::{Nonce, NonceError, NonceStore, SeenError, SeenNonces};
