//! What disruption budgets keep.

use locus_core::Span;
use locus_core::facts::AtomId;
use locus_core::value::SymbolId;

use super::Builder;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::WorkloadId;
use crate::kubernetes::object::Object;
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

/// What `minAvailable` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Least {
    Pods(u64),
    Percent(u64),
}

impl Least {
    fn of(node: &Node) -> Option<Least> {
        if let Some(number) = node.int() {
            return u64::try_from(number).ok().map(Least::Pods);
        }
        let percent = node.text()?.strip_suffix('%')?.parse().ok()?;
        Some(Least::Percent(percent))
    }

    /// Whether it keeps every one of so many pods; the number that a percentage keeps is rounded up.
    fn keeps_all(self, pods: u64) -> bool {
        pods > 0
            && match self {
                Least::Pods(least) => least >= pods,
                Least::Percent(percent) => percent.saturating_mul(pods).div_ceil(100) >= pods,
            }
    }
}

/// The fewest and the most pods that a budget is about, and what decides how many there are.
#[derive(Default)]
struct Pods {
    least: u64,
    most: u64,
    depends: Vec<SymbolId>,
}

impl Builder<'_, '_> {
    /// States of which workloads a budget keeps every pod. The budget counts all pods that it selects, whoever owns them.
    pub(super) fn kept_whole(&mut self, at: usize, object: &Object, matched: &[WorkloadId]) {
        let written = object.spec().and_then(|spec| spec.some("minAvailable"));
        self.uncounted(at, object, matched);
        let Some((written, budget)) = written.zip(self.atom_of(at)) else {
            return;
        };
        let Some(least) = Least::of(written) else {
            return;
        };
        let model = self.model;
        let mut pods = Pods::default();
        let mut kept: Vec<(usize, &Object)> = Vec::new();
        for workload in matched.iter().filter_map(|&id| model.workloads.get(id)) {
            let Some(controller) = model.object(workload.object) else {
                continue;
            };
            match &*controller.kind.text {
                "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController" => {
                    self.count_pods(&mut pods, workload.object, controller);
                    kept.push((workload.object, controller));
                }
                "Pod" => {
                    pods.least += 1;
                    pods.most += 1;
                }
                // A template alone has no pods.
                "PodTemplate" => {}
                // How many pods there are is not known, so neither is what is left of them.
                _ => return,
            }
        }
        let (few, many) = (
            least.keeps_all(pods.least.max(1)),
            least.keeps_all(pods.most),
        );
        let span = written.used_at();
        let whole = match (pods.depends.as_slice(), few) {
            ([], _) => self.truth(least.keeps_all(pods.least), span),
            (_, false) => self.truth(false, span),
            (_, true) if many && pods.least > 0 => self.truth(true, span),
            (depends, true) => {
                let name = format!("{} keeps every pod", object.called());
                self.open_truth(&name, depends, span)
            }
        };
        for (at, controller) in kept {
            self.kept(budget, (at, controller), whole, span);
        }
    }

    /// States the bare pods that a budget asks for a share of. How many there should be is known from controllers only: of
    /// pods without one there should be none, so none may go.
    fn uncounted(&mut self, at: usize, object: &Object, matched: &[WorkloadId]) {
        let model = self.model;
        let spec = object.spec();
        let share = |key: &str| spec.and_then(|spec| spec.some(key)).cloned();
        let written = match share("minAvailable") {
            Some(node) if node.int().is_none() => Some(node),
            _ => share("maxUnavailable"),
        };
        let Some((written, budget)) = written.zip(self.atom_of(at)) else {
            return;
        };
        let bare = |id: &WorkloadId| {
            let workload = model.workloads.get(*id)?;
            let object = model.object(workload.object)?;
            let metadata = object.node.some("metadata");
            let owned = metadata.is_some_and(|one| !one.items("ownerReferences").is_empty());
            (object.is("", "Pod") && !owned).then_some(workload.object)
        };
        let pods: Option<Vec<usize>> = matched.iter().map(bare).collect();
        for pod in pods.unwrap_or_default() {
            if let Some(atom) = self.atom_of(pod) {
                let field = field!("PodDisruptionBudget", "uncounted");
                self.fact(field, budget, atom, written.used_at());
            }
        }
    }

    fn count_pods(&mut self, pods: &mut Pods, at: usize, object: &Object) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let (least, most) = match (self.open_replicas(at), self.scales.scaled(at)) {
            (Some(symbol), Some(scaled)) => {
                pods.depends.push(symbol);
                (scaled.least, scaled.most)
            }
            _ => {
                let fewest = self.scales.fewest(at, object);
                (fewest, fewest)
            }
        };
        pods.least = pods.least.saturating_add(number(least));
        pods.most = pods.most.saturating_add(number(most));
    }

    fn kept(&mut self, budget: AtomId, (at, object): (usize, &Object), whole: AtomId, span: Span) {
        let Some(workload) = self.atom_of(at) else {
            return;
        };
        let fact = self.facts.atom(sig!("KeptWhole"), object.called(), span);
        self.fact(field!("KeptWhole", "keeper"), fact, budget, span);
        self.fact(field!("KeptWhole", "kept"), fact, workload, span);
        self.fact(field!("KeptWhole", "whole"), fact, whole, span);
        let fewest = self.scales.fewest(at, object);
        let place = match self.scales.scaled(at) {
            Some(scaled) if fewest == scaled.least => Some(scaled.least_at),
            _ => self.scales.place(at, object),
        };
        let number = i64::try_from(fewest).unwrap_or(i64::MAX);
        let place = place.unwrap_or(object.span());
        self.number_fact(field!("KeptWhole", "fewest"), fact, number, place);
    }
}
