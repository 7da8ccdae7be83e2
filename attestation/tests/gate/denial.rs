//! What attackers wanted who cannot lie: that nobody else is served.
//!
//! The operator is answered throughout, and honest workers are attested. How long it takes is for the benchmark.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hyper::{Method, StatusCode};
use locus_attestation::clock::SystemClock;
use locus_attestation::gate::args::enrol;
use locus_attestation::net::Role;
use locus_attestation::net::tls::Credentials;
use locus_attestation::verifier::Trust;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::measured::{LONG, WORKER, with_policy};
use crate::protocols::{send, signed};
use crate::rogue::{Forgery, evidence, rogue};
use crate::world::{SHIM, WorkerBox, World, ask, cgroup, content};

/// An operator who asks again and again; every single request must be answered.
struct Operator {
    done: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Operator {
    fn begin(world: &World) -> Self {
        let (done, answered) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (ended, count): (_, Arc<AtomicUsize>) = (done.clone(), Arc::clone(&answered));
        let client = world.operator();
        let task = tokio::spawn(async move {
            while !ended.load(Ordering::SeqCst) {
                let (status, answer) =
                    ask(&client, Method::GET, "/v1/verifier/workers", Value::Null).await;
                assert_eq!(status, StatusCode::OK, "{answer}");
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Operator {
            done,
            answered,
            task,
        }
    }

    /// The operator was answered, also since now.
    async fn was_answered(self) {
        let before = self.answered.load(Ordering::SeqCst);
        while self.answered.load(Ordering::SeqCst) < before + 3 && !self.task.is_finished() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        self.done.store(true, Ordering::SeqCst);
        self.task.await.unwrap();
        assert!(self.answered.load(Ordering::SeqCst) >= before + 3);
    }
}

/// Connections with certificates of their own: a certificate has 32 places.
async fn connections(world: &World, role: Role, count: usize) -> Vec<TlsStream<TcpStream>> {
    let mut open = Vec::new();
    for number in 0..count {
        let name = format!("slow-{}", number / 32);
        let folder = world
            .folder
            .path()
            .join(format!("client-{}-{name}", role.name()));
        if !folder.exists() {
            enrol(
                &world.folder.path().join("gate"),
                role,
                &name,
                &folder,
                &SystemClock,
            )
            .unwrap();
        }
        let config = Credentials::read(&folder, role.name())
            .unwrap()
            .client()
            .unwrap();
        let stream = TcpStream::connect(&world.gate_address).await.unwrap();
        let gate = ServerName::try_from("gate").unwrap();
        let stream = TlsConnector::from(config).connect(gate, stream).await;
        open.push(stream.unwrap());
    }
    open
}

async fn attested(world: &World) -> StatusCode {
    world.operate(Method::POST, WORKER, Value::Null).await.0
}

#[tokio::test(flavor = "multi_thread")]
async fn to_close_the_gate_with_slow_bodies() {
    let world = World::new().await;
    let _worker = world.registered("worker").await;
    let operator = Operator::begin(&world);
    let mut open = connections(&world, Role::Tenant, 512).await;
    let target = format!("/v1/tenants/Tenant-76/pods/{}/attest", uuid::Uuid::new_v4());
    let head = format!("POST {target} HTTP/1.1\r\nhost: gate\r\ncontent-length: 60000\r\n\r\n{{\"");
    for stream in &mut open {
        // Who is refused already is no attack any more.
        let _ = stream.write_all(head.as_bytes()).await;
    }
    assert_eq!(attested(&world).await, StatusCode::OK);
    operator.was_answered().await;
    // Nobody is waited for.
    for mut stream in open {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_close_the_gate_with_slow_heads_and_half_handshakes() {
    let world = World::new().await;
    let _worker = world.registered("worker").await;
    let operator = Operator::begin(&world);
    let mut silent = Vec::new();
    // Whoever shares an attacker's address shares its handshakes, too: the operator has one of its own.
    for _ in 0..400 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        let gate = world.gate_address.parse().unwrap();
        silent.push(socket.connect(gate).await.unwrap());
    }
    let mut open = connections(&world, Role::Agent, 128).await;
    for stream in &mut open {
        let _ = stream
            .write_all(b"GET /v1/push/next HTTP/1.1\r\nx-a: ")
            .await;
    }
    assert_eq!(attested(&world).await, StatusCode::OK);
    operator.was_answered().await;
    for mut stream in open {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }
}

/// What an attacker's agents answer with.
fn always(bytes: Vec<u8>) -> Forgery {
    Arc::new(move |_, _, _| bytes.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn to_fill_the_memory_with_evidence() {
    let world = World::new().await;
    let _honest = world.registered("worker").await;
    let mut servers = Vec::new();
    for number in 0..3 {
        let mut evil = world.registered(&format!("evil-{number}")).await;
        servers.push(rogue(&world, &mut evil, always(vec![0x9f; 80 << 20])).await);
    }
    let operator = Operator::begin(&world);
    let mut asked = Vec::new();
    for number in 0..3 {
        let client = world.operator();
        asked.push(tokio::spawn(async move {
            let path = format!("/v1/verifier/workers/evil-{number}/attest");
            ask(&client, Method::POST, &path, Value::Null).await
        }));
    }
    assert_eq!(attested(&world).await, StatusCode::OK);
    for asked in asked {
        let (status, answer) = asked.await.unwrap();
        assert!(!status.is_success(), "{answer}");
        assert_eq!(answer["effect"], "inconclusive", "{answer}");
        let reason = answer["detail"].as_str().unwrap();
        assert!(reason.contains("is longer than"), "{reason}");
    }
    operator.was_answered().await;
    for number in 0..3 {
        assert_eq!(world.trust(&format!("evil-{number}")), Trust::Unknown);
    }
    for server in servers {
        server.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_send_more_than_the_policy_of_a_worker_allows() {
    let world = with_policy(|policy| policy.limits.evidence = 20_000).await;
    let mut worker = world.registered("worker").await;
    assert_eq!(attested(&world).await, StatusCode::OK);
    for number in 0..200 {
        let path = format!("/usr/bin/runc-{number}");
        worker.measure(
            SHIM,
            "/system.slice/containerd.service",
            content("shim"),
            &path,
        );
    }
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert!(!status.is_success(), "{answer}");
    assert_eq!(answer["effect"], "inconclusive", "{answer}");
    // It is not condemned for it, and what was concluded before runs out by itself.
    assert_eq!(world.trust("worker"), Trust::Trusted);
    world.later(700_000);
    assert_eq!(world.trust("worker"), Trust::Unknown);
}

fn database(world: &World) -> u64 {
    let folder = world.folder.path().join("gate");
    ["verifier.db", "verifier.db-wal"]
        .iter()
        .filter_map(|name| std::fs::metadata(folder.join(name)).ok())
        .map(|data| data.len())
        .sum()
}

fn runs_at_length(worker: &mut WorkerBox, length: usize) {
    let path = format!("/{}", "a".repeat(length - 1));
    worker.measure(
        SHIM,
        "/system.slice/containerd.service",
        content("shim"),
        &path,
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn to_fill_the_database_with_long_paths() {
    for (length, is_refused) in [(4096, false), (4097, true), (10 << 20, true)] {
        let world = World::new().await;
        let mut worker = world.registered("worker").await;
        assert_eq!(attested(&world).await, StatusCode::OK);
        let before = database(&world);
        let operator = Operator::begin(&world);
        runs_at_length(&mut worker, length);
        let (_, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
        assert_eq!(answer["effect"], "worker-untrusted", "{answer}");
        let reason = answer["detail"].as_str().unwrap();
        assert!(reason.len() < 4000, "{} bytes", reason.len());
        assert_eq!(
            reason.contains("longer than a path"),
            is_refused,
            "{reason}"
        );
        operator.was_answered().await;
        assert!(database(&world) < before + 1_000_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn to_have_more_kept_than_the_policy_allows() {
    let world = with_policy(|policy| policy.limits.ledger = 20_000).await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let before = database(&world);
    for number in 0..8 {
        // In small parts, all of them accepted by themselves.
        for _ in 0..60 {
            worker.run(&pod, content("libc"), "/lib/libc.so");
        }
        let (status, answer) = world.attest(&pod).await;
        if number < 2 {
            assert_eq!(status, StatusCode::OK, "{answer}");
            continue;
        }
        if number == 7 {
            assert_eq!(answer["effect"], "inconclusive", "{answer}");
            let reason = answer["detail"].as_str().unwrap();
            assert!(reason.contains("the policy allows 20000"), "{reason}");
        }
    }
    assert!(database(&world) < before + 1_000_000);
    world.later(700_000);
    assert_eq!(world.status(&pod).trust, Trust::Unknown, "it runs out");
    assert_eq!(world.trust("worker"), Trust::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn to_use_up_the_nonces_and_the_rate_of_other_tenants() {
    let world = World::new().await;
    world.later(120_000);
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    let operator = Operator::begin(&world);
    // As fast as a connection can carry them.
    let stream = connections(&world, Role::Tenant, 1).await.remove(0);
    let (mut answers, mut requests) = tokio::io::split(stream);
    let asking = tokio::spawn(async move {
        let request = "GET /healthz HTTP/1.1\r\nhost: gate\r\n\r\n".repeat(2000);
        let last = "GET /healthz HTTP/1.1\r\nhost: gate\r\nconnection: close\r\n\r\n";
        let _ = requests.write_all((request + last).as_bytes()).await;
        requests
    });
    let mut answered = Vec::new();
    let _ = answers.read_to_end(&mut answered).await;
    drop(asking.await.unwrap());
    let answered = String::from_utf8_lossy(&answered);
    assert!(answered.contains("HTTP/1.1 200"), "at first it is served");
    assert!(
        answered.contains("HTTP/1.1 429"),
        "a certificate may not ask as often as it likes"
    );
    let evil = world.client(Role::Tenant, "slow-0");
    let (target, headers) = signed(&world, &pod, Method::GET);
    send(&evil, Method::GET, &target, &headers).await;
    let good = world.client(Role::Tenant, "good");
    let (target, headers) = signed(&world, &pod, Method::GET);
    let (status, answer) = send(&good, Method::GET, &target, &headers).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(attested(&world).await, StatusCode::OK);
    operator.was_answered().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn to_push_answers_that_nobody_asked_for() {
    let world = World::new().await;
    let _worker = world.registered("worker").await;
    let operator = Operator::begin(&world);
    let evil = world.client(Role::Agent, "evil");
    for _ in 0..4 {
        let target = format!("/v1/push/answers/{}", uuid::Uuid::new_v4());
        let pushed = evil.exchange(Method::POST, &target, &[], vec![0; 32 << 20]);
        // The body is not read: the answer, or the end of the connection.
        if let Ok((status, _)) = pushed.await {
            assert_eq!(status, StatusCode::FORBIDDEN);
        }
    }
    assert_eq!(attested(&world).await, StatusCode::OK);
    operator.was_answered().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn to_keep_an_agent_busy() {
    let world = World::new().await;
    let worker = world.registered("worker").await;
    let address = worker.address();
    let mut held = Vec::new();
    // A stranger without a certificate, and a tenant with one.
    for _ in 0..100 {
        held.push(TcpStream::connect(&address).await.unwrap());
    }
    let tenant = world.client_to(Role::Tenant, "evil", &address, "worker");
    let mut busy = Vec::new();
    for _ in 0..50 {
        let tenant = tenant.clone();
        busy.push(tokio::spawn(async move {
            let path = "/v1/agent/registration/challenge";
            tenant
                .exchange(Method::POST, path, &[], vec![b' '; 1 << 20])
                .await
        }));
    }
    assert_eq!(attested(&world).await, StatusCode::OK);
    for busy in busy {
        if let Ok((status, _)) = busy.await.unwrap() {
            assert!(!status.is_success(), "{status}");
        }
    }
    // The gate itself cannot be used to send it anything long either.
    let gate = Credentials::read(&world.folder.path().join("gate"), "gate").unwrap();
    let handler = locus_attestation::net::Client::new(gate.client().unwrap(), &address, "worker");
    let path = "/v1/agent/registration/challenge";
    let long = handler
        .exchange(Method::POST, path, &[], vec![b' '; 1 << 20])
        .await;
    if let Ok((status, _)) = long {
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    }
    assert_eq!(attested(&world).await, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn to_answer_a_registration_with_more_than_anybody_reads() {
    use axum::Router;
    use locus_attestation::net::serve;
    use locus_attestation::net::tls::SharedServerConfig;
    let world = World::new().await;
    let worker = world.worker("worker").await;
    let installed = Credentials::read(&worker.credentials, "agent").unwrap();
    let tls = SharedServerConfig::new(installed.server().unwrap());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = Router::new().fallback(|| async { vec![b' '; 64 << 20] });
    let server = tokio::spawn(serve(listener, tls, router, std::future::pending()));
    let operator = Operator::begin(&world);
    let joined = json!({ "name": "worker", "address": address });
    let (status, answer) = world
        .operate(Method::POST, "/v1/registrations", joined)
        .await;
    assert!(!status.is_success(), "{answer}");
    let reason = answer["detail"].as_str().unwrap();
    assert!(reason.contains("is longer than"), "{reason}");
    operator.was_answered().await;
    server.abort();
}

/// Evidence of the right length with the wrong content is judged as it always is.
#[tokio::test(flavor = "multi_thread")]
async fn to_be_overlooked_as_too_long_is_not_to_be_trusted() {
    let world = with_policy(|policy| policy.limits.evidence = 20_000).await;
    let mut worker = world.registered("worker").await;
    worker.measure(
        "/bin/sh",
        "/system.slice",
        content("rootkit"),
        "/tmp/rootkit",
    );
    let log = worker.kernel.log().to_vec();
    let forge: Forgery = Arc::new(move |request, tpm, keys| {
        // As much more as makes it too long.
        let mut log = log.clone();
        log.extend(vec![0; 30_000]);
        evidence(request, tpm, keys, &request.selection, &log)
    });
    let server = rogue(&world, &mut worker, forge).await;
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert!(!status.is_success(), "{answer}");
    assert_eq!(world.trust("worker"), Trust::Unknown);
    server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn to_fill_the_memory_with_control_groups_that_are_made_up() {
    let world = with_policy(|policy| policy.limits.ledger = 100_000).await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, StatusCode::OK);
    for number in 0..300_u128 {
        let uid = uuid::Uuid::from_u128(number).to_string().parse().unwrap();
        let group = cgroup(uid, &"ab".repeat(32));
        worker.measure("sh:swapper/0", &group, content("redis"), "/usr/bin/redis");
    }
    let reason = world.refused(&pod, "inconclusive").await;
    assert!(reason.contains("bytes would have to be kept"), "{reason}");
    world.later(LONG);
    assert_ne!(world.trust("worker"), Trust::Trusted);
}
