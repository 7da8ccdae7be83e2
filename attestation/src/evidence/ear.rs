//! Attestation results: what the verifier concluded, in a signed token that expires.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::base64url::from_base64url;
use super::jws::{JwsError, TokenKey, TrustedKeys};
use super::nonce::Nonce;
use crate::clock::Timestamp;
use crate::ima::PodUid;
use crate::protocol::ReasonCode;

const PROFILE: &str = "tag:github.com,2023:veraison/ear";
const TYPE: &str = "eat+jwt";

/// The submodule that speaks of the worker.
pub const WORKER_SUBMODULE: &str = "worker";

/// The submodule that speaks of a pod.
pub fn pod_submodule(uid: PodUid) -> String {
    format!("pod/{uid}")
}

/// The submodule that speaks of a registration that was refused, by the name it was asked for.
pub fn registration_submodule(name: &str) -> String {
    format!("registration/{}", crate::logs::shown(name))
}

/// How far something may be trusted; the tiers of AR4SI, from best to worst after `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Nothing is known.
    None,
    /// As it should be.
    Affirming,
    /// Not as it should be, and not known to be harmful.
    Warning,
    /// Known to be wrong.
    Contraindicated,
}

impl Tier {
    /// The tier of an AR4SI value.
    pub fn of(value: i8) -> Tier {
        match value {
            -1..=1 => Tier::None,
            -32..=31 => Tier::Affirming,
            -96..=95 => Tier::Warning,
            _ => Tier::Contraindicated,
        }
    }
}

/// The trustworthiness vector of AR4SI; 0 where nothing was concluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TrustVector {
    /// Whether the worker is the one that was registered: 2 recognised, 97 not recognised.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub instance_identity: i8,
    /// Whether it is configured as approved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub configuration: i8,
    /// What it runs: 2 only approved files, 3 approved at boot, 33 unknown files, 96 forbidden ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub executables: i8,
    /// The files of its images: 2 approved, 32 not recognised.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub file_system: i8,
    /// Whether its TPM is genuine: 2 so its manufacturer says, 97 nobody knows it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hardware: i8,
    /// Whether memory is shielded from the host; never concluded here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runtime_opaque: i8,
    /// Whether storage is shielded; never concluded here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub storage_opaque: i8,
    /// Whether its input comes from trusted sources; never concluded here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sourced_data: i8,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of skip_serializing_if"
)]
fn is_zero(value: &i8) -> bool {
    *value == 0
}

impl TrustVector {
    /// The worst tier of all claims that were concluded; none when there are none.
    pub fn tier(&self) -> Tier {
        [
            self.instance_identity,
            self.configuration,
            self.executables,
            self.file_system,
            self.hardware,
            self.runtime_opaque,
            self.storage_opaque,
            self.sourced_data,
        ]
        .into_iter()
        .map(Tier::of)
        .max()
        .unwrap_or(Tier::None)
    }
}

/// The conclusion about one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Appraisal {
    /// The tier; at least as bad as that of the vector.
    #[serde(rename = "ear.status")]
    pub status: Tier,
    /// The vector.
    #[serde(rename = "ear.trustworthiness-vector")]
    pub vector: TrustVector,
    /// The reference values and rules it was appraised with.
    #[serde(rename = "ear.appraisal-policy-id")]
    pub policy: String,
    /// Why, in words.
    #[serde(
        rename = "locus.reasons",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub reasons: Vec<String>,
    /// Why, for programs.
    #[serde(
        rename = "locus.reason-codes",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub codes: Vec<String>,
}

impl Appraisal {
    /// With the tier that follows from the vector.
    pub fn new(vector: TrustVector, policy: impl Into<String>, reasons: Vec<String>) -> Self {
        Appraisal {
            status: vector.tier(),
            vector,
            policy: policy.into(),
            reasons,
            codes: Vec::new(),
        }
    }

