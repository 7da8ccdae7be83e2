//! What the agent does, apart from how it is asked.

use std::sync::Mutex;

use uuid::Uuid;
use zeroize::Zeroizing;

use super::AgentError;
use super::event_log::EventLogFile;
use super::log::LogFile;
use super::rate::{Rate, RateLimit};
use super::state::{Keys, StateFolder};
use crate::clock::{Clock, Timestamp};
use crate::evidence::{Evidence, PcrValue, QuotePart, binding};
use crate::net::pki::{agent_request, request_with};
use crate::net::tls::Credentials;
use crate::net::{Peer, Role};
use crate::protocol::enrolment::{Enrolment, EnrolmentError};
use crate::protocol::{Acknowledgement, Challenge, EvidenceRequest, Identity, Proof, Succession};
use crate::tpm::device::quote;
use crate::tpm::pcr::RESETTABLE;
use crate::tpm::{AkKind, EkKind, Endorsement, Properties, Quote, Tpm, TpmError};

/// Why a request is refused.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Not for this peer.
    #[error("{0}")]
    Forbidden(String),
    /// Too often.
    #[error("too many requests; the TPM needs a rest")]
    TooMany,
    /// Not registered yet.
    #[error("the worker is not registered")]
    NotRegistered,
    /// The request makes no sense.
    #[error("{0}")]
    Bad(String),
    /// The TPM asks for patience.
    #[error("the TPM is busy")]
    Busy,
    /// The agent's own fault.
    #[error("{0}")]
    Internal(String),
}

impl Refusal {
    /// The HTTP status of the refusal.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::Forbidden(_) => 403,
            Refusal::TooMany => 429,
            Refusal::NotRegistered => 409,
            Refusal::Bad(_) => 400,
            Refusal::Busy => 503,
            Refusal::Internal(_) => 500,
        }
    }
}

impl From<TpmError> for Refusal {
    fn from(error: TpmError) -> Self {
        match error {
            TpmError::Busy | TpmError::Unstable(_) => Refusal::Busy,
            TpmError::Credential => Refusal::Bad(error.to_string()),
            other => Refusal::Internal(other.to_string()),
        }
    }
}

impl From<EnrolmentError> for Refusal {
    fn from(error: EnrolmentError) -> Self {
        match error {
            EnrolmentError::Tpm(error) => error.into(),
            EnrolmentError::OtherVerifier | EnrolmentError::NotFromChallenger => {
                Refusal::Forbidden(error.to_string())
            }
            other => Refusal::Bad(other.to_string()),
        }
    }
}

impl From<AgentError> for Refusal {
    fn from(error: AgentError) -> Self {
        Refusal::Internal(error.to_string())
    }
}

/// What an agent is made of.
pub struct Setup {
    /// Its TPM.
    pub tpm: Box<dyn Tpm>,
    /// The log.
    pub log: LogFile,
    /// The firmware's log.
    pub event_log: EventLogFile,
    /// Its state.
    pub state: StateFolder,
    /// The certificate it was installed with.
    pub installed: Credentials,
    /// Its host name.
    pub name: String,
    /// Its operating system.
    pub os: String,
    /// Which endorsement key to use; none for the first with a certificate.
    pub ek: Option<EkKind>,
    /// Which attestation key to make.
    pub ak: AkKind,
    /// How often it may be asked.
    pub rate: Rate,
}

struct Inner {
    tpm: Box<dyn Tpm>,
    log: LogFile,
    event_log: EventLogFile,
    enrolment: Enrolment,
    /// As it was last shown.
    identity: Identity,
    rate: RateLimit,
}

/// The agent.
pub struct Agent {
    inner: Mutex<Inner>,
    state: StateFolder,
    keys: Keys,
    installed: Credentials,
    clock: Box<dyn Clock>,
}

