//! The ports of the drivers over real databases and a real agent, without a gate.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use locus_attestation::agent::event_log::EventLogFile;
use locus_attestation::agent::log::LogFile;
use locus_attestation::agent::rate::Rate;
use locus_attestation::agent::state::StateFolder;
use locus_attestation::agent::{Agent, Setup};
use locus_attestation::clock::{Clock as _, ManualClock, SystemClock, Timestamp};
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::gate::args::{enrol, init};
use locus_attestation::ima::{BootAggregate, LogWriter, PodUid};
use locus_attestation::net::tls::Credentials;
use locus_attestation::net::{Peer, Role};
use locus_attestation::policy::PolicySet;
use locus_attestation::protocol::attestation::Judged;
use locus_attestation::protocol::port::{
    Admissions, AgentPlace, Agents, Fault, FaultKind, Issuer, Registrations, TrustStore, Values,
};
use locus_attestation::protocol::registration::ProvenWorker;
use locus_attestation::protocol::{
    Acknowledgement, Admission, Challenge, Effect, EvidenceRequest, Identity, Outstanding, Proof,
    Received, WorkerRecord,
};
use locus_attestation::reference::{
    ImageReference, OsReference, ReferenceValues, RuntimeReference, Whitelist,
};
use locus_attestation::registrar::{CaKind, Registrar, RegistrarError};
use locus_attestation::tpm::Endorsement;
use locus_attestation::verifier::{
    Conclusion, Node, Outcome, Pod, PodContainer, PodStatus, StoreError, Trust, VerifierStore,
    WorkerStatus,
};
use tempfile::TempDir;
use uuid::Uuid;

use crate::emulated::{Factory, Machine};

pub(crate) const VERIFIER_KEY: &str = "sha256:verifier";
const OS: &str = "Debian GNU/Linux 12 (bookworm)";
const SHIM: &str = "/usr/bin/containerd-shim-runc-v2";

fn content(text: &str) -> Digest {
    HashAlg::Sha256.hash(&[text.as_bytes()])
}

/// Databases, a worker with a kernel, and its agent.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) clock: Arc<ManualClock>,
    agent: Arc<Agent>,
    machine: Machine,
    kernel: LogWriter,
    list: Arc<Whitelist>,
    policy: Arc<PolicySet>,
}

