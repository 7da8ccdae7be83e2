//! What the verifier knows, as the driver of attestations sees it.

use std::collections::HashSet;
use std::sync::Arc;

use uuid::Uuid;

use super::problem::Problem;
use super::result::{Found, result_of};
use super::verify::Verifier;
use crate::clock::Timestamp;
use crate::ima::PodUid;
use crate::policy::{Mode, PolicySet};
use crate::protocol::attestation::{Judged, Shown, Verdicts};
use crate::protocol::port::{Fault, TrustStore};
use crate::protocol::{AttestationError, Effect};
use crate::verifier::{
    Conclusion, History, Lease, Node, Outcome, PodStatus, Revision, Stale, StoreError, Trust,
    WorkerStatus,
};

fn fault(error: StoreError) -> Fault {
    Problem::from(error).into()
}

/// What the verifier knows while it attests a worker: with the lease of that, where others could attest it, too.
pub(super) struct UnderLease<'v> {
    /// The verifier.
    pub(super) verifier: &'v Verifier,
    /// The lease.
    pub(super) lease: Option<&'v Lease>,
}

impl TrustStore for UnderLease<'_> {
    async fn worker(&self, name: &str) -> Result<WorkerStatus, Fault> {
        self.verifier.store().worker(name).map_err(fault)
    }

    async fn pods(&self, worker: &str) -> Result<Vec<PodStatus>, Fault> {
        self.verifier.store().pods(Some(worker)).map_err(fault)
    }

    async fn node(&self, worker: Uuid) -> Result<Arc<Node>, Fault> {
        let verifier = self.verifier;
        // Both at once, as everything that changes either: what is kept is never older than the database. Another
        // verifier may have changed that, which shows in the revision.
        let store = verifier.store();
        let mut nodes = verifier.nodes();
        let mut history = store.history(worker).map_err(fault)?;
        let now = store.revision(worker).map_err(fault)?;
        let (mut node, revision) = match nodes.remove(worker) {
            Some((node, revision)) if revision == now => (Arc::unwrap_or_clone(node), revision),
            _ => store.revised_node(worker).map_err(fault)?,
        };
        if node.reads_anew(verifier.parts().policy.of(&history.worker)) {
            history.removed = store.removed(worker).map_err(fault)?;
        }
        node.history = history;
        let node = Arc::new(node);
        nodes.insert(worker, (node.clone(), revision));
        Ok(node)
    }

    async fn policies(&self) -> Result<Arc<PolicySet>, Fault> {
        Ok(self.verifier.parts().policy.clone())
    }

    async fn commit(&self, judged: Judged) -> Result<Stale, Fault> {
        let verifier = self.verifier;
        let fresh = verifier.fresh(&judged).map_err(fault)?;
        let outcomes = verifier.outcomes(&judged, &fresh)?;
        let committed = verifier.change(|store| {
            let committed = store.commit(&Conclusion {
                worker: judged.worker,
                generation: judged.subjects.generation,
                from: judged.subjects.from.as_ref(),
                appraisal: &judged.appraisal,
                outcomes: &outcomes,
                at: judged.asked,
                lease: self.lease,
            })?;
            let generation = judged.subjects.generation;
            let revision = (generation, committed.revision);
            verifier.advance(judged, &committed.stale, revision);
            Ok(committed)
        });
        Ok(committed.map_err(fault)?.stale)
    }

    async fn refute(
        &self,
        pod: PodUid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, Fault> {
        self.verifier
            .change(|store| store.refute_pod(pod, generation, reason, at, self.lease))
            .map_err(fault)
    }

    async fn keep(&self, shown: Shown) {
        self.verifier.keep_evidence(shown).await;
    }

    async fn suspend(
        &self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, Fault> {
        self.verifier
            .change(|store| store.suspend_worker(worker, generation, reason, at, self.lease))
            .map_err(fault)
    }

    async fn distrust(
        &self,
        worker: Uuid,
        generation: u64,
        reason: &str,
        at: Timestamp,
    ) -> Result<bool, Fault> {
        self.verifier
            .change(|store| store.distrust_worker(worker, generation, reason, at, self.lease))
            .map_err(fault)
    }
}

impl Verifier {
    /// The pods whose last results count for long enough: whoever asks for another pod has no new ones signed for them.
    fn fresh(&self, judged: &Judged) -> Result<HashSet<PodUid>, StoreError> {
        let Some(named) = judged.named.filter(|_| !judged.appraisal.rebooted) else {
            return Ok(HashSet::new());
        };
        let now = judged.asked;
        let time = (now.plus_secs(-self.parts().lifetime / 2), now);
        let mut fresh = self
            .store()
            .trusted_by_evidence_of(&judged.subjects.worker, time)?;
        fresh.remove(&named);
        Ok(fresh)
    }

    /// The outcome for each pod that was judged, with a signed result; none for those that are fine and have a fresh one.
    fn outcomes(&self, judged: &Judged, fresh: &HashSet<PodUid>) -> Result<Vec<Outcome>, Fault> {
        let mut outcomes = Vec::new();
        for (pod, verdict) in &judged.verdicts {
            let Some(generation) = judged.subjects.pods.get(&pod.uid) else {
                continue;
            };
            if verdict.is_ok() && fresh.contains(&pod.uid) {
                continue;
            }
            let waiting = !judged.appraisal.strangers.is_empty();
            let pending = match verdict {
                Ok(_) => waiting,
                Err(error) => error.effect() == Effect::Pending,
            };
            let policy = self.parts().policy.of(&judged.subjects.worker);
            let found = Found {
                host: policy.host == Mode::Enforced,
                left_out: policy.exclude.texts(),
                software_tpm: judged.software_tpm,
            };
            let counts = (judged.asked, self.parts().lifetime);
            let result = result_of(judged.worker, judged.nonce, pod, verdict, found, counts);
            let token = if pending {
                Ok(String::new())
            } else {
                result.sign(&self.parts().key)
            };
            outcomes.push(Outcome {
                uid: pod.uid,
                generation: *generation,
                trust: match verdict {
                    Ok(_) if waiting => Trust::Unknown,
                    Ok(_) => Trust::Trusted,
                    Err(error) if error.effect() == Effect::PodUntrusted => Trust::Untrusted,
                    Err(_) => Trust::Unknown,
                },
                reason: match verdict {
                    Ok(_) if waiting => {
                        let strangers = judged.appraisal.strangers.clone();
                        AttestationError::Pending(strangers).reason()
                    }
                    Ok(_) => "attested".to_owned(),
                    Err(error) => error.reason(),
                },
                token: token.map_err(Fault::unavailable)?,
                pending,
            });
        }
        Ok(outcomes)
    }

    /// Keeps what was committed in memory, so that the next attestation costs only what is new.
    fn advance(&self, judged: Judged, stale: &[PodUid], revision: Revision) {
        let worker = judged.worker;
        let verified = judged.appraisal.verified;
        self.parts()
            .metrics
            .add("log_entries", "verified", verified);
        let mut nodes = self.nodes();
        let Some((node, _)) = nodes.remove(worker) else {
            return;
        };
        let mut node = Arc::unwrap_or_clone(node);
        // It is read anew each time.
        node.history = History::default();
        let accepted = accepted(judged.verdicts, stale);
        judged.appraisal.apply(&mut node, accepted);
        nodes.insert(worker, (Arc::new(node), revision));
    }
}

fn accepted(
    verdicts: Verdicts,
    stale: &[PodUid],
) -> impl Iterator<Item = crate::verifier::PodTerms> {
    verdicts
        .into_iter()
        .filter(|(pod, _)| !stale.contains(&pod.uid))
        .filter_map(|(_, verdict): (_, Result<_, AttestationError>)| verdict.ok())
}
