//! The worker handler: drives registrations, rotates certificates.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::access::{References, Registrar, VerifierAccess};
use super::agents::GateAgents;
use super::metrics::Metrics;
use super::problem::Problem;
use super::result::{Asked, RefusedRegistration};
use crate::clock::{Clock, Timestamp};
use crate::net::Authority;
use crate::net::pki::request_key;
use crate::policy::PolicySet;
use crate::protocol::drive::{Registering, RegistrationStep, Removing, complete};
use crate::protocol::port::{
    Admissions as _, AgentPlace, Agents as _, Fault, Issuer, Registrations as _,
};
use crate::protocol::registration::{ProvenWorker, Terms};
use crate::protocol::{Effect, Identity, Registration, Removal, WorkerRecord};
use crate::tpm::{Endorsement, Public};
use crate::verifier::Trust;

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
    pub agents: GateAgents,
    /// What is insisted on.
    pub policy: PolicySet,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where it counts.
    pub metrics: Arc<Metrics>,
}

/// The worker handler.
pub struct WorkerHandler {
    parts: WorkerHandlerParts,
    /// The workers that something is done about.
    running: Mutex<HashSet<String>>,
    tasks: Mutex<JoinSet<()>>,
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
struct Running(Arc<WorkerHandler>, String);

impl Drop for Running {
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
            running: Mutex::default(),
            tasks: Mutex::default(),
        }
    }

    /// Registers a worker, or refuses it; whole or not at all, whether or not whoever asked waits for it.
    ///
    /// A refusal is signed for whoever asked.
    pub async fn register(
        self: &Arc<Self>,
        joined: &Joined,
        asked: &Asked,
    ) -> Result<RegisteredWorker, Problem> {
        asked.check()?;
        let (this, joined, asked) = (self.clone(), joined.clone(), asked.clone());
        let name = joined.name.clone();
        self.apart(&name, async move {
            this.registered_or_refused(&joined, &asked).await
        })
        .await
    }

    /// Does something about a worker, one thing at a time, to its end even if whoever asked goes away.
    async fn apart<T: Send + 'static>(
        self: &Arc<Self>,
        name: &str,
        work: impl Future<Output = Result<T, Problem>> + Send + 'static,
    ) -> Result<T, Problem> {
        let lock = |this: &Self| -> bool {
            let mut running = this.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.insert(name.to_owned())
        };
        if !lock(self) {
            return Err(Problem::new(
                axum::http::StatusCode::CONFLICT,
                format!("worker `{name}` is being registered or removed already"),
            ));
        }
        let running = Running(self.clone(), name.to_owned());
        let (done, outcome) = oneshot::channel();
        {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            while tasks.try_join_next().is_some() {}
            tasks.spawn(async move {
                let outcome = work.await;
                drop(running);
                // Whoever asked may be gone.
                let _ = done.send(outcome);
            });
        }
        let ended = |_| {
            Problem::new(
                axum::http::StatusCode::SERVICE_UNAVAILABLE,
                "the gate stops",
            )
        };
        outcome.await.map_err(ended)?
    }

    /// Ends what is under way where it stands, as a kill would.
    pub fn abort(&self) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.abort_all();
    }

    async fn registered_or_refused(
        &self,
        joined: &Joined,
        asked: &Asked,
    ) -> Result<RegisteredWorker, Problem> {
        let begun = Instant::now();
        let mut outcome = self.run(joined).await;
        self.parts.metrics.time("registration", begun.elapsed());
        match &mut outcome {
            Ok(worker) => {
                self.parts.metrics.count("registrations", "registered");
                tracing::info!(worker = joined.name, id = %worker.id, "registered");
            }
            Err(problem) => {
                let effect = Effect::WorkerRefused.to_string();
                self.parts.metrics.count("registrations", &effect);
                tracing::warn!(worker = joined.name, reason = %problem, "registration refused");
                problem.result = self.signed(joined, problem, asked).await;
            }
        }
        outcome
    }

    /// A refusal that cannot be signed is a refusal all the same.
    async fn signed(&self, joined: &Joined, problem: &Problem, asked: &Asked) -> Option<String> {
        let refused = RefusedRegistration {
            name: joined.name.clone(),
            code: problem.code?,
            reason: problem.detail.clone(),
        };
        match self.parts.verifier.refused(&refused, asked).await {
            Ok(token) => Some(token),
            Err(fault) => {
                tracing::warn!(worker = joined.name, %fault, "the refusal was not signed");
                None
            }
        }
    }

    async fn run(&self, joined: &Joined) -> Result<RegisteredWorker, Problem> {
        // What somebody began and did not end comes first.
        self.settle(Some(&joined.name)).await?;
        let policy = self.parts.policy.of(&joined.name);
        let terms = Terms {
            bank: policy.bank(),
            boot_by_events: policy.boot.is_some(),
            templates: policy.known_templates(),
            verifier_key: self.parts.verifier.key().await?,
            keys: self.parts.policy.key_terms(&joined.name),
        };
        let now = self.parts.clock.now();
        let mut registration = Registration::begin(&joined.name, &joined.address, terms, now);
        let driver = Registering {
            agents: &self.parts.agents,
            registrar: &self.parts.registrar,
            verifier: &self.parts.verifier,
            values: &self.parts.references,
            issuer: self,
            clock: &*self.parts.clock,
        };
        match driver.run(&mut registration).await {
            RegistrationStep::Over(Ok(id)) => Ok(RegisteredWorker {
                id,
                name: joined.name.clone(),
            }),
            RegistrationStep::Over(Err(error)) => Err(error.into()),
            // It is noted, and completed as soon as that is possible.
            RegistrationStep::Later(fault) => Err(fault.into()),
            RegistrationStep::More => Err(Problem::internal("the registration did not end")),
        }
    }

    /// Completes the registrations and removals that somebody began and did not end: all, or those of a worker.
    pub async fn settle(&self, name: Option<&str>) -> Result<(), Problem> {
        let (registrar, verifier) = (&self.parts.registrar, &self.parts.verifier);
        let outstanding = registrar.outstanding().await?;
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        // What somebody is just doing needs no help.
        let wanted = |found: &str| match name {
            Some(name) => name == found,
            None => !running.contains(found),
        };
        let mut failed = None;
        for removed in outstanding.removals.iter().filter(|found| wanted(found)) {
            let removing = Removing {
                registrar,
                verifier,
            };
            match removing.run(&mut Removal::noted(removed)).await {
                Ok(()) => tracing::info!(worker = removed, "a removal was completed"),
                Err(fault) => failed = Some(fault),
            }
        }
        let registrations = outstanding.registrations.iter();
        for admission in registrations.filter(|found| wanted(&found.name)) {
            match complete(registrar, verifier, admission).await {
                Ok(()) => {
                    tracing::info!(worker = admission.name, "a registration was completed");
                }
                Err(fault) => failed = Some(fault),
            }
        }
        failed.map_or(Ok(()), |fault| Err(fault.into()))
    }

    /// The names of all registered workers.
    pub async fn registered(&self) -> Result<Vec<String>, Problem> {
        self.parts.registrar.workers().await
    }

    /// Removes a worker that left the cluster, from registrar and verifier, however much of it is left.
    pub async fn remove(self: &Arc<Self>, name: &str) -> Result<(), Problem> {
        let (this, worker) = (self.clone(), name.to_owned());
        self.apart(name, async move {
            let removing = Removing {
                registrar: &this.parts.registrar,
                verifier: &this.parts.verifier,
            };
            let mut removal = Removal::begin(&worker);
            Ok(removing.run(&mut removal).await?)
        })
        .await
    }

    /// Gives a registered agent a new certificate for the same keys. One whose certificate ran out, as it was off for
    /// long, proves itself anew.
    pub async fn rotate(self: &Arc<Self>, name: &str) -> Result<(), Problem> {
        let record = self.parts.registrar.worker(name).await?;
        let ak = Public::parse(&record.ak_public).map_err(Problem::internal)?;
        let (agents, key) = (&self.parts.agents, ak.name());
        let agent = AgentPlace {
            name,
            address: &record.address,
        };
        let identity = match agents.bound_identity(agent, &key).await {
            Ok(identity) => identity,
            Err(fault) => return self.readmit(&record, fault).await,
        };
        same_keys(&identity, &record)?;
        let certificate = self.parts.authority.issue_agent(
            &identity.certificate_request,
            name,
            record.id,
            &ak.name(),
            self.parts.clock.now(),
        )?;
        agents.certificate(agent, &key, &certificate).await?;
        tracing::info!(worker = name, "certificate rotated");
        Ok(())
    }

    /// Registers a worker anew that cannot show the certificate of its registration, if it has the keys of its
    /// registration; `fault` is why it could not be asked with that certificate.
    ///
    /// All proofs are made again, and what is known of it is void: its log is read from the first entry on. One that is
    /// untrusted comes back by the operator alone.
    async fn readmit(self: &Arc<Self>, record: &WorkerRecord, fault: Fault) -> Result<(), Problem> {
        let agent = AgentPlace {
            name: &record.name,
            address: &record.address,
        };
        let Ok(identity) = self.parts.agents.identity(agent).await else {
            return Err(fault.into());
        };
        same_keys(&identity, record)?;
        if self.parts.verifier.trust(&record.name).await? == Trust::Untrusted {
            return Err(Problem::forbidden(format!(
                "the certificate of worker `{0}` ran out, and it is untrusted: `locus gate reset {0}` once it is \
                 repaired",
                record.name
            )));
        }
        let joined = Joined {
            name: record.name.clone(),
            address: record.address.clone(),
        };
        self.register(&joined, &Asked::default()).await?;
        tracing::info!(
            worker = record.name,
            "readmitted: its certificate had run out"
        );
        Ok(())
    }
}

