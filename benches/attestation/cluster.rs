//! A gate in a process of its own, as an operator runs it, and agents and attackers in this one.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use locus_attestation::agent::event_log::EventLogFile;
use locus_attestation::agent::log::LogFile;
use locus_attestation::agent::rate::Rate;
use locus_attestation::agent::state::StateFolder;
use locus_attestation::agent::{Agent, RunningAgent, Setup};
use locus_attestation::clock::{Clock as _, SystemClock};
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::gate::GateConfig;
use locus_attestation::gate::args::{enrol, init};
use locus_attestation::ima::LogWriter;
use locus_attestation::net::tls::Credentials;
use locus_attestation::net::{Client, Role};
use locus_attestation::verifier::{Pod, PodContainer, VerifierStore};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::emulated::Factory;
use super::machine::{boot, content};

const OS: &str = "Debian";
const SHIM: &str = "/usr/bin/containerd-shim-runc-v2";
/// Set for the process that is the gate: its folder.
const GATE: &str = "LOCUS_BENCH_GATE";

/// Runs the gate, if this process is to be one, until its standard input ends.
pub(crate) fn gate() -> bool {
    let Some(folder) = std::env::var_os(GATE) else {
        return false;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let config = GateConfig::all_in(Path::new(&folder));
        let gate = locus_attestation::gate::start(config, listener, Arc::new(SystemClock));
        let gate = gate.await.unwrap();
        println!("{}", gate.address);
        let end = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
        end.await.unwrap().unwrap();
        gate.stop().await;
    });
    true
}

