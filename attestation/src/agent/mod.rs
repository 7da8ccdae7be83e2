//! The agent on a worker: answers the verifier from TPM and measurement log.
//!
//! It opens log and TPM, drops its privileges and then serves three kinds of requests over mutual TLS:
//! registration, for the worker handler; evidence, for the one verifier it learned then; and the
//! rotation of its certificate, for the worker handler again.

pub mod args;
pub mod ek_certificates;
pub mod event_log;
pub mod log;
pub mod paths;
pub mod privileges;
pub mod push;
pub mod server;
pub mod service;
pub mod state;

pub use crate::net::rate;
pub use args::AgentArgs;
pub use server::{RunningAgent, start};
pub use service::{Agent, Refusal, Setup};

use std::path::PathBuf;

use crate::net::PkiError;
use crate::net::tls::TlsError;
use crate::tpm::{StructureError, TpmError};

/// Why the agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// Its own files.
    #[error("the agent's state in `{path}` cannot be used: {reason}")]
    State {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The measurement log.
    #[error("the measurement log `{path}` cannot be read: {reason}")]
    Log {
        /// Which file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Keys and certificates.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The TPM.
    #[error(transparent)]
    Tpm(#[from] TpmError),
    /// The TPM's answer.
    #[error("the TPM's answer is malformed: {0}")]
    Structure(#[from] StructureError),
    /// The network.
    #[error("the agent cannot listen: {0}")]
    Listen(std::io::Error),
    /// Privileges.
    #[error("privileges: {0}")]
    Privileges(String),
}
