//! Ten thousand random changes of every message: nothing panics, and nothing but the message itself is
//! taken for it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

mod mutate;

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use locus_attestation::clock::Timestamp;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::evidence::jws::{TokenKey, TrustedKeys};
use locus_attestation::evidence::request::{Request, SignatureHeaders, sign, verify};
use locus_attestation::evidence::{
    Appraisal as Conclusion, AttestationResult, EarExpectations, Evidence, Nonce, PcrValue,
    QuotePart, SeenNonces, TrustVector, WORKER_SUBMODULE, binding,
};
use locus_attestation::ima::{BootAggregate, LogWriter, TEMPLATES};
use locus_attestation::net::pki::agent_request;
use locus_attestation::policy::WorkerPolicy;
use locus_attestation::protocol::enrolment::Enrolment;
use locus_attestation::protocol::registration::{Action, Event, KeyTerms, Terms};
use locus_attestation::protocol::{
    Acknowledgement, Challenge, EvidenceRequest, Identity, Proof, Registration, WorkerRecord,
};
use locus_attestation::reference::{
    HostReference, OsReference, ReferenceValues, RuntimeReference, Whitelist, export, import,
};
use locus_attestation::tpm::device::quote;
use locus_attestation::tpm::emulated::EmulatedTpm;
use locus_attestation::tpm::{AkBlob, AkKind, EkKind, Tpm};
use locus_attestation::verifier::{Node, Worker, appraise_worker};
use mutate::mutate;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

const MUTATIONS: u64 = 10_000;
const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
const OS: &str = "Debian GNU/Linux 12 (bookworm)";
const SHIM: &str = "/usr/bin/containerd-shim-runc-v2";

/// Shows every mutation of a message; `accepts` tells whether it was taken, which it may be only if it
/// says the same as the original.
fn never_taken<T: PartialEq>(
    original: &[u8],
    read: impl Fn(&[u8]) -> Option<T>,
    mut accepts: impl FnMut(T) -> bool,
) {
    let genuine = read(original).unwrap();
    let mut understood = 0;
    for number in 0..MUTATIONS {
        let bytes = mutate(original, number);
        let Some(message) = read(&bytes) else {
            continue;
        };
        if message == genuine {
            continue;
        }
        understood += 1;
        assert!(!accepts(message), "mutation {number} was taken");
    }
    assert!(understood > 0, "no mutation came past the parser");
    assert!(accepts(genuine), "the original is not taken either");
}

fn json<T: Serialize>(message: &T) -> Vec<u8> {
    serde_json::to_vec(message).unwrap()
}

fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

/// A worker, and a handler that waits for some message of it.
struct Scene {
    tpm: EmulatedTpm,
    ak: AkBlob,
    identity: Identity,
}

fn scene() -> Scene {
    let mut tpm = EmulatedTpm::from_seed([3; 32]).with_certificate(vec![0x30, 0], Vec::new());
    let ak = tpm.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
    let (_, certificate_request) = agent_request("worker").unwrap();
    let identity = Identity {
        worker: Uuid::from_u128(7),
        name: "worker".to_owned(),
        os: OS.to_owned(),
        tpm: tpm.properties().unwrap(),
        endorsement: tpm.endorsement(EkKind::EccP256).unwrap(),
        others: Vec::new(),
        ak_public: ak.public.clone(),
        ak_name: ak.public_area().unwrap().name(),
        certificate_request,
    };
    Scene { tpm, ak, identity }
}

fn begin() -> Registration {
    let terms = Terms {
        bank: HashAlg::Sha256,
        boot_by_events: false,
        verifier_key: "sha256:verifier".to_owned(),
        keys: KeyTerms::default(),
    };
    Registration::begin("worker", "127.0.0.1:1", terms, NOW)
}

fn tell(registration: &mut Registration, event: Event) -> Action {
    registration.handle(event, NOW, &mut UnwrapErr(SysRng))
}

/// A registration that has challenged the worker, and its challenge.
fn challenged(identity: &Identity) -> Option<(Registration, Challenge)> {
    let mut registration = begin();
    tell(
        &mut registration,
        Event::Identity(Box::new(identity.clone())),
    );
    match tell(&mut registration, Event::Endorsement(Ok(()))) {
        Action::SendChallenge(challenge) => Some((registration, *challenge)),
        _ => None,
    }
}

/// Whether the genuine worker can finish a registration that began with this identity.
fn finishes(scene: &mut Scene, identity: &Identity) -> bool {
    let Some((mut registration, challenge)) = challenged(identity) else {
        return false;
    };
    let mut enrolment = Enrolment::new(None);
    let proof = enrolment.challenge(&mut scene.tpm, &scene.ak, &scene.identity, &challenge, NOW);
    let Ok(proof) = proof else {
        return false;
    };
    let action = tell(&mut registration, Event::Proof(Box::new(proof)));
    matches!(action, Action::CheckBoot { .. })
}

