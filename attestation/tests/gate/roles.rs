//! Every component in a process of its own, and the descriptions of all endpoints.

use std::sync::Arc;

use crate::world::{World, ask, content};
use hyper::{Method, StatusCode};
use locus_attestation::clock::{Clock, SystemClock};
use locus_attestation::evidence::jws::{TokenKey, public_key_to_pem};
use locus_attestation::gate::args::renew;
use locus_attestation::gate::{COMPONENTS, GateConfig, RunningGate, start};
use locus_attestation::net::tls::Credentials;
use locus_attestation::net::{Client, Role};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Starts one component alone; it learns where those are that started before it.
async fn alone(world: &World, role: Role, others: &[(Role, RunningGate)]) -> RunningGate {
    let place = |wanted: Role| {
        let found = others.iter().find(|(role, _)| *role == wanted);
        found.map(|(_, gate)| gate.address.to_string())
    };
    let config = GateConfig {
        roles: vec![role],
        registrar: place(Role::Registrar),
        reference: place(Role::Reference),
        verifier: place(Role::Verifier),
        ..GateConfig::all_in(&world.folder.path().join("gate"))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let clock: Arc<dyn Clock> = world.clock.clone();
    start(config, listener, clock).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_component_can_run_alone() {
    let mut world = World::new().await;
    // The values that the world entered are in the databases, which the components alone take over.
    world.gate.take().unwrap().stop().await;
    let mut running: Vec<(Role, RunningGate)> = Vec::new();
    for role in COMPONENTS {
        let gate = alone(&world, role, &running).await;
        running.push((role, gate));
    }
    let operator = |role: Role| {
        let (_, gate) = running.iter().find(|(known, _)| *known == role).unwrap();
        world.client_to(
            Role::Operator,
            "root",
            &gate.address.to_string(),
            role.name(),
        )
    };
    let machine = world.factory.make("worker");
    let (status, _) = ask(
        &operator(Role::Registrar),
        Method::POST,
        "/v1/manufacturers",
        json!({
            "id": world.factory.manufacturer(), "name": "the factory",
        }),
    )
    .await;
    assert_eq!(status, StatusCode::OK);
    for (kind, pem) in world.factory.roots() {
        let path = format!(
            "/v1/manufacturers/{}/certificates",
            world.factory.manufacturer()
        );
        let body = json!({ "kind": kind, "certificate": pem });
        let (status, answer) = ask(&operator(Role::Registrar), Method::POST, &path, body).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    let mut worker = world.worker_with("worker", machine).await;
    let joined = json!({ "name": "worker", "address": worker.address() });
    let handler = operator(Role::WorkerHandler);
    let (status, answer) = ask(&handler, Method::POST, "/v1/registrations", joined).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // The verifier signs a refusal of the worker handler, which has no key for that.
    let nobody = json!({ "name": "nobody", "address": "127.0.0.1:1" });
    let (status, answer) = ask(&handler, Method::POST, "/v1/registrations", nobody).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    let token = answer["result"].as_str().unwrap_or_default();
    assert_eq!(token.split('.').count(), 3, "{answer}");
    let (_, workers) = ask(
        &operator(Role::Registrar),
        Method::GET,
        "/v1/workers",
        Value::Null,
    )
    .await;
    assert_eq!(workers[0]["name"], "worker");
    let rotate = "/v1/registrations/worker/rotate";
    let (status, answer) = ask(&handler, Method::POST, rotate, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");

    let pod = world.pod("worker", "redis");
    let verifier = operator(Role::Verifier);
    let body = serde_json::to_value(&pod).unwrap();
    let (status, answer) = ask(&verifier, Method::POST, "/v1/verifier/pods", body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    worker.run(&pod, content("redis"), "/usr/bin/redis");
    world.later(120_000);
    let (target, headers) = crate::protocols::signed(&world, &pod, Method::POST);
    let place = running.last().unwrap().1.address.to_string();
    let tenant = world.client_to(Role::Tenant, "tenant-76", &place, Role::PodHandler.name());
    let (status, answer) = crate::protocols::send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["trust"], "trusted");
    // A refusal comes through with its reason and its effect.
    worker.run(&pod, content("miner"), "/tmp/miner");
    let (target, headers) = crate::protocols::signed(&world, &pod, Method::POST);
    let (status, answer) = crate::protocols::send(&tenant, Method::POST, &target, &headers).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_eq!(answer["effect"], "pod-untrusted", "{answer}");
    assert!(answer["detail"].as_str().unwrap().contains("/tmp/miner"));
    // A name is a name, whatever is in it.
    let strange = target.replace("Tenant-76", "..%2F..%2Fv1%2Fworkers%2Fworker%3F%23%20x");
    let (status, answer) = crate::protocols::send(&tenant, Method::POST, &strange, &headers).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{answer}");
    let detail = answer["detail"].as_str().unwrap();
    assert!(
        detail.contains("no tenant `../../v1/workers/worker?# x`"),
        "{detail}"
    );
    // What is elsewhere is not here.
    let (status, _) = ask(&verifier, Method::GET, "/v1/workers", Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    for (role, _) in &running {
        let client = operator(*role);
        for path in ["/healthz", "/readyz", "/metrics", "/openapi.json"] {
            let answered = client.exchange(Method::GET, path, &[], Vec::new()).await;
            assert_eq!(answered.unwrap().0, StatusCode::OK, "{role:?} {path}");
        }
    }
    for (_, gate) in running {
        gate.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_says_what_it_misses() {
    let mut world = World::new().await;
    // A second one would be refused for another reason.
    world.gate.take().unwrap().stop().await;
    let config = GateConfig {
        roles: vec![Role::Verifier],
        ..GateConfig::all_in(&world.folder.path().join("gate"))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let clock: Arc<dyn Clock> = world.clock.clone();
    let error = start(config, listener, clock).await.err().unwrap();
    assert!(error.to_string().contains("--registrar"), "{error}");
}

/// Every endpoint that is described answers, no two have the same name, and all JSON has a schema.
async fn check_document(client: &Client, expected: &Value) -> usize {
    let (_, document) = ask(client, Method::GET, "/openapi.json", Value::Null).await;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(&document, expected, "tests hold bodies to this document");
    crate::schemas::check_schemas(&document);
    let mut names = std::collections::BTreeSet::new();
    let mut count = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            count += 1;
            names.insert(operation["operationId"].as_str().unwrap().to_owned());
            assert!(
                operation["summary"].as_str().unwrap().ends_with('.'),
                "{path}"
            );
            for parameter in operation["parameters"].as_array().unwrap() {
                if parameter["name"] == "uid" {
                    let schema = json!({ "$ref": "#/components/schemas/PodUid" });
                    assert_eq!(parameter["schema"], schema, "{path}");
                }
            }
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let path = path.replace(['{', '}'], "");
            let (status, answer) = ask(client, method, &path, Value::Null).await;
            assert_ne!(status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
            assert_ne!(
                answer["detail"], "there is no such endpoint",
                "{path} is described and not there"
            );
        }
    }
    assert_eq!(names.len(), count, "operation identifiers are unique");
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn every_endpoint_of_gate_and_agent_is_described() {
    let world = World::new().await;
    let worker = world.worker("worker").await;
    let everything = |address: &str, name: &str| {
        let credentials = Credentials::read(&world.folder.path().join("gate"), "gate").unwrap();
        Client::new(credentials.client().unwrap(), address, name)
    };
    let [gate, agent] = &*crate::schemas::DOCUMENTS;
    assert!(check_document(&world.operator(), gate).await >= 40);
    let client = everything(&worker.address(), "worker");
    assert_eq!(check_document(&client, agent).await, 8);
}

/// Whatever is wrong with a request, the answer is a problem in the same form.
#[tokio::test(flavor = "multi_thread")]
async fn wrong_requests_are_answered_with_problems() {
    let world = World::new().await;
    let operator = world.operator();
    let json = [("content-type", "application/json")];
    for (method, path, headers, body, status) in [
        (Method::POST, "/v1/tenants", &json[..], "{", 400),
        (Method::POST, "/v1/tenants", &json, "{\"name\":\"x\"}", 422),
        (Method::POST, "/v1/tenants", &[], "{}", 415),
        (Method::PATCH, "/v1/tenants", &json, "{}", 405),
        (Method::GET, "/v1/nothing", &[], "", 404),
        (Method::GET, "/v1/tenants/nobody", &[], "", 404),
        (Method::GET, "/v1/verifier/pods/no-uid", &[], "", 400),
    ] {
        let answer = operator.exchange(method, path, headers, body.into()).await;
        let (found, answer) = answer.unwrap();
        assert_eq!(found.as_u16(), status, "{path}");
        let problem: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(problem["status"], status, "{problem}");
        assert!(!problem["detail"].as_str().unwrap().is_empty(), "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn renewed_certificates_work_and_keep_their_keys() {
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let gate = world.folder.path().join("gate");
    let before = Credentials::read(&gate, "gate").unwrap();
    world.gate.take().unwrap().stop().await;
    renew(&gate, &SystemClock).unwrap();
    let after = Credentials::read(&gate, "gate").unwrap();
    assert_eq!(*before.key, *after.key);
    assert_ne!(before.certificate, after.certificate);
    world.start_gate().await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(
        status,
        StatusCode::OK,
        "agents know the verifier by its key: {answer}"
    );
}

/// Reference values travel signed from one installation to another, and never backwards.
#[tokio::test(flavor = "multi_thread")]
async fn reference_values_are_exported_and_imported() {
    let (from, to) = (World::new().await, World::new().await);
    let export = || async {
        let client = from.operator();
        let answer = client.exchange(Method::GET, "/v1/reference/export", &[], Vec::new());
        let (status, token) = answer.await.unwrap();
        assert_eq!(status, StatusCode::OK);
        token.to_vec()
    };
    let import = |token: Vec<u8>| async {
        let headers = [("content-type", "text/plain")];
        let client = to.operator();
        let answer = client.exchange(Method::POST, "/v1/reference/import", &headers, token);
        answer.await.unwrap().0
    };
    let first = export().await;
    assert_eq!(
        import(first.clone()).await,
        StatusCode::FORBIDDEN,
        "an unknown signer"
    );
    let keys = to.folder.path().join("gate/reference-keys");
    std::fs::create_dir_all(&keys).unwrap();
    let signer = std::fs::read_to_string(from.folder.path().join("gate/gate.key")).unwrap();
    let signer = TokenKey::from_pem(&signer).unwrap().public();
    std::fs::write(keys.join("other.pem"), public_key_to_pem(&signer).unwrap()).unwrap();
    assert_eq!(import(first.clone()).await, StatusCode::NO_CONTENT);
    assert_eq!(import(first).await, StatusCode::CONFLICT, "once is enough");
    let path = "/v1/reference/images/new";
    let image = json!({ "digests": [content("new")], "files": {} });
    from.operate(Method::PUT, path, image).await;
    assert_eq!(import(export().await).await, StatusCode::NO_CONTENT);
    let (_, values) = to.operate(Method::GET, "/v1/reference", Value::Null).await;
    assert!(values["images"]["new"].is_object(), "{values}");
}
