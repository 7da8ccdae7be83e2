//! Workers in the verifier's database.

use rusqlite::{OptionalExtension as _, params};
use uuid::Uuid;

use super::super::node::Node;
use super::super::status::{Trust, WorkerStatus};
use super::commit::ledger_of;
use super::{StoreError, VerifierStore, history, not_found, signed, unsigned};
use crate::clock::Timestamp;
use crate::protocol::Admission;

impl VerifierStore {
    /// Takes in a registered worker: unknown until attested. A new registration of the same worker
    /// starts over; the same registration may be told twice.
    pub fn admit(&mut self, new: &Admission, now: Timestamp) -> Result<(), StoreError> {
        let (id, registration) = (new.id.to_string(), new.registration.to_string());
        let transaction = self.0.transaction()?;
        let same: Option<bool> = transaction
            .query_row(
                "SELECT registration IS ?4 AND address = ?3 FROM worker WHERE id = ?1 AND name = ?2",
                params![id, new.name, new.address, registration],
                |row| row.get(0),
            )
            .optional()?;
        if same == Some(true) {
            return Ok(());
        }
        transaction.execute(
            "DELETE FROM worker WHERE (id = ?1) <> (name = ?2)",
            params![id, new.name],
        )?;
        transaction.execute("DELETE FROM ledger WHERE worker = ?1", [&id])?;
        transaction.execute("DELETE FROM removed_pod WHERE worker = ?1", [&id])?;
        transaction.execute(
            "INSERT INTO worker (id, name, address, trust, reason, checked, registration)
             VALUES (?1, ?2, ?3, 'unknown', 'registered, not yet attested', ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET address = ?3, trust = 'unknown',
                 reason = 'registered, not yet attested', checked = ?4, registration = ?5, cursor = NULL",
            params![id, new.name, new.address, now.millis(), registration],
        )?;
        history::forget(&transaction, &id, &new.name)?;
        transaction.execute(
            "UPDATE pod SET trust = 'unknown', reason = 'its worker was registered anew', token = ''
             WHERE worker = ?1",
            [&new.name],
        )?;
        Ok(transaction.commit()?)
    }

    /// Forgets a worker and its pods.
    pub fn remove_worker(&mut self, name: &str) -> Result<(), StoreError> {
        let transaction = self.0.transaction()?;
        transaction.execute("DELETE FROM worker WHERE name = ?1", [name])?;
        transaction.execute("DELETE FROM pod WHERE worker = ?1", [name])?;
        transaction.execute("DELETE FROM gone WHERE worker = ?1", [name])?;
        transaction.execute("DELETE FROM image WHERE worker = ?1", [name])?;
        Ok(transaction.commit()?)
    }

    /// All workers.
    pub fn workers(&self) -> Result<Vec<WorkerStatus>, StoreError> {
        self.workers_where(None)
    }

    fn workers_where(&self, name: Option<&str>) -> Result<Vec<WorkerStatus>, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT id, name, address, trust, reason, checked, version, generation FROM worker
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
                version: unsigned(row.get(6)?),
                generation: unsigned(row.get(7)?),
            });
        }
        Ok(workers)
    }

    /// One worker.
    pub fn worker(&self, name: &str) -> Result<WorkerStatus, StoreError> {
        let found = self.workers_where(Some(name))?.into_iter().next();
        found.ok_or_else(|| not_found("worker", name))
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

    /// Distrusts a worker and every pod on it; false if the worker was registered anew since, so that the
    /// conclusion is about another one.
    pub fn distrust_worker(
        &mut self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let id = worker.to_string();
        let transaction = self.0.transaction()?;
        let changed = transaction.execute(
            "UPDATE worker SET trust = 'untrusted', reason = ?2, checked = ?3
             WHERE id = ?1 AND generation = ?4",
            params![id, reason, now.millis(), signed(generation)],
        )?;
        if changed == 0 {
            return Ok(false);
        }
        transaction.execute(
            "UPDATE pod SET trust = 'untrusted', reason = ?2, checked = ?3, token = ''
             WHERE worker = (SELECT name FROM worker WHERE id = ?1)",
            params![
                id,
                format!("its worker is untrusted: {reason}"),
                now.millis()
            ],
        )?;
        transaction.commit()?;
        Ok(true)
    }
}
