//! The protocols from end to end: real gate, real agent, mutual TLS.

use crate::world::{World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::evidence::Nonce;
use locus_attestation::evidence::request::{Request, sign};
use locus_attestation::net::{Client, Role};
use locus_attestation::policy::Mode;
use locus_attestation::verifier::{Pod, Trust};
use serde_json::Value;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_registered_and_its_pod_attested_incrementally() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    assert_eq!(
        world.trust("worker"),
        Trust::Unknown,
        "registered is not attested"
    );
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(
        world.status(&pod).trust,
        Trust::Unknown,
        "a new pod is not trusted"
    );
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["trust"], "trusted");
    assert_eq!(world.trust("worker"), Trust::Trusted);
    assert_eq!(answer["token"].as_str().unwrap().split('.').count(), 3);
    // Nothing new is no failure, and something new is all that is sent.
    for _ in 0..2 {
        assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    }
    worker.run(&pod, content("libc"), "/lib/libc.so");
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_file_condemns_the_pod_and_not_its_worker() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let good = world.healthy_pod(&mut worker, "good").await;
    let bad = world.healthy_pod(&mut worker, "bad").await;
    worker.run(&bad, content("miner"), "/tmp/miner");
    let reason = world.refused(&bad, "pod-untrusted").await;
    assert!(reason.contains("/tmp/miner"), "{reason}");
    assert_eq!(world.status(&bad).trust, Trust::Untrusted);
    let (status, answer) = world.attest(&good).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(world.trust("worker"), Trust::Trusted);
    world.refused(&bad, "pod-untrusted").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_quote_judges_all_pods_of_a_worker() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let good = world.healthy_pod(&mut worker, "good").await;
    let bad = world.healthy_pod(&mut worker, "bad").await;
    worker.run(&bad, content("miner"), "/tmp/miner");
    let path = "/v1/verifier/workers/worker/attest";
    let (status, answer) = world.operate(Method::POST, path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["worker"]["trust"], "trusted");
    assert_eq!(world.status(&good).trust, Trust::Trusted);
    assert_eq!(world.status(&bad).trust, Trust::Untrusted);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_survives_a_restart_with_the_same_key_and_certificate() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    worker.kill().await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
    assert_eq!(answer["effect"], "inconclusive");
    worker.start().await;
    // Its address changed; in a cluster it is that of a service. Registered anew, it is the same worker.
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

