//! The agent's command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tokio::task::JoinSet;

use super::AgentError;
use super::ek_certificates::{EkCertificates, WithCertificates};
use super::event_log::EventLogFile;
use super::log::LogFile;
use super::privileges;
use super::push::{PushTarget, push_forever};
use super::rate::Rate;
use super::server::serve_shared;
use super::service::{Agent, Setup};
use super::state::StateFolder;
use crate::clock::SystemClock;
use crate::digest::HashAlg;
use crate::logs::LogFormat;
use crate::net::tls::Credentials;
use crate::tpm::{AkKind, EkKind, Tpm, TpmError};

/// Answer the verifier from this worker's TPM and measurement log.
#[derive(Args, Clone, Debug)]
pub struct AgentArgs {
    /// The folder with `ca.pem`, `agent.pem` and `agent.key`, as `locus gate enrol` made it.
    #[arg(long, value_name = "FOLDER")]
    pub credentials: PathBuf,
    /// The folder for the agent's own state.
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/locus-agent")]
    pub state: PathBuf,
    /// Where to listen [default: 0.0.0.0:31000, or nowhere with --push].
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// Connect to this gate instead of listening, from behind NAT; may be given more than once, for components
    /// that run alone (`verifier=HOST:PORT`, `worker-handler=HOST:PORT`).
    #[arg(long, value_name = "[NAME=]HOST:PORT")]
    pub push: Vec<PushTarget>,
    /// The TPM, as libtss2 names it.
    #[arg(long, value_name = "TRANSPORT", default_value = "device:/dev/tpmrm0")]
    pub tpm: String,
    /// The measurement log in the kernel's binary form.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "/sys/kernel/security/ima/binary_runtime_measurements"
    )]
    pub log: PathBuf,
    /// The hash of the log's template hashes.
    #[arg(long, value_name = "HASH", default_value = "sha1")]
    pub log_hash: HashAlg,
    /// The firmware's event log, in the form of the TCG.
    #[arg(
        long,
        value_name = "FILE",
        default_value = "/sys/kernel/security/tpm0/binary_bios_measurements"
    )]
    pub event_log: PathBuf,
    /// The worker's name in the cluster [default: the host name].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The user to become once TPM and log are open.
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
    /// Stay the user the agent was started as, even if that is root.
    #[arg(long, conflicts_with = "user")]
    pub keep_privileges: bool,
    /// The attestation key to make at the first start.
    #[arg(long, value_name = "KIND", value_parser = parse_ak, default_value = "rsa-2048")]
    pub ak: AkKind,
    /// The endorsement key to use [default: the first with a certificate].
    #[arg(long, value_name = "KIND", value_parser = parse_ek)]
    pub ek: Option<EkKind>,
    /// A folder with certificates of the TPM's endorsement keys (PEM or DER), for a TPM that stores none, and of the
    /// authorities between them and the manufacturer's root.
    #[arg(long, value_name = "FOLDER")]
    pub ek_certificates: Option<PathBuf>,
    /// How many requests each peer may make per second.
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    pub rate: u32,
    /// How to write logs.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub log_format: LogFormat,
    /// Write the address to this file once it listens (for port 0).
    #[arg(long, value_name = "FILE", hide = true)]
    pub address_file: Option<PathBuf>,
}

fn parse_ak(text: &str) -> Result<AkKind, String> {
    match text {
        "rsa-2048" => Ok(AkKind::Rsa2048),
        "ecc-p256" => Ok(AkKind::EccP256),
        _ => Err("expected rsa-2048 or ecc-p256".to_owned()),
    }
}

fn parse_ek(text: &str) -> Result<EkKind, String> {
    let mut kinds = EkKind::ALL.into_iter();
    kinds.find(|kind| kind.name() == text).ok_or_else(|| {
        let names = EkKind::ALL.map(EkKind::name);
        format!("expected one of {}", names.join(", "))
    })
}

impl AgentArgs {
    /// Runs the agent until it is told to stop; `open` opens the TPM by its transport.
    pub fn run(
        self,
        open: impl FnOnce(&str) -> Result<Box<dyn Tpm>, TpmError>,
    ) -> Result<(), AgentError> {
        std::fs::create_dir_all(&self.state).map_err(|error| AgentError::State {
            path: self.state.clone(),
            reason: error.to_string(),
        })?;
        let installed = Credentials::read(&self.credentials, "agent")?;
        let log = LogFile::open(&self.log, self.log_hash)?;
        let event_log = EventLogFile::open(&self.event_log);
        let mut tpm = open(&self.tpm)?;
        if let Some(folder) = &self.ek_certificates {
            let files = EkCertificates::read(folder)?;
            tpm = Box::new(WithCertificates::new(tpm, files));
        }
        let listen = match (self.listen, self.push.is_empty()) {
            (None, true) => Some(SocketAddr::from(([0, 0, 0, 0], 31000))),
            (listen, _) => listen,
        };
        let listener = listen
            .map(std::net::TcpListener::bind)
            .transpose()
            .map_err(AgentError::Listen)?;
        if !self.keep_privileges {
            // The state is the agent's own from here on.
            privileges::hand_over(&self.state, self.user.as_deref())?;
            privileges::drop_to(self.user.as_deref())?;
        }
        let setup = Setup {
            tpm,
            log,
            event_log,
            state: StateFolder::new(&self.state),
            installed,
            name: self.name.map_or_else(host_name, Ok)?,
            os: operating_system(),
            ek: self.ek,
            ak: self.ak,
            rate: Rate {
                burst: self.rate.saturating_mul(4),
                per_second: self.rate,
            },
        };
        let agent = Agent::new(setup, Box::new(SystemClock))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(AgentError::Listen)?;
        runtime.block_on(async {
            let agent = Arc::new(agent);
            let mut pushing = JoinSet::new();
            for target in self.push {
                tracing::info!(gate = target.address, "the agent comes to the gate");
                pushing.spawn(push_forever(agent.clone(), target));
            }
            let mut running = None;
            if let Some(listener) = listener {
                listener.set_nonblocking(true).map_err(AgentError::Listen)?;
                let listener =
                    tokio::net::TcpListener::from_std(listener).map_err(AgentError::Listen)?;
                let started = serve_shared(agent, listener).await?;
                tracing::info!(address = %started.address, "the agent listens");
                if let Some(file) = &self.address_file {
                    crate::net::pki::write_file(file, &started.address.to_string())?;
                }
                running = Some(started);
            }
            crate::net::signal::stopped().await;
            pushing.shutdown().await;
            if let Some(running) = running {
                running.stop().await;
            }
            Ok(())
        })
    }
}

fn host_name() -> Result<String, AgentError> {
    nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
        .ok_or_else(|| AgentError::State {
            path: PathBuf::from("/etc/hostname"),
            reason: "the host has no name; give one with --name".to_owned(),
        })
}

/// The operating system's name and version, from `os-release`.
pub fn operating_system() -> String {
    let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or_else(
            || "unknown".to_owned(),
            |name| name.trim_matches('"').to_owned(),
        )
}
