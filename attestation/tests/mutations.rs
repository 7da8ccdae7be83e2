//! Ten thousand random changes of every message: nothing panics, and nothing but the message itself is
//! taken for it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "mutate/entries.rs"]
mod entries;
mod mutate;
#[path = "mutate/worker.rs"]
mod worker;

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use locus_attestation::clock::Timestamp;
use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::jws::{TokenKey, TrustedKeys};
use locus_attestation::evidence::request::{Request, SignatureHeaders, sign, verify};
use locus_attestation::evidence::{
    Appraisal as Conclusion, AttestationResult, EarExpectations, Nonce, SeenNonces, TrustVector,
    WORKER_SUBMODULE,
};
use locus_attestation::ima::Templates;
use locus_attestation::net::pki::agent_request;
use locus_attestation::protocol::enrolment::Enrolment;
use locus_attestation::protocol::registration::{Action, Event, KeyTerms, Terms};
use locus_attestation::protocol::{
    Acknowledgement, Challenge, EvidenceRequest, Identity, Proof, Registration, WorkerRecord,
};
use locus_attestation::reference::{ReferenceValues, export, import};
use locus_attestation::tpm::emulated::EmulatedTpm;
use locus_attestation::tpm::{AkBlob, AkKind, EkKind, Tpm};
use mutate::mutate;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;
use worker::{OS, appraised, attested};

const MUTATIONS: u64 = 10_000;
const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

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
        templates: vec!["ima-cgpath".to_owned()],
    };
    Scene { tpm, ak, identity }
}

fn begin() -> Registration {
    let terms = Terms {
        bank: HashAlg::Sha256,
        boot_by_events: false,
        templates: Templates::default(),
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
        templates: None,
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
