//! Why something is trusted or not, by a code that stays the same when the words change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "gate")]
use super::{AttestationError, RegistrationError};
#[cfg(feature = "gate")]
use crate::ima::ReplayError;

/// A reason, for programs. Codes are added, but never change what they mean.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonCode {
    /// Everything was proven.
    Attested,
    /// The policy does not have the files of the host judged.
    HostUnjudged,
    /// The TPM is a program.
    SoftwareTpm,
    /// The agent did not answer, or answered with an error.
    AgentFailed,
    /// The agent did not answer in time.
    AgentLate,
    /// The worker was found untrusted before.
    WorkerUntrusted,
    /// The policy denies a key or certificate of the worker.
    KeyDenied,
    /// The evidence cannot be read.
    EvidenceMalformed,
    /// The evidence answers another request.
    EvidenceForeign,
    /// The quote is not believed.
    QuoteRefused,
    /// The boot is not a known one.
    BootUnknown,
    /// The log does not go on where it stood, or does not lead to the quote.
    LogUnexplained,
    /// The log uses templates that the worker may not use, or that could be passed for each other.
    LogTemplates,
    /// More would have to be kept of the worker than its policy allows.
    TooMuch,
    /// The worker proves nothing until it is booted.
    NeedsReboot,
    /// The container runtime ran what it may not.
    RuntimeUnknown,
    /// The host ran what it may not.
    HostUnknown,
    /// The pod is not what it should be, or ran what its images do not contain.
    PodUnknown,
    /// The worker runs what nobody declared.
    Undeclared,
    /// Something waits to be explained.
    Pending,
    /// No file of the pod's images was measured yet.
    NotMeasured,
    /// The pod cannot be appraised as it was described.
    PodDescription,
    /// What the evidence was asked for is something else by now.
    Changed,
    /// The worker is not the one that joined.
    WrongWorker,
    /// The endorsement key is not vouched for, or the policy wants another.
    EndorsementRefused,
    /// The attestation key is not one, or is not in the TPM of the endorsement key.
    AttestationKeyRefused,
    /// The registrar has another worker with the name or the TPM.
    RegistrarRefused,
    /// The gate could not do its part.
    Internal,
}

impl ReasonCode {
    /// Every code.
    pub const ALL: [ReasonCode; 28] = [
        ReasonCode::Attested,
        ReasonCode::HostUnjudged,
        ReasonCode::SoftwareTpm,
        ReasonCode::AgentFailed,
        ReasonCode::AgentLate,
        ReasonCode::WorkerUntrusted,
        ReasonCode::KeyDenied,
        ReasonCode::EvidenceMalformed,
        ReasonCode::EvidenceForeign,
        ReasonCode::QuoteRefused,
        ReasonCode::BootUnknown,
        ReasonCode::LogUnexplained,
        ReasonCode::LogTemplates,
        ReasonCode::TooMuch,
        ReasonCode::NeedsReboot,
        ReasonCode::RuntimeUnknown,
        ReasonCode::HostUnknown,
        ReasonCode::PodUnknown,
        ReasonCode::Undeclared,
        ReasonCode::Pending,
        ReasonCode::NotMeasured,
        ReasonCode::PodDescription,
        ReasonCode::Changed,
        ReasonCode::WrongWorker,
        ReasonCode::EndorsementRefused,
        ReasonCode::AttestationKeyRefused,
        ReasonCode::RegistrarRefused,
        ReasonCode::Internal,
    ];

