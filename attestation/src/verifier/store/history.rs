//! What is remembered of a worker beside its ledger: images and pods that it had, and what waits to be explained.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::super::appraise::Appraisal;
use super::super::history::{GonePod, History, Removed};
use super::super::node::{Pod, PodContainer};
use super::leases::{Lease, counts};
use super::{StoreError, VerifierStore};
use crate::clock::Timestamp;
use crate::database::{Transaction, params};
use crate::digest::Digest;
use crate::ima::{ContainerId, PodUid};

/// For how long a removed pod is remembered, in seconds: until its last process has ended for certain.
const REMEMBERED: i64 = 86_400;

impl VerifierStore {
    /// What is remembered of a worker.
    pub fn history(&self, id: Uuid) -> Result<History, StoreError> {
        let id = id.to_string();
        self.0.read(|on| {
            let mut history = History::default();
            let found = on.first(
                "SELECT name, committed, explained FROM worker WHERE id = ?1",
                params![id],
            )?;
            let Some(found) = found else {
                return Ok(history);
            };
            let name: String = found.get(0)?;
            history.worker.clone_from(&name);
            let committed: Option<i64> = found.get(1)?;
            history.committed = committed.map(Timestamp::from_millis);
            history.explained = usize::try_from(found.get::<i64>(2)?).unwrap_or(0);
            let images = "SELECT digest FROM image WHERE worker = ?1";
            for row in on.query(images, params![name])? {
                let text: String = row.get(0)?;
                let digest: Digest = text.parse().map_err(|_| StoreError::Content("digest"))?;
                history.images.insert(digest);
            }
            let gone = "SELECT description, removed FROM gone WHERE worker = ?1";
            for row in on.query(gone, params![name])? {
                let text: String = row.get(0)?;
                history.gone.push(GonePod {
                    pod: serde_json::from_str(&text)
                        .map_err(|_| StoreError::Content("description"))?,
                    removed: Timestamp::from_millis(row.get(1)?),
                });
            }
            let pending = "SELECT what, since FROM pending WHERE worker = ?1";
            for row in on.query(pending, params![id])? {
                let since = Timestamp::from_millis(row.get(1)?);
                history.pending.insert(row.get(0)?, since);
            }
            Ok(history)
        })
    }

