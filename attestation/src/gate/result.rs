//! What an attestation came to, as others read it: an attestation result (EAR), also of a refusal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::problem::Problem;
use super::verify::Verifier;
use crate::clock::Timestamp;
use crate::evidence::{
    Appraisal, AttestationResult, JwkSet, Nonce, TrustVector, WORKER_SUBMODULE, pod_submodule,
    registration_submodule,
};
use crate::ima::PodUid;
use crate::logs::shown;
use crate::policy::Mode;
use crate::protocol::{AttestationError, Effect, ReasonCode};
use crate::verifier::{Pod, PodStatus, PodTerms, Trust, WorkerStatus};

/// The name of the policy in results.
const POLICY: &str = "locus";
/// The longest audience.
const AUDIENCE: usize = 256;

/// Whom a result is for, as the query of a request says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Asked {
    /// What the result has to contain: 32 bytes in base64url, chosen by whoever will read it.
    pub nonce: Option<Nonce>,
    /// Who will read it.
    pub audience: Option<String>,
}

/// The refusal of a registration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RefusedRegistration {
    /// The name that the worker was to be registered with.
    pub name: String,
    /// The code of the reason.
    pub code: ReasonCode,
    /// Why, in words.
    pub reason: String,
}

/// The parameters of a query that binds a result.
pub(super) const BINDING: &[(&str, &str)] = &[
    (
        "nonce",
        "What the result is to contain: 32 bytes in base64url, chosen by whoever reads it.",
    ),
    ("audience", "Who reads the result; nobody else accepts it."),
];

impl Asked {
    /// As the query of a request.
    pub(super) fn query(&self) -> String {
        let nonce = self.nonce.map(|nonce| format!("nonce={nonce}"));
        let audience = self.audience.as_deref();
        let audience = audience.map(|name| format!("audience={}", super::access::segment(name)));
        let parts: Vec<String> = nonce.into_iter().chain(audience).collect();
        if parts.is_empty() {
            return String::new();
        }
        format!("?{}", parts.join("&"))
    }

    /// Refuses what cannot be in a result.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let fits = |name: &str| {
            !name.is_empty() && name.len() <= AUDIENCE && !name.chars().any(char::is_control)
        };
        match &self.audience {
            Some(name) if !fits(name) => Err(Problem::bad(format!(
                "an audience has 1 to {AUDIENCE} bytes and no control characters"
            ))),
            _ => Ok(()),
        }
    }
}

/// What was found out about the worker, and what was not looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'p> {
    /// Whether the host's own files were judged.
    pub(super) host: bool,
    /// The patterns of the files that the policy leaves out.
    pub(super) left_out: &'p [String],
    /// Whether the TPM is a program.
    pub(super) software_tpm: bool,
}

impl Found<'_> {
    /// What a result may say, and why it does not say more.
    fn appraisal(self) -> Appraisal {
        let mut vector = TrustVector {
            instance_identity: 2,
            executables: 2,
            hardware: 2,
            ..TrustVector::default()
        };
        let mut limits = Vec::new();
        let mut codes = vec![ReasonCode::Attested];
        if !self.host {
            vector.executables = 0;
            limits.push("the policy does not have the files of the host judged".to_owned());
            codes.push(ReasonCode::HostUnjudged);
        }
        if !self.left_out.is_empty() {
            let patterns = self.left_out.join("`, `");
            limits.push(format!(
                "the policy leaves out files of the host: `{patterns}`"
            ));
        }
        if self.software_tpm {
            vector.hardware = 0;
            limits.push("the TPM is a program".to_owned());
            codes.push(ReasonCode::SoftwareTpm);
        }
        Appraisal::new(vector, POLICY, limits).coded(codes)
    }
}

/// What a refusal says of the part that it is about.
fn refused(error: &AttestationError) -> Appraisal {
    let vector = match error.effect() {
        Effect::PodUntrusted | Effect::WorkerUntrusted => TrustVector {
            executables: 96,
            ..TrustVector::default()
        },
        _ => TrustVector::default(),
    };
    Appraisal::new(vector, POLICY, vec![error.reason()]).coded(vec![error.code()])
}

/// The result for a pod of a worker that was attested.
pub(super) fn result_of(
    worker: Uuid,
    nonce: Nonce,
    pod: &Pod,
    verdict: &Result<PodTerms, AttestationError>,
    found: Found<'_>,
    (now, lifetime): (Timestamp, i64),
) -> AttestationResult {
    let good = found.appraisal();
    let judged = match verdict {
        Ok(_) => good.clone(),
        Err(error) => refused(error),
    };
    AttestationResult::new(worker, nonce, now, lifetime)
        .with(WORKER_SUBMODULE, good)
        .with(pod_submodule(pod.uid), judged)
}

