//! What the worker itself ran: runtime, host, kernel.

use super::appraise::Appraisal;
use super::node::Node;
use super::signed::take_judged;
use crate::digest::Digest;
use crate::ima::{Measured, Subject};
use crate::policy::{Mode, WorkerPolicy};
use crate::protocol::AttestationError;
use crate::reference::{Mismatch, Whitelist};

/// The subjects that are the host's: what is in a group that nobody understands is not to be overlooked.
const HOST: [Subject; 2] = [Subject::Host, Subject::Unknown];

/// Judges everything that is the worker's own.
pub(super) fn check(
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
    policy: &WorkerPolicy,
) -> Result<(), AttestationError> {
    check_runtime(node, appraisal, references, policy)?;
    let mut mismatches = check_host(node, appraisal, references, policy);
    mismatches.extend(check_buffers(node, appraisal, policy));
    mismatches.extend(check_ima_policy(node, appraisal, policy));
    if mismatches.is_empty() {
        return Ok(());
    }
    Err(AttestationError::Host(mismatches))
}

/// The entries of one of the worker's own subjects that no list accepted yet.
fn unaccepted<'a>(
    node: &'a Node,
    appraisal: &'a Appraisal,
    references: &Whitelist,
    subject: Subject,
) -> Vec<Measured<'a>> {
    let accepted = node.accepted.of_worker(references, subject);
    let mut files = Vec::new();
    for (ledger, old) in appraisal.ledgers(node) {
        files.extend(ledger.of_after(subject, if old { accepted } else { 0 }));
    }
    files
}

/// The runtime is judged on everything it ran since the boot whenever the reference values changed, and
/// on what is new otherwise.
fn check_runtime(
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
    policy: &WorkerPolicy,
) -> Result<(), AttestationError> {
    let known = appraisal.keeps_ledger && node.accepted.of_worker(references, Subject::Runtime) > 0;
    // Where the template names no control group, the runtime cannot be told from the host.
    if !appraisal.attributes(node) {
        return Ok(());
    }
    let mut ran = unaccepted(node, appraisal, references, Subject::Runtime);
    let (vouched, unsigned) = take_judged(&mut ran, node, appraisal, policy);
    let mut mismatches = references.check_runtime(&ran);
    mismatches.extend(unsigned);
    if known || vouched {
        // It was measured, now or before.
        mismatches.retain(|mismatch| *mismatch != Mismatch::NoRuntime);
    }
    if mismatches.is_empty() {
        return Ok(());
    }
    Err(AttestationError::Runtime(mismatches))
}

/// The host: all of it, or what becomes part of its kernel.
fn check_host(
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
    policy: &WorkerPolicy,
) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    for subject in HOST {
        let mut ran = unaccepted(node, appraisal, references, subject);
        ran.retain(|file| match policy.host {
            Mode::Enforced => is_looked_at(file.path, policy) || !policy.leaves_out(file.path),
            Mode::Reported => is_looked_at(file.path, policy),
        });
        ran.retain(|file| !is_expected(file, policy));
        mismatches.extend(take_judged(&mut ran, node, appraisal, policy).1);
        mismatches.extend(references.check_host(&ran));
    }
    mismatches
}

/// Whether a file is an IMA policy that the operator expects.
fn is_expected(file: &Measured<'_>, policy: &WorkerPolicy) -> bool {
    let digest = file.digest.map(crate::digest::DigestRef::to_digest);
    is_ima_policy(file.path) && digest.is_some_and(|digest| policy.ima_policy.contains(&digest))
}

/// Whether a file becomes part of the kernel when it is loaded, or tells it what to measure: it is looked at
/// also where the host is not. Logs do not say what a file was read for; its name does.
fn is_of_kernel(path: &[u8]) -> bool {
    const STARTS: [&[u8]; 5] = [b"vmlinuz", b"vmlinux", b"bzImage", b"initrd", b"initramfs"];
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let module = [&b".ko"[..], b".ko.gz", b".ko.xz", b".ko.zst"];
    module.iter().any(|end| name.ends_with(end))
        || STARTS.iter().any(|start| name.starts_with(start))
        || is_ima_policy(path)
}

/// Whether a file is looked at also where the host is not.
pub(super) fn is_looked_at(path: &[u8], policy: &WorkerPolicy) -> bool {
    is_of_kernel(path) || policy.signed(path).is_some_and(|rule| rule.required)
}

fn is_ima_policy(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    name == b"ima-policy" || name == b"ima-policy.systemd" || path.starts_with(b"/etc/ima/")
}

/// The kernel's own measurements: keys that it trusts, and the command line of the next kernel.
fn check_buffers(node: &Node, appraisal: &Appraisal, policy: &WorkerPolicy) -> Vec<Mismatch> {
    let all = appraisal
        .ledgers(node)
        .flat_map(|(ledger, _)| ledger.of(Subject::Buffer));
    let wrong = all.filter(|buffer| {
        let digest = buffer.digest.map(crate::digest::DigestRef::to_digest);
        !accepts(policy, buffer.path, digest)
    });
    wrong
        .map(|buffer| Mismatch::Buffer {
            name: String::from_utf8_lossy(buffer.path).into_owned(),
        })
        .collect()
}

fn accepts(policy: &WorkerPolicy, name: &[u8], digest: Option<Digest>) -> bool {
    let listed =
        std::str::from_utf8(name).is_ok_and(|name| policy.buffers.accepted.contains_key(name));
    if listed {
        return policy.buffers.accepts(name, digest);
    }
    match name {
        b"kexec-cmdline" => policy.kexec,
        // Only the kernel and those it trusts can add to a keyring with such a name.
        [b'.', ..] => false,
        _ => true,
    }
}

/// Where the operator names the IMA policies, one of them must have been loaded.
fn check_ima_policy(node: &Node, appraisal: &Appraisal, policy: &WorkerPolicy) -> Option<Mismatch> {
    if policy.ima_policy.is_empty() {
        return None;
    }
    let mut all = appraisal.ledgers(node).flat_map(|(ledger, _)| {
        [Subject::Host, Subject::Unattributed]
            .into_iter()
            .flat_map(move |subject| ledger.of(subject))
    });
    let loaded = all.any(|file| is_expected(&file, policy));
    (!loaded).then_some(Mismatch::NoImaPolicy)
}
