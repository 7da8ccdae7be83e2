//! TPM, measurements, registrar, verifier, agent and gate.
//!
//! What is absent, on purpose: nothing but `tpm::esapi` links a TSS, and that only with the feature `tpm`; without the
//! feature `gate` there is no database, no gate and no reader of images, as an agent needs none of them; without the feature
//! `kubernetes` there is no client of a cluster and no model check; `protocol` opens no
//! socket and no file; `ima`, `evidence`, `boot` and the structures of `tpm` do no input or output at all.

pub mod agent;
#[cfg(feature = "gate")]
pub mod boot;
#[cfg(feature = "gate")]
pub mod client;
pub mod clock;
#[cfg(feature = "kubernetes")]
pub mod cluster;
#[cfg(feature = "gate")]
pub mod database;
pub mod digest;
pub mod evidence;
#[cfg(feature = "gate")]
pub mod gate;
pub mod http;
pub mod ima;
pub mod logs;
pub mod net;
#[cfg(feature = "gate")]
pub mod policy;
pub mod protocol;
#[cfg(feature = "gate")]
pub mod reference;
#[cfg(feature = "gate")]
pub mod registrar;
#[cfg(feature = "gate")]
pub mod replay;
mod schema;
pub mod tpm;
#[cfg(feature = "gate")]
pub mod verifier;
