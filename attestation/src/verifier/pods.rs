//! The pod's part of an appraisal: every container of a known image, every file of its image.

use super::accepted::PodTerms;
use super::appraise::Appraisal;
use super::node::{Node, Pod};
use crate::ima::{BOOT_AGGREGATE, Subject};
use crate::protocol::AttestationError;
use crate::reference::Whitelist;

/// Appraises one pod by what the worker's verified log says of it.
///
/// `neighbours` are the other pods of the worker: where the kernel's template names no control group,
/// an entry can be told only by its content, and may be any of theirs. What was accepted before, by the
/// same list and for the same containers, is not looked at again.
///
/// Returns what the pod was judged by, to be given to [`Appraisal::apply`].
pub fn appraise_pod(
    pod: &Pod,
    neighbours: &[Pod],
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
) -> Result<PodTerms, AttestationError> {
    if pod.containers.is_empty() {
        return Err(AttestationError::Description {
            pod: pod.label(),
            reason: "it has no containers".to_owned(),
        });
    }
    let terms = terms(pod, neighbours, node, appraisal, references);
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
                Subject::Host | Subject::Runtime | Subject::Unknown => None,
            };
            let from = if old { accepted(subject) } else { 0 };
            measured.push((container, ledger.of_after(subject, from)));
        }
    }
    let mut unattributed = appraisal
        .ledgers(node)
        .flat_map(|(ledger, old)| {
            let from = if old { accepted(Subject::Unknown) } else { 0 };
            ledger.of_after(Subject::Unknown, from)
        })
        .filter(|file| file.path != BOOT_AGGREGATE)
        .peekable();
    let nothing = measured.is_empty() && unattributed.peek().is_none();
    let mut mismatches = references.check_pod(&terms.images, measured);
    if unattributed.peek().is_some() {
        mismatches.extend(references.check_by_content(&terms.everybody, unattributed));
    }
    if !mismatches.is_empty() {
        return Err(AttestationError::Pod {
            pod: pod.label(),
            mismatches,
        });
    }
    if before.is_none() && nothing {
        return Err(AttestationError::NotMeasured { pod: pod.label() });
    }
    Ok(terms)
}

fn terms(
    pod: &Pod,
    neighbours: &[Pod],
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
) -> PodTerms {
    let images = pod.images();
    let unattributed = appraisal
        .ledgers(node)
        .any(|(ledger, _)| ledger.size(Subject::Unknown) > 0);
    let everybody = if unattributed {
        images
            .iter()
            .cloned()
            .chain(neighbours.iter().flat_map(Pod::images))
            // What is wrong with a neighbour is not this pod's fault.
            .filter(|image| references.knows_image(&image.digest))
            .collect()
    } else {
        Vec::new()
    };
    PodTerms {
        uid: pod.uid,
        images,
        everybody,
    }
}
