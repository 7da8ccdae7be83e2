//! The verifier at work: asks agents, appraises, stores, and issues results.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::Method;
use rustls::ClientConfig;
use tokio::sync::Mutex as AsyncMutex;
use uuid::Uuid;

use super::access::{References, Registrar};
use super::metrics::Metrics;
use super::problem::Problem;
use super::result::result_of;
use super::standing::WorkerReport;
use crate::agent::server::EVIDENCE;
use crate::clock::Clock;
use crate::evidence::jws::TokenKey;
use crate::evidence::{Nonce, NonceStore};
use crate::ima::{Cursor, PodUid};
use crate::net::{Client, ClientError};
use crate::protocol::attestation::{Action, EVIDENCE_MILLIS, Event};
use crate::protocol::{Attestation, AttestationError, Effect, EvidenceRequest};
use crate::reference::Whitelist;
use crate::tpm::Public;
use crate::verifier::{
    Appraisal, Node, Outcome, Pod, PodStatus, PodTerms, Policy, Trust, VerifierStore, Worker,
    WorkerStatus, appraise_pod, appraise_worker,
};

/// How often a busy agent is asked again.
const BUSY_ATTEMPTS: u32 = 4;
/// How long to wait before asking a busy agent again; doubled each time.
const BUSY_WAIT: Duration = Duration::from_millis(100);
/// How many requests may be open at once.
const OPEN_REQUESTS: usize = 10_000;

/// What the verifier is made of.
pub struct VerifierParts {
    /// The registrar.
    pub registrar: Registrar,
    /// The reference values.
    pub references: References,
    /// How to reach agents: with the verifier's own certificate.
    pub agents: Arc<ClientConfig>,
    /// The key that signs results.
    pub key: TokenKey,
    /// What it insists on.
    pub policy: Policy,
    /// For how many seconds a result counts.
    pub lifetime: i64,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where it counts.
    pub metrics: Arc<Metrics>,
}

/// The verifier.
pub struct Verifier {
    parts: VerifierParts,
    store: Mutex<VerifierStore>,
    nonces: Mutex<NonceStore<Uuid>>,
    /// One worker is attested by one request at a time: its cursor is shared.
    nodes: Mutex<HashMap<Uuid, Arc<AsyncMutex<Option<Node>>>>>,
}

/// Everything that one attestation looks at.
struct Case {
    worker: Worker,
    request: EvidenceRequest,
    whitelist: Arc<Whitelist>,
    /// The pod that was asked for; none for the worker with all its pods.
    asked: Option<Pod>,
    pods: Vec<Pod>,
}

/// The conclusion about each pod; what an accepted one was judged by.
type Verdicts = Vec<(Pod, Result<PodTerms, AttestationError>)>;

impl Verifier {
    /// Starts with its durable state and its parts.
    pub fn new(store: VerifierStore, parts: VerifierParts) -> Self {
        Verifier {
            parts,
            store: Mutex::new(store),
            nonces: Mutex::new(NonceStore::new(OPEN_REQUESTS)),
            nodes: Mutex::new(HashMap::new()),
        }
    }

    /// What it is made of.
    pub(super) fn parts(&self) -> &VerifierParts {
        &self.parts
    }

    /// Its durable state.
    pub fn store(&self) -> MutexGuard<'_, VerifierStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a worker that was just registered: what was known of it before is void.
    pub fn admit(&self, id: Uuid, name: &str, address: &str) -> Result<(), Problem> {
        self.store()
            .admit(id, name, address, self.parts.clock.now())?;
        self.forget_node(id);
        Ok(())
    }

    /// Forgets a worker.
    pub fn remove(&self, name: &str) -> Result<(), Problem> {
        let status = self.store().worker(name)?;
        self.store().remove_worker(name)?;
        self.forget_node(status.id);
        Ok(())
    }

    /// Declares a pod.
    pub fn declare(&self, pod: &Pod) -> Result<PodStatus, Problem> {
        self.store().declare_pod(pod, self.parts.clock.now())?;
        self.pod(pod.uid)
    }

    /// Forgets a pod that is gone, and what it was measured to run.
    pub fn remove_pod(&self, uid: PodUid) -> Result<(), Problem> {
        let mut store = self.store();
        let worker = store.pod(uid)?.pod.worker;
        store.remove_pod(uid)?;
        if let Ok(status) = store.worker(&worker) {
            self.forget_node(status.id);
        }
        Ok(())
    }

    fn forget_node(&self, id: Uuid) {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.remove(&id);
    }

