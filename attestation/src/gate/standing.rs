//! How far workers and pods are trusted at this moment.

use super::problem::Problem;
use super::verify::Verifier;
use crate::clock::Timestamp;
use crate::ima::PodUid;
use crate::verifier::{PodStatus, RAN_OUT, SKEW_MILLIS, Trust, WorkerStatus};
use schemars::JsonSchema;

/// What came of attesting a worker with all its pods.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct WorkerReport {
    /// The worker.
    pub worker: WorkerStatus,
    /// Its pods.
    pub pods: Vec<PodStatus>,
    /// The result about the worker as a signed token, where it was just attested; otherwise empty.
    #[serde(default)]
    pub token: String,
}

/// All workers, and the version from which their changes can be watched.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct WorkerList {
    /// The version of the last change.
    pub version: u64,
    /// The workers.
    pub items: Vec<WorkerStatus>,
}

/// Pods, and the version from which their changes can be watched.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct PodList {
    /// The version of the last change.
    pub version: u64,
    /// The pods.
    pub items: Vec<PodStatus>,
}

impl Verifier {
    /// All workers, as they are trusted now.
    pub fn workers(&self) -> Result<WorkerList, Problem> {
        // One lock: nothing changes between the list and its version.
        let store = self.store();
        let (version, mut items) = (store.version()?, store.workers()?);
        drop(store);
        for worker in &mut items {
            self.run_out(&mut worker.trust, &mut worker.reason, worker.checked);
        }
        Ok(WorkerList { version, items })
    }

    /// How many workers and pods are trusted how far now; what is nothing is said, too.
    pub fn counts(&self) -> Result<Vec<(&'static str, Trust, u64)>, Problem> {
        let (now, lifetime) = (self.parts().clock.now(), self.parts().lifetime);
        Ok(self.store().counts(now, lifetime.saturating_mul(1000))?)
    }

    /// A worker, as it is trusted now.
    pub fn worker_status(&self, name: &str) -> Result<WorkerStatus, Problem> {
        let mut worker = self.store().worker(name)?;
        self.run_out(&mut worker.trust, &mut worker.reason, worker.checked);
        Ok(worker)
    }

    /// All pods or those of a worker, as they are trusted now.
    pub fn pods(&self, worker: Option<&str>) -> Result<PodList, Problem> {
        let store = self.store();
        let (version, mut items) = (store.version()?, store.pods(worker)?);
        drop(store);
        for pod in &mut items {
            self.run_out(&mut pod.trust, &mut pod.reason, pod.checked);
        }
        Ok(PodList { version, items })
    }

    /// Some pods that follow on an identifier, as they are trusted now.
    pub(super) fn pods_after(
        &self,
        worker: Option<&str>,
        after: &str,
        most: u32,
    ) -> Result<Vec<PodStatus>, Problem> {
        let mut items = self.store().pods_after(worker, after, most)?;
        for pod in &mut items {
            self.run_out(&mut pod.trust, &mut pod.reason, pod.checked);
        }
        Ok(items)
    }

    /// A pod, as it is trusted now.
    pub fn pod(&self, uid: PodUid) -> Result<PodStatus, Problem> {
        let mut pod = self.store().pod(uid)?;
        self.run_out(&mut pod.trust, &mut pod.reason, pod.checked);
        Ok(pod)
    }

    /// Trust lasts as long as the token that says so. A clock that was set back makes it no longer: what
    /// was decided in the future was not decided.
    fn run_out(&self, trust: &mut Trust, reason: &mut String, checked: Timestamp) {
        let age = self.parts().clock.now().millis_since(checked);
        let lifetime = self.parts().lifetime.saturating_mul(1000);
        if *trust != Trust::Trusted {
            return;
        }
        // Another verifier's clock may be a little ahead; one that is far off says nothing.
        let sharing = self.sharing();
        let ahead = if sharing.is_some() { SKEW_MILLIS } else { 0 };
        if !(-ahead..=lifetime).contains(&age) {
            *trust = Trust::Unknown;
            RAN_OUT.clone_into(reason);
        } else if sharing.is_some_and(|sharing| !sharing.clock_is_right()) {
            *trust = Trust::Unknown;
            "the clock of this verifier is wrong".clone_into(reason);
        }
    }

    /// A worker and its pods, as they are trusted now.
    pub fn report(&self, name: &str) -> Result<WorkerReport, Problem> {
        Ok(WorkerReport {
            worker: self.worker_status(name)?,
            pods: self.pods(Some(name))?.items,
            token: String::new(),
        })
    }
}
