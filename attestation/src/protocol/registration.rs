//! Worker registration, seen from the handler: nine steps, each of which can refuse.

use getrandom::rand_core::CryptoRng;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::Effect;
use super::message::{
    Acknowledgement, Challenge, Identity, NONCE_SIZE, Proof, SECRET_SIZE, Transcript, same_mac,
};
use crate::clock::Timestamp;
use crate::digest::{Digest, HashAlg};
use crate::ima::{Boot, BootAggregate};
use crate::tpm::pcr::BOOT_PCRS;
use crate::tpm::{
    AttestationKeyError, CredentialError, PcrSelection, PcrValues, Public, QuoteError,
    StructureError, make_credential, verify_quote,
};

/// How long a worker may take over each step.
pub const STEP_MILLIS: i64 = 30_000;

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
    /// The registrar stored the worker and a certificate was issued (step 8).
    Stored(Result<String, String>),
    /// The agent took the acknowledgement (step 9).
    Acknowledged,
    /// The agent could not be reached, or answered with an error.
    AgentFailed(String),
    /// Time passed.
    Tick,
}

impl Event {
    fn name(&self) -> &'static str {
        match self {
            Event::Identity(_) => "an identity",
            Event::Endorsement(_) => "a judgement of the endorsement key",
            Event::Proof(_) => "a proof",
            Event::Boot(_) => "a judgement of the boot",
            Event::Stored(_) => "the registrar's answer",
            Event::Acknowledged => "the agent's receipt",
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
}

/// The one thing to do next.
#[derive(Clone, Debug)]
pub enum Action {
    /// Ask the agent to identify itself (step 1).
    AskIdentity,
    /// Ask the registrar about the endorsement key (step 3).
    CheckEndorsement,
    /// Send the challenge to the agent (step 5).
    SendChallenge(Box<Challenge>),
    /// Ask the reference values about the boot (step 7).
    CheckBoot {
        /// The operating system.
        os: String,
        /// What its kernel may have computed over the quoted registers.
        aggregate: BootAggregate,
    },
    /// Store the worker and issue a certificate for its request (step 8).
    Store(Box<ProvenWorker>),
    /// Send the acknowledgement to the agent (step 9).
    SendAcknowledgement(Box<Acknowledgement>),
    /// Wait: nothing is due.
    Wait,
    /// The worker is registered.
    Done,
    /// The worker is refused; if it was stored already, remove it.
    Refuse {
        /// Why.
        error: RegistrationError,
        /// Whether the registrar has it.
        stored: bool,
    },
}

struct Proving {
    identity: Identity,
    ek: Public,
    ak: Public,
    session: Uuid,
    nonce: Vec<u8>,
    secret: Zeroizing<[u8; SECRET_SIZE]>,
    selection: PcrSelection,
}

struct Proven {
    by: Proving,
    pcrs: PcrValues,
    boot: Boot,
}

enum State {
    Identity,
    Endorsement(Box<(Identity, Public, Public)>),
    Proof(Box<Proving>),
    Boot(Box<Proven>),
    Store(Box<Proven>),
    Receipt,
    Registered,
    Refused,
}

impl State {
    fn waiting(&self) -> &'static str {
        match self {
            State::Identity => "the identity",
            State::Endorsement(_) => "the judgement of the endorsement key",
            State::Proof(_) => "the challenge",
            State::Boot(_) => "the judgement of the boot",
            State::Store(_) => "the registrar",
            State::Receipt => "the acknowledgement",
            State::Registered | State::Refused => "nothing: the registration is over",
        }
    }
}

/// What a handler fixes for every registration.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The bank whose boot registers are quoted.
    pub bank: HashAlg,
    /// The digest of the verifier's public key.
    pub verifier_key: String,
}

/// One registration of one worker.
pub struct Registration {
    joined: String,
    terms: Terms,
    state: State,
    since: Timestamp,
}

impl Registration {
    /// Begins the registration of the worker that joined under a name.
    pub fn begin(joined: &str, terms: Terms, now: Timestamp) -> (Self, Action) {
        let registration = Registration {
            joined: joined.to_owned(),
            terms,
            state: State::Identity,
            since: now,
        };
        (registration, Action::AskIdentity)
    }

    /// Whether the worker is registered.
    pub fn is_registered(&self) -> bool {
        matches!(self.state, State::Registered)
    }

    /// Takes an event and says what to do next.
    pub fn handle<R: CryptoRng + ?Sized>(
        &mut self,
        event: Event,
        now: Timestamp,
        rng: &mut R,
    ) -> Action {
        let state = std::mem::replace(&mut self.state, State::Refused);
        let step = state.waiting();
        let over = matches!(state, State::Registered | State::Refused);
        let stored = matches!(state, State::Receipt);
        // A clock that went back is no reason to wait longer than the step allows.
        let elapsed = now.millis_since(self.since);
        if !over && !(0..=STEP_MILLIS).contains(&elapsed) {
            let error = RegistrationError::TimedOut { step };
            return Action::Refuse { error, stored };
        }
        if matches!(event, Event::Tick) {
            self.state = state;
            return Action::Wait;
        }
        if over {
            let registered = matches!(state, State::Registered);
            self.state = state;
            // What comes after the end changes nothing; a registered worker stays registered.
            return if registered {
                Action::Done
            } else {
                let error = out_of_turn(&event, step);
                Action::Refuse { error, stored }
            };
        }
        self.since = now;
        match self.step(state, event, rng) {
            Ok((next, action)) => {
                self.state = next;
                action
            }
            Err(error) => Action::Refuse { error, stored },
        }
    }

