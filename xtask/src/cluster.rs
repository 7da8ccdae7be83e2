//! A real Kubernetes control plane on this machine.

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use control_plane::{Cluster, Helm, Part, User};

/// What is done with the cluster.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Build Kubernetes and Helm from Go modules, unless they are there, and print where they are
    Build,
    /// Start etcd, API server, controller manager and scheduler on free ports of 127.0.0.1, and print the path of the kubeconfig
    Start {
        /// Where everything is kept.
        #[arg(default_value = "target/cluster")]
        folder: PathBuf,
        /// Start only etcd and the API server.
        #[arg(long)]
        server: bool,
    },
    /// Stop what was started in a folder
    Stop {
        /// The folder.
        #[arg(default_value = "target/cluster")]
        folder: PathBuf,
    },
}

pub(crate) fn run(command: &Command) -> io::Result<()> {
    match command {
        Command::Build => {
            println!("{}", control_plane::build()?.display());
            println!("{}", Helm::build()?.display());
            Ok(())
        }
        Command::Start { folder, server } => start(folder, *server),
        Command::Stop { folder } => control_plane::stop(folder),
    }
}

fn start(folder: &Path, server: bool) -> io::Result<()> {
    let parts: &[Part] = if server { &Part::SERVER } else { &Part::ALL };
    let cluster = Cluster::start(folder, parts)?;
    if !server {
        cluster.wait_namespace("default")?;
    }
    println!("{}", cluster.kubeconfig(User::Admin).display());
    cluster.leave();
    Ok(())
}
