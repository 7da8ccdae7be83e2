//! Appraisal of evidence: quote, measurement log, reference values, and what follows for worker and pod.

mod accepted;
mod appraise;
mod node;
mod pods;
mod status;
mod store;

pub use accepted::{Accepted, PodTerms};
pub use appraise::{Appraisal, Policy, appraise_worker, check_boot};
pub use node::{Node, Pod, PodContainer, Worker};
pub use pods::appraise_pod;
pub use status::{Outcome, PodStatus, Trust, WorkerStatus};
pub use store::{StoreError, VerifierStore};
