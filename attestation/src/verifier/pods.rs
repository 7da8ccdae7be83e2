//! The pod's part of an appraisal: every container of a known image, every file of its image.

use std::collections::BTreeMap;

use super::node::Pod;
use crate::ima::{BOOT_AGGREGATE, ContainerId, Ledger, Measured, Subject};
use crate::protocol::AttestationError;
use crate::reference::Whitelist;

/// Appraises one pod by what the worker's verified log says of it.
///
/// `neighbours` are the other pods of the worker: where the kernel's template names no control group,
/// an entry can be told only by its content, and may be any of theirs.
pub fn appraise_pod<'a>(
    pod: &Pod,
    neighbours: &[Pod],
    ledgers: impl Iterator<Item = &'a Ledger>,
    references: &Whitelist,
) -> Result<(), AttestationError> {
    if pod.containers.is_empty() {
        return Err(AttestationError::Description {
            pod: pod.label(),
            reason: "it has no containers".to_owned(),
        });
    }
    let images = pod.images();
    let ids: Vec<ContainerId> = images.iter().filter_map(|image| image.container).collect();
    let mut measured: BTreeMap<Option<ContainerId>, Vec<Measured<'_>>> = BTreeMap::new();
    let mut unattributed = Vec::new();
    for ledger in ledgers {
        for (container, files) in ledger.of_pod(pod.uid, &ids) {
            measured.entry(container).or_default().extend(files);
        }
        unattributed.extend(ledger.of(Subject::Unknown));
    }
    unattributed.retain(|file| file.path != BOOT_AGGREGATE);
    let mut mismatches = references.check_pod(&images, &measured);
    if !unattributed.is_empty() {
        let everybody: Vec<_> = images
            .iter()
            .cloned()
            .chain(neighbours.iter().flat_map(Pod::images))
            // What is wrong with a neighbour is not this pod's fault.
            .filter(|image| references.knows_image(&image.digest))
            .collect();
        mismatches.extend(references.check_by_content(&everybody, &unattributed));
    }
    if !mismatches.is_empty() {
        return Err(AttestationError::Pod {
            pod: pod.label(),
            mismatches,
        });
    }
    if measured.is_empty() && unattributed.is_empty() {
        return Err(AttestationError::NotMeasured { pod: pod.label() });
    }
    Ok(())
}
