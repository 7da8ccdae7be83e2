//! A small world for tests: a gate, workers with agents, software TPMs, and a kernel that measures.
//!
//! With the feature `tpm` the TPMs are `swtpm` processes behind libtss2; without it they are emulated.
//! Everything else is the real thing either way: the real agent and the real gate, over mutual TLS.

mod busy;
#[cfg(not(feature = "tpm"))]
#[path = "emulated.rs"]
mod machine;
#[cfg(feature = "tpm")]
#[path = "swtpm.rs"]
mod machine;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use hyper::{Method, StatusCode};
use locus_attestation::agent::rate::Rate;
use locus_attestation::clock::{Clock, ManualClock, SystemClock, Timestamp};
use locus_attestation::database::Location;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::gate::args::{enrol, init};
use locus_attestation::gate::{GateConfig, RunningGate};
use locus_attestation::ima::{BootAggregate, LogWriter, PodUid};
use locus_attestation::net::tls::Credentials;
use locus_attestation::net::{Client, Role};
use locus_attestation::verifier::{Pod, PodContainer, PodStatus, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use uuid::Uuid;

pub(crate) use machine::{Factory, Machine};
pub(crate) use worker::WorkerBox;

pub(crate) const OS: &str = "Debian GNU/Linux 12 (bookworm)";
pub(crate) const SHIM: &str = "/usr/bin/containerd-shim-runc-v2";

/// The digest of a file with some content.
pub(crate) fn content(text: &str) -> Digest {
    HashAlg::Sha256.hash(&[text.as_bytes()])
}

/// The control group of a container of a pod.
pub(crate) fn cgroup(uid: PodUid, container: &str) -> String {
    let uid = uid.to_string().replace('-', "_");
    format!(
        "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{uid}.slice/\
         cri-containerd-{container}.scope"
    )
}

/// A gate and its surroundings.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) factory: Factory,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) gate: Option<RunningGate>,
    pub(crate) gate_address: String,
    pub(crate) tenant: Uuid,
    /// Where the gate keeps its databases.
    pub(crate) store: Location,
}

impl World {
    /// An installation with a running gate, a manufacturer, a tenant and reference values.
    pub(crate) async fn new() -> Self {
        Self::on(Location::Files).await
    }

