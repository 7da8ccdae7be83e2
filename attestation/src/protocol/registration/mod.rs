//! Worker registration, seen from the handler: twelve steps, of which the first nine can refuse.
//!
//! The worker is registered or it is not, whoever dies when: until the agent took the acknowledgement there is
//! only a proposal, which counts for nothing; from then on whoever finds the registrar's note goes on to the
//! end.

mod error;
mod event;
mod keys;

pub use error::RegistrationError;
pub use event::{Action, Event, ProvenWorker};
pub use keys::{KeyTerms, attestation_key_digests, digests_of, endorsements};

use getrandom::rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::message::{
    Acknowledgement, Challenge, Identity, NONCE_SIZE, Proof, SECRET_SIZE, Transcript, same_mac,
    whole_secret,
};
use super::record::{Admission, WorkerRecord};
use crate::clock::Timestamp;
use crate::digest::{Digest, HashAlg};
use crate::ima::{Boot, BootAggregate, Templates};
use crate::tpm::pcr::BOOT_PCRS;
use crate::tpm::{PcrSelection, PcrValues, Public, QuoteError, make_credential, verify_quote};

/// How long a worker may take over each step.
pub const STEP_MILLIS: i64 = 30_000;

/// A worker that was challenged. The secret is in it: a stored registration is a secret, too.
#[derive(Clone, Serialize, Deserialize)]
struct Proving {
    identity: Identity,
    challenge: Challenge,
    secret: Zeroizing<Vec<u8>>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Proven {
    by: Proving,
    pcrs: PcrValues,
    boot: Boot,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Identity,
    Endorsement(Box<Identity>),
    Proof(Box<Proving>),
    Boot(Box<Proven>),
    Propose(Box<Proven>),
    Receipt(Box<(Acknowledgement, WorkerRecord)>),
    Accept(Box<Admission>),
    Admit(Box<Admission>),
    Confirm(Box<Admission>),
    Registered(Uuid),
    Refused,
}

impl State {
    fn waiting(&self) -> &'static str {
        match self {
            State::Identity => "the identity",
            State::Endorsement(_) => "the judgement of the endorsement key",
            State::Proof(_) => "the challenge",
            State::Boot(_) => "the judgement of the boot",
            State::Propose(_) => "the registrar",
            State::Receipt(_) => "the acknowledgement",
            State::Accept(_) => "the registrar's note",
            State::Admit(_) => "the verifier",
            State::Confirm(_) => "the registrar's confirmation",
            State::Registered(_) | State::Refused => "nothing: the registration is over",
        }
    }

    /// Whether it must be done within a time: what the agent took is completed however long it takes.
    fn is_timed(&self) -> bool {
        !matches!(
            self,
            State::Accept(_)
                | State::Admit(_)
                | State::Confirm(_)
                | State::Registered(_)
                | State::Refused
        )
    }

    /// The proposal that would have to be taken back.
    fn proposed(&self) -> Option<Uuid> {
        match self {
            State::Propose(proven) => Some(proven.by.challenge.session),
            State::Receipt(sent) => Some(sent.0.session),
            State::Accept(admission) => Some(admission.registration),
            _ => None,
        }
    }
}

/// What a handler fixes for every registration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Terms {
    /// The bank whose boot registers are quoted.
    pub bank: HashAlg,
    /// Whether the boot is judged by its events, with the first evidence; nothing is trusted before.
    #[serde(default)]
    pub boot_by_events: bool,
    /// The templates that the worker's log may use.
    #[serde(default)]
    pub templates: Templates,
    /// The digest of the verifier's public key.
    pub verifier_key: String,
    /// What is insisted on about the worker's keys.
    #[serde(default)]
    pub keys: KeyTerms,
}

/// One registration of one worker. It can be stored between any two steps and taken up in another process;
/// keep it as a secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct Registration {
    joined: String,
    address: String,
    terms: Terms,
    state: State,
    since: Timestamp,
}

impl Registration {
    /// Begins the registration of the worker that joined under a name, with an agent at an address.
    pub fn begin(joined: &str, address: &str, terms: Terms, now: Timestamp) -> Self {
        Registration {
            joined: joined.to_owned(),
            address: address.to_owned(),
            terms,
            state: State::Identity,
            since: now,
        }
    }

    /// The name of the worker that joined.
    pub fn name(&self) -> &str {
        &self.joined
    }

    /// Where its agent is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What the handler fixed for it.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The identifier of the worker, once it is registered.
    pub fn registered(&self) -> Option<Uuid> {
        match self.state {
            State::Registered(id) => Some(id),
            _ => None,
        }
    }

