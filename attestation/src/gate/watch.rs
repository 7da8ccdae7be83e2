//! Changes of trust for whoever watches, the end of trust that ran out, and the verdict before a start.

use std::collections::BTreeMap;
use std::time::Duration;

use super::problem::Problem;
use super::verify::Verifier;
use crate::clock::Timestamp;
use crate::verifier::{Changes, StartRequest, StartVerdict, may_start};

impl Verifier {
    /// What changed after a version; waits for a change if there is none yet.
    pub async fn changes(&self, since: u64, wait: Duration) -> Result<Changes, Problem> {
        let mut versions = self.versions();
        let found = self.store().changes(since)?;
        if !found.changes.is_empty() || wait.is_zero() {
            return Ok(found);
        }
        let later = versions.wait_for(|version| *version > since);
        if tokio::time::timeout(wait, later).await.is_err() {
            return Ok(found);
        }
        Ok(self.store().changes(since)?)
    }

    /// Ends the trust that ran out.
    pub fn expire(&self) -> Result<(), Problem> {
        let (now, lifetime) = (self.parts().clock.now(), self.parts().lifetime);
        self.change(|store| store.expire(now, lifetime.saturating_mul(1000)))?;
        Ok(())
    }

    /// Since when pods of a cluster are known to nobody, by UID.
    pub fn orphans(&self) -> Result<BTreeMap<String, Timestamp>, Problem> {
        Ok(self.store().orphans()?)
    }

    /// Notes which pods of a cluster nobody knows now, and since when.
    pub fn note_orphans(&self, now: &BTreeMap<String, Timestamp>) -> Result<(), Problem> {
        Ok(self.store().note_orphans(now)?)
    }

    /// Whether a pod may be started on a worker: before it runs there is no evidence of its own.
    pub async fn may_start(&self, pod: &StartRequest) -> Result<StartVerdict, Problem> {
        let worker = self.worker_status(&pod.worker)?;
        let list = self.parts().references.whitelist().await?;
        let lifetime = self.parts().lifetime.saturating_mul(1000);
        Ok(may_start(pod, &worker, &list, lifetime))
    }
}