impl Agent {
    /// Starts from what is there: the same worker with the same attestation key as before, or a new one.
    pub fn new(setup: Setup, clock: Box<dyn Clock>) -> Result<Self, AgentError> {
        let mut tpm = setup.tpm;
        let properties = tpm.properties()?;
        warn_of_software(&properties);
        let keys = match setup.state.keys()? {
            Some(keys) => keys,
            None => {
                let parent = setup
                    .ek
                    .or_else(|| properties.endorsement_kinds.first().copied())
                    .ok_or(TpmError::NoCertificate(EkKind::Rsa2048))?;
                let ak = tpm.create_ak(parent, setup.ak)?;
                let (tls_key, _) = agent_request(&setup.name)?;
                let keys = Keys {
                    worker: Uuid::new_v4(),
                    ak,
                    tls_key,
                };
                setup.state.store_keys(&keys)?;
                keys
            }
        };
        let public = keys.ak.public_area()?;
        let others = other_endorsements(&mut *tpm, &properties, keys.ak.parent)?;
        let identity = Identity {
            worker: keys.worker,
            name: setup.name.clone(),
            os: setup.os,
            tpm: properties,
            endorsement: tpm.endorsement(keys.ak.parent)?,
            others,
            ak_public: keys.ak.public.clone(),
            ak_name: public.name(),
            certificate_request: request_with(&setup.name, &keys.tls_key)?,
            templates: Vec::new(),
        };
        let registered = setup.state.registered()?;
        Ok(Agent {
            inner: Mutex::new(Inner {
                tpm,
                log: setup.log,
                event_log: setup.event_log,
                enrolment: Enrolment::new(registered),
                identity,
                rate: RateLimit::new(setup.rate),
            }),
            state: setup.state,
            keys,
            installed: setup.installed,
            clock,
        })
    }