impl Verifier {
    /// The public keys by which its results are verified.
    pub fn keys(&self) -> JwkSet {
        let current = self.parts().key.public();
        JwkSet::of(std::iter::once(&current).chain(&self.parts().retired))
    }

    /// The status of a pod with its last result for whoever asks.
    pub(super) fn for_asker(
        &self,
        mut status: PodStatus,
        asked: &Asked,
    ) -> Result<PodStatus, Problem> {
        if *asked != Asked::default() && !status.token.is_empty() {
            let result = AttestationResult::own(&status.token).map_err(Problem::internal)?;
            status.token = self.signed(&bound(result, asked))?;
        }
        Ok(status)
    }

    /// The result about a worker that was just attested.
    pub(super) async fn worker_result(
        &self,
        worker: &WorkerStatus,
        asked: &Asked,
    ) -> Result<String, Problem> {
        let parts = self.parts();
        let appraisal = if worker.trust == Trust::Trusted {
            let record = parts.registrar.worker(&worker.name).await?;
            let identity = crate::registrar::certified_identity(&record.ek_certificate);
            let policy = parts.policy.of(&worker.name);
            let found = Found {
                host: policy.host == Mode::Enforced,
                left_out: policy.exclude.texts(),
                software_tpm: identity.is_none_or(|identity| identity.is_software()),
            };
            found.appraisal()
        } else {
            let reasons = vec![worker.reason.clone()];
            Appraisal::new(TrustVector::default(), POLICY, reasons).coded(vec![ReasonCode::Pending])
        };
        let nonce = Nonce::random().map_err(Problem::internal)?;
        let result = AttestationResult::new(worker.id, nonce, worker.checked, parts.lifetime);
        self.signed(&bound(result.with(WORKER_SUBMODULE, appraisal), asked))
    }

    /// A refusal, signed: about the pod that was asked for, or about the worker, whichever it speaks of.
    pub(super) fn refusal(
        &self,
        worker: Uuid,
        pod: Option<PodUid>,
        error: AttestationError,
        asked: &Asked,
    ) -> Problem {
        let about_worker = matches!(
            error.effect(),
            Effect::WorkerUntrusted | Effect::NeedsReboot
        );
        let appraisal = refused(&error);
        let unknown =
            Appraisal::new(TrustVector::default(), POLICY, Vec::new()).coded(vec![error.code()]);
        let parts = match pod {
            Some(uid) if about_worker => {
                vec![
                    (WORKER_SUBMODULE.to_owned(), appraisal),
                    (pod_submodule(uid), unknown),
                ]
            }
            Some(uid) => vec![(pod_submodule(uid), appraisal)],
            None => vec![(WORKER_SUBMODULE.to_owned(), appraisal)],
        };
        let now = self.parts().clock.now();
        let signed = Nonce::random().ok().and_then(|nonce| {
            let mut result = AttestationResult::new(worker, nonce, now, self.parts().lifetime);
            for (part, appraisal) in parts {
                result = result.with(part, appraisal);
            }
            self.signed(&bound(result, asked)).ok()
        });
        Problem {
            // A refusal that cannot be signed is a refusal all the same.
            result: signed,
            ..error.into()
        }
    }

    /// The refusal of a registration, signed. Nobody has proven to be the worker, so that it is about a name alone.
    pub fn refused_registration(
        &self,
        refused: &RefusedRegistration,
        asked: &Asked,
    ) -> Result<String, Problem> {
        use ReasonCode::{AgentFailed, AgentLate, Attested, HostUnjudged, Internal, SoftwareTpm};
        asked.check()?;
        let vector = match refused.code {
            Attested | HostUnjudged | SoftwareTpm => {
                return Err(Problem::bad(format!("`{}` refuses nobody", refused.code)));
            }
            // Nothing was found out.
            AgentFailed | AgentLate | Internal => TrustVector::default(),
            _ => TrustVector {
                instance_identity: 97,
                ..TrustVector::default()
            },
        };
        let nonce = Nonce::random().map_err(Problem::internal)?;
        let (now, lifetime) = (self.parts().clock.now(), self.parts().lifetime);
        let appraisal = Appraisal::new(vector, POLICY, vec![shown(&refused.reason)]);
        let result = AttestationResult::new(Uuid::nil(), nonce, now, lifetime).with(
            registration_submodule(&refused.name),
            appraisal.coded(vec![refused.code]),
        );
        self.signed(&bound(result, asked))
    }

    fn signed(&self, result: &AttestationResult) -> Result<String, Problem> {
        result.sign(&self.parts().key).map_err(Problem::internal)
    }
}

fn bound(result: AttestationResult, asked: &Asked) -> AttestationResult {
    result.bound_to(asked.nonce, asked.audience.clone())
}
