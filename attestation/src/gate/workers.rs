//! The worker handler: drives registrations, rotates certificates.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use hyper::Method;
use rustls::ClientConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::access::{References, Registrar, VerifierAccess, WorkerRecord};
use super::metrics::Metrics;
use super::problem::Problem;
use crate::agent::server::{ACKNOWLEDGE, CERTIFICATE, CHALLENGE, IDENTITY};
use crate::clock::Clock;
use crate::digest::HashAlg;
use crate::net::pki::request_key;
use crate::net::{Authority, Client, ClientError};
use crate::protocol::registration::{Action, Event, ProvenWorker, STEP_MILLIS, Terms};
use crate::protocol::{Effect, Identity, Registration};
use crate::tpm::Public;
use crate::verifier::check_boot;

/// What a worker handler is made of.
pub struct WorkerHandlerParts {
    /// The registrar.
    pub registrar: Registrar,
    /// The reference values.
    pub references: References,
    /// The verifier, which takes registered workers in.
    pub verifier: VerifierAccess,
    /// The installation's authority, which binds certificates to attestation keys.
    pub authority: Authority,
    /// How to reach agents: with the handler's own certificate.
    pub agents: Arc<ClientConfig>,
    /// The digest of the verifier's public key.
    pub verifier_key: String,
    /// The bank whose boot registers are quoted.
    pub bank: HashAlg,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where it counts.
    pub metrics: Arc<Metrics>,
}

/// The worker handler.
pub struct WorkerHandler {
    parts: WorkerHandlerParts,
    running: Mutex<HashSet<String>>,
}

/// A worker that joined and is to be registered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Joined {
    /// Its host name.
    pub name: String,
    /// Where its agent listens: host and port.
    pub address: String,
}

/// A worker that was registered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RegisteredWorker {
    /// Its identifier.
    pub id: Uuid,
    /// Its host name.
    pub name: String,
}

/// Frees the name when a registration ends, however it ends.
struct Running<'a>(&'a WorkerHandler, String);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut running = self
            .0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.1);
    }
}

impl WorkerHandler {
    /// Starts with its parts.
    pub fn new(parts: WorkerHandlerParts) -> Self {
        WorkerHandler {
            parts,
            running: Mutex::new(HashSet::new()),
        }
    }

