//! Lists, the watch of changes, the verdict before a start, and what is remembered of containers.

use crate::world::{World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::clock::Timestamp;
use locus_attestation::protocol::Admission;
use locus_attestation::verifier::{KEPT_CHANGES, StoreError, VerifierStore};
use serde_json::{Value, json};

async fn get(world: &World, path: &str) -> Value {
    let (status, answer) = world.operate(Method::GET, path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    answer
}

fn shown(changes: &Value) -> Vec<String> {
    let changes = changes["changes"].as_array().unwrap();
    changes
        .iter()
        .map(|change| {
            let word = |name: &str| change[name].as_str().unwrap().to_owned();
            format!("{} {} {}", word("kind"), word("what"), word("trust"))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_of_trust_is_seen_once_and_in_order_over_a_restart() {
    let mut world = World::new().await;
    let start = get(&world, "/v1/verifier/workers").await;
    assert_eq!(start, json!({ "version": 0, "items": [] }));
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    assert_eq!(
        world.attest(&pod).await.0,
        StatusCode::OK,
        "nothing changes"
    );
    let first = get(&world, "/v1/verifier/changes?since=0").await;
    assert_eq!(
        shown(&first),
        [
            "worker added unknown",
            "pod added unknown",
            "worker changed trusted",
            "pod changed trusted",
        ]
    );
    let version = first["version"].as_u64().unwrap();
    let list = get(&world, "/v1/verifier/pods?worker=worker").await;
    assert_eq!(list["version"], version);
    assert_eq!(list["items"][0]["version"], version);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let none = get(&world, "/v1/verifier/pods?worker=nobody").await;
    assert_eq!(none["items"], json!([]));

    world.gate.take().unwrap().kill().await;
    world.start_gate().await;
    worker.run(&pod, content("miner"), "/tmp/miner");
    world.refused(&pod, "pod-untrusted").await;
    let path = format!("/v1/verifier/changes?since={version}");
    let second = get(&world, &path).await;
    assert_eq!(shown(&second), ["pod changed untrusted"]);
    assert_eq!(second["changes"][0]["name"], pod.uid.to_string());
    let reason = second["changes"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("/tmp/miner"), "{reason}");
    // Read again, it is the same.
    assert_eq!(get(&world, &path).await, second);
    let path = "/v1/registrations/worker";
    let (status, _) = world.operate(Method::DELETE, path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let path = format!("/v1/verifier/changes?since={}", second["version"]);
    let third = get(&world, &path).await;
    assert_eq!(
        shown(&third),
        ["worker removed unknown", "pod removed unknown"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_hears_of_a_change_and_of_trust_that_runs_out() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let version = get(&world, "/v1/verifier/workers").await["version"].clone();
    let path = format!("/v1/verifier/changes?since={version}&wait=30");
    let operator = world.operator();
    let waiting =
        tokio::spawn(async move { ask(&operator, Method::GET, &path, Value::Null).await });
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let (status, answer) = waiting.await.unwrap();
    assert_eq!(status, StatusCode::OK, "{answer}");
    let seen = shown(&answer);
    assert_eq!(seen[0], "worker changed trusted", "{answer}");
    let path = format!("/v1/verifier/changes?since={}&wait=30", 4);
    world.later(600_001);
    let answer = get(&world, &path).await;
    assert_eq!(
        shown(&answer),
        ["worker changed unknown", "pod changed unknown"]
    );
    assert_eq!(answer["changes"][0]["reason"], "the last result ran out");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_is_not_known_is_gone() {
    let world = World::new().await;
    // From another database, or from the future.
    let ask = |since: &str| {
        let path = format!("/v1/verifier/changes?since={since}");
        let world = &world;
        async move { world.operate(Method::GET, &path, Value::Null).await }
    };
    let (status, answer) = ask("4711").await;
    assert_eq!(status, StatusCode::GONE, "{answer}");
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains("list workers and pods again"), "{detail}");
    for wrong in ["x", "-1", ""] {
        assert_eq!(ask(wrong).await.0, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[test]
fn changes_are_forgotten_only_when_there_are_very_many_and_versions_never_come_back() {
    let mut store = VerifierStore::in_memory().unwrap();
    let now = Timestamp::from_secs(1000);
    let admission = Admission {
        id: uuid::Uuid::from_u128(1),
        name: "worker".to_owned(),
        address: "127.0.0.1:1".to_owned(),
        registration: uuid::Uuid::from_u128(2),
    };
    for number in 0..KEPT_CHANGES {
        let registration = uuid::Uuid::from_u128(u128::from(number) + 2);
        let admission = Admission {
            registration,
            ..admission.clone()
        };
        store.admit(&admission, now).unwrap();
        store.admit(&admission, now).unwrap();
    }
    store.expire(now, 1000).unwrap();
    assert_eq!(
        store.version().unwrap(),
        KEPT_CHANGES,
        "told twice, noted once"
    );
    assert_eq!(store.changes(0).unwrap().changes[0].version, 1);
    store.remove_worker("worker").unwrap();
    store.expire(now, 1000).unwrap();
    let gone = store.changes(0).err().unwrap();
    assert!(matches!(gone, StoreError::Gone { since: 0 }), "{gone}");
    assert_eq!(store.changes(1).unwrap().changes[0].version, 2);
    store.admit(&admission, now).unwrap();
    let generation = store.worker("worker").unwrap().generation;
    assert_eq!(generation, KEPT_CHANGES + 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_may_start_where_the_worker_is_trusted_and_all_images_are_known() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let start = |images: Value| {
        let operator = world.operator();
        async move {
            let body = json!({ "worker": "worker", "images": images });
            let (status, answer) = ask(&operator, Method::POST, "/v1/verifier/start", body).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
            answer
        }
    };
    let (known, unknown) = (content("image redis"), content("image of nobody"));
    let answer = start(json!([known])).await;
    assert_eq!(answer["allowed"], false, "not attested yet: {answer}");
    assert_eq!(answer["worker"], "unknown");
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let answer = start(json!([known])).await;
    assert_eq!(answer["allowed"], true, "{answer}");
    assert_eq!(answer["reasons"], json!([]));
    assert_eq!(answer["until"], world.now().plus_secs(600).millis());
    let answer = start(json!([known, unknown, unknown])).await;
    assert_eq!(answer["allowed"], false);
    assert_eq!(answer["unknown_images"], json!([unknown]));
    assert_eq!(start(json!([])).await["allowed"], false, "no image at all");
    world.later(600_001);
    let answer = start(json!([known])).await;
    assert_eq!(answer["allowed"], false, "it ran out: {answer}");
    let body = json!({ "worker": "nobody", "images": [known] });
    let (status, _) = world
        .operate(Method::POST, "/v1/verifier/start", body)
        .await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_container_a_pod_ever_had_is_remembered() {
    let world = World::new().await;
    let _worker = world.registered("worker").await;
    let mut pod = world.pod("worker", "redis");
    let first = pod.containers[0].clone();
    world.declare(&pod).await;
    assert_eq!(world.status(&pod).history, []);
    // Started again, with another image, and started again.
    pod.containers[0].id = Some("ef".repeat(32).parse().unwrap());
    pod.containers[0].digest = content("image redis 2");
    world.declare(&pod).await;
    let second = pod.containers[0].clone();
    pod.containers[0].id = None;
    world.declare(&pod).await;
    let mut history = world.status(&pod).history;
    history.sort_by_key(|container| container.id.map(|id| id.to_string()));
    let mut expected = vec![first, second.clone()];
    expected.sort_by_key(|container| container.id.map(|id| id.to_string()));
    assert_eq!(history, expected);
    pod.containers[0] = second;
    world.declare(&pod).await;
    assert_eq!(world.status(&pod).history.len(), 1);
    let path = format!("/v1/verifier/pods/{}", pod.uid);
    world.operate(Method::DELETE, &path, Value::Null).await;
    pod.containers[0].id = None;
    world.declare(&pod).await;
    assert_eq!(world.status(&pod).history, [], "another pod");
}

/// A list is written in pages of 256.
#[tokio::test(flavor = "multi_thread")]
async fn every_pod_is_listed_once_however_many_there_are() {
    let world = World::new().await;
    let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
    let mut declared = std::collections::BTreeSet::new();
    for count in [0, 1, 256, 513] {
        while declared.len() < count {
            let worker = if declared.len() % 2 == 0 {
                "even"
            } else {
                "odd"
            };
            let pod = world.pod(worker, "redis");
            verifier.declare(&pod).unwrap();
            declared.insert(pod.uid.to_string());
        }
        let list = get(&world, "/v1/verifier/pods").await;
        let listed = list["items"].as_array().unwrap().iter();
        let listed: Vec<&str> = listed
            .map(|pod| pod["pod"]["uid"].as_str().unwrap())
            .collect();
        assert!(listed.iter().copied().eq(declared.iter()), "{count}");
        assert_eq!(list["version"], json!(verifier.store().version().unwrap()));
        let odd = get(&world, "/v1/verifier/pods?worker=odd").await;
        assert_eq!(odd["items"].as_array().unwrap().len(), count / 2);
    }
    let (_, none) = world
        .operate(Method::GET, "/v1/verifier/pods?worker=nobody", Value::Null)
        .await;
    assert_eq!(none["items"], json!([]));
}
