//! `locus-gate attest`: a worker, a pod, a log that is at hand, or the demonstration.

use clap::{Args, Subcommand};
use locus_attestation::client::{AttestNowArgs, ClientFault};
use locus_attestation::replay::cli::{ReplayArgs, ReplayError};

use crate::demo::{DemoArgs, DemoError};

/// Attest workers and pods.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AttestArgs {
    #[command(subcommand)]
    command: Option<AttestCommand>,
    #[command(flatten)]
    now: AttestNowArgs,
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
pub(crate) enum AttestFault {
    /// The demonstration.
    #[error(transparent)]
    Demo(#[from] DemoError),
    /// The gate, or how it was asked.
    #[error(transparent)]
    Client(#[from] ClientFault),
    /// The replay.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl AttestArgs {
    /// Whether it says neither what to attest nor what else to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.command.is_none() && self.now.is_empty()
    }

    /// Does what the command line says; true if what was attested is not trusted.
    pub(crate) fn run(self) -> Result<bool, AttestFault> {
        match self.command {
            Some(AttestCommand::Demo(demo)) => Ok(demo.run().map(|()| false)?),
            Some(AttestCommand::Replay(replay)) => Ok(!replay.run()?),
            None => Ok(self.now.run()?),
        }
    }
}
