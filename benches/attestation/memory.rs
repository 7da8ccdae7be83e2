//! The memory of a gate while a thousand workers with 110 pods each are attested, over mutual TLS.

use hyper::Method;
use locus_attestation::verifier::Pod;
use serde_json::Value;

use super::cluster::{Cluster, pod};
use super::{Limit, Report};

const WORKERS: usize = 1000;
const PODS: usize = 110;
const FILES: usize = 10;
/// As many workers are attested at once as the gate's own schedule asks at once.
const AT_ONCE: usize = 32;
const LIMIT: f64 = 256.0 * 1024.0 * 1024.0;

pub(crate) fn run(report: &mut Report) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(measure(report));
}

async fn measure(report: &mut Report) {
    let name = |number: usize| format!("worker-{number}");
    let pods: Vec<Pod> = (0..WORKERS)
        .flat_map(|worker| (0..PODS).map(move |number| pod(&name(worker), number)))
        .collect();
    let cluster = Cluster::begin(FILES, &pods).await;
    let mut workers = Vec::new();
    for (number, pods) in pods.chunks(PODS).enumerate() {
        workers.push(cluster.worker(&name(number), pods, FILES).await);
    }
    // From the first entry on, and once more with what is known.
    for _ in 0..2 {
        for first in (0..WORKERS).step_by(AT_ONCE) {
            let asked = (first..WORKERS.min(first + AT_ONCE)).map(|number| {
                let client = cluster.operator();
                let path = format!("/v1/verifier/workers/worker-{number}/attest");
                tokio::spawn(async move {
                    let asked = client.exchange(Method::POST, &path, &[], Vec::new());
                    let (status, answer) = asked.await.unwrap();
                    let answer: Value = serde_json::from_slice(&answer).unwrap();
                    assert!(status.is_success(), "{answer}");
                    assert_eq!(answer["pods"].as_array().unwrap().len(), PODS);
                    for pod in answer["pods"].as_array().unwrap() {
                        assert_eq!(pod["trust"], "trusted", "{pod}");
                    }
                })
            });
            for asked in asked.collect::<Vec<_>>() {
                asked.await.unwrap();
            }
        }
    }
    let name = format!("memory of a gate, {WORKERS} workers with {PODS} pods, of 256 MB");
    report.figure(&name, cluster.peak() / LIMIT, Limit::AtMost(1.0));
}
