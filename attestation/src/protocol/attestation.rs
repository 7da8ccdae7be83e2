//! Pod attestation, seen from the verifier: ask, appraise, commit, conclude.

use super::Effect;
use super::message::EvidenceRequest;
use crate::clock::Timestamp;
use crate::evidence::{EvidenceError, NonceError};
use crate::ima::{ReplayError, ResumeError};
use crate::reference::Mismatch;
use crate::tpm::QuoteError;

/// How long an agent may take to show evidence.
pub const EVIDENCE_MILLIS: i64 = 20_000;

/// Why an attestation did not end in trust.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttestationError {
    /// The agent could not be reached, or answered with an error.
    #[error("the agent did not show evidence: {0}")]
    AgentFailed(String),
    /// The agent took too long.
    #[error("the agent took longer than {EVIDENCE_MILLIS} ms to show evidence")]
    TimedOut,
    /// The nonce was used or ran out.
    #[error(transparent)]
    Nonce(#[from] NonceError),
    /// The worker was found untrusted before, and has to be registered anew.
    #[error("worker `{worker}` is untrusted: {reason}")]
    WorkerNotTrusted {
        /// Which.
        worker: String,
        /// Since when and why.
        reason: String,
    },
    /// The evidence does not answer the request.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// The evidence answers another request.
    #[error("the evidence is for another {0}")]
    Claim(&'static str),
    /// The quote is not believed.
    #[error("the quote is not accepted: {0}")]
    Quote(#[from] QuoteError),
    /// The boot is not a known one.
    #[error("the boot of `{os}` is not accepted: {reason}")]
    Boot {
        /// The operating system.
        os: String,
        /// Why.
        reason: String,
    },
    /// The log cannot be continued.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The log does not explain the quote.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The container runtime ran what it may not.
    #[error("the container runtime is not accepted: {}", list(.0))]
    Runtime(Vec<Mismatch>),
    /// The host ran what it may not.
    #[error("the host is not accepted: {}", list(.0))]
    Host(Vec<Mismatch>),
    /// The pod is not what it should be, or ran what its images do not contain.
    #[error("pod `{pod}` is not accepted: {}", list(.mismatches))]
    Pod {
        /// Which pod.
        pod: String,
        /// Everything that is wrong with it.
        mismatches: Vec<Mismatch>,
    },
    /// The pod was not measured at all.
    #[error("nothing was measured for pod `{pod}` yet")]
    NotMeasured {
        /// Which pod.
        pod: String,
    },
    /// The pod cannot be appraised as it was described.
    #[error("pod `{pod}` cannot be appraised: {reason}")]
    Description {
        /// Which pod.
        pod: String,
        /// Why.
        reason: String,
    },
    /// The outcome could not be stored.
    #[error("the outcome could not be stored: {0}")]
    Store(String),
    /// Something happened out of turn.
    #[error("{0}")]
    OutOfTurn(&'static str),
}

/// All mismatches in words; of very many, the first ones and how many more.
fn list(mismatches: &[Mismatch]) -> String {
    const SHOWN: usize = 5;
    let mut words: Vec<String> = mismatches
        .iter()
        .take(SHOWN)
        .map(Mismatch::to_string)
        .collect();
    if let Some(more) = mismatches.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        words.push(format!("and {more} more"));
    }
    words.join("; ")
}

impl AttestationError {
    /// What follows for worker and pod.
    pub fn effect(&self) -> Effect {
        match self {
            AttestationError::AgentFailed(_)
            | AttestationError::TimedOut
            | AttestationError::Nonce(_)
            | AttestationError::NotMeasured { .. }
            | AttestationError::Description { .. }
            | AttestationError::Store(_)
            | AttestationError::OutOfTurn(_) => Effect::Inconclusive,
            AttestationError::WorkerNotTrusted { .. }
            | AttestationError::Evidence(_)
            | AttestationError::Claim(_)
            | AttestationError::Quote(_)
            | AttestationError::Boot { .. }
            | AttestationError::Resume(_)
            | AttestationError::Replay(_)
            | AttestationError::Runtime(_)
            | AttestationError::Host(_) => Effect::WorkerUntrusted,
            AttestationError::Pod { .. } => Effect::PodUntrusted,
        }
    }
}

/// What the verifier is told.
#[derive(Clone, Debug)]
pub enum Event {
    /// The agent answered (step 3).
    Evidence(Vec<u8>),
    /// The agent could not be reached, or answered with an error.
    AgentFailed(String),
    /// The evidence was appraised (step 4).
    Appraised(Result<(), AttestationError>),
    /// What it advanced was stored durably (step 5).
    Committed(Result<(), String>),
    /// Time passed.
    Tick,
}

/// The one thing to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Ask the agent (step 2).
    Ask(Box<EvidenceRequest>),
    /// Appraise the evidence.
    Appraise(Vec<u8>),
    /// Store the advanced state.
    Commit,
    /// Wait: nothing is due.
    Wait,
    /// It is over.
    Conclude(Result<(), AttestationError>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asked,
    Appraising,
    Committing,
    Over,
}

/// One attestation.
#[derive(Debug)]
pub struct Attestation {
    state: State,
    asked: Timestamp,
}

impl Attestation {
    /// Begins with a request.
    pub fn begin(request: EvidenceRequest, now: Timestamp) -> (Self, Action) {
        let attestation = Attestation {
            state: State::Asked,
            asked: now,
        };
        (attestation, Action::Ask(Box::new(request)))
    }

    /// Takes an event and says what to do next.
    pub fn handle(&mut self, event: Event, now: Timestamp) -> Action {
        let elapsed = now.millis_since(self.asked);
        // A clock that went back does not give more time.
        if self.state == State::Asked && !(0..=EVIDENCE_MILLIS).contains(&elapsed) {
            return self.conclude(Err(AttestationError::TimedOut));
        }
        match (self.state, event) {
            (State::Over, _) => Action::Conclude(Err(AttestationError::OutOfTurn(
                "the attestation is over already",
            ))),
            (_, Event::Tick) => Action::Wait,
            (State::Asked, Event::Evidence(bytes)) => {
                self.state = State::Appraising;
                Action::Appraise(bytes)
            }
            (State::Asked, Event::AgentFailed(reason)) => {
                self.conclude(Err(AttestationError::AgentFailed(reason)))
            }
            (State::Appraising, Event::Appraised(Ok(()))) => {
                self.state = State::Committing;
                Action::Commit
            }
            (State::Appraising, Event::Appraised(Err(error))) => self.conclude(Err(error)),
            (State::Committing, Event::Committed(stored)) => {
                self.conclude(stored.map_err(AttestationError::Store))
            }
            (_, _) => self.conclude(Err(AttestationError::OutOfTurn(
                "a step of the attestation came out of turn",
            ))),
        }
    }

    fn conclude(&mut self, outcome: Result<(), AttestationError>) -> Action {
        self.state = State::Over;
        Action::Conclude(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::HashAlg;
    use crate::tpm::PcrSelection;
    use uuid::Uuid;

    fn begun() -> (Attestation, Timestamp) {
        let now = Timestamp::from_secs(10);
        let request = EvidenceRequest {
            nonce: crate::evidence::Nonce::from_bytes([1; 32]),
            worker: Uuid::nil(),
            pod: None,
            tenant: None,
            first_entry: 0,
            selection: PcrSelection::of(HashAlg::Sha256, [10]),
        };
        (Attestation::begin(request, now).0, now)
    }

    #[test]
    fn trust_comes_only_after_everything_was_stored() {
        let (mut attestation, now) = begun();
        assert_eq!(attestation.handle(Event::Tick, now), Action::Wait);
        let action = attestation.handle(Event::Evidence(vec![1]), now);
        assert_eq!(action, Action::Appraise(vec![1]));
        assert_eq!(
            attestation.handle(Event::Appraised(Ok(())), now),
            Action::Commit
        );
        assert_eq!(
            attestation.handle(Event::Committed(Ok(())), now),
            Action::Conclude(Ok(()))
        );
    }

    #[test]
    fn a_store_that_fails_gives_no_trust() {
        let (mut attestation, now) = begun();
        attestation.handle(Event::Evidence(vec![]), now);
        attestation.handle(Event::Appraised(Ok(())), now);
        let action = attestation.handle(Event::Committed(Err("disk full".to_owned())), now);
        let Action::Conclude(Err(error)) = action else {
            panic!("{action:?}")
        };
        assert_eq!(error.effect(), Effect::Inconclusive);
    }

    #[test]
    fn no_step_can_be_skipped_or_repeated() {
        let early = [Event::Appraised(Ok(())), Event::Committed(Ok(()))];
        for event in early {
            let (mut attestation, now) = begun();
            assert!(matches!(
                attestation.handle(event, now),
                Action::Conclude(Err(AttestationError::OutOfTurn(_)))
            ));
            assert!(matches!(
                attestation.handle(Event::Evidence(vec![]), now),
                Action::Conclude(Err(AttestationError::OutOfTurn(_)))
            ));
        }
    }

    #[test]
    fn late_evidence_and_clocks_that_jump_are_refused() {
        for jump in [EVIDENCE_MILLIS + 1, -1] {
            let (mut attestation, now) = begun();
            assert_eq!(
                attestation.handle(Event::Evidence(vec![]), now.plus_millis(jump)),
                Action::Conclude(Err(AttestationError::TimedOut))
            );
        }
    }
}
