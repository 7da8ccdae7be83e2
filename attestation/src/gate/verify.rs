//! The verifier at work: attests workers and pods, and keeps what it concluded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use axum::http::StatusCode;
use tokio::sync::watch;

use super::access::{References, Registrar};
use super::agents::GateAgents;
use super::flights::Flights;
use super::metrics::Metrics;
use super::nodes::Nodes;
use super::problem::Problem;
use super::result::Asked;
use super::sharing::Sharing;
use super::standing::WorkerReport;
use super::trust::UnderLease;
use crate::clock::Clock;
use crate::evidence::jws::TokenKey;
use crate::ima::PodUid;
use crate::policy::PolicySet;
use crate::protocol::drive::{Attesting, PodVerdicts};
use crate::protocol::{Admission, AttestationError, Effect};
use crate::verifier::{AuditStore, Pod, PodStatus, StoreError, Trust, VerifierStore};

/// What the verifier is made of.
pub struct VerifierParts {
    /// The registrar.
    pub registrar: Registrar,
    /// The reference values.
    pub references: References,
    /// How to reach agents: with the verifier's own certificate.
    pub agents: GateAgents,
    /// The digest of the public key of that certificate: the only one that agents answer.
    pub agents_key: String,
    /// The key that signs results.
    pub key: TokenKey,
    /// The keys that it had, whose results may still count.
    pub retired: Vec<p256::ecdsa::VerifyingKey>,
    /// What it insists on.
    pub policy: Arc<PolicySet>,
    /// For how many seconds a result counts.
    pub lifetime: i64,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where it counts.
    pub metrics: Arc<Metrics>,
    /// How much of what is known of workers is kept in memory, in bytes.
    pub kept: usize,
    /// Where evidence is kept for audit, if it is.
    pub audit: Option<Arc<Mutex<AuditStore>>>,
    /// What it has to do with other verifiers, if they have the same store.
    pub sharing: Option<Sharing>,
}

type Attested = Result<Arc<PodVerdicts>, AttestationError>;

/// The verifier.
pub struct Verifier {
    parts: VerifierParts,
    store: Mutex<VerifierStore>,
    /// How far the logs of workers have been verified, and what was accepted.
    nodes: Mutex<Nodes>,
    /// One worker is attested once at a time: its cursor is shared.
    flights: Flights<String, Option<PodUid>, Attested>,
    /// The version of the last change, for whoever waits for one.
    version: watch::Sender<u64>,
    this: Weak<Verifier>,
}

impl Verifier {
    /// Starts with its durable state and its parts.
    pub fn new(store: VerifierStore, parts: VerifierParts) -> Result<Arc<Self>, StoreError> {
        let version = watch::Sender::new(store.version()?);
        Ok(Arc::new_cyclic(|this| Verifier {
            nodes: Mutex::new(Nodes::up_to(parts.kept)),
            parts,
            store: Mutex::new(store),
            flights: Flights::default(),
            version,
            this: this.clone(),
        }))
    }

    /// What it is made of.
    pub(super) fn parts(&self) -> &VerifierParts {
        &self.parts
    }

    /// What it has to do with other verifiers, if they have the same store.
    pub(crate) fn sharing(&self) -> Option<&Sharing> {
        self.parts.sharing.as_ref()
    }