    /// The pods that were removed from a worker since its boot.
    pub fn removed(&self, id: Uuid) -> Result<Removed, StoreError> {
        let mut removed = Removed::default();
        let rows = self.0.query(
            "SELECT uid, containers FROM removed_pod WHERE worker = ?1",
            params![id.to_string()],
        )?;
        for row in rows {
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
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError> {
        let id = worker.to_string();
        self.0.change(|on| {
            counts(on, lease)?;
            let changed = on.execute(
                "UPDATE worker SET trust = 'unknown', reason = ?2, checked = ?3
                 WHERE id = ?1 AND trust <> 'untrusted' AND generation = ?4",
                params![id, reason, now.millis(), super::signed(generation)],
            )?;
            if changed == 0 {
                return Ok(false);
            }
            on.execute(
                "UPDATE pod SET trust = 'unknown', reason = ?2, checked = ?3, token = ''
                 WHERE worker = (SELECT name FROM worker WHERE id = ?1) AND trust <> 'untrusted'",
                params![
                    id,
                    format!("its worker needs a reboot: {reason}"),
                    now.millis()
                ],
            )?;
            Ok(true)
        })
    }
}

/// Remembers the images of a pod that is declared.
pub(super) fn remember(on: &Transaction<'_>, pod: &Pod) -> Result<(), StoreError> {
    on.execute(
        "DELETE FROM gone WHERE uid = ?1",
        params![pod.uid.to_string()],
    )?;
    remember_images(on, &pod.worker, pod)
}

fn remember_images(on: &Transaction<'_>, worker: &str, pod: &Pod) -> Result<(), StoreError> {
    for container in &pod.containers {
        on.execute(
            "INSERT INTO image VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![worker, container.digest.to_string()],
        )?;
    }
    Ok(())
}

/// Remembers a pod that is removed, with every container it had: what it runs while it ends is not a stranger's. Returns
/// the containers.
pub(super) fn remember_gone(
    on: &Transaction<'_>,
    uid: PodUid,
    now: Timestamp,
) -> Result<Vec<ContainerId>, StoreError> {
    let id = uid.to_string();
    let found = on.first("SELECT description FROM pod WHERE uid = ?1", params![id])?;
    let Some(found) = found else {
        return Ok(Vec::new());
    };
    let text: String = found.get(0)?;
    let mut pod: Pod =
        serde_json::from_str(&text).map_err(|_| StoreError::Content("description"))?;
    let had = "SELECT description FROM container WHERE pod = ?1";
    for row in on.query(had, params![id])? {
        let text: String = row.get(0)?;
        let had: PodContainer =
            serde_json::from_str(&text).map_err(|_| StoreError::Content("container"))?;
        if !pod.containers.contains(&had) {
            pod.containers.push(had);
        }
    }
    let description =
        serde_json::to_string(&pod).map_err(|_| StoreError::Content("description"))?;
    on.execute(
        "DELETE FROM gone WHERE removed < ?1",
        params![now.plus_secs(-REMEMBERED).millis()],
    )?;
    on.execute(
        "INSERT INTO gone VALUES (?1, ?2, ?3, ?4) ON CONFLICT (uid) DO UPDATE
             SET worker = excluded.worker, description = excluded.description, removed = excluded.removed",
        params![id, pod.worker, description, now.millis()],
    )?;
    let containers = pod.containers.iter();
    Ok(containers.filter_map(|container| container.id).collect())
}

/// Forgets everything of a worker that is registered anew.
pub(super) fn forget(on: &Transaction<'_>, id: &str, name: &str) -> Result<(), StoreError> {
    on.execute("DELETE FROM pending WHERE worker = ?1", params![id])?;
    on.execute("DELETE FROM gone WHERE worker = ?1", params![name])?;
    on.execute(
        "UPDATE worker SET committed = NULL, explained = 0 WHERE id = ?1",
        params![id],
    )?;
    reset_images(on, name)
}

/// Stores what an appraisal changes of the history.
pub(super) fn commit(
    on: &Transaction<'_>,
    worker: &str,
    appraisal: &Appraisal,
    now: Timestamp,
) -> Result<(), StoreError> {
    if appraisal.rebooted {
        let name = on.one("SELECT name FROM worker WHERE id = ?1", params![worker])?;
        let name: String = name.get(0)?;
        on.execute("DELETE FROM gone WHERE worker = ?1", params![name])?;
        on.execute("DELETE FROM pending WHERE worker = ?1", params![worker])?;
        reset_images(on, &name)?;
    }
    let explained = i64::try_from(appraisal.explained).unwrap_or(i64::MAX);
    on.execute(
        "UPDATE worker SET committed = ?2, explained = ?3 WHERE id = ?1",
        params![worker, now.millis(), explained],
    )?;
    let known = on.query(
        "SELECT what FROM pending WHERE worker = ?1",
        params![worker],
    )?;
    let known: BTreeSet<String> = known
        .iter()
        .map(|row| row.get(0))
        .collect::<Result<_, _>>()?;
    for what in known.difference(&appraisal.pending) {
        on.execute(
            "DELETE FROM pending WHERE worker = ?1 AND what = ?2",
            params![worker, what],
        )?;
    }
    for what in appraisal.pending.difference(&known) {
        on.execute(
            "INSERT INTO pending VALUES (?1, ?2, ?3)",
            params![worker, what, now.millis()],
        )?;
    }
    Ok(())
}

/// After a boot, only the images of the pods that are there count.
fn reset_images(on: &Transaction<'_>, name: &str) -> Result<(), StoreError> {
    on.execute("DELETE FROM image WHERE worker = ?1", params![name])?;
    let pods = "SELECT description FROM pod WHERE worker = ?1";
    for row in on.query(pods, params![name])? {
        let text: String = row.get(0)?;
        let pod: Pod =
            serde_json::from_str(&text).map_err(|_| StoreError::Content("description"))?;
        remember_images(on, name, &pod)?;
    }
    Ok(())
}
