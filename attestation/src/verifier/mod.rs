//! Appraisal of evidence: quote, measurement log, reference values, and what follows for worker and pod.

mod accepted;
mod appraise;
mod audit;
mod boot;
mod history;
mod judge;
mod node;
mod own;
mod pods;
mod signed;
mod start;
mod status;
mod store;
mod strangers;

pub use accepted::{Accepted, PodTerms};
pub use appraise::{Appraisal, appraise_worker, check_boot};
pub use audit::{AuditStore, EvidenceRecord, KeptEvidence, Retention, deflate};
pub use history::{GonePod, History, Removed};
pub use judge::{Case, judge};
pub use node::{Node, Pod, PodContainer, Worker};
pub use pods::appraise_pod;
pub use start::{StartRequest, StartVerdict, may_start};
pub use status::{Outcome, PodStatus, Trust, WorkerStatus};
pub(crate) use store::RAN_OUT;
pub use store::{
    Beat, Change, ChangeKind, Changes, Committed, Conclusion, KEPT_CHANGES, Lease, Revision,
    SKEW_MILLIS, Stale, StoreError, Turn, VerifierStore, Watched,
};
pub use strangers::appraise_strangers;
