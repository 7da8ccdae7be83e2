//! How long the operator waits while others try to keep the gate from everybody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hyper::Method;
use locus_attestation::agent::state::StateFolder;
use locus_attestation::clock::SystemClock;
use locus_attestation::gate::args::enrol;
use locus_attestation::net::tls::{Credentials, SharedServerConfig};
use locus_attestation::net::{Client, Role, serve};
use rustls::pki_types::ServerName;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::cluster::Cluster;
use super::{Limit, Report};

/// What an operator may have to wait.
const LIMIT: Duration = Duration::from_secs(1);
/// Workers whose agents belong to the attacker.
const EVIL: usize = 3;

pub(crate) fn run(report: &mut Report) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(measure(report));
}

async fn measure(report: &mut Report) {
    let cluster = Cluster::begin(10, &[]).await;
    let honest = cluster.worker("honest", &[], 0).await;
    let mut evil = Vec::new();
    for number in 0..EVIL {
        evil.push(rogue(&cluster, &format!("evil-{number}")).await);
    }
    let held = hold(&cluster).await;
    for (name, attack) in [
        ("nobody does anything", Attack::None),
        ("512 bodies come a byte at a time", Attack::SlowBodies),
        ("512 heads never end", Attack::SlowHeads),
        ("80 MB of evidence from each of 3 workers", Attack::Evidence),
        ("a tenant asks without end", Attack::Requests),
    ] {
        let (done, operator) = operator(&cluster);
        attack.run(&cluster, &held).await;
        let path = "/v1/verifier/workers/honest/attest";
        cluster
            .must(Method::POST, path, serde_json::Value::Null)
            .await;
        done.store(true, Ordering::SeqCst);
        let waited = operator.await.unwrap();
        let name = format!("{name}: longest wait of the operator, of 1 s");
        report.figure(&name, super::ratio(waited, LIMIT), Limit::AtMost(1.0));
    }
    let name = "memory of the gate after all of it, of 512 MB";
    let most = 512.0 * 1024.0 * 1024.0;
    report.figure(name, cluster.peak() / most, Limit::AtMost(1.0));
    honest.stop().await;
    for evil in evil {
        evil.abort();
    }
}

enum Attack {
    None,
    SlowBodies,
    SlowHeads,
    Evidence,
    Requests,
}

impl Attack {
    async fn run(&self, cluster: &Cluster, tenants: &[Client]) {
        let target = "/v1/tenants/nobody/pods/00000000-0000-0000-0000-000000000000/attest";
        match self {
            Attack::None => tokio::time::sleep(Duration::from_secs(2)).await,
            Attack::SlowBodies => {
                let head = format!(
                    "POST {target} HTTP/1.1\r\nhost: gate\r\ncontent-length: 60000\r\n\r\n"
                );
                trickle(cluster, head.as_bytes()).await;
            }
            Attack::SlowHeads => trickle(cluster, b"GET /healthz HTTP/1.1\r\nx-a: ").await,
            Attack::Evidence => {
                let asked = (0..EVIL).map(|number| {
                    let client = cluster.operator();
                    let path = format!("/v1/verifier/workers/evil-{number}/attest");
                    tokio::spawn(async move {
                        client.exchange(Method::POST, &path, &[], Vec::new()).await
                    })
                });
                for asked in asked.collect::<Vec<_>>() {
                    let (status, _) = asked.await.unwrap().unwrap();
                    assert!(!status.is_success());
                }
            }
            Attack::Requests => {
                let ended = Instant::now() + Duration::from_secs(5);
                while Instant::now() < ended {
                    let asked = tenants.iter().map(|tenant| {
                        let tenant = tenant.clone();
                        tokio::spawn(async move {
                            tenant.exchange(Method::POST, target, &[], Vec::new()).await
                        })
                    });
                    for asked in asked.collect::<Vec<_>>() {
                        // Answered, or refused by the server: both are fine.
                        let _ = asked.await;
                    }
                }
            }
        }
    }
}

/// An operator who asks again and again; the longest time that one answer took.
fn operator(cluster: &Cluster) -> (Arc<AtomicBool>, JoinHandle<Duration>) {
    let done = Arc::new(AtomicBool::new(false));
    let (ended, client) = (done.clone(), cluster.operator());
    let task = tokio::spawn(async move {
        let mut longest = Duration::ZERO;
        while !ended.load(Ordering::SeqCst) {
            let begun = Instant::now();
            let path = "/v1/verifier/workers";
            let asked = client.exchange(Method::GET, path, &[], Vec::new());
            let (status, _) = asked.await.unwrap();
            assert!(status.is_success(), "{status}");
            longest = longest.max(begun.elapsed());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        longest
    });
    (done, task)
}

/// A registered worker whose agent was replaced: it answers with more than anybody reads.
async fn rogue(cluster: &Cluster, name: &str) -> JoinHandle<()> {
    let worker = cluster.worker(name, &[], 0).await;
    let address = worker.address;
    worker.stop().await;
    let state = StateFolder::new(&cluster.folder.path().join(name).join("state"));
    let authority = cluster.folder.path().join("gate/ca.pem");
    let credentials = Credentials {
        authority: std::fs::read_to_string(authority).unwrap(),
        certificate: state.registered().unwrap().unwrap().certificate,
        key: state.keys().unwrap().unwrap().tls_key,
    };
    let tls = SharedServerConfig::new(credentials.server().unwrap());
    let long = axum::body::Bytes::from(vec![0x9f; 80 << 20]);
    let router = axum::Router::new().fallback(move || {
        let long = long.clone();
        async move { long }
    });
    let listener = TcpListener::bind(address).await.unwrap();
    tokio::spawn(async move {
        let served = serve(listener, tls, router, std::future::pending());
        served.await.unwrap();
    })
}

fn tenant(cluster: &Cluster, number: usize) -> Credentials {
    let folder = cluster.folder.path().join(format!("tenant-{number}"));
    if !folder.exists() {
        let name = format!("tenant-{number}");
        let gate = cluster.folder.path().join("gate");
        enrol(&gate, Role::Tenant, &name, &folder, &SystemClock).unwrap();
    }
    Credentials::read(&folder, "tenant").unwrap()
}

async fn hold(cluster: &Cluster) -> Vec<Client> {
    (0..16)
        .map(|number| {
            let config = tenant(cluster, number).client().unwrap();
            Client::new(config, &cluster.address, "gate")
        })
        .collect()
}

/// 512 connections that send something and then a byte now and then.
async fn trickle(cluster: &Cluster, begin: &[u8]) {
    let mut open: Vec<TlsStream<TcpStream>> = Vec::new();
    for number in 0..512 {
        let config = tenant(cluster, number / 32).client().unwrap();
        let stream = TcpStream::connect(&cluster.address).await.unwrap();
        let gate = ServerName::try_from("gate").unwrap();
        // Who is refused is no attack any more.
        if let Ok(mut stream) = TlsConnector::from(config).connect(gate, stream).await {
            let _ = stream.write_all(begin).await;
            open.push(stream);
        }
    }
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        for stream in &mut open {
            let _ = stream.write_all(b"a").await;
        }
    }
}
