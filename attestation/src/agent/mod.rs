//! The agent on a worker: answers the verifier from TPM and measurement log.

pub mod log;
pub mod privileges;
pub mod rate;
pub mod state;

use std::path::PathBuf;

use crate::net::PkiError;

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
    /// Privileges.
    #[error("privileges: {0}")]
    Privileges(String),
}
