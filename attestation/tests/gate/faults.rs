//! Faults: agents and gates that are killed, clocks that jump, TPMs that are busy.
//! No trust is gained, no state is lost, and afterwards everything works again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::world::{WorkerBox, World, content};
use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::StatusCode as Status;
use axum::response::{IntoResponse as _, Response};
use hyper::{Method, StatusCode};
use locus_attestation::agent::server::EVIDENCE;
use locus_attestation::agent::state::StateFolder;
use locus_attestation::net::tls::{Credentials, SharedServerConfig};
use locus_attestation::net::{Client, Role, serve};
use locus_attestation::protocol::attestation::EVIDENCE_MILLIS;
use locus_attestation::protocol::registration::STEP_MILLIS;
use locus_attestation::verifier::Trust;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What becomes of the n-th answer; nothing when the agent dies.
type Change = dyn Fn(usize, Vec<u8>) -> Option<Vec<u8>> + Send + Sync;

/// What happens to the n-th message that passes, before the agent sees it and after it answered.
#[derive(Clone)]
struct Fate {
    before: Arc<dyn Fn(usize) -> bool + Send + Sync>,
    after: Arc<Change>,
}

impl Fate {
    /// The n-th answer is changed or, with nothing, never comes: the agent dies.
    fn after(after: impl Fn(usize, Vec<u8>) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Fate {
            before: Arc::new(|_| true),
            after: Arc::new(after),
        }
    }

    /// The agent dies before it sees the n-th message.
    fn before(dies_at: usize) -> Self {
        Fate {
            before: Arc::new(move |number| number != dies_at),
            after: Arc::new(|_, answer| Some(answer)),
        }
    }
}

/// Stands between gate and agent with the agent's own certificate, and lets messages through, changed or
/// not, until the agent dies: then connections break, and no new ones are taken.
async fn between(world: &World, worker: &WorkerBox, fate: Fate) -> (String, JoinHandle<()>) {
    let state = StateFolder::new(&worker.state);
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
    let death = Arc::new(Notify::new());
    let dead = death.clone();
    let pass = move |request: Request| {
        let (behind, fate) = (behind.clone(), fate.clone());
        let number = count.fetch_add(1, Ordering::SeqCst);
        let death = death.clone();
        async move {
            let dies = || async {
                death.notify_one();
                std::future::pending::<Response>().await
            };
            let method = request.method().clone();
            let path = request.uri().path().to_owned();
            let body = axum::body::to_bytes(request.into_body(), usize::MAX)
                .await
                .unwrap();
            if !(fate.before)(number) {
                return dies().await;
            }
            let headers = [("content-type", "application/json")];
            let answered = behind
                .exchange(method, &path, &headers, body.to_vec())
                .await;
            match answered {
                Ok((status, answer)) => match (fate.after)(number, answer.to_vec()) {
                    Some(answer) => (status, Bytes::from(answer)).into_response(),
                    None => dies().await,
                },
                Err(_) => Status::BAD_GATEWAY.into_response(),
            }
        }
    };
    let router = Router::new().fallback(pass);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let task = tokio::spawn(async move {
        tokio::select! {
            served = serve(listener, tls, router, std::future::pending()) => served.unwrap(),
            () = dead.notified() => {}
        }
    });
    (address, task)
}

/// A registered worker that the gate knows at the address of somebody between; `fate` counts from the
/// first message after that.
async fn registered_between(world: &World, worker: &WorkerBox, fate: Fate) -> JoinHandle<()> {
    const REGISTRATION: usize = 3;
    let later = Fate {
        before: Arc::new(move |number| {
            number < REGISTRATION || (fate.before)(number - REGISTRATION)
        }),
        after: Arc::new(
            move |number, answer| match number.checked_sub(REGISTRATION) {
                Some(number) => (fate.after)(number, answer),
                None => Some(answer),
            },
        ),
    };
    let (address, task) = between(world, worker, later).await;
    let (status, answer) = register_at(world, worker, &address).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    task
}

async fn register_at(world: &World, worker: &WorkerBox, address: &str) -> (StatusCode, Value) {
    let joined = serde_json::json!({ "name": worker.name, "address": address });
    world
        .operate(Method::POST, "/v1/registrations", joined)
        .await
}