/// A gate, and the reference values it was given.
pub(crate) struct Cluster {
    pub(crate) folder: TempDir,
    pub(crate) address: String,
    factory: Factory,
    process: Child,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // It ends with its input, too.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Cluster {
    /// An installation with a running gate; images have so many files.
    ///
    /// The pods are declared without asking the gate, which would take longer than everything else: before it runs, as
    /// its database is its own.
    pub(crate) async fn begin(files: usize, pods: &[Pod]) -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        };
        let installation = folder.path().join("gate");
        init(&installation, &SystemClock).unwrap();
        declare(&installation, pods);
        let operator = folder.path().join("operator");
        enrol(
            &installation,
            Role::Operator,
            "root",
            &operator,
            &SystemClock,
        )
        .unwrap();
        let (process, address) = start(&installation);
        let cluster = Cluster {
            factory: Factory::new(folder.path()),
            folder,
            address,
            process,
        };
        cluster.enter(files).await;
        cluster
    }

    async fn enter(&self, files: usize) {
        let os = json!({ "boot_aggregates": [boot()] });
        self.must(Method::PUT, &format!("/v1/reference/os/{OS}"), os)
            .await;
        let runtime = json!({ "files": { SHIM: [content(SHIM)] } });
        self.must(Method::PUT, "/v1/reference/runtimes/containerd", runtime)
            .await;
        let files: serde_json::Map<String, Value> = (0..files)
            .map(|number| {
                let name = file(number);
                let digest = content(&name);
                (name, json!([digest]))
            })
            .collect();
        let image = json!({ "digests": [content("image")], "files": files });
        self.must(Method::PUT, "/v1/reference/images/image", image)
            .await;
        let id = self.factory.manufacturer();
        let new = json!({ "id": id, "name": "the factory" });
        self.must(Method::POST, "/v1/manufacturers", new).await;
        for (kind, pem) in self.factory.roots() {
            let body = json!({ "kind": kind, "certificate": pem });
            let path = format!("/v1/manufacturers/{id}/certificates");
            self.must(Method::POST, &path, body).await;
        }
    }

    pub(crate) fn operator(&self) -> Client {
        let folder = self.folder.path().join("operator");
        let credentials = Credentials::read(&folder, "operator").unwrap();
        Client::new(credentials.client().unwrap(), &self.address, "gate")
            .with_timeout(Duration::from_secs(120))
    }

    /// Asks as the operator, and insists on success.
    pub(crate) async fn must(&self, method: Method, path: &str, body: Value) -> Value {
        let bytes = serde_json::to_vec(&body).unwrap();
        let headers = [("content-type", "application/json")];
        let asked = self.operator();
        let (status, answer) = asked.exchange(method, path, &headers, bytes).await.unwrap();
        let answer = serde_json::from_slice(&answer).unwrap_or(Value::Null);
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    /// A worker that runs some pods with all files of the image; registered, but not attested.
    pub(crate) async fn worker(&self, name: &str, pods: &[Pod], files: usize) -> RunningAgent {
        let base = self.folder.path().join(name);
        std::fs::create_dir_all(base.join("state")).unwrap();
        let installation = self.folder.path().join("gate");
        let credentials = base.join("credentials");
        enrol(&installation, Role::Agent, name, &credentials, &SystemClock).unwrap();
        let machine = self.factory.make(name);
        let mut kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
        let mut measure = |group: &str, digest: Digest, path: &str| {
            let extended = kernel.cgpath("swapper/0", group, digest, path).unwrap();
            machine.extend(10, &extended);
        };
        measure("/", boot(), "boot_aggregate");
        measure("/system.slice/containerd.service", content(SHIM), SHIM);
        for pod in pods {
            let id = pod.containers[0].id.unwrap();
            let group = format!("/kubepods/burstable/pod{}/{id}", pod.uid);
            for number in 0..files {
                let path = file(number);
                measure(&group, content(&path), &path);
            }
        }
        let log = base.join("log");
        std::fs::write(&log, kernel.log()).unwrap();
        let setup = Setup {
            tpm: machine.open(),
            log: LogFile::open(&log, HashAlg::Sha1).unwrap(),
            event_log: EventLogFile::open(&base.join("event-log")),
            state: StateFolder::new(&base.join("state")),
            installed: Credentials::read(&credentials, "agent").unwrap(),
            name: name.to_owned(),
            os: OS.to_owned(),
            ek: Some(machine.ek()),
            ak: machine.ak(),
            rate: Rate {
                burst: 1000,
                per_second: 1000,
            },
        };
        let agent = Agent::new(setup, Box::new(SystemClock)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let agent = locus_attestation::agent::start(agent, listener)
            .await
            .unwrap();
        let joined = json!({ "name": name, "address": agent.address.to_string() });
        self.must(Method::POST, "/v1/registrations", joined).await;
        agent
    }

    /// The most memory that the gate had so far, in bytes.
    pub(crate) fn peak(&self) -> f64 {
        let path = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.unwrap().trim().trim_end_matches(" kB").trim();
        kilobytes.parse::<f64>().unwrap() * 1024.0
    }
}

fn declare(installation: &Path, pods: &[Pod]) {
    let mut store = VerifierStore::open(&installation.join("verifier.db")).unwrap();
    for pod in pods {
        store.declare_pod(pod, SystemClock.now()).unwrap();
    }
}

fn start(folder: &Path) -> (Child, String) {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .env(GATE, folder)
        .env("RUST_LOG", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = process.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut line).unwrap();
    (process, line.trim().to_owned())
}

fn file(number: usize) -> String {
    format!("/usr/lib/{number}.so")
}

/// A pod of a worker.
pub(crate) fn pod(worker: &str, number: usize) -> Pod {
    let id = HashAlg::Sha256.hash(&[worker.as_bytes(), &number.to_be_bytes()]);
    Pod {
        uid: Uuid::new_v4().to_string().parse().unwrap(),
        namespace: "default".to_owned(),
        name: format!("pod-{number}"),
        tenant: Uuid::nil(),
        worker: worker.to_owned(),
        containers: vec![PodContainer {
            name: "main".to_owned(),
            image: "image".to_owned(),
            digest: content("image"),
            id: Some(id.to_hex().parse().unwrap()),
        }],
    }
}
