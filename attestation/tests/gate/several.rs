//! Several gates on one PostgreSQL: each worker is attested by one at a time, and by another when that one dies.

use std::sync::Arc;
use std::time::Duration;

use hyper::{Method, StatusCode};
use locus_attestation::database::Location;
use locus_attestation::database::server::PostgresServer;
use locus_attestation::gate::sharing::Pace;
use locus_attestation::gate::{Asked, GateConfig, RunningGate, Verifier};
use locus_attestation::net::Role;
use locus_attestation::verifier::{Trust, VerifierStore};
use serde_json::Value;

use crate::world::{World, ask, content};

/// A store that ends with the test.
struct Shared {
    server: PostgresServer,
    url: String,
}

impl Shared {
    fn new() -> Self {
        let server = PostgresServer::start().unwrap();
        let url = server.database().unwrap();
        Shared { server, url }
    }

    fn location(&self) -> Location {
        Location::parse(&self.url).unwrap()
    }

    /// The verifiers' tables, as one more verifier has them.
    fn store(&self) -> VerifierStore {
        VerifierStore::open_at(&self.location(), std::path::Path::new("")).unwrap()
    }
}

/// Faster than in earnest, and slow enough for a busy machine.
fn pace() -> Pace {
    Pace {
        lasts: Duration::from_secs(6),
        renewed: Duration::from_secs(1),
        said: Duration::from_millis(500),
        gone: Duration::from_secs(5),
        anybody: Duration::from_secs(6),
    }
}