fn same_keys(identity: &Identity, record: &WorkerRecord) -> Result<(), Problem> {
    let same = identity.worker == record.id
        && identity.ak_public == record.ak_public
        && request_key(&identity.certificate_request)? == record.tls_key;
    if same {
        return Ok(());
    }
    Err(Problem::forbidden(format!(
        "worker `{}` asks for a certificate with other keys than it registered",
        record.name
    )))
}

/// Step 8: a certificate that is bound to the worker's attestation key.
impl Issuer for WorkerHandler {
    fn issue(
        &self,
        worker: &ProvenWorker,
        address: &str,
        now: Timestamp,
    ) -> Result<(String, WorkerRecord), Fault> {
        let identity = &worker.identity;
        let problem = |error| Fault::from(Problem::from(error));
        let certificate = self
            .parts
            .authority
            .issue_agent(
                &identity.certificate_request,
                &identity.name,
                identity.worker,
                &identity.ak_name,
                now,
            )
            .map_err(problem)?;
        let record = WorkerRecord {
            id: identity.worker,
            name: identity.name.clone(),
            os: identity.os.clone(),
            address: address.to_owned(),
            ak_public: identity.ak_public.clone(),
            ek_public: identity.endorsement.public.clone(),
            ek_certificate: identity.endorsement.certificate.clone(),
            ek_others: identity.others.iter().map(without_chain).collect(),
            ek_listed: worker.listed,
            tls_key: request_key(&identity.certificate_request).map_err(problem)?,
            templates: Some(identity.templates.clone()),
        };
        Ok((certificate, record))
    }
}

/// What is kept of an endorsement key: the chain is the manufacturer's business.
fn without_chain(endorsement: &Endorsement) -> Endorsement {
    Endorsement {
        chain: Vec::new(),
        ..endorsement.clone()
    }
}
