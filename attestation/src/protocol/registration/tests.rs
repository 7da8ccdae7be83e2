use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;

use super::*;
use crate::net::pki::agent_request;
use crate::protocol::Effect;
use crate::protocol::enrolment::{Enrolment, EnrolmentError, PENDING_MILLIS, Registered};
use crate::tpm::emulated::EmulatedTpm;
use crate::tpm::public::Attributes;
use crate::tpm::{AkBlob, AkKind, EkKind, Tpm};

/// A worker with an emulated TPM and the handler that registers it.
struct Scene {
    tpm: EmulatedTpm,
    ak: AkBlob,
    identity: Identity,
    enrolment: Enrolment,
    registration: Registration,
    now: Timestamp,
}

fn identity(tpm: &mut EmulatedTpm, ak: &AkBlob) -> Identity {
    let (_, certificate_request) = agent_request("worker").unwrap();
    Identity {
        worker: Uuid::from_u128(7),
        name: "worker".to_owned(),
        os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        tpm: tpm.properties().unwrap(),
        endorsement: tpm.endorsement(EkKind::EccP256).unwrap(),
        others: Vec::new(),
        ak_public: ak.public.clone(),
        ak_name: ak.public_area().unwrap().name(),
        certificate_request,
        templates: vec!["ima-cgpath".to_owned(), "ima-buf".to_owned()],
    }
}

fn terms() -> Terms {
    Terms {
        bank: HashAlg::Sha256,
        boot_by_events: false,
        templates: Templates::default(),
        verifier_key: "sha256:verifier".to_owned(),
        keys: KeyTerms::default(),
    }
}

fn scene() -> Scene {
    let mut tpm = EmulatedTpm::from_seed([3; 32]).with_certificate(vec![0x30, 0], Vec::new());
    let ak = tpm.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
    let identity = identity(&mut tpm, &ak);
    let now = Timestamp::from_secs(1000);
    let registration = Registration::begin("worker", "127.0.0.1:1", terms(), now);
    assert!(matches!(registration.due(), Action::AskIdentity));
    Scene {
        tpm,
        ak,
        identity,
        enrolment: Enrolment::new(None),
        registration,
        now,
    }
}

impl Scene {
    fn tell(&mut self, event: Event) -> Action {
        self.registration
            .handle(event, self.now, &mut UnwrapErr(SysRng))
    }

    fn identify(&mut self) -> Action {
        let identity = Box::new(self.identity.clone());
        self.tell(Event::Identity(identity))
    }

    fn challenged(&mut self) -> Challenge {
        assert!(matches!(self.identify(), Action::CheckEndorsement(_)));
        match self.tell(Event::Endorsement(Ok(()))) {
            Action::SendChallenge(challenge) => *challenge,
            other => panic!("{other:?}"),
        }
    }

    fn prove(&mut self, challenge: &Challenge) -> Result<Proof, EnrolmentError> {
        self.enrolment
            .challenge(&mut self.tpm, &self.ak, &self.identity, challenge, self.now)
    }

    fn acknowledged(&mut self) -> Acknowledgement {
        let challenge = self.challenged();
        let proof = self.prove(&challenge).unwrap();
        let action = self.tell(Event::Proof(Box::new(proof)));
        assert!(matches!(action, Action::CheckBoot { .. }), "{action:?}");
        let action = self.tell(Event::Boot(Ok(())));
        assert!(matches!(action, Action::Propose { .. }), "{action:?}");
        match self.tell(self.proposed()) {
            Action::SendAcknowledgement(acknowledgement) => *acknowledgement,
            other => panic!("{other:?}"),
        }
    }
}

impl Scene {
    fn proposed(&self) -> Event {
        let record = WorkerRecord {
            id: self.identity.worker,
            name: "worker".to_owned(),
            os: self.identity.os.clone(),
            address: "127.0.0.1:1".to_owned(),
            ak_public: self.identity.ak_public.clone(),
            ek_public: self.identity.endorsement.public.clone(),
            ek_certificate: Vec::new(),
            ek_others: Vec::new(),
            ek_listed: false,
            tls_key: String::new(),
            templates: None,
        };
        Event::Proposed(Ok(Box::new(("certificate".to_owned(), record))))
    }
}

