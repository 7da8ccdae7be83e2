//! One pod's evidence: the first time with many entries, the second time with few.

use std::hint::black_box;

use locus_attestation::clock::Timestamp;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::evidence::{Evidence, Nonce};
use locus_attestation::ima::{Reader, Templates};
use locus_attestation::policy::{Mode, WorkerPolicy};
use locus_attestation::protocol::EvidenceRequest;
use locus_attestation::reference::Whitelist;
use locus_attestation::tpm::Signature;
use locus_attestation::verifier::{
    Appraisal, Node, Pod, PodStatus, PodTerms, appraise_pod, appraise_worker,
};

use super::machine::{Machine, content, whitelist};
use super::{Limit, Report, best_of_two, ratio};

const ENTRIES: usize = 10_000;
const NEW: usize = 10;
/// Many: between two that something else disturbs there is one that nothing does.
const RUNS: u32 = 200;

pub(crate) fn run(report: &mut Report) {
    // The log every kernel has, with SHA-1 template hashes, and that of newer kernels for the bank.
    for column in [HashAlg::Sha1, HashAlg::Sha256] {
        first(report, column);
    }
    again(report);
}

fn judge(
    machine: &Machine,
    pod: &Pod,
    node: &Node,
    (request, bytes): (&EvidenceRequest, &[u8]),
    (list, policy): (&Whitelist, &WorkerPolicy),
) -> (Appraisal, PodTerms) {
    let done = appraise_worker(&machine.worker, node, request, bytes, list, policy).unwrap();
    let now = Timestamp::from_secs(1_800_000_000);
    let terms = appraise_pod(
        &PodStatus::declared(pod.clone()),
        node,
        &done,
        list,
        policy,
        now,
    )
    .unwrap();
    (done, terms)
}

/// Asked and judged by one policy: under another, the log would be read anew from its start.
fn request(machine: &Machine, node: &Node, pod: &Pod, policy: &WorkerPolicy) -> EvidenceRequest {
    let nonce = Nonce::from_bytes([1; 32]);
    node.request(machine.worker.id, nonce, Some(pod), policy)
}

fn first(report: &mut Report, column: HashAlg) {
    let list = whitelist(ENTRIES);
    let mut machine = Machine::new(1, column);
    let pod = machine.pod(0, ENTRIES);
    let node = Node::default();
    // A gate makes list and policy once.
    let policy = WorkerPolicy::default();
    let request = request(&machine, &node, &pod, &policy);
    let bytes = machine.evidence(&request);
    let floor = hashes_and_signature(&machine, &bytes, column);
    let (floor, whole) = best_of_two(RUNS, floor, || {
        let judged = judge(&machine, &pod, &node, (&request, &bytes), (&list, &policy));
        black_box(judged);
    });
    report.time(
        &format!("one pod, {ENTRIES} entries, {column} template hashes"),
        whole,
    );
    report.time("  the hashes and the signature alone", floor);
    report.figure("  ratio", ratio(whole, floor), Limit::AtMost(1.5));
}

/// What no verifier can do without: the template hash that the log claims, the one of the bank if that is
/// another, the extension of the bank, for each entry; and one signature.
fn hashes_and_signature<'a>(
    machine: &'a Machine,
    bytes: &'a [u8],
    column: HashAlg,
) -> impl FnMut() + 'a {
    let evidence = Evidence::decode(bytes).unwrap();
    let templates = Templates::default();
    let entries: Vec<Vec<u8>> = Reader::new(evidence.log, column, &templates)
        .map(|entry| entry.unwrap().data().to_vec())
        .collect();
    let signature = Signature::parse(&evidence.quote.signature).unwrap();
    let attest = evidence.quote.attest.clone();
    move || {
        machine.worker.ak.verify(&attest, &signature).unwrap();
        let mut value = Digest::zero(HashAlg::Sha256);
        for data in &entries {
            if column != HashAlg::Sha256 {
                black_box(column.hash(&[data]));
            }
            let template = HashAlg::Sha256.hash(&[data]);
            value = value.extend(template.as_bytes());
        }
        black_box(value);
    }
}

/// A node that has shown some entries and shows some more.
struct Shown {
    machine: Machine,
    pod: Pod,
    node: Node,
    request: EvidenceRequest,
    bytes: Vec<u8>,
}

impl Shown {
    fn after(known: usize, list: &Whitelist, policy: &WorkerPolicy) -> Self {
        let mut machine = Machine::new(2, HashAlg::Sha1);
        let pod = machine.pod(0, known);
        let mut node = Node::default();
        let before = request(&machine, &node, &pod, policy);
        let bytes = machine.evidence(&before);
        let (done, terms) = judge(&machine, &pod, &node, (&before, &bytes), (list, policy));
        done.apply(&mut node, [terms]);
        for number in 0..NEW {
            let name = format!("/usr/bin/{number}");
            machine.measure("/system.slice/ssh.service", content(&name), &name);
        }
        let request = request(&machine, &node, &pod, policy);
        let bytes = machine.evidence(&request);
        Shown {
            machine,
            pod,
            node,
            request,
            bytes,
        }
    }

    fn judge(&self, list: &Whitelist, policy: &WorkerPolicy) {
        let evidence = (&self.request, self.bytes.as_slice());
        let judged = judge(
            &self.machine,
            &self.pod,
            &self.node,
            evidence,
            (list, policy),
        );
        black_box(judged);
    }
}

/// A node that has shown many entries, and one that has shown few: new entries cost the same on both.
fn again(report: &mut Report) {
    let list = whitelist(ENTRIES);
    // The new entries are the host's, and none of them is known.
    let policy = WorkerPolicy {
        host: Mode::Reported,
        ..WorkerPolicy::default()
    };
    let [many, few] = [ENTRIES, NEW].map(|known| Shown::after(known, &list, &policy));
    let (many, few) = best_of_two(
        RUNS * 4,
        || many.judge(&list, &policy),
        || few.judge(&list, &policy),
    );
    report.time(&format!("{NEW} new entries after {ENTRIES}"), many);
    report.time(&format!("{NEW} new entries after {NEW}"), few);
    report.figure("  ratio", ratio(many, few), Limit::AtMost(1.5));
}
