//! Pods in the verifier's database, with every container they ever had.

use std::collections::HashSet;

use rusqlite::types::Null;
use rusqlite::{OptionalExtension as _, ToSql, Transaction, params};

use super::super::node::{Pod, PodContainer};
use super::super::status::{PodStatus, Trust};
use super::commit::{ledger_of, replace_ledger};
use super::{StoreError, VerifierStore, history, not_found, signed, unsigned};
use crate::clock::Timestamp;
use crate::ima::{ContainerId, Cursor, PodUid};

impl VerifierStore {
    /// Declares a pod: unknown until attested. What it consists of may be completed later, which voids
    /// the trust in it, but it cannot be moved, nor given to another owner. Says whether its worker's log has to
    /// be read anew.
    pub fn declare_pod(&mut self, pod: &Pod, now: Timestamp) -> Result<bool, StoreError> {
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
            let known = parse(&known)?;
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
        remember(&transaction, pod)?;
        history::remember(&transaction, pod)?;
        let anew = look_again(&transaction, pod.uid)?;
        transaction.commit()?;
        Ok(anew)
    }

    /// Forgets a pod that is gone, and what it was measured to run.
    pub fn remove_pod(&mut self, uid: PodUid, now: Timestamp) -> Result<(), StoreError> {
        let transaction = self.0.transaction()?;
        let containers = history::remember_gone(&transaction, uid, now)?;
        let worker: Option<String> = transaction
            .query_row(
                "DELETE FROM pod WHERE uid = ?1
                 RETURNING (SELECT id FROM worker WHERE name = pod.worker)",
                [uid.to_string()],
                |row| row.get(0),
            )
            .optional()?
            .ok_or_else(|| not_found("pod", uid))?;
        if let Some(id) = worker {
            let mut ledger = ledger_of(&transaction, &id)?;
            ledger.forget_pod(uid, &containers);
            replace_ledger(&transaction, &id, &ledger)?;
            transaction.execute(
                "INSERT OR REPLACE INTO removed_pod VALUES (?1, ?2, ?3)",
                params![uid.to_string(), id, words(&containers)],
            )?;
        }
        Ok(transaction.commit()?)
    }

    /// All pods, or those of one worker.
    pub fn pods(&self, worker: Option<&str>) -> Result<Vec<PodStatus>, StoreError> {
        self.pods_after(worker, "", u32::MAX)
    }

    /// Some pods, all or of one worker, that follow on an identifier.
    pub fn pods_after(
        &self,
        worker: Option<&str>,
        after: &str,
        most: u32,
    ) -> Result<Vec<PodStatus>, StoreError> {
        let condition = match worker {
            None => "?1 IS NULL AND uid > ?2",
            Some(_) => "worker = ?1 AND uid > ?2",
        };
        self.pods_where(condition, params![worker, after, most])
    }

    /// The pods of a worker that are trusted by evidence of some time.
    pub fn trusted_by_evidence_of(
        &self,
        worker: &str,
        (from, to): (Timestamp, Timestamp),
    ) -> Result<HashSet<PodUid>, StoreError> {
        let mut statement = self.0.prepare_cached(
            "SELECT uid FROM pod WHERE worker = ?1 AND trust = 'trusted' AND checked BETWEEN ?2 AND ?3",
        )?;
        let mut rows = statement.query(params![worker, from.millis(), to.millis()])?;
        let mut found = HashSet::new();
        while let Some(row) = rows.next()? {
            let uid: String = row.get(0)?;
            found.insert(uid.parse().map_err(|_| StoreError::Content("pod"))?);
        }
        Ok(found)
    }

