//! What belongs to no pod that anybody declared: nobody else would look at it.

use std::collections::{BTreeSet, HashSet};

use super::appraise::Appraisal;
use super::history::GonePod;
use super::node::Node;
use super::own::is_looked_at;
use super::signed::{Signed, judge};
use super::status::PodStatus;
use crate::clock::Timestamp;
use crate::ima::{BOOT_AGGREGATE, ContainerId, Ledger, PodUid, Subject};
use crate::policy::{Mode, WorkerPolicy};
use crate::protocol::AttestationError;
use crate::reference::Whitelist;

/// How many things may wait to be explained at once.
const MOST_PENDING: usize = 1000;

/// Looks for what belongs to nobody, in all of the ledger; `pods` are all pods of the worker.
///
/// What is found waits for a grace time to be declared, and is noted in the appraisal; after that time the worker
/// is not trusted any more.
pub fn appraise_strangers(
    pods: &[PodStatus],
    node: &Node,
    appraisal: &mut Appraisal,
    references: &Whitelist,
    policy: &WorkerPolicy,
    now: Timestamp,
) -> Result<(), AttestationError> {
    let known = Known::new(pods, node);
    let mut found = BTreeSet::new();
    for (ledger, old) in appraisal.ledgers(node) {
        for subject in ledger.subjects() {
            match stranger(subject, (ledger, old), &known, node, references, policy) {
                Some((what, true)) => return Err(AttestationError::Strangers(vec![what])),
                Some((what, false)) => _ = found.insert(what),
                None => {}
            }
        }
    }
    let unexplained = unattributed(pods, node, appraisal, references, policy);
    let total: usize = appraisal
        .ledgers(node)
        .map(|(ledger, _)| ledger.size(Subject::Unattributed))
        .sum();
    // What was not looked at is explained to nobody: a policy that looks at it begins where the last one did.
    let all = unexplained.is_empty() && policy.host == Mode::Enforced;
    appraisal.explained = match (all, appraisal.keeps_ledger) {
        (true, _) => total,
        (false, true) => node.history.explained,
        (false, false) => 0,
    };
    // A pod that is declared late has an image that somebody knows: what nobody knows need not wait.
    let unknown: Vec<String> = unexplained
        .iter()
        .filter(|(_, known)| !known)
        .map(|(what, _)| what.clone())
        .collect();
    if !unknown.is_empty() {
        return Err(AttestationError::Strangers(unknown));
    }
    found.extend(unexplained.into_iter().map(|(what, _)| what));
    let grace = i64::try_from(policy.grace.pod.as_millis()).unwrap_or(i64::MAX);
    let late: Vec<String> = found
        .iter()
        .filter(|what| {
            let since = (!appraisal.rebooted).then(|| node.history.since(what, now));
            now.millis_since(since.unwrap_or(now)) >= grace
        })
        .cloned()
        .collect();
    if !late.is_empty() || found.len() > MOST_PENDING {
        let found = if late.is_empty() {
            found.into_iter().collect()
        } else {
            late
        };
        return Err(AttestationError::Strangers(found));
    }
    appraisal.strangers = found.iter().cloned().collect();
    appraisal.pending.extend(found);
    Ok(())
}

/// The pods and containers that somebody declared.
struct Known<'a> {
    pods: HashSet<PodUid>,
    containers: HashSet<ContainerId>,
    gone: &'a [GonePod],
}

impl<'a> Known<'a> {
    fn new(pods: &[PodStatus], node: &'a Node) -> Self {
        let containers = pods
            .iter()
            .flat_map(PodStatus::images)
            .filter_map(|image| image.container);
        Known {
            pods: pods.iter().map(|known| known.pod.uid).collect(),
            containers: containers.collect(),
            gone: &node.history.gone,
        }
    }

    fn gone(&self, subject: Subject) -> Option<&'a GonePod> {
        self.gone.iter().find(|gone| match subject {
            Subject::Pod { uid, .. } => gone.pod.uid == uid,
            Subject::Container(id) => gone.pod.containers.iter().any(|known| known.id == Some(id)),
            _ => false,
        })
    }
}

/// What to call a subject that belongs to nobody, and whether its time is over already.
fn stranger(
    subject: Subject,
    (ledger, old): (&Ledger, bool),
    known: &Known<'_>,
    node: &Node,
    references: &Whitelist,
    policy: &WorkerPolicy,
) -> Option<(String, bool)> {
    let what = match subject {
        Subject::Pod { uid, .. } if known.pods.contains(&uid) => return None,
        Subject::Container(id) if known.containers.contains(&id) => return None,
        Subject::Pod { uid, .. } => format!("the pod {uid}, which was not declared"),
        Subject::Container(id) => {
            // Where the pod is not named, neither is whose sandbox it is.
            if references.is_sandbox(ledger.of(subject)) {
                return None;
            }
            format!("the container {id}, which belongs to no declared pod")
        }
        _ => return None,
    };
    let Some(gone) = known.gone(subject) else {
        return Some((what, false));
    };
    // It was judged when it was new.
    if old {
        return None;
    }
    let container = match subject {
        Subject::Pod { container, .. } => container,
        Subject::Container(id) => Some(id),
        _ => None,
    };
    let images = gone.pod.images();
    let fine = references
        .check_pod(&images, [(container, ledger.of(subject))])
        .is_empty();
    // What is new was measured after the last evidence; a pod that ends may do as it likes for a while.
    let ended = gone
        .removed
        .plus_millis(i64::try_from(policy.grace.pod.as_millis()).unwrap_or(i64::MAX));
    let late = node.history.committed.is_some_and(|last| last > ended);
    let uid = gone.pod.uid;
    let what = || {
        (
            format!("the pod {uid}, which was removed and runs on"),
            true,
        )
    };
    (!fine && late).then(what)
}

/// The entries that name no control group and that nothing on this worker explains; each with whether its content is in
/// the reference values at all.
fn unattributed(
    pods: &[PodStatus],
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
    policy: &WorkerPolicy,
) -> Vec<(String, bool)> {
    let images = node.history.images.iter().copied().chain(
        pods.iter()
            .flat_map(PodStatus::images)
            .map(|image| image.digest),
    );
    let images: BTreeSet<_> = images.collect();
    let files = appraisal.ledgers(node).flat_map(|(ledger, old)| {
        let from = if old { node.history.explained } else { 0 };
        ledger.of_after(Subject::Unattributed, from)
    });
    let files = files.filter(|file| file.path != BOOT_AGGREGATE);
    let files = files.filter(|file| {
        is_looked_at(file.path, policy)
            || (policy.host == Mode::Enforced && !policy.leaves_out(file.path))
    });
    let mut unsigned = Vec::new();
    let files = files.filter(|file| match judge(file, node, appraisal, policy) {
        Signed::Unsaid => true,
        Signed::Vouched => false,
        Signed::Missing => {
            let path = crate::reference::PathText::new(file.path);
            unsigned.push((format!("`{path}`, which is not signed"), false));
            false
        }
    });
    let expected = |digest| policy.ima_policy.contains(&digest);
    let mut found: Vec<(String, bool)> = references
        .unexplained(&images, files)
        .filter(|file| {
            !file
                .digest
                .is_some_and(|digest| expected(digest.to_digest()))
        })
        .map(|file| {
            let path = crate::reference::PathText::new(file.path);
            let what = match file.digest {
                Some(digest) => format!("`{path}` with the digest {}", digest.to_digest()),
                None => format!("`{path}` with a digest that cannot be compared"),
            };
            (what, references.knows_content(&file))
        })
        .collect();
    found.extend(unsigned);
    found
}