    /// Registers a worker: all nine steps, or a refusal.
    pub async fn register(&self, joined: &Joined) -> Result<RegisteredWorker, Problem> {
        let fresh = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.insert(joined.name.clone())
        };
        if !fresh {
            return Err(Problem::new(
                axum::http::StatusCode::CONFLICT,
                format!("worker `{}` is being registered already", joined.name),
            ));
        }
        let _running = Running(self, joined.name.clone());
        let begun = Instant::now();
        let outcome = self.run(joined).await;
        self.parts.metrics.time("registration", begun.elapsed());
        match &outcome {
            Ok(worker) => {
                self.parts.metrics.count("registrations", "registered");
                tracing::info!(worker = joined.name, id = %worker.id, "registered");
            }
            Err(problem) => {
                let effect = Effect::WorkerRefused.to_string();
                self.parts.metrics.count("registrations", &effect);
                tracing::warn!(worker = joined.name, reason = %problem, "registration refused");
            }
        }
        outcome
    }

    async fn run(&self, joined: &Joined) -> Result<RegisteredWorker, Problem> {
        let limit = Duration::from_millis(u64::try_from(STEP_MILLIS).unwrap_or(0));
        let client = Client::new(self.parts.agents.clone(), &joined.address, &joined.name)
            .with_timeout(limit);
        let terms = Terms {
            bank: self.parts.bank,
            verifier_key: self.parts.verifier_key.clone(),
        };
        let clock = &self.parts.clock;
        let (mut registration, mut action) = Registration::begin(&joined.name, terms, clock.now());
        let mut endorsement = None;
        let mut worker = None;
        let mut before = None;
        loop {
            let event = match action {
                Action::AskIdentity => answer(client.get(IDENTITY).await, Event::Identity),
                Action::CheckEndorsement => {
                    let judged = match &endorsement {
                        Some(endorsement) => {
                            self.parts.registrar.check_endorsement(endorsement).await
                        }
                        None => Err(Problem::internal("no endorsement key was shown")),
                    };
                    Event::Endorsement(judged.map_err(|problem| problem.detail))
                }
                Action::SendChallenge(challenge) => {
                    let proof = client.ask(Method::POST, CHALLENGE, &*challenge).await;
                    answer(proof, Event::Proof)
                }
                Action::CheckBoot { os, aggregate } => {
                    let judged = match self.parts.references.whitelist().await {
                        Ok(list) => {
                            check_boot(&os, &aggregate, &list).map_err(|error| error.to_string())
                        }
                        Err(problem) => Err(problem.detail),
                    };
                    Event::Boot(judged)
                }
                Action::Store(proven) => {
                    before = self.known(&joined.name).await?;
                    let stored = self.store(&proven, &joined.address).await;
                    worker = Some(proven.identity.worker);
                    Event::Stored(stored.map_err(|problem| problem.detail))
                }
                Action::SendAcknowledgement(message) => {
                    let body = serde_json::to_vec(&*message).unwrap_or_default();
                    let headers = [("content-type", "application/json")];
                    match client.send(Method::POST, ACKNOWLEDGE, &headers, body).await {
                        Ok(_) => Event::Acknowledged,
                        Err(error) => Event::AgentFailed(error.to_string()),
                    }
                }
                Action::Wait => Event::Tick,
                Action::Done => {
                    let id = worker.ok_or_else(|| Problem::internal("no worker was stored"))?;
                    self.parts
                        .verifier
                        .admit(id, &joined.name, &joined.address)
                        .await?;
                    return Ok(RegisteredWorker {
                        id,
                        name: joined.name.clone(),
                    });
                }
                Action::Refuse { error, stored } => {
                    if stored {
                        self.take_back(&joined.name, before.as_ref()).await?;
                    }
                    return Err(error.into());
                }
            };
            if let Event::Identity(identity) = &event {
                endorsement = Some(identity.endorsement.clone());
            }
            action = registration.handle(event, clock.now(), &mut UnwrapErr(SysRng));
        }
    }

    /// The worker as it is registered now, if it is.
    async fn known(&self, name: &str) -> Result<Option<WorkerRecord>, Problem> {
        match self.parts.registrar.worker(name).await {
            Ok(record) => Ok(Some(record)),
            Err(problem) if problem.status == axum::http::StatusCode::NOT_FOUND => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Undoes step 8: a registration that was not finished never was, and takes nothing away from one
    /// that was.
    async fn take_back(&self, name: &str, before: Option<&WorkerRecord>) -> Result<(), Problem> {
        match before {
            Some(record) => self.parts.registrar.store_worker(record).await,
            None => self.parts.registrar.remove_worker(name).await,
        }
    }

    /// The names of all registered workers.
    pub async fn registered(&self) -> Result<Vec<String>, Problem> {
        self.parts.registrar.workers().await
    }

    /// Step 8: the registrar knows the worker, and its certificate is bound to its attestation key.
    async fn store(&self, proven: &ProvenWorker, address: &str) -> Result<String, Problem> {
        let identity = &proven.identity;
        let certificate = self.parts.authority.issue_agent(
            &identity.certificate_request,
            &identity.name,
            identity.worker,
            &identity.ak_name,
            self.parts.clock.now(),
        )?;
        self.parts
            .registrar
            .store_worker(&WorkerRecord {
                id: identity.worker,
                name: identity.name.clone(),
                os: identity.os.clone(),
                address: address.to_owned(),
                ak_public: identity.ak_public.clone(),
                ek_public: identity.endorsement.public.clone(),
                ek_certificate: identity.endorsement.certificate.clone(),
                tls_key: request_key(&identity.certificate_request)?,
            })
            .await?;
        Ok(certificate)
    }

    /// Removes a worker that left the cluster.
    pub async fn remove(&self, name: &str) -> Result<(), Problem> {
        self.parts.registrar.remove_worker(name).await?;
        self.parts.verifier.remove(name).await
    }

    /// Gives a registered agent a new certificate for the same keys.
    pub async fn rotate(&self, name: &str) -> Result<(), Problem> {
        let record = self.parts.registrar.worker(name).await?;
        let ak = Public::parse(&record.ak_public).map_err(Problem::internal)?;
        let client =
            Client::new(self.parts.agents.clone(), &record.address, name).bound_to(ak.name());
        let identity: Identity = client.get(IDENTITY).await?;
        let same = identity.worker == record.id
            && identity.ak_public == record.ak_public
            && request_key(&identity.certificate_request)? == record.tls_key;
        if !same {
            return Err(Problem::forbidden(format!(
                "worker `{name}` asks for a certificate with other keys than it registered"
            )));
        }
        let certificate = self.parts.authority.issue_agent(
            &identity.certificate_request,
            name,
            record.id,
            &ak.name(),
            self.parts.clock.now(),
        )?;
        let body = serde_json::json!({ "certificate": certificate });
        let body = body.to_string().into_bytes();
        let headers = [("content-type", "application/json")];
        client
            .send(Method::POST, CERTIFICATE, &headers, body)
            .await?;
        tracing::info!(worker = name, "certificate rotated");
        Ok(())
    }
}

fn answer<T>(answer: Result<T, ClientError>, event: impl FnOnce(Box<T>) -> Event) -> Event {
    match answer {
        Ok(message) => event(Box::new(message)),
        Err(error) => Event::AgentFailed(error.to_string()),
    }
}