/// What a process opens.
pub(crate) struct Process {
    pub(crate) registrar: Registrar,
    store: Mutex<VerifierStore>,
    pub(crate) clock: Arc<ManualClock>,
    agent: Arc<Agent>,
    list: Arc<Whitelist>,
    policy: Arc<PolicySet>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let gate = folder.path().join("gate");
        init(&gate, &SystemClock).unwrap();
        let credentials = folder.path().join("credentials");
        enrol(&gate, Role::Agent, "worker", &credentials, &SystemClock).unwrap();
        let state = folder.path().join("state");
        std::fs::create_dir(&state).unwrap();
        let factory = Factory::new(folder.path());
        let machine = factory.make("worker");
        let registrar = Registrar::open(&folder.path().join("registrar.db")).unwrap();
        let manufacturer = factory.manufacturer();
        registrar
            .create_manufacturer(manufacturer, "the factory")
            .unwrap();
        for (_, pem) in factory.roots() {
            let new = locus_attestation::registrar::api::AddCertificate {
                kind: CaKind::Root,
                certificate: pem,
            };
            registrar.add_certificates_pem(manufacturer, &new).unwrap();
        }
        let mut kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha1, HashAlg::Sha256]);
        let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
        let aggregate = BootAggregate::over(HashAlg::Sha256, &zeros)
            .unwrap()
            .current;
        let deps = "swapper/0:swapper/0";
        let extended = kernel
            .cgpath(deps, "/", aggregate, "boot_aggregate")
            .unwrap();
        machine.extend(10, &extended);
        let extended = kernel
            .cgpath(
                &format!("{SHIM}:/usr/lib/systemd/systemd:swapper/0"),
                "/system.slice/containerd.service",
                content("shim"),
                SHIM,
            )
            .unwrap();
        machine.extend(10, &extended);
        let log = folder.path().join("log");
        std::fs::write(&log, kernel.log()).unwrap();
        let setup = Setup {
            tpm: machine.open(),
            log: LogFile::open(&log, HashAlg::Sha1).unwrap(),
            event_log: EventLogFile::open(&folder.path().join("event-log")),
            state: StateFolder::new(&state),
            installed: Credentials::read(&credentials, "agent").unwrap(),
            name: "worker".to_owned(),
            os: OS.to_owned(),
            ek: Some(machine.ek()),
            ak: machine.ak(),
            rate: Rate {
                burst: 1000,
                per_second: 1000,
            },
        };
        let agent = Arc::new(Agent::new(setup, Box::new(SystemClock)).unwrap());
        let mut values = ReferenceValues::default();
        let os = OsReference {
            boot_aggregates: [aggregate].into(),
        };
        values.os.insert(OS.to_owned(), os);
        let files = |path: &str, name: &str| {
            serde_json::from_value(serde_json::json!({ path: [content(name)] })).unwrap()
        };
        values.runtimes.insert(
            "containerd".to_owned(),
            RuntimeReference {
                files: files(SHIM, "shim"),
            },
        );
        let image: ImageReference = serde_json::from_value(serde_json::json!({
            "digests": [content("image redis")],
            "files": { "/usr/bin/redis": [content("/usr/bin/redis")] },
        }))
        .unwrap();
        values.images.insert("redis".to_owned(), image);
        Place {
            clock: Arc::new(ManualClock::at(SystemClock.now().plus_secs(120))),
            agent,
            machine,
            kernel,
            list: Arc::new(Whitelist::new(&values)),
            policy: Arc::default(),
            folder,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Another process.
    pub(crate) fn process(&self) -> Process {
        Process {
            registrar: Registrar::open(&self.file("registrar.db")).unwrap(),
            store: Mutex::new(VerifierStore::open(&self.file("verifier.db")).unwrap()),
            clock: self.clock.clone(),
            agent: self.agent.clone(),
            list: self.list.clone(),
            policy: self.policy.clone(),
        }
    }

    /// A declared pod.
    pub(crate) fn pod(&self) -> Pod {
        let pod = Pod {
            uid: Uuid::new_v4().to_string().parse().unwrap(),
            namespace: "default".to_owned(),
            name: "redis".to_owned(),
            tenant: Uuid::nil(),
            worker: "worker".to_owned(),
            containers: vec![PodContainer {
                name: "main".to_owned(),
                image: "redis".to_owned(),
                digest: content("image redis"),
                id: Some("ab".repeat(32).parse().unwrap()),
            }],
        };
        let process = self.process();
        process.store().declare_pod(&pod, self.now()).unwrap();
        pod
    }

    /// The pod runs a file.
    pub(crate) fn run(&mut self, pod: &Pod, path: &str) {
        let uid = pod.uid.to_string().replace('-', "_");
        let group = format!(
            "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{uid}.slice/\
             cri-containerd-{}.scope",
            "ab".repeat(32)
        );
        let deps = format!("{path}:{SHIM}:swapper/0");
        let extended = self
            .kernel
            .cgpath(&deps, &group, content(path), path)
            .unwrap();
        self.machine.extend(10, &extended);
        std::fs::write(self.file("log"), self.kernel.log()).unwrap();
    }
}

impl Process {
    pub(crate) fn store(&self) -> MutexGuard<'_, VerifierStore> {
        self.store.lock().unwrap()
    }

    fn peer(&self, role: Role) -> Peer {
        Peer {
            roles: [role].into(),
            key: VERIFIER_KEY.to_owned(),
            ..Peer::default()
        }
    }
}