    /// The one thing to do next; after a stop the same as before it.
    pub fn due(&self) -> Action {
        match &self.state {
            State::Identity => Action::AskIdentity,
            State::Endorsement(identity) => {
                Action::CheckEndorsement(endorsements(identity).cloned().collect())
            }
            State::Proof(proving) => Action::SendChallenge(Box::new(proving.challenge.clone())),
            State::Boot(proven) => match aggregate(&proven.by.challenge, &proven.pcrs) {
                Some(aggregate) => Action::CheckBoot {
                    os: proven.by.identity.os.clone(),
                    aggregate,
                },
                None => Action::Refuse {
                    error: no_registers().into(),
                    proposed: None,
                },
            },
            State::Propose(proven) => Action::Propose {
                registration: proven.by.challenge.session,
                worker: Box::new(ProvenWorker {
                    identity: proven.by.identity.clone(),
                    boot_pcrs: proven.pcrs.clone(),
                    boot: proven.boot,
                    // They were allowed before: what is left to know is whether they are listed.
                    listed: self.terms.keys.check(&proven.by.identity).unwrap_or(false),
                }),
            },
            State::Receipt(sent) => Action::SendAcknowledgement(Box::new(sent.0.clone())),
            State::Accept(admission) => Action::Accept(admission.registration),
            State::Admit(admission) => Action::Admit(admission.clone()),
            State::Confirm(admission) => Action::Confirm(admission.registration),
            State::Registered(_) => Action::Done,
            State::Refused => Action::Refuse {
                error: out_of_turn(&Event::Tick, self.state.waiting()),
                proposed: None,
            },
        }
    }

    /// Takes an event and says what to do next.
    pub fn handle<R: CryptoRng + ?Sized>(
        &mut self,
        event: Event,
        now: Timestamp,
        rng: &mut R,
    ) -> Action {
        let step = self.state.waiting();
        let proposed = self.state.proposed();
        // A clock that went back is no reason to wait longer than the step allows.
        let elapsed = now.millis_since(self.since);
        if self.state.is_timed() && !(0..=STEP_MILLIS).contains(&elapsed) {
            self.state = State::Refused;
            let error = RegistrationError::TimedOut { step };
            return Action::Refuse { error, proposed };
        }
        match (&self.state, &event) {
            // What comes after the end changes nothing; a registered worker stays registered.
            (State::Registered(_), _) => return Action::Done,
            (State::Refused, _) => {
                let error = out_of_turn(&event, step);
                return Action::Refuse { error, proposed };
            }
            (_, Event::Tick) => return Action::Wait,
            // The agent counts on it: what is out of turn here does not stop it.
            (State::Admit(_), event) if !matches!(event, Event::Admitted) => return self.due(),
            (State::Confirm(_), event) if !matches!(event, Event::Confirmed(_)) => {
                return self.due();
            }
            _ => {}
        }
        self.since = now;
        let state = std::mem::replace(&mut self.state, State::Refused);
        match self.step(state, event, rng) {
            Ok(next) => {
                self.state = next;
                self.due()
            }
            Err(error) => Action::Refuse { error, proposed },
        }
    }

    fn step<R: CryptoRng + ?Sized>(
        &self,
        state: State,
        event: Event,
        rng: &mut R,
    ) -> Result<State, RegistrationError> {
        let step = state.waiting();
        match (state, event) {
            (State::Identity, Event::Identity(identity)) => self.identified(*identity),
            (State::Endorsement(identity), Event::Endorsement(judgement)) => {
                judgement.map_err(RegistrationError::Endorsement)?;
                self.challenge(*identity, rng)
            }
            (State::Proof(proving), Event::Proof(proof)) => proven(*proving, &proof),
            (State::Boot(proven), Event::Boot(judgement)) => {
                let os = proven.by.identity.os.clone();
                judgement.map_err(|reason| RegistrationError::Boot { os, reason })?;
                Ok(State::Propose(proven))
            }
            (State::Propose(proven), Event::Proposed(proposed)) => {
                let (certificate, record) = *proposed.map_err(RegistrationError::Store)?;
                let acknowledgement = self.acknowledge(&proven.by, certificate);
                Ok(State::Receipt(Box::new((acknowledgement, record))))
            }
            (State::Receipt(sent), Event::Acknowledged) => {
                let (acknowledgement, record) = *sent;
                Ok(State::Accept(Box::new(Admission {
                    id: record.id,
                    name: record.name,
                    address: record.address,
                    registration: acknowledgement.session,
                })))
            }
            (State::Accept(admission), Event::Accepted(noted)) => {
                noted.map_err(RegistrationError::Store)?;
                Ok(State::Admit(admission))
            }
            (State::Admit(admission), Event::Admitted) => Ok(State::Confirm(admission)),
            (State::Confirm(admission), Event::Confirmed(confirmed)) => {
                confirmed.map_err(RegistrationError::Store)?;
                Ok(State::Registered(admission.id))
            }
            (_, Event::AgentFailed(reason)) => Err(RegistrationError::AgentFailed { step, reason }),
            (_, event) => Err(out_of_turn(&event, step)),
        }
    }

    /// Step 4: the keys are what they should be.
    fn identified(&self, identity: Identity) -> Result<State, RegistrationError> {
        if identity.name != self.joined {
            return Err(RegistrationError::WrongName {
                found: identity.name,
                joined: self.joined.clone(),
            });
        }
        let (_, ak) = keys(&identity)?;
        if ak.name() != identity.ak_name {
            return Err(RegistrationError::WrongAkName);
        }
        ak.check_attestation_key()?;
        self.terms.keys.check(&identity)?;
        self.check_templates(&identity.templates)?;
        Ok(State::Endorsement(Box::new(identity)))
    }

