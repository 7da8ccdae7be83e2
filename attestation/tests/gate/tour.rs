//! A tour of everything that takes or gives JSON, with bodies as they should be and with faults.

use std::collections::BTreeSet;

use crate::protocols::{send, signed};
use crate::schemas::{DOCUMENTS, faults, operation, unreadable};
use crate::world::{World, ask, content};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use hyper::{Method, StatusCode};
use locus_attestation::agent::server::{
    ACKNOWLEDGE, CERTIFICATE, CHALLENGE, EVIDENCE, IDENTITY, SUCCESSION,
};
use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::Nonce;
use locus_attestation::net::tls::Credentials;
use locus_attestation::net::{Client, Role};
use locus_attestation::protocol::{Acknowledgement, Challenge, EvidenceRequest, Identity, Proof};
use locus_attestation::tpm::pcr::BOOT_PCRS;
use locus_attestation::tpm::{PcrSelection, Public, make_credential};
use locus_attestation::verifier::Retention;
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// Everything that takes or gives JSON, by name.
fn speaks_json() -> BTreeSet<String> {
    let items = DOCUMENTS.iter().flat_map(|document| {
        let paths = document["paths"].as_object().unwrap().values();
        paths.flat_map(|item| item.as_object().unwrap().values())
    });
    let speaking = items.filter(|operation| {
        let (request, response) = (&operation["requestBody"], &operation["responses"]["2XX"]);
        [request, response]
            .iter()
            .any(|body| body["content"].get("application/json").is_some())
    });
    speaking.map(name).collect()
}

fn name(operation: &Value) -> String {
    operation["operationId"].as_str().unwrap().to_owned()
}

/// The same body with faults: without a member, with one too many, with one of another kind, and
/// something else altogether.
fn spoilt(body: &Value) -> Vec<Value> {
    let mut all = vec![json!(7), json!("text"), json!([7])];
    let Some(members) = body.as_object() else {
        return all;
    };
    for key in members.keys() {
        let mut wrong = body.clone();
        wrong.as_object_mut().unwrap().remove(key);
        all.push(wrong);
        for value in [json!({ "no": 1 }), json!([[]]), json!(-1.5), Value::Null] {
            let mut wrong = body.clone();
            wrong[key] = value;
            all.push(wrong);
        }
    }
    let mut wrong = body.clone();
    wrong["unknown"] = json!(true);
    all.push(wrong);
    all
}

/// Goes through the endpoints and remembers which it met.
struct Tour {
    operator: Client,
    components: Client,
    agent: Client,
    met: BTreeSet<String>,
    refused: usize,
}

impl Tour {
    fn client(&self, method: &Method, path: &str) -> Client {
        let (_, operation) = operation(method, path).unwrap();
        let roles = operation["x-locus-roles"].as_array().unwrap();
        if path.starts_with("/v1/agent/") {
            self.agent.clone()
        } else if roles.contains(&json!("operator")) {
            self.operator.clone()
        } else {
            self.components.clone()
        }
    }

    /// Asks for JSON, which must be answered.
    async fn get(&mut self, method: Method, path: &str) -> Value {
        let client = self.client(&method, path);
        let (status, answer) = ask(&client, method.clone(), path, Value::Null).await;
        assert!(status.is_success(), "{path}: {answer}");
        self.met.insert(name(operation(&method, path).unwrap().1));
        answer
    }

    /// Sends JSON, first with faults that must be refused, then as it should be.
    async fn send(&mut self, method: Method, path: &str, body: impl Serialize) -> (u16, Value) {
        let body = serde_json::to_value(body).unwrap();
        let client = self.client(&method, path);
        let (document, operation) = operation(&method, path).unwrap();
        let content = &operation["requestBody"]["content"];
        for wrong in spoilt(&body) {
            let (status, answer) = ask(&client, method.clone(), path, wrong.clone()).await;
            // What may be left out is no fault; asking has held it to the schema.
            if !faults(document, content, "application/json", &wrong).is_empty() {
                assert!(unreadable(status, &answer), "{path} {wrong}: {answer}");
                self.refused += 1;
            }
        }
        let (status, answer) = ask(&client, method, path, body).await;
        assert!(!unreadable(status, &answer), "{path}: {answer}");
        self.met.insert(name(operation));
        (status.as_u16(), answer)
    }
}

