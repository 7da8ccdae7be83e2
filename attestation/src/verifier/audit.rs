//! Evidence that was judged, kept for a time, so that somebody else can look into a verdict later.
//!
//! A database of its own: what is kept for audit is large, is not needed to go on, and may be thrown away.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read as _, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::store::StoreError;
use crate::clock::Timestamp;
use crate::database::{Database, Location, Migration, Row, Schema, Transaction, params};
use crate::protocol::attestation::Shown;
use crate::protocol::{Effect, EvidenceRequest};

/// The database; "LoAu" says whose it is.
const SCHEMA: Schema = Schema {
    name: "locus_audit",
    application: 0x4c6f_4175,
    migrations: &[Migration::same(TABLES)],
};
const TABLES: &str = "
CREATE TABLE evidence (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    worker TEXT NOT NULL,
    asked INTEGER NOT NULL,
    effect TEXT NOT NULL,
    reason TEXT NOT NULL,
    request TEXT NOT NULL,
    size INTEGER NOT NULL,
    deflated BLOB NOT NULL
) STRICT;
CREATE INDEX evidence_worker ON evidence(worker, id);
";

/// What is too much is looked for after so small a part of what may be kept was added.
const OFTEN: u64 = 16;

/// How many records are listed at once.
const LISTED: u32 = 1_000;

/// For how long evidence is kept, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// For how many days; 0 if none is kept.
    pub days: u32,
    /// How many bytes are kept, as they are stored; the oldest of the worker that has most goes first, so that no worker
    /// pushes out what is kept of others.
    pub bytes: u64,
}

impl Retention {
    /// A gigabyte at most.
    pub const fn of_days(days: u32) -> Self {
        Retention {
            days,
            bytes: 1 << 30,
        }
    }

    /// Nothing is kept.
    pub const NONE: Retention = Retention { days: 0, bytes: 0 };
}

/// Evidence that was kept, without the evidence itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvidenceRecord {
    /// Its number; later ones have larger ones.
    pub id: u64,
    /// The worker's name.
    pub worker: String,
    /// When it was asked for.
    pub asked: Timestamp,
    /// What followed for the worker.
    pub effect: Effect,
    /// Why, in words.
    pub reason: String,
    /// How many bytes the evidence has.
    pub size: u64,
}

/// Evidence that was kept, whole: it can be verified again with the worker's attestation key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptEvidence {
    /// What is known of it.
    pub record: EvidenceRecord,
    /// What the worker was asked.
    pub request: EvidenceRequest,
    /// What it showed: claims, quote and log in CBOR.
    #[serde(with = "crate::tpm::base64_bytes")]
    #[schemars(with = "crate::tpm::Base64")]
    pub evidence: Vec<u8>,
}

/// Evidence as it is kept. That takes its time: nobody else should have to wait for it.
pub fn deflate(evidence: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::fast());
    let written = deflated.write_all(evidence);
    written
        .and_then(|()| deflated.finish())
        .map_err(|_| StoreError::Content("evidence"))
}

/// The database.
pub struct AuditStore {
    database: Database,
    retention: Retention,
    /// How many bytes were added since it was looked for what is too much.
    added: u64,
}

impl AuditStore {
    /// Opens or makes the database in a file.
    pub fn open(path: &Path, retention: Retention) -> Result<Self, StoreError> {
        Ok(Self::with(Database::open(path, &SCHEMA)?, retention))
    }

    /// Opens or makes the database where it is: `audit.db` in a folder, or a store that verifiers share.
    pub fn open_at(
        location: &Location,
        folder: &Path,
        retention: Retention,
    ) -> Result<Self, StoreError> {
        let database = location.open(folder, "audit.db", &SCHEMA)?;
        Ok(Self::with(database, retention))
    }

    fn with(database: Database, retention: Retention) -> Self {
        AuditStore {
            database,
            retention,
            added: 0,
        }
    }

