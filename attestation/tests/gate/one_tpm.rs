//! One TPM is one worker, whichever of its endorsement keys an agent shows.

use crate::world::{Machine, OS, WorkerBox, World};
use hyper::{Method, StatusCode};
use locus_attestation::agent::ek_certificates::{EkCertificates, WithCertificates};
use locus_attestation::agent::event_log::EventLogFile;
use locus_attestation::agent::log::LogFile;
use locus_attestation::agent::rate::Rate;
use locus_attestation::agent::state::StateFolder;
use locus_attestation::agent::{Agent, RunningAgent, Setup};
use locus_attestation::clock::SystemClock;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::net::Role;
use locus_attestation::net::tls::Credentials;
use locus_attestation::policy;
use locus_attestation::tpm::{
    AkBlob, AkKind, Credential, EkKind, Endorsement, PcrSelection, PcrValues, Properties, Public,
    SignedQuote, Tpm, TpmError,
};
use locus_attestation::verifier::Trust;
use serde_json::{Value, json};

const RSA: EkKind = EkKind::Rsa2048;
const ECC: EkKind = EkKind::EccP384;

/// What an attacker's agent makes of its TPM.
struct Twisted {
    inner: Box<dyn Tpm>,
    /// The endorsement keys that it admits to.
    shown: Vec<EkKind>,
    /// What it shows in place of them.
    instead: Vec<Endorsement>,
}

impl Tpm for Twisted {
    fn properties(&mut self) -> Result<Properties, TpmError> {
        let properties = self.inner.properties()?;
        Ok(Properties {
            endorsement_kinds: self.shown.clone(),
            ..properties
        })
    }
    fn endorsement(&mut self, kind: EkKind) -> Result<Endorsement, TpmError> {
        if !self.shown.contains(&kind) {
            return Err(TpmError::NoCertificate(kind));
        }
        let instead = self.instead.iter().find(|other| other.kind == kind);
        instead
            .cloned()
            .map_or_else(|| self.inner.endorsement(kind), Ok)
    }
    fn endorsement_public(&mut self, kind: EkKind) -> Result<Vec<u8>, TpmError> {
        self.inner.endorsement_public(kind)
    }
    fn create_ak(&mut self, parent: EkKind, kind: AkKind) -> Result<AkBlob, TpmError> {
        self.inner.create_ak(parent, kind)
    }
    fn activate_credential(
        &mut self,
        ak: &AkBlob,
        endorsement: EkKind,
        credential: &Credential,
    ) -> Result<zeroize::Zeroizing<Vec<u8>>, TpmError> {
        self.inner.activate_credential(ak, endorsement, credential)
    }
    fn sign_quote(
        &mut self,
        ak: &AkBlob,
        qualifying: &[u8],
        selection: &PcrSelection,
    ) -> Result<SignedQuote, TpmError> {
        self.inner.sign_quote(ak, qualifying, selection)
    }
    fn read_pcrs(&mut self, selection: &PcrSelection) -> Result<PcrValues, TpmError> {
        self.inner.read_pcrs(selection)
    }
    fn extend(&mut self, pcr: u8, digests: &[Digest]) -> Result<(), TpmError> {
        self.inner.extend(pcr, digests)
    }
}

/// An agent of a name on the machine of another worker, with an endorsement key of its choice.
async fn agent(
    world: &World,
    name: &str,
    log: &WorkerBox,
    tpm: Box<dyn Tpm>,
    ek: EkKind,
) -> RunningAgent {
    // A name may be tried on several machines: each time with keys of its own.
    let base = world
        .folder
        .path()
        .join(format!("{name}-{}", uuid::Uuid::new_v4()));
    let (state, credentials) = (base.join("state"), base.join("credentials"));
    std::fs::create_dir_all(&state).unwrap();
    let gate = world.folder.path().join("gate");
    locus_attestation::gate::args::enrol(&gate, Role::Agent, name, &credentials, &SystemClock)
        .unwrap();
    let setup = Setup {
        tpm,
        log: LogFile::open(&log.log, HashAlg::Sha1).unwrap(),
        event_log: EventLogFile::open(&log.event_log()),
        state: StateFolder::new(&state),
        installed: Credentials::read(&credentials, "agent").unwrap(),
        name: name.to_owned(),
        os: OS.to_owned(),
        ek: Some(ek),
        ak: AkKind::EccP256,
        rate: Rate {
            burst: 100,
            per_second: 100,
        },
    };
    let agent = Agent::new(setup, Box::new(SystemClock)).unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    locus_attestation::agent::start(agent, listener)
        .await
        .unwrap()
}

