//! Pods in the verifier's database, with every container they ever had.

use std::collections::HashSet;

use super::super::node::{Pod, PodContainer};
use super::super::status::{PodStatus, Trust};
use super::commit::{ledger_of, replace_ledger};
use super::leases::{Lease, counts};
use super::{StoreError, VerifierStore, history, not_found, signed, unsigned};
use crate::clock::Timestamp;
use crate::database::{Transaction, Value, params};
use crate::ima::{ContainerId, Cursor, PodUid};

impl VerifierStore {
    /// Declares a pod: unknown until attested. What it consists of may be completed later, which voids
    /// the trust in it, but it cannot be moved, nor given to another owner. Says whether its worker's log has to
    /// be read anew.
    pub fn declare_pod(&mut self, pod: &Pod, now: Timestamp) -> Result<bool, StoreError> {
        let description =
            serde_json::to_string(pod).map_err(|_| StoreError::Content("description"))?;
        let uid = pod.uid.to_string();
        self.0.change(|on| {
            let known = on.first("SELECT description FROM pod WHERE uid = ?1", params![uid])?;
            if let Some(known) = known {
                let known = parse(&known.get::<String>(0)?)?;
                let same = known.claim() == pod.claim()
                    && known.tenant == pod.tenant
                    && known.worker == pod.worker;
                if !same {
                    return Err(StoreError::Conflict(format!(
                        "pod `{uid}` is known with another name, owner or worker"
                    )));
                }
            }
            on.execute(
                "INSERT INTO pod (uid, worker, description, trust, reason, checked)
                 VALUES (?1, ?2, ?3, 'unknown', 'declared, not yet attested', ?4)
                 ON CONFLICT (uid) DO UPDATE SET description = excluded.description,
                     trust = CASE pod.trust WHEN 'untrusted' THEN pod.trust ELSE 'unknown' END,
                     reason = CASE pod.trust WHEN 'untrusted' THEN pod.reason
                         ELSE 'described anew, not yet attested' END,
                     token = ''
                 WHERE pod.description <> excluded.description",
                params![uid, pod.worker, description, now.millis()],
            )?;
            remember(on, pod)?;
            history::remember(on, pod)?;
            look_again(on, pod.uid)
        })
    }

    /// Forgets a pod that is gone, and what it was measured to run.
    pub fn remove_pod(&mut self, uid: PodUid, now: Timestamp) -> Result<(), StoreError> {
        self.0.change(|on| {
            let containers = history::remember_gone(on, uid, now)?;
            let worker = on
                .first(
                    "DELETE FROM pod WHERE uid = ?1
                     RETURNING (SELECT id FROM worker WHERE name = pod.worker)",
                    params![uid.to_string()],
                )?
                .ok_or_else(|| not_found("pod", uid))?;
            if let Some(id) = worker.get::<Option<String>>(0)? {
                let mut ledger = ledger_of(on, &id)?;
                ledger.forget_pod(uid, &containers);
                replace_ledger(on, &id, &ledger)?;
                on.execute(
                    "UPDATE worker SET revision = revision + 1 WHERE id = ?1",
                    params![id],
                )?;
                on.execute(
                    "INSERT INTO removed_pod VALUES (?1, ?2, ?3) ON CONFLICT (uid) DO UPDATE
                         SET worker = excluded.worker, containers = excluded.containers",
                    params![uid.to_string(), id, words(&containers)],
                )?;
            }
            Ok(())
        })
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
            None => "CAST(?1 AS TEXT) IS NULL AND uid > ?2",
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
        let rows = self.0.query(
            "SELECT uid FROM pod WHERE worker = ?1 AND trust = 'trusted' AND checked BETWEEN ?2 AND ?3",
            params![worker, from.millis(), to.millis()],
        )?;
        let mut found = HashSet::new();
        for row in rows {
            let uid: String = row.get(0)?;
            found.insert(uid.parse().map_err(|_| StoreError::Content("pod"))?);
        }
        Ok(found)
    }

    fn pods_where(
        &self,
        condition: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<PodStatus>, StoreError> {
        let rows = self.0.query_with(
            |on| {
                let had = on.list_of("description");
                format!(
                    "SELECT description, trust, reason, checked, token, version, generation,
                         (SELECT {had} FROM container WHERE pod = uid)
                     FROM pod WHERE {condition} ORDER BY uid LIMIT ?3"
                )
            },
            values,
        )?;
        let mut pods = Vec::new();
        for row in rows {
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
        let found = self.pods_where(
            "CAST(?1 AS TEXT) IS NULL AND uid = ?2",
            params![None::<String>, uid.to_string(), 1_i64],
        )?;
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
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError> {
        self.0.change(|on| {
            counts(on, lease)?;
            let changed = on.execute(
                "UPDATE pod SET trust = 'untrusted', reason = ?2, checked = ?3, token = ''
                 WHERE uid = ?1 AND generation = ?4",
                params![uid.to_string(), reason, at.millis(), signed(generation)],
            )?;
            Ok(changed == 1)
        })
    }
}

/// What a pod ran before it was removed was forgotten. When it comes back, its worker's log is read from the first
/// entry on, so that nothing is washed clean by a removal.
fn look_again(on: &Transaction<'_>, uid: PodUid) -> Result<bool, StoreError> {
    let worker = on.first(
        "DELETE FROM removed_pod WHERE uid = ?1 RETURNING worker",
        params![uid.to_string()],
    )?;
    let Some(worker) = worker else {
        return Ok(false);
    };
    let id: String = worker.get(0)?;
    let cursor = on.first("SELECT cursor FROM worker WHERE id = ?1", params![id])?;
    let cursor: Option<String> = cursor.map(|row| row.get(0)).transpose()?.flatten();
    if let Some(text) = cursor {
        let content = |_| StoreError::Content("cursor");
        let mut cursor: Cursor = serde_json::from_str(&text).map_err(content)?;
        cursor.read_by = None;
        let text = serde_json::to_string(&cursor).map_err(content)?;
        on.execute(
            "UPDATE worker SET cursor = ?2, revision = revision + 1 WHERE id = ?1",
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
fn remember(on: &Transaction<'_>, pod: &Pod) -> Result<(), StoreError> {
    for container in &pod.containers {
        let Some(id) = container.id else { continue };
        let description =
            serde_json::to_string(container).map_err(|_| StoreError::Content("container"))?;
        on.execute(
            "INSERT INTO container VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![pod.uid.to_string(), id.to_string(), description],
        )?;
    }
    Ok(())
}
