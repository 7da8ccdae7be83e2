//! Drives an attestation: asks the agent, judges what it shows, commits.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::Clock;
use crate::evidence::Nonce;
use crate::ima::PodUid;
use crate::policy::PolicySet;
use crate::protocol::attestation::{
    Action, Event, JUDGE_MILLIS, Judged, Shown, Subjects, Verdicts,
};
use crate::protocol::port::{
    AgentPlace, Agents, Fault, FaultKind, Registrations, TrustStore, Values,
};
use crate::protocol::{Attestation, AttestationError, Effect, EvidenceRequest, Received};
use crate::reference::Whitelist;
use crate::tpm::Public;
use crate::verifier::{Case, Trust, Worker, WorkerStatus, judge};

/// How often evidence is judged anew because reference values or policy changed meanwhile.
const REJUDGED: usize = 3;

/// The verdict on each pod of an attested worker.
pub type PodVerdicts = HashMap<PodUid, Result<(), AttestationError>>;

/// What an attestation needs.
pub struct Attesting<'a, S, A, V, R> {
    /// What is known, durably.
    pub store: &'a S,
    /// How agents are reached.
    pub agents: &'a A,
    /// The reference values.
    pub values: &'a V,
    /// The registrar.
    pub registrar: &'a R,
    /// The time.
    pub clock: &'a dyn Clock,
}

/// What came of a step.
#[derive(Debug)]
pub enum Step {
    /// There is more to do.
    More,
    /// It is over; how each pod was judged.
    Over(Result<PodVerdicts, AttestationError>),
}