    /// The certificate to serve with: the one bound to the attestation key, once there is one.
    ///
    /// One that ran out, as the worker was off for long, is shown to nobody: with the one that it was installed with,
    /// the gate lets the worker prove itself again.
    pub fn credentials(&self) -> Credentials {
        self.with(|inner, now| {
            let registered = inner.enrolment.registered();
            let bound = registered.map(|registered| Credentials {
                authority: self.installed.authority.clone(),
                certificate: registered.certificate.clone(),
                key: Zeroizing::new(self.keys.tls_key.to_string()),
            });
            bound
                .filter(|bound| bound.count_at(now))
                .unwrap_or_else(|| self.installed.clone())
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner, Timestamp) -> T) -> T {
        let now = self.clock.now();
        match self.inner.lock() {
            Ok(mut inner) => work(&mut inner, now),
            // What a panicking request left is still whole: every change is a single assignment.
            Err(poisoned) => work(&mut poisoned.into_inner(), now),
        }
    }

    fn admit(inner: &mut Inner, peer: &Peer, role: Role, now: Timestamp) -> Result<(), Refusal> {
        if !peer.has_any(&[role]) {
            return Err(Refusal::Forbidden(format!(
                "only the {} may ask this, not {}",
                role.name(),
                peer.label()
            )));
        }
        if !inner.rate.allow(&peer.key, now) {
            return Err(Refusal::TooMany);
        }
        Ok(())
    }

    /// Who the worker is (registration, step 2).
    pub fn identify(&self, peer: &Peer) -> Result<Identity, Refusal> {
        self.with(|inner, now| {
            Self::admit(inner, peer, Role::WorkerHandler, now)?;
            // The handler's challenge is about what it is told here.
            inner.identity.templates = inner.log.templates()?;
            Ok(inner.identity.clone())
        })
    }

    /// Answers a challenge (registration, step 6).
    pub fn challenge(&self, peer: &Peer, challenge: &Challenge) -> Result<Proof, Refusal> {
        self.with(|inner, now| {
            Self::admit(inner, peer, Role::WorkerHandler, now)?;
            let Inner {
                tpm,
                enrolment,
                identity,
                ..
            } = inner;
            let proof = enrolment.challenge(&mut **tpm, &self.keys.ak, identity, challenge, now)?;
            Ok(proof)
        })
    }

    /// Takes the acknowledgement (registration, step 9).
    pub fn acknowledge(&self, peer: &Peer, message: &Acknowledgement) -> Result<(), Refusal> {
        self.with(|inner, now| {
            Self::admit(inner, peer, Role::WorkerHandler, now)?;
            let registered = inner.enrolment.acknowledge(message, now)?;
            Ok(self.state.store_registered(&registered)?)
        })
    }

    /// Takes a new certificate for its key.
    pub fn rotate(&self, peer: &Peer, certificate: String) -> Result<(), Refusal> {
        self.with(|inner, now| {
            Self::admit(inner, peer, Role::WorkerHandler, now)?;
            let candidate = Credentials {
                authority: self.installed.authority.clone(),
                certificate: certificate.clone(),
                key: Zeroizing::new(self.keys.tls_key.to_string()),
            };
            // A certificate that does not fit the key would silence the agent for good.
            candidate
                .server()
                .map_err(|error| Refusal::Bad(error.to_string()))?;
            let registered = inner
                .enrolment
                .rotate(certificate)
                .ok_or(Refusal::NotRegistered)?;
            Ok(self.state.store_registered(&registered)?)
        })
    }

    /// Follows its verifier to another key, which the one that it knows must have signed. Whoever brings that proves
    /// nothing by it.
    pub fn succeed(&self, peer: &Peer, successions: &[Succession]) -> Result<(), Refusal> {
        self.with(|inner, now| {
            let role = match peer.has_any(&[Role::Verifier]) {
                true => Role::Verifier,
                false => Role::WorkerHandler,
            };
            Self::admit(inner, peer, role, now)?;
            let before = inner.enrolment.registered().cloned();
            let registered = inner.enrolment.succeed(successions);
            let registered = registered.ok_or(Refusal::NotRegistered)?;
            if before.as_ref() != Some(&registered) {
                tracing::info!(
                    key = registered.verifier_key,
                    "the verifier has another key"
                );
                self.state.store_registered(&registered)?;
            }
            Ok(())
        })
    }

    /// Shows evidence (pod attestation, step 3).
    pub fn attest(&self, peer: &Peer, request: &EvidenceRequest) -> Result<Vec<u8>, Refusal> {
        self.with(|inner, now| {
            Self::admit(inner, peer, Role::Verifier, now)?;
            let registered = inner.enrolment.registered().ok_or(Refusal::NotRegistered)?;
            if registered.verifier_key != peer.key {
                return Err(Refusal::Forbidden(
                    "this is not the verifier that the worker was registered with".to_owned(),
                ));
            }
            check_request(request, self.keys.worker)?;
            let column = inner.log.column();
            // The quote first, the log after it: the log then holds everything that was quoted. Only
            // where it starts must be known before, as the quote vouches for it.
            let first = inner.log.from(request.first_entry)?.first;
            let claims = request.answer(first, column, now.secs()).to_bytes();
            let bound = binding(&request.nonce, &claims);
            let quote = quote(
                &mut *inner.tpm,
                &self.keys.ak,
                bound.as_bytes(),
                &request.selection,
            )?;
            let part = inner.log.from(first)?;
            if part.first != first {
                return Err(Refusal::Busy);
            }
            let boot_log = request.boot_log.then(|| inner.event_log.read());
            Ok(Evidence::encode_with_boot_log(
                &claims,
                &quote_part(quote, request),
                Some(&part.bytes),
                boot_log.transpose()?.as_deref(),
            ))
        })
    }
}

fn quote_part(quote: Quote, request: &EvidenceRequest) -> QuotePart {
    let pcrs = request
        .selection
        .registers()
        .filter_map(|(bank, pcr)| {
            let value = quote.pcrs.get(bank, pcr)?;
            Some(PcrValue {
                index: u32::from(pcr),
                value,
            })
        })
        .collect();
    QuotePart {
        attest: quote.attest,
        signature: quote.signature,
        pcrs,
    }
}

fn check_request(request: &EvidenceRequest, worker: Uuid) -> Result<(), Refusal> {
    if request.worker != worker {
        return Err(Refusal::Bad("the request is for another worker".to_owned()));
    }
    let resettable = |(_, pcr): (_, u8)| RESETTABLE.contains(&pcr);
    if request.selection.registers().next().is_none()
        || request.selection.registers().any(resettable)
    {
        return Err(Refusal::Bad(
            "the request asks for no register, or for one that software can reset".to_owned(),
        ));
    }
    Ok(())
}

/// Every other endorsement key of the TPM that has a certificate: one TPM is one worker.
fn other_endorsements(
    tpm: &mut dyn Tpm,
    properties: &Properties,
    parent: EkKind,
) -> Result<Vec<Endorsement>, TpmError> {
    let mut found = Vec::new();
    for kind in properties.endorsement_kinds.iter().copied() {
        if kind == parent {
            continue;
        }
        match tpm.endorsement(kind) {
            Ok(endorsement) => found.push(endorsement),
            // A certificate for a key that the TPM cannot make: there is nothing to show.
            Err(error @ (TpmError::Unsupported(_) | TpmError::NoCertificate(_))) => {
                tracing::warn!(kind = kind.name(), %error, "an endorsement key is left out");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn warn_of_software(properties: &Properties) {
    if properties.software {
        tracing::warn!(
            manufacturer = properties.manufacturer,
            vendor = properties.vendor,
            "THIS TPM IS A PROGRAM: it protects nothing against its own machine, use it for tests only"
        );
    }
}