    /// Keeps evidence, which was [deflated](deflate).
    pub fn keep(&mut self, shown: &Shown, deflated: &[u8]) -> Result<(), StoreError> {
        let content = |_| StoreError::Content("evidence");
        self.database.execute(
            "INSERT INTO evidence (worker, asked, effect, reason, request, size, deflated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                shown.worker,
                shown.asked.millis(),
                serde_json::to_string(&shown.effect).map_err(content)?,
                shown.reason,
                serde_json::to_string(&shown.request).map_err(content)?,
                i64::try_from(shown.evidence.len()).unwrap_or(i64::MAX),
                deflated,
            ],
        )?;
        self.added = self.added.saturating_add(deflated.len() as u64);
        if self.added > self.retention.bytes / OFTEN {
            self.prune(shown.asked)?;
        }
        Ok(())
    }

    /// Throws away what is too old, and what is too much.
    pub fn prune(&mut self, now: Timestamp) -> Result<usize, StoreError> {
        self.added = 0;
        let days = i64::from(self.retention.days);
        let oldest = now.plus_secs(-days.saturating_mul(86_400));
        self.database.change(|on| {
            let old = "DELETE FROM evidence WHERE asked < ?1";
            let mut gone = on.execute(old, params![oldest.millis()])?;
            for id in too_much(on, self.retention.bytes)? {
                gone += on.execute("DELETE FROM evidence WHERE id = ?1", params![id])?;
            }
            Ok(gone)
        })
    }

    /// What is kept, newest first: of all workers, or of one; before a number if one is given.
    pub fn list(
        &self,
        worker: Option<&str>,
        before: Option<u64>,
    ) -> Result<Vec<EvidenceRecord>, StoreError> {
        let before = before.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        let rows = self.database.query(
            "SELECT id, worker, asked, effect, reason, size FROM evidence
             WHERE (CAST(?1 AS TEXT) IS NULL OR worker = ?1) AND (CAST(?2 AS BIGINT) IS NULL OR id < ?2)
             ORDER BY id DESC LIMIT ?3",
            params![worker, before, LISTED],
        )?;
        rows.iter().map(record_from).collect()
    }

    /// Evidence that was kept, whole.
    pub fn evidence(&self, id: u64) -> Result<KeptEvidence, StoreError> {
        let content = || StoreError::Content("evidence");
        let number = i64::try_from(id).unwrap_or(i64::MAX);
        let found = self.database.first(
            "SELECT id, worker, asked, effect, reason, size, request, deflated FROM evidence
             WHERE id = ?1",
            params![number],
        )?;
        let found = found.ok_or_else(|| StoreError::NotFound {
            kind: "evidence",
            name: id.to_string(),
        })?;
        let (record, request): (_, String) = (record_from(&found)?, found.get(6)?);
        let mut evidence = Vec::new();
        DeflateDecoder::new(found.bytes(7)?)
            .take(record.size)
            .read_to_end(&mut evidence)
            .map_err(|_| content())?;
        Ok(KeptEvidence {
            record,
            request: serde_json::from_str(&request).map_err(|_| content())?,
            evidence,
        })
    }
}

/// The records that are too much: again and again the oldest of the worker that has most.
fn too_much(on: &Transaction<'_>, limit: u64) -> Result<Vec<i64>, StoreError> {
    let mut workers: BTreeMap<String, (u64, VecDeque<(i64, u64)>)> = BTreeMap::new();
    let mut total = 0_u64;
    let all = "SELECT id, worker, length(deflated) FROM evidence ORDER BY id";
    for row in on.query(all, &[])? {
        let size = u64::try_from(row.get::<i64>(2)?).unwrap_or(0);
        let (sum, records) = workers.entry(row.get(1)?).or_default();
        records.push_back((row.get(0)?, size));
        *sum += size;
        total += size;
    }
    let mut gone = Vec::new();
    while total > limit
        && let Some((sum, records)) = workers.values_mut().max_by_key(|(sum, _)| *sum)
        && let Some((id, size)) = records.pop_front()
    {
        gone.push(id);
        *sum -= size;
        total -= size;
    }
    Ok(gone)
}

