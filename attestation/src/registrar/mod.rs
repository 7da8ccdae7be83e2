//! The registrar: tenants, workers, TPM manufacturers and the validation of EK certificates.
//!
//! [`Registrar`] keeps them; [`TrustStore`] decides about EK certificates; [`api`] names the endpoints
//! and their messages. Public keys and certificates only: no secret is kept here.

pub mod api;
mod certificate;
mod chain;
mod constraints;
mod endorsement;
mod manufacturers;
mod record;
mod revocation;
pub(crate) mod signature;
mod store;
mod tcg;
mod transitions;

pub use certificate::{CertificateError, EkKey, unpad};
pub use chain::{EkError, EkIdentity, TrustStore, certified_identity};
pub use record::{
    CaKind, Manufacturer, NewWorker, RegistrarError, StoredCertificate, Tenant, Worker,
};
pub use revocation::RevocationError;
pub use signature::SignatureError;
pub use store::Registrar;
pub use tcg::TpmIdentity;
