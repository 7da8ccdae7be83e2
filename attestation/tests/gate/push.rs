//! Agents behind NAT: they come to the gate, and prove as much as those that the gate connects to.

use std::sync::Arc;
use std::time::Duration;

use crate::world::{WorkerBox, World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::agent::push::{PushTarget, push_forever};
use locus_attestation::net::Role;
use locus_attestation::verifier::Trust;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// The worker's agent does not listen: it comes to the gate.
async fn behind_nat(world: &World, worker: &mut WorkerBox) -> JoinHandle<()> {
    if let Some(agent) = worker.agent.take() {
        agent.kill().await;
    }
    let target = PushTarget {
        name: "gate".to_owned(),
        address: world.gate_address.clone(),
    };
    tokio::spawn(push_forever(Arc::new(worker.make()), target))
}

async fn register(world: &World, name: &str) -> (StatusCode, Value) {
    let joined = json!({ "name": name, "address": "push" });
    world
        .operate(Method::POST, "/v1/registrations", joined)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_behind_nat_is_registered_attested_and_condemned_like_any_other() {
    let world = World::new().await;
    let mut worker = world.worker("worker").await;
    let agent = behind_nat(&world, &mut worker).await;
    let (status, answer) = register(&world, "worker").await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Trusted);
    worker.run(&pod, content("libc"), "/lib/libc.so");
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "only what is new: {answer}");
    worker.run(&pod, content("miner"), "/tmp/miner");
    let reason = world.refused(&pod, "pod-untrusted").await;
    assert!(reason.contains("/tmp/miner"), "{reason}");
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_behind_nat_that_stays_away_is_not_condemned_and_comes_back() {
    let world = World::new().await;
    let mut worker = world.worker("worker").await;
    let agent = behind_nat(&world, &mut worker).await;
    assert_eq!(register(&world, "worker").await.0, StatusCode::OK);
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    agent.abort();
    assert!(agent.await.is_err());
    world.refused(&pod, "inconclusive").await;
    assert_eq!(
        world.trust("worker"),
        Trust::Trusted,
        "for as long as it lasts"
    );
    world.later(600_001);
    assert_eq!(world.trust("worker"), Trust::Unknown);
    let agent = behind_nat(&world, &mut worker).await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Trusted);
    agent.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_worker_gets_no_task_and_answers_none() {
    let world = World::new().await;
    let mut worker = world.worker("worker").await;
    let agent = behind_nat(&world, &mut worker).await;
    assert_eq!(register(&world, "worker").await.0, StatusCode::OK);
    agent.abort();
    assert!(agent.await.is_err());
    // A task waits for the worker; somebody else comes first.
    let operator = world.operator();
    let asked = tokio::spawn(async move {
        let path = "/v1/verifier/workers/worker/attest";
        ask(&operator, Method::POST, path, Value::Null).await
    });
    // The certificate that `enrol` gave out names the same worker, but is bound to no attestation key.
    for name in ["other", "worker"] {
        let thief = world.client(Role::Agent, name);
        let (status, answer) = ask(&thief, Method::GET, "/v1/push/next?wait=2", Value::Null).await;
        let nothing = answer.is_null() || status == StatusCode::FORBIDDEN;
        assert!(nothing, "{name}: {status} {answer}");
        let path = "/v1/push/answers/00000000-0000-4000-8000-000000000000?status=200";
        let (status, answer) = ask(&thief, Method::POST, path, Value::Null).await;
        assert!(status.is_client_error(), "{name}: {status} {answer}");
    }
    for role in [Role::Operator, Role::Tenant] {
        let client = world.client(role, "curious");
        let (status, _) = ask(&client, Method::GET, "/v1/push/next", Value::Null).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{role:?}");
    }
    // It was not taken away from whom it is for.
    let agent = behind_nat(&world, &mut worker).await;
    let answered = tokio::time::timeout(Duration::from_secs(180), asked).await;
    let (status, answer) = answered.unwrap().unwrap();
    assert_eq!(status, StatusCode::OK, "{answer}");
    agent.abort();
}
