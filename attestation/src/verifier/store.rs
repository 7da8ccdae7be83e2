//! The verifier's durable state: cursors, ledgers, and the trust in workers and pods.
//!
//! One SQLite database in write-ahead mode with full synchronisation; every change is one transaction,
//! so that a loss of power leaves the state before it or after it.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use uuid::Uuid;

use super::appraise::Appraisal;
use super::node::{Node, Pod};
use super::status::{Outcome, PodStatus, Trust, WorkerStatus};
use crate::clock::Timestamp;
use crate::ima::{Cursor, Ledger, PodUid};
use crate::registrar::database::{self, DatabaseError};

/// "LoVe": whose database it is.
const APPLICATION: i32 = 0x4c6f_5665;
/// The form of the tables; each migration leads from one to the next.
const MIGRATIONS: &[&str] = &["
CREATE TABLE worker (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    address TEXT NOT NULL,
    trust TEXT NOT NULL,
    reason TEXT NOT NULL,
    checked INTEGER NOT NULL,
    cursor TEXT
) STRICT;
CREATE TABLE ledger (
    worker TEXT NOT NULL REFERENCES worker(id) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (worker, part)
) STRICT;
CREATE TABLE pod (
    uid TEXT PRIMARY KEY,
    worker TEXT NOT NULL,
    description TEXT NOT NULL,
    trust TEXT NOT NULL,
    reason TEXT NOT NULL,
    checked INTEGER NOT NULL,
    token TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX pod_worker ON pod(worker);
"];

/// Beyond this many parts a ledger is written anew as one.
const PARTS: i64 = 64;

/// Why the state could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// What is in it.
    #[error("the verifier's database holds a {0} that cannot be read")]
    Content(&'static str),
    /// Nothing of that name.
    #[error("there is no {kind} `{name}`")]
    NotFound {
        /// What.
        kind: &'static str,
        /// Which.
        name: String,
    },
    /// Another worker or pod has the name.
    #[error("{0}")]
    Conflict(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::Database(error.into())
    }
}

/// The database.
pub struct VerifierStore(Connection);

impl VerifierStore {
    /// Opens or makes the database in a file.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = database::open(path, APPLICATION, MIGRATIONS)?;
        Ok(VerifierStore(connection))
    }

    /// A database that is gone with the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        let connection = database::open_in_memory(APPLICATION, MIGRATIONS)?;
        Ok(VerifierStore(connection))
    }

    /// Takes in a registered worker: unknown until attested. A new registration of the same worker
    /// starts over.
    pub fn admit(
        &mut self,
        id: Uuid,
        name: &str,
        address: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let transaction = self.0.transaction()?;
        transaction.execute(
            "DELETE FROM worker WHERE id = ?1 OR name = ?2",
            params![id.to_string(), name],
        )?;
        transaction.execute(
            "INSERT INTO worker VALUES (?1, ?2, ?3, 'unknown', 'registered, not yet attested', ?4, NULL)",
            params![id.to_string(), name, address, now.millis()],
        )?;
        transaction.execute(
            "UPDATE pod SET trust = 'unknown', reason = 'its worker was registered anew', token = ''
             WHERE worker = ?1",
            [name],
        )?;
        Ok(transaction.commit()?)
    }

    /// Forgets a worker and its pods.
    pub fn remove_worker(&mut self, name: &str) -> Result<(), StoreError> {
        let transaction = self.0.transaction()?;
        transaction.execute("DELETE FROM worker WHERE name = ?1", [name])?;
        transaction.execute("DELETE FROM pod WHERE worker = ?1", [name])?;
        Ok(transaction.commit()?)
    }

    /// All workers.
    pub fn workers(&self) -> Result<Vec<WorkerStatus>, StoreError> {
        self.workers_where(None)
    }

    fn workers_where(&self, name: Option<&str>) -> Result<Vec<WorkerStatus>, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT id, name, address, trust, reason, checked FROM worker
             WHERE ?1 IS NULL OR name = ?1 ORDER BY name",
        )?;
        let mut rows = statement.query([name])?;
        let mut workers = Vec::new();
        while let Some(row) = rows.next()? {
            let (id, trust): (String, String) = (row.get(0)?, row.get(3)?);
            workers.push(WorkerStatus {
                id: id.parse().map_err(|_| StoreError::Content("worker"))?,
                name: row.get(1)?,
                address: row.get(2)?,
                trust: Trust::parse(&trust)?,
                reason: row.get(4)?,
                checked: Timestamp::from_millis(row.get(5)?),
            });
        }
        Ok(workers)
    }

    /// One worker.
    pub fn worker(&self, name: &str) -> Result<WorkerStatus, StoreError> {
        let found = self.workers_where(Some(name))?.into_iter().next();
        found.ok_or_else(|| StoreError::NotFound {
            kind: "worker",
            name: name.to_owned(),
        })
    }

    /// How far a worker's log has been verified.
    pub fn node(&self, id: Uuid) -> Result<Node, StoreError> {
        let id = id.to_string();
        let cursor: Option<String> = self
            .0
            .query_row("SELECT cursor FROM worker WHERE id = ?1", [&id], |row| {
                row.get(0)
            })
            .optional()?
            .flatten();
        let cursor = match cursor {
            None => None,
            Some(text) => {
                Some(serde_json::from_str(&text).map_err(|_| StoreError::Content("cursor"))?)
            }
        };
        let ledger = ledger_of(&self.0, &id)?;
        Ok(Node {
            cursor,
            ledger,
            ..Node::default()
        })
    }

    /// Declares a pod: unknown until attested. What it consists of may be completed later, which voids
    /// the trust in it, but it cannot be moved, nor given to another owner.
    pub fn declare_pod(&mut self, pod: &Pod, now: Timestamp) -> Result<(), StoreError> {
        let description =
            serde_json::to_string(pod).map_err(|_| StoreError::Content("description"))?;
        let transaction = self.0.transaction()?;
        let known: Option<String> = transaction
            .query_row(
                "SELECT description FROM pod WHERE uid = ?1",
                [pod.uid.to_string()],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(known) = known {
            let known: Pod =
                serde_json::from_str(&known).map_err(|_| StoreError::Content("description"))?;
            let same = known.claim() == pod.claim()
                && known.tenant == pod.tenant
                && known.worker == pod.worker;
            if !same {
                return Err(StoreError::Conflict(format!(
                    "pod `{}` is known with another name, owner or worker",
                    pod.uid
                )));
            }
        }
        transaction.execute(
            "INSERT INTO pod (uid, worker, description, trust, reason, checked)
             VALUES (?1, ?2, ?3, 'unknown', 'declared, not yet attested', ?4)
             ON CONFLICT (uid) DO UPDATE SET description = ?3,
                 trust = CASE trust WHEN 'untrusted' THEN trust ELSE 'unknown' END,
                 reason = CASE trust WHEN 'untrusted' THEN reason
                     ELSE 'described anew, not yet attested' END,
                 token = ''
             WHERE description <> ?3",
            params![pod.uid.to_string(), pod.worker, description, now.millis()],
        )?;
        Ok(transaction.commit()?)
    }

    /// Forgets a pod that is gone, and what it was measured to run.
    pub fn remove_pod(&mut self, uid: PodUid) -> Result<(), StoreError> {
        let transaction = self.0.transaction()?;
        let worker: Option<String> = transaction
            .query_row(
                "DELETE FROM pod WHERE uid = ?1
                 RETURNING (SELECT id FROM worker WHERE name = pod.worker)",
                [uid.to_string()],
                |row| row.get(0),
            )
            .optional()?
            .ok_or_else(|| StoreError::NotFound {
                kind: "pod",
                name: uid.to_string(),
            })?;
        if let Some(id) = worker {
            let mut ledger = ledger_of(&transaction, &id)?;
            ledger.forget_pod(uid);
            replace_ledger(&transaction, &id, &ledger)?;
        }
        Ok(transaction.commit()?)
    }

    /// All pods, or those of one worker.
    pub fn pods(&self, worker: Option<&str>) -> Result<Vec<PodStatus>, StoreError> {
        match worker {
            None => self.pods_where("?1 = ''", ""),
            Some(worker) => self.pods_where("worker = ?1", worker),
        }
    }

    fn pods_where(&self, condition: &str, value: &str) -> Result<Vec<PodStatus>, StoreError> {
        let mut statement = self.0.prepare_cached(&format!(
            "SELECT description, trust, reason, checked, token FROM pod
             WHERE {condition} ORDER BY uid",
        ))?;
        let mut rows = statement.query([value])?;
        let mut pods = Vec::new();
        while let Some(row) = rows.next()? {
            let (description, trust): (String, String) = (row.get(0)?, row.get(1)?);
            pods.push(PodStatus {
                pod: serde_json::from_str(&description)
                    .map_err(|_| StoreError::Content("description"))?,
                trust: Trust::parse(&trust)?,
                reason: row.get(2)?,
                checked: Timestamp::from_millis(row.get(3)?),
                token: row.get(4)?,
            });
        }
        Ok(pods)
    }

    /// One pod, by its identifier and nothing else.
    pub fn pod(&self, uid: PodUid) -> Result<PodStatus, StoreError> {
        let found = self.pods_where("uid = ?1", &uid.to_string())?;
        found
            .into_iter()
            .next()
            .ok_or_else(|| StoreError::NotFound {
                kind: "pod",
                name: uid.to_string(),
            })
    }

    /// Commits a successful appraisal: the cursor, what was learned, and the trust, all or nothing.
    ///
    /// `from` is the cursor that the appraisal started from: if the worker was registered anew or
    /// attested by somebody else meanwhile, nothing is committed.
    pub fn commit(
        &mut self,
        worker: Uuid,
        from: Option<&Cursor>,
        appraisal: &Appraisal,
        outcomes: &[Outcome],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let id = worker.to_string();
        let cursor =
            serde_json::to_string(&appraisal.cursor).map_err(|_| StoreError::Content("cursor"))?;
        let from = from
            .map(serde_json::to_string)
            .transpose()
            .map_err(|_| StoreError::Content("cursor"))?;
        let transaction = self.0.transaction()?;
        let changed = transaction.execute(
            "UPDATE worker SET cursor = ?2, trust = 'trusted', reason = ?3, checked = ?4
             WHERE id = ?1 AND trust <> 'untrusted' AND cursor IS ?5",
            params![id, cursor, "attested", now.millis(), from],
        )?;
        if changed != 1 {
            return Err(StoreError::Conflict(
                "the worker was removed, distrusted or attested meanwhile".to_owned(),
            ));
        }
        if !appraisal.keeps_ledger {
            transaction.execute("DELETE FROM ledger WHERE worker = ?1", [&id])?;
        }
        if appraisal.rebooted {
            transaction.execute(
                "UPDATE pod SET trust = 'unknown', reason = 'its worker was booted', token = ''
                 WHERE worker = (SELECT name FROM worker WHERE id = ?1)",
                [&id],
            )?;
        }
        append(&transaction, &id, &appraisal.delta)?;
        for outcome in outcomes {
            conclude(&transaction, outcome, now)?;
        }
        Ok(transaction.commit()?)
    }

    /// Records the outcome for a pod alone.
    pub fn conclude_pod(&mut self, outcome: &Outcome, now: Timestamp) -> Result<(), StoreError> {
        let transaction = self.0.transaction()?;
        conclude(&transaction, outcome, now)?;
        Ok(transaction.commit()?)
    }

    /// Distrusts a worker and every pod on it.
    pub fn distrust_worker(
        &mut self,
        worker: Uuid,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let id = worker.to_string();
        let transaction = self.0.transaction()?;
        transaction.execute(
            "UPDATE worker SET trust = 'untrusted', reason = ?2, checked = ?3 WHERE id = ?1",
            params![id, reason, now.millis()],
        )?;
        transaction.execute(
            "UPDATE pod SET trust = 'untrusted', reason = ?2, checked = ?3, token = ''
             WHERE worker = (SELECT name FROM worker WHERE id = ?1)",
            params![
                id,
                format!("its worker is untrusted: {reason}"),
                now.millis()
            ],
        )?;
        Ok(transaction.commit()?)
    }
}

