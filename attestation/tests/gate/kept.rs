//! Evidence that is kept for audit: whatever came of it, for as long as was said, and verifiable again.

use crate::world::{World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::evidence::Evidence;
use locus_attestation::net::Role;
use locus_attestation::protocol::WorkerRecord;
use locus_attestation::tpm::{PcrValues, Public, Quote, verify_quote};
use locus_attestation::verifier::{KeptEvidence, Retention};
use serde_json::{Value, json};

const DAY: i64 = 24 * 60 * 60 * 1000;

async fn list(world: &World) -> Vec<Value> {
    let path = "/v1/verifier/evidence?worker=worker";
    let (status, answer) = world.operate(Method::GET, path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer.as_array().unwrap().clone()
}

async fn restart(world: &mut World, days: u32) {
    world.gate.take().unwrap().stop().await;
    let retention = Retention::of_days(days);
    world
        .start_gate_as(|config| config.retention = retention)
        .await;
}

/// Verifies kept evidence as an auditor does: with the record of the worker and nothing else.
async fn verify_again(world: &World, id: &Value) -> Result<(), String> {
    let path = format!("/v1/verifier/evidence/{id}");
    let (status, whole) = world.operate(Method::GET, &path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{whole}");
    let kept: KeptEvidence = serde_json::from_value(whole).unwrap();
    let (_, record) = world
        .operate(Method::GET, "/v1/workers/worker", Value::Null)
        .await;
    let record: WorkerRecord = serde_json::from_value(record).unwrap();
    let ak = Public::parse(&record.ak_public).unwrap();
    let shown = Evidence::decode(&kept.evidence).unwrap();
    let mut pcrs = PcrValues::default();
    for value in &shown.quote.pcrs {
        pcrs.set(u8::try_from(value.index).unwrap(), value.value);
    }
    let quote = Quote {
        attest: shown.quote.attest.clone(),
        signature: shown.quote.signature.clone(),
        pcrs,
    };
    let binding = shown.binding(&kept.request.nonce);
    let verified = verify_quote(&ak, &quote, binding.as_bytes(), &kept.request.selection);
    verified.map(|_| ()).map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_kept_whatever_came_of_it_and_can_be_verified_again() {
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    let path = "/v1/verifier/evidence";
    let (status, answer) = world.operate(Method::GET, path, Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "none is kept: {answer}");
    restart(&mut world, 30).await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    worker.measure(
        "/usr/bin/evil:swapper/0",
        "/system.slice/evil.service",
        content("evil"),
        "/usr/bin/evil",
    );
    world.refused(&pod, "worker-untrusted").await;
    let kept = list(&world).await;
    let effects: Vec<&Value> = kept.iter().map(|record| &record["effect"]).collect();
    assert_eq!(effects, ["worker-untrusted", "trusted"], "newest first");
    let reason = kept[0]["reason"].as_str().unwrap();
    assert!(reason.contains("/usr/bin/evil"), "{reason}");
    for record in &kept {
        verify_again(&world, &record["id"]).await.unwrap();
    }
    // It outlives the process, and is nobody's but the operator's.
    restart(&mut world, 30).await;
    assert_eq!(list(&world).await, kept);
    for role in [Role::Agent, Role::Tenant] {
        let client = world.client(role, "curious");
        let (status, _) = ask(&client, Method::GET, path, Value::Null).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{role:?}");
    }
    for wrong in ["0", "4711", "x", "-1"] {
        let path = format!("/v1/verifier/evidence/{wrong}");
        let (status, answer) = world.operate(Method::GET, &path, Value::Null).await;
        assert!(status.is_client_error(), "{wrong}: {status} {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn evidence_is_thrown_away_when_its_time_is_over_and_not_before() {
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    restart(&mut world, 2).await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
    let mut ids = Vec::new();
    for _ in 0..3 {
        assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
        verifier.prune().await;
        ids.push(list(&world).await[0]["id"].clone());
        world.later(DAY);
    }
    // The first is three days old, the second two.
    world.later(-1);
    verifier.prune().await;
    let left: Vec<Value> = list(&world).await.iter().map(|r| r["id"].clone()).collect();
    assert_eq!(json!(left), json!([ids[2], ids[1]]));
    let path = format!("/v1/verifier/evidence/{}", ids[0]);
    let (status, answer) = world.operate(Method::GET, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{answer}");
}
