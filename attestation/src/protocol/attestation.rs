//! Attestation, seen from the verifier: ask, judge, conclude.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Effect;
use super::message::EvidenceRequest;
use super::received::Received;
use crate::boot::{EventLogError, Unaccepted, Unexplained};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::evidence::{EvidenceError, Nonce, NonceError};
use crate::ima::{Cursor, PodUid, ReplayError, ResumeError};
use crate::logs::shown;
use crate::reference::Mismatch;
use crate::tpm::QuoteError;
use crate::verifier::{Appraisal, Pod, PodTerms};

/// How long an agent may take to show evidence.
pub const EVIDENCE_MILLIS: i64 = 20_000;

/// How long after it was asked for evidence may be judged: a driver may stop in between and go on later.
pub const JUDGE_MILLIS: i64 = 120_000;

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
    /// The policy refuses a key or certificate of the worker.
    #[error("the policy denies `{0}`")]
    Denied(Digest),
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
    /// The events of the boot are not accepted.
    #[error("the boot is not accepted: {0}")]
    BootEvents(#[from] BootError),
    /// The log cannot be continued.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The log does not explain the quote.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// What is kept about the worker would be more than the policy allows.
    #[error(
        "the worker has measured so much that {found} bytes would have to be kept of it, and the policy allows {limit}"
    )]
    TooMuch {
        /// How much that would be.
        found: u64,
        /// How much it may be.
        limit: u64,
    },
    /// The log mixes two templates of which each could be passed for the other.
    #[error(
        "the log mixes the templates `{0}` and `{1}`, whose entries can be passed for each other"
    )]
    Templates(String, String),
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
    /// What belongs to nobody, for longer than anything may.
    #[error("the worker runs what nobody declared: {}", some(.0))]
    Strangers(Vec<String>),
    /// Something waits to be explained: a pod to be declared, a container to be described.
    #[error("not explained yet: {}", some(.0))]
    Pending(Vec<String>),
    /// No file of the pod's images was measured.
    #[error("no file of its images was measured for pod `{pod}` yet")]
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
    /// What the evidence was asked for is something else by now.
    #[error("{0} changed while it was attested; attest it again")]
    Changed(String),
    /// The evidence was not judged in time.
    #[error("the evidence was not judged within {JUDGE_MILLIS} ms")]
    Stale,
    /// Something happened out of turn.
    #[error("{0}")]
    OutOfTurn(&'static str),
}

/// Why a boot is not accepted by its events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BootError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(EventLogError),
    /// The log does not lead to the quoted registers.
    #[error(transparent)]
    Unexplained(Unexplained),
    /// Some of it is not accepted.
    #[error("{}", all(.0))]
    Unaccepted(Vec<Unaccepted>),
}

/// All findings of a boot: an operator writes a policy by them.
fn all(found: &[Unaccepted]) -> String {
    let words: Vec<String> = found.iter().map(Unaccepted::to_string).collect();
    words.join("; ")
}

/// All mismatches in words; of very many, the first ones and how many more.
fn list(mismatches: &[Mismatch]) -> String {
    some(mismatches)
}

/// A reason is kept with every change of trust: a worker does not fill the database with the names of its files.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 600;
    shortened_to(text, LONGEST)
}

/// The longest reason that is kept, in characters.
const REASON: usize = 8000;

fn shortened_to(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn some(found: &[impl ToString]) -> String {
    const SHOWN: usize = 5;
    let shown = found.iter().take(SHOWN);
    let mut words: Vec<String> = shown.map(|word| shortened(&word.to_string())).collect();
    if let Some(more) = found.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        words.push(format!("and {more} more"));
    }
    words.join("; ")
}

impl AttestationError {
    /// Whether the whole log may explain what its new part does not: the machine was booted since, suspended, or
    /// restarted with kexec.
    pub fn wants_whole_log(&self) -> bool {
        matches!(
            self,
            AttestationError::Resume(ResumeError::BootChanged)
                | AttestationError::Replay(ReplayError::Mismatch { .. })
        )
    }

    /// Why, in words of which none does anything else than to show itself: they hold names that workers chose, and
    /// end up in logs, tables and messages.
    pub fn reason(&self) -> String {
        shortened_to(&shown(&self.to_string()), REASON)
    }

    /// What follows for worker and pod.
    pub fn effect(&self) -> Effect {
        match self {
            AttestationError::Replay(ReplayError::Kexec { .. } | ReplayError::Restarted) => {
                Effect::NeedsReboot
            }
            AttestationError::Pending(_) => Effect::Pending,
            AttestationError::AgentFailed(_)
            | AttestationError::TimedOut
            | AttestationError::Nonce(_)
            | AttestationError::NotMeasured { .. }
            | AttestationError::Description { .. }
            | AttestationError::Store(_)
            | AttestationError::Changed(_)
            | AttestationError::TooMuch { .. }
            | AttestationError::Stale
            | AttestationError::OutOfTurn(_) => Effect::Inconclusive,
            AttestationError::WorkerNotTrusted { .. }
            | AttestationError::Denied(_)
            | AttestationError::Evidence(_)
            | AttestationError::Claim(_)
            | AttestationError::Quote(_)
            | AttestationError::Boot { .. }
            | AttestationError::BootEvents(_)
            | AttestationError::Resume(_)
            | AttestationError::Replay(_)
            | AttestationError::Templates(..)
            | AttestationError::Runtime(_)
            | AttestationError::Strangers(_)
            | AttestationError::Host(_) => Effect::WorkerUntrusted,
            AttestationError::Pod { .. } => Effect::PodUntrusted,
        }
    }
}

