//! The protocols, stopped between any two steps and taken up in another process.
//!
//! The databases, the log and the agent are the real ones; every step opens what it needs anew, as another process
//! would, and knows nothing but the stored state. A step whose outcome was lost is done again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

#[allow(dead_code, reason = "the tests of the gate use more of it")]
#[path = "gate/world/emulated.rs"]
mod emulated;

#[path = "drive/ports.rs"]
mod ports;

use locus_attestation::protocol::drive::{
    AttestationStep, Attesting, Registering, RegistrationStep, Removing,
};
use locus_attestation::protocol::registration::Terms;
use locus_attestation::protocol::{Attestation, AttestationError, Registration, Removal};
use locus_attestation::verifier::Trust;
use ports::{Place, Process};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What another process reads of a state.
fn stored<T: Serialize + DeserializeOwned>(state: &T) -> T {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}

fn registering(process: &Process) -> Registering<'_, Process, Process, Process, Process, Process> {
    Registering {
        agents: process,
        registrar: process,
        verifier: process,
        values: process,
        issuer: process,
        clock: &*process.clock,
    }
}

fn attesting(process: &Process) -> Attesting<'_, Process, Process, Process, Process> {
    Attesting {
        store: process,
        agents: process,
        values: process,
        registrar: process,
        clock: &*process.clock,
    }
}

fn begun(place: &Place) -> Registration {
    let terms = Terms {
        bank: locus_attestation::digest::HashAlg::Sha256,
        boot_by_events: false,
        templates: locus_attestation::ima::Templates::default(),
        verifier_key: ports::VERIFIER_KEY.to_owned(),
        keys: locus_attestation::protocol::registration::KeyTerms::default(),
    };
    Registration::begin("worker", "nowhere:1", terms, place.now())
}

/// Registers the worker, each step in a process of its own; the outcome of one step is lost. Gives how many steps
/// it took.
async fn register(place: &Place, lost: Option<usize>) -> usize {
    let mut registration = begun(place);
    for number in 0.. {
        assert!(number < 20, "it does not end");
        if lost == Some(number) {
            let mut lost = stored(&registration);
            registering(&place.process()).step(&mut lost).await;
        }
        let process = place.process();
        let step = registering(&process).step(&mut registration).await;
        registration = stored(&registration);
        match step {
            RegistrationStep::More => {}
            RegistrationStep::Over(Ok(_)) => return number + 1,
            other => panic!("lost {lost:?}, step {number}: {other:?}"),
        }
    }
    0
}

#[tokio::test]
async fn a_registration_goes_on_in_another_process_after_every_step() {
    let place = Place::new();
    let steps = register(&place, None).await;
    assert_eq!(steps, 9);
    for lost in 0..steps {
        register(&place, Some(lost)).await;
        let process = place.process();
        assert!(
            process
                .registrar
                .worker_by_name("worker")
                .unwrap()
                .is_some()
        );
        let outstanding = process.registrar.outstanding().unwrap();
        assert_eq!(outstanding, Default::default(), "lost {lost}");
        let status = process.store().worker("worker").unwrap();
        assert_eq!(status.trust, Trust::Unknown, "lost {lost}");
    }
}

/// Whoever drove it never comes back: after each step, the worker is registered at both or at neither once
/// somebody has completed what is noted.
#[tokio::test]
async fn a_registration_that_is_left_alone_is_whole_or_nothing() {
    for left in 0..9 {
        let place = Place::new();
        let mut registration = begun(&place);
        for _ in 0..left {
            registering(&place.process()).step(&mut registration).await;
        }
        let process = place.process();
        for admission in process.registrar.outstanding().unwrap().registrations {
            let completed =
                locus_attestation::protocol::drive::complete(&process, &process, &admission);
            completed.await.unwrap();
        }
        let registrar = process
            .registrar
            .worker_by_name("worker")
            .unwrap()
            .is_some();
        let verifier = process.store().worker("worker").is_ok();
        assert_eq!(registrar, verifier, "left after {left} steps");
        // The acknowledgement was taken and noted in the first seven steps.
        assert_eq!(registrar, left >= 7, "left after {left} steps");
        register(&place, None).await;
    }
}

