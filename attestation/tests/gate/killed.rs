//! The gate's process is killed at random points while workers register, are attested and are removed. Started again, it
//! has everything or nothing of each, and nobody is trusted who was not proven.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::gate_program::GateProgram;
use crate::world::{WorkerBox, World, content};
use hyper::{Method, StatusCode};
use locus_attestation::net::Client;
use locus_attestation::verifier::Pod;
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// How often it is killed.
const KILLS: u32 = 12;

/// Numbers that look random, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Asks whoever may be killed meanwhile; nothing if it was.
async fn try_ask(client: &Client, method: Method, path: &str, body: Value) -> Option<(u16, Value)> {
    let headers = [("content-type", "application/json")];
    let bytes = serde_json::to_vec(&body).unwrap();
    let answered = client.exchange(method, path, &headers, bytes).await;
    let (status, answer) = answered.ok()?;
    let answer = serde_json::from_slice(&answer).unwrap_or(Value::Null);
    Some((status.as_u16(), answer))
}

/// The life of a worker, again and again: it joins, gets a pod, is attested, leaves.
async fn live(
    client: Client,
    (name, address): (String, String),
    pod: Pod,
    first: u64,
    done: Arc<AtomicU64>,
) {
    for step in first.. {
        let (method, path, body) = match step % 5 {
            0 => (
                Method::POST,
                "/v1/registrations".to_owned(),
                json!({ "name": name, "address": address }),
            ),
            1 => (
                Method::POST,
                "/v1/verifier/pods".to_owned(),
                serde_json::to_value(&pod).unwrap(),
            ),
            2 => (
                Method::POST,
                format!("/v1/verifier/workers/{name}/attest"),
                Value::Null,
            ),
            3 => (
                Method::POST,
                format!("/v1/verifier/pods/{}/attest", pod.uid),
                Value::Null,
            ),
            _ => (
                Method::DELETE,
                format!("/v1/registrations/{name}"),
                Value::Null,
            ),
        };
        if try_ask(&client, method, &path, body).await.is_none() {
            return;
        }
        done.fetch_add(1, Ordering::SeqCst);
    }
}

/// What is true of an installation at any time, seen from outside.
async fn check_whole(world: &World, workers: &[WorkerBox], round: u32) {
    for worker in workers {
        let name = &worker.name;
        let of_registrar = world
            .operate(Method::GET, &format!("/v1/workers/{name}"), Value::Null)
            .await;
        let path = format!("/v1/verifier/workers/{name}");
        let of_verifier = world.operate(Method::GET, &path, Value::Null).await;
        assert_eq!(
            of_registrar.0 == StatusCode::OK,
            of_verifier.0 == StatusCode::OK,
            "round {round}: {name} is half there: {of_registrar:?} {of_verifier:?}"
        );
        if of_verifier.0 == StatusCode::OK {
            let (one, other) = (&of_registrar.1["id"], &of_verifier.1["worker"]["id"]);
            assert_eq!(one, other, "round {round}: two workers of one name");
        }
    }
    // Trust and its proof are written together.
    let (_, pods) = world
        .operate(Method::GET, "/v1/verifier/pods", Value::Null)
        .await;
    for pod in pods["items"].as_array().unwrap() {
        let trusted = pod["trust"] == "trusted";
        let token = pod["token"].as_str().unwrap();
        assert!(!trusted || !token.is_empty(), "round {round}: {pod}");
    }
}

/// Both databases as another program sees them.
fn check_files(world: &World) {
    for name in ["registrar", "reference", "verifier"] {
        let path = world.folder.path().join(format!("gate/{name}.db"));
        let database = rusqlite::Connection::open(path).unwrap();
        let sound: String = database
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(sound, "ok", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_gate_killed_at_any_point_comes_back_whole() {
    let mut world = World::new().await;
    let mut workers = Vec::new();
    for name in ["first", "second", "third"] {
        workers.push(world.worker(name).await);
    }
    let pods: Vec<Pod> = workers
        .iter()
        .map(|worker| world.pod(&worker.name, "redis"))
        .collect();
    for (worker, pod) in workers.iter_mut().zip(&pods) {
        worker.run(pod, content("redis"), "/usr/bin/redis");
    }
    world.gate.take().unwrap().stop().await;
    let installation = world.folder.path().join("gate");
    let seed = u64::from(std::process::id()) << 20 | 1;
    println!("seed {seed}");
    let mut random = Random(seed);
    for round in 0..KILLS {
        let gate = GateProgram::start(&installation, &[]);
        world.gate_address.clone_from(&gate.address);
        check_whole(&world, &workers, round).await;
        let mut lives = JoinSet::new();
        let done = Arc::new(AtomicU64::new(0));
        for (worker, pod) in workers.iter().zip(&pods) {
            let first = random.below(5);
            let worker = (worker.name.clone(), worker.address());
            let client = world.operator();
            lives.spawn(live(client, worker, pod.clone(), first, done.clone()));
        }
        // After so many answers, somewhere in what follows.
        let (answers, begun) = (random.below(12), Instant::now());
        while done.load(Ordering::SeqCst) < answers && begun.elapsed() < Duration::from_secs(20) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(random.below(100))).await;
        gate.kill();
        check_files(&world);
        // Whoever asked sees the connection break.
        while let Some(ended) = lives.join_next().await {
            ended.unwrap();
        }
    }
    // What the killed asked for may keep a TPM busy for long.
    for worker in &mut workers {
        let address = worker.address();
        worker.kill().await;
        worker.start_at(&address).await;
    }
    // Nothing is left that stands in the way of anything.
    let gate = GateProgram::start(&installation, &[]);
    world.gate_address.clone_from(&gate.address);
    check_whole(&world, &workers, KILLS).await;
    for (worker, pod) in workers.iter().zip(&pods) {
        let (status, answer) = world.register(worker).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        world.declare(pod).await;
        let (status, answer) = world.attest(pod).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(answer["trust"], "trusted");
        let path = format!("/v1/registrations/{}", worker.name);
        let (status, answer) = world.operate(Method::DELETE, &path, Value::Null).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    }
    let (_, list) = world
        .operate(Method::GET, "/v1/verifier/workers", Value::Null)
        .await;
    assert_eq!(list["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_answered_survives_the_kill_that_follows() {
    let mut world = World::new().await;
    let mut worker = world.worker("worker").await;
    world.gate.take().unwrap().stop().await;
    let installation = world.folder.path().join("gate");
    let mut gate = GateProgram::start(&installation, &[]);
    world.gate_address.clone_from(&gate.address);
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    gate.kill();
    gate = GateProgram::start(&installation, &[]);
    world.gate_address.clone_from(&gate.address);
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    worker.run(&pod, content("miner"), "/tmp/miner");
    world.refused(&pod, "pod-untrusted").await;
    // A condemnation is the last thing to be lost.
    gate.kill();
    gate = GateProgram::start(&installation, &[]);
    world.gate_address.clone_from(&gate.address);
    let path = format!("/v1/verifier/pods/{}", pod.uid);
    let (_, found) = world.operate(Method::GET, &path, Value::Null).await;
    assert_eq!(found["trust"], "untrusted", "{found}");
    let (_, found) = world
        .operate(Method::GET, "/v1/verifier/workers/worker", Value::Null)
        .await;
    assert_eq!(found["worker"]["trust"], "trusted", "{found}");
    gate.kill();
}
