//! What the handler of a registration is told, and what it says to do.

use uuid::Uuid;

use super::error::RegistrationError;
use crate::ima::{Boot, BootAggregate};
use crate::protocol::message::{Acknowledgement, Challenge, Identity, Proof};
use crate::protocol::record::{Admission, WorkerRecord};
use crate::tpm::{Endorsement, PcrValues};

/// What the handler is told.
#[derive(Clone, Debug)]
pub enum Event {
    /// The agent identified itself (step 2).
    Identity(Box<Identity>),
    /// The registrar judged the endorsement key (step 3).
    Endorsement(Result<(), String>),
    /// The agent answered the challenge (step 6).
    Proof(Box<Proof>),
    /// The reference values judged the boot (step 7).
    Boot(Result<(), String>),
    /// A certificate was issued, and the registrar noted the worker (step 8).
    Proposed(Result<Box<(String, WorkerRecord)>, String>),
    /// The agent took the acknowledgement (step 9).
    Acknowledged,
    /// The registrar noted that (step 10); or another registration of the worker took its place.
    Accepted(Result<(), String>),
    /// The verifier took the worker in (step 11).
    Admitted,
    /// The worker is registered (step 12); or it was removed meanwhile.
    Confirmed(Result<(), String>),
    /// The agent could not be reached, or answered with an error.
    AgentFailed(String),
    /// Time passed.
    Tick,
}

impl Event {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Event::Identity(_) => "an identity",
            Event::Endorsement(_) => "a judgement of the endorsement key",
            Event::Proof(_) => "a proof",
            Event::Boot(_) => "a judgement of the boot",
            Event::Proposed(_) => "the registrar's answer",
            Event::Acknowledged => "the agent's receipt",
            Event::Accepted(_) => "the registrar's note",
            Event::Admitted => "the verifier's answer",
            Event::Confirmed(_) => "the registrar's confirmation",
            Event::AgentFailed(_) => "a failure of the agent",
            Event::Tick => "the passing of time",
        }
    }
}

/// A worker that proved itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenWorker {
    /// Its identity.
    pub identity: Identity,
    /// The boot registers, as quoted.
    pub boot_pcrs: PcrValues,
    /// Which boot that was.
    pub boot: Boot,
    /// Whether the operator lists its endorsement keys.
    pub listed: bool,
}

/// The one thing to do next.
#[derive(Clone, Debug)]
pub enum Action {
    /// Ask the agent to identify itself (step 1).
    AskIdentity,
    /// Ask the registrar about each of the endorsement keys (step 3).
    CheckEndorsement(Vec<Endorsement>),
    /// Send the challenge to the agent (step 5).
    SendChallenge(Box<Challenge>),
    /// Ask the reference values about the boot (step 7).
    CheckBoot {
        /// The operating system.
        os: String,
        /// What its kernel may have computed over the quoted registers.
        aggregate: BootAggregate,
    },
    /// Issue a certificate for the worker's request, and propose the worker to the registrar (step 8).
    Propose {
        /// Which registration this is.
        registration: Uuid,
        /// The worker.
        worker: Box<ProvenWorker>,
    },
    /// Send the acknowledgement to the agent (step 9).
    SendAcknowledgement(Box<Acknowledgement>),
    /// Note that the agent took it: from here on the registration is completed, whatever happens (step 10).
    Accept(Uuid),
    /// Have the verifier take the worker in (step 11).
    Admit(Box<Admission>),
    /// Have the registrar confirm the worker (step 12).
    Confirm(Uuid),
    /// Wait: nothing is due.
    Wait,
    /// The worker is registered.
    Done,
    /// The worker is refused.
    Refuse {
        /// Why.
        error: RegistrationError,
        /// The proposal to take back.
        proposed: Option<Uuid>,
    },
}
