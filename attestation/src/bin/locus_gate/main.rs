//! The gate, and what goes with it: reference values and the demonstration. `locus gate`, `locus attest` and
//! `locus reference` run this program.

mod attest;
mod demo;

use std::process::ExitCode;

use attest::AttestArgs;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use locus_attestation::client::{ClientCommand, EnterCommand, TenantArgs};
#[cfg(feature = "kubernetes")]
use locus_attestation::cluster::cli::ClusterCommand;
#[cfg(feature = "kubernetes")]
use locus_attestation::cluster::deploy::DeployArgs;
use locus_attestation::gate::GateCommand;
use locus_attestation::logs::shown;
use locus_attestation::reference::cli::ReferenceArgs;

/// Many small values are made by one thread and freed by another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Lets only attested workers and pods in.
#[derive(Parser)]
#[command(name = "locus-gate", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Gate(GateCommand),
    #[command(flatten)]
    Client(ClientCommand),
    #[cfg(feature = "kubernetes")]
    #[command(flatten)]
    Cluster(ClusterCommand),
    /// See a gated cluster on this machine: a real API server (built with Go once), software TPMs (swtpm)
    #[cfg(feature = "kubernetes")]
    Demo(demo::DemoArgs),
    /// Check, sign and apply Kubernetes objects, and wait for both verdicts
    #[cfg(feature = "kubernetes")]
    Deploy(Box<DeployArgs>),
    /// Enter manufacturers, reference values, tenants and pods into a running gate
    #[command(subcommand)]
    Enter(EnterCommand),
    /// As a tenant: have a pod attested; exits with 1 if it is not trusted
    TenantAttest(TenantArgs),
    /// Make, compare, sign and check reference values
    Reference(ReferenceArgs),
    /// Attest a worker with all its pods, or one pod; or see it done on software TPMs
    Attest(AttestArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { 3 } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    if let Command::Attest(attest) = &cli.command
        && attest.is_empty()
    {
        let words = "name a worker, or a pod by its UID";
        let error = Cli::command().error(ErrorKind::MissingRequiredArgument, words);
        let _ = error.print();
        return ExitCode::from(3);
    }
    // As everywhere in Locus: 0 as it should be, 1 something was found, 2 something could not be done, 3 usage.
    match cli.command {
        Command::Gate(gate) => ended(gate.run().map(|()| false)),
        Command::Client(client) => ended(client.run().map_err(told)),
        #[cfg(feature = "kubernetes")]
        Command::Demo(demo) => ended(demo.run_cluster().map(|()| false).map_err(told)),
        #[cfg(feature = "kubernetes")]
        Command::Cluster(cluster) => ended(cluster.run().map_err(told)),
        #[cfg(feature = "kubernetes")]
        Command::Deploy(deploy) => match deploy.run() {
            Ok(found) => ExitCode::from(found as u8),
            Err(error) => ended(Err::<bool, _>(error)),
        },
        Command::Enter(enter) => ended(enter.run().map(|()| false).map_err(told)),
        Command::TenantAttest(tenant) => ended(tenant.run().map_err(told)),
        Command::Reference(reference) => ended(reference.run()),
        Command::Attest(attest) => ended(attest.run().map_err(told)),
    }
}

/// What a gate said: names of workers and files in it are whatever somebody gave them.
fn told(error: impl std::fmt::Display) -> String {
    shown(&error.to_string())
}

/// The exit code, and on standard error why the work ended early.
fn ended<E: std::fmt::Display>(found: Result<bool, E>) -> ExitCode {
    match found {
        Ok(found) => ExitCode::from(u8::from(found)),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
