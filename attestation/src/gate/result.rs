//! What an attestation came to, as others read it: an attestation result (EAR).

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::evidence::{
    Appraisal, AttestationResult, Nonce, TrustVector, WORKER_SUBMODULE, pod_submodule,
};
use crate::protocol::{AttestationError, Effect};
use crate::verifier::{Pod, PodTerms};

/// The name of the policy in results.
const POLICY: &str = "locus";

/// The result for a pod of a worker that was attested.
pub(super) fn result_of(
    worker: Uuid,
    nonce: Nonce,
    pod: &Pod,
    verdict: &Result<PodTerms, AttestationError>,
    now: Timestamp,
    lifetime: i64,
) -> AttestationResult {
    let good = TrustVector {
        instance_identity: 2,
        executables: 2,
        hardware: 2,
        ..TrustVector::default()
    };
    let (vector, reasons) = match verdict {
        Ok(_) => (good, Vec::new()),
        Err(error) => {
            let executables = match error.effect() {
                Effect::PodUntrusted => 96,
                _ => 0,
            };
            let vector = TrustVector {
                executables,
                ..TrustVector::default()
            };
            (vector, vec![error.to_string()])
        }
    };
    AttestationResult::new(worker, nonce, now, lifetime)
        .with(WORKER_SUBMODULE, Appraisal::new(good, POLICY, Vec::new()))
        .with(
            pod_submodule(pod.uid),
            Appraisal::new(vector, POLICY, reasons),
        )
}
