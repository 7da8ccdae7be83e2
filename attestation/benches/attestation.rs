//! Figures of the verifier, each beside the limit it is held to.
//!
//! `cargo bench -p locus-attestation --bench attestation` prints them. Evidence is made by emulated TPMs
//! beforehand; only verification is timed, on one core.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark that cannot go on has nothing to say"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::evidence::{Evidence, Nonce, PcrValue, QuotePart, binding};
use locus_attestation::ima::{BootAggregate, LogWriter};
use locus_attestation::protocol::EvidenceRequest;
use locus_attestation::reference::{
    ImageReference, OsReference, ReferenceValues, RuntimeReference,
};
use locus_attestation::reference::{PathText, Whitelist};
use locus_attestation::tpm::device::quote;
use locus_attestation::tpm::emulated::EmulatedTpm;
use locus_attestation::tpm::{AkBlob, AkKind, EkKind, Public, Signature, Tpm};
use locus_attestation::verifier::{
    Node, Pod, PodContainer, Policy, Worker, appraise_pod, appraise_worker,
};
use uuid::Uuid;

const OS: &str = "Debian GNU/Linux 12 (bookworm)";
const SHIM: &str = "/usr/bin/containerd-shim-runc-v2";

fn content(text: &str) -> Digest {
    HashAlg::Sha256.hash(&[text.as_bytes()])
}

fn boot() -> Digest {
    let zeros = vec![Digest::zero(HashAlg::Sha256); 10];
    BootAggregate::over(HashAlg::Sha256, &zeros)
        .unwrap()
        .current
}

fn path(text: &str) -> PathText {
    PathText::new(text.as_bytes())
}

/// An image with many files, a runtime and an operating system.
fn whitelist(files: usize) -> Whitelist {
    let mut values = ReferenceValues::default();
    values.os.insert(
        OS.to_owned(),
        OsReference {
            boot_aggregates: [boot()].into(),
        },
    );
    let runtime = RuntimeReference {
        files: [(path(SHIM), [content(SHIM)].into())].into(),
    };
    values.runtimes.insert(SHIM.to_owned(), runtime);
    let files = (0..files).map(|number| {
        let name = format!("/usr/lib/{number}.so");
        (path(&name), [content(&name)].into())
    });
    let image = ImageReference {
        digests: [content("image")].into(),
        sandbox: false,
        files: files.collect(),
    };
    values.images.insert("image".to_owned(), image);
    Whitelist::new(&values)
}

/// A worker with its kernel and TPM.
struct Machine {
    tpm: EmulatedTpm,
    ak: AkBlob,
    kernel: LogWriter,
    worker: Worker,
}

impl Machine {
    fn new(number: u64) -> Self {
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&number.to_be_bytes());
        let mut tpm = EmulatedTpm::from_seed(seed);
        let ak = tpm.create_ak(EkKind::EccP256, AkKind::EccP256).unwrap();
        let worker = Worker {
            id: Uuid::from_u128(u128::from(number)),
            name: format!("worker-{number}"),
            os: OS.to_owned(),
            ak: ak.public_area().unwrap(),
        };
        let kernel = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
        let mut machine = Machine {
            tpm,
            ak,
            kernel,
            worker,
        };
        machine.measure("/", boot(), "boot_aggregate");
        machine.measure("/system.slice/containerd.service", content(SHIM), SHIM);
        machine
    }

    fn measure(&mut self, cgroup: &str, digest: Digest, path: &str) {
        let extended = self
            .kernel
            .cgpath("swapper/0", cgroup, digest, path)
            .unwrap();
        self.tpm.extend(10, &extended).unwrap();
    }

    fn pod(&mut self, number: u64, files: usize) -> Pod {
        let id = content(&format!("{} {number}", self.worker.name)).to_hex();
        let uid = Uuid::new_v4().to_string();
        let group = format!(
            "/kubepods.slice/kubepods-pod{}.slice/cri-containerd-{id}.scope",
            uid.replace('-', "_")
        );
        for number in 0..files {
            let name = format!("/usr/lib/{number}.so");
            self.measure(&group, content(&name), &name);
        }
        Pod {
            uid: uid.parse().unwrap(),
            namespace: "default".to_owned(),
            name: format!("pod-{number}"),
            tenant: Uuid::nil(),
            worker: self.worker.name.clone(),
            containers: vec![PodContainer {
                name: "main".to_owned(),
                image: "image".to_owned(),
                digest: content("image"),
                id: Some(id.parse().unwrap()),
            }],
        }
    }

    fn evidence(&mut self, request: &EvidenceRequest) -> Vec<u8> {
        let claims = request
            .answer(request.first_entry, HashAlg::Sha1, 0)
            .to_bytes();
        let bound = binding(&request.nonce, &claims);
        let quoted = quote(
            &mut self.tpm,
            &self.ak,
            bound.as_bytes(),
            &request.selection,
        )
        .unwrap();
        let pcrs = request
            .selection
            .registers()
            .map(|(bank, pcr)| PcrValue {
                index: u32::from(pcr),
                value: quoted.pcrs.get(bank, pcr).unwrap(),
            })
            .collect();
        let part = QuotePart {
            attest: quoted.attest,
            signature: quoted.signature,
            pcrs,
        };
        Evidence::encode(
            &claims,
            &part,
            Some(self.kernel.log_from(request.first_entry)),
        )
    }
}