impl Tour {
    /// An agent that comes by itself gets a task, and refuses it.
    async fn push(&mut self, world: &World) {
        let (operator, joined) = (
            self.operator.clone(),
            json!({ "name": "behind-nat", "address": "push" }),
        );
        let asked =
            tokio::spawn(
                async move { ask(&operator, Method::POST, "/v1/registrations", joined).await },
            );
        let agent = world.client(Role::Agent, "behind-nat");
        let path = "/v1/push/next?wait=5";
        let task = loop {
            let (status, task) = ask(&agent, Method::GET, path, Value::Null).await;
            if status == StatusCode::OK && !task.is_null() {
                break task;
            }
            // Nothing is expected of it before it is asked for.
            assert!(task.is_null() || status == StatusCode::FORBIDDEN, "{task}");
        };
        let (_, operation) = operation(&Method::GET, path).unwrap();
        self.met.insert(name(operation));
        let path = format!(
            "/v1/push/answers/{}?status=500",
            task["id"].as_str().unwrap()
        );
        let (status, answer) = ask(&agent, Method::POST, &path, Value::Null).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
        let (status, answer) = asked.await.unwrap();
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    }
}

fn revocation_list() -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.key_usages = vec![rcgen::KeyUsagePurpose::CrlSign];
    let list = rcgen::CertificateRevocationListParams {
        this_update: rcgen::date_time_ymd(2026, 1, 1),
        next_update: rcgen::date_time_ymd(2027, 1, 1),
        crl_number: rcgen::SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: Vec::new(),
        key_identifier_method: rcgen::KeyIdMethod::Sha256,
    };
    let issuer = rcgen::Issuer::from_params(&params, &key);
    list.signed_by(&issuer).unwrap().pem().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_json_is_as_it_is_described() {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    world
        .start_gate_as(|config| config.retention = Retention::of_days(1))
        .await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let own = Credentials::read(&world.folder.path().join("gate"), "gate").unwrap();
    let components = |address: &str, name| Client::new(own.client().unwrap(), address, name);
    let mut tour = Tour {
        operator: world.operator(),
        components: components(&world.gate_address, "gate"),
        agent: components(&worker.address(), "worker"),
        met: BTreeSet::new(),
        refused: 0,
    };
    let (get, post, put) = (Method::GET, Method::POST, Method::PUT);

    // The registrar.
    let key = tour.get(get.clone(), "/v1/tenants/Tenant-76").await["public_key"].clone();
    let tenant = json!({ "name": "other", "public_key": key });
    assert_eq!(tour.send(post.clone(), "/v1/tenants", tenant).await.0, 409);
    let maker = json!({ "id": "id:49465800", "name": "maker" });
    let (status, _) = tour.send(post.clone(), "/v1/manufacturers", maker).await;
    assert_eq!(status, 200);
    let certificates = "/v1/manufacturers/id:49465800/certificates";
    let root = json!({ "kind": "root", "certificate": world.factory.roots()[0].1 });
    let (status, answer) = tour.send(post.clone(), certificates, root).await;
    assert_eq!(status, 200, "{answer}");
    let list = json!({ "revocation_list": revocation_list() });
    let path = "/v1/manufacturers/id:49465800/revocation-lists";
    let (status, answer) = tour.send(post.clone(), path, list).await;
    assert_eq!(status, 200, "{answer}");
    let record = tour.get(get.clone(), "/v1/workers/worker").await;
    let proposal = format!("/v1/proposals/{}", Uuid::new_v4());
    let (status, answer) = tour.send(put.clone(), &proposal, &record).await;
    assert_eq!(status, 204, "{answer}");
    for (step, expected) in [
        ("confirm", 404),
        ("accept", 204),
        ("confirm", 204),
        ("confirm", 204),
    ] {
        let path = format!("{proposal}/{step}");
        let (status, answer) = ask(&tour.components, post.clone(), &path, Value::Null).await;
        assert_eq!(status, expected, "{step}: {answer}");
    }
    tour.get(get.clone(), "/v1/outstanding").await;
    tour.get(get.clone(), "/v1/verifier/agents-key").await;
    tour.get(get.clone(), "/v1/verifier/keys").await;
    let shown: Identity = serde_json::from_value(tour.get(get.clone(), IDENTITY).await).unwrap();
    let path = "/v1/endorsement-keys/validate";
    let (status, answer) = tour.send(post.clone(), path, &shown.endorsement).await;
    assert_eq!(status, 204, "{answer}");

    // The reference values.
    let files = json!({ "/bin/sh": [content("sh")], "/odd \\\\ \\xff": [] });
    let (os, image) = ("/v1/reference/os/debian", "/v1/reference/images/new");
    let whole = json!({ "digests": [content("new")], "files": files, "sandbox": true });
    for (method, path, body) in [
        (
            put.clone(),
            os,
            json!({ "boot_aggregates": [content("boot")] }),
        ),
        (put.clone(), image, whole),
        (
            post.clone(),
            "/v1/reference/images/new/files",
            files.clone(),
        ),
        (
            Method::DELETE,
            "/v1/reference/images/new/files",
            json!(["/bin/sh"]),
        ),
        (
            put.clone(),
            "/v1/reference/runtimes/runc",
            json!({ "files": files }),
        ),
        (
            put.clone(),
            "/v1/reference/hosts/host",
            json!({ "files": files }),
        ),
    ] {
        let (status, answer) = tour.send(method, path, body).await;
        assert_eq!(status, 204, "{path}: {answer}");
    }

    // The verifier and the handlers.
    let joined = json!({ "name": "worker", "address": worker.address() });
    let (status, answer) = tour.send(post.clone(), "/v1/registrations", joined).await;
    assert_eq!(status, 200, "{answer}");
    let admission = json!({ "id": record["id"], "name": "worker", "address": worker.address(),
        "registration": Uuid::new_v4() });
    let (status, answer) = tour
        .send(post.clone(), "/v1/verifier/workers", admission)
        .await;
    assert_eq!(status, 204, "{answer}");
    let refused = json!({ "name": "worker", "code": "wrong-worker", "reason": "another" });
    let (status, answer) = tour
        .send(post.clone(), "/v1/verifier/refusals", refused)
        .await;
    assert_eq!(status, 200, "{answer}");
    let start = json!({ "worker": "worker", "images": [content("image redis")] });
    let (status, answer) = tour.send(post.clone(), "/v1/verifier/start", start).await;
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = tour.send(post.clone(), "/v1/verifier/pods", &pod).await;
    assert_eq!(status, 200, "{answer}");
    tour.get(post.clone(), "/v1/verifier/workers/worker/attest")
        .await;
    tour.get(
        post.clone(),
        &format!("/v1/verifier/pods/{}/attest", pod.uid),
    )
    .await;
    tour.get(get.clone(), &format!("/v1/verifier/pods/{}", pod.uid))
        .await;
    for path in [
        "/openapi.json",
        "/v1/tenants",
        "/v1/workers",
        "/v1/manufacturers",
        certificates,
        "/v1/reference",
        "/v1/reference/generation",
        "/v1/verifier/workers",
        "/v1/verifier/workers/worker",
        "/v1/verifier/pods",
        "/v1/verifier/pods?worker=worker",
        "/v1/verifier/changes?since=0",
        "/v1/verifier/evidence",
        "/v1/verifier/evidence/1",
    ] {
        tour.get(get.clone(), path).await;
    }
    tour.push(&world).await;
    world.later(120_000);
    let tenant = world.client(Role::Tenant, "tenant-76");
    for method in [get.clone(), post.clone()] {
        let (target, headers) = signed(&world, &pod, method.clone());
        let (status, answer) = send(&tenant, method.clone(), &target, &headers).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        tour.met
            .insert(name(operation(&method, &target).unwrap().1));
    }

    // The agent.
    let request = EvidenceRequest {
        nonce: Nonce::random().unwrap(),
        worker: shown.worker,
        pod: Some(pod.claim()),
        tenant: Some(pod.tenant),
        first_entry: 0,
        selection: PcrSelection::of(HashAlg::Sha256, 0..=10),
        boot_log: false,
    };
    let (status, answer) = tour.send(post.clone(), EVIDENCE, &request).await;
    assert_eq!(status, 200, "{answer}");
    let shown: Identity = serde_json::from_value(tour.get(get, IDENTITY).await).unwrap();
    let endorsement = Public::parse(&shown.endorsement.public).unwrap();
    let random = &mut UnwrapErr(SysRng);
    let challenge = Challenge {
        session: Uuid::new_v4(),
        credential: make_credential(&endorsement, &shown.ak_name, &[7; 32], random).unwrap(),
        others: shown
            .others
            .iter()
            .map(|other| {
                let key = Public::parse(&other.public).unwrap();
                make_credential(&key, &shown.ak_name, &[7; 32], random).unwrap()
            })
            .collect(),
        nonce: vec![8; 32],
        selection: PcrSelection::of(HashAlg::Sha256, BOOT_PCRS),
    };
    let (status, answer) = tour.send(post.clone(), CHALLENGE, &challenge).await;
    assert_eq!(status, 200, "{answer}");
    let proof: Proof = serde_json::from_value(answer).unwrap();
    let acknowledgement = Acknowledgement {
        session: proof.session,
        verifier_key: content("some key").to_string(),
        certificate: "none".to_owned(),
        mac: vec![0; 32],
    };
    let (status, answer) = tour.send(post.clone(), ACKNOWLEDGE, &acknowledgement).await;
    assert!((400..500).contains(&status), "a wrong code: {answer}");
    let successions = json!([{ "from": "AAAA", "to": "none", "signature": "" }]);
    let (status, answer) = tour.send(post.clone(), SUCCESSION, successions).await;
    assert_eq!(status, 204, "what leads nowhere changes nothing: {answer}");
    let certificate = json!({ "certificate": "none" });
    let (status, answer) = tour.send(post, CERTIFICATE, certificate).await;
    assert!((400..500).contains(&status), "no certificate: {answer}");

    assert_eq!(tour.met, speaks_json());
    assert!(tour.refused > 200, "{}", tour.refused);
}
