//! The pod's part of an appraisal: every container of a known image, every file of its image.

use super::accepted::PodTerms;
use super::appraise::Appraisal;
use super::node::{Node, Pod};
use super::status::PodStatus;
use crate::clock::Timestamp;
use crate::ima::{ContainerId, Subject};
use crate::policy::WorkerPolicy;
use crate::protocol::AttestationError;
use crate::reference::{Mismatch, Whitelist};

/// Appraises one pod by what the worker's verified log says of it.
///
/// What was accepted before, by the same list and for the same containers, is not looked at again. Where the
/// kernel's template names no control group, what ran is judged for the worker as a whole; the pod needs at least
/// one file of its own images among it.
///
/// Returns what the pod was judged by, to be given to [`Appraisal::apply`].
pub fn appraise_pod(
    known: &PodStatus,
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
    policy: &WorkerPolicy,
    now: Timestamp,
) -> Result<PodTerms, AttestationError> {
    let pod = &known.pod;
    if pod.containers.is_empty() {
        return Err(AttestationError::Description {
            pod: pod.label(),
            reason: "it has no containers".to_owned(),
        });
    }
    let terms = PodTerms {
        uid: pod.uid,
        images: known.images(),
    };
    let before = appraisal
        .keeps_ledger
        .then(|| node.accepted.of_pod(references, &terms))
        .flatten();
    let accepted = |subject: Subject| {
        let size = before.and_then(|sizes| sizes.get(&subject));
        size.copied().unwrap_or(0)
    };
    let ids = terms.containers();
    // Read where it stands: gathering what is looked at once costs more than looking.
    let mut measured = Vec::new();
    for (ledger, old) in appraisal.ledgers(node) {
        for subject in ledger.subjects_of_pod(pod.uid, &ids) {
            let container = match subject {
                Subject::Pod { container, .. } => container,
                Subject::Container(id) => Some(id),
                _ => None,
            };
            let from = if old { accepted(subject) } else { 0 };
            measured.push((container, ledger.of_after(subject, from)));
        }
    }
    let mismatches = references.check_pod(&terms.images, measured);
    if !mismatches.is_empty() {
        let known = |ids: &[ContainerId]| all_known(pod, ids, node, appraisal, references);
        return Err(refusal(
            pod,
            mismatches,
            known,
            (node, appraisal),
            policy,
            now,
        ));
    }
    if before.is_none() && !runs_own_file(&terms, node, appraisal, references) {
        return Err(AttestationError::NotMeasured { pod: pod.label() });
    }
    Ok(terms)
}

/// A container that is not described yet may be one that just started; everything else is wrong for good.
fn refusal(
    pod: &Pod,
    mismatches: Vec<Mismatch>,
    all_known: impl Fn(&[ContainerId]) -> bool,
    (node, appraisal): (&Node, &Appraisal),
    policy: &WorkerPolicy,
    now: Timestamp,
) -> AttestationError {
    let unknown = |mismatch: &Mismatch| match mismatch {
        Mismatch::UnknownContainer { container, .. } => Some(*container),
        _ => None,
    };
    let containers: Option<Vec<ContainerId>> = mismatches.iter().map(unknown).collect();
    if let Some(mut containers) = containers {
        containers.sort_unstable();
        containers.dedup();
        let grace = i64::try_from(policy.grace.container.as_millis()).unwrap_or(i64::MAX);
        let what: Vec<String> = containers
            .iter()
            .map(|id| {
                format!(
                    "the container {id} of the pod {}, which was not described",
                    pod.uid
                )
            })
            .collect();
        let late = what.iter().any(|what| {
            let since = (!appraisal.rebooted).then(|| node.history.since(what, now));
            now.millis_since(since.unwrap_or(now)) >= grace
        });
        if !late && all_known(&containers) {
            return AttestationError::Pending(what);
        }
    }
    AttestationError::Pod {
        pod: pod.label(),
        mismatches,
    }
}

/// Whether everything that some containers ran is in the reference values: a container that is described late has an
/// image that somebody knows.
fn all_known(
    pod: &Pod,
    containers: &[ContainerId],
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
) -> bool {
    let subject = |id: &ContainerId| Subject::Pod {
        uid: pod.uid,
        container: Some(*id),
    };
    appraisal.ledgers(node).all(|(ledger, _)| {
        let mut files = containers.iter().flat_map(|id| ledger.of(subject(id)));
        files.all(|file| references.knows_content(&file))
    })
}

/// Whether a file of one of the pod's images was measured: nothing measured is nothing proven.
fn runs_own_file(
    terms: &PodTerms,
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
) -> bool {
    let ids = terms.containers();
    let attributes = appraisal.attributes(node);
    appraisal.ledgers(node).any(|(ledger, _)| {
        let subjects = if attributes {
            ledger.subjects_of_pod(terms.uid, &ids)
        } else {
            vec![Subject::Unattributed]
        };
        let mut files = subjects.into_iter().flat_map(|subject| ledger.of(subject));
        files.any(|file| references.is_of_image(&terms.images, &file))
    })
}
