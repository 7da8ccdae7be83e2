//! What is remembered of a worker beside its ledger: images and pods that it had, and what waits to be explained.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension as _, Transaction, params};
use uuid::Uuid;

use super::super::appraise::Appraisal;
use super::super::history::{GonePod, History, Removed};
use super::super::node::{Pod, PodContainer};
use super::{StoreError, VerifierStore};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::ima::{ContainerId, PodUid};

/// For how long a removed pod is remembered, in seconds: until its last process has ended for certain.
const REMEMBERED: i64 = 86_400;

impl VerifierStore {
    /// What is remembered of a worker.
    pub fn history(&self, id: Uuid) -> Result<History, StoreError> {
        let id = id.to_string();
        let mut history = History::default();
        let found = self
            .0
            .query_row(
                "SELECT name, committed, explained FROM worker WHERE id = ?1",
                [&id],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        let Some((name, committed, explained)) = found else {
            return Ok(history);
        };
        let (name, committed, explained): (String, Option<i64>, i64) = (name, committed, explained);
        history.worker.clone_from(&name);
        history.committed = committed.map(Timestamp::from_millis);
        history.explained = usize::try_from(explained).unwrap_or(0);
        let mut statement = self
            .0
            .prepare_cached("SELECT digest FROM image WHERE worker = ?1")?;
        let mut rows = statement.query([&name])?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            let digest: Digest = text.parse().map_err(|_| StoreError::Content("digest"))?;
            history.images.insert(digest);
        }
        let mut statement = self
            .0
            .prepare_cached("SELECT description, removed FROM gone WHERE worker = ?1")?;
        let mut rows = statement.query([&name])?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(0)?;
            history.gone.push(GonePod {
                pod: serde_json::from_str(&text).map_err(|_| StoreError::Content("description"))?,
                removed: Timestamp::from_millis(row.get(1)?),
            });
        }
        let mut statement = self
            .0
            .prepare_cached("SELECT what, since FROM pending WHERE worker = ?1")?;
        let mut rows = statement.query([&id])?;
        while let Some(row) = rows.next()? {
            let since = Timestamp::from_millis(row.get(1)?);
            history.pending.insert(row.get(0)?, since);
        }
        Ok(history)
    }

    /// The pods that were removed from a worker since its boot.
    pub fn removed(&self, id: Uuid) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        let mut statement = self
            .0
            .prepare_cached("SELECT uid, containers FROM removed_pod WHERE worker = ?1")?;
        let mut rows = statement.query([id.to_string()])?;
        while let Some(row) = rows.next()? {
            let (uid, containers): (String, String) = (row.get(0)?, row.get(1)?);
            let uid = PodUid::parse(uid.as_bytes()).ok_or(StoreError::Content("pod"))?;
            removed.pods.insert(uid);
            let ids = containers.split_whitespace();
            let ids = ids.filter_map(|id| ContainerId::parse(id.as_bytes()));
            removed.containers.extend(ids);
        }
        Ok(removed)
    }

    /// Takes back the trust in a worker and its pods until it is booted: nothing was refuted, nothing can be proven.
    /// False if the worker was registered anew since.
    pub fn suspend_worker(
        &mut self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let id = worker.to_string();
        let transaction = self.0.transaction()?;
        let changed = transaction.execute(
            "UPDATE worker SET trust = 'unknown', reason = ?2, checked = ?3
             WHERE id = ?1 AND trust <> 'untrusted' AND generation = ?4",
            params![id, reason, now.millis(), super::signed(generation)],
        )?;
        if changed == 0 {
            return Ok(false);
        }
        transaction.execute(
            "UPDATE pod SET trust = 'unknown', reason = ?2, checked = ?3, token = ''
             WHERE worker = (SELECT name FROM worker WHERE id = ?1) AND trust <> 'untrusted'",
            params![
                id,
                format!("its worker needs a reboot: {reason}"),
                now.millis()
            ],
        )?;
        transaction.commit()?;
        Ok(true)
    }
}

/// Remembers the images of a pod that is declared.
pub(super) fn remember(transaction: &Transaction<'_>, pod: &Pod) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM gone WHERE uid = ?1", [pod.uid.to_string()])?;
    for container in &pod.containers {
        transaction.execute(
            "INSERT OR IGNORE INTO image VALUES (?1, ?2)",
            params![pod.worker, container.digest.to_string()],
        )?;
    }
    Ok(())
}