fn verifier(gate: &RunningGate) -> Arc<Verifier> {
    gate.verifier.clone().unwrap()
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never happened: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_attested_by_one_gate_at_a_time() {
    let shared = Shared::new();
    let world = World::on(shared.location()).await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let others = [world.another(|_| {}).await, world.another(|_| {}).await];
    let gates: Vec<Arc<Verifier>> = others
        .iter()
        .chain(world.gate.as_ref())
        .map(verifier)
        .collect();
    // All of them at once, again and again: were two of them at it together, one would find that its evidence is about what
    // the other changed, and say so.
    let mut asked = tokio::task::JoinSet::new();
    for gate in &gates {
        for _ in 0..8 {
            let gate = gate.clone();
            asked.spawn(async move {
                let report = gate.attest_worker("worker", &Asked::default()).await;
                report.map(|report| report.worker.trust)
            });
        }
    }
    for outcome in asked.join_all().await {
        assert_eq!(outcome.unwrap(), Trust::Trusted);
    }
    // What one found out, all know; what one kept in memory is not used when another went on.
    for gate in &gates {
        assert_eq!(gate.pod(pod.uid).unwrap().trust, Trust::Trusted);
    }
    worker.run(&pod, content("libc"), "/lib/libc.so");
    for gate in &gates {
        let known = gate.attest_pod(pod.uid, &Asked::default()).await.unwrap();
        assert_eq!(known.trust, Trust::Trusted);
    }
    worker.run(&pod, content("miner"), "/tmp/miner");
    let refused = gates[1].attest_pod(pod.uid, &Asked::default()).await;
    assert!(refused.unwrap_err().detail.contains("/tmp/miner"));
    for gate in &gates {
        let known = gate.pod(pod.uid).unwrap();
        assert_eq!(known.trust, Trust::Untrusted);
    }
    // A pod that is forgotten here and declared again there is read anew from the first entry on.
    gates[0].remove_pod(pod.uid).unwrap();
    gates[2].declare(&pod).unwrap();
    let again = gates[1].attest_pod(pod.uid, &Asked::default()).await;
    assert!(again.unwrap_err().detail.contains("/tmp/miner"));
    for gate in others {
        gate.stop().await;
    }
    // Whoever stops says so: nobody waits for it.
    let there = shared.store().beat("test", 60_000).unwrap().there;
    assert_eq!(
        there.len(),
        2,
        "the one that is left, and the test: {there:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn others_take_over_when_a_gate_dies() {
    let shared = Shared::new();
    let mut world = World::on(shared.location()).await;
    let mut workers = Vec::new();
    for number in 0..6 {
        workers.push(world.registered(&format!("worker-{number}")).await);
    }
    world.gate.take().unwrap().stop().await;
    let sharing = |config: &mut GateConfig| {
        config.interval = Duration::from_millis(400);
        config.pace = pace();
    };
    let mut gates = Vec::new();
    for _ in 0..3 {
        gates.push(world.another(sharing).await);
    }
    let observer = shared.store();
    let all_since = |since: i64| {
        let workers = observer.workers().unwrap();
        let fresh = |status: &locus_attestation::verifier::WorkerStatus| {
            status.trust == Trust::Trusted && status.checked.millis() > since
        };
        workers.len() == 6 && workers.iter().all(fresh)
    };
    let now = || observer.beat("observer", 60_000).unwrap().time.millis();
    observer.leave("observer").unwrap();
    until("everybody is trusted", || all_since(0)).await;
    // One dies while it attests, and one stands still for longer than its lease lasts.
    let dead = gates.swap_remove(0);
    let held = {
        let store = verifier(&dead);
        let id = store.sharing_id().unwrap();
        let lease = loop {
            let taken = store.store().take_lease("worker-0", &id, 6_000).unwrap();
            if let Some(lease) = taken {
                break lease;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        dead.kill().await;
        lease
    };
    let killed = now();
    observer.leave("observer").unwrap();
    until("everybody is attested again by those that are left", || {
        all_since(killed)
    })
    .await;
    // The dead one comes back for a moment: what it would conclude does not count any more.
    assert!(!observer.renew_lease(&held, 6_000).unwrap());
    assert!(!observer.give_back(&held, None).unwrap());
    // With one left nothing is forgotten either.
    gates.swap_remove(0).kill().await;
    let killed = now();
    observer.leave("observer").unwrap();
    until("the last one attests everybody", || all_since(killed)).await;
    gates.remove(0).stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_trusted_anew_while_the_store_is_gone() {
    let shared = Shared::new();
    let world = World::on(shared.location()).await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let operator = world.operator();
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    shared.server.stop();
    // Whatever is asked is answered, soon, and with no trust.
    for path in [
        "/readyz".to_owned(),
        "/v1/verifier/workers".to_owned(),
        format!("/v1/verifier/pods/{}", pod.uid),
    ] {
        let (status, answer) = ask(&operator, Method::GET, &path, Value::Null).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {answer}");
        let detail = answer["detail"].as_str().unwrap();
        assert!(detail.contains("the store cannot be reached"), "{detail}");
    }
    let start = serde_json::json!({ "worker": "worker", "images": [content("image redis")] });
    let (status, answer) = ask(&operator, Method::POST, "/v1/verifier/start", start).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{answer}");
    let (status, answer) = world.attest(&pod).await;
    assert!(!status.is_success(), "{status} {answer}");
    let (status, _) = ask(&operator, Method::GET, "/healthz", Value::Null).await;
    assert_eq!(status, StatusCode::OK, "the process is alive");
    // What was known before is there when the store is, without a restart.
    shared.server.go_on().unwrap();
    let verifier = verifier(world.gate.as_ref().unwrap());
    until("the store is found again", || verifier.workers().is_ok()).await;
    assert_eq!(world.status(&pod).trust, Trust::Trusted);
    until("the verifier takes part again", || verifier.beat().is_ok()).await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_comes_by_itself_needs_a_gate_of_its_own() {
    let shared = Shared::new();
    let world = World::on(shared.location()).await;
    let joined = serde_json::json!({ "name": "worker", "address": "push" });
    let operator = world.client(Role::Operator, "root");
    let (status, answer) = ask(&operator, Method::POST, "/v1/registrations", joined).await;
    assert!(!status.is_success(), "{status}");
    let detail = answer["detail"].as_str().unwrap();
    assert!(
        detail.contains("needs a gate that has its store alone"),
        "{detail}"
    );
}
