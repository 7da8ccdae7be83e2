//! A worker: machine, kernel log and agent.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use locus_attestation::agent::event_log::EventLogFile;
use locus_attestation::agent::log::LogFile;
use locus_attestation::agent::rate::Rate;
use locus_attestation::agent::state::StateFolder;
use locus_attestation::agent::{Agent, RunningAgent, Setup};
use locus_attestation::clock::SystemClock;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::ima::{BootAggregate, LogWriter};
use locus_attestation::net::tls::Credentials;
use locus_attestation::verifier::Pod;
use tokio::net::TcpListener;

use super::busy::Moody;
use super::{Machine, OS, SHIM, cgroup, content};

/// A worker: machine, kernel log and agent.
pub(crate) struct WorkerBox {
    pub(crate) name: String,
    pub(crate) machine: Machine,
    pub(crate) kernel: LogWriter,
    pub(crate) log: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) credentials: PathBuf,
    pub(crate) agent: Option<RunningAgent>,
    pub(crate) rate: Rate,
    /// For how many commands its TPM is busy.
    pub(crate) busy: Arc<AtomicUsize>,
}

impl WorkerBox {
    /// The address of the running agent.
    pub(crate) fn address(&self) -> String {
        self.agent.as_ref().unwrap().address.to_string()
    }

    /// The kernel measures a file: the log grows and the register is extended.
    pub(crate) fn measure(&mut self, dependencies: &str, cgroup: &str, digest: Digest, path: &str) {
        let before = self.kernel.entries();
        let extended = self
            .kernel
            .cgpath(dependencies, cgroup, digest, path)
            .unwrap();
        self.machine.extend(10, &extended);
        let new = self.kernel.log_from(before).to_vec();
        self.append(&new);
    }

    /// What a kernel measures at its start: the boot aggregate and the container runtime.
    pub(crate) fn boot(&mut self) {
        let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
        let aggregate = BootAggregate::over(HashAlg::Sha256, &zeros).unwrap();
        self.measure(
            "swapper/0:swapper/0",
            "/",
            aggregate.current,
            "boot_aggregate",
        );
        self.measure(
            &format!("{SHIM}:/usr/lib/systemd/systemd:swapper/0"),
            "/system.slice/containerd.service",
            content("shim"),
            SHIM,
        );
    }

    /// Appends to the log file without telling the TPM.
    pub(crate) fn append(&self, bytes: &[u8]) {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.log)
            .unwrap();
        file.write_all(bytes).unwrap();
    }

    /// Replaces the log file, as an attacker on the worker can.
    pub(crate) fn rewrite(&self, bytes: &[u8]) {
        // The agent holds the file open, so it is changed in place.
        let mut file = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(&self.log)
            .unwrap();
        file.write_all(bytes).unwrap();
    }

    /// The pod runs a file.
    pub(crate) fn run(&mut self, pod: &Pod, digest: Digest, path: &str) {
        let id = pod.containers[0].id.unwrap().to_string();
        let group = cgroup(pod.uid, &id);
        self.measure(&format!("{path}:{SHIM}:swapper/0"), &group, digest, path);
    }

    /// Starts the agent, again if need be.
    pub(crate) async fn start(&mut self) {
        self.start_at("127.0.0.1:0").await;
    }

    /// Where its firmware's event log is, if it has one.
    pub(crate) fn event_log(&self) -> PathBuf {
        self.log.with_file_name("event-log")
    }

    /// An agent with its TPM, its log and its state.
    pub(crate) fn make(&self) -> Agent {
        let log = LogFile::open(&self.log, HashAlg::Sha1).unwrap();
        let setup = Setup {
            tpm: Box::new(Moody {
                inner: self.machine.open(),
                busy: self.busy.clone(),
            }),
            log,
            event_log: EventLogFile::open(&self.event_log()),
            state: StateFolder::new(&self.state),
            installed: Credentials::read(&self.credentials, "agent").unwrap(),
            name: self.name.clone(),
            os: OS.to_owned(),
            ek: Some(self.machine.ek()),
            ak: self.machine.ak(),
            rate: self.rate,
        };
        Agent::new(setup, Box::new(SystemClock)).unwrap()
    }

    /// Starts the agent at an address.
    pub(crate) async fn start_at(&mut self, address: &str) {
        let agent = self.make();
        let listener = TcpListener::bind(address).await.unwrap();
        self.agent = Some(
            locus_attestation::agent::start(agent, listener)
                .await
                .unwrap(),
        );
    }

    /// Kills the agent where it stands.
    pub(crate) async fn kill(&mut self) {
        if let Some(agent) = self.agent.take() {
            agent.kill().await;
        }
    }
}