impl<S: TrustStore, A: Agents, V: Values, R: Registrations> Attesting<'_, S, A, V, R> {
    /// Begins to attest a worker with all its pods; if one pod was asked for, the evidence names it.
    pub async fn begin(
        &self,
        name: &str,
        asked: Option<PodUid>,
    ) -> Result<Attestation, AttestationError> {
        let status = self.store.worker(name).await.map_err(store)?;
        refuse_untrusted(&status)?;
        let node = self.store.node(status.id).await.map_err(store)?;
        let pods = self.store.pods(name).await.map_err(store)?;
        let pod = pods.iter().find(|known| Some(known.pod.uid) == asked);
        let policies = self.store.policies().await.map_err(store)?;
        self.refuse_denied(&status, &policies).await?;
        let policy = policies.of(name);
        let pod = pod.map(|known| &known.pod);
        let request = EvidenceRequest {
            boot_log: policy.boot.is_some(),
            ..node.request(status.id, Nonce::random()?, pod, policy)
        };
        let subjects = Subjects {
            worker: status.name,
            generation: status.generation,
            from: node.cursor.clone(),
            pods: pods
                .iter()
                .map(|known| (known.pod.uid, known.generation))
                .collect(),
        };
        Ok(Attestation::begin(subjects, request, self.clock.now()))
    }

    /// A worker with a key or certificate that the policy denies is untrusted from now on.
    async fn refuse_denied(
        &self,
        status: &WorkerStatus,
        policies: &PolicySet,
    ) -> Result<(), AttestationError> {
        if policies.keys.denied.is_empty() {
            return Ok(());
        }
        let record = self.registrar.worker(&status.name).await.map_err(store)?;
        let Some(denied) = policies.keys.denies(&record) else {
            return Ok(());
        };
        let error = AttestationError::Denied(denied);
        let (reason, now) = (error.reason(), self.clock.now());
        let recorded = self
            .store
            .distrust(status.id, status.generation, &reason, now);
        match recorded.await.map_err(store)? {
            true => Err(error),
            false => Err(AttestationError::Changed(format!(
                "worker `{}`",
                status.name
            ))),
        }
    }

    /// Goes on until it is over.
    pub async fn run(
        &self,
        attestation: &mut Attestation,
    ) -> Result<PodVerdicts, AttestationError> {
        loop {
            if let Step::Over(outcome) = self.step(attestation).await {
                return outcome;
            }
        }
    }

    /// Does what is due, and no more.
    pub async fn step(&self, attestation: &mut Attestation) -> Step {
        let mut verdicts = PodVerdicts::new();
        // Time may have passed since the last step.
        let mut action = attestation.handle(Event::Tick, self.clock.now());
        if action == Action::Wait {
            action = attestation.due();
        }
        let event = match action {
            Action::Ask(_) => match self.ask(attestation).await {
                Ok(bytes) => Event::Evidence(bytes),
                Err(fault) => Event::AgentFailed(fault.detail),
            },
            Action::Judge(evidence) => match self.judged(attestation, evidence).await {
                Ok(Some(found)) => {
                    verdicts = found;
                    Event::Judged(Ok(()))
                }
                Ok(None) => match Nonce::random() {
                    Ok(nonce) => Event::Rebooted(nonce),
                    Err(error) => Event::Judged(Err(error.into())),
                },
                Err(error) => Event::Judged(Err(self.condemn(attestation, error).await)),
            },
            Action::Wait => Event::Tick,
            Action::Conclude(outcome) => return Step::Over(outcome.map(|()| verdicts)),
        };
        match attestation.handle(event, self.clock.now()) {
            Action::Conclude(outcome) => Step::Over(outcome.map(|()| verdicts)),
            _ => Step::More,
        }
    }

    /// Judges, and keeps what was judged.
    async fn judged(
        &self,
        attestation: &Attestation,
        evidence: Received,
    ) -> Result<Option<PodVerdicts>, AttestationError> {
        let outcome = self.judge(attestation, evidence.clone()).await;
        let (effect, reason) = match &outcome {
            Ok(Some(_)) => (Effect::Trusted, "attested".to_owned()),
            Ok(None) => (Effect::Inconclusive, "the worker was booted".to_owned()),
            Err(error) => (error.effect(), error.reason()),
        };
        let shown = Shown {
            worker: attestation.subjects().worker.clone(),
            request: attestation.request().clone(),
            asked: attestation.asked(),
            evidence,
            effect,
            reason,
        };
        self.store.keep(shown).await;
        outcome
    }

    async fn ask(&self, attestation: &Attestation) -> Result<Received, Fault> {
        let name = &attestation.subjects().worker;
        let worker = self.worker(name).await?;
        let status = self.store.worker(name).await?;
        let agent = AgentPlace {
            name,
            address: &status.address,
        };
        let most = self.store.policies().await?.of(name).limits.evidence;
        self.agents
            .evidence(agent, &worker.ak.name(), attestation.request(), most)
            .await
    }

    async fn worker(&self, name: &str) -> Result<Worker, Fault> {
        let record = self.registrar.worker(name).await?;
        let ak = Public::parse(&record.ak_public)
            .map_err(|error| Fault::new(FaultKind::Refused, error))?;
        Ok(Worker {
            id: record.id,
            name: record.name,
            os: record.os,
            ak,
            software_tpm: is_software(&record.ek_certificate),
            templates: record.templates,
        })
    }

    /// Judges and commits; none if the worker was booted and has to be asked from the first entry on.
    async fn judge(
        &self,
        attestation: &Attestation,
        evidence: Received,
    ) -> Result<Option<PodVerdicts>, AttestationError> {
        let subjects = attestation.subjects();
        let status = self.store.worker(&subjects.worker).await.map_err(store)?;
        refuse_untrusted(&status)?;
        let changed = || AttestationError::Changed(format!("worker `{}`", subjects.worker));
        if status.generation != subjects.generation || status.id != attestation.request().worker {
            return Err(changed());
        }
        let worker = self.worker(&subjects.worker).await.map_err(store)?;
        let node = self.store.node(status.id).await.map_err(store)?;
        if node.cursor != subjects.from {
            // Somebody else attested it: what was asked for does not follow on what is known now.
            return Err(changed());
        }
        for _ in 0..REJUDGED {
            let (whitelist, policies) = self.terms().await?;
            let pods = self.store.pods(&subjects.worker).await.map_err(store)?;
            let case = Arc::new(Case {
                worker: worker.clone(),
                request: attestation.request().clone(),
                whitelist,
                policies,
                generations: subjects.pods.clone(),
                pods,
                asked: attestation.asked(),
            });
            let judged = {
                let (case, node, bytes) = (case.clone(), node.clone(), evidence.clone());
                // Hashing and verifying takes its time: apart from the connections.
                tokio::task::spawn_blocking(move || judge(&case, &node, &bytes))
                    .await
                    .map_err(|error| AttestationError::Store(error.to_string()))?
            };
            let (appraisal, verdicts) = match judged {
                Ok(judged) => judged,
                Err(error) if error.wants_whole_log() && attestation.request().first_entry != 0 => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
            let (whitelist, policies) = self.terms().await?;
            if whitelist.id() != case.whitelist.id() || !Arc::ptr_eq(&policies, &case.policies) {
                continue;
            }
            let elapsed = self.clock.now().millis_since(attestation.asked());
            if !(0..=JUDGE_MILLIS).contains(&elapsed) {
                return Err(AttestationError::Stale);
            }
            if let Some(error) = self.refuted(attestation, &verdicts).await? {
                return Err(error);
            }
            let mut found: PodVerdicts = verdicts
                .iter()
                .map(|(pod, verdict)| {
                    let waits = || AttestationError::Pending(appraisal.strangers.clone());
                    let verdict = match verdict {
                        Ok(_) if appraisal.strangers.is_empty() => Ok(()),
                        Ok(_) => Err(waits()),
                        Err(error) => Err(error.clone()),
                    };
                    (pod.uid, verdict)
                })
                .collect();
            // The store changes what is known in place if nobody else looks at it.
            drop((case, node));
            let judged = Judged {
                subjects: subjects.clone(),
                worker: worker.id,
                software_tpm: worker.software_tpm,
                nonce: attestation.request().nonce,
                named: attestation.request().pod.as_ref().map(|pod| pod.uid),
                appraisal,
                verdicts,
                asked: attestation.asked(),
            };
            let stale = self.store.commit(judged).await.map_err(store)?;
            for uid in stale {
                let pod = format!("pod `{uid}`");
                found.insert(uid, Err(AttestationError::Changed(pod)));
            }
            return Ok(Some(found));
        }
        Err(AttestationError::Changed("the reference values".to_owned()))
    }

    /// Why the one pod that was asked for is not accepted, if it is not: then nothing is committed but that.
    async fn refuted(
        &self,
        attestation: &Attestation,
        verdicts: &Verdicts,
    ) -> Result<Option<AttestationError>, AttestationError> {
        let Some(asked) = &attestation.request().pod else {
            return Ok(None);
        };
        let mut verdicts = verdicts.iter();
        let found = verdicts.find(|(pod, _)| pod.uid == asked.uid);
        let Some((pod, Err(error))) = found else {
            return Ok(None);
        };
        // That something waits to be explained has to be remembered.
        if error.effect() == Effect::Pending {
            return Ok(None);
        }
        let generation = attestation.subjects().pods.get(&pod.uid);
        if let (Effect::PodUntrusted, Some(generation)) = (error.effect(), generation) {
            let (reason, at) = (error.reason(), attestation.asked());
            let refuted = self.store.refute(pod.uid, *generation, &reason, at);
            if !refuted.await.map_err(store)? {
                let pod = format!("pod `{}`", pod.label());
                return Ok(Some(AttestationError::Changed(pod)));
            }
        }
        Ok(Some(error.clone()))
    }

    async fn terms(&self) -> Result<(Arc<Whitelist>, Arc<PolicySet>), AttestationError> {
        let whitelist = self.values.whitelist().await.map_err(store)?;
        Ok((whitelist, self.store.policies().await.map_err(store)?))
    }

    /// Records that a worker is refuted, if that is so and it is still the same.
    async fn condemn(
        &self,
        attestation: &Attestation,
        error: AttestationError,
    ) -> AttestationError {
        let known = matches!(error, AttestationError::WorkerNotTrusted { .. });
        let subjects = attestation.subjects();
        let (id, reason) = (attestation.request().worker, error.reason());
        let (generation, now) = (subjects.generation, self.clock.now());
        let recorded = match error.effect() {
            Effect::WorkerUntrusted if !known => {
                self.store.distrust(id, generation, &reason, now).await
            }
            Effect::NeedsReboot => self.store.suspend(id, generation, &reason, now).await,
            _ => return error,
        };
        match recorded {
            Ok(true) => error,
            Ok(false) => AttestationError::Changed(format!("worker `{}`", subjects.worker)),
            Err(fault) => store(fault),
        }
    }
}

fn refuse_untrusted(status: &WorkerStatus) -> Result<(), AttestationError> {
    if status.trust != Trust::Untrusted {
        return Ok(());
    }
    Err(AttestationError::WorkerNotTrusted {
        worker: status.name.clone(),
        reason: status.reason.clone(),
    })
}

/// Whether a TPM is a program, by what its maker certifies; one without a readable certificate is not taken for
/// hardware.
fn is_software(certificate: &[u8]) -> bool {
    crate::registrar::certified_identity(certificate).is_none_or(|identity| identity.is_software())
}

fn store(fault: Fault) -> AttestationError {
    match fault.kind {
        FaultKind::Conflict => AttestationError::Changed("the worker".to_owned()),
        _ => AttestationError::Store(fault.detail),
    }
}