fn record_from(row: &Row) -> Result<EvidenceRecord, StoreError> {
    let effect: String = row.get(3)?;
    let number = |number: i64| u64::try_from(number).unwrap_or(0);
    Ok(EvidenceRecord {
        id: number(row.get(0)?),
        worker: row.get(1)?,
        asked: Timestamp::from_millis(row.get(2)?),
        effect: serde_json::from_str(&effect).map_err(|_| StoreError::Content("evidence"))?,
        reason: row.get(4)?,
        size: number(row.get(5)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::HashAlg;
    use crate::evidence::Nonce;
    use crate::tpm::PcrSelection;

    fn shown(worker: &str, at: i64, evidence: Vec<u8>) -> Shown {
        Shown {
            worker: worker.to_owned(),
            request: EvidenceRequest {
                nonce: Nonce::from_bytes([1; 32]),
                worker: uuid::Uuid::nil(),
                pod: None,
                tenant: None,
                first_entry: 0,
                selection: PcrSelection::of(HashAlg::Sha256, [10]),
                boot_log: false,
            },
            asked: Timestamp::from_secs(at),
            evidence: evidence.into(),
            effect: Effect::WorkerUntrusted,
            reason: "it lied".to_owned(),
        }
    }

    /// Bytes that do not get smaller.
    fn noise(length: usize) -> Vec<u8> {
        let mut seed = 1u64;
        let next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as u8
        };
        std::iter::repeat_with(next).take(length).collect()
    }

    fn keep(store: &mut AuditStore, shown: &Shown) {
        let deflated = deflate(&shown.evidence).unwrap();
        store.keep(shown, &deflated).unwrap();
    }

    #[test]
    fn evidence_is_kept_whole_for_a_time_and_up_to_a_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        let retention = Retention {
            days: 2,
            bytes: 10_000,
        };
        let mut store = AuditStore::open(&path, retention).unwrap();
        let day = 86_400;
        keep(&mut store, &shown("a", 0, noise(100)));
        for number in 1..=4 {
            keep(&mut store, &shown("b", day + number, noise(4_000)));
        }
        let kept = store.list(Some("b"), None).unwrap();
        assert_eq!(kept.len(), 2, "two more would be too much");
        assert_eq!(kept[0].effect, Effect::WorkerUntrusted);
        let whole = store.evidence(kept[0].id).unwrap();
        assert_eq!(whole.evidence, noise(4_000));
        assert_eq!(whole.request.nonce, Nonce::from_bytes([1; 32]));
        assert_eq!(store.list(None, Some(kept[1].id)).unwrap()[0].worker, "a");
        // A second after two days: the first is too old.
        store.prune(Timestamp::from_secs(2 * day + 1)).unwrap();
        let left = store.list(None, None).unwrap();
        assert_eq!(left, kept, "the newest are left");
        drop(store);
        let store = AuditStore::open(&path, retention).unwrap();
        assert_eq!(store.list(None, None).unwrap(), left);
        assert!(store.evidence(1).is_err());
    }

    #[test]
    fn to_push_out_what_is_kept_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let retention = Retention {
            days: 2,
            bytes: 20_000,
        };
        let mut store = AuditStore::open(&folder.path().join("audit.db"), retention).unwrap();
        for number in 0..3 {
            keep(&mut store, &shown("honest", number, noise(2_000)));
        }
        for number in 0..50 {
            keep(&mut store, &shown("evil", 10 + number, noise(3_000)));
            let kept = store.list(None, None).unwrap();
            let total: u64 = kept.iter().map(|record| record.size).sum();
            assert!(total <= 21_000, "{total}: nobody waits for a minute");
        }
        assert_eq!(store.list(Some("honest"), None).unwrap().len(), 3);
        let evil = store.list(Some("evil"), None).unwrap();
        assert_eq!(evil[0].asked, Timestamp::from_secs(59), "the newest stay");
    }
}