/// Remembers a pod that is removed, with every container it had: what it runs while it ends is not a stranger's. Returns
/// the containers.
pub(super) fn remember_gone(
    transaction: &Transaction<'_>,
    uid: PodUid,
    now: Timestamp,
) -> Result<Vec<ContainerId>, StoreError> {
    let text: Option<String> = transaction
        .query_row(
            "SELECT description FROM pod WHERE uid = ?1",
            [uid.to_string()],
            |row| row.get(0),
        )
        .optional()?;
    let Some(text) = text else {
        return Ok(Vec::new());
    };
    let mut pod: Pod =
        serde_json::from_str(&text).map_err(|_| StoreError::Content("description"))?;
    let mut statement =
        transaction.prepare_cached("SELECT description FROM container WHERE pod = ?1")?;
    let mut rows = statement.query([uid.to_string()])?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        let had: PodContainer =
            serde_json::from_str(&text).map_err(|_| StoreError::Content("container"))?;
        if !pod.containers.contains(&had) {
            pod.containers.push(had);
        }
    }
    let description =
        serde_json::to_string(&pod).map_err(|_| StoreError::Content("description"))?;
    transaction.execute(
        "DELETE FROM gone WHERE removed < ?1",
        [now.plus_secs(-REMEMBERED).millis()],
    )?;
    transaction.execute(
        "INSERT OR REPLACE INTO gone VALUES (?1, ?2, ?3, ?4)",
        params![uid.to_string(), pod.worker, description, now.millis()],
    )?;
    let containers = pod.containers.iter();
    Ok(containers.filter_map(|container| container.id).collect())
}

/// Forgets everything of a worker that is registered anew.
pub(super) fn forget(
    transaction: &Transaction<'_>,
    id: &str,
    name: &str,
) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM pending WHERE worker = ?1", [id])?;
    transaction.execute("DELETE FROM gone WHERE worker = ?1", [name])?;
    transaction.execute(
        "UPDATE worker SET committed = NULL, explained = 0 WHERE id = ?1",
        [id],
    )?;
    reset_images(transaction, name)
}

/// Stores what an appraisal changes of the history.
pub(super) fn commit(
    transaction: &Transaction<'_>,
    worker: &str,
    appraisal: &Appraisal,
    now: Timestamp,
) -> Result<(), StoreError> {
    if appraisal.rebooted {
        let name: String =
            transaction.query_row("SELECT name FROM worker WHERE id = ?1", [worker], |row| {
                row.get(0)
            })?;
        transaction.execute("DELETE FROM gone WHERE worker = ?1", [&name])?;
        transaction.execute("DELETE FROM pending WHERE worker = ?1", [worker])?;
        reset_images(transaction, &name)?;
    }
    let explained = i64::try_from(appraisal.explained).unwrap_or(i64::MAX);
    transaction.execute(
        "UPDATE worker SET committed = ?2, explained = ?3 WHERE id = ?1",
        params![worker, now.millis(), explained],
    )?;
    let known: BTreeSet<String> = {
        let mut statement =
            transaction.prepare_cached("SELECT what FROM pending WHERE worker = ?1")?;
        let rows = statement.query_map([worker], |row| row.get(0))?;
        rows.collect::<Result<_, _>>()?
    };
    for what in known.difference(&appraisal.pending) {
        transaction.execute(
            "DELETE FROM pending WHERE worker = ?1 AND what = ?2",
            params![worker, what],
        )?;
    }
    for what in appraisal.pending.difference(&known) {
        transaction.execute(
            "INSERT INTO pending VALUES (?1, ?2, ?3)",
            params![worker, what, now.millis()],
        )?;
    }
    Ok(())
}

/// After a boot, only the images of the pods that are there count.
fn reset_images(transaction: &Transaction<'_>, name: &str) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM image WHERE worker = ?1", [name])?;
    let mut statement =
        transaction.prepare_cached("SELECT description FROM pod WHERE worker = ?1")?;
    let mut rows = statement.query([name])?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        let pod: Pod =
            serde_json::from_str(&text).map_err(|_| StoreError::Content("description"))?;
        for container in &pod.containers {
            transaction.execute(
                "INSERT OR IGNORE INTO image VALUES (?1, ?2)",
                params![name, container.digest.to_string()],
            )?;
        }
    }
    Ok(())
}