async fn is_registered(world: &World) -> bool {
    let path = "/v1/workers/worker";
    let (status, _) = world.operate(Method::GET, path, Value::Null).await;
    status == StatusCode::OK
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_killed_at_any_step_of_its_registration_is_refused_and_can_try_again() {
    let world = World::new().await;
    let mut worker = world.worker("worker").await;
    let ak = || {
        let keys = StateFolder::new(&worker.state).keys().unwrap().unwrap();
        keys.ak.public
    };
    let before = ak();
    for dies_at in 0..3 {
        let unanswered = Fate::after(move |number, answer| (number < dies_at).then_some(answer));
        for fate in [Fate::before(dies_at), unanswered] {
            let (address, task) = between(&world, &worker, fate).await;
            let (status, answer) = register_at(&world, &worker, &address).await;
            assert_eq!(
                status,
                StatusCode::UNPROCESSABLE_ENTITY,
                "{dies_at}: {answer}"
            );
            assert_eq!(answer["effect"], "worker-refused");
            assert!(!is_registered(&world).await, "step {dies_at}");
            task.await.unwrap();
            worker.kill().await;
            worker.start().await;
        }
    }
    let keys = StateFolder::new(&worker.state).keys().unwrap().unwrap();
    assert_eq!(keys.ak.public, before, "it is still the same worker");
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // A registered worker that dies while it registers again stays what it was.
    for dies_at in 0..3 {
        let fate = Fate::after(move |number, answer| (number < dies_at).then_some(answer));
        let (address, task) = between(&world, &worker, fate).await;
        let (status, answer) = register_at(&world, &worker, &address).await;
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{dies_at}: {answer}"
        );
        assert!(is_registered(&world).await, "step {dies_at}");
        task.await.unwrap();
    }
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_and_cut_registration_messages_are_refused() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    for step in 0..2 {
        for change in 0..12_usize {
            let fate = Fate::after(move |number, mut answer: Vec<u8>| {
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
    // Before it is asked.
    worker.kill().await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
    assert_eq!(world.status(&pod).trust, Trust::Unknown);
    worker.start_at(&address).await;
    // When it is asked, and when it has quoted.
    for fate in [Fate::before(0), Fate::after(|_, _| None)] {
        let task = registered_between(&world, &worker, fate).await;
        let (status, answer) = world.attest(&pod).await;
        assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
        assert_eq!(answer["effect"], "inconclusive");
        assert_eq!(world.status(&pod).trust, Trust::Unknown);
        assert_eq!(world.trust("worker"), Trust::Unknown);
        task.await.unwrap();
        worker.kill().await;
        worker.start_at(&address).await;
    }
    assert_eq!(world.register(&worker).await.0, StatusCode::OK);
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    worker.kill().await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::BAD_GATEWAY);
    assert_eq!(
        world.status(&pod).trust,
        Trust::Trusted,
        "not refuted; its result runs out"
    );
    world.later(600_001);
    assert_eq!(world.status(&pod).trust, Trust::Unknown, "it ran out");
    assert_eq!(world.trust("worker"), Trust::Unknown);
    worker.start_at(&address).await;
    worker.run(&pod, content("libc"), "/lib/libc.so");
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Trusted);
}

/// The gate dies while evidence is on its way: what was committed before is there after its restart,
/// and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn a_gate_that_is_killed_goes_on_where_it_stood() {
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let quoted = Arc::new(Notify::new());
    let told = quoted.clone();
    let (dead, died) = std::sync::mpsc::channel();
    let died = std::sync::Mutex::new(died);
    let fate = Fate::after(move |number, answer| {
        if number == 1 {
            told.notify_one();
            // Nobody is left to read this.
            let most = std::time::Duration::from_secs(60);
            let waited = || died.lock().unwrap().recv_timeout(most);
            let _ = tokio::task::block_in_place(waited);
        }
        Some(answer)
    });
    let between = registered_between(&world, &worker, fate).await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let node = |world: &World| {
        let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
        let id = verifier.store().worker("worker").unwrap().id;
        verifier.store().node(id).unwrap()
    };
    let before = node(&world);
    worker.run(&pod, content("libc"), "/lib/libc.so");
    let path = format!("/v1/verifier/pods/{}/attest", pod.uid);
    let operator = world.operator();
    let asked =
        tokio::spawn(async move { operator.exchange(Method::POST, &path, &[], vec![]).await });
    quoted.notified().await;
    world.gate.take().unwrap().kill().await;
    dead.send(()).unwrap();
    assert!(asked.await.unwrap().is_err(), "the gate died");
    world.start_gate().await;
    let after = node(&world);
    assert_eq!((before.cursor, before.ledger), (after.cursor, after.ledger));
    assert_eq!(world.status(&pod).trust, Trust::Trusted);
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    between.abort();
}

/// The clock jumps while the answer is on its way.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_gives_no_trust() {
    for jump in [EVIDENCE_MILLIS + 1, -1, -5_000_000] {
        let world = World::new().await;
        let mut worker = world.registered("worker").await;
        let pod = world.healthy_pod(&mut worker, "redis").await;
        let clock = world.clock.clone();
        let fate = Fate::after(move |number, answer| {
            if number == 0 {
                clock.advance_millis(jump);
            }
            Some(answer)
        });
        let task = registered_between(&world, &worker, fate).await;
        let (status, answer) = world.attest(&pod).await;
        assert_eq!(status, StatusCode::BAD_GATEWAY, "{jump}: {answer}");
        assert_eq!(answer["effect"], "inconclusive", "{jump}: {answer}");
        assert_eq!(world.status(&pod).trust, Trust::Unknown);
        world.later(-jump);
        let (status, answer) = world.attest(&pod).await;
        assert_eq!(status, StatusCode::OK, "{jump}: {answer}");
        // A clock that is set back does not make the trust last longer.
        world.later(-60_000);
        assert_eq!(world.status(&pod).trust, Trust::Unknown);
        task.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_ends_a_registration() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    for step in 0..3 {
        for jump in [STEP_MILLIS + 1, -1] {
            let clock = world.clock.clone();
            let fate = Fate::after(move |number, answer| {
                if number == step {
                    clock.advance_millis(jump);
                }
                Some(answer)
            });
            let (address, task) = between(&world, &worker, fate).await;
            let (status, answer) = register_at(&world, &worker, &address).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{step}: {answer}");
            assert!(!is_registered(&world).await, "step {step}");
            world.later(-jump);
            task.abort();
        }
    }
    assert_eq!(world.register(&worker).await.0, StatusCode::OK);
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

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_tpm_is_asked_again() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.busy.store(2, Ordering::SeqCst);
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    worker.busy.store(500, Ordering::SeqCst);
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
    assert_eq!(answer["effect"], "inconclusive");
    worker.busy.store(500, Ordering::SeqCst);
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    worker.busy.store(0, Ordering::SeqCst);
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
}