fn registrar_fault(error: RegistrarError) -> Fault {
    let kind = match error {
        RegistrarError::NotFound { .. } => FaultKind::NotFound,
        _ => FaultKind::Refused,
    };
    Fault::new(kind, error)
}

fn store_fault(error: StoreError) -> Fault {
    let kind = match error {
        StoreError::NotFound { .. } => FaultKind::NotFound,
        StoreError::Conflict(_) => FaultKind::Conflict,
        _ => FaultKind::Unavailable,
    };
    Fault::new(kind, error)
}

impl Agents for Process {
    async fn identity(&self, _: AgentPlace<'_>) -> Result<Identity, Fault> {
        let peer = self.peer(Role::WorkerHandler);
        self.agent.identify(&peer).map_err(Fault::unavailable)
    }

    async fn challenge(&self, _: AgentPlace<'_>, challenge: &Challenge) -> Result<Proof, Fault> {
        let peer = self.peer(Role::WorkerHandler);
        let proof = self.agent.challenge(&peer, challenge);
        proof.map_err(Fault::unavailable)
    }

    async fn acknowledge(&self, _: AgentPlace<'_>, last: &Acknowledgement) -> Result<(), Fault> {
        let peer = self.peer(Role::WorkerHandler);
        self.agent
            .acknowledge(&peer, last)
            .map_err(Fault::unavailable)
    }

    async fn evidence(
        &self,
        _: AgentPlace<'_>,
        _: &[u8],
        request: &EvidenceRequest,
        _: u64,
    ) -> Result<Received, Fault> {
        let peer = self.peer(Role::Verifier);
        let shown = self.agent.attest(&peer, request);
        shown.map(Received::from).map_err(Fault::unavailable)
    }
}

impl Registrations for Process {
    async fn check_endorsement(&self, endorsement: &Endorsement) -> Result<(), Fault> {
        let (certificate, chain) = (&endorsement.certificate, &endorsement.chain);
        let checked = self
            .registrar
            .validate_ek(certificate, chain, self.clock.now());
        checked.map(|_| ()).map_err(registrar_fault)
    }

    async fn propose(&self, registration: Uuid, worker: &WorkerRecord) -> Result<(), Fault> {
        let proposed = self
            .registrar
            .propose(registration, worker, self.clock.now());
        proposed.map_err(registrar_fault)
    }

    async fn withdraw(&self, registration: Uuid) -> Result<(), Fault> {
        self.registrar
            .withdraw(registration)
            .map_err(registrar_fault)
    }

    async fn accept(&self, registration: Uuid) -> Result<(), Fault> {
        self.registrar.accept(registration).map_err(registrar_fault)
    }

    async fn confirm(&self, registration: Uuid) -> Result<(), Fault> {
        let confirmed = self.registrar.confirm(registration, self.clock.now());
        confirmed.map_err(registrar_fault)
    }

    async fn begin_removal(&self, name: &str) -> Result<(), Fault> {
        let begun = self.registrar.begin_removal(name, self.clock.now());
        begun.map_err(registrar_fault)
    }

    async fn finish_removal(&self, name: &str) -> Result<(), Fault> {
        self.registrar.finish_removal(name).map_err(registrar_fault)
    }

    async fn outstanding(&self) -> Result<Outstanding, Fault> {
        self.registrar.outstanding().map_err(registrar_fault)
    }

    async fn worker(&self, name: &str) -> Result<WorkerRecord, Fault> {
        let found = self
            .registrar
            .worker_by_name(name)
            .map_err(registrar_fault)?;
        let worker = found.ok_or_else(|| Fault::new(FaultKind::NotFound, "no worker"))?;
        Ok(WorkerRecord {
            id: worker.id,
            name: worker.with.name,
            os: worker.with.os,
            address: worker.with.address,
            ak_public: worker.with.ak_public,
            ek_public: worker.with.ek_public,
            ek_certificate: worker.with.ek_certificate,
            ek_others: worker.with.ek_others,
            ek_listed: false,
            tls_key: String::new(),
            templates: None,
        })
    }
}