    /// With codes for its reasons.
    #[must_use]
    pub fn coded(mut self, codes: Vec<ReasonCode>) -> Self {
        self.codes = codes.iter().map(ToString::to_string).collect();
        self
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct VerifierId {
    developer: String,
    build: String,
}

/// An attestation result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttestationResult {
    eat_profile: String,
    /// When it was concluded, in seconds.
    pub iat: i64,
    /// Until when it may be relied on, in seconds.
    pub exp: i64,
    /// The identifier of this result.
    pub jti: Uuid,
    /// The nonce of whoever asked for it, or else that of the evidence.
    pub eat_nonce: Nonce,
    /// Who may rely on it; everybody if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aud: Option<String>,
    /// The worker it is about; all zeros where nobody has proven to be one.
    pub sub: Uuid,
    #[serde(rename = "ear.verifier-id")]
    verifier: VerifierId,
    /// The conclusions: one about the worker, and one about each pod.
    pub submods: BTreeMap<String, Appraisal>,
}

/// What the reader of a result knows beforehand.
#[derive(Clone, Copy, Debug)]
pub struct EarExpectations<'a> {
    /// The worker that was asked about.
    pub worker: Uuid,
    /// The nonce it was asked with; nothing when the reader did not ask itself.
    pub nonce: Option<Nonce>,
    /// Who the reader is: a result for another audience is not for it.
    pub audience: Option<&'a str>,
}

/// Why a result is not relied on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EarError {
    /// The token is not accepted.
    #[error(transparent)]
    Token(#[from] JwsError),
    /// The result follows another profile.
    #[error("the result follows the profile `{0}`, which is not known here")]
    Profile(String),
    /// It has expired.
    #[error("the result has expired")]
    Expired,
    /// It was made in the future.
    #[error("the result was made in the future; compare the clocks")]
    Future,
    /// It is about another worker.
    #[error("the result is about another worker")]
    Worker,
    /// It is for somebody else.
    #[error("the result is for another audience")]
    Audience,
    /// It answers another question.
    #[error("the result answers another request")]
    Nonce,
    /// It says of a part that it is better than its vector.
    #[error("the result contradicts itself about `{0}`")]
    Contradiction(String),
}

/// How far the clocks of verifier and reader may be apart, in seconds.
const CLOCK_SKEW: i64 = 30;

impl AttestationResult {
    /// A result about a worker, to be relied on for `lifetime` seconds.
    pub fn new(worker: Uuid, nonce: Nonce, now: Timestamp, lifetime: i64) -> Self {
        AttestationResult {
            eat_profile: PROFILE.to_owned(),
            iat: now.secs(),
            exp: now.secs().saturating_add(lifetime),
            jti: Uuid::new_v4(),
            eat_nonce: nonce,
            aud: None,
            sub: worker,
            verifier: VerifierId {
                developer: "Locus".to_owned(),
                build: concat!("locus-attestation ", env!("CARGO_PKG_VERSION")).to_owned(),
            },
            submods: BTreeMap::new(),
        }
    }

    /// With the conclusion about one part.
    #[must_use]
    pub fn with(mut self, part: impl Into<String>, appraisal: Appraisal) -> Self {
        self.submods.insert(part.into(), appraisal);
        self
    }

    /// For whoever asks: with its nonce and its name. What was concluded and until when stays.
    #[must_use]
    pub fn bound_to(mut self, nonce: Option<Nonce>, audience: Option<String>) -> Self {
        self.eat_nonce = nonce.unwrap_or(self.eat_nonce);
        self.aud = audience.or(self.aud);
        self.jti = Uuid::new_v4();
        self
    }

    /// The content of a token that the verifier itself made and kept.
    pub(crate) fn own(token: &str) -> Result<Self, JwsError> {
        let payload = token.split('.').nth(1).and_then(from_base64url);
        let payload = payload.ok_or(JwsError::Malformed)?;
        serde_json::from_slice(&payload).map_err(|error| JwsError::Payload(error.to_string()))
    }

    /// The tier of a part; none when the result does not speak of it.
    pub fn tier(&self, part: &str) -> Tier {
        self.submods
            .get(part)
            .map_or(Tier::None, |appraisal| appraisal.status)
    }

    /// As a signed token.
    pub fn sign(&self, key: &TokenKey) -> Result<String, JwsError> {
        key.sign(TYPE, self)
    }