/// What the verifier is told.
#[derive(Clone, Debug)]
pub enum Event {
    /// The agent answered (step 3).
    Evidence(Received),
    /// The agent could not be reached, or answered with an error.
    AgentFailed(String),
    /// The worker was booted since the last attestation: it is to be asked from the first entry on, with a
    /// new nonce.
    Rebooted(Nonce),
    /// The evidence was judged, and what came of it stored durably (steps 4 and 5).
    Judged(Result<(), AttestationError>),
    /// Time passed.
    Tick,
}

/// The one thing to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Ask the agent (step 2).
    Ask(Box<EvidenceRequest>),
    /// Judge the evidence, and store what comes of it.
    Judge(Received),
    /// Wait: nothing is due.
    Wait,
    /// It is over.
    Conclude(Result<(), AttestationError>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Asked,
    Judging(Received),
    Over,
}

/// What an attestation is about, as it was when the evidence was asked for.
///
/// Whatever has another generation when the evidence is judged is something else: nothing is concluded about
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subjects {
    /// The worker's name.
    pub worker: String,
    /// The worker's generation.
    pub generation: u64,
    /// Where its log is taken up.
    pub from: Option<Cursor>,
    /// The generations of its pods.
    pub pods: BTreeMap<PodUid, u64>,
}

/// The conclusion about each pod; what an accepted one was judged by.
pub type Verdicts = Vec<(Pod, Result<PodTerms, AttestationError>)>;

/// What the evidence of an attestation came to, to be committed.
#[derive(Debug)]
pub struct Judged {
    /// What it is about.
    pub subjects: Subjects,
    /// The worker's identifier.
    pub worker: Uuid,
    /// Whether the worker's TPM is a program.
    pub software_tpm: bool,
    /// The nonce that the evidence answered.
    pub nonce: Nonce,
    /// The pod that was asked for, if it was one: only it needs a new result.
    pub named: Option<PodUid>,
    /// The worker's part.
    pub appraisal: Appraisal,
    /// The part of each pod whose generation is the one that the evidence was asked for.
    pub verdicts: Verdicts,
    /// When the evidence was asked for.
    pub asked: Timestamp,
}

/// Evidence as it was judged, for whoever looks into it later.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The worker's name.
    pub worker: String,
    /// What it was asked.
    pub request: EvidenceRequest,
    /// When it was asked.
    pub asked: Timestamp,
    /// What it showed.
    pub evidence: Received,
    /// What came of it; no effect on the worker means that its part was accepted.
    pub effect: Effect,
    /// Why, in words.
    pub reason: String,
}

/// One attestation. It can be stored between any two steps and taken up in another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attestation {
    subjects: Subjects,
    request: EvidenceRequest,
    state: State,
    asked: Timestamp,
}

impl Attestation {
    /// Begins with what it is about and a request.
    pub fn begin(subjects: Subjects, request: EvidenceRequest, now: Timestamp) -> Self {
        Attestation {
            subjects,
            request,
            state: State::Asked,
            asked: now,
        }
    }

    /// What it is about.
    pub fn subjects(&self) -> &Subjects {
        &self.subjects
    }

    /// What the agent is asked.
    pub fn request(&self) -> &EvidenceRequest {
        &self.request
    }

