//! Entry points for the command line: `locus gate`, `locus attest`, and the agent's own program.

use clap::{Args, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

pub use crate::agent::AgentArgs;
pub use crate::demo::DemoArgs;
pub use crate::gate::GateArgs;
pub use crate::reference::cli::{ReferenceArgs, ReferenceError};

use crate::demo::DemoError;

/// Attest workers and pods.
#[derive(Args, Clone, Debug)]
pub struct AttestArgs {
    #[command(subcommand)]
    command: AttestCommand,
}

#[derive(Subcommand, Clone, Debug)]
enum AttestCommand {
    /// Show the three verdicts of pod attestation on two software TPMs.
    Demo(DemoArgs),
}

impl AttestArgs {
    /// Does what the command line says.
    pub fn run(self) -> Result<(), DemoError> {
        match self.command {
            AttestCommand::Demo(demo) => demo.run(),
        }
    }
}

/// How logs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object per line, for machines.
    Json,
}

/// Sends structured logs to standard error; `RUST_LOG` chooses what, `info` if unset.
pub fn log_to_stderr(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => logs.try_init(),
        LogFormat::Json => logs.json().try_init(),
    };
    if started.is_err() {
        // Somebody else logs already; that is as good.
        tracing::debug!("logs were started twice");
    }
}
