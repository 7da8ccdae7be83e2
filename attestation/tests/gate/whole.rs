//! Registration and removal are whole or nothing over registrar and verifier: whoever asks may go away, and any
//! process may die, at any point.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::world::{WorkerBox, World, ask};
use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use hyper::{Method, StatusCode};
use locus_attestation::agent::server::ACKNOWLEDGE;
use locus_attestation::net::tls::{Credentials, SharedServerConfig};
use locus_attestation::net::{Client, serve};
use locus_attestation::protocol::WorkerRecord;
use locus_attestation::verifier::Trust;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// What the two components know of the worker.
async fn known(world: &World) -> (bool, bool) {
    let mut found = Vec::new();
    for path in ["/v1/workers/worker", "/v1/verifier/workers/worker"] {
        let (status, _) = world.operate(Method::GET, path, Value::Null).await;
        found.push(status == StatusCode::OK);
    }
    (found[0], found[1])
}

/// Before an agent that is not registered: the acknowledgement arrives when the test says so, if at all.
struct Slow {
    address: String,
    reached: Arc<Semaphore>,
    goes_on: Arc<Semaphore>,
    loses_the_answer: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

async fn slow(world: &World, worker: &WorkerBox) -> Slow {
    let credentials = Credentials::read(&worker.credentials, "agent").unwrap();
    let tls = SharedServerConfig::new(credentials.server().unwrap());
    let gate = Credentials::read(&world.folder.path().join("gate"), "gate").unwrap();
    let behind = Client::new(gate.client().unwrap(), &worker.address(), &worker.name);
    let (reached, goes_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let loses_the_answer = Arc::new(AtomicBool::new(false));
    let (tell, wait, loses) = (reached.clone(), goes_on.clone(), loses_the_answer.clone());
    let pass = move |request: Request| {
        let (behind, tell, wait, loses) =
            (behind.clone(), tell.clone(), wait.clone(), loses.clone());
        async move {
            let (method, path) = (request.method().clone(), request.uri().path().to_owned());
            let body = axum::body::to_bytes(request.into_body(), usize::MAX).await;
            if path == ACKNOWLEDGE {
                tell.add_permits(1);
                wait.acquire().await.unwrap().forget();
            }
            let headers = [("content-type", "application/json")];
            let answered = behind
                .exchange(method, &path, &headers, body.unwrap().to_vec())
                .await;
            if path == ACKNOWLEDGE && loses.load(Ordering::SeqCst) {
                return std::future::pending::<Response>().await;
            }
            answered.unwrap().into_response()
        }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = Router::new().fallback(pass);
    let task = tokio::spawn(async move {
        let served = serve(listener, tls, router, std::future::pending());
        served.await.unwrap();
    });
    Slow {
        address,
        reached,
        goes_on,
        loses_the_answer,
        task,
    }
}

fn register(world: &World, address: &str) -> JoinHandle<(StatusCode, Value)> {
    let (operator, joined) = (
        world.operator(),
        json!({ "name": "worker", "address": address }),
    );
    tokio::spawn(async move { ask(&operator, Method::POST, "/v1/registrations", joined).await })
}

/// Waits for something that comes soon.
async fn soon(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..400 {
        if holds().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("{what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_goes_on_when_its_asker_goes_away() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    let slow = slow(&world, &worker).await;
    let asked = register(&world, &slow.address);
    slow.reached.acquire().await.unwrap().forget();
    // The operator's terminal is closed; the agent has not heard that it is registered.
    asked.abort();
    assert!(asked.await.is_err());
    assert_eq!(
        known(&world).await,
        (false, false),
        "a proposal counts for nothing"
    );
    let again = register(&world, &slow.address).await.unwrap();
    assert_eq!(
        again.0,
        StatusCode::CONFLICT,
        "it is under way: {}",
        again.1
    );
    slow.goes_on.add_permits(1);
    soon("the registration is not completed", async || {
        known(&world).await == (true, true)
    })
    .await;
    slow.task.abort();
}

/// The agent never hears of it: nothing is left, and it can try again.
#[tokio::test(flavor = "multi_thread")]
async fn a_registration_without_a_receipt_leaves_nothing() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    let slow = slow(&world, &worker).await;
    let asked = register(&world, &slow.address);
    slow.reached.acquire().await.unwrap().forget();
    slow.task.abort();
    let (status, answer) = asked.await.unwrap();
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_eq!(known(&world).await, (false, false));
    assert_eq!(world.register(&worker).await.0, StatusCode::OK);
}

/// The gate dies while the agent is told: it is not registered after the restart, although the agent may think
/// so, and registers again.
#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_dies_before_the_receipt_has_registered_nobody() {
    let mut world = World::new().await;
    let mut worker = world.worker("worker").await;
    let slow = slow(&world, &worker).await;
    slow.loses_the_answer.store(true, Ordering::SeqCst);
    slow.goes_on.add_permits(1);
    let asked = register(&world, &slow.address);
    soon("the agent was not told", async || {
        worker.state.join("registered.json").exists()
    })
    .await;
    world.gate.take().unwrap().kill().await;
    assert!(asked.await.is_err(), "the gate is gone");
    slow.task.abort();
    world.start_gate().await;
    assert_eq!(known(&world).await, (false, false));
    assert_eq!(world.register(&worker).await.0, StatusCode::OK);
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

/// Between the receipt and the end: whatever the dead gate had done, the next one completes it.
#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_dies_after_the_receipt_is_completed_by_the_next() {
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    let (_, record) = world
        .operate(Method::GET, "/v1/workers/worker", Value::Null)
        .await;
    let record: WorkerRecord = serde_json::from_value(record).unwrap();
    // Registered again, up to some step: accepted; and taken in by the verifier.
    for admitted in [false, true] {
        let registration = Uuid::new_v4();
        let registrar = world.registrar();
        let now = world.now();
        registrar.propose(registration, &record, now).unwrap();
        registrar.accept(registration).unwrap();
        if admitted {
            let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
            verifier
                .admit(&registrar.outstanding().unwrap().registrations[0])
                .unwrap();
        }
        assert_eq!(registrar.outstanding().unwrap().registrations.len(), 1);
        drop(registrar);
        world.gate.take().unwrap().kill().await;
        world.start_gate().await;
        let registrar = world.registrar();
        assert_eq!(registrar.outstanding().unwrap(), Default::default());
        assert_eq!(known(&world).await, (true, true));
        assert_eq!(world.trust("worker"), Trust::Unknown, "registered anew");
    }
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removal_is_whole_and_can_be_repeated_from_any_half() {
    let mut world = World::new().await;
    let worker = world.worker("worker").await;
    let remove = |world: &World| {
        let operator = world.operator();
        async move {
            let path = "/v1/registrations/worker";
            ask(&operator, Method::DELETE, path, Value::Null).await.0
        }
    };
    // Both know it; only the verifier; only the registrar; the removal was noted and nothing else.
    for half in 0..4 {
        assert_eq!(world.register(&worker).await.0, StatusCode::OK, "{half}");
        let registrar = world.registrar();
        let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
        match half {
            1 => {
                registrar.begin_removal("worker", world.now()).unwrap();
                registrar.finish_removal("worker").unwrap();
                assert_eq!(known(&world).await, (false, true));
            }
            2 => {
                verifier.remove("worker").unwrap();
                assert_eq!(known(&world).await, (true, false));
            }
            3 => registrar.begin_removal("worker", world.now()).unwrap(),
            _ => {}
        }
        assert_eq!(remove(&world).await, StatusCode::NO_CONTENT, "{half}");
        assert_eq!(known(&world).await, (false, false), "{half}");
        assert_eq!(remove(&world).await, StatusCode::NOT_FOUND, "{half}");
        assert_eq!(registrar.outstanding().unwrap(), Default::default());
    }
    // A gate that dies in between is completed by the next one, before anybody is served.
    assert_eq!(world.register(&worker).await.0, StatusCode::OK);
    world
        .registrar()
        .begin_removal("worker", world.now())
        .unwrap();
    assert_eq!(known(&world).await, (false, true));
    world.gate.take().unwrap().kill().await;
    world.start_gate().await;
    assert_eq!(known(&world).await, (false, false));
    assert_eq!(
        world.register(&worker).await.0,
        StatusCode::OK,
        "it can come back"
    );
}

/// A removal that was begun does not take away a worker that came back since.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_comes_back_is_not_removed_by_an_old_removal() {
    let world = World::new().await;
    let worker = world.registered("worker").await;
    world
        .registrar()
        .begin_removal("worker", world.now())
        .unwrap();
    assert_eq!(world.register(&worker).await.0, StatusCode::OK);
    assert_eq!(world.registrar().outstanding().unwrap(), Default::default());
    assert_eq!(known(&world).await, (true, true));
}

/// The verifier runs elsewhere and is down: the removal is noted, and completed when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_removal_waits_for_a_verifier_that_is_down() {
    use locus_attestation::gate::{GateConfig, start};
    use locus_attestation::net::Role;
    let mut world = World::new().await;
    let _worker = world.registered("worker").await;
    world.gate.take().unwrap().stop().await;
    let folder = world.folder.path().join("gate");
    let clock: Arc<dyn locus_attestation::clock::Clock> = world.clock.clone();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    drop(listener);
    let mut config = GateConfig::all_in(&folder);
    config.roles = vec![Role::Registrar, Role::Reference, Role::WorkerHandler];
    config.verifier = Some(place.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gate = start(config, listener, clock.clone()).await.unwrap();
    let client = |role: &str, address: &str| world.client_to(Role::Operator, "root", address, role);
    let handler = client("worker-handler", &gate.address.to_string());
    let path = "/v1/registrations/worker";
    let (status, answer) = ask(&handler, Method::DELETE, path, Value::Null).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
    let (status, _) = ask(&handler, Method::GET, "/v1/workers/worker", Value::Null).await;
    assert_eq!(
        status,
        StatusCode::NOT_FOUND,
        "it is not registered any more"
    );
    let mut config = GateConfig::all_in(&folder);
    config.roles = vec![Role::Verifier];
    config.registrar = Some(gate.address.to_string());
    config.reference = Some(gate.address.to_string());
    let listener = TcpListener::bind(&place).await.unwrap();
    let back = start(config, listener, clock).await.unwrap();
    let (status, answer) = ask(&handler, Method::DELETE, path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    let verifier = back.verifier.clone().unwrap();
    assert!(verifier.worker_status("worker").is_err());
    back.stop().await;
    gate.stop().await;
}

/// Roles split over processes in any way: agents learn the key of the verifier that will ask them.
#[tokio::test(flavor = "multi_thread")]
async fn agents_learn_the_key_of_the_verifier_that_asks_them() {
    use locus_attestation::gate::{COMPONENTS, GateConfig, start};
    use locus_attestation::net::Role;
    for together in [
        vec![Role::Verifier],
        vec![Role::Registrar, Role::Reference, Role::Verifier],
        vec![Role::Verifier, Role::PodHandler],
    ] {
        let mut world = World::new().await;
        let worker = world.worker("worker").await;
        world.gate.take().unwrap().stop().await;
        let folder = world.folder.path().join("gate");
        let clock: Arc<dyn locus_attestation::clock::Clock> = world.clock.clone();
        let others: Vec<Role> = COMPONENTS
            .into_iter()
            .filter(|role| !together.contains(role))
            .collect();
        let (first, second) = (
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
        );
        let places = [
            first.local_addr().unwrap().to_string(),
            second.local_addr().unwrap().to_string(),
        ];
        let mut running = Vec::new();
        for (roles, listener, other) in [
            (together.clone(), first, &places[1]),
            (others, second, &places[0]),
        ] {
            let place = |role| (!roles.contains(&role)).then(|| other.clone());
            let config = GateConfig {
                registrar: place(Role::Registrar),
                reference: place(Role::Reference),
                verifier: place(Role::Verifier),
                roles: roles.clone(),
                ..GateConfig::all_in(&folder)
            };
            running.push(start(config, listener, clock.clone()).await.unwrap());
        }
        let handler = world.client_to(Role::Operator, "root", &places[1], "worker-handler");
        let joined = json!({ "name": "worker", "address": worker.address() });
        let (status, answer) = ask(&handler, Method::POST, "/v1/registrations", joined).await;
        assert_eq!(status, StatusCode::OK, "{together:?}: {answer}");
        let verifier = world.client_to(Role::Operator, "root", &places[0], "verifier");
        let path = "/v1/verifier/workers/worker/attest";
        let (status, answer) = ask(&verifier, Method::POST, path, Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{together:?}: {answer}");
        for gate in running {
            gate.stop().await;
        }
    }
}