    fn node(&self, id: Uuid) -> Arc<AsyncMutex<Option<Node>>> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.entry(id).or_default().clone()
    }

    /// Attests one pod, by its identifier.
    pub async fn attest_pod(&self, uid: PodUid) -> Result<PodStatus, Problem> {
        let pod = self.store().pod(uid)?.pod;
        let worker = pod.worker.clone();
        self.attest(&worker, Some(pod)).await?;
        self.pod(uid)
    }

    /// Attests a worker with one quote, and judges all its pods by it.
    pub async fn attest_worker(&self, name: &str) -> Result<WorkerReport, Problem> {
        self.attest(name, None).await?;
        self.report(name)
    }

    async fn attest(&self, name: &str, asked: Option<Pod>) -> Result<(), Problem> {
        let begun = Instant::now();
        let status = self.store().worker(name)?;
        let outcome = self.run(&status, asked.clone()).await;
        let effect = match &outcome {
            Ok(()) => Effect::Trusted,
            Err(error) => error.effect(),
        };
        self.parts
            .metrics
            .count("attestations", &effect.to_string());
        self.parts.metrics.time("attestation", begun.elapsed());
        let pod = asked.as_ref().map(Pod::label);
        let error = match outcome {
            Ok(()) => {
                tracing::info!(worker = name, pod, effect = %effect, "attested");
                return Ok(());
            }
            Err(error) => error,
        };
        tracing::warn!(worker = name, pod, effect = %effect, reason = %error, "attestation failed");
        self.record_failure(&status, asked.as_ref(), &error)?;
        Err(error.into())
    }

    fn record_failure(
        &self,
        status: &WorkerStatus,
        asked: Option<&Pod>,
        error: &AttestationError,
    ) -> Result<(), Problem> {
        let now = self.parts.clock.now();
        match (error.effect(), asked) {
            (Effect::WorkerUntrusted, _) if status.trust != Trust::Untrusted => {
                self.store()
                    .distrust_worker(status.id, &error.to_string(), now)?;
            }
            (Effect::PodUntrusted, Some(pod)) => {
                let outcome = Outcome {
                    uid: pod.uid,
                    trust: Trust::Untrusted,
                    reason: error.to_string(),
                    token: String::new(),
                };
                self.store().conclude_pod(&outcome, now)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Drives one attestation from the request to the commit.
    async fn run(&self, status: &WorkerStatus, asked: Option<Pod>) -> Result<(), AttestationError> {
        if status.trust == Trust::Untrusted {
            return Err(AttestationError::WorkerNotTrusted {
                worker: status.name.clone(),
                reason: status.reason.clone(),
            });
        }
        let worker = self.worker(status).await?;
        let whitelist = self
            .parts
            .references
            .whitelist()
            .await
            .map_err(|problem| AttestationError::Store(problem.detail))?;
        let held = self.node(status.id);
        let mut held = held.lock().await;
        let node = match held.take() {
            Some(node) => node,
            None => self.store().node(status.id).map_err(store_error)?,
        };
        let nonce = self.issue(status.id)?;
        let bank = self.parts.policy.bank;
        let request = node.request(worker.id, nonce, asked.as_ref(), bank);
        let statuses = self.store().pods(Some(&status.name)).map_err(store_error)?;
        let pods = statuses.into_iter().map(|status| status.pod).collect();
        let case = Arc::new(Case {
            worker,
            request,
            whitelist,
            asked,
            pods,
        });
        let (node, outcome) = self.drive(status, node, case).await;
        // Only what was committed is kept; after a failure the state is read anew from the store.
        *held = node;
        outcome
    }

    async fn drive(
        &self,
        status: &WorkerStatus,
        node: Node,
        case: Arc<Case>,
    ) -> (Option<Node>, Result<(), AttestationError>) {
        let clock = &self.parts.clock;
        let (mut attestation, mut action) = Attestation::begin(case.request.clone(), clock.now());
        let mut node = Some(node);
        let mut appraised: Option<(Appraisal, Verdicts)> = None;
        loop {
            let event = match action {
                Action::Ask(request) => match self.ask(status, &case.worker, &request).await {
                    Ok(bytes) => Event::Evidence(bytes),
                    Err(error) => Event::AgentFailed(error.to_string()),
                },
                Action::Appraise(bytes) => {
                    let (back, judged) = self.appraise(node.take(), case.clone(), bytes).await;
                    node = back;
                    match judged {
                        Ok(done) => {
                            appraised = Some(done);
                            Event::Appraised(Ok(()))
                        }
                        Err(error) => Event::Appraised(Err(error)),
                    }
                }
                Action::Commit => {
                    let committed = match &appraised {
                        Some((appraisal, verdicts)) => {
                            let from = node.as_ref().and_then(|node| node.cursor.as_ref());
                            let nonce = &case.request.nonce;
                            self.commit(status, from, nonce, appraisal, verdicts)
                        }
                        None => Err("nothing was appraised".to_owned()),
                    };
                    Event::Committed(committed)
                }
                Action::Wait => Event::Tick,
                Action::Conclude(outcome) => {
                    let node = match (&outcome, node, appraised) {
                        (Ok(()), Some(mut node), Some((appraisal, verdicts))) => {
                            let verified = appraisal.verified;
                            self.parts.metrics.add("log_entries", "verified", verified);
                            let accepted = verdicts.into_iter().filter_map(|(_, done)| done.ok());
                            appraisal.apply(&mut node, accepted);
                            Some(node)
                        }
                        // Unchanged, as nothing was committed.
                        (Err(_), node, _) => node,
                        _ => None,
                    };
                    return (node, outcome);
                }
            };
            action = attestation.handle(event, clock.now());
        }
    }

    /// Appraisal hashes and verifies: apart from the connections.
    async fn appraise(
        &self,
        node: Option<Node>,
        case: Arc<Case>,
        bytes: Vec<u8>,
    ) -> (
        Option<Node>,
        Result<(Appraisal, Verdicts), AttestationError>,
    ) {
        let now = self.parts.clock.now();
        let taken = {
            let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
            nonces.take(&case.request.nonce, &case.worker.id, now)
        };
        if let Err(error) = taken {
            return (node, Err(error.into()));
        }
        let policy = self.parts.policy.clone();
        let work = tokio::task::spawn_blocking(move || {
            let node = node.unwrap_or_default();
            let judged = judge(&case, &node, &bytes, &policy);
            (node, judged)
        });
        match work.await {
            Ok((node, judged)) => (Some(node), judged),
            Err(error) => (None, Err(AttestationError::Store(error.to_string()))),
        }
    }

    fn commit(
        &self,
        status: &WorkerStatus,
        from: Option<&Cursor>,
        nonce: &Nonce,
        appraisal: &Appraisal,
        verdicts: &Verdicts,
    ) -> Result<(), String> {
        let now = self.parts.clock.now();
        let mut outcomes = Vec::new();
        for (pod, verdict) in verdicts {
            let trust = match verdict {
                Ok(_) => Trust::Trusted,
                Err(error) if error.effect() == Effect::PodUntrusted => Trust::Untrusted,
                Err(_) => Trust::Unknown,
            };
            let lifetime = self.parts.lifetime;
            let token = result_of(status.id, *nonce, pod, verdict, now, lifetime)
                .sign(&self.parts.key)
                .map_err(|error| error.to_string())?;
            outcomes.push(Outcome {
                uid: pod.uid,
                trust,
                reason: match verdict {
                    Ok(_) => "attested".to_owned(),
                    Err(error) => error.to_string(),
                },
                token,
            });
        }
        self.store()
            .commit(status.id, from, appraisal, &outcomes, now)
            .map_err(|error| error.to_string())
    }

    fn issue(&self, worker: Uuid) -> Result<Nonce, AttestationError> {
        let now = self.parts.clock.now();
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(nonces.issue(worker, now, EVIDENCE_MILLIS)?)
    }

    async fn worker(&self, status: &WorkerStatus) -> Result<Worker, AttestationError> {
        let record = self
            .parts
            .registrar
            .worker(&status.name)
            .await
            .map_err(|problem| AttestationError::Store(problem.detail))?;
        let ak = Public::parse(&record.ak_public)
            .map_err(|error| AttestationError::Store(error.to_string()))?;
        Ok(Worker {
            id: record.id,
            name: record.name,
            os: record.os,
            ak,
        })
    }

    /// Asks the agent; one that is busy is asked again a few times, while its answer still counts.
    async fn ask(
        &self,
        status: &WorkerStatus,
        worker: &Worker,
        request: &EvidenceRequest,
    ) -> Result<Vec<u8>, ClientError> {
        let body = serde_json::to_vec(request).unwrap_or_default();
        let limit = Duration::from_millis(EVIDENCE_MILLIS.unsigned_abs());
        let client = Client::new(self.parts.agents.clone(), &status.address, &status.name)
            .with_timeout(limit)
            .bound_to(worker.ak.name());
        let repeated = async {
            let (mut attempt, mut wait) = (1, BUSY_WAIT);
            loop {
                let headers = [("content-type", "application/json")];
                match client
                    .send(Method::POST, EVIDENCE, &headers, body.clone())
                    .await
                {
                    Err(ClientError::Refused { status, .. })
                        if matches!(status, 429 | 503) && attempt < BUSY_ATTEMPTS =>
                    {
                        tokio::time::sleep(wait).await;
                        wait = wait.saturating_mul(2);
                        attempt += 1;
                    }
                    other => return other.map(|bytes| bytes.to_vec()),
                }
            }
        };
        tokio::time::timeout(limit, repeated)
            .await
            .unwrap_or_else(|_| {
                Err(ClientError::TimedOut {
                    address: status.address.clone(),
                    millis: limit.as_millis(),
                })
            })
    }
}

fn store_error(error: crate::verifier::StoreError) -> AttestationError {
    AttestationError::Store(error.to_string())
}

/// The whole judgement, without input or output.
fn judge(
    case: &Case,
    node: &Node,
    bytes: &[u8],
    policy: &Policy,
) -> Result<(Appraisal, Verdicts), AttestationError> {
    let list = &case.whitelist;
    let appraisal = appraise_worker(&case.worker, node, &case.request, bytes, list, policy)?;
    let verdict = |pod: &Pod| appraise_pod(pod, &case.pods, node, &appraisal, list);
    let verdicts = match &case.asked {
        // The one pod that was asked for decides whether anything is committed at all.
        Some(pod) => vec![(pod.clone(), Ok(verdict(pod)?))],
        None => {
            let judged = case.pods.iter().map(|pod| (pod.clone(), verdict(pod)));
            judged.collect()
        }
    };
    Ok((appraisal, verdicts))
}