    /// The templates of the log are those of the policy, and none can be passed for another: their names are in no
    /// hash, and whoever controls the worker chooses them.
    fn check_templates(&self, names: &[String]) -> Result<(), RegistrationError> {
        let known = &self.terms.templates;
        if names.is_empty() {
            return Err(RegistrationError::NoLog);
        }
        if let Some(unknown) = names
            .iter()
            .find(|name| known.layout(name.as_bytes()).is_none())
        {
            return Err(RegistrationError::Template(unknown.clone()));
        }
        match known.confusable(names) {
            Some((one, other)) => Err(RegistrationError::Templates(one, other)),
            None => Ok(()),
        }
    }

    /// Step 5: a secret that only the TPM with all the keys can recover.
    fn challenge<R: CryptoRng + ?Sized>(
        &self,
        identity: Identity,
        rng: &mut R,
    ) -> Result<State, RegistrationError> {
        let (_, ak) = keys(&identity)?;
        let (mut parts, mut credentials) = (Vec::new(), Vec::new());
        for endorsement in endorsements(&identity) {
            let mut part = Zeroizing::new([0; SECRET_SIZE]);
            rng.fill_bytes(&mut *part);
            let ek = endorsement_key(&endorsement.public)?;
            credentials.push(make_credential(&ek, &ak.name(), &*part, rng)?);
            parts.push(part);
        }
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_slice()).collect();
        let secret = Zeroizing::new(whole_secret(&parts));
        let credential = credentials.remove(0);
        let mut nonce = vec![0; NONCE_SIZE];
        rng.fill_bytes(&mut nonce);
        let mut session = [0; 16];
        rng.fill_bytes(&mut session);
        let challenge = Challenge {
            session: uuid::Builder::from_random_bytes(session).into_uuid(),
            credential,
            others: credentials,
            nonce,
            selection: PcrSelection::of(self.terms.bank, BOOT_PCRS),
        };
        Ok(State::Proof(Box::new(Proving {
            identity,
            challenge,
            secret,
        })))
    }

    fn acknowledge(&self, by: &Proving, certificate: String) -> Acknowledgement {
        let transcript = by.transcript();
        let verifier_key = self.terms.verifier_key.clone();
        let mac = transcript.acknowledge_mac(&by.secret, &verifier_key, &certificate);
        Acknowledgement {
            session: by.challenge.session,
            verifier_key,
            certificate,
            mac,
        }
    }
}

impl Proving {
    fn transcript(&self) -> Transcript {
        Transcript::of(
            &self.identity,
            self.challenge.session,
            &self.challenge.nonce,
        )
    }
}

/// The endorsement key and the attestation key of a worker.
fn keys(identity: &Identity) -> Result<(Public, Public), RegistrationError> {
    let ek = endorsement_key(&identity.endorsement.public)?;
    Ok((ek, parse("attestation key", &identity.ak_public)?))
}

fn endorsement_key(public: &[u8]) -> Result<Public, RegistrationError> {
    parse("endorsement key", public)
}

fn parse(key: &'static str, bytes: &[u8]) -> Result<Public, RegistrationError> {
    Public::parse(bytes).map_err(|error| RegistrationError::MalformedKey { key, error })
}

/// Step 7: the secret was recovered, and the boot registers are quoted by the key it was bound to.
fn proven(by: Proving, proof: &Proof) -> Result<State, RegistrationError> {
    if proof.session != by.challenge.session {
        return Err(RegistrationError::WrongSession);
    }
    let transcript = by.transcript();
    if !same_mac(&transcript.proof_mac(&by.secret), &proof.mac) {
        return Err(RegistrationError::WrongProof);
    }
    let (ek, ak) = keys(&by.identity)?;
    let nonce = transcript.quote_nonce();
    let quote = verify_quote(&ak, &proof.quote, &nonce, &by.challenge.selection)?;
    let parent = ek.endorsement_qualified_name();
    if quote.qualified_signer != ak.qualified_name(&parent) {
        return Err(RegistrationError::WrongParent);
    }
    aggregate(&by.challenge, &quote.pcrs).ok_or_else(no_registers)?;
    let boot = Boot {
        reset_count: quote.clock_info.reset_count,
        restart_count: quote.clock_info.restart_count,
    };
    Ok(State::Boot(Box::new(Proven {
        by,
        pcrs: quote.pcrs,
        boot,
    })))
}

/// What a kernel computes over the registers that were asked for.
fn aggregate(challenge: &Challenge, pcrs: &PcrValues) -> Option<BootAggregate> {
    let bank = challenge.selection.banks().first()?.bank;
    let values: Vec<Digest> = pcrs.bank(bank).map(|(_, value)| value).collect();
    BootAggregate::over(bank, &values)
}

fn no_registers() -> QuoteError {
    QuoteError::Values("the ten boot registers are not there".to_owned())
}

fn out_of_turn(event: &Event, waiting: &'static str) -> RegistrationError {
    RegistrationError::OutOfTurn {
        event: event.name(),
        waiting,
    }
}

#[cfg(test)]
mod tests;
