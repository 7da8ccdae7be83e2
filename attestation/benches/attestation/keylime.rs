//! Keylime's Python verifier on the same log, in the same run.
//!
//! The log is in the kernel's own template (`ima-ng`), which both understand. Keylime's part is its
//! processing of the measurement list with an allow list, in one process; its check of the quote is left
//! out, and ours is not.

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::Command;
use std::time::Duration;

use locus_attestation::digest::HashAlg;
use locus_attestation::evidence::Nonce;
use locus_attestation::ima::{Reader, Templates};
use locus_attestation::verifier::{Node, Policy, appraise_pod, appraise_worker};

use super::machine::{Machine, content, whitelist};
use super::{Limit, Report, best, ratio};

const ENTRIES: usize = 10_000;
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/attestation/peer.py");

pub(crate) fn run(report: &mut Report) {
    let Some(python) = std::env::var_os("LOCUS_KEYLIME") else {
        println!("Keylime: left out; LOCUS_KEYLIME names no Python interpreter that has it");
        return;
    };
    let list = whitelist(ENTRIES);
    let mut machine = Machine::plain(3);
    let pod = machine.plain_pod(ENTRIES);
    let node = Node::default();
    let nonce = Nonce::from_bytes([3; 32]);
    let request = node.request(machine.worker.id, nonce, Some(&pod), HashAlg::Sha256);
    let bytes = machine.evidence(&request);
    let policy = Policy::default();
    let ours = best(20, || {
        let worker = &machine.worker;
        let done = appraise_worker(worker, &node, &request, &bytes, &list, &policy).unwrap();
        black_box(appraise_pod(&pod, &[], &node, &done, &list).unwrap());
    });
    let folder = tempfile::tempdir().unwrap();
    let templates = Templates::default();
    let mut text = String::new();
    for entry in Reader::new(machine.kernel.log(), HashAlg::Sha1, &templates) {
        writeln!(text, "{}", entry.unwrap()).unwrap();
    }
    std::fs::write(folder.path().join("log"), &text).unwrap();
    let mut allowed = String::new();
    for number in 0..ENTRIES {
        let name = format!("/usr/lib/{number}.so");
        writeln!(allowed, "{} {name}", content(&name).to_hex()).unwrap();
    }
    std::fs::write(folder.path().join("allowed"), allowed).unwrap();
    let value = machine.kernel.quoted()[0].to_hex();
    let output = Command::new(python)
        .arg(SCRIPT)
        .arg(folder.path().join("log"))
        .arg(folder.path().join("allowed"))
        .arg(&value)
        .output()
        .unwrap();
    let answer = String::from_utf8_lossy(&output.stdout);
    let last = answer.lines().last().unwrap_or_default();
    let seconds: Option<f64> = last.parse().ok();
    let Some(seconds) = seconds else {
        println!("Keylime: {}", String::from_utf8_lossy(&output.stderr));
        report.figure("  times the speed of Keylime", 0.0, Limit::AtLeast(20.0));
        return;
    };
    let theirs = Duration::from_secs_f64(seconds);
    report.time(
        &format!("{ENTRIES} entries (ima-ng), Keylime without the quote"),
        theirs,
    );
    report.time(
        &format!("{ENTRIES} entries (ima-ng), Locus with the quote"),
        ours,
    );
    report.figure(
        "  times the speed of Keylime",
        ratio(theirs, ours),
        Limit::AtLeast(20.0),
    );
}