#[tokio::test]
async fn an_attestation_goes_on_in_another_process_after_every_step() {
    let mut place = Place::new();
    register(&place, None).await;
    let pod = place.pod();
    place.run(&pod, "/usr/bin/redis");
    for lost in [None, Some(0)] {
        let mut attestation: Attestation = attesting(&place.process())
            .begin("worker", Some(pod.uid))
            .await
            .unwrap();
        for number in 0..2 {
            if lost == Some(number) {
                let mut lost = stored(&attestation);
                attesting(&place.process()).step(&mut lost).await;
            }
            let process = place.process();
            let step = attesting(&process).step(&mut attestation).await;
            attestation = stored(&attestation);
            match (number, step) {
                (0, AttestationStep::More) => {}
                (1, AttestationStep::Over(Ok(verdicts))) => {
                    assert_eq!(verdicts.get(&pod.uid), Some(&Ok(())));
                }
                (number, other) => panic!("{number}: {other:?}"),
            }
        }
        let process = place.process();
        assert_eq!(process.store().pod(pod.uid).unwrap().trust, Trust::Trusted);
        assert!(attestation.is_over());
    }
}

/// The conclusion was committed and nobody heard of it: it stands, and is not drawn twice.
#[tokio::test]
async fn a_conclusion_that_nobody_heard_of_stands() {
    let mut place = Place::new();
    register(&place, None).await;
    let pod = place.pod();
    place.run(&pod, "/usr/bin/redis");
    let mut attestation = attesting(&place.process())
        .begin("worker", None)
        .await
        .unwrap();
    attesting(&place.process()).step(&mut attestation).await;
    let mut lost = stored(&attestation);
    attesting(&place.process()).step(&mut lost).await;
    let process = place.process();
    assert_eq!(process.store().pod(pod.uid).unwrap().trust, Trust::Trusted);
    let step = attesting(&process).step(&mut attestation).await;
    let AttestationStep::Over(Err(AttestationError::Changed(_))) = step else {
        panic!("{step:?}")
    };
    assert_eq!(process.store().pod(pod.uid).unwrap().trust, Trust::Trusted);
}

/// Evidence that waited for too long is not judged, and trust counts from when the evidence was asked for.
#[tokio::test]
async fn a_stop_gives_no_time() {
    let mut place = Place::new();
    register(&place, None).await;
    let pod = place.pod();
    place.run(&pod, "/usr/bin/redis");
    let begun = place.now();
    let mut attestation = attesting(&place.process())
        .begin("worker", None)
        .await
        .unwrap();
    attesting(&place.process()).step(&mut attestation).await;
    let mut late = stored(&attestation);
    place.clock.advance_millis(60_000);
    attesting(&place.process()).step(&mut attestation).await;
    assert_eq!(place.process().store().pod(pod.uid).unwrap().checked, begun);
    place.clock.advance_millis(60_001);
    let step = attesting(&place.process()).step(&mut late).await;
    let AttestationStep::Over(Err(AttestationError::Stale)) = step else {
        panic!("{step:?}")
    };
}

#[tokio::test]
async fn a_removal_goes_on_in_another_process_after_every_step() {
    let place = Place::new();
    for lost in 0..3 {
        register(&place, None).await;
        let mut removal = Removal::begin("worker");
        for number in 0.. {
            if lost == number {
                let mut lost = stored(&removal);
                let process = place.process();
                let removing = Removing {
                    registrar: &process,
                    verifier: &process,
                };
                removing.step(&mut lost).await.unwrap();
            }
            let process = place.process();
            let removing = Removing {
                registrar: &process,
                verifier: &process,
            };
            if !removing.step(&mut removal).await.unwrap() {
                break;
            }
            removal = stored(&removal);
        }
        let process = place.process();
        assert!(
            process
                .registrar
                .worker_by_name("worker")
                .unwrap()
                .is_none()
        );
        assert!(process.store().worker("worker").is_err());
        assert_eq!(process.registrar.outstanding().unwrap(), Default::default());
    }
}