fn hiding(machine: &Machine, shown: &[EkKind]) -> Box<dyn Tpm> {
    Box::new(Twisted {
        inner: machine.open(),
        shown: shown.to_vec(),
        instead: Vec::new(),
    })
}

async fn register(world: &World, name: &str, agent: &RunningAgent) -> (StatusCode, String) {
    let joined = json!({ "name": name, "address": agent.address.to_string() });
    let (status, answer) = world
        .operate(Method::POST, "/v1/registrations", joined)
        .await;
    if status.is_success() {
        return (status, String::new());
    }
    assert_eq!(answer["effect"], "worker-refused", "{answer}");
    (status, answer["detail"].as_str().unwrap().to_owned())
}

async fn refused(world: &World, name: &str, agent: &RunningAgent) -> String {
    let (status, reason) = register(world, name, agent).await;
    assert!(status.is_client_error(), "{status} {reason}");
    let path = format!("/v1/workers/{name}");
    let (status, _) = world.operate(Method::GET, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "`{name}` is not stored");
    reason
}

fn key_digest(endorsement: &Endorsement) -> Digest {
    Public::parse(&endorsement.public).unwrap().key.digest()
}

async fn restart_with(world: &mut World, text: &str) {
    world.gate.take().unwrap().stop().await;
    let set = policy::parse("policy.toml", text).unwrap();
    world.start_gate_as(|config| config.policy = set).await;
}

