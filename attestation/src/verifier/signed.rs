//! Files of the worker itself that are accepted for their signatures, in place of a reference value or besides one.
//!
//! A signature is over the digest of a file and says nothing of its name: the policy says which files it may be.
//! It is verified when its entry is read, and that a key vouched for a content is kept with the ledger; whether that
//! key counts is asked of the policy each time.

use super::appraise::Appraisal;
use super::node::Node;
use crate::digest::{Digest, DigestRef};
use crate::ima::{BOOT_AGGREGATE, Entry, Field, FileDigest, Measured, Subject};
use crate::policy::{SignedFiles, WorkerPolicy};
use crate::reference::{Mismatch, PathText};

/// How many signatures are verified for one answer of a worker; whoever sends more has the others counted as missing.
const MOST: u32 = 10_000;

/// Verifies signatures while a log is read.
pub(super) struct Signatures<'p> {
    policy: &'p WorkerPolicy,
    left: u32,
}

impl<'p> Signatures<'p> {
    pub(super) fn new(policy: &'p WorkerPolicy) -> Self {
        Signatures { policy, left: MOST }
    }

    /// The content of an entry and the key that vouches for it, if its signature matters.
    pub(super) fn of(&mut self, subject: Subject, entry: &Entry<'_>) -> Option<(Digest, Digest)> {
        use Subject::{Host, Runtime, Unattributed, Unknown};
        // A pod runs what is in its images, whoever signed something else.
        if self.policy.signed.is_empty()
            || !matches!(subject, Host | Runtime | Unknown | Unattributed)
            || entry.field(Field::Sig).is_none_or(<[u8]>::is_empty)
        {
            return None;
        }
        let rule = self.policy.signed(entry.path())?;
        let content = entry.file_digest().and_then(FileDigest::known)?;
        self.left = self.left.checked_sub(1)?;
        Some((content, rule.keys.voucher(entry)?))
    }
}

/// Whether a key of a rule vouched for a file.
fn is_vouched(file: &Measured<'_>, rule: &SignedFiles, node: &Node, appraisal: &Appraisal) -> bool {
    let Some(content) = file.digest.map(DigestRef::to_digest) else {
        return false;
    };
    appraisal
        .ledgers(node)
        .any(|(ledger, _)| ledger.signers(content).any(|key| rule.keys.has(key)))
}

/// What the signature of a file comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    /// Nothing: it is judged by the reference values.
    Unsaid,
    /// It is accepted.
    Vouched,
    /// It has none that counts, and needs one.
    Missing,
}

/// Judges a file by its signature.
pub(super) fn judge(
    file: &Measured<'_>,
    node: &Node,
    appraisal: &Appraisal,
    policy: &WorkerPolicy,
) -> Signed {
    if policy.signed.is_empty() || file.path == BOOT_AGGREGATE {
        return Signed::Unsaid;
    }
    match policy.signed(file.path) {
        Some(rule) if is_vouched(file, rule, node, appraisal) => Signed::Vouched,
        Some(rule) if rule.required => Signed::Missing,
        _ => Signed::Unsaid,
    }
}

/// Takes the files out whose signatures decide; whether one of them was accepted, and those that were not.
pub(super) fn take_judged(
    files: &mut Vec<Measured<'_>>,
    node: &Node,
    appraisal: &Appraisal,
    policy: &WorkerPolicy,
) -> (bool, Vec<Mismatch>) {
    let (mut vouched, mut missing) = (false, Vec::new());
    files.retain(|file| match judge(file, node, appraisal, policy) {
        Signed::Unsaid => true,
        Signed::Vouched => {
            vouched = true;
            false
        }
        Signed::Missing => {
            let path = PathText::new(file.path).to_string();
            missing.push(Mismatch::Unsigned { path });
            false
        }
    });
    (vouched, missing)
}
