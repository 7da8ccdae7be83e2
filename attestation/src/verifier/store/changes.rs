//! What changed in the trust in workers and pods, in order, for whoever watches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::status::Trust;
use super::{StoreError, VerifierStore, signed, unsigned};
use crate::clock::Timestamp;
use crate::database::{DatabaseError, Row, Transaction, params};

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
        let last = |on: &Transaction<'_>| format!("SELECT {}", on.last_of("change", "version"));
        let rows = self.0.query_with(last, &[])?;
        let row = rows.first().ok_or(DatabaseError::Nothing)?;
        Ok(unsigned(row.get(0)?))
    }

    /// The changes after a version. A version that is too old, or from another database, is refused: what
    /// happened since cannot be told.
    pub fn changes(&self, since: u64) -> Result<Changes, StoreError> {
        self.0.read(|on| {
            let last = on.last_of("change", "version");
            let ends = on.one(&format!("SELECT {last}, min(version) FROM change"), &[])?;
            let (latest, oldest) = (unsigned(ends.get(0)?), ends.get::<Option<i64>>(1)?);
            let oldest = oldest.map_or(latest.saturating_add(1), unsigned);
            if since > latest || since.saturating_add(1) < oldest {
                return Err(StoreError::Gone { since });
            }
            let rows = on.query(
                "SELECT version, kind, name, what, trust, reason, at FROM change
                 WHERE version > ?1 ORDER BY version LIMIT ?2",
                params![signed(since), signed(AT_ONCE)],
            )?;
            let changes: Vec<Change> = rows.iter().map(change_from).collect::<Result<_, _>>()?;
            let version = changes.last().map_or(since, |change| change.version);
            Ok(Changes { version, changes })
        })
    }

    /// The last changes, newest first.
    pub fn recent(&self, most: u32) -> Result<Vec<Change>, StoreError> {
        let rows = self.0.query(
            "SELECT version, kind, name, what, trust, reason, at FROM change
             ORDER BY version DESC LIMIT ?1",
            params![most],
        )?;
        rows.iter().map(change_from).collect()
    }

    /// Up to which version a webhook was told; a new one is told what happens from now on.
    pub fn told(&mut self, url: &str) -> Result<u64, StoreError> {
        self.0.change(|on| {
            let last = on.last_of("change", "version");
            let told = on.one(
                &format!(
                    "INSERT INTO webhook VALUES (?1, {last})
                     ON CONFLICT (url) DO UPDATE SET url = excluded.url RETURNING version"
                ),
                params![url],
            )?;
            Ok(unsigned(told.get(0)?))
        })
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
            let statement = format!(
                "SELECT count(*) FROM {table} WHERE ?1 = CASE
                     WHEN trust = 'trusted' AND (checked < ?2 OR checked > ?3) THEN 'unknown'
                     ELSE trust END"
            );
            let (oldest, newest) = self.counted(now, lifetime_millis);
            for trust in Trust::ALL {
                let row = self
                    .0
                    .one(&statement, params![trust.name(), oldest, newest])?;
                counts.push((name, trust, unsigned(row.get(0)?)));
            }
        }
        Ok(counts)
    }

    /// Ends the trust in what was decided longer ago than results count, or after now: a clock that was set
    /// back does not prolong it.
    pub fn expire(&mut self, now: Timestamp, lifetime_millis: i64) -> Result<usize, StoreError> {
        let (oldest, newest) = self.counted(now, lifetime_millis);
        let due = self.0.one(
            "SELECT EXISTS (SELECT 1 FROM worker WHERE trust = 'trusted' AND (checked < ?1 OR checked > ?2))
                 OR EXISTS (SELECT 1 FROM pod WHERE trust = 'trusted' AND (checked < ?1 OR checked > ?2))
                 OR (SELECT max(version) - min(version) FROM change) >= ?3",
            params![oldest, newest, signed(KEPT_CHANGES)],
        )?;
        // As a rule there is nothing to be done, and nobody has to wait for that.
        if due.get::<Option<bool>>(0)? != Some(true) {
            return Ok(0);
        }
        self.0.change(|on| {
            let mut ended = 0;
            for table in ["worker", "pod"] {
                ended += on.execute(
                    &format!(
                        "UPDATE {table} SET trust = 'unknown', reason = '{RAN_OUT}'
                         WHERE trust = 'trusted' AND (checked < ?1 OR checked > ?2)"
                    ),
                    params![oldest, newest],
                )?;
            }
            on.execute(
                "DELETE FROM change WHERE version <= (SELECT max(version) FROM change) - ?1",
                params![signed(KEPT_CHANGES)],
            )?;
            Ok(ended)
        })
    }

    /// When trust that counts now was decided: since when, and until when.
    fn counted(&self, now: Timestamp, lifetime_millis: i64) -> (i64, i64) {
        let oldest = now.plus_millis(-lifetime_millis).millis();
        (oldest, now.plus_millis(self.skew_millis()).millis())
    }
}

/// Why something is not trusted any more that nobody refuted.
pub(crate) const RAN_OUT: &str = "the last result ran out";

fn change_from(row: &Row) -> Result<Change, StoreError> {
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