    /// The same with its databases elsewhere.
    pub(crate) async fn on(store: Location) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let installation = folder.path().join("gate");
        init(&installation, &SystemClock).unwrap();
        let factory = Factory::new(&folder.path().join("tpms"));
        let mut world = World {
            factory,
            // A little ahead: software TPMs get certificates that begin at the moment they are made.
            clock: Arc::new(ManualClock::at(SystemClock.now().plus_secs(120))),
            gate: None,
            gate_address: String::new(),
            tenant: Uuid::nil(),
            store,
            folder,
        };
        world.start_gate().await;
        world.reference_values().await;
        world
    }

    /// Starts the gate, again if need be.
    pub(crate) async fn start_gate(&mut self) {
        self.start_gate_as(|_| {}).await;
    }

    /// Starts the gate with another configuration.
    pub(crate) async fn start_gate_as(&mut self, change: impl FnOnce(&mut GateConfig)) {
        let gate = self.another(change).await;
        self.gate_address = gate.address.to_string();
        self.gate = Some(gate);
    }

    /// Another gate beside it.
    pub(crate) async fn another(&self, change: impl FnOnce(&mut GateConfig)) -> RunningGate {
        let mut config = GateConfig::all_in(&self.folder.path().join("gate"));
        config.store = self.store.clone();
        change(&mut config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        // Gates that share a store have its time.
        let clock: Arc<dyn Clock> = match config.store.is_shared() {
            true => Arc::new(SystemClock),
            false => self.clock.clone(),
        };
        locus_attestation::gate::start(config, listener, clock)
            .await
            .unwrap()
    }

    /// A client with a role; a fresh certificate is enrolled for it.
    pub(crate) fn client(&self, role: Role, name: &str) -> Client {
        self.client_to(role, name, &self.gate_address, "gate")
    }

    /// A client with a role for another server.
    pub(crate) fn client_to(&self, role: Role, name: &str, address: &str, server: &str) -> Client {
        let out = self
            .folder
            .path()
            .join(format!("client-{}-{name}", role.name()));
        if !out.exists() {
            let gate = self.folder.path().join("gate");
            enrol(&gate, role, name, &out, &SystemClock).unwrap();
        }
        let credentials = Credentials::read(&out, role.name()).unwrap();
        // Longer than the gate itself waits for anything: who gives up first would hide what it says.
        Client::new(credentials.client().unwrap(), address, server)
            .with_timeout(Duration::from_secs(180))
    }

    /// The operator.
    pub(crate) fn operator(&self) -> Client {
        self.client(Role::Operator, "root")
    }

    /// Sends JSON as the operator and returns status and answer.
    pub(crate) async fn operate(
        &self,
        method: Method,
        path: &str,
        body: Value,
    ) -> (StatusCode, Value) {
        ask(&self.operator(), method, path, body).await
    }

    async fn must(&self, method: Method, path: &str, body: Value) -> Value {
        let (status, answer) = self.operate(method, path, body).await;
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    /// The boot of a software TPM is an accepted one of an operating system.
    pub(crate) async fn accept_os(&self, os: &str) {
        let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
        let aggregate = BootAggregate::over(HashAlg::Sha256, &zeros)
            .unwrap()
            .current;
        let os = os
            .replace(' ', "%20")
            .replace('/', "%2F")
            .replace('(', "%28")
            .replace(')', "%29");
        let boots = json!({ "boot_aggregates": [aggregate] });
        self.must(Method::PUT, &format!("/v1/reference/os/{os}"), boots)
            .await;
    }

    async fn reference_values(&mut self) {
        self.accept_os(OS).await;
        let runtime =
            json!({ "files": { SHIM: [content("shim")], "/usr/bin/runc": [content("runc")] } });
        self.must(Method::PUT, "/v1/reference/runtimes/containerd", runtime)
            .await;
        let image = json!({
            "digests": [content("image redis")],
            "files": { "/usr/bin/redis": [content("redis")], "/lib/libc.so": [content("libc")] },
        });
        self.must(Method::PUT, "/v1/reference/images/redis", image)
            .await;
        let key = locus_attestation::evidence::jws::TokenKey::generate().unwrap();
        std::fs::write(
            self.folder.path().join("tenant.key"),
            key.to_pem().unwrap().as_bytes(),
        )
        .unwrap();
        let public = locus_attestation::evidence::jws::public_key_to_pem(&key.public()).unwrap();
        let tenant = json!({ "name": "Tenant-76", "public_key": public });
        let tenant = self.must(Method::POST, "/v1/tenants", tenant).await;
        self.tenant = tenant["id"].as_str().unwrap().parse().unwrap();
    }

    /// The tenant's key.
    pub(crate) fn tenant_key(&self) -> locus_attestation::evidence::jws::TokenKey {
        let pem = std::fs::read_to_string(self.folder.path().join("tenant.key")).unwrap();
        locus_attestation::evidence::jws::TokenKey::from_pem(&pem).unwrap()
    }

    /// A worker with a booted kernel and a running agent, not yet registered.
    pub(crate) async fn worker(&self, name: &str) -> WorkerBox {
        let machine = self.factory.make(name);
        self.trust_factory().await;
        self.worker_with(name, machine).await
    }

    /// A worker with this machine.
    pub(crate) async fn worker_with(&self, name: &str, machine: Machine) -> WorkerBox {
        let base = self.folder.path().join(format!("worker-{name}"));
        let (state, credentials) = (base.join("state"), base.join("credentials"));
        std::fs::create_dir_all(&state).unwrap();
        let gate = self.folder.path().join("gate");
        enrol(&gate, Role::Agent, name, &credentials, &SystemClock).unwrap();
        let mut worker = WorkerBox {
            name: name.to_owned(),
            machine,
            kernel: LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]),
            log: base.join("log"),
            state,
            credentials,
            agent: None,
            rate: Rate {
                burst: 1000,
                per_second: 1000,
            },
            busy: Arc::default(),
        };
        worker.boot();
        worker.start().await;
        worker
    }

    /// The registrar learns the manufacturer, once its certificates exist.
    async fn trust_factory(&self) {
        let id = self.factory.manufacturer();
        let new = json!({ "id": id, "name": "the factory" });
        let (status, _) = self.operate(Method::POST, "/v1/manufacturers", new).await;
        if status == StatusCode::CONFLICT {
            return;
        }
        for (kind, pem) in self.factory.roots() {
            let body = json!({ "kind": kind, "certificate": pem });
            self.must(
                Method::POST,
                &format!("/v1/manufacturers/{id}/certificates"),
                body,
            )
            .await;
        }
    }

    /// Registers a worker.
    pub(crate) async fn register(&self, worker: &WorkerBox) -> (StatusCode, Value) {
        let joined = json!({ "name": worker.name, "address": worker.address() });
        self.operate(Method::POST, "/v1/registrations", joined)
            .await
    }

    /// A worker that is registered.
    pub(crate) async fn registered(&self, name: &str) -> WorkerBox {
        let worker = self.worker(name).await;
        let (status, answer) = self.register(&worker).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        worker
    }

    /// A pod on a worker with one container of the redis image.
    pub(crate) fn pod(&self, worker: &str, name: &str) -> Pod {
        let id = HashAlg::Sha256
            .hash(&[worker.as_bytes(), name.as_bytes()])
            .to_hex();
        Pod {
            uid: Uuid::new_v4().to_string().parse().unwrap(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
            tenant: self.tenant,
            worker: worker.to_owned(),
            containers: vec![PodContainer {
                name: "main".to_owned(),
                image: "redis".to_owned(),
                digest: content("image redis"),
                id: Some(id.parse().unwrap()),
            }],
        }
    }

    /// A declared pod that runs its main file.
    pub(crate) async fn healthy_pod(&self, worker: &mut WorkerBox, name: &str) -> Pod {
        let pod = self.pod(&worker.name, name);
        self.declare(&pod).await;
        worker.run(&pod, content("redis"), "/usr/bin/redis");
        pod
    }

    /// Declares a pod.
    pub(crate) async fn declare(&self, pod: &Pod) {
        let body = serde_json::to_value(pod).unwrap();
        self.must(Method::POST, "/v1/verifier/pods", body).await;
    }

    /// Attests a pod.
    pub(crate) async fn attest(&self, pod: &Pod) -> (StatusCode, Value) {
        let path = format!("/v1/verifier/pods/{}/attest", pod.uid);
        self.operate(Method::POST, &path, Value::Null).await
    }

    /// Attests a pod, which must be refused with an effect; returns the reason.
    pub(crate) async fn refused(&self, pod: &Pod, effect: &str) -> String {
        let (status, answer) = self.attest(pod).await;
        assert!(!status.is_success(), "{status} {answer}");
        assert_eq!(answer["effect"], effect, "{answer}");
        answer["detail"].as_str().unwrap().to_owned()
    }

    /// What the verifier thinks of a pod.
    pub(crate) fn status(&self, pod: &Pod) -> PodStatus {
        let verifier = self.gate.as_ref().unwrap().verifier.clone().unwrap();
        verifier.pod(pod.uid).unwrap()
    }

    /// Whether the verifier trusts a worker.
    pub(crate) fn trust(&self, worker: &str) -> Trust {
        let verifier = self.gate.as_ref().unwrap().verifier.clone().unwrap();
        verifier.worker_status(worker).unwrap().trust
    }

    /// The registrar's database, as another process has it.
    pub(crate) fn registrar(&self) -> locus_attestation::registrar::Registrar {
        let file = self.folder.path().join("gate/registrar.db");
        locus_attestation::registrar::Registrar::open(&file).unwrap()
    }

    /// Moves the gate's clock.
    pub(crate) fn later(&self, millis: i64) {
        self.clock.advance_millis(millis);
    }

    /// The gate's time.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// Sends JSON and returns status and answer; whoever drives the world looks at both.
pub(crate) async fn ask(
    client: &Client,
    method: Method,
    path: &str,
    body: Value,
) -> (StatusCode, Value) {
    let bytes = serde_json::to_vec(&body).unwrap();
    let headers = [("content-type", "application/json")];
    let (status, answer) = client
        .exchange(method.clone(), path, &headers, bytes)
        .await
        .unwrap();
    let answer = serde_json::from_slice(&answer).unwrap_or(Value::Null);
    crate::watch(&method, path, &body, status, &answer);
    (status, answer)
}