fn refusal(action: Action) -> RegistrationError {
    match action {
        Action::Refuse { error, .. } => {
            assert_eq!(error.effect(), Effect::WorkerRefused);
            error
        }
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_worker_that_proves_itself_is_registered() {
    let mut scene = scene();
    let acknowledgement = scene.acknowledged();
    assert!(scene.registration.registered().is_none());
    let learned = scene
        .enrolment
        .acknowledge(&acknowledgement, scene.now)
        .unwrap();
    assert_eq!(learned.verifier_key, "sha256:verifier");
    assert!(matches!(scene.tell(Event::Acknowledged), Action::Accept(_)));
    assert!(matches!(
        scene.tell(Event::Accepted(Ok(()))),
        Action::Admit(_)
    ));
    // From here on nothing stops it, and no time limit does.
    scene.now = scene.now.plus_millis(10 * STEP_MILLIS);
    assert!(matches!(scene.tell(Event::Acknowledged), Action::Admit(_)));
    assert!(matches!(scene.tell(Event::Admitted), Action::Confirm(_)));
    assert!(matches!(
        scene.tell(Event::AgentFailed("gone".to_owned())),
        Action::Confirm(_)
    ));
    assert_eq!(scene.registration.registered(), None);
    assert!(matches!(scene.tell(Event::Confirmed(Ok(()))), Action::Done));
    let id = Some(scene.identity.worker);
    assert_eq!(scene.registration.registered(), id);
    assert!(matches!(scene.tell(Event::Acknowledged), Action::Done));
}

#[test]
fn keys_that_are_not_what_they_claim_are_refused() {
    let mut other_name = scene();
    other_name.identity.name = "another".to_owned();
    assert!(matches!(
        refusal(other_name.identify()),
        RegistrationError::WrongName { .. }
    ));

    let mut wrong_ak_name = scene();
    wrong_ak_name.identity.ak_name[5] ^= 1;
    assert_eq!(
        refusal(wrong_ak_name.identify()),
        RegistrationError::WrongAkName
    );

    let mut cut = scene();
    cut.identity.ak_public.pop();
    assert!(matches!(
        refusal(cut.identify()),
        RegistrationError::MalformedKey {
            key: "attestation key",
            ..
        }
    ));

    let mut unrestricted = scene();
    let mut public = unrestricted.ak.public_area().unwrap();
    public.attributes.0 &= !Attributes::RESTRICTED;
    unrestricted.identity.ak_public = public.to_bytes();
    unrestricted.identity.ak_name = public.name();
    assert!(matches!(
        refusal(unrestricted.identify()),
        RegistrationError::NotAttestationKey(_)
    ));

    let mut unendorsed = scene();
    unendorsed.identify();
    let action = unendorsed.tell(Event::Endorsement(Err("unknown manufacturer".to_owned())));
    assert_eq!(
        refusal(action),
        RegistrationError::Endorsement("unknown manufacturer".to_owned())
    );
}

/// A key outside the TPM, presented with the endorsement key of a real one.
#[test]
fn a_key_outside_the_tpm_cannot_answer() {
    let mut scene = scene();
    let mut other = EmulatedTpm::from_seed([4; 32]);
    let stolen = other.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
    scene.identity.ak_public = stolen.public.clone();
    scene.identity.ak_name = stolen.public_area().unwrap().name();
    let challenge = scene.challenged();
    assert_eq!(
        scene.prove(&challenge),
        Err(EnrolmentError::Tpm(crate::tpm::TpmError::Credential))
    );
    let quote = crate::tpm::device::quote(&mut other, &stolen, &[1; 32], &challenge.selection);
    let guess = Proof {
        session: challenge.session,
        mac: vec![0; 32],
        quote: quote.unwrap(),
    };
    let action = scene.tell(Event::Proof(Box::new(guess)));
    assert_eq!(refusal(action), RegistrationError::WrongProof);
}

#[test]
fn proofs_of_other_sessions_or_with_other_quotes_are_refused() {
    type Change = fn(&mut Proof);
    let changes: [(Change, &str); 4] = [
        (
            |proof| proof.session = Uuid::from_u128(1),
            "another registration",
        ),
        (|proof| proof.mac[0] ^= 1, "not in the same TPM"),
        (|proof| proof.quote.attest[40] ^= 1, "not signed by"),
        (
            |proof| {
                proof.quote.signature.pop();
            },
            "ends after",
        ),
    ];
    for (change, text) in changes {
        let mut scene = scene();
        let challenge = scene.challenged();
        let mut proof = scene.prove(&challenge).unwrap();
        change(&mut proof);
        let error = refusal(scene.tell(Event::Proof(Box::new(proof)))).to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn an_unknown_boot_is_refused() {
    let mut scene = scene();
    let challenge = scene.challenged();
    let proof = scene.prove(&challenge).unwrap();
    scene.tell(Event::Proof(Box::new(proof)));
    let action = scene.tell(Event::Boot(Err("no such aggregate".to_owned())));
    assert!(matches!(refusal(action), RegistrationError::Boot { .. }));
}

#[test]
fn an_agent_that_fails_at_any_step_is_refused_and_what_was_stored_is_removed() {
    let failed = || Event::AgentFailed("killed".to_owned());
    let mut at_identity = scene();
    refusal(at_identity.tell(failed()));
    let mut at_proof = scene();
    at_proof.challenged();
    refusal(at_proof.tell(failed()));
    let mut at_receipt = scene();
    at_receipt.acknowledged();
    let action = at_receipt.tell(failed());
    assert!(
        matches!(
            action,
            Action::Refuse {
                proposed: Some(_),
                ..
            }
        ),
        "{action:?}"
    );
    assert!(at_receipt.registration.registered().is_none());
}

#[test]
fn late_answers_and_clocks_that_go_back_are_refused() {
    for jump in [STEP_MILLIS + 1, -1] {
        let mut scene = scene();
        scene.now = scene.now.plus_millis(jump);
        let action = scene.identify();
        assert!(
            matches!(refusal(action), RegistrationError::TimedOut { .. }),
            "{jump}"
        );
    }
    let mut waiting = scene();
    assert!(matches!(waiting.tell(Event::Tick), Action::Wait));
    waiting.now = waiting.now.plus_millis(STEP_MILLIS + 1);
    assert!(matches!(
        refusal(waiting.tell(Event::Tick)),
        RegistrationError::TimedOut { .. }
    ));
}

#[test]
fn steps_cannot_be_skipped_and_a_refusal_is_final() {
    let skipping = [
        Event::Endorsement(Ok(())),
        Event::Boot(Ok(())),
        Event::Proposed(Err(String::new())),
        Event::Acknowledged,
        Event::Accepted(Ok(())),
        Event::Admitted,
        Event::Confirmed(Ok(())),
    ];
    for event in skipping {
        let mut scene = scene();
        assert!(matches!(
            refusal(scene.tell(event)),
            RegistrationError::OutOfTurn { .. }
        ));
        refusal(scene.identify());
        assert!(scene.registration.registered().is_none());
    }
}

#[test]
fn only_who_challenged_can_acknowledge_and_the_verifier_stays() {
    let mut scene = scene();
    let good = scene.acknowledged();
    let forged = Acknowledgement {
        verifier_key: "sha256:attacker".to_owned(),
        ..good.clone()
    };
    assert_eq!(
        scene.enrolment.acknowledge(&forged, scene.now),
        Err(EnrolmentError::NotFromChallenger)
    );
    let late = scene.now.plus_millis(PENDING_MILLIS + 1);
    assert_eq!(
        scene.enrolment.acknowledge(&good, late),
        Err(EnrolmentError::NotPending)
    );
    scene.enrolment.acknowledge(&good, scene.now).unwrap();
    // Whoever did not hear the answer sends it again; another one for the same challenge is refused.
    let again = scene.enrolment.acknowledge(&good, late).unwrap();
    assert_eq!(again.verifier_key, good.verifier_key);
    let other = Acknowledgement {
        certificate: "another".to_owned(),
        ..good
    };
    assert_eq!(
        scene.enrolment.acknowledge(&other, scene.now),
        Err(EnrolmentError::NotPending)
    );

    let mut known = self::scene();
    known.enrolment = Enrolment::new(Some(Registered {
        verifier_key: "sha256:first".to_owned(),
        certificate: String::new(),
        session: None,
    }));
    let second = known.acknowledged();
    assert_eq!(
        known.enrolment.acknowledge(&second, known.now),
        Err(EnrolmentError::OtherVerifier)
    );
}

#[test]
fn the_agent_quotes_only_the_boot_registers() {
    let mut scene = scene();
    let mut challenge = scene.challenged();
    challenge.selection = PcrSelection::of(HashAlg::Sha256, [16, 23]);
    assert_eq!(scene.prove(&challenge), Err(EnrolmentError::Selection));
    challenge.selection = PcrSelection::of(HashAlg::Sha1, BOOT_PCRS);
    assert_eq!(scene.prove(&challenge), Err(EnrolmentError::Selection));
    challenge.selection = PcrSelection::of(HashAlg::Sha256, BOOT_PCRS);
    challenge.nonce.clear();
    assert_eq!(scene.prove(&challenge), Err(EnrolmentError::Nonce(0)));
}
