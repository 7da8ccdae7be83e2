//! Workers that were off for so long that their certificates ran out.

use hyper::{Method, StatusCode};
use locus_attestation::agent::state::StateFolder;
use locus_attestation::clock::{Clock as _, SystemClock};
use locus_attestation::net::Authority;
use locus_attestation::net::pki::request_with;
use locus_attestation::verifier::Trust;
use serde_json::{Value, json};

use crate::measured::WORKER;
use crate::world::{WorkerBox, World, content};

const ROTATE: &str = "/v1/registrations/worker/rotate";

/// The worker was off: the certificate that it was registered with ran out yesterday.
async fn off_for_a_week(world: &World, worker: &mut WorkerBox) {
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    let keys = StateFolder::new(&worker.state).keys().unwrap().unwrap();
    let request = request_with("worker", &keys.tls_key).unwrap();
    let authority = Authority::open(&world.folder.path().join("gate")).unwrap();
    let past = SystemClock.now().plus_secs(-8 * 86_400);
    let key = keys.ak.public_area().unwrap().name();
    let old = authority
        .issue_agent(&request, "worker", keys.worker, &key, past)
        .unwrap();
    let path = worker.state.join("registered.json");
    let mut known: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    known["certificate"] = json!(old);
    std::fs::write(&path, known.to_string()).unwrap();
    worker.start_at(&address).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_off_for_a_week_comes_back() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    off_for_a_week(&world, &mut worker).await;
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(answer["effect"], "inconclusive", "{status} {answer}");
    let (status, answer) = world.operate(Method::POST, ROTATE, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    assert_eq!(
        world.trust("worker"),
        Trust::Unknown,
        "it proves itself anew"
    );
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    // The new certificate is rotated as any other.
    let (status, answer) = world.operate(Method::POST, ROTATE, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Trusted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_off_for_a_week_comes_back_by_itself() {
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let generation = |world: &World| {
        let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
        verifier.worker_status("worker").unwrap().generation
    };
    let before = generation(&world);
    off_for_a_week(&world, &mut worker).await;
    world.gate.take().unwrap().stop().await;
    world
        .start_gate_as(|config| {
            config.rotation = std::time::Duration::from_millis(200);
            config.interval = std::time::Duration::from_millis(200);
        })
        .await;
    while generation(&world) == before || world.trust("worker") != Trust::Trusted {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_was_off_for_a_week_can_be_registered() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    off_for_a_week(&world, &mut worker).await;
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn to_be_washed_clean_by_a_certificate_that_ran_out() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    worker.measure(
        "/bin/sh",
        "/system.slice",
        content("rootkit"),
        "/tmp/rootkit",
    );
    world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(world.trust("worker"), Trust::Untrusted);
    off_for_a_week(&world, &mut worker).await;
    let (status, answer) = world.operate(Method::POST, ROTATE, Value::Null).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Untrusted);
}

#[tokio::test(flavor = "multi_thread")]
async fn to_be_readmitted_in_the_place_of_another() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    let registered = world.registrar().worker_by_name("worker").unwrap();
    // Another machine, with a certificate for the same name from the same installation.
    std::fs::remove_dir_all(worker.state.parent().unwrap()).unwrap();
    let mut other = world
        .worker_with("worker", world.factory.make("other"))
        .await;
    other.agent.take().unwrap().stop().await;
    other.start_at(&address).await;
    let (status, answer) = world.operate(Method::POST, ROTATE, Value::Null).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{answer}");
    let now = world.registrar().worker_by_name("worker").unwrap();
    assert_eq!(now, registered, "nothing changed");
}