pub(crate) fn signed(
    world: &World,
    pod: &Pod,
    method: Method,
) -> (String, Vec<(&'static str, String)>) {
    let target = match method {
        Method::POST => format!("/v1/tenants/Tenant-76/pods/{}/attest", pod.uid),
        _ => format!("/v1/tenants/Tenant-76/pods/{}", pod.uid),
    };
    let request = Request {
        method: method.as_str(),
        target: &target,
        body: &[],
    };
    let nonce = Nonce::random().unwrap();
    let headers = sign(&world.tenant_key(), request, &nonce, world.now(), 60);
    let headers = vec![
        ("content-digest", headers.content_digest),
        ("signature-input", headers.signature_input),
        ("signature", headers.signature),
    ];
    (target, headers)
}

pub(crate) async fn send(
    client: &Client,
    method: Method,
    target: &str,
    headers: &[(&'static str, String)],
) -> (StatusCode, Value) {
    let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let (status, body) = client
        .exchange(method.clone(), target, &headers, Vec::new())
        .await
        .unwrap();
    let answer = serde_json::from_slice(&body).unwrap_or(Value::Null);
    crate::schemas::check(&method, target, &Value::Null, status, &answer);
    (status, answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_attests_its_own_pods_with_signed_requests_and_no_others() {
    let world = World::new().await;
    // Requests signed before the gate's start could be replays of what it has forgotten.
    world.later(120_000);
    let mut worker = world.registered("worker").await;
    let own = world.healthy_pod(&mut worker, "own").await;
    let mut foreign = world.pod("worker", "foreign");
    foreign.tenant = uuid::Uuid::new_v4();
    world.declare(&foreign).await;
    let tenant = world.client(Role::Tenant, "tenant-76");
    let (target, headers) = signed(&world, &own, Method::POST);
    let (status, answer) = send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let (status, _) = send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED, "a request is good once");
    let (target, headers) = signed(&world, &own, Method::GET);
    let (status, _) = send(&tenant, Method::POST, &target, &headers).await;
    assert_ne!(status, StatusCode::OK, "the method is signed");
    let (target, headers) = signed(&world, &foreign, Method::POST);
    let (status, answer) = send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{answer}");
    let (status, _) = send(&tenant, Method::POST, &target, &[]).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED, "unsigned");
    let (_, headers) = signed(&world, &own, Method::POST);
    let (status, _) = send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED, "signed for another pod");
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_rotated_and_the_old_ones_replaced() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let before = std::fs::read_to_string(worker.state.join("registered.json")).unwrap();
    let path = "/v1/registrations/worker/rotate";
    let (status, answer) = world.operate(Method::POST, path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    let after = std::fs::read_to_string(worker.state.join("registered.json")).unwrap();
    assert_ne!(before, after);
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn health_metrics_and_the_document_are_served() {
    let world = World::new().await;
    let operator = world.operator();
    for path in ["/healthz", "/readyz", "/metrics"] {
        let (status, _) = operator
            .exchange(Method::GET, path, &[], Vec::new())
            .await
            .unwrap();
        assert_eq!(status, StatusCode::OK, "{path}");
    }
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let answer = operator.exchange(Method::GET, "/metrics", &[], Vec::new());
    let metrics = String::from_utf8(answer.await.unwrap().1.to_vec()).unwrap();
    for line in [
        "# TYPE locus_attestations_total counter",
        "locus_attestations_total{outcome=\"trusted\"} 1",
        "locus_registrations_total{outcome=\"registered\"} 1",
        "locus_log_entries_total{outcome=\"verified\"} 3",
        "locus_attestation_seconds_count 1",
        "locus_pods{trust=\"trusted\"} 1",
        "locus_workers{trust=\"untrusted\"} 0",
    ] {
        assert!(
            metrics.lines().any(|found| found == line),
            "{line}: {metrics}"
        );
    }
    let (_, document) = ask(&operator, Method::GET, "/openapi.json", Value::Null).await;
    let paths = document["paths"].as_object().unwrap();
    for path in [
        "/v1/registrations",
        "/v1/verifier/pods/{uid}/attest",
        "/v1/tenants",
        "/metrics",
    ] {
        assert!(paths.contains_key(path), "{path}");
    }
}

/// A pod keeps its owner and its place; what it consists of may be completed, and is judged anew then.
#[tokio::test(flavor = "multi_thread")]
async fn a_pod_described_anew_is_not_trusted_for_what_it_was() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let declare = |pod: &Pod| {
        let body = serde_json::to_value(pod).unwrap();
        let operator = world.operator();
        async move {
            ask(&operator, Method::POST, "/v1/verifier/pods", body)
                .await
                .0
        }
    };
    let mut stolen = pod.clone();
    stolen.tenant = uuid::Uuid::new_v4();
    let mut moved = pod.clone();
    moved.worker = "elsewhere".to_owned();
    for other in [stolen, moved] {
        assert_eq!(declare(&other).await, StatusCode::CONFLICT);
    }
    assert_eq!(declare(&pod).await, StatusCode::OK);
    assert_eq!(world.status(&pod).trust, Trust::Trusted, "nothing new");
    let mut more = pod.clone();
    more.containers
        .push(locus_attestation::verifier::PodContainer {
            name: "debug".to_owned(),
            image: "unknown".to_owned(),
            digest: content("image of nobody"),
            id: None,
        });
    assert_eq!(declare(&more).await, StatusCode::OK);
    assert_eq!(world.status(&pod).trust, Trust::Unknown);
    assert!(world.status(&pod).token.is_empty());
    world.refused(&pod, "pod-untrusted").await;
    assert_eq!(declare(&pod).await, StatusCode::OK);
    assert_eq!(
        world.status(&pod).trust,
        Trust::Untrusted,
        "stays condemned"
    );
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "until it is attested: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_is_gone_is_forgotten() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let gone = world.healthy_pod(&mut worker, "gone").await;
    let stays = world.healthy_pod(&mut worker, "stays").await;
    assert_eq!(world.attest(&gone).await.0, StatusCode::OK);
    let path = format!("/v1/verifier/pods/{}", gone.uid);
    for expected in [StatusCode::NO_CONTENT, StatusCode::NOT_FOUND] {
        let (status, _) = world.operate(Method::DELETE, &path, Value::Null).await;
        assert_eq!(status, expected);
    }
    let verifier = world.gate.as_ref().unwrap().verifier.clone().unwrap();
    let id = verifier.store().worker("worker").unwrap().id;
    let ledger = verifier.store().node(id).unwrap().ledger;
    assert!(ledger.subjects_of_pod(gone.uid, &[]).is_empty());
    assert!(!ledger.subjects_of_pod(stays.uid, &[]).is_empty());
    let (status, answer) = world.attest(&stays).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

/// What was accepted is judged anew when the reference values change.
#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawn_reference_value_counts_at_the_next_attestation() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let path = "/v1/reference/images/redis/files";
    let files = serde_json::json!(["/usr/bin/redis"]);
    let (status, answer) = world.operate(Method::DELETE, path, files).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    let reason = world.refused(&pod, "pod-untrusted").await;
    assert!(reason.contains("/usr/bin/redis"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_are_held_to_reference_values_unless_the_policy_says_otherwise() {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    world
        .start_gate_as(|config| config.policy.each(|policy| policy.host = Mode::Reported))
        .await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let group = "/system.slice/ssh.service";
    worker.measure(
        "/usr/sbin/sshd:swapper/0",
        group,
        content("sshd"),
        "/usr/sbin/sshd",
    );
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    world.gate.take().unwrap().stop().await;
    world.start_gate().await;
    let host = serde_json::json!({ "files": { "/usr/sbin/sshd": [content("sshd")] } });
    let (status, _) = world
        .operate(Method::PUT, "/v1/reference/hosts/debian", host)
        .await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    worker.measure("/tmp/kit:swapper/0", group, content("kit"), "/tmp/kit");
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("/tmp/kit"), "{reason}");
}