    /// The code of a name, as it is written.
    pub fn parse(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}

impl std::fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

#[cfg(feature = "gate")]
impl AttestationError {
    /// The code of the reason.
    pub fn code(&self) -> ReasonCode {
        match self {
            AttestationError::AgentFailed(_) => ReasonCode::AgentFailed,
            AttestationError::TimedOut => ReasonCode::AgentLate,
            AttestationError::WorkerNotTrusted { .. } => ReasonCode::WorkerUntrusted,
            AttestationError::Denied(_) => ReasonCode::KeyDenied,
            AttestationError::Evidence(_) => ReasonCode::EvidenceMalformed,
            AttestationError::Claim(_) | AttestationError::Nonce(_) => ReasonCode::EvidenceForeign,
            AttestationError::Quote(_) => ReasonCode::QuoteRefused,
            AttestationError::Boot { .. } | AttestationError::BootEvents(_) => {
                ReasonCode::BootUnknown
            }
            AttestationError::Replay(ReplayError::Kexec { .. } | ReplayError::Restarted) => {
                ReasonCode::NeedsReboot
            }
            AttestationError::Resume(_) | AttestationError::Replay(_) => ReasonCode::LogUnexplained,
            AttestationError::Templates(..) => ReasonCode::LogTemplates,
            AttestationError::TooMuch { .. } => ReasonCode::TooMuch,
            AttestationError::Runtime(_) => ReasonCode::RuntimeUnknown,
            AttestationError::Host(_) => ReasonCode::HostUnknown,
            AttestationError::Pod { .. } => ReasonCode::PodUnknown,
            AttestationError::Strangers(_) => ReasonCode::Undeclared,
            AttestationError::Pending(_) => ReasonCode::Pending,
            AttestationError::NotMeasured { .. } => ReasonCode::NotMeasured,
            AttestationError::Description { .. } => ReasonCode::PodDescription,
            AttestationError::Changed(_) => ReasonCode::Changed,
            AttestationError::Store(_)
            | AttestationError::Stale
            | AttestationError::OutOfTurn(_) => ReasonCode::Internal,
        }
    }
}

#[cfg(feature = "gate")]
impl RegistrationError {
    /// The code of the reason.
    pub fn code(&self) -> ReasonCode {
        match self {
            RegistrationError::AgentFailed { .. } => ReasonCode::AgentFailed,
            RegistrationError::TimedOut { .. } => ReasonCode::AgentLate,
            RegistrationError::WrongName { .. } => ReasonCode::WrongWorker,
            RegistrationError::Denied(_) => ReasonCode::KeyDenied,
            RegistrationError::WrongTemplate(_)
            | RegistrationError::SameKind(_)
            | RegistrationError::TooManyKeys
            | RegistrationError::KeyNotShown(_)
            | RegistrationError::NotListed { .. }
            | RegistrationError::ListedForOther(_)
            | RegistrationError::Endorsement(_)
            | RegistrationError::Credential(_) => ReasonCode::EndorsementRefused,
            RegistrationError::MalformedKey { .. }
            | RegistrationError::WrongAkName
            | RegistrationError::NotAttestationKey(_)
            | RegistrationError::WrongProof
            | RegistrationError::WrongParent => ReasonCode::AttestationKeyRefused,
            RegistrationError::NoLog
            | RegistrationError::Template(_)
            | RegistrationError::Templates(..) => ReasonCode::LogTemplates,
            RegistrationError::WrongSession => ReasonCode::EvidenceForeign,
            RegistrationError::Quote(_) => ReasonCode::QuoteRefused,
            RegistrationError::Boot { .. } => ReasonCode::BootUnknown,
            RegistrationError::Store(_) => ReasonCode::RegistrarRefused,
            RegistrationError::OutOfTurn { .. } => ReasonCode::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document lists every code once, and no other.
    #[test]
    fn the_document_has_every_code() {
        let page = include_str!("../../../docs/gate.md");
        let (_, after) = page.split_once("### Reason codes\n").unwrap();
        let (table, _) = after.split_once("\n#").unwrap();
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
        let mut documented: Vec<&str> = rows
            .filter_map(|row| Some(row.split_once('`')?.0))
            .collect();
        documented.sort_unstable();
        let mut codes: Vec<String> = ReasonCode::ALL.iter().map(ToString::to_string).collect();
        codes.sort_unstable();
        assert_eq!(documented, codes);
        for code in ReasonCode::ALL {
            assert_eq!(ReasonCode::parse(&code.to_string()), Some(code));
        }
        assert_eq!(ReasonCode::parse("nothing"), None);
    }
}