    fn pods_where(
        &self,
        condition: &str,
        values: &[&dyn ToSql],
    ) -> Result<Vec<PodStatus>, StoreError> {
        let mut statement = self.0.prepare_cached(&format!(
            "SELECT description, trust, reason, checked, token, version, generation,
                 (SELECT json_group_array(json(description)) FROM container WHERE pod = uid)
             FROM pod WHERE {condition} ORDER BY uid LIMIT ?3",
        ))?;
        let mut rows = statement.query(values)?;
        let mut pods = Vec::new();
        while let Some(row) = rows.next()? {
            let (description, trust): (String, String) = (row.get(0)?, row.get(1)?);
            let pod = parse(&description)?;
            let history: String = row.get(7)?;
            let mut history: Vec<PodContainer> =
                serde_json::from_str(&history).map_err(|_| StoreError::Content("container"))?;
            history.retain(|container| !pod.containers.contains(container));
            pods.push(PodStatus {
                pod,
                history,
                trust: Trust::parse(&trust)?,
                reason: row.get(2)?,
                checked: Timestamp::from_millis(row.get(3)?),
                token: row.get(4)?,
                version: unsigned(row.get(5)?),
                generation: unsigned(row.get(6)?),
            });
        }
        Ok(pods)
    }

    /// One pod, by its identifier and nothing else.
    pub fn pod(&self, uid: PodUid) -> Result<PodStatus, StoreError> {
        let found =
            self.pods_where("?1 IS NULL AND uid = ?2", params![Null, uid.to_string(), 1])?;
        found
            .into_iter()
            .next()
            .ok_or_else(|| not_found("pod", uid))
    }
}

impl VerifierStore {
    /// Records that a pod is refuted; false if it was described anew since, so that this is about another one.
    pub fn refute_pod(
        &mut self,
        uid: PodUid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = self.0.execute(
            "UPDATE pod SET trust = 'untrusted', reason = ?2, checked = ?3, token = ''
             WHERE uid = ?1 AND generation = ?4",
            params![uid.to_string(), reason, at.millis(), signed(generation)],
        )?;
        Ok(changed == 1)
    }
}

/// What a pod ran before it was removed was forgotten. When it comes back, its worker's log is read from the first
/// entry on, so that nothing is washed clean by a removal.
fn look_again(transaction: &Transaction<'_>, uid: PodUid) -> Result<bool, StoreError> {
    let worker: Option<String> = transaction
        .query_row(
            "DELETE FROM removed_pod WHERE uid = ?1 RETURNING worker",
            [uid.to_string()],
            |row| row.get(0),
        )
        .optional()?;
    let Some(id) = worker else { return Ok(false) };
    let cursor: Option<String> = transaction
        .query_row("SELECT cursor FROM worker WHERE id = ?1", [&id], |row| {
            row.get(0)
        })
        .optional()?
        .flatten();
    if let Some(text) = cursor {
        let content = |_| StoreError::Content("cursor");
        let mut cursor: Cursor = serde_json::from_str(&text).map_err(content)?;
        cursor.read_by = None;
        let text = serde_json::to_string(&cursor).map_err(content)?;
        transaction.execute(
            "UPDATE worker SET cursor = ?2 WHERE id = ?1",
            params![id, text],
        )?;
    }
    Ok(true)
}

fn words(containers: &[ContainerId]) -> String {
    let words: Vec<String> = containers.iter().map(ToString::to_string).collect();
    words.join(" ")
}

fn parse(description: &str) -> Result<Pod, StoreError> {
    serde_json::from_str(description).map_err(|_| StoreError::Content("description"))
}

/// Every container of a pod that has an identifier is remembered for as long as the pod is: a container that
/// is started again gets another one, and the log still has what the first one ran.
fn remember(transaction: &Transaction<'_>, pod: &Pod) -> Result<(), StoreError> {
    let mut statement =
        transaction.prepare_cached("INSERT OR IGNORE INTO container VALUES (?1, ?2, ?3)")?;
    for container in &pod.containers {
        let Some(id) = container.id else { continue };
        let description =
            serde_json::to_string(container).map_err(|_| StoreError::Content("container"))?;
        statement.execute(params![pod.uid.to_string(), id.to_string(), description])?;
    }
    Ok(())
}
