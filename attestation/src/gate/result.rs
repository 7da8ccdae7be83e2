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

/// What was found out about the worker, and what was not looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Whether the host's own files were judged.
    pub(super) host: bool,
    /// Whether the TPM is a program.
    pub(super) software_tpm: bool,
}

impl Found {
    /// What a result may say, and why it does not say more.
    fn vector(self) -> (TrustVector, Vec<String>) {
        let mut vector = TrustVector {
            instance_identity: 2,
            executables: 2,
            hardware: 2,
            ..TrustVector::default()
        };
        let mut limits = Vec::new();
        if !self.host {
            vector.executables = 0;
            limits.push("the policy does not have the files of the host judged".to_owned());
        }
        if self.software_tpm {
            vector.hardware = 0;
            limits.push("the TPM is a program".to_owned());
        }
        (vector, limits)
    }
}

/// The result for a pod of a worker that was attested.
pub(super) fn result_of(
    worker: Uuid,
    nonce: Nonce,
    pod: &Pod,
    verdict: &Result<PodTerms, AttestationError>,
    found: Found,
    (now, lifetime): (Timestamp, i64),
) -> AttestationResult {
    let (good, limits) = found.vector();
    let (vector, reasons) = match verdict {
        Ok(_) => (good, limits.clone()),
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
        .with(WORKER_SUBMODULE, Appraisal::new(good, POLICY, limits))
        .with(
            pod_submodule(pod.uid),
            Appraisal::new(vector, POLICY, reasons),
        )
}
