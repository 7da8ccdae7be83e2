//! Faults: agents and gates that are killed, clocks that jump, TPMs that are busy.
//! No trust is gained, no state is lost, and afterwards everything works again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{WorkerBox, World, content};
use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::StatusCode as Status;
use axum::response::{IntoResponse as _, Response};
use hyper::{Method, StatusCode};
use locus_attestation::agent::server::EVIDENCE;
use locus_attestation::net::tls::{Credentials, SharedServerConfig};
use locus_attestation::net::{Client, Role, serve};
use locus_attestation::protocol::attestation::EVIDENCE_MILLIS;
use locus_attestation::verifier::Trust;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// What happens to the n-th message that passes.
type Fate = Arc<dyn Fn(usize, Vec<u8>) -> Option<Vec<u8>> + Send + Sync>;

/// Stands between gate and agent with the agent's own certificate, and lets messages through, changed or
/// not, until the agent "dies".
async fn between(world: &World, worker: &WorkerBox, fate: Fate) -> (String, JoinHandle<()>) {
    let state = locus_attestation::agent::state::StateFolder::new(&worker.state);
    let installed = Credentials::read(&worker.credentials, "agent").unwrap();
    let credentials = match state.registered().unwrap() {
        Some(registered) => Credentials {
            certificate: registered.certificate,
            key: state.keys().unwrap().unwrap().tls_key,
            ..installed
        },
        None => installed,
    };
    let tls = SharedServerConfig::new(credentials.server().unwrap());
    let gate = Credentials::read(&world.folder.path().join("gate"), "gate").unwrap();
    let behind = Client::new(gate.client().unwrap(), &worker.address(), &worker.name);
    let count = Arc::new(AtomicUsize::new(0));
    let pass = move |request: Request| {
        let (behind, fate, count) = (behind.clone(), fate.clone(), count.clone());
        async move {
            let method = request.method().clone();
            let path = request.uri().path().to_owned();
            let body = axum::body::to_bytes(request.into_body(), usize::MAX)
                .await
                .unwrap();
            let headers = [("content-type", "application/json")];
            let answered = behind
                .exchange(method, &path, &headers, body.to_vec())
                .await;
            let number = count.fetch_add(1, Ordering::SeqCst);
            match answered {
                Ok((status, answer)) => match fate(number, answer.to_vec()) {
                    Some(answer) => (status, Bytes::from(answer)).into_response(),
                    None => Response::builder()
                        .status(Status::SERVICE_UNAVAILABLE)
                        .body(axum::body::Body::empty())
                        .unwrap(),
                },
                Err(_) => Status::BAD_GATEWAY.into_response(),
            }
        }
    };
    let router = Router::new().fallback(pass);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let task = tokio::spawn(async move {
        serve(listener, tls, router, std::future::pending())
            .await
            .unwrap();
    });
    (address, task)
}

