//! TPM, measurements, registrar, verifier, agent and gate.
//!
//! What is absent, on purpose: nothing but `tpm::device` links a TSS, and that only with the feature
//! `tpm`; `protocol` opens no socket and no file; `ima`, `evidence` and `tpm::structure` do no input or
//! output at all.

pub mod agent;
pub mod boot;
pub mod cli;
pub mod client;
pub mod clock;
pub mod demo;
pub mod digest;
pub mod enter;
pub mod evidence;
pub mod gate;
pub mod ima;
pub mod logs;
pub mod net;
pub mod policy;
pub mod protocol;
pub mod reference;
pub mod registrar;
pub mod replay;
mod schema;
pub mod tpm;
pub mod verifier;