/// R12: one TPM wants to be two workers, by its RSA and by its ECC endorsement key.
#[tokio::test(flavor = "multi_thread")]
async fn to_be_two_workers_with_one_tpm() {
    let world = World::new().await;
    let mut one = world.registered("worker-1").await;
    // Without a resource manager two agents flush each other's keys: one after the other.
    one.agent.take().unwrap().stop().await;
    let second = agent(&world, "worker-2", &one, one.machine.open(), ECC).await;
    let reason = refused(&world, "worker-2", &second).await;
    assert!(reason.contains("as worker `worker-1`"), "{reason}");
    second.stop().await;
    // What it showed is kept, and the worker itself comes back as often as it likes.
    let (_, kept) = world
        .operate(Method::GET, "/v1/workers/worker-1", Value::Null)
        .await;
    assert_eq!(kept["ek_others"][0]["kind"], "ecc-p384", "{kept}");
    one.start().await;
    let (status, answer) = world.register(&one).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // Gone is gone: then the TPM is free for another name.
    let path = "/v1/registrations/worker-1";
    let (status, _) = world.operate(Method::DELETE, path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    one.agent.take().unwrap().stop().await;
    let second = agent(&world, "worker-3", &one, one.machine.open(), ECC).await;
    assert_eq!(
        register(&world, "worker-3", &second).await,
        (StatusCode::OK, String::new())
    );
    second.stop().await;
}

/// The same with agents that hide the other key: the certificates say that they are of one TPM.
#[tokio::test(flavor = "multi_thread")]
async fn to_be_two_workers_by_hiding_keys() {
    let world = World::new().await;
    let mut one = world.worker("machine").await;
    one.agent.take().unwrap().stop().await;
    let rsa = agent(&world, "worker-1", &one, hiding(&one.machine, &[RSA]), RSA).await;
    assert_eq!(register(&world, "worker-1", &rsa).await.0, StatusCode::OK);
    rsa.stop().await;
    let ecc = agent(&world, "worker-2", &one, hiding(&one.machine, &[ECC]), ECC).await;
    let reason = refused(&world, "worker-2", &ecc).await;
    assert!(reason.contains("are for one TPM (`CN="), "{reason}");
    assert!(reason.contains("worker `worker-1`"), "{reason}");
    ecc.stop().await;
    // One that admits to the key of the first is refused for the key, whatever else it hides.
    let both = hiding(&one.machine, &[ECC, RSA]);
    let both = agent(&world, "worker-3", &one, both, ECC).await;
    let reason = refused(&world, "worker-3", &both).await;
    assert!(reason.contains("as worker `worker-1`"), "{reason}");
    both.stop().await;
    // Another machine, whose certificates have the same subject, is another worker: it shows an RSA key, too.
    let (status, answer) = world.register(&world.worker("worker-4").await).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

/// Where certificates say nothing, the policy does: which kinds of keys every worker has to show.
#[tokio::test(flavor = "multi_thread")]
async fn a_policy_leaves_nothing_to_hide() {
    let mut world = World::new().await;
    let mut one = world.worker("machine").await;
    one.agent.take().unwrap().stop().await;
    restart_with(
        &mut world,
        "[defaults]\nendorsement = { require = [\"rsa-2048\", \"ecc-p384\"] }\n",
    )
    .await;
    for (ek, hidden) in [(RSA, "ecc-p384"), (ECC, "rsa-2048")] {
        let name = format!("only-{}", ek.name());
        let shown = agent(&world, &name, &one, hiding(&one.machine, &[ek]), ek).await;
        let reason = refused(&world, &name, &shown).await;
        assert!(
            reason.contains(&format!("requires an {hidden}")),
            "{reason}"
        );
        shown.stop().await;
    }
    let whole = agent(&world, "worker-1", &one, one.machine.open(), RSA).await;
    assert_eq!(register(&world, "worker-1", &whole).await.0, StatusCode::OK);
    whole.stop().await;
}

/// The operator's list of endorsement keys decides, by key or by certificate.
#[tokio::test(flavor = "multi_thread")]
async fn listed_keys_are_those_of_their_worker_and_of_no_other() {
    let mut world = World::new().await;
    let (mut one, mut two) = (world.worker("one").await, world.worker("two").await);
    for worker in [&mut one, &mut two] {
        worker.agent.take().unwrap().stop().await;
    }
    let key = key_digest(&one.machine.open().endorsement(RSA).unwrap());
    let other = two.machine.open().endorsement(ECC).unwrap();
    let certificate = HashAlg::Sha256.hash(&[&other.certificate]);
    restart_with(
        &mut world,
        &format!(
            "[defaults]\nendorsement = {{ unlisted = \"refuse\" }}\n[endorsement-keys]\n\
             one = [\"{key}\"]\ntwo = [\"{certificate}\"]\n"
        ),
    )
    .await;
    // Another TPM under a listed name, a listed TPM under another, and a name that nobody listed.
    for (name, worker, found) in [
        (
            "one",
            &two,
            "lists an endorsement key of this TPM for worker `two`",
        ),
        (
            "two",
            &one,
            "lists an endorsement key of this TPM for worker `one`",
        ),
        ("three", &one, "for worker `one`"),
    ] {
        let taken = agent(&world, name, worker, worker.machine.open(), RSA).await;
        let reason = refused(&world, name, &taken).await;
        assert!(reason.contains(found), "{name}: {reason}");
        taken.stop().await;
    }
    let stranger = world.worker("stranger").await;
    let reason = refused(&world, "stranger", stranger.agent.as_ref().unwrap()).await;
    assert!(
        reason.contains("does not list an endorsement key of worker `stranger`"),
        "{reason}"
    );
    assert!(
        reason.contains("sha256:"),
        "it says what to enter: {reason}"
    );
    // With their own names, even if they show different keys whose certificates have one subject.
    let rsa = agent(&world, "one", &one, hiding(&one.machine, &[RSA]), RSA).await;
    assert_eq!(register(&world, "one", &rsa).await.0, StatusCode::OK);
    let ecc = agent(&world, "two", &two, hiding(&two.machine, &[ECC]), ECC).await;
    assert_eq!(register(&world, "two", &ecc).await.0, StatusCode::OK);
    rsa.stop().await;
    ecc.stop().await;
}

/// An attacker shows keys that are not its own, or calls them what they are not.
#[tokio::test(flavor = "multi_thread")]
async fn keys_of_others_and_keys_by_wrong_names_are_refused() {
    let world = World::new().await;
    let mut one = world.worker("one").await;
    let mut victim = world.worker("victim").await;
    for worker in [&mut one, &mut victim] {
        worker.agent.take().unwrap().stop().await;
    }
    let theirs = victim.machine.open().endorsement(ECC).unwrap();
    let own = one.machine.open().endorsement(ECC).unwrap();
    let called = |kind: EkKind, endorsement: &Endorsement| Endorsement {
        kind,
        ..endorsement.clone()
    };
    for (number, instead, shown, found) in [
        (1, theirs.clone(), vec![RSA, ECC], "did not answer"),
        (
            2,
            called(EkKind::EccP256, &own),
            vec![RSA, EkKind::EccP256],
            "shown as ecc-p256",
        ),
        (
            3,
            called(EkKind::EccP521, &theirs),
            vec![RSA, EkKind::EccP521],
            "shown as ecc-p521",
        ),
    ] {
        let name = format!("liar-{number}");
        let tpm = Box::new(Twisted {
            inner: one.machine.open(),
            shown,
            instead: vec![instead],
        });
        let liar = agent(&world, &name, &one, tpm, RSA).await;
        let reason = refused(&world, &name, &liar).await;
        assert!(reason.contains(found), "{name}: {reason}");
        liar.stop().await;
    }
    // Nothing of the victim was taken away.
    victim.start().await;
    let (status, answer) = world.register(&victim).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

/// A key or certificate that the policy denies is refused, and a worker that has one is condemned.
#[tokio::test(flavor = "multi_thread")]
async fn denied_keys_come_in_by_no_way() {
    let mut world = World::new().await;
    let worker = world.registered("worker").await;
    let path = "/v1/verifier/workers/worker/attest";
    let (status, answer) = world.operate(Method::POST, path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let (_, record) = world
        .operate(Method::GET, "/v1/workers/worker", Value::Null)
        .await;
    let bytes = |value: &Value| {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD
            .decode(value.as_str().unwrap())
            .unwrap()
    };
    let of_key = |value: &Value| Public::parse(&bytes(value)).unwrap().key.digest();
    let digests = [
        of_key(&record["ek_public"]),
        HashAlg::Sha256.hash(&[&bytes(&record["ek_certificate"])]),
        of_key(&record["ek_others"][0]["public"]),
        HashAlg::Sha256.hash(&[&bytes(&record["ek_others"][0]["certificate"])]),
        of_key(&record["ak_public"]),
        HashAlg::Sha256.hash(&[&bytes(&record["ak_public"])]),
        record["tls_key"].as_str().unwrap().parse().unwrap(),
    ];
    let mut seen = std::collections::BTreeSet::new();
    for denied in digests {
        assert!(seen.insert(denied), "each of them is another");
        restart_with(&mut world, &format!("deny = [\"{denied}\"]\n")).await;
        let (status, answer) = world.register(&worker).await;
        assert!(status.is_client_error(), "{denied}: {answer}");
        let detail = answer["detail"].as_str().unwrap();
        assert!(detail.contains(&format!("denies `{denied}`")), "{detail}");
    }
    // It was registered and trusted before: it is not any more.
    let (status, answer) = world.operate(Method::POST, path, Value::Null).await;
    assert_eq!(answer["effect"], "worker-untrusted", "{status} {answer}");
    assert_eq!(world.trust("worker"), Trust::Untrusted);
    // Whoever is not denied is not touched.
    restart_with(
        &mut world,
        &format!("deny = [\"{}\"]\n", HashAlg::Sha256.hash(&[b"x"])),
    )
    .await;
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

/// A TPM that stores no certificates: they come from files, and are found by their keys.
#[tokio::test(flavor = "multi_thread")]
async fn certificates_come_from_files_where_the_tpm_has_none() {
    let world = World::new().await;
    let (mut one, mut other) = (world.worker("one").await, world.worker("other").await);
    for worker in [&mut one, &mut other] {
        worker.agent.take().unwrap().stop().await;
    }
    let folder = world.folder.path().join("certificates");
    std::fs::create_dir_all(&folder).unwrap();
    let bare = || -> Box<dyn Tpm> { hiding(&one.machine, &[]) };
    let read = || EkCertificates::read(&folder).unwrap();
    // None, or those of another machine, are as good as none.
    let foreign = other.machine.open().endorsement(RSA).unwrap();
    std::fs::write(folder.join("foreign.der"), &foreign.certificate).unwrap();
    let mut tpm = WithCertificates::new(bare(), read());
    assert_eq!(tpm.properties().unwrap().endorsement_kinds, []);
    assert_eq!(tpm.endorsement(RSA), Err(TpmError::NoCertificate(RSA)));
    drop(tpm);
    // One in DER, one in PEM together with its authority.
    let (rsa, ecc) = {
        let mut tpm = one.machine.open();
        (tpm.endorsement(RSA).unwrap(), tpm.endorsement(ECC).unwrap())
    };
    std::fs::write(folder.join("rsa.crt"), &rsa.certificate).unwrap();
    let pem = x509_cert::der::pem::encode_string(
        "CERTIFICATE",
        x509_cert::der::pem::LineEnding::LF,
        &ecc.certificate,
    );
    let (_, authority) = world.factory.roots().pop().unwrap();
    std::fs::write(
        folder.join("ecc.pem"),
        format!("{}{authority}", pem.unwrap()),
    )
    .unwrap();
    let tpm = Box::new(WithCertificates::new(bare(), read()));
    let running = agent(&world, "worker-1", &one, tpm, ECC).await;
    assert_eq!(
        register(&world, "worker-1", &running).await,
        (StatusCode::OK, String::new())
    );
    let path = "/v1/workers/worker-1";
    let (_, record) = world.operate(Method::GET, path, Value::Null).await;
    assert_eq!(record["ek_others"][0]["kind"], "rsa2048", "{record}");
    running.stop().await;
    // What is not a certificate is said, with its name.
    std::fs::write(folder.join("notes.txt"), "hello").unwrap();
    let error = EkCertificates::read(&folder).unwrap_err().to_string();
    assert!(error.contains("notes.txt"), "{error}");
}
