//! A small world for tests: a gate, workers with agents, software TPMs, and a kernel that measures.
//!
//! With the feature `tpm` the TPMs are `swtpm` processes behind libtss2; without it they are emulated.
//! Everything else is the real thing either way: the real agent and the real gate, over mutual TLS.
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hyper::{Method, StatusCode};
use locus_attestation::agent::log::LogFile;
use locus_attestation::agent::rate::Rate;
use locus_attestation::agent::state::StateFolder;
use locus_attestation::agent::{Agent, RunningAgent, Setup};
use locus_attestation::clock::{Clock, ManualClock, SystemClock, Timestamp};
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::gate::args::{enrol, init};
use locus_attestation::gate::{GateConfig, RunningGate};
use locus_attestation::ima::{BootAggregate, LogWriter, PodUid, Templates};
use locus_attestation::net::tls::Credentials;
use locus_attestation::net::{Client, Role};
use locus_attestation::tpm::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, PcrSelection, PcrValues, Properties,
    SignedQuote, Tpm, TpmError,
};
use locus_attestation::verifier::{Pod, PodContainer, PodStatus, Trust};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use uuid::Uuid;

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

#[cfg(not(feature = "tpm"))]
mod machine {
    use super::*;
    use locus_attestation::tpm::emulated::EmulatedTpm;
    use p256::pkcs8::EncodePublicKey as _;
    use std::str::FromStr as _;
    use x509_cert::der::Encode as _;

    /// The authority of the emulated TPMs.
    pub(crate) struct Factory {
        key: rcgen::KeyPair,
        params: rcgen::CertificateParams,
        pem: String,
    }

    impl Factory {
        pub(crate) fn new(_: &Path) -> Self {
            let key = rcgen::KeyPair::generate().unwrap();
            let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
            params
                .distinguished_name
                .push(rcgen::DnType::CommonName, "emulated TPMs");
            params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign];
            let pem = params.self_signed(&key).unwrap().pem();
            Factory { key, params, pem }
        }

        pub(crate) fn manufacturer(&self) -> &'static str {
            "id:4c435553"
        }

        pub(crate) fn roots(&self) -> Vec<(&'static str, String)> {
            vec![("root", self.pem.clone())]
        }

        pub(crate) fn make(&self, name: &str) -> Machine {
            let seed = HashAlg::Sha256.hash(&[name.as_bytes(), &Uuid::new_v4().into_bytes()]);
            let seed: [u8; 32] = seed.as_bytes().try_into().unwrap();
            let tpm = EmulatedTpm::from_seed(seed);
            let point = p256::PublicKey::from_sec1_bytes(&tpm.endorsement_point()).unwrap();
            let spki = point.to_public_key_der().unwrap();
            let spki = rcgen::SubjectPublicKeyInfo::from_der(spki.as_bytes()).unwrap();
            let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
            params.is_ca = rcgen::IsCa::ExplicitNoCa;
            params.key_usages = vec![rcgen::KeyUsagePurpose::KeyAgreement];
            let utf8 = |text: &str| {
                let digits = locus_attestation::digest::encode_hex(text.as_bytes());
                format!("#0c{:02x}{digits}", text.len())
            };
            let words = format!(
                "2.23.133.2.3={},2.23.133.2.2={},2.23.133.2.1={}",
                utf8("id:1"),
                utf8("swtpm"),
                utf8("id:4C435553")
            );
            let names = x509_cert::ext::pkix::SubjectAltName(vec![
                x509_cert::ext::pkix::name::GeneralName::DirectoryName(
                    x509_cert::name::Name::from_str(&words).unwrap(),
                ),
            ]);
            let mut extension =
                rcgen::CustomExtension::from_oid_content(&[2, 5, 29, 17], names.to_der().unwrap());
            extension.set_criticality(true);
            params.custom_extensions.push(extension);
            let issuer = rcgen::Issuer::from_params(&self.params, &self.key);
            let certificate = params.signed_by(&spki, &issuer).unwrap();
            let tpm = tpm.with_certificate(certificate.der().to_vec(), Vec::new());
            Machine(Arc::new(Mutex::new(tpm)))
        }
    }

    /// One machine's TPM.
    #[derive(Clone)]
    pub(crate) struct Machine(pub(crate) Arc<Mutex<EmulatedTpm>>);

    impl Machine {
        pub(crate) fn open(&self) -> Box<dyn Tpm> {
            Box::new(self.clone())
        }

        pub(crate) fn extend(&self, pcr: u8, digests: &[Digest]) {
            self.0.lock().unwrap().extend(pcr, digests).unwrap();
        }

        pub(crate) fn reset(&self, pcr: u8) {
            self.0.lock().unwrap().reset_pcr(pcr);
        }

        pub(crate) fn reboot(&mut self) {
            self.0.lock().unwrap().reboot();
        }

        pub(crate) fn ek(&self) -> EkKind {
            EkKind::EccP256
        }

        pub(crate) fn ak(&self) -> AkKind {
            AkKind::EccP256
        }
    }

    impl Tpm for Machine {
        fn properties(&mut self) -> Result<Properties, TpmError> {
            self.0.lock().unwrap().properties()
        }
        fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
            self.0.lock().unwrap().endorsement(kind)
        }
        fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
            self.0.lock().unwrap().create_ak(parent, kind)
        }
        fn activate_credential(
            &mut self,
            ak: &AkBlob,
            credential: &Credential,
        ) -> Result<zeroize::Zeroizing<Vec<u8>>, TpmError> {
            self.0.lock().unwrap().activate_credential(ak, credential)
        }
        fn sign_quote(
            &mut self,
            ak: &AkBlob,
            qualifying: &[u8],
            selection: &PcrSelection,
        ) -> Result<SignedQuote, TpmError> {
            self.0.lock().unwrap().sign_quote(ak, qualifying, selection)
        }
        fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
            self.0.lock().unwrap().read_pcrs(selection)
        }
        fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
            self.0.lock().unwrap().extend(pcr, digests)
        }
    }
}