    fn step<R: CryptoRng + ?Sized>(
        &self,
        state: State,
        event: Event,
        rng: &mut R,
    ) -> Result<(State, Action), RegistrationError> {
        let step = state.waiting();
        match (state, event) {
            (_, Event::AgentFailed(reason)) => Err(RegistrationError::AgentFailed { step, reason }),
            (State::Identity, Event::Identity(identity)) => self.identified(*identity),
            (State::Endorsement(known), Event::Endorsement(judgement)) => {
                judgement.map_err(RegistrationError::Endorsement)?;
                self.challenge(*known, rng)
            }
            (State::Proof(proving), Event::Proof(proof)) => proven(*proving, &proof),
            (State::Boot(proven), Event::Boot(judgement)) => {
                let os = proven.by.identity.os.clone();
                judgement.map_err(|reason| RegistrationError::Boot { os, reason })?;
                let worker = ProvenWorker {
                    identity: proven.by.identity.clone(),
                    boot_pcrs: proven.pcrs.clone(),
                    boot: proven.boot,
                };
                Ok((State::Store(proven), Action::Store(Box::new(worker))))
            }
            (State::Store(proven), Event::Stored(stored)) => {
                let certificate = stored.map_err(RegistrationError::Store)?;
                Ok((State::Receipt, self.acknowledge(&proven.by, certificate)))
            }
            (State::Receipt, Event::Acknowledged) => Ok((State::Registered, Action::Done)),
            (_, event) => Err(out_of_turn(&event, step)),
        }
    }

    /// Step 4: the keys are what they should be.
    fn identified(&self, identity: Identity) -> Result<(State, Action), RegistrationError> {
        if identity.name != self.joined {
            return Err(RegistrationError::WrongName {
                found: identity.name,
                joined: self.joined.clone(),
            });
        }
        let parse = |key, bytes: &[u8]| {
            Public::parse(bytes).map_err(|error| RegistrationError::MalformedKey { key, error })
        };
        let ek = parse("endorsement key", &identity.endorsement.public)?;
        let ak = parse("attestation key", &identity.ak_public)?;
        if ak.name() != identity.ak_name {
            return Err(RegistrationError::WrongAkName);
        }
        ak.check_attestation_key()?;
        let state = State::Endorsement(Box::new((identity, ek, ak)));
        Ok((state, Action::CheckEndorsement))
    }

    /// Step 5: a secret that only the TPM with both keys can recover.
    fn challenge<R: CryptoRng + ?Sized>(
        &self,
        (identity, ek, ak): (Identity, Public, Public),
        rng: &mut R,
    ) -> Result<(State, Action), RegistrationError> {
        let mut secret = Zeroizing::new([0; SECRET_SIZE]);
        rng.fill_bytes(&mut *secret);
        let mut nonce = vec![0; NONCE_SIZE];
        rng.fill_bytes(&mut nonce);
        let mut session = [0; 16];
        rng.fill_bytes(&mut session);
        let session = uuid::Builder::from_random_bytes(session).into_uuid();
        let credential = make_credential(&ek, &ak.name(), &*secret, rng)?;
        let selection = PcrSelection::of(self.terms.bank, BOOT_PCRS);
        let challenge = Challenge {
            session,
            credential,
            nonce: nonce.clone(),
            selection: selection.clone(),
        };
        let proving = Proving {
            identity,
            ek,
            ak,
            session,
            nonce,
            secret,
            selection,
        };
        let state = State::Proof(Box::new(proving));
        Ok((state, Action::SendChallenge(Box::new(challenge))))
    }

    fn acknowledge(&self, by: &Proving, certificate: String) -> Action {
        let transcript = Transcript::of(&by.identity, by.session, &by.nonce);
        let verifier_key = self.terms.verifier_key.clone();
        let mac = transcript.acknowledge_mac(&*by.secret, &verifier_key, &certificate);
        Action::SendAcknowledgement(Box::new(Acknowledgement {
            session: by.session,
            verifier_key,
            certificate,
            mac,
        }))
    }
}

/// Step 7: the secret was recovered, and the boot registers are quoted by the key it was bound to.
fn proven(by: Proving, proof: &Proof) -> Result<(State, Action), RegistrationError> {
    if proof.session != by.session {
        return Err(RegistrationError::WrongSession);
    }
    let transcript = Transcript::of(&by.identity, by.session, &by.nonce);
    if !same_mac(&transcript.proof_mac(&*by.secret), &proof.mac) {
        return Err(RegistrationError::WrongProof);
    }
    let nonce = transcript.quote_nonce();
    let quote = verify_quote(&by.ak, &proof.quote, &nonce, &by.selection)?;
    let parent = by.ek.endorsement_qualified_name();
    if quote.qualified_signer != by.ak.qualified_name(&parent) {
        return Err(RegistrationError::WrongParent);
    }
    let bank = by.selection.banks().first().map(|bank| bank.bank);
    let values: Vec<Digest> = bank
        .into_iter()
        .flat_map(|bank| quote.pcrs.bank(bank).map(|(_, value)| value))
        .collect();
    let aggregate = bank
        .and_then(|bank| BootAggregate::over(bank, &values))
        .ok_or_else(|| QuoteError::Values("the ten boot registers are not there".to_owned()))?;
    let os = by.identity.os.clone();
    let boot = Boot {
        reset_count: quote.clock_info.reset_count,
        restart_count: quote.clock_info.restart_count,
    };
    let proven = Proven {
        by,
        pcrs: quote.pcrs,
        boot,
    };
    let state = State::Boot(Box::new(proven));
    Ok((state, Action::CheckBoot { os, aggregate }))
}

fn out_of_turn(event: &Event, waiting: &'static str) -> RegistrationError {
    RegistrationError::OutOfTurn {
        event: event.name(),
        waiting,
    }
}

#[cfg(test)]
#[path = "registration_tests.rs"]
mod tests;
