//! Which keys a worker may have: the endorsement keys of each name, and those that nobody may have.

use std::collections::BTreeMap;

use super::read::digest;
use super::settings::{PolicySet, WorkerPolicy};
use super::table::{Findings, Value};
use crate::digest::{Digest, HashAlg};
use crate::protocol::WorkerRecord;
use crate::protocol::registration::{KeyTerms, attestation_key_digests};
use crate::tpm::{EkKind, Public};

/// The keys of the installation's workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLists {
    /// The endorsement keys of each worker, or their certificates, by digest.
    pub listed: BTreeMap<String, Vec<Digest>>,
    /// Keys and certificates that are refused, by digest.
    pub denied: Vec<Digest>,
}

impl KeyLists {
    /// The first key or certificate of a registered worker that is denied.
    pub fn denies(&self, worker: &WorkerRecord) -> Option<Digest> {
        let main = (&worker.ek_public, &worker.ek_certificate);
        let others = worker.ek_others.iter();
        let others = others.map(|other| (&other.public, &other.certificate));
        let mut has: Vec<Digest> = attestation_key_digests(&worker.ak_public);
        for (public, certificate) in std::iter::once(main).chain(others) {
            has.push(HashAlg::Sha256.hash(&[certificate]));
            has.extend(Public::parse(public).map(|public| public.key.digest()));
        }
        has.extend(worker.tls_key.parse::<Digest>());
        self.denied
            .iter()
            .find(|digest| has.contains(digest))
            .copied()
    }
}

/// What is insisted on about the endorsement keys of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndorsementPolicy {
    /// The kinds that have to be shown, all of them.
    pub required: Vec<EkKind>,
    /// Whether a worker whose keys are not listed is refused.
    pub only_listed: bool,
}

impl PolicySet {
    /// What is insisted on about the keys of a worker.
    pub fn key_terms(&self, worker: &str) -> KeyTerms {
        let policy = &self.of(worker).endorsement;
        let others = self.keys.listed.iter().filter(|(name, _)| *name != worker);
        let of_others =
            others.flat_map(|(name, digests)| digests.iter().map(|digest| (name.clone(), *digest)));
        KeyTerms {
            required: policy.required.clone(),
            listed: self.keys.listed.get(worker).cloned(),
            of_others: of_others.collect(),
            only_listed: policy.only_listed,
            denied: self.keys.denied.clone(),
        }
    }
}

/// The table `[endorsement-keys]`: a list of digests for each worker. No two workers share one.
pub(super) fn listed(value: Value<'_>, lists: &mut KeyLists, findings: &mut Findings) {
    let Some(table) = findings.table(value) else {
        return;
    };
    let mut known: BTreeMap<Digest, String> = BTreeMap::new();
    let mut entries = table.into_entries();
    entries.sort_by_key(|(name, _)| name.span().start);
    for (name, value) in entries {
        let worker = name.get_ref().to_string();
        let before = findings.0.len();
        let found = findings.list(value, |findings, value| {
            let digest = sha256(findings, value)?;
            match known.insert(digest, worker.clone()) {
                Some(other) if other != worker => {
                    findings.at(
                        value,
                        format!("`{digest}` is listed for worker `{other}` already"),
                    );
                    None
                }
                _ => Some(digest),
            }
        });
        let Some(found) = found else { continue };
        if found.is_empty() && findings.0.len() == before {
            findings.at(value, "the list is empty");
        }
        lists.listed.insert(worker, found);
    }
}

/// The list `deny`.
pub(super) fn denied(value: Value<'_>, lists: &mut KeyLists, findings: &mut Findings) {
    lists.denied = findings.list(value, sha256).unwrap_or_default();
}

/// The table `endorsement` of workers.
pub(super) fn endorsement(value: Value<'_>, policy: &mut WorkerPolicy, findings: &mut Findings) {
    let Some(mut table) = findings.table(value) else {
        return;
    };
    if let Some(value) = table.take("require") {
        let kinds = EkKind::ALL.map(|kind| (kind.name(), kind));
        let found = findings.list(value, |findings, value| findings.word(value, &kinds));
        policy.endorsement.required = found.unwrap_or_default();
    }
    if let Some(value) = table.take("unlisted") {
        let words = [("accept", false), ("refuse", true)];
        let found = findings.word(value, &words);
        policy.endorsement.only_listed = found.unwrap_or(policy.endorsement.only_listed);
    }
    table.finish(findings);
}

fn sha256(findings: &mut Findings, value: Value<'_>) -> Option<Digest> {
    let found = digest(findings, value)?;
    if found.alg() != HashAlg::Sha256 {
        findings.at(value, "expected a SHA-256 digest");
        return None;
    }
    Some(found)
}