#[cfg(feature = "tpm")]
mod machine {
    use super::*;
    use locus_attestation::demo::swtpm::{Manufacturer, SoftwareTpm};
    use locus_attestation::tpm::esapi::EsapiTpm;

    /// swtpm's local authority.
    pub(crate) struct Factory(Manufacturer);

    impl Factory {
        pub(crate) fn new(folder: &Path) -> Self {
            Factory(Manufacturer::new(folder).expect("a folder for the manufacturer"))
        }

        pub(crate) fn manufacturer(&self) -> &'static str {
            "id:00001014"
        }

        pub(crate) fn roots(&self) -> Vec<(&'static str, String)> {
            let found = self.0.certificates().unwrap();
            ["root", "intermediate"].into_iter().zip(found).collect()
        }

        pub(crate) fn make(&self, name: &str) -> Machine {
            Machine(Arc::new(Mutex::new(
                self.0.make(name).expect("a software TPM (swtpm)"),
            )))
        }
    }

    /// One machine's TPM.
    #[derive(Clone)]
    pub(crate) struct Machine(Arc<Mutex<SoftwareTpm>>);

    impl Machine {
        pub(crate) fn open(&self) -> Box<dyn Tpm> {
            Box::new(
                EsapiTpm::open(&self.0.lock().unwrap().transport())
                    .expect("the software TPM answers"),
            )
        }

        pub(crate) fn transport(&self) -> String {
            self.0.lock().unwrap().transport()
        }

        pub(crate) fn extend(&self, pcr: u8, digests: &[Digest]) {
            self.0.lock().unwrap().extend(pcr, digests).unwrap();
        }

        pub(crate) fn reset(&self, pcr: u8) {
            self.0.lock().unwrap().reset_pcr(pcr).unwrap();
        }

        pub(crate) fn reboot(&mut self) {
            self.0.lock().unwrap().reboot().unwrap();
        }

        pub(crate) fn ek(&self) -> EkKind {
            EkKind::Rsa2048
        }

        pub(crate) fn ak(&self) -> AkKind {
            AkKind::EccP256
        }
    }
}

pub(crate) use machine::{Factory, Machine};

/// A TPM that is busy for as many commands as it is told to be.
struct Moody {
    inner: Box<dyn Tpm>,
    busy: Arc<AtomicUsize>,
}

impl Moody {
    fn ask(&mut self) -> Result<&mut dyn Tpm, TpmError> {
        let mut less = |left: usize| left.checked_sub(1);
        match self
            .busy
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, &mut less)
        {
            Ok(_) => Err(TpmError::Busy),
            Err(_) => Ok(&mut *self.inner),
        }
    }
}

impl Tpm for Moody {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        self.ask()?.properties()
    }
    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        self.ask()?.endorsement(kind)
    }
    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        self.ask()?.create_ak(parent, kind)
    }
    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        credential: &Credential,
    ) -> Result<zeroize::Zeroizing<Vec<u8>>, TpmError> {
        self.ask()?.activate_credential(ak, credential)
    }
    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        self.ask()?.sign_quote(ak, qualifying, selection)
    }
    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        self.ask()?.read_pcrs(selection)
    }
    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        self.ask()?.extend(pcr, digests)
    }
}

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

    /// Starts the agent at an address.
    pub(crate) async fn start_at(&mut self, address: &str) {
        let log = LogFile::open(&self.log, HashAlg::Sha1, Templates::default()).unwrap();
        let setup = Setup {
            tpm: Box::new(Moody {
                inner: self.machine.open(),
                busy: self.busy.clone(),
            }),
            log,
            state: StateFolder::new(&self.state),
            installed: Credentials::read(&self.credentials, "agent").unwrap(),
            name: self.name.clone(),
            os: OS.to_owned(),
            ek: Some(self.machine.ek()),
            ak: self.machine.ak(),
            rate: self.rate,
        };
        let agent = Agent::new(setup, Box::new(SystemClock)).unwrap();
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
            agent.kill();
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}

/// A gate and its surroundings.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) factory: Factory,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) gate: Option<RunningGate>,
    pub(crate) gate_address: String,
    pub(crate) tenant: Uuid,
}

impl World {
    /// An installation with a running gate, a manufacturer, a tenant and reference values.
    pub(crate) async fn new() -> Self {
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
        let mut config = GateConfig::all_in(&self.folder.path().join("gate"));
        change(&mut config);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let clock: Arc<dyn Clock> = self.clock.clone();
        let gate = locus_attestation::gate::start(config, listener, clock)
            .await
            .unwrap();
        self.gate_address = gate.address.to_string();
        self.gate = Some(gate);
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
        Client::new(credentials.client().unwrap(), address, server)
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

    /// Moves the gate's clock.
    pub(crate) fn later(&self, millis: i64) {
        self.clock.advance_millis(millis);
    }

    /// The gate's time.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// Sends JSON and returns status and answer.
pub(crate) async fn ask(
    client: &Client,
    method: Method,
    path: &str,
    body: Value,
) -> (StatusCode, Value) {
    let bytes = serde_json::to_vec(&body).unwrap();
    let headers = [("content-type", "application/json")];
    let (status, answer) = client
        .exchange(method, path, &headers, bytes)
        .await
        .unwrap();
    let answer = serde_json::from_slice(&answer).unwrap_or(Value::Null);
    (status, answer)
}