fn main() {
    one_pod();
    load();
}

/// Verification of one pod's evidence with 10,000 entries, against the hashes and the signature alone;
/// then again with ten new entries.
fn one_pod() {
    const ENTRIES: usize = 10_000;
    let (list, policy) = (whitelist(ENTRIES), Policy::default());
    let mut machine = Machine::new(1);
    let pod = machine.pod(0, ENTRIES);
    let mut node = Node::default();
    let nonce = Nonce::from_bytes([1; 32]);
    let request = node.request(machine.worker.id, nonce, Some(&pod), HashAlg::Sha256);
    let bytes = machine.evidence(&request);
    let floor = best(20, || hashes_and_signature(&machine, &bytes));
    let judge = |node: &Node, request: &EvidenceRequest, bytes: &[u8], machine: &Machine| {
        let done = appraise_worker(&machine.worker, node, request, bytes, &list, &policy).unwrap();
        let terms = appraise_pod(&pod, &[], node, &done, &list).unwrap();
        (done, terms)
    };
    let whole = best(20, || {
        black_box(judge(&node, &request, &bytes, &machine));
    });
    let (done, terms) = judge(&node, &request, &bytes, &machine);
    done.apply(&mut node, [terms]);
    let group = "/system.slice/ssh.service";
    for number in 0..10 {
        let name = format!("/usr/bin/{number}");
        machine.measure(group, content(&name), &name);
    }
    let request = node.request(machine.worker.id, nonce, Some(&pod), HashAlg::Sha256);
    let bytes = machine.evidence(&request);
    let again = best(20, || {
        black_box(judge(&node, &request, &bytes, &machine));
    });
    println!("one pod, {ENTRIES} entries     {whole:>10.1?}");
    println!("  hashes and signature     {floor:>10.1?}");
    println!(
        "  ratio                    {:>10.2}  (at most 1.5)",
        ratio(whole, floor)
    );
    println!("  again, 10 new entries    {again:>10.1?}");
}

/// What no verifier can do without: two hashes per entry and bank, and one signature.
fn hashes_and_signature(machine: &Machine, bytes: &[u8]) {
    let evidence = Evidence::decode(bytes).unwrap();
    let key: &Public = &machine.worker.ak;
    let signature = Signature::parse(&evidence.quote.signature).unwrap();
    key.verify(&evidence.quote.attest, &signature).unwrap();
    let templates = locus_attestation::ima::Templates::default();
    let mut value = Digest::zero(HashAlg::Sha256);
    let reader = locus_attestation::ima::Reader::new(evidence.log, HashAlg::Sha1, &templates);
    for entry in reader {
        let entry = entry.unwrap();
        // The column is SHA-1 and the bank SHA-256: both are hashed, and the bank is extended.
        black_box(locus_attestation::ima::template_hash(HashAlg::Sha1, &entry));
        let template = locus_attestation::ima::template_hash(HashAlg::Sha256, &entry);
        value = value.extend(template.as_bytes());
    }
    black_box(value);
}

/// A thousand workers with 110 pods each: one quote per worker judges all its pods.
fn load() {
    const PODS: u64 = 110;
    const FILES: usize = 10;
    let workers: u64 = std::env::var("LOCUS_WORKERS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1000);
    let (list, policy) = (whitelist(FILES), Policy::default());
    let mut took = Duration::ZERO;
    let mut entries = 0;
    for number in 0..workers {
        let mut machine = Machine::new(number);
        let pods: Vec<Pod> = (0..PODS).map(|pod| machine.pod(pod, FILES)).collect();
        let mut node = Node::default();
        let nonce = Nonce::from_bytes([2; 32]);
        let request = node.request(machine.worker.id, nonce, None, HashAlg::Sha256);
        let bytes = machine.evidence(&request);
        let begun = Instant::now();
        let done =
            appraise_worker(&machine.worker, &node, &request, &bytes, &list, &policy).unwrap();
        let accepted: Vec<_> = pods
            .iter()
            .map(|pod| appraise_pod(pod, &[], &node, &done, &list).unwrap())
            .collect();
        entries += done.verified;
        done.apply(&mut node, accepted);
        took += begun.elapsed();
    }
    let pods = workers * PODS;
    println!("{workers} workers, {PODS} pods each, {entries} entries  {took:>10.1?}");
    println!(
        "  pods per second and core {:>10.0}",
        pods as f64 / took.as_secs_f64()
    );
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// The shortest of some runs: what the machine can do when nothing else disturbs it.
fn best(runs: u32, mut run: impl FnMut()) -> Duration {
    (0..runs)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .min()
        .unwrap_or_default()
}
