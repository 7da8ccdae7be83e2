//! What changed in the trust in workers and pods, in order, for whoever watches.

use rusqlite::{Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::status::Trust;
use super::{StoreError, VerifierStore, signed, unsigned};
use crate::clock::Timestamp;

/// How many changes are remembered; who is further behind lists everything again.
pub const KEPT_CHANGES: u64 = 20_000;

/// How many changes are given at once.
const AT_ONCE: u64 = 1_000;

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Watched {
    /// A worker.
    Worker,
    /// A pod.
    Pod,
}

/// What happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// The trust in it, the reason for it, or its description changed.
    Changed,
    /// It is gone.
    Removed,
}

/// One change of the trust in a worker or a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Its version: later changes have larger ones.
    pub version: u64,
    /// What changed.
    pub kind: Watched,
    /// The worker's name or the pod's identifier.
    pub name: String,
    /// What happened to it.
    pub what: ChangeKind,
    /// Whether it is trusted since.
    pub trust: Trust,
    /// Why, in words.
    pub reason: String,
    /// When the trust in it was decided.
    pub at: Timestamp,
}

/// Changes after a version, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// The version to go on from.
    pub version: u64,
    /// The changes, oldest first.
    pub changes: Vec<Change>,
}

impl VerifierStore {
    /// The version of the last change; 0 before the first.
    pub fn version(&self) -> Result<u64, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'change'), 0)",
        )?;
        Ok(unsigned(statement.query_row([], |row| row.get(0))?))
    }

    /// The changes after a version. A version that is too old, or from another database, is refused: what
    /// happened since cannot be told.
    pub fn changes(&self, since: u64) -> Result<Changes, StoreError> {
        let latest = self.version()?;
        let oldest: Option<i64> =
            self.0
                .query_row("SELECT min(version) FROM change", [], |row| row.get(0))?;
        let oldest = oldest.map_or(latest.saturating_add(1), unsigned);
        if since > latest || since.saturating_add(1) < oldest {
            return Err(StoreError::Gone { since });
        }
        let mut statement = self.0.prepare_cached(
            "SELECT version, kind, name, what, trust, reason, at FROM change
             WHERE version > ?1 ORDER BY version LIMIT ?2",
        )?;
        let mut rows = statement.query(params![signed(since), signed(AT_ONCE)])?;
        let mut changes = Vec::new();
        while let Some(row) = rows.next()? {
            changes.push(change_from(row)?);
        }
        let version = changes.last().map_or(since, |change| change.version);
        Ok(Changes { version, changes })
    }

    /// The last changes, newest first.
    pub fn recent(&self, most: u32) -> Result<Vec<Change>, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT version, kind, name, what, trust, reason, at FROM change
             ORDER BY version DESC LIMIT ?1",
        )?;
        let mut rows = statement.query([most])?;
        let mut changes = Vec::new();
        while let Some(row) = rows.next()? {
            changes.push(change_from(row)?);
        }
        Ok(changes)
    }

    /// Up to which version a webhook was told; a new one is told what happens from now on.
    pub fn told(&mut self, url: &str) -> Result<u64, StoreError> {
        let version = signed(self.version()?);
        let told: i64 = self.0.query_row(
            "INSERT INTO webhook VALUES (?1, ?2) ON CONFLICT (url) DO UPDATE SET url = url
             RETURNING version",
            params![url, version],
            |row| row.get(0),
        )?;
        Ok(unsigned(told))
    }

    /// Notes up to which version a webhook was told.
    pub fn tell(&mut self, url: &str, version: u64) -> Result<(), StoreError> {
        self.0.execute(
            "UPDATE webhook SET version = ?2 WHERE url = ?1",
            params![url, signed(version)],
        )?;
        Ok(())
    }

    /// How many workers and pods are trusted how far, as if [`expire`](Self::expire) had just been done.
    pub fn counts(
        &self,
        now: Timestamp,
        lifetime_millis: i64,
    ) -> Result<Vec<(&'static str, Trust, u64)>, StoreError> {
        let mut counts = Vec::new();
        for (name, table) in [("workers", "worker"), ("pods", "pod")] {
            let mut statement = self.0.prepare_cached(&format!(
                "SELECT count(*) FROM {table} WHERE ?1 = CASE
                     WHEN trust = 'trusted' AND (checked < ?2 OR checked > ?3) THEN 'unknown'
                     ELSE trust END"
            ))?;
            for trust in Trust::ALL {
                let oldest = now.plus_millis(-lifetime_millis).millis();
                let number = params![trust.name(), oldest, now.millis()];
                let number = statement.query_row(number, |row| row.get(0))?;
                counts.push((name, trust, unsigned(number)));
            }
        }
        Ok(counts)
    }

    /// Ends the trust in what was decided longer ago than results count, or after now: a clock that was set
    /// back does not prolong it.
    pub fn expire(&mut self, now: Timestamp, lifetime_millis: i64) -> Result<usize, StoreError> {
        let transaction = self.0.transaction()?;
        let mut ended = 0;
        for table in ["worker", "pod"] {
            ended += transaction.execute(
                &format!(
                    "UPDATE {table} SET trust = 'unknown', reason = '{RAN_OUT}'
                     WHERE trust = 'trusted' AND (checked < ?1 OR checked > ?2)"
                ),
                params![now.plus_millis(-lifetime_millis).millis(), now.millis()],
            )?;
        }
        transaction.execute(
            "DELETE FROM change WHERE version <= (SELECT max(version) FROM change) - ?1",
            [signed(KEPT_CHANGES)],
        )?;
        transaction.commit()?;
        Ok(ended)
    }
}

/// Why something is not trusted any more that nobody refuted.
pub(crate) const RAN_OUT: &str = "the last result ran out";

fn change_from(row: &Row<'_>) -> Result<Change, StoreError> {
    let (kind, what, trust): (String, String, String) = (row.get(1)?, row.get(3)?, row.get(4)?);
    let unreadable = || StoreError::Content("change");
    Ok(Change {
        version: unsigned(row.get(0)?),
        kind: match kind.as_str() {
            "worker" => Watched::Worker,
            "pod" => Watched::Pod,
            _ => return Err(unreadable()),
        },
        name: row.get(2)?,
        what: match what.as_str() {
            "added" => ChangeKind::Added,
            "changed" => ChangeKind::Changed,
            "removed" => ChangeKind::Removed,
            _ => return Err(unreadable()),
        },
        trust: Trust::parse(&trust)?,
        reason: row.get(5)?,
        at: Timestamp::from_millis(row.get(6)?),
    })
}
