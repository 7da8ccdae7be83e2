//! The whole judgement of a worker and its pods, without input or output.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::appraise::{Appraisal, appraise_worker};
use super::node::{Node, Worker};
use super::pods::appraise_pod;
use super::status::PodStatus;
use super::strangers::appraise_strangers;
use crate::clock::Timestamp;
use crate::ima::PodUid;
use crate::policy::PolicySet;
use crate::protocol::attestation::Verdicts;
use crate::protocol::{AttestationError, EvidenceRequest};
use crate::reference::Whitelist;

/// Everything that one attestation looks at.
pub struct Case {
    /// The worker.
    pub worker: Worker,
    /// What it was asked.
    pub request: EvidenceRequest,
    /// The reference values.
    pub whitelist: Arc<Whitelist>,
    /// What is insisted on.
    pub policies: Arc<PolicySet>,
    /// The generations of the pods when the evidence was asked for.
    pub generations: BTreeMap<PodUid, u64>,
    /// The worker's pods as they are now.
    pub pods: Vec<PodStatus>,
    /// When the evidence was asked for.
    pub asked: Timestamp,
}

/// Judges a worker, and those of its pods that are what they were when the evidence was asked for.
pub fn judge(
    case: &Case,
    node: &Node,
    bytes: &[u8],
) -> Result<(Appraisal, Verdicts), AttestationError> {
    let list = &case.whitelist;
    let policy = case.policies.of(&case.worker.name);
    let now = case.asked;
    let mut appraisal = appraise_worker(&case.worker, node, &case.request, bytes, list, policy)?;
    appraise_strangers(&case.pods, node, &mut appraisal, list, policy, now)?;
    let seen = case
        .pods
        .iter()
        .filter(|known| case.generations.get(&known.pod.uid) == Some(&known.generation));
    let verdicts: Verdicts = seen
        .map(|known| {
            let verdict = appraise_pod(known, node, &appraisal, list, policy, now);
            (known.pod.clone(), verdict)
        })
        .collect();
    for (_, verdict) in &verdicts {
        if let Err(AttestationError::Pending(what)) = verdict {
            appraisal.pending.extend(what.iter().cloned());
        }
    }
    Ok((appraisal, verdicts))
}
