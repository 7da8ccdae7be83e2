//! Worker registration, removal and attestation as state machines, free of transport and storage.
//!
//! A machine takes an [event](registration::Event) and the time, and answers with the one thing to do
//! next. A [driver](drive) does the sending, storing and looking up through [ports](port), and reports back
//! with the next event. So every order of events, every lost message and every late answer can be tested
//! without a socket, and a machine that was not told of success never assumes it. A machine can be stored
//! between any two steps.

#[cfg(feature = "gate")]
pub mod attestation;
#[cfg(feature = "gate")]
pub mod drive;
pub mod enrolment;
pub mod message;
#[cfg(feature = "gate")]
pub mod port;
mod reason;
#[cfg(feature = "gate")]
mod received;
#[cfg(feature = "gate")]
mod record;
#[cfg(feature = "gate")]
pub mod registration;
#[cfg(feature = "gate")]
pub mod removal;
pub mod succession;

#[cfg(feature = "gate")]
pub use attestation::{Attestation, AttestationError, BootError};
pub use enrolment::{Enrolment, EnrolmentError};
pub use message::{Acknowledgement, Challenge, EvidenceRequest, Identity, Proof};
pub use reason::ReasonCode;
#[cfg(feature = "gate")]
pub use received::Received;
#[cfg(feature = "gate")]
pub use record::{Admission, Outstanding, WorkerRecord};
#[cfg(feature = "gate")]
pub use registration::{Registration, RegistrationError};
#[cfg(feature = "gate")]
pub use removal::Removal;
pub use succession::Succession;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What follows from the end of a protocol for the worker and the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Everything was proven.
    Trusted,
    /// The worker never comes in.
    WorkerRefused,
    /// The worker lied or was tampered with: it and all its pods are untrusted.
    WorkerUntrusted,
    /// The pod ran something it must not; the worker stays trusted.
    PodUntrusted,
    /// Something waits to be explained: what was known before stays, and nothing is added to it.
    Pending,
    /// The worker proves nothing until it is booted; it and its pods are unknown.
    NeedsReboot,
    /// Nothing was proven and nothing refuted: trust runs out by itself.
    Inconclusive,
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Effect::Trusted => "trusted",
            Effect::WorkerRefused => "worker refused",
            Effect::WorkerUntrusted => "worker untrusted",
            Effect::PodUntrusted => "pod untrusted",
            Effect::Pending => "pending",
            Effect::NeedsReboot => "needs a reboot",
            Effect::Inconclusive => "inconclusive",
        })
    }
}
