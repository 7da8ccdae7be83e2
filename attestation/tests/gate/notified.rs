//! Webhooks: told of every change of trust, in order and at least once; one that does not listen holds up nobody.

use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::world::{World, content};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use hmac::{Hmac, KeyInit as _, Mac as _};
use locus_attestation::digest::encode_hex;
use locus_attestation::gate::webhook::WebhookConfig;
use serde_json::Value;
use sha2::Sha256;
use tokio::net::TcpListener;

const SECRET: &[u8] = b"a secret of two";

/// What was told: the signature and the body.
type Told = (Option<String>, Vec<u8>);

/// Somebody who is told.
#[derive(Clone, Default)]
struct Receiver {
    told: Arc<Mutex<Vec<Told>>>,
    answers: Arc<AtomicU16>,
}

async fn receive(State(receiver): State<Receiver>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let signature = headers.get("locus-signature");
    let signature = signature.map(|value| value.to_str().unwrap().to_owned());
    let mut told = receiver.told.lock().unwrap();
    told.push((signature, body.to_vec()));
    StatusCode::from_u16(receiver.answers.load(Ordering::SeqCst)).unwrap()
}

impl Receiver {
    /// Listens, and answers with a status; returns its URL.
    async fn start(answer: u16) -> (Self, String) {
        let receiver = Receiver::default();
        receiver.answers.store(answer, Ordering::SeqCst);
        let router = Router::new()
            .route("/hook", post(receive))
            .with_state(receiver.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (receiver, url)
    }

    fn deliveries(&self) -> Vec<Value> {
        let told = self.told.lock().unwrap();
        told.iter()
            .map(|(_, body)| serde_json::from_slice(body).unwrap())
            .collect()
    }

    /// The changes that were delivered, without repetitions of whole deliveries.
    fn changes(&self) -> Vec<String> {
        let mut seen = Vec::new();
        let mut last = 0;
        for delivery in self.deliveries() {
            for change in delivery["changes"].as_array().unwrap() {
                let version = change["version"].as_u64().unwrap();
                if version > last {
                    last = version;
                    let word = |name: &str| change[name].as_str().unwrap().to_owned();
                    seen.push(format!("{} {}", word("kind"), word("trust")));
                }
            }
        }
        seen
    }

    /// Waits until as many changes were delivered.
    async fn wait_for(&self, count: usize) -> Vec<String> {
        for _ in 0..1200 {
            let seen = self.changes();
            if seen.len() >= count {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("only {:?} was delivered", self.changes());
    }
}

fn signed(body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).unwrap();
    mac.update(body);
    format!("sha256={}", encode_hex(&mac.finalize().into_bytes()))
}

async fn tell(world: &mut World, urls: &[&str], secret: Option<&[u8]>) {
    world.gate.take().unwrap().stop().await;
    let config = WebhookConfig {
        urls: urls.iter().map(|url| (*url).to_owned()).collect(),
        roots: None,
        secret: secret.map(|secret| secret.to_vec().into()),
    };
    world.start_gate_as(|gate| gate.webhooks = config).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_delivered_in_order_and_signed() {
    let mut world = World::new().await;
    let (receiver, url) = Receiver::start(200).await;
    tell(&mut world, &[&url], Some(SECRET)).await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, hyper::StatusCode::OK);
    worker.run(&pod, content("miner"), "/tmp/miner");
    world.refused(&pod, "pod-untrusted").await;
    let expected = [
        "worker unknown",
        "pod unknown",
        "worker trusted",
        "pod trusted",
        "pod untrusted",
    ];
    assert_eq!(receiver.wait_for(expected.len()).await, expected);
    let told = receiver.told.lock().unwrap().clone();
    for (signature, body) in &told {
        assert_eq!(signature.as_ref(), Some(&signed(body)));
    }
    let last: Value = serde_json::from_slice(&told.last().unwrap().1).unwrap();
    let reason = last["changes"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("/tmp/miner"), "{last}");
    assert_eq!(last["missed"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_repeated_also_over_a_restart() {
    let mut world = World::new().await;
    let (receiver, url) = Receiver::start(500).await;
    tell(&mut world, &[&url], None).await;
    let _worker = world.registered("worker").await;
    let begun = Instant::now();
    while receiver.deliveries().len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(120), "no repetition");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    let tries = receiver.deliveries();
    assert_eq!(tries[0], tries[1], "the same again");
    assert_eq!(receiver.told.lock().unwrap()[0].0, None, "no secret");
    // Another process, and a receiver that came to its senses.
    receiver.told.lock().unwrap().clear();
    receiver.answers.store(204, Ordering::SeqCst);
    tell(&mut world, &[&url], None).await;
    assert_eq!(receiver.wait_for(1).await, ["worker unknown"]);
    // Told once, it is not told again.
    let version = receiver.deliveries()[0]["version"].clone();
    tell(&mut world, &[&url], None).await;
    let pod = world.pod("worker", "redis");
    world.declare(&pod).await;
    assert_eq!(
        receiver.wait_for(2).await,
        ["worker unknown", "pod unknown"]
    );
    let second = receiver.deliveries()[1].clone();
    assert!(second["version"].as_u64() > version.as_u64(), "{second}");
    assert_eq!(second["changes"].as_array().unwrap().len(), 1, "{second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_never_answers_holds_up_neither_the_gate_nor_others() {
    let mut world = World::new().await;
    // It takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_url = format!("http://{}/", silent.local_addr().unwrap());
    let connected = Arc::new(AtomicUsize::new(0));
    let count = connected.clone();
    let held = tokio::spawn(async move {
        let mut open = Vec::new();
        loop {
            open.push(silent.accept().await.unwrap());
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    // Nobody is there at all.
    let away = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let away_url = format!("http://{}/", away.local_addr().unwrap());
    drop(away);
    let (receiver, url) = Receiver::start(200).await;
    tell(&mut world, &[&silent_url, &away_url, &url], None).await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    assert_eq!(world.attest(&pod).await.0, hyper::StatusCode::OK);
    assert_eq!(receiver.wait_for(4).await.len(), 4);
    // A delivery is given up after ten seconds, and tried again: nobody waited for as many as there are changes.
    let tried = connected.load(Ordering::SeqCst);
    assert!(tried < 4, "{tried}");
    world.gate.take().unwrap().stop().await;
    let then = connected.load(Ordering::SeqCst);
    assert!(then <= tried + 1, "it stops and tries no more: {then}");
    held.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn that_something_was_missed_is_told_also_over_a_restart() {
    let mut world = World::new().await;
    let (receiver, url) = Receiver::start(204).await;
    tell(&mut world, &[&url], None).await;
    let _worker = world.registered("worker").await;
    assert_eq!(receiver.wait_for(1).await, ["worker unknown"]);
    // While nobody is told, more changes than are remembered.
    world.gate.take().unwrap().stop().await;
    receiver.told.lock().unwrap().clear();
    receiver.answers.store(500, Ordering::SeqCst);
    world.start_gate().await;
    let pod = world.pod("worker", "redis");
    world.declare(&pod).await;
    world.gate.take().unwrap().stop().await;
    let database = world.folder.path().join("gate/verifier.db");
    let database = rusqlite::Connection::open(database).unwrap();
    database.execute("DELETE FROM change", []).unwrap();
    drop(database);
    // A gate that cannot deliver it, and the next one, which can.
    for (answer, missed) in [(500, true), (204, true), (204, false)] {
        receiver.told.lock().unwrap().clear();
        receiver.answers.store(answer, Ordering::SeqCst);
        if let Some(gate) = world.gate.take() {
            gate.stop().await;
        }
        world
            .start_gate_as(|gate| gate.webhooks.urls = vec![url.clone()])
            .await;
        if !missed {
            world.declare(&world.pod("worker", "another")).await;
        }
        let begun = Instant::now();
        while receiver.deliveries().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(120), "{answer}");
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        let first = receiver.deliveries()[0].clone();
        assert_eq!(first["missed"], missed, "{first}");
    }
}
