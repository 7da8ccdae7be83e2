//! What of a worker's ledger was accepted already, so that an attestation costs only what is new.
//!
//! Acceptance is for one list of reference values and, for a pod, for its containers as they were
//! described: when either changes, everything is judged anew. It lives in memory alone; after a restart
//! the first attestation of each pod judges its whole history once.

use std::collections::HashMap;

use crate::ima::{ContainerId, Ledger, PodUid, Subject};
use crate::reference::{ContainerImage, Whitelist};

/// How far a worker's own entries and those of its pods were accepted.
#[derive(Clone, Debug, Default)]
pub struct Accepted {
    list: Option<u64>,
    /// Runtime and host.
    worker: HashMap<Subject, usize>,
    pods: HashMap<PodUid, AcceptedPod>,
}

#[derive(Clone, Debug)]
struct AcceptedPod {
    terms: PodTerms,
    sizes: HashMap<Subject, usize>,
}

/// What a pod was judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodTerms {
    /// The pod.
    pub uid: PodUid,
    /// Its own images.
    pub images: Vec<ContainerImage>,
}

impl PodTerms {
    /// The containers that the cluster named.
    pub fn containers(&self) -> Vec<ContainerId> {
        self.images
            .iter()
            .filter_map(|image| image.container)
            .collect()
    }
}

impl Accepted {
    fn counts(&self, list: &Whitelist) -> bool {
        self.list == Some(list.id())
    }

    /// How much of a subject that is the worker's own needs no second look.
    pub fn of_worker(&self, list: &Whitelist, subject: Subject) -> usize {
        let sizes = self.counts(list).then_some(&self.worker);
        sizes
            .and_then(|sizes| sizes.get(&subject))
            .copied()
            .unwrap_or(0)
    }

    /// Whether a pod was accepted on the same terms, and how much of its subjects needs no second look.
    pub fn of_pod(&self, list: &Whitelist, terms: &PodTerms) -> Option<&HashMap<Subject, usize>> {
        let pod = self.counts(list).then(|| self.pods.get(&terms.uid))??;
        (pod.terms == *terms).then_some(&pod.sizes)
    }

    /// How many bytes of memory it takes, about.
    pub(super) fn footprint(&self) -> usize {
        let pod = |pod: &AcceptedPod| {
            let names = pod.terms.images.iter().map(|image| image.name.capacity());
            // The smallest table has room for four.
            let sizes = pod.sizes.capacity().max(4) * 2 * size_of::<(Subject, usize)>();
            pod.terms.images.capacity() * size_of::<ContainerImage>()
                + names.sum::<usize>()
                + sizes
                + 2 * size_of::<(PodUid, AcceptedPod)>()
        };
        self.pods.values().map(pod).sum()
    }

    /// Takes note that a worker was accepted by a list, with everything in its ledger.
    pub(super) fn accept_worker(&mut self, list: u64, ledger: &Ledger) {
        if self.list != Some(list) {
            *self = Accepted {
                list: Some(list),
                ..Accepted::default()
            };
        }
        for subject in [Subject::Runtime, Subject::Host, Subject::Unknown] {
            self.worker.insert(subject, ledger.size(subject));
        }
    }

    /// Takes note that a pod was accepted by the same list, with everything of it in the ledger.
    pub(super) fn accept_pod(&mut self, terms: PodTerms, ledger: &Ledger) {
        let subjects = ledger.subjects_of_pod(terms.uid, &terms.containers());
        let sizes = subjects
            .into_iter()
            .map(|subject| (subject, ledger.size(subject)))
            .collect();
        self.pods.insert(terms.uid, AcceptedPod { terms, sizes });
    }
}
