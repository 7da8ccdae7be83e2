//! A thousand workers with 110 pods each: one quote per worker judges all its pods.

use std::hint::black_box;
use std::time::{Duration, Instant};

use locus_attestation::clock::Timestamp;
use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::Nonce;
use locus_attestation::policy::WorkerPolicy;
use locus_attestation::protocol::Admission;
use locus_attestation::verifier::{
    Conclusion, Node, Outcome, Pod, PodStatus, Trust, VerifierStore, appraise_pod, appraise_worker,
};

use super::machine::{Machine, whitelist};
use super::{Limit, Report, once};

const WORKERS: u64 = 1000;
const PODS: u64 = 110;
const FILES: usize = 10;

pub(crate) fn run(report: &mut Report) {
    let (list, policy) = (whitelist(FILES), WorkerPolicy::default());
    let folder = tempfile::tempdir().unwrap();
    let mut store = VerifierStore::open(&folder.path().join("verifier.db")).unwrap();
    let now = Timestamp::from_secs(1_800_000_000);
    let (mut appraised, mut committed) = (Duration::ZERO, Duration::ZERO);
    let mut entries = 0;
    for number in 0..WORKERS {
        let mut machine = Machine::new(number, HashAlg::Sha1);
        let pods: Vec<Pod> = (0..PODS).map(|pod| machine.pod(pod, FILES)).collect();
        let worker = &machine.worker;
        let admission = Admission {
            id: worker.id,
            name: worker.name.clone(),
            address: "127.0.0.1:1".to_owned(),
            registration: worker.id,
        };
        store.admit(&admission, now).unwrap();
        let generation = store.worker(&worker.name).unwrap().generation;
        let node = Node::default();
        let nonce = Nonce::from_bytes([2; 32]);
        let request = node.request(worker.id, nonce, None, &policy);
        let bytes = machine.evidence(&request);
        let worker = &machine.worker;
        let mut done = None;
        let known: Vec<PodStatus> = pods.iter().cloned().map(PodStatus::declared).collect();
        appraised += once(|| {
            let judged = appraise_worker(worker, &node, &request, &bytes, &list, &policy).unwrap();
            for pod in &known {
                black_box(appraise_pod(pod, &node, &judged, &list, &policy, now).unwrap());
            }
            done = Some(judged);
        });
        let done = done.unwrap();
        entries += done.verified;
        let outcomes: Vec<Outcome> = pods
            .iter()
            .map(|pod| Outcome {
                uid: pod.uid,
                generation: 0,
                trust: Trust::Trusted,
                reason: "attested".to_owned(),
                token: String::new(),
                pending: false,
            })
            .collect();
        let begun = Instant::now();
        let conclusion = Conclusion {
            worker: worker.id,
            generation,
            from: None,
            appraisal: &done,
            outcomes: &outcomes,
            at: now,
            lease: None,
        };
        store.commit(&conclusion).unwrap();
        committed += begun.elapsed();
    }
    let pods = WORKERS * PODS;
    report.time(
        &format!("{WORKERS} workers, {PODS} pods each, {entries} entries, appraised"),
        appraised,
    );
    let rate = pods as f64 / appraised.as_secs_f64();
    report.figure("  pods per second and core", rate, Limit::None);
    report.time("  committed, each worker durably", committed);
}
