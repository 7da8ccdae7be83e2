//! Workers in the verifier's database.

use uuid::Uuid;

use super::super::node::Node;
use super::super::status::{Trust, WorkerStatus};
use super::commit::ledger_of;
use super::leases::{Lease, counts};
use super::{StoreError, VerifierStore, history, not_found, signed, unsigned};
use crate::clock::Timestamp;
use crate::database::{Transaction, params};
use crate::protocol::Admission;

impl VerifierStore {
    /// Takes in a registered worker: unknown until attested. A new registration of the same worker
    /// starts over; the same registration may be told twice.
    pub fn admit(&mut self, new: &Admission, now: Timestamp) -> Result<(), StoreError> {
        let (id, registration) = (new.id.to_string(), new.registration.to_string());
        self.0.change(|on| {
            let same = on.first(
                "SELECT registration IS NOT DISTINCT FROM ?4 AND address = ?3 FROM worker
                 WHERE id = ?1 AND name = ?2",
                params![id, new.name, new.address, registration],
            )?;
            if let Some(same) = same
                && same.get(0)?
            {
                return Ok(());
            }
            on.execute(
                "DELETE FROM worker WHERE (id = ?1) <> (name = ?2)",
                params![id, new.name],
            )?;
            on.execute("DELETE FROM ledger WHERE worker = ?1", params![id])?;
            on.execute("DELETE FROM removed_pod WHERE worker = ?1", params![id])?;
            on.execute(
                "INSERT INTO worker (id, name, address, trust, reason, checked, registration)
                 VALUES (?1, ?2, ?3, 'unknown', 'registered, not yet attested', ?4, ?5)
                 ON CONFLICT (id) DO UPDATE SET address = excluded.address, trust = excluded.trust,
                     reason = excluded.reason, checked = excluded.checked,
                     registration = excluded.registration, cursor = NULL,
                     revision = worker.revision + 1",
                params![id, new.name, new.address, now.millis(), registration],
            )?;
            history::forget(on, &id, &new.name)?;
            on.execute(
                "UPDATE lease SET due = 0 WHERE worker = ?1",
                params![new.name],
            )?;
            on.execute(
                "UPDATE pod SET trust = 'unknown', reason = 'its worker was registered anew', token = ''
                 WHERE worker = ?1",
                params![new.name],
            )?;
            Ok(())
        })
    }

    /// Forgets a worker and its pods.
    pub fn remove_worker(&mut self, name: &str) -> Result<(), StoreError> {
        self.0.change(|on| {
            on.execute("DELETE FROM worker WHERE name = ?1", params![name])?;
            for table in ["pod", "gone", "image", "lease"] {
                let all = format!("DELETE FROM {table} WHERE worker = ?1");
                on.execute(&all, params![name])?;
            }
            Ok(())
        })
    }

    /// All workers.
    pub fn workers(&self) -> Result<Vec<WorkerStatus>, StoreError> {
        self.workers_where(None)
    }

    fn workers_where(&self, name: Option<&str>) -> Result<Vec<WorkerStatus>, StoreError> {
        let rows = self.0.query(
            "SELECT id, name, address, trust, reason, checked, version, generation FROM worker
             WHERE CAST(?1 AS TEXT) IS NULL OR name = ?1 ORDER BY name",
            params![name],
        )?;
        let mut workers = Vec::new();
        for row in rows {
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
        Ok(self.revised_node(id)?.0)
    }

    /// How far a worker's log has been verified, and the revision of that.
    pub fn revised_node(&self, id: Uuid) -> Result<(Node, Revision), StoreError> {
        let id = id.to_string();
        self.0.read(|on| {
            let found = on.first("SELECT cursor FROM worker WHERE id = ?1", params![id])?;
            let cursor: Option<String> = found.map(|row| row.get(0)).transpose()?.flatten();
            let cursor = match cursor {
                None => None,
                Some(text) => {
                    Some(serde_json::from_str(&text).map_err(|_| StoreError::Content("cursor"))?)
                }
            };
            let node = Node {
                cursor,
                ledger: ledger_of(on, &id)?,
                ..Node::default()
            };
            Ok((node, revision_of(on, &id)?))
        })
    }

    /// The revision of what is known of a worker.
    pub fn revision(&self, id: Uuid) -> Result<Revision, StoreError> {
        self.0.read(|on| revision_of(on, &id.to_string()))
    }

    /// Distrusts a worker and every pod on it; false if the worker was registered anew since, so that the
    /// conclusion is about another one.
    pub fn distrust_worker(
        &mut self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        now: Timestamp,
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError> {
        let id = worker.to_string();
        self.0.change(|on| {
            counts(on, lease)?;
            let changed = on.execute(
                "UPDATE worker SET trust = 'untrusted', reason = ?2, checked = ?3
                 WHERE id = ?1 AND generation = ?4",
                params![id, reason, now.millis(), signed(generation)],
            )?;
            if changed == 0 {
                return Ok(false);
            }
            on.execute(
                "UPDATE pod SET trust = 'untrusted', reason = ?2, checked = ?3, token = ''
                 WHERE worker = (SELECT name FROM worker WHERE id = ?1)",
                params![
                    id,
                    format!("its worker is untrusted: {reason}"),
                    now.millis()
                ],
            )?;
            Ok(true)
        })
    }
}

/// Tells two states of what is known of a worker apart: its generation, and what was changed since that began.
pub type Revision = (u64, u64);

fn revision_of(on: &Transaction<'_>, id: &str) -> Result<Revision, StoreError> {
    let found = "SELECT generation, revision FROM worker WHERE id = ?1";
    match on.first(found, params![id])? {
        Some(row) => Ok((unsigned(row.get(0)?), unsigned(row.get(1)?))),
        None => Ok((0, 0)),
    }
}
