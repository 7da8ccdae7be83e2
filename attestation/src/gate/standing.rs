//! How far workers and pods are trusted at this moment.

use super::problem::Problem;
use super::verify::Verifier;
use crate::clock::Timestamp;
use crate::ima::PodUid;
use crate::verifier::{PodStatus, Trust, WorkerStatus};
use schemars::JsonSchema;

/// What came of attesting a worker with all its pods.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct WorkerReport {
    /// The worker.
    pub worker: WorkerStatus,
    /// Its pods.
    pub pods: Vec<PodStatus>,
}

impl Verifier {
    /// All workers, as they are trusted now.
    pub fn workers(&self) -> Result<Vec<WorkerStatus>, Problem> {
        let mut workers = self.store().workers()?;
        for worker in &mut workers {
            self.run_out(&mut worker.trust, &mut worker.reason, worker.checked);
        }
        Ok(workers)
    }

    /// A worker, as it is trusted now.
    pub fn worker_status(&self, name: &str) -> Result<WorkerStatus, Problem> {
        let mut worker = self.store().worker(name)?;
        self.run_out(&mut worker.trust, &mut worker.reason, worker.checked);
        Ok(worker)
    }

    /// All pods or those of a worker, as they are trusted now.
    pub fn pods(&self, worker: Option<&str>) -> Result<Vec<PodStatus>, Problem> {
        let mut pods = self.store().pods(worker)?;
        for pod in &mut pods {
            self.run_out(&mut pod.trust, &mut pod.reason, pod.checked);
        }
        Ok(pods)
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
        if *trust == Trust::Trusted && !(0..=lifetime).contains(&age) {
            *trust = Trust::Unknown;
            "the last result ran out".clone_into(reason);
        }
    }

    /// A worker and its pods, as they are trusted now.
    pub fn report(&self, name: &str) -> Result<WorkerReport, Problem> {
        Ok(WorkerReport {
            worker: self.worker_status(name)?,
            pods: self.pods(Some(name))?,
        })
    }
}