#[test]
fn an_identity() {
    let mut scene = scene();
    let original = json(&scene.identity);
    never_taken(&original, from_json::<Identity>, |identity| {
        finishes(&mut scene, &identity)
    });
}

/// A changed challenge is answered by nobody, or with an answer that the challenger does not take.
#[test]
fn a_challenge() {
    let mut scene = scene();
    let (_, challenge) = challenged(&scene.identity).unwrap();
    // The challenger's state is used up by an answer, so that each gets a challenger of its own; the
    // worker's answer must name the session, the nonce and the secret of the genuine challenge.
    let mut enrolment = Enrolment::new(None);
    let mut answer = |challenge: &Challenge| {
        enrolment
            .challenge(&mut scene.tpm, &scene.ak, &scene.identity, challenge, NOW)
            .ok()
    };
    let genuine = answer(&challenge).unwrap();
    let key = scene.ak.public_area().unwrap();
    let transcript = locus_attestation::protocol::message::Transcript::of(
        &scene.identity,
        challenge.session,
        &challenge.nonce,
    );
    let taken = |proof: &Proof| {
        proof.session == genuine.session
            && proof.mac == genuine.mac
            && locus_attestation::tpm::verify_quote(
                &key,
                &proof.quote,
                &transcript.quote_nonce(),
                &challenge.selection,
            )
            .is_ok()
    };
    never_taken(&json(&challenge), from_json::<Challenge>, |changed| {
        answer(&changed).is_some_and(|proof| taken(&proof))
    });
}

#[test]
fn a_proof() {
    let mut scene = scene();
    // A challenger takes one answer; all of them wait for the answer to the same challenge.
    let make = |scene: &mut Scene| {
        let (registration, challenge) = challenged(&scene.identity).unwrap();
        let mut enrolment = Enrolment::new(None);
        let (tpm, ak) = (&mut scene.tpm, &scene.ak);
        let proof = enrolment
            .challenge(tpm, ak, &scene.identity, &challenge, NOW)
            .unwrap();
        (registration, proof)
    };
    let taken = |mut registration: Registration, proof: Proof| {
        let action = tell(&mut registration, Event::Proof(Box::new(proof)));
        matches!(action, Action::CheckBoot { .. })
    };
    let mut understood = 0;
    let (mut waiting, mut genuine) = make(&mut scene);
    for number in 0..MUTATIONS {
        let bytes = mutate(&json(&genuine), number);
        let Some(proof) = from_json::<Proof>(&bytes).filter(|proof| *proof != genuine) else {
            continue;
        };
        understood += 1;
        assert!(!taken(waiting, proof), "mutation {number} was taken");
        (waiting, genuine) = make(&mut scene);
    }
    assert!(understood > 0, "no mutation came past the parser");
    assert!(taken(waiting, genuine));
}

#[test]
fn an_acknowledgement() {
    let mut scene = scene();
    let (mut registration, challenge) = challenged(&scene.identity).unwrap();
    let mut enrolment = Enrolment::new(None);
    let proof = enrolment
        .challenge(&mut scene.tpm, &scene.ak, &scene.identity, &challenge, NOW)
        .unwrap();
    tell(&mut registration, Event::Proof(Box::new(proof)));
    tell(&mut registration, Event::Boot(Ok(())));
    let record = WorkerRecord {
        id: scene.identity.worker,
        name: "worker".to_owned(),
        os: scene.identity.os.clone(),
        address: "127.0.0.1:1".to_owned(),
        ak_public: scene.identity.ak_public.clone(),
        ek_public: scene.identity.endorsement.public.clone(),
        ek_certificate: Vec::new(),
        ek_others: Vec::new(),
        ek_listed: false,
        tls_key: String::new(),
    };
    let proposed = Event::Proposed(Ok(Box::new(("certificate".to_owned(), record))));
    let Action::SendAcknowledgement(genuine) = tell(&mut registration, proposed) else {
        panic!("no acknowledgement")
    };
    never_taken(&json(&genuine), from_json::<Acknowledgement>, |changed| {
        let taken = enrolment.acknowledge(&changed, NOW).is_ok();
        assert!(
            taken || enrolment.registered().is_none(),
            "learned something"
        );
        taken
    });
}

/// A worker with a short log, its request and its evidence.
struct Attested {
    worker: Worker,
    request: EvidenceRequest,
    evidence: Vec<u8>,
    list: Whitelist,
}