async fn register_at(world: &World, worker: &WorkerBox, address: &str) -> (StatusCode, Value) {
    let joined = serde_json::json!({ "name": worker.name, "address": address });
    world
        .operate(Method::POST, "/v1/registrations", joined)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_killed_at_any_step_of_its_registration_is_refused_and_can_try_again() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    for dies_at in 0..3 {
        let fate: Fate = Arc::new(move |number, answer| (number < dies_at).then_some(answer));
        let (address, task) = between(&world, &worker, fate).await;
        let (status, answer) = register_at(&world, &worker, &address).await;
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "step {dies_at}: {answer}"
        );
        assert_eq!(answer["effect"], "worker-refused");
        let path = "/v1/workers/worker";
        let (status, _) = world.operate(Method::GET, path, Value::Null).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "step {dies_at}");
        task.abort();
    }
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_and_cut_registration_messages_are_refused() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    for step in 0..2 {
        for change in 0..12_usize {
            let fate: Fate = Arc::new(move |number, mut answer: Vec<u8>| {
                if number == step {
                    if change % 3 == 0 {
                        answer.truncate(answer.len() * change / 12);
                    } else {
                        let at = answer.len() * change / 12;
                        answer[at] = b'~';
                    }
                }
                Some(answer)
            });
            let (address, task) = between(&world, &worker, fate).await;
            let (status, answer) = register_at(&world, &worker, &address).await;
            assert_eq!(
                status,
                StatusCode::UNPROCESSABLE_ENTITY,
                "{step} {change}: {answer}"
            );
            task.abort();
        }
    }
    assert_eq!(world.register(&worker).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_killed_during_attestation_gains_and_loses_nothing() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let address = worker.address();
    worker.kill().await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
    assert_eq!(world.status(&pod).trust, Trust::Unknown);
    worker.start_at(&address).await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    worker.kill().await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::BAD_GATEWAY);
    assert_eq!(
        world.status(&pod).trust,
        Trust::Trusted,
        "not refuted; its token runs out"
    );
    worker.start_at(&address).await;
    worker.run(&pod, content("libc"), "/lib/libc.so");
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_is_killed_goes_on_where_it_stood() {
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
    let id = verifier.store().worker("worker").unwrap().id;
    let before = verifier.store().node(id).unwrap();
    drop(verifier);
    // In the middle of a registration and an attestation.
    let running = world.attest(&pod);
    tokio::select! {
        _ = running => {}
        () = tokio::time::sleep(std::time::Duration::from_millis(3)) => {}
    }
    world.gate.take().unwrap().kill();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    world.start_gate().await;
    let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
    let after = verifier.store().node(id).unwrap();
    assert!(after.cursor.as_ref().unwrap().next_entry >= before.cursor.unwrap().next_entry);
    assert_eq!(world.status(&pod).trust, Trust::Trusted);
    worker.run(&pod, content("libc"), "/lib/libc.so");
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_gives_no_trust() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    for jump in [EVIDENCE_MILLIS + 1, -5000] {
        let clock = world.clock.clone();
        let attested = world.attest(&pod);
        let jumping = async {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            clock.advance_millis(jump);
        };
        let ((status, answer), ()) = tokio::join!(attested, jumping);
        // Either the jump came in time to void the answer, or everything was done before.
        if status != StatusCode::OK {
            assert_eq!(answer["effect"], "inconclusive", "{answer}");
        }
        world.later(-jump);
    }
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_asked_too_often_refuses_and_the_verifier_waits() {
    let world = World::new().await;
    let mut worker = world.worker("worker").await;
    worker.agent.take().unwrap().stop().await;
    worker.rate = locus_attestation::agent::rate::Rate {
        burst: 8,
        per_second: 1,
    };
    worker.start().await;
    assert_eq!(world.register(&worker).await.0, StatusCode::OK);
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let stranger = world.client_to(Role::Verifier, "verifier", &worker.address(), "worker");
    let mut refused = 0;
    for _ in 0..30 {
        let headers = [("content-type", "application/json")];
        let body = serde_json::to_vec(&serde_json::json!({
            "nonce": locus_attestation::evidence::Nonce::random().unwrap(),
            "worker": uuid::Uuid::nil(), "pod": null, "tenant": null, "first_entry": 0,
            "selection": [{ "bank": "sha256", "pcrs": [10] }],
        }))
        .unwrap();
        let answer = stranger
            .exchange(Method::POST, EVIDENCE, &headers, body)
            .await
            .unwrap();
        refused += usize::from(answer.0 == StatusCode::TOO_MANY_REQUESTS);
    }
    assert!(refused > 0, "the limit was never reached");
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(
        status,
        StatusCode::OK,
        "each peer has its own budget: {answer}"
    );
}

#[cfg(not(feature = "tpm"))]
#[tokio::test(flavor = "multi_thread")]
async fn a_busy_tpm_is_asked_again() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.machine.0.lock().unwrap().be_busy(2);
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    worker.machine.0.lock().unwrap().be_busy(50);
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
    assert_eq!(answer["effect"], "inconclusive");
    worker.machine.0.lock().unwrap().be_busy(0);
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
}
