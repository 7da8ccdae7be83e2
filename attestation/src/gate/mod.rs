//! The gate: registrar, reference values, verifier and handlers behind mutual TLS.

pub mod access;
pub mod agents;
pub mod args;
mod credentials;
mod deny;
mod faults;
pub mod flights;
pub mod keep;
mod listing;
mod lock;
pub mod mailbox;
pub mod metrics;
pub mod nodes;
mod page;
pub mod pods;
mod ports;
pub mod registrar;
mod result;
pub mod rotation;
pub mod routes;
pub mod schedule;
pub mod serve;
pub mod sharing;
pub mod standing;
mod store_args;
mod trust;
pub mod verify;
mod watch;
pub mod webhook;
pub mod workers;

pub use args::GateCommand;
pub use result::Asked;
pub use serve::{COMPONENTS, GateConfig, RunningGate, start};
pub use standing::WorkerReport;
pub use verify::Verifier;

use crate::database::DatabaseError;
use crate::evidence::jws::JwsError;
use crate::http::{Problem, endpoint, openapi, problem};
use crate::net::PkiError;
use crate::net::tls::TlsError;
use crate::{reference, registrar as registry, verifier};

/// Why a gate cannot run.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// Keys and certificates.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// TLS.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The signing key.
    #[error(transparent)]
    Key(#[from] JwsError),
    /// The registrar's database.
    #[error(transparent)]
    Registrar(#[from] registry::RegistrarError),
    /// The database of the reference values.
    #[error(transparent)]
    Reference(#[from] reference::StoreError),
    /// The verifier's database.
    #[error(transparent)]
    Verifier(#[from] verifier::StoreError),
    /// Where the databases are.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A password that others could read.
    #[error("the URL of the store has a password: {0}")]
    Password(String),
    /// The policy.
    #[error(transparent)]
    Policy(#[from] crate::policy::PolicyErrors),
    /// The webhooks.
    #[error(transparent)]
    Webhook(#[from] webhook::WebhookError),
    /// The network.
    #[error("the gate cannot listen: {0}")]
    Listen(std::io::Error),
    /// Another process runs a component already.
    #[error(
        "the {component} of `{}` runs already{}; stop it first",
        .folder.display(),
        .process.map_or_else(String::new, |id| format!(", as process {id}"))
    )]
    Running {
        /// Which.
        component: &'static str,
        /// Of which installation.
        folder: std::path::PathBuf,
        /// Which process that is, if it can be told.
        process: Option<u32>,
    },
    /// The keys that the verifier had.
    #[error("`verifier-succession.json` cannot be used: {0}")]
    Succession(String),
    /// A role that nobody can run as.
    #[error("the {0} is not a component of the gate")]
    NotAComponent(&'static str),
    /// A component that is neither here nor told of.
    #[error("the {0} does not run in this process; say where it is with --{0}")]
    Where(&'static str),
    /// The cluster.
    #[error("the cluster cannot be asked: {0}")]
    Cluster(String),
    /// A component's answer.
    #[error(transparent)]
    Problem(#[from] Problem),
    /// Files.
    #[error("`{path}`: {error}")]
    File {
        /// Which.
        path: std::path::PathBuf,
        /// What happened.
        error: std::io::Error,
    },
}