fn attested() -> Attested {
    let mut tpm = EmulatedTpm::from_seed([5; 32]);
    let ak = tpm.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
    let worker = Worker {
        id: Uuid::from_u128(9),
        name: "worker".to_owned(),
        os: OS.to_owned(),
        ak: ak.public_area().unwrap(),
        software_tpm: true,
    };
    let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
    let boot = BootAggregate::over(HashAlg::Sha256, &zeros)
        .unwrap()
        .current;
    let shim = HashAlg::Sha256.hash(&[b"shim"]);
    let mut kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
    for (group, digest, path) in [
        ("/", boot, "boot_aggregate"),
        ("/system.slice/containerd.service", shim, SHIM),
        ("/system.slice/ssh.service", shim, "/usr/sbin/sshd"),
    ] {
        let extended = kernel.cgpath("swapper/0", group, digest, path).unwrap();
        tpm.extend(10, &extended).unwrap();
    }
    let nonce = Nonce::from_bytes([1; 32]);
    let request = Node::default().request(worker.id, nonce, None, &WorkerPolicy::default());
    let claims = request.answer(0, HashAlg::Sha1, 0).to_bytes();
    let bound = binding(&request.nonce, &claims);
    let quoted = quote(&mut tpm, &ak, bound.as_bytes(), &request.selection).unwrap();
    let pcrs = request.selection.registers().map(|(bank, pcr)| PcrValue {
        index: u32::from(pcr),
        value: quoted.pcrs.get(bank, pcr).unwrap(),
    });
    let part = QuotePart {
        attest: quoted.attest.clone(),
        signature: quoted.signature.clone(),
        pcrs: pcrs.collect(),
    };
    let evidence = Evidence::encode(&claims, &part, Some(kernel.log()));
    let mut values = ReferenceValues::default();
    values.os.insert(
        OS.to_owned(),
        OsReference {
            boot_aggregates: [boot].into(),
        },
    );
    let runtime = RuntimeReference {
        files: [(SHIM.into(), [shim].into())].into(),
    };
    values.runtimes.insert("containerd".to_owned(), runtime);
    let host = HostReference {
        files: [("/usr/sbin/sshd".into(), [shim].into())].into(),
    };
    values.hosts.insert("debian".to_owned(), host);
    let host = HostReference {
        files: [("/usr/sbin/sshd".into(), [shim].into())].into(),
    };
    values.hosts.insert("debian".to_owned(), host);
    Attested {
        worker,
        request,
        evidence,
        list: Whitelist::new(&values),
    }
}

fn appraised(case: &Attested, request: &EvidenceRequest, evidence: &[u8]) -> Option<u64> {
    let node = Node::default();
    // The operator names the template. Without that, a first log may still mix names of the table: not refused yet.
    let policy = WorkerPolicy {
        templates: Some(vec!["ima-cgpath".to_owned()]),
        ..WorkerPolicy::default()
    };
    appraise_worker(&case.worker, &node, request, evidence, &case.list, &policy)
        .ok()
        .map(|done| done.verified)
}

/// Evidence has one form: a change of any byte is a change of what it says.
#[test]
fn evidence() {
    let case = attested();
    never_taken(
        &case.evidence,
        |bytes| Some(bytes.to_vec()),
        |bytes| appraised(&case, &case.request, &bytes).is_some(),
    );
}

/// What of an entry no hash covers: the name of its template and its PCR. No other is taken for them, whichever entry
/// has it.
#[test]
fn names_and_registers_of_entries() {
    let case = attested();
    let names = TEMPLATES.iter().map(|(name, _)| (*name).to_owned());
    let formats = TEMPLATES.iter().map(|(_, format)| (*format).to_owned());
    let orders = [
        "cg-path|dep|d-ng|n-ng",
        "dep|n-ng|d-ng|cg-path",
        "n-ng|buf|d-ng|cg-path",
        "buf|buf|d-ng|n-ng",
    ];
    let others = [
        "",
        "ima-cgpath ",
        "ima-cgpath\0",
        "ima-CGPATH",
        "ima-cgpat",
        "ima-cgpathh",
    ];
    let made_up = orders.iter().chain(&others).map(|name| (*name).to_owned());
    let log = Evidence::decode(&case.evidence).unwrap().log.to_vec();
    let taken = |log: &[u8]| {
        let evidence = Evidence::decode(&case.evidence).unwrap();
        let changed = Evidence::encode(evidence.claims_bytes, &evidence.quote, Some(log));
        appraised(&case, &case.request, &changed).is_some()
    };
    assert!(taken(&relabelled(&log, 0, None, None)));
    for name in names.chain(formats).chain(made_up) {
        for entry in 0..3 {
            let changed = relabelled(&log, entry, Some(&name), None);
            assert!(
                changed == log || !taken(&changed),
                "entry {entry} as `{name}`"
            );
        }
    }
    for pcr in (0..32).filter(|pcr| *pcr != 10).chain([266, u32::MAX]) {
        for entry in 0..3 {
            assert!(
                !taken(&relabelled(&log, entry, None, Some(pcr))),
                "entry {entry} in PCR {pcr}"
            );
        }
    }
}