    /// When the evidence was asked for.
    pub fn asked(&self) -> Timestamp {
        self.asked
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// The one thing to do next; after a stop the same as before it.
    pub fn due(&self) -> Action {
        match &self.state {
            State::Asked => Action::Ask(Box::new(self.request.clone())),
            State::Judging(evidence) => Action::Judge(evidence.clone()),
            State::Over => over(),
        }
    }

    /// Takes an event and says what to do next.
    pub fn handle(&mut self, event: Event, now: Timestamp) -> Action {
        let elapsed = now.millis_since(self.asked);
        // A clock that went back does not give more time.
        let late = |limit| !(0..=limit).contains(&elapsed);
        match (&self.state, event) {
            (State::Over, _) => over(),
            (State::Asked, _) if late(EVIDENCE_MILLIS) => {
                self.conclude(Err(AttestationError::TimedOut))
            }
            // What was judged in time may be stored a moment later.
            (State::Judging(_), Event::Tick) if late(JUDGE_MILLIS) => {
                self.conclude(Err(AttestationError::Stale))
            }
            (_, Event::Tick) => Action::Wait,
            (State::Asked, Event::Evidence(bytes)) => {
                self.state = State::Judging(bytes);
                self.due()
            }
            (State::Asked, Event::AgentFailed(reason)) => {
                self.conclude(Err(AttestationError::AgentFailed(reason)))
            }
            // Once: an agent that starts with another entry than the first when asked for it is refused.
            (State::Judging(_), Event::Rebooted(nonce)) if self.request.first_entry != 0 => {
                self.request.first_entry = 0;
                self.request.nonce = nonce;
                self.asked = now;
                self.state = State::Asked;
                self.due()
            }
            (State::Judging(_), Event::Judged(outcome)) => self.conclude(outcome),
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

fn over() -> Action {
    Action::Conclude(Err(AttestationError::OutOfTurn(
        "the attestation is over already",
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::HashAlg;
    use crate::tpm::PcrSelection;

    fn begun() -> (Attestation, Timestamp) {
        let now = Timestamp::from_secs(10);
        let request = EvidenceRequest {
            nonce: Nonce::from_bytes([1; 32]),
            worker: Uuid::nil(),
            pod: None,
            tenant: None,
            first_entry: 7,
            selection: PcrSelection::of(HashAlg::Sha256, [10]),
            boot_log: false,
        };
        let subjects = Subjects {
            worker: "worker".to_owned(),
            generation: 3,
            from: None,
            pods: BTreeMap::new(),
        };
        (Attestation::begin(subjects, request, now), now)
    }

    #[test]
    fn trust_comes_only_after_everything_was_stored() {
        let (mut attestation, now) = begun();
        assert_eq!(attestation.handle(Event::Tick, now), Action::Wait);
        let action = attestation.handle(Event::Evidence(vec![1].into()), now);
        assert_eq!(action, Action::Judge(vec![1].into()));
        assert!(!attestation.is_over());
        assert_eq!(
            attestation.handle(Event::Judged(Ok(())), now),
            Action::Conclude(Ok(()))
        );
        assert!(attestation.is_over());
    }

    #[test]
    fn a_store_that_fails_gives_no_trust() {
        let (mut attestation, now) = begun();
        attestation.handle(Event::Evidence(vec![].into()), now);
        let failed = Err(AttestationError::Store("disk full".to_owned()));
        let action = attestation.handle(Event::Judged(failed), now);
        let Action::Conclude(Err(error)) = action else {
            panic!("{action:?}")
        };
        assert_eq!(error.effect(), Effect::Inconclusive);
    }

    #[test]
    fn no_step_can_be_skipped_or_repeated() {
        let early = [
            Event::Judged(Ok(())),
            Event::Rebooted(Nonce::from_bytes([2; 32])),
        ];
        for event in early {
            let (mut attestation, now) = begun();
            assert!(matches!(
                attestation.handle(event, now),
                Action::Conclude(Err(AttestationError::OutOfTurn(_)))
            ));
            assert!(matches!(
                attestation.handle(Event::Evidence(vec![].into()), now),
                Action::Conclude(Err(AttestationError::OutOfTurn(_)))
            ));
        }
    }

    #[test]
    fn late_evidence_and_clocks_that_jump_are_refused() {
        for jump in [EVIDENCE_MILLIS + 1, -1] {
            let (mut attestation, now) = begun();
            assert_eq!(
                attestation.handle(Event::Evidence(vec![].into()), now.plus_millis(jump)),
                Action::Conclude(Err(AttestationError::TimedOut))
            );
        }
        let (mut attestation, now) = begun();
        attestation.handle(Event::Evidence(vec![].into()), now);
        let late = now.plus_millis(JUDGE_MILLIS + 1);
        assert_eq!(
            attestation.handle(Event::Tick, late),
            Action::Conclude(Err(AttestationError::Stale))
        );
    }

    #[test]
    fn a_booted_worker_is_asked_once_more_from_the_first_entry_on() {
        let (mut attestation, now) = begun();
        let again = Nonce::from_bytes([2; 32]);
        attestation.handle(Event::Evidence(vec![1].into()), now);
        let Action::Ask(request) = attestation.handle(Event::Rebooted(again), now) else {
            panic!("{attestation:?}")
        };
        assert_eq!((request.first_entry, request.nonce), (0, again));
        attestation.handle(Event::Evidence(vec![2].into()), now);
        assert!(matches!(
            attestation.handle(Event::Rebooted(again), now),
            Action::Conclude(Err(AttestationError::OutOfTurn(_)))
        ));
    }

    #[test]
    fn a_stored_attestation_goes_on_where_it_stood() {
        let (mut attestation, now) = begun();
        let stored = |attestation: &Attestation| -> Attestation {
            let text = serde_json::to_string(attestation).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let mut back = stored(&attestation);
        assert_eq!(back.due(), attestation.due());
        assert_eq!(
            back.handle(Event::Evidence(vec![1].into()), now),
            attestation.handle(Event::Evidence(vec![1].into()), now)
        );
        let mut back = stored(&back);
        assert_eq!(back.due(), Action::Judge(vec![1].into()));
        back.handle(Event::Judged(Ok(())), now);
        assert!(stored(&back).is_over());
    }
}
