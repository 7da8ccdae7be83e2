//! Why a worker is refused.

use super::STEP_MILLIS;
use crate::digest::Digest;
use crate::protocol::Effect;
use crate::tpm::{AttestationKeyError, CredentialError, QuoteError, StructureError};

/// Why a worker was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// The agent could not be reached, or answered with an error.
    #[error("the agent did not answer {step}: {reason}")]
    AgentFailed {
        /// In which step.
        step: &'static str,
        /// Why.
        reason: String,
    },
    /// The agent took too long.
    #[error("the agent took longer than {STEP_MILLIS} ms over {step}")]
    TimedOut {
        /// In which step.
        step: &'static str,
    },
    /// The worker that answered is not the one that joined.
    #[error("the agent calls itself `{found}`, the worker that joined is `{joined}`")]
    WrongName {
        /// Its answer.
        found: String,
        /// Who joined.
        joined: String,
    },
    /// A key is malformed.
    #[error("the {key} is malformed: {error}")]
    MalformedKey {
        /// Which.
        key: &'static str,
        /// How.
        error: StructureError,
    },
    /// The name is not that of the public area.
    #[error("the attestation key's name is not the digest of its public area")]
    WrongAkName,
    /// The key is not an attestation key.
    #[error(transparent)]
    NotAttestationKey(#[from] AttestationKeyError),
    /// An endorsement key is not one of the kind that it is called.
    #[error("an endorsement key is shown as {0}, but is not one by the TCG's template")]
    WrongTemplate(&'static str),
    /// Two endorsement keys of one kind are of two TPMs.
    #[error("two endorsement keys are shown as {0}; a TPM has one of each kind")]
    SameKind(&'static str),
    /// More keys than a TPM has.
    #[error("more endorsement keys are shown than a TPM has")]
    TooManyKeys,
    /// The policy asks for a key that was not shown.
    #[error("the policy requires an {0} endorsement key, but the agent shows none")]
    KeyNotShown(&'static str),
    /// The policy lists other keys for this worker, or none.
    #[error("the policy does not list an endorsement key of worker `{name}`; it shows {found}")]
    NotListed {
        /// The worker.
        name: String,
        /// The digests of its keys.
        found: String,
    },
    /// The policy lists the key for another worker.
    #[error("the policy lists an endorsement key of this TPM for worker `{0}`")]
    ListedForOther(String),
    /// The policy refuses a key or certificate.
    #[error("the policy denies `{0}`")]
    Denied(Digest),
    /// The worker has measured nothing.
    #[error("the measurement log of the worker is empty: its kernel does not measure")]
    NoLog,
    /// The log uses a template that is not known, or not allowed.
    #[error("the log uses the template `{0}`, which is not in the policy")]
    Template(String),
    /// The log mixes two templates of which each could be passed for the other.
    #[error(
        "the log mixes the templates `{0}` and `{1}`, whose entries can be passed for each other"
    )]
    Templates(String, String),
    /// The registrar does not accept the endorsement key.
    #[error("the endorsement key is not accepted: {0}")]
    Endorsement(String),
    /// No credential can be made for the endorsement key.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// The answer belongs to another registration.
    #[error("the proof belongs to another registration")]
    WrongSession,
    /// The worker does not know the secret: the keys are not in the same TPM.
    #[error("the worker could not recover the challenge: its keys are not in the same TPM")]
    WrongProof,
    /// The quote is not believed.
    #[error("the quote of the boot registers is not accepted: {0}")]
    Quote(#[from] QuoteError),
    /// The quote was not made with a key below the endorsement key.
    #[error("the attestation key is not below the endorsement key it was registered with")]
    WrongParent,
    /// The boot is not a known one.
    #[error("the boot of `{os}` is not accepted: {reason}")]
    Boot {
        /// The operating system.
        os: String,
        /// Why.
        reason: String,
    },
    /// The registrar did not store the worker.
    #[error("the registrar did not store the worker: {0}")]
    Store(String),
    /// Something happened out of turn.
    #[error("{event} came while waiting for {waiting}")]
    OutOfTurn {
        /// What came.
        event: &'static str,
        /// What was awaited.
        waiting: &'static str,
    },
}

impl RegistrationError {
    /// What follows: a worker that did not prove itself never comes in.
    pub fn effect(&self) -> Effect {
        Effect::WorkerRefused
    }
}
