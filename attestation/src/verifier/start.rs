//! The verdict before a pod is started: its worker is trusted, and all its images are known.
//!
//! A pod that does not run yet has measured nothing. What can be known before is known here; what it runs is
//! judged by its own attestation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::status::{Trust, WorkerStatus};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::reference::Whitelist;

/// A pod that is to be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRequest {
    /// The name of the worker it is to run on.
    pub worker: String,
    /// The digests of the images of all its containers, of every kind.
    pub images: Vec<Digest>,
}

/// Whether a pod may be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartVerdict {
    /// Whether it may.
    pub allowed: bool,
    /// Everything that stands against it, in words; empty if it may.
    pub reasons: Vec<String>,
    /// Whether the worker is trusted.
    pub worker: Trust,
    /// The images that no reference value knows.
    pub unknown_images: Vec<Digest>,
    /// When the trust in the worker runs out, if it is trusted.
    pub until: Option<Timestamp>,
}

/// Decides whether a pod may be started; `worker` as it is trusted now, `lifetime` of a result in
/// milliseconds.
pub fn may_start(
    pod: &StartRequest,
    worker: &WorkerStatus,
    references: &Whitelist,
    lifetime: i64,
) -> StartVerdict {
    let mut reasons = Vec::new();
    if worker.trust != Trust::Trusted {
        let (name, trust, why) = (&worker.name, worker.trust.name(), &worker.reason);
        reasons.push(format!("worker `{name}` is {trust}: {why}"));
    }
    if pod.images.is_empty() {
        reasons.push("the pod has no images".to_owned());
    }
    let mut unknown_images: Vec<Digest> = Vec::new();
    for image in &pod.images {
        if !references.knows_image(image) && !unknown_images.contains(image) {
            reasons.push(format!("image `{image}` is in no reference value"));
            unknown_images.push(*image);
        }
    }
    StartVerdict {
        allowed: reasons.is_empty(),
        reasons,
        worker: worker.trust,
        unknown_images,
        until: (worker.trust == Trust::Trusted).then(|| worker.checked.plus_millis(lifetime)),
    }
}
