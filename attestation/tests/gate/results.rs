//! Results that others can use: verified with nothing but the served keys.

use crate::protocols::{send, signed};
use crate::world::{World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::clock::Timestamp;
use locus_attestation::evidence::jws::{JwsError, TokenKey};
use locus_attestation::evidence::request::{Request, sign};
use locus_attestation::evidence::{
    AttestationResult, EarError, EarExpectations, JwkSet, Nonce, Tier, WORKER_SUBMODULE,
    pod_submodule, registration_submodule,
};
use locus_attestation::net::Role;
use locus_attestation::verifier::{Pod, Trust};
use serde_json::Value;
use uuid::Uuid;

/// Whoever reads results: it knows the gate's address and nothing else.
struct Reader {
    keys: JwkSet,
    worker: Uuid,
}

impl Reader {
    async fn new(world: &World, worker: &str) -> Self {
        // Any certificate of the installation will do; a tenant has the least.
        let client = world.client(Role::Tenant, "reader");
        let (status, keys) = ask(&client, Method::GET, "/v1/verifier/keys", Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{keys}");
        let path = format!("/v1/verifier/workers/{worker}");
        let (_, report) = world.operate(Method::GET, &path, Value::Null).await;
        Reader {
            keys: serde_json::from_value(keys).unwrap(),
            worker: report["worker"]["id"].as_str().unwrap().parse().unwrap(),
        }
    }

    fn read(
        &self,
        token: &Value,
        nonce: Nonce,
        audience: Option<&str>,
        now: Timestamp,
    ) -> Result<AttestationResult, EarError> {
        let expected = EarExpectations {
            worker: self.worker,
            nonce: Some(nonce),
            audience,
        };
        let keys = self.keys.trusted().unwrap();
        AttestationResult::verify(token.as_str().unwrap(), &keys, expected, now)
    }
}

fn nonce() -> Nonce {
    Nonce::random().unwrap()
}

fn codes(result: &AttestationResult, part: &str) -> Vec<String> {
    result.submods[part].codes.clone()
}

/// The tenant's request with a nonce of its own, and a query.
fn request(
    world: &World,
    pod: &Pod,
    nonce: &Nonce,
    query: &str,
) -> (String, Vec<(&'static str, String)>) {
    let target = format!("/v1/tenants/Tenant-76/pods/{}/attest{query}", pod.uid);
    let request = Request {
        method: "POST",
        target: &target,
        body: &[],
    };
    let headers = sign(&world.tenant_key(), request, nonce, world.now(), 60);
    let headers = vec![
        ("content-digest", headers.content_digest),
        ("signature-input", headers.signature_input),
        ("signature", headers.signature),
    ];
    (target, headers)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenants_result_is_bound_to_its_nonce_and_audience() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    world.later(60_000);
    let reader = Reader::new(&world, "worker").await;
    let tenant = world.client(Role::Tenant, "tenant-76");
    let asked = nonce();
    let (target, headers) = request(&world, &pod, &asked, "");
    let (status, answer) = send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let (token, now) = (&answer["token"], world.now());
    let part = pod_submodule(pod.uid);
    let result = reader.read(token, asked, Some("Tenant-76"), now).unwrap();
    assert_eq!(result.tier(&part), Tier::Affirming);
    assert_eq!(result.tier(WORKER_SUBMODULE), Tier::Affirming);
    assert!(codes(&result, &part).contains(&"attested".to_owned()));
    // What is written in it is all there is to it: wrong nonce, audience, time, key, content.
    let read = |nonce, audience, now| reader.read(token, nonce, audience, now).unwrap_err();
    assert_eq!(read(nonce(), Some("Tenant-76"), now), EarError::Nonce);
    assert_eq!(read(asked, Some("bank"), now), EarError::Audience);
    assert_eq!(read(asked, None, now), EarError::Audience);
    let expired = Timestamp::from_secs(result.exp);
    assert_eq!(read(asked, Some("Tenant-76"), expired), EarError::Expired);
    let before = Timestamp::from_secs(result.iat - 60);
    assert_eq!(read(asked, Some("Tenant-76"), before), EarError::Future);
    let text = token.as_str().unwrap();
    let dots: Vec<usize> = text.match_indices('.').map(|(place, _)| place).collect();
    for place in [dots[0] + 20, dots[0] + 60, dots[1] + 5] {
        let mut changed = text.as_bytes().to_vec();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let changed = Value::from(String::from_utf8(changed).unwrap());
        let error = reader
            .read(&changed, asked, Some("Tenant-76"), now)
            .unwrap_err();
        assert_eq!(error, EarError::Token(JwsError::Signature), "byte {place}");
    }
    let other = TokenKey::generate().unwrap();
    let forged = Value::from(result.sign(&other).unwrap());
    let error = reader.read(&forged, asked, Some("Tenant-76"), now);
    assert!(matches!(
        error,
        Err(EarError::Token(JwsError::UnknownKey(_)))
    ));
    // The tenant says who is to read it; that is signed, too.
    let asked = nonce();
    let (target, headers) = request(&world, &pod, &asked, "?audience=bank");
    let (status, answer) = send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let result = reader.read(&answer["token"], asked, Some("bank"), world.now());
    assert_eq!(result.unwrap().tier(&part), Tier::Affirming);
    let twisted = target.replace("bank", "mallory");
    let (status, _) = send(&tenant, Method::POST, &twisted, &headers).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    // Without a new attestation: the last result, for this request.
    let (target, headers) = signed(&world, &pod, Method::GET);
    let (status, answer) = send(&tenant, Method::GET, &target, &headers).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let error = reader.read(&answer["token"], asked, Some("Tenant-76"), world.now());
    assert_eq!(error, Err(EarError::Nonce), "each request has its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_signed_as_well() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    worker.run(&pod, content("miner"), "/tmp/miner\n2026 INFO all is well");
    world.later(60_000);
    let reader = Reader::new(&world, "worker").await;
    let tenant = world.client(Role::Tenant, "tenant-76");
    let part = pod_submodule(pod.uid);
    let asked = nonce();
    let (target, headers) = request(&world, &pod, &asked, "");
    let (status, answer) = send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_eq!(answer["code"], "pod-unknown", "{answer}");
    let result = reader
        .read(&answer["result"], asked, Some("Tenant-76"), world.now())
        .unwrap();
    assert_eq!(result.tier(&part), Tier::Contraindicated);
    assert_eq!(codes(&result, &part), ["pod-unknown"]);
    let words = &result.submods[&part].reasons[0];
    assert!(words.contains("/tmp/miner"), "{words}");
    assert!(!words.contains('\n'), "one line stays one line: {words}");
    let error = reader.read(&answer["result"], nonce(), Some("Tenant-76"), world.now());
    assert_eq!(error, Err(EarError::Nonce));
    // Nothing was found out: that is no verdict on anybody, and it is signed, too.
    let address = worker.address();
    worker.kill().await;
    let asked = nonce();
    let path = format!("/v1/verifier/workers/worker/attest?nonce={asked}&audience=ops%20%26%20co");
    let (status, answer) = world.operate(Method::POST, &path, Value::Null).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
    assert_eq!(answer["code"], "agent-failed", "{answer}");
    let result = reader
        .read(&answer["result"], asked, Some("ops & co"), world.now())
        .unwrap();
    assert_eq!(result.tier(WORKER_SUBMODULE), Tier::None);
    worker.start_at(&address).await;
    // A pod of a worker that is refused: the worker is what is wrong.
    worker.measure(
        "/bin/bash:swapper/0",
        "/",
        content("rootkit"),
        "/tmp/rootkit",
    );
    let asked = nonce();
    let path = format!("/v1/verifier/pods/{}/attest?nonce={asked}", pod.uid);
    let (status, answer) = world.operate(Method::POST, &path, Value::Null).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_eq!(answer["code"], "host-unknown", "{answer}");
    let result = reader
        .read(&answer["result"], asked, None, world.now())
        .unwrap();
    assert_eq!(result.tier(WORKER_SUBMODULE), Tier::Contraindicated);
    assert_eq!(
        result.tier(&part),
        Tier::None,
        "nothing was concluded about it"
    );
    // From then on it is known to be untrusted, and so is the refusal.
    let (_, answer) = world.operate(Method::POST, &path, Value::Null).await;
    assert_eq!(answer["code"], "worker-untrusted", "{answer}");
    let result = reader.read(&answer["result"], asked, None, world.now());
    assert_eq!(
        result.unwrap().tier(WORKER_SUBMODULE),
        Tier::Contraindicated
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_have_results_too() {
    let world = World::new().await;
    let _worker = world.registered("worker").await;
    let reader = Reader::new(&world, "worker").await;
    let asked = nonce();
    let path = format!("/v1/verifier/workers/worker/attest?nonce={asked}&audience=scheduler");
    let (status, answer) = world.operate(Method::POST, &path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let result = reader
        .read(&answer["token"], asked, Some("scheduler"), world.now())
        .unwrap();
    assert_eq!(result.tier(WORKER_SUBMODULE), Tier::Affirming);
    // The TPMs of tests are programs: the result does not speak of hardware, and says so.
    let found = codes(&result, WORKER_SUBMODULE);
    assert_eq!(found, ["attested", "software-tpm"]);
    assert_eq!(result.submods[WORKER_SUBMODULE].vector.hardware, 0);
    assert!(result.exp > result.iat && result.iat <= world.now().secs());
    let error = reader.read(&answer["token"], asked, Some("pods"), world.now());
    assert_eq!(error, Err(EarError::Audience));
    // What cannot be in a result is refused before anybody is asked.
    for query in ["nonce=short", "audience=", "audience=a%0Ab"] {
        let path = format!("/v1/verifier/workers/worker/attest?{query}");
        let (status, answer) = world.operate(Method::POST, &path, Value::Null).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_registration_is_signed_as_well() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let id = Reader::new(&world, "worker").await.worker;
    // Nobody has proven to be a worker: the refusal is about a name.
    let reader = Reader {
        worker: Uuid::nil(),
        ..Reader::new(&world, "worker").await
    };
    let register = async |address: &str, asked: Nonce| {
        let path = format!("/v1/registrations?nonce={asked}&audience=ops");
        let joined = serde_json::json!({ "name": "worker", "address": address });
        world.operate(Method::POST, &path, joined).await
    };
    let part = registration_submodule("worker");
    let path = format!("/v1/manufacturers/{}", world.factory.manufacturer());
    let (status, _) = world.operate(Method::DELETE, &path, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let asked = nonce();
    let (status, answer) = register(&worker.address(), asked).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    let (token, now) = (&answer["result"], world.now());
    let result = reader.read(token, asked, Some("ops"), now).unwrap();
    assert_eq!(result.tier(&part), Tier::Contraindicated);
    assert_eq!(codes(&result, &part), ["endorsement-refused"]);
    let words = &result.submods[&part].reasons[0];
    assert!(words.contains("endorsement key"), "{words}");
    assert_eq!(result.tier(WORKER_SUBMODULE), Tier::None);
    // Of the worker that is registered with this name it says nothing.
    let registered = Reader {
        worker: id,
        ..Reader::new(&world, "worker").await
    };
    let error = registered.read(token, asked, Some("ops"), now);
    assert_eq!(error, Err(EarError::Worker));
    for (nonce, audience, error) in [
        (nonce(), Some("ops"), EarError::Nonce),
        (asked, Some("bank"), EarError::Audience),
    ] {
        assert_eq!(reader.read(token, nonce, audience, now), Err(error));
    }
    // Nothing was found out about one that is not there.
    let address = worker.address();
    worker.kill().await;
    let asked = nonce();
    let (status, answer) = register(&address, asked).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    let result = reader.read(&answer["result"], asked, Some("ops"), now);
    let result = result.unwrap();
    assert_eq!(result.tier(&part), Tier::None);
    assert_eq!(codes(&result, &part), ["agent-failed"]);
    // Only the worker handler has refusals signed, and nothing else.
    let lie = serde_json::json!({ "name": "worker", "code": "attested", "reason": "all is well" });
    let path = "/v1/verifier/refusals";
    let (status, _) = world.operate(Method::POST, path, lie.clone()).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let handler = world.client(Role::WorkerHandler, "handler");
    let (status, answer) = ask(&handler, Method::POST, path, lie).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
}

/// Whoever asks for one pod has all pods judged, and no more results signed than are needed.
#[tokio::test(flavor = "multi_thread")]
async fn the_results_of_other_pods_are_renewed_when_they_are_due() {
    let world = World::new().await;
    let mut worker = world.registered("worker").await;
    let asked = world.healthy_pod(&mut worker, "asked").await;
    let other = world.healthy_pod(&mut worker, "other").await;
    let attest = "/v1/verifier/workers/worker/attest";
    let (status, answer) = world.operate(Method::POST, attest, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let first = world.status(&other);
    assert_eq!(first.trust, Trust::Trusted);
    world.later(60_000);
    let before = world.status(&asked);
    assert_eq!(world.attest(&asked).await.0, StatusCode::OK);
    assert_ne!(world.status(&asked).token, before.token);
    assert_eq!(
        world.status(&other),
        first,
        "its result counts for long enough"
    );
    // Half of the time that a result counts.
    world.later(300_000);
    assert_eq!(world.attest(&asked).await.0, StatusCode::OK);
    let renewed = world.status(&other);
    assert_eq!(renewed.trust, Trust::Trusted);
    assert!(renewed.token != first.token && renewed.checked > first.checked);
    // What is wrong with it is never late.
    worker.run(&other, content("miner"), "/tmp/miner");
    assert_eq!(world.attest(&asked).await.0, StatusCode::OK);
    let condemned = world.status(&other);
    assert_eq!(condemned.trust, Trust::Untrusted, "{}", condemned.reason);
    assert_ne!(condemned.token, renewed.token);
}
