//! Entry points for the programs `locus-gate` and `locus-agent`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub use crate::agent::AgentArgs;
pub use crate::client::{ClientCommand, SubjectArgs};
pub use crate::demo::DemoArgs;
pub use crate::gate::GateCommand;
pub use crate::logs::{LogFormat, log_to_stderr};
pub use crate::reference::cli::{ReferenceArgs, ReferenceError};
pub use crate::replay::cli::{ReplayArgs, ReplayError};

use crate::demo::DemoError;

/// Attest workers and pods.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AttestArgs {
    #[command(subcommand)]
    command: Option<AttestCommand>,
    #[command(flatten)]
    subject: Option<SubjectArgs>,
}

#[derive(Subcommand, Clone, Debug)]
enum AttestCommand {
    /// Show the three verdicts of pod attestation on two software TPMs.
    Demo(DemoArgs),
    /// Replay a measurement log against the registers and quotes that belong to it.
    Replay(ReplayArgs),
}

/// Why nothing was attested.
#[derive(Debug, thiserror::Error)]
pub enum AttestFault {
    /// The demonstration.
    #[error(transparent)]
    Demo(#[from] DemoError),
    /// The gate, or how it was asked.
    #[error(transparent)]
    Client(#[from] crate::client::ClientFault),
    /// The replay.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Nothing was named.
    #[error("name a worker, or a pod by its UID")]
    Nothing,
}

impl AttestArgs {
    /// Does what the command line says; true if what was attested is not trusted.
    pub fn run(self) -> Result<bool, AttestFault> {
        match (self.command, self.subject) {
            (Some(AttestCommand::Demo(demo)), _) => Ok(demo.run().map(|()| false)?),
            (Some(AttestCommand::Replay(replay)), _) => Ok(!replay.run()?),
            (None, Some(subject)) => Ok(subject.attest_now()?),
            (None, None) => Err(AttestFault::Nothing),
        }
    }
}

/// The agent's program: beside this one, or on the search path.
pub(crate) fn find_agent() -> Result<PathBuf, DemoError> {
    let beside = std::env::current_exe()?.with_file_name("locus-agent");
    if beside.is_file() {
        return Ok(beside);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join("locus-agent"))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| DemoError::Agent("neither beside `locus-gate` nor on the path".to_owned()))
}