fn conclude(
    transaction: &Transaction<'_>,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<(), StoreError> {
    transaction.execute(
        "UPDATE pod SET trust = ?2, reason = ?3, checked = ?4, token = ?5 WHERE uid = ?1",
        params![
            outcome.uid.to_string(),
            outcome.trust.name(),
            outcome.reason,
            now.millis(),
            outcome.token
        ],
    )?;
    Ok(())
}

/// Everything that was recorded for a worker.
fn ledger_of(connection: &Connection, id: &str) -> Result<Ledger, StoreError> {
    let mut ledger = Ledger::new();
    let mut statement =
        connection.prepare_cached("SELECT bytes FROM ledger WHERE worker = ?1 ORDER BY part")?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        let part = Ledger::from_bytes(&bytes).map_err(|_| StoreError::Content("ledger"))?;
        ledger.absorb(&part);
    }
    Ok(ledger)
}

/// Writes a whole ledger in one part.
fn replace_ledger(
    transaction: &Transaction<'_>,
    id: &str,
    ledger: &Ledger,
) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM ledger WHERE worker = ?1", [id])?;
    transaction.execute(
        "INSERT INTO ledger VALUES (?1, 0, ?2)",
        params![id, ledger.to_bytes()],
    )?;
    Ok(())
}

/// Appends what is new; from time to time the parts become one again.
fn append(transaction: &Transaction<'_>, id: &str, delta: &Ledger) -> Result<(), StoreError> {
    if delta.is_empty() {
        return Ok(());
    }
    let parts: i64 = transaction.query_row(
        "SELECT COUNT(*) FROM ledger WHERE worker = ?1",
        [id],
        |row| row.get(0),
    )?;
    if parts >= PARTS {
        let mut whole = ledger_of(transaction, id)?;
        whole.absorb(delta);
        return replace_ledger(transaction, id, &whole);
    }
    transaction.execute(
        "INSERT INTO ledger VALUES (?1, ?2, ?3)",
        params![id, parts, delta.to_bytes()],
    )?;
    Ok(())
}
