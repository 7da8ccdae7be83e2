//! Entry points for the command line: `locus gate`, `locus attest`, and the agent's own program.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

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

/// Run the agent, which is a program of its own: only it links the TPM library.
#[derive(Args, Clone, Debug)]
#[command(disable_help_flag = true)]
pub struct AgentLauncher {
    /// What to pass on to `locus-agent`; see `locus agent --help`.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<OsString>,
}

impl AgentLauncher {
    /// Becomes the agent; returns only if that fails.
    pub fn run(self) -> Result<(), DemoError> {
        let program = find_agent()?;
        let error = Command::new(program).args(self.arguments).exec();
        Err(DemoError::Agent(error.to_string()))
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
        .ok_or_else(|| DemoError::Agent("neither beside `locus` nor on the path".to_owned()))
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
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match format {
        LogFormat::Text => logs.try_init(),
        LogFormat::Json => logs.json().try_init(),
    };
    if started.is_err() {
        // Somebody else logs already; that is as good.
        tracing::debug!("logs were started twice");
    }
}
