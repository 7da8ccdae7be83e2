//! What is remembered of a worker beside its ledger.

use std::collections::{BTreeMap, BTreeSet};

use super::node::Pod;
use crate::clock::Timestamp;
use crate::digest::Digest;

/// What is remembered of a worker since its boot.
#[derive(Clone, Debug, Default)]
pub struct History {
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
    /// Since when something waits to be explained.
    pub fn since(&self, what: &str, now: Timestamp) -> Timestamp {
        self.pending.get(what).copied().unwrap_or(now)
    }
}
