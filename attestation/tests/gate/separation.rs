//! Who may act as whom: processes with some components, roles with some rights, folders with one gate.

use std::sync::Arc;

use crate::world::{World, ask};
use hyper::{Method, StatusCode};
use locus_attestation::clock::{Clock, SystemClock};
use locus_attestation::evidence::{AttestationResult, EarExpectations, JwkSet};
use locus_attestation::gate::args::{enrol, init_named, renew_named};
use locus_attestation::gate::rotation::rotate_key;
use locus_attestation::gate::{GateConfig, RunningGate, start};
use locus_attestation::net::Role;
use locus_attestation::net::tls::Credentials;
use locus_attestation::net::{Client, Peer};
use locus_attestation::policy;
use locus_attestation::verifier::Trust;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;

async fn some(world: &World, roles: &[Role], rest: Option<&RunningGate>) -> RunningGate {
    let place = rest.map(|gate| gate.address.to_string());
    let config = GateConfig {
        roles: roles.to_vec(),
        registrar: place.clone(),
        reference: place.clone(),
        verifier: place,
        ..GateConfig::all_in(&world.folder.path().join("gate"))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let clock: Arc<dyn Clock> = world.clock.clone();
    start(config, listener, clock).await.unwrap()
}

fn operator(world: &World, gate: &RunningGate, server: &str) -> Client {
    world.client_to(Role::Operator, "root", &gate.address.to_string(), server)
}

/// R11: verifier and registrar in one process, worker handler in another. Agents learn the key of the verifier that
/// asks them, and no process has more than the keys of its own components.
#[tokio::test(flavor = "multi_thread")]
async fn components_that_share_a_process_keep_to_their_own_keys() {
    let mut world = World::new().await;
    let worker = world.worker("worker").await;
    world.gate.take().unwrap().stop().await;
    let folder = world.folder.path().join("gate");
    // Nobody needs the certificate that can do everything, nor that of whoever runs nowhere.
    for name in ["gate.key", "pod-handler.key"] {
        std::fs::rename(folder.join(name), world.folder.path().join(name)).unwrap();
    }
    let shared = [Role::Registrar, Role::Reference, Role::Verifier];
    let handler_key = folder.join("worker-handler.key");
    let aside = world.folder.path().join("worker-handler.key");
    std::fs::rename(&handler_key, &aside).unwrap();
    let first = some(&world, &shared, None).await;
    std::fs::rename(&aside, &handler_key).unwrap();
    let second = some(&world, &[Role::WorkerHandler], Some(&first)).await;

    let joined = json!({ "name": "worker", "address": worker.address() });
    let handler = operator(&world, &second, "worker-handler");
    let (status, answer) = ask(&handler, Method::POST, "/v1/registrations", joined).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let path = "/v1/verifier/workers/worker/attest";
    for name in ["verifier", "registrar", "reference"] {
        let (status, answer) = ask(
            &operator(&world, &first, name),
            Method::POST,
            path,
            Value::Null,
        )
        .await;
        assert_eq!(status, StatusCode::OK, "as `{name}`: {answer}");
        assert_eq!(answer["worker"]["trust"], "trusted", "{answer}");
    }
    // A verifier alone is the same verifier: the worker need not be registered again.
    first.stop().await;
    second.stop().await;
    let rest = some(&world, &[Role::Registrar, Role::Reference], None).await;
    let alone = some(&world, &[Role::Verifier], Some(&rest)).await;
    let client = operator(&world, &alone, "verifier");
    let (status, answer) = ask(&client, Method::POST, path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // The process of the first two is neither the verifier nor the gate to anybody.
    for name in ["verifier", "gate", "worker-handler"] {
        let client = operator(&world, &rest, name);
        let answered = client.exchange(Method::GET, "/healthz", &[], Vec::new());
        let error = answered.await.unwrap_err().to_string();
        assert!(error.contains("does not prove to be"), "{name}: {error}");
    }
    alone.stop().await;
    rest.stop().await;
}

/// A role that is not a component cannot be run.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_runs_as_an_operator() {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    for role in [
        Role::Operator,
        Role::Agent,
        Role::Observer,
        Role::Controller,
    ] {
        let config = GateConfig {
            roles: vec![role],
            ..GateConfig::all_in(&world.folder.path().join("gate"))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let clock: Arc<dyn Clock> = world.clock.clone();
        let error = start(config, listener, clock).await.err().unwrap();
        assert!(error.to_string().contains("is not a component"), "{error}");
    }
}

/// One gate per folder: another one is refused, whatever it shares with the first, and a killed one is not in the
/// way of the next.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_has_one_gate() {
    let mut world = World::new().await;
    for roles in [
        locus_attestation::gate::COMPONENTS.to_vec(),
        vec![Role::Verifier],
        vec![Role::PodHandler],
    ] {
        let here = Some(world.gate_address.clone());
        let config = GateConfig {
            roles,
            registrar: here.clone(),
            reference: here.clone(),
            verifier: here,
            ..GateConfig::all_in(&world.folder.path().join("gate"))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let clock: Arc<dyn Clock> = world.clock.clone();
        let error = start(config, listener, clock).await.err().unwrap();
        let message = error.to_string();
        assert!(message.contains("runs already, as process"), "{message}");
    }
    world.gate.take().unwrap().kill().await;
    world.start_gate().await;
    let (status, _) = world.operate(Method::GET, "/readyz", Value::Null).await;
    assert_eq!(status, StatusCode::OK);
}

/// Every endpoint of the document, for every role that is nobody's own: it is open to those it names.
#[tokio::test(flavor = "multi_thread")]
async fn observers_and_controllers_do_what_they_are_for() {
    let world = World::new().await;
    let worker = world.registered("worker").await;
    let (_, document) = world
        .operate(Method::GET, "/openapi.json", Value::Null)
        .await;
    let mut opened: std::collections::BTreeMap<&str, Vec<String>> = Default::default();
    for role in [Role::Observer, Role::Controller, Role::Tenant, Role::Agent] {
        let client = world.client(role, role.name());
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let roles = operation["x-locus-roles"].as_array().unwrap();
                let named = roles.is_empty() || roles.iter().any(|name| name == role.name());
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                if method == Method::GET && path == "/v1/push/next" {
                    continue; // It waits for something to do.
                }
                let place = path.replace(['{', '}'], "");
                let answered = client.exchange(method.clone(), &place, &[], Vec::new());
                let (status, answer) = answered.await.unwrap();
                let words = String::from_utf8_lossy(&answer).into_owned();
                let refused = status == StatusCode::FORBIDDEN && words.contains("this is for");
                assert_eq!(
                    refused, !named,
                    "{role:?} {method} {path}: {status} {words}"
                );
                if named && !roles.is_empty() {
                    opened
                        .entry(role.name())
                        .or_default()
                        .push(format!("{method} {path}"));
                }
            }
        }
    }
    assert_eq!(opened["observer"], ["GET /metrics"]);
    let controller = &opened["controller"];
    for forbidden in [
        "reference",
        "tenants",
        "manufacturers",
        "evidence",
        "rotate",
        "/v1/workers",
    ] {
        assert!(
            controller.iter().all(|open| !open.contains(forbidden)),
            "{controller:?}"
        );
    }
    // A controller's day: a node joins, a pod is declared, may be started, is watched, and all of it goes.
    let controller = world.client(Role::Controller, "controller");
    let joined = json!({ "name": "worker", "address": worker.address() });
    let pod = world.pod("worker", "redis");
    let images = json!({ "worker": "worker", "images": [pod.containers[0].digest] });
    for (method, path, body, expected) in [
        (Method::POST, "/v1/registrations".to_owned(), joined, 200),
        (
            Method::POST,
            "/v1/verifier/pods".to_owned(),
            serde_json::to_value(&pod).unwrap(),
            200,
        ),
        (
            Method::POST,
            "/v1/verifier/workers/worker/attest".to_owned(),
            Value::Null,
            200,
        ),
        (Method::POST, "/v1/verifier/start".to_owned(), images, 200),
        (
            Method::GET,
            "/v1/verifier/changes?since=0".to_owned(),
            Value::Null,
            200,
        ),
        (
            Method::GET,
            "/v1/verifier/workers".to_owned(),
            Value::Null,
            200,
        ),
        (
            Method::DELETE,
            format!("/v1/verifier/pods/{}", pod.uid),
            Value::Null,
            204,
        ),
        (
            Method::DELETE,
            "/v1/registrations/worker".to_owned(),
            Value::Null,
            204,
        ),
    ] {
        let (status, answer) = ask(&controller, method, &path, body).await;
        assert_eq!(status.as_u16(), expected, "{path}: {answer}");
    }
}