/// A log in which one entry has another name of its template, or another PCR.
fn relabelled(log: &[u8], which: usize, name: Option<&str>, pcr: Option<u32>) -> Vec<u8> {
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let mut out = Vec::new();
    let mut rest = log;
    let mut entry = 0;
    while !rest.is_empty() {
        let name_end = 28 + number(&rest[24..]);
        let end = name_end + 4 + number(&rest[name_end..]);
        let chosen = entry == which;
        let old = number(rest);
        let pcr = pcr
            .filter(|_| chosen)
            .unwrap_or(u32::try_from(old).unwrap());
        out.extend_from_slice(&pcr.to_le_bytes());
        out.extend_from_slice(&rest[4..24]);
        let name = name
            .filter(|_| chosen)
            .map_or(&rest[28..name_end], str::as_bytes);
        out.extend_from_slice(&u32::try_from(name.len()).unwrap().to_le_bytes());
        out.extend_from_slice(name);
        out.extend_from_slice(&rest[name_end..end]);
        rest = &rest[end..];
        entry += 1;
    }
    out
}

/// Evidence that answers another request than the verifier's own.
#[test]
fn a_request_for_evidence() {
    let case = attested();
    let read = |bytes: &[u8]| {
        // Where the log starts is the worker's answer, and is checked against the verifier's cursor.
        let request: EvidenceRequest = from_json(bytes)?;
        Some(EvidenceRequest {
            first_entry: 0,
            ..request
        })
    };
    never_taken(&json(&case.request), read, |request| {
        appraised(&case, &request, &case.evidence).is_some()
    });
}

#[test]
fn an_attestation_result() {
    let key = TokenKey::generate().unwrap();
    let keys = TrustedKeys::new().with(key.public());
    let (worker, nonce) = (Uuid::from_u128(9), Nonce::from_bytes([1; 32]));
    let vector = TrustVector {
        executables: 2,
        ..TrustVector::default()
    };
    let token = AttestationResult::new(worker, nonce, NOW, 600)
        .with(
            WORKER_SUBMODULE,
            Conclusion::new(vector, "test", Vec::new()),
        )
        .sign(&key)
        .unwrap();
    let expected = EarExpectations {
        audience: None,
        worker,
        nonce: Some(nonce),
    };
    let read = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    never_taken(token.as_bytes(), read, |token| {
        AttestationResult::verify(&token, &keys, expected, NOW).is_ok()
    });
}

#[test]
fn signed_reference_values() {
    let key = TokenKey::generate().unwrap();
    let keys = TrustedKeys::new().with(key.public());
    let token = export(&ReferenceValues::default(), 7, &key, NOW).unwrap();
    // Blanks around the token are no part of it.
    let read = |bytes: &[u8]| Some(String::from_utf8(bytes.to_vec()).ok()?.trim().to_owned());
    never_taken(token.as_bytes(), read, |token| {
        import(&token, &keys, Some(6)).is_ok()
    });
}

/// A tenant's request: method, target, body and the three headers.
#[test]
fn a_signed_request() {
    let key = TokenKey::generate().unwrap();
    let (method, target, body) = ("POST", "/v1/tenants/a/pods/b/attest", "{\"x\":1}");
    let request = Request {
        method,
        target,
        body: body.as_bytes(),
    };
    let nonce = Nonce::from_bytes([4; 32]);
    let headers = sign(&key, request, &nonce, NOW, 60);
    let whole = [
        method,
        target,
        body,
        &headers.content_digest,
        &headers.signature_input,
        &headers.signature,
    ]
    .join("\n");
    let read = |bytes: &[u8]| {
        let text = String::from_utf8(bytes.to_vec()).ok()?;
        let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        (lines.len() == 6).then_some(lines)
    };
    never_taken(whole.as_bytes(), read, |lines| {
        let request = Request {
            method: &lines[0],
            target: &lines[1],
            body: lines[2].as_bytes(),
        };
        let headers = SignatureHeaders {
            content_digest: lines[3].clone(),
            signature_input: lines[4].clone(),
            signature: lines[5].clone(),
        };
        let mut seen = SeenNonces::new(10, NOW.plus_secs(-100));
        verify(&key.public(), request, &headers, &mut seen, NOW).is_ok()
    });
}
