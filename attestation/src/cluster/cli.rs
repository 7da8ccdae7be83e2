//! The commands that are about a cluster: `locus gate crds`, `install`, `uninstall`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::control::{OnOrphans, OnUntrusted, Settings};
use super::install::args::{InstallArgs, UninstallArgs};
use super::join::JoinArgs;
use super::resources;
use super::serve::{ClusterConfig, client, start};
use super::told::StatusArgs;
use super::webhooks::Place;
use crate::clock::SystemClock;
use crate::gate::args::ServeArgs;

/// What can be done about a cluster.
#[derive(Subcommand, Clone, Debug)]
pub enum ClusterCommand {
    /// Print the definitions of the gate's custom resources
    Crds,
    /// Run the gate of a cluster: all components, admission and controllers
    Cluster(Box<ClusterArgs>),
    /// Print or apply what the gate consists of in a cluster, or write it as a Helm chart
    Install(Box<InstallArgs>),
    /// Take the gate out of a cluster
    Uninstall(UninstallArgs),
    /// In the pod of an agent: get its first certificate for the token of the pod
    Join(JoinArgs),
    /// Show the trust in a cluster at a glance; exits with 1 if something is not trusted
    Status(StatusArgs),
}

/// How to run the gate of a cluster.
#[derive(Args, Clone, Debug)]
pub struct ClusterArgs {
    #[command(flatten)]
    gate: ServeArgs,
    /// The configuration of a client of the API server [default: that of the pod].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Where the API server reaches the gate: `https://HOST:PORT`, or a service as `NAMESPACE/NAME:PORT`.
    #[arg(long, value_name = "PLACE", value_parser = Place::parse)]
    admission: Place,
    /// Where to listen for the API server.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9443")]
    admission_listen: SocketAddr,
    /// What to do about a worker that is not to be trusted.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    on_untrusted: OnUntrusted,
    /// What to do about pods that nobody knows.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    orphans: OnOrphans,
    /// How long a pod that nobody knows is left alone before it is removed, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    orphan_grace: u32,
    /// The port of agents on workers whose nodes say nothing else.
    #[arg(long, value_name = "PORT", default_value_t = 31_000)]
    agent_port: u16,
    /// The namespace of the Lease by which gates agree on which of them acts.
    #[arg(long, value_name = "NAME", default_value = "locus-system")]
    namespace: String,
}

impl ClusterArgs {
    fn run(self) -> Result<(), String> {
        let (gate, listen) = self.gate.config().map_err(|error| error.to_string())?;
        let config = ClusterConfig {
            gate,
            place: self.admission,
            settings: Settings {
                untrusted: self.on_untrusted,
                orphans: self.orphans,
                orphan_grace: i64::from(self.orphan_grace),
                agent_port: self.agent_port,
            },
            namespace: self.namespace,
        };
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let runtime = tokio::runtime::Runtime::new().map_err(|error| words(&error))?;
        runtime.block_on(async {
            let bind = async |address: SocketAddr| {
                let bound = tokio::net::TcpListener::bind(address).await;
                bound.map_err(|error| format!("cannot listen on {address}: {error}"))
            };
            let listeners = (bind(listen).await?, bind(self.admission_listen).await?);
            let client = client(self.kubeconfig.as_ref()).await;
            let client = client.map_err(|error| words(&error))?;
            let running = start(config, listeners, client, Arc::new(SystemClock)).await;
            let running = running.map_err(|error| words(&error))?;
            tracing::info!(address = %running.gate.address, "the gate listens");
            crate::net::signal::stopped().await;
            running.stop().await;
            Ok(())
        })
    }
}

impl ClusterCommand {
    /// Does what the command line says; true if something was found.
    pub fn run(self) -> Result<bool, String> {
        let done = match self {
            ClusterCommand::Crds => {
                print!("{}", definitions()?);
                Ok(())
            }
            ClusterCommand::Cluster(args) => args.run(),
            ClusterCommand::Install(args) => args.run(),
            ClusterCommand::Uninstall(args) => args.run(),
            ClusterCommand::Join(args) => args.run(),
            ClusterCommand::Status(args) => return args.run(),
        };
        done.map(|()| false)
    }
}

/// The definitions of the custom resources, as YAML.
pub fn definitions() -> Result<String, String> {
    let mut out = String::new();
    for definition in resources::definitions() {
        let text = serde_saphyr::to_string(&definition).map_err(|error| error.to_string())?;
        out.push_str("---\n");
        out.push_str(&text);
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        command: ClusterCommand,
    }

    /// The command line of the manual is understood.
    #[test]
    fn the_manual_is_right() {
        let page = include_str!("../../../docs/gate.md");
        let lines = page.lines();
        let lines: Vec<&str> = lines
            .filter(|line| line.starts_with("locus gate cluster "))
            .collect();
        assert!(!lines.is_empty());
        for line in lines {
            let words = line.split_whitespace().skip(1);
            let parsed = Line::try_parse_from(words);
            let command = parsed.map(|line| line.command);
            assert!(matches!(command, Ok(ClusterCommand::Cluster(_))), "{line}");
        }
    }
}
