//! Keylime's Python verifier on the same evidence, in the same run.
//!
//! The log is in the kernel's own template (`ima-ng`), which both understand. Both check the quote with its
//! signature, nonce and registers, replay the log, and look every file up in a list of allowed ones.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use locus_attestation::clock::Timestamp;
use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::{Evidence, Nonce};
use locus_attestation::ima::{Reader, Templates};
use locus_attestation::policy::WorkerPolicy;
use locus_attestation::protocol::EvidenceRequest;
use locus_attestation::verifier::{Node, PodStatus, appraise_pod, appraise_worker};
use serde_json::json;

use super::machine::{Machine, content, whitelist};
use super::{Limit, Report, best, ratio};

const ENTRIES: usize = 10_000;
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../benches/attestation/peer.py"
);

pub(crate) fn run(report: &mut Report) {
    let Some(python) = std::env::var_os("KEYLIME_PYTHON") else {
        println!("Keylime: left out; KEYLIME_PYTHON names no Python interpreter that has it");
        return;
    };
    let list = whitelist(ENTRIES);
    let mut machine = Machine::plain(3);
    let pod = machine.plain_pod(ENTRIES);
    let node = Node::default();
    let nonce = Nonce::from_bytes([3; 32]);
    let request = node.request(
        machine.worker.id,
        nonce,
        Some(&pod),
        &WorkerPolicy::default(),
    );
    let bytes = machine.evidence(&request);
    let policy = WorkerPolicy::default();
    let now = Timestamp::from_secs(1_800_000_000);
    let known = PodStatus::declared(pod.clone());
    let ours = best(20, || {
        let worker = &machine.worker;
        let done = appraise_worker(worker, &node, &request, &bytes, &list, &policy).unwrap();
        black_box(appraise_pod(&known, &node, &done, &list, &policy, now).unwrap());
    });
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &machine, &request, &bytes);
    let theirs = match peer(&python, folder.path()) {
        Ok(theirs) => theirs,
        Err(said) => {
            println!("Keylime: {said}");
            report.figure("  times the speed of Keylime", 0.0, Limit::AtLeast(20.0));
            return;
        }
    };
    report.time(&format!("{ENTRIES} entries (ima-ng), Keylime"), theirs);
    report.time(&format!("{ENTRIES} entries (ima-ng), Locus"), ours);
    report.figure(
        "  times the speed of Keylime",
        ratio(theirs, ours),
        Limit::AtLeast(20.0),
    );
}

/// The evidence as the peer reads it.
fn write(folder: &Path, machine: &Machine, request: &EvidenceRequest, bytes: &[u8]) {
    let templates = Templates::default();
    let mut log = String::new();
    for entry in Reader::new(machine.kernel.log(), HashAlg::Sha1, &templates) {
        writeln!(log, "{}", entry.unwrap()).unwrap();
    }
    std::fs::write(folder.join("log"), &log).unwrap();
    let mut allowed = String::new();
    for number in 0..ENTRIES {
        let name = format!("/usr/lib/{number}.so");
        writeln!(allowed, "{} {name}", content(&name).to_hex()).unwrap();
    }
    std::fs::write(folder.join("allowed"), allowed).unwrap();
    let evidence = Evidence::decode(bytes).unwrap();
    let area = machine.worker.ak.to_bytes();
    let size = u16::try_from(area.len()).unwrap().to_be_bytes();
    let registers: Vec<_> = evidence
        .quote
        .pcrs
        .iter()
        .map(|pcr| (pcr.index, pcr.value.to_hex()))
        .collect();
    let quote = json!({
        "key": STANDARD.encode([&size, area.as_slice()].concat()),
        "attest": STANDARD.encode(&evidence.quote.attest),
        "signature": STANDARD.encode(&evidence.quote.signature),
        "qualifying": STANDARD.encode(evidence.binding(&request.nonce).as_bytes()),
        "registers": registers,
    });
    std::fs::write(folder.join("quote.json"), quote.to_string()).unwrap();
}

fn peer(python: &OsStr, folder: &Path) -> Result<Duration, String> {
    let output = Command::new(python)
        .arg(SCRIPT)
        .arg(folder)
        .output()
        .map_err(|error| error.to_string())?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let last = answer.lines().last().unwrap_or_default();
    match last.parse() {
        Ok(seconds) if output.status.success() => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}