    /// From a token that must be signed by a trusted verifier, be fresh, and answer what was asked.
    pub fn verify(
        token: &str,
        keys: &TrustedKeys,
        expected: EarExpectations<'_>,
        now: Timestamp,
    ) -> Result<Self, EarError> {
        let result: AttestationResult = keys.verify(TYPE, token)?;
        if result.eat_profile != PROFILE {
            return Err(EarError::Profile(result.eat_profile));
        }
        if now.secs() >= result.exp {
            return Err(EarError::Expired);
        }
        if result.iat > now.secs().saturating_add(CLOCK_SKEW) {
            return Err(EarError::Future);
        }
        if result.sub != expected.worker {
            return Err(EarError::Worker);
        }
        if result.aud.is_some() && result.aud.as_deref() != expected.audience {
            return Err(EarError::Audience);
        }
        if expected
            .nonce
            .is_some_and(|nonce| nonce != result.eat_nonce)
        {
            return Err(EarError::Nonce);
        }
        for (part, appraisal) in &result.submods {
            if appraisal.status < appraisal.vector.tier() {
                return Err(EarError::Contradiction(part.clone()));
            }
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
    const WORKER: Uuid = Uuid::from_bytes([1; 16]);
    const NONCE: Nonce = Nonce::from_bytes([2; 32]);

    fn result() -> AttestationResult {
        let vector = TrustVector {
            instance_identity: 2,
            executables: 2,
            hardware: 2,
            ..TrustVector::default()
        };
        AttestationResult::new(WORKER, NONCE, NOW, 60)
            .with(WORKER_SUBMODULE, Appraisal::new(vector, "p", Vec::new()))
    }

    fn expected() -> EarExpectations<'static> {
        EarExpectations {
            worker: WORKER,
            nonce: Some(NONCE),
            audience: None,
        }
    }

    #[test]
    fn a_result_for_somebody_is_for_nobody_else() {
        let key = TokenKey::generate().unwrap();
        let keys = TrustedKeys::new().with(key.public());
        let asked = Nonce::from_bytes([7; 32]);
        let bound = result().bound_to(Some(asked), Some("shop".to_owned()));
        assert_ne!(bound.jti, result().jti);
        let token = bound.sign(&key).unwrap();
        let read = |nonce, audience| {
            let expected = EarExpectations {
                worker: WORKER,
                nonce: Some(nonce),
                audience,
            };
            AttestationResult::verify(&token, &keys, expected, NOW).map(|_| ())
        };
        assert_eq!(read(asked, Some("shop")), Ok(()));
        assert_eq!(read(asked, Some("bank")), Err(EarError::Audience));
        assert_eq!(read(asked, None), Err(EarError::Audience));
        assert_eq!(read(NONCE, Some("shop")), Err(EarError::Nonce));
        assert_eq!(AttestationResult::own(&token).unwrap(), bound);
    }

    #[test]
    fn a_result_goes_there_and_back() {
        let key = TokenKey::generate().unwrap();
        let keys = TrustedKeys::new().with(key.public());
        let token = result().sign(&key).unwrap();
        let read = AttestationResult::verify(&token, &keys, expected(), NOW).unwrap();
        assert_eq!(read.submods, result().submods);
        assert_eq!(read.tier(WORKER_SUBMODULE), Tier::Affirming);
        assert_eq!(read.tier("pod/x"), Tier::None, "silence is not trust");
    }

    #[test]
    fn a_result_is_read_only_for_what_it_is() {
        let key = TokenKey::generate().unwrap();
        let keys = TrustedKeys::new().with(key.public());
        let token = result().sign(&key).unwrap();
        let verify =
            |expected, now| AttestationResult::verify(&token, &keys, expected, now).unwrap_err();
        assert_eq!(verify(expected(), NOW.plus_secs(60)), EarError::Expired);
        assert_eq!(verify(expected(), NOW.plus_secs(-31)), EarError::Future);
        let mut other = expected();
        other.worker = Uuid::from_bytes([9; 16]);
        assert_eq!(verify(other, NOW), EarError::Worker);
        let mut other = expected();
        other.nonce = Some(Nonce::from_bytes([9; 32]));
        assert_eq!(verify(other, NOW), EarError::Nonce);
    }

    #[test]
    fn the_worst_claim_decides() {
        let vector = |executables| TrustVector {
            instance_identity: 2,
            executables,
            ..TrustVector::default()
        };
        assert_eq!(vector(0).tier(), Tier::Affirming);
        assert_eq!(vector(33).tier(), Tier::Warning);
        assert_eq!(vector(96).tier(), Tier::Contraindicated);
        assert_eq!(vector(-128).tier(), Tier::Contraindicated);
        assert_eq!(TrustVector::default().tier(), Tier::None);
    }

    #[test]
    fn a_status_better_than_the_vector_is_refused() {
        let key = TokenKey::generate().unwrap();
        let keys = TrustedKeys::new().with(key.public());
        let mut lying = result();
        let appraisal = lying.submods.get_mut(WORKER_SUBMODULE).unwrap();
        appraisal.vector.executables = 96;
        let token = lying.sign(&key).unwrap();
        assert_eq!(
            AttestationResult::verify(&token, &keys, expected(), NOW),
            Err(EarError::Contradiction(WORKER_SUBMODULE.to_owned()))
        );
    }
}