impl Admissions for Process {
    async fn key(&self) -> Result<String, Fault> {
        Ok(VERIFIER_KEY.to_owned())
    }

    async fn admit(&self, worker: &Admission) -> Result<(), Fault> {
        let now = self.clock.now();
        self.store().admit(worker, now).map_err(store_fault)
    }

    async fn forget(&self, name: &str) -> Result<(), Fault> {
        let mut store = self.store();
        store.worker(name).map_err(store_fault)?;
        store.remove_worker(name).map_err(store_fault)
    }
}

impl Issuer for Process {
    fn issue(
        &self,
        worker: &ProvenWorker,
        address: &str,
        _: Timestamp,
    ) -> Result<(String, WorkerRecord), Fault> {
        let identity = &worker.identity;
        let record = WorkerRecord {
            id: identity.worker,
            name: identity.name.clone(),
            os: identity.os.clone(),
            address: address.to_owned(),
            ak_public: identity.ak_public.clone(),
            ek_public: identity.endorsement.public.clone(),
            ek_certificate: identity.endorsement.certificate.clone(),
            ek_others: identity.others.clone(),
            ek_listed: worker.listed,
            tls_key: String::new(),
            templates: None,
        };
        Ok(("certificate".to_owned(), record))
    }
}

impl Values for Process {
    async fn whitelist(&self) -> Result<Arc<Whitelist>, Fault> {
        Ok(self.list.clone())
    }
}

impl TrustStore for Process {
    async fn worker(&self, name: &str) -> Result<WorkerStatus, Fault> {
        self.store().worker(name).map_err(store_fault)
    }

    async fn pods(&self, worker: &str) -> Result<Vec<PodStatus>, Fault> {
        self.store().pods(Some(worker)).map_err(store_fault)
    }

    async fn node(&self, worker: Uuid) -> Result<Arc<Node>, Fault> {
        let mut node = self.store().node(worker).map_err(store_fault)?;
        node.history = self.store().history(worker).map_err(store_fault)?;
        Ok(Arc::new(node))
    }

    async fn policies(&self) -> Result<Arc<PolicySet>, Fault> {
        Ok(self.policy.clone())
    }

    async fn commit(&self, judged: Judged) -> Result<Vec<PodUid>, Fault> {
        let outcomes: Vec<Outcome> = judged
            .verdicts
            .iter()
            .map(|(pod, verdict)| Outcome {
                uid: pod.uid,
                generation: judged.subjects.pods[&pod.uid],
                trust: match verdict {
                    Ok(_) => Trust::Trusted,
                    Err(error) if error.effect() == Effect::PodUntrusted => Trust::Untrusted,
                    Err(_) => Trust::Unknown,
                },
                reason: String::new(),
                token: String::new(),
                pending: false,
            })
            .collect();
        let conclusion = Conclusion {
            worker: judged.worker,
            generation: judged.subjects.generation,
            from: judged.subjects.from.as_ref(),
            appraisal: &judged.appraisal,
            outcomes: &outcomes,
            at: judged.asked,
            lease: None,
        };
        let committed = self.store().commit(&conclusion).map_err(store_fault);
        Ok(committed?.stale)
    }

    async fn refute(
        &self,
        pod: PodUid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, Fault> {
        let mut store = self.store();
        store
            .refute_pod(pod, generation, reason, at, None)
            .map_err(store_fault)
    }

    async fn suspend(
        &self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, Fault> {
        let mut store = self.store();
        store
            .suspend_worker(worker, generation, reason, at, None)
            .map_err(store_fault)
    }

    async fn distrust(
        &self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, Fault> {
        let mut store = self.store();
        store
            .distrust_worker(worker, generation, reason, at, None)
            .map_err(store_fault)
    }
}
