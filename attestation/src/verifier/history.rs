//! What is remembered of a worker beside its ledger.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::node::Pod;
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::ima::{ContainerId, PodUid, Subject};

/// What is remembered of a worker since its boot.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The worker's name.
    pub worker: String,
    /// The images of all pods that were declared.
    pub images: BTreeSet<Digest>,
    /// Pods that were removed.
    pub gone: Vec<GonePod>,
    /// What waits to be explained, and since when.
    pub pending: BTreeMap<String, Timestamp>,
    /// When evidence was last accepted: what is new in the log was measured after it.
    pub committed: Option<Timestamp>,
    /// How much of what is attributed to nobody was explained.
    pub explained: usize,
    /// The pods that were removed since the boot, with the containers they had; only where the log is read anew.
    pub removed: Removed,
}

/// Pods that were judged while they were there, and are not judged again when the log is read anew.
#[derive(Clone, Debug, Default)]
pub struct Removed {
    /// The pods.
    pub pods: HashSet<PodUid>,
    /// Their containers.
    pub containers: HashSet<ContainerId>,
}

impl Removed {
    /// Whether a subject belongs to one of them.
    pub fn has(&self, subject: Subject) -> bool {
        match subject {
            Subject::Pod { uid, .. } => self.pods.contains(&uid),
            Subject::Container(id) => self.containers.contains(&id),
            _ => false,
        }
    }
}

/// A pod that was removed.
#[derive(Clone, Debug)]
pub struct GonePod {
    /// As it was described last, with every container it had.
    pub pod: Pod,
    /// When it was removed.
    pub removed: Timestamp,
}

impl History {
    /// How many bytes of memory it takes, about.
    pub(super) fn footprint(&self) -> usize {
        /// The texts of a pod and of its containers.
        const DESCRIBED: usize = 512;
        let pods = self.gone.iter().map(|gone| {
            size_of::<GonePod>() + DESCRIBED * gone.pod.containers.len().saturating_add(1)
        });
        let waiting = self.pending.keys().map(|what| what.capacity() + 64);
        pods.sum::<usize>() + waiting.sum::<usize>() + self.images.len() * 2 * size_of::<Digest>()
    }

    /// Since when something waits to be explained.
    pub fn since(&self, what: &str, now: Timestamp) -> Timestamp {
        self.pending.get(what).copied().unwrap_or(now)
    }
}