    /// Its durable state, to be read.
    pub fn store(&self) -> MutexGuard<'_, VerifierStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes its durable state, and with it what is kept in memory of that; whoever waits for changes hears of it.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut VerifierStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut store = self.store();
        let changed = change(&mut store)?;
        self.version.send_replace(store.version()?);
        Ok(changed)
    }

    /// What is known of workers in memory; looked at and changed together with the durable state, which is locked first.
    pub(super) fn nodes(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where versions of changes are announced.
    pub(crate) fn versions(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }

    /// The digest of the public key that it shows to agents.
    pub fn agents_key(&self) -> String {
        self.parts.agents_key.clone()
    }

    /// Takes in a worker that was just registered: what was known of it before is void.
    pub fn admit(&self, new: &Admission) -> Result<(), Problem> {
        let now = self.parts.clock.now();
        self.change(|store| {
            store.admit(new, now)?;
            self.nodes().remove(new.id);
            Ok(())
        })?;
        Ok(())
    }

    /// Forgets a worker.
    pub fn remove(&self, name: &str) -> Result<(), Problem> {
        self.change(|store| {
            let status = store.worker(name)?;
            store.remove_worker(name)?;
            self.nodes().remove(status.id);
            Ok(())
        })?;
        Ok(())
    }

    /// Declares a pod.
    pub fn declare(&self, pod: &Pod) -> Result<PodStatus, Problem> {
        let now = self.parts.clock.now();
        self.change(|store| {
            let anew = store.declare_pod(pod, now)?;
            if anew && let Ok(worker) = store.worker(&pod.worker) {
                self.nodes().remove(worker.id);
            }
            Ok(())
        })?;
        self.pod(pod.uid)
    }

    /// Forgets a pod that is gone, and what it was measured to run.
    pub fn remove_pod(&self, uid: PodUid) -> Result<(), Problem> {
        let now = self.parts.clock.now();
        self.change(|store| {
            let worker = store.pod(uid)?.pod.worker;
            store.remove_pod(uid, now)?;
            if let Ok(worker) = store.worker(&worker) {
                self.nodes().remove(worker.id);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Attests one pod, by its identifier, and with it its worker.
    pub async fn attest_pod(&self, uid: PodUid, asked: &Asked) -> Result<PodStatus, Problem> {
        asked.check()?;
        let pod = self.store().pod(uid)?.pod;
        let worker = self.store().worker(&pod.worker)?.id;
        let refusal = |error| self.refusal(worker, Some(uid), error, asked);
        let attested = self.attest(&pod.worker, Some(uid)).await?;
        let verdicts = attested.map_err(refusal)?;
        match verdicts.get(&uid) {
            Some(Ok(())) => self.for_asker(self.pod(uid)?, asked),
            Some(Err(error)) => {
                let known = self.pod(uid)?;
                // What waits to be explained takes no trust away.
                if error.effect() == Effect::Pending && known.trust == Trust::Trusted {
                    return self.for_asker(known, asked);
                }
                Err(refusal(error.clone()))
            }
            None => {
                let pod = format!("pod `{}`", pod.label());
                Err(refusal(AttestationError::Changed(pod)))
            }
        }
    }

    /// Attests a worker with one quote, and judges all its pods by it.
    pub async fn attest_worker(&self, name: &str, asked: &Asked) -> Result<WorkerReport, Problem> {
        asked.check()?;
        let worker = self.store().worker(name)?.id;
        let attested = self.attest(name, None).await?;
        attested.map_err(|error| self.refusal(worker, None, error, asked))?;
        let mut report = self.report(name)?;
        report.token = self.worker_result(&report.worker, asked).await?;
        Ok(report)
    }

    /// Attests a worker together with whoever else asks for it.
    async fn attest(&self, name: &str, asked: Option<PodUid>) -> Result<Attested, Problem> {
        let ended = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the verifier is stopping");
        let this = self.this.upgrade().ok_or_else(ended)?;
        let worker = name.to_owned();
        let work = move |asked: Vec<Option<PodUid>>| async move { this.fly(&worker, &asked).await };
        let outcome = self.flights.join(name.to_owned(), asked, work).await;
        outcome.ok_or_else(ended)
    }

    async fn fly(&self, name: &str, asked: &[Option<PodUid>]) -> Attested {
        let begun = Instant::now();
        // The evidence names a pod if it is the only one that was asked for.
        let pod = match asked {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => *first,
            _ => None,
        };
        let outcome = self.run(name, pod).await;
        let failed = match (&outcome, pod) {
            (Ok(verdicts), Some(uid)) => verdicts.get(&uid).and_then(|done| done.as_ref().err()),
            (Ok(_), None) => None,
            (Err(error), _) => Some(error),
        };
        let effect = failed.map_or(Effect::Trusted, AttestationError::effect);
        let metrics = &self.parts.metrics;
        metrics.count("attestations", &effect.to_string());
        metrics.time("attestation", begun.elapsed());
        let pod = pod.map(|uid| uid.to_string());
        match failed {
            None => tracing::info!(worker = name, pod, effect = %effect, "attested"),
            Some(error) => {
                tracing::warn!(worker = name, pod, effect = %effect, reason = %error, "attestation failed");
            }
        }
        outcome
    }

    async fn run(&self, name: &str, pod: Option<PodUid>) -> Attested {
        let lease = self.lease(name).await?;
        let store = UnderLease {
            verifier: self,
            lease: lease.as_ref(),
        };
        let driver = Attesting {
            store: &store,
            agents: &self.parts.agents,
            values: &self.parts.references,
            registrar: &self.parts.registrar,
            clock: &*self.parts.clock,
        };
        let work = async {
            let mut attestation = driver.begin(name, pod).await?;
            Ok(Arc::new(driver.run(&mut attestation).await?))
        };
        let Some(lease) = &lease else {
            return work.await;
        };
        let outcome = tokio::select! {
            outcome = work => outcome,
            () = self.renew(lease) => Err(AttestationError::Changed(format!("who attests worker `{name}`"))),
        };
        self.give_back(lease);
        outcome
    }

    /// Ends what is under way where it stands, as a kill would.
    pub fn abort(&self) {
        self.flights.abort();
    }
}