/// A client whose key or certificate is denied is nobody's client any more.
#[tokio::test(flavor = "multi_thread")]
async fn denied_clients_are_shut_out() {
    let mut world = World::new().await;
    let worker = world.registered("worker").await;
    let folder = world.folder.path().join("stolen");
    let gate = world.folder.path().join("gate");
    enrol(&gate, Role::Operator, "mallory", &folder, &SystemClock).unwrap();
    let stolen = Credentials::read(&folder, "operator").unwrap();
    let der = CertificateDer::from_pem_slice(stolen.certificate.as_bytes()).unwrap();
    let peer = Peer::from_certificate(&der).unwrap();
    for denied in [peer.key, peer.certificate] {
        world.gate.take().unwrap().stop().await;
        let set = policy::parse("policy.toml", &format!("deny = [\"{denied}\"]\n")).unwrap();
        world.start_gate_as(|config| config.policy = set).await;
        let mallory = Client::new(stolen.client().unwrap(), &world.gate_address, "gate");
        for path in ["/v1/workers", "/healthz"] {
            let (status, answer) = ask(&mallory, Method::GET, path, Value::Null).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{answer}");
            let detail = answer["detail"].as_str().unwrap();
            assert!(detail.contains(&denied), "{detail}");
        }
        // Everybody else goes on.
        let path = "/v1/verifier/workers/worker/attest";
        let (status, answer) = world.operate(Method::POST, path, Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert_eq!(world.trust(&worker.name), Trust::Trusted);
    }
}

/// A client without a certificate, which knows the authority of the installation.
fn stranger(world: &World, address: &str, name: &str) -> Client {
    let pem = std::fs::read(world.folder.path().join("gate/ca.pem")).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(&pem).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::new(Arc::new(config), address, name)
}

/// Health has a port of its own for those without a certificate, and nothing else is there.
#[tokio::test(flavor = "multi_thread")]
async fn health_is_for_everybody_and_nothing_else_is() {
    let mut world = World::new().await;
    let open = world.gate.take().unwrap();
    assert_eq!(open.health, None, "nobody asked for it");
    open.stop().await;
    world
        .start_gate_as(|config| config.health = Some("127.0.0.1:0".parse().unwrap()))
        .await;
    let health = world.gate.as_ref().unwrap().health.unwrap().to_string();
    let everybody = stranger(&world, &health, "gate");
    for (path, expected) in [
        ("/healthz", 200),
        ("/readyz", 200),
        ("/v1/verifier/keys", 200),
        ("/metrics", 404),
        ("/openapi.json", 404),
        ("/v1/workers", 404),
        ("/v1/verifier/workers", 404),
        ("/v1/tenants/Tenant-76/pods/x", 404),
    ] {
        let answered = everybody.exchange(Method::GET, path, &[], Vec::new()).await;
        assert_eq!(answered.unwrap().0.as_u16(), expected, "{path}");
    }
    let posted = everybody.exchange(Method::POST, "/healthz", &[], Vec::new());
    assert_eq!(posted.await.unwrap().0, StatusCode::METHOD_NOT_ALLOWED);
    // An operator's certificate opens nothing more here, and none opens nothing at the gate itself.
    let operator = world.client_to(Role::Operator, "root", &health, "gate");
    let (status, _) = ask(&operator, Method::GET, "/v1/workers", Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let without = stranger(&world, &world.gate_address, "gate");
    let refused = without.exchange(Method::GET, "/healthz", &[], Vec::new());
    assert!(
        refused.await.is_err(),
        "the gate itself is not for everybody"
    );
}

/// The gate is known by the names that it was given, and by no others; a renewal keeps them.
#[tokio::test(flavor = "multi_thread")]
async fn certificates_have_the_names_that_were_chosen() {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    let folder = world.folder.path().join("gate");
    let names = ["gate.example".to_owned(), "127.0.0.1".to_owned()];
    renew_named(&folder, &names, &SystemClock).unwrap();
    renew_named(&folder, &["second.example".to_owned()], &SystemClock).unwrap();
    world.start_gate().await;
    let asked = |name: &str| {
        let client = world.client_to(Role::Operator, "root", &world.gate_address, name);
        async move {
            let answered = client.exchange(Method::GET, "/healthz", &[], Vec::new());
            answered.await.is_ok()
        }
    };
    for name in [
        "gate",
        "verifier",
        "gate.example",
        "127.0.0.1",
        "second.example",
    ] {
        assert!(asked(name).await, "{name}");
    }
    for name in ["other.example", "127.0.0.2", "worker"] {
        assert!(!asked(name).await, "{name}");
    }
    let new = world.folder.path().join("new");
    for wrong in ["a b", "", "*", "verifier"] {
        let _ = std::fs::remove_dir_all(&new);
        let made = init_named(&new, &[wrong.to_owned()], &SystemClock);
        assert!(made.is_err(), "`{wrong}`");
    }
}

/// The key of the installation's authority can be kept elsewhere: the gate registers workers and renews their
/// certificates with one that makes agents and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn the_gate_needs_no_key_that_makes_operators() {
    let mut world = World::new().await;
    // Certificates of operators are made with it, and there is one already.
    let _ = world.operator();
    let worker = world.worker("worker").await;
    world.gate.take().unwrap().stop().await;
    let folder = world.folder.path().join("gate");
    std::fs::rename(folder.join("ca.key"), world.folder.path().join("ca.key")).unwrap();
    world.start_gate().await;
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let rotate = "/v1/registrations/worker/rotate";
    let (status, answer) = world.operate(Method::POST, rotate, Value::Null).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    let path = "/v1/verifier/workers/worker/attest";
    let (status, answer) = world.operate(Method::POST, path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // Agents are enrolled without it, too; operators are not.
    let (agent, operator) = (world.folder.path().join("a"), world.folder.path().join("o"));
    enrol(&folder, Role::Agent, "worker-2", &agent, &SystemClock).unwrap();
    assert!(enrol(&folder, Role::Operator, "eve", &operator, &SystemClock).is_err());
}

/// An installation that was made before there was an authority for agents goes on with its own.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_installation_goes_on() {
    let mut world = World::new().await;
    world.gate.take().unwrap().stop().await;
    let folder = world.folder.path().join("gate");
    for name in ["agents-ca.key", "agents-ca.pem"] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    world.start_gate().await;
    let _worker = world.registered("worker").await;
    let path = "/v1/verifier/workers/worker/attest";
    let (status, answer) = world.operate(Method::POST, path, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

/// The verifier gets new keys twice; a worker that was off meanwhile follows both, and nobody touches it by hand.
#[tokio::test(flavor = "multi_thread")]
async fn workers_follow_the_verifier_to_its_new_key() {
    let mut world = World::new().await;
    let folder = world.folder.path().join("gate");
    let on = world.registered("on").await;
    let mut off = world.registered("off").await;
    let attest = |name: &str| format!("/v1/verifier/workers/{name}/attest");
    let (status, before) = world
        .operate(Method::POST, &attest("on"), Value::Null)
        .await;
    assert_eq!(status, StatusCode::OK, "{before}");
    let address = off.address();
    off.agent.take().unwrap().stop().await;
    for _ in 0..2 {
        world.gate.take().unwrap().stop().await;
        rotate_key(&folder, &SystemClock).unwrap();
        world.start_gate().await;
        let (status, answer) = world
            .operate(Method::POST, &attest("on"), Value::Null)
            .await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    off.start_at(&address).await;
    let (status, answer) = world
        .operate(Method::POST, &attest("off"), Value::Null)
        .await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // A registration anew leads to the new key as well.
    let (status, answer) = world.register(&on).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // Results of before are verified by the keys that are served now.
    let (_, keys) = world
        .operate(Method::GET, "/v1/verifier/keys", Value::Null)
        .await;
    let keys: JwkSet = serde_json::from_value(keys).unwrap();
    assert!(keys.keys.len() >= 3, "{keys:?}");
    let expected = EarExpectations {
        worker: before["worker"]["id"].as_str().unwrap().parse().unwrap(),
        nonce: None,
        audience: None,
    };
    let token = before["token"].as_str().unwrap();
    AttestationResult::verify(token, &keys.trusted().unwrap(), expected, world.now()).unwrap();
    // Without the statements of its old keys the new verifier is a stranger.
    world.gate.take().unwrap().stop().await;
    rotate_key(&folder, &SystemClock).unwrap();
    std::fs::remove_file(folder.join("verifier-succession.json")).unwrap();
    world.start_gate().await;
    let (status, answer) = world
        .operate(Method::POST, &attest("off"), Value::Null)
        .await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{answer}");
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains("not the verifier"), "{detail}");
}
