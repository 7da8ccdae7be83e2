//! Who can talk to whom, for rules that ask.

use std::collections::BTreeSet;

use super::Builder;
use crate::kubernetes::network::relation::Reachability;
use crate::kubernetes::vocabulary::field;
use crate::language::reach::Relation as _;

impl Builder<'_, '_> {
    /// States who can talk to whom. It is large, so it is stated only when a rule mentions it.
    pub(super) fn reachability(&mut self) {
        let reachability = Reachability::of(self.model);
        let instances = &reachability.evaluation.cluster.instances;
        let objects = |peer: usize| -> Vec<usize> {
            let of = reachability.instances(peer).iter();
            of.filter_map(|at| instances.get(*at)?.object).collect()
        };
        let internet: BTreeSet<usize> = reachability.internet().into_iter().collect();
        let (mut out, mut into) = (BTreeSet::new(), BTreeSet::new());
        for from in 0..reachability.peers().len() {
            let sources = objects(from);
            for (to, _) in reachability.reached(from) {
                let targets = objects(to);
                if internet.contains(&to) {
                    out.extend(sources.iter().copied());
                }
                if internet.contains(&from) {
                    into.extend(targets.iter().copied());
                }
                for source in &sources {
                    for target in &targets {
                        self.reaches(*source, *target);
                    }
                }
            }
        }
        let model = self.model;
        for workload in &model.workloads {
            if let Some(atom) = self.atom_of(workload.object) {
                for (field, set) in [
                    (field!("Workload", "reaches_internet"), &out),
                    (field!("Workload", "internet_reaches"), &into),
                ] {
                    let truth = set.contains(&workload.object);
                    self.truth_fact(field, atom, truth, workload.at);
                }
            }
        }
    }

    fn reaches(&mut self, source: usize, target: usize) {
        let ends = self.atom_of(source).zip(self.atom_of(target));
        let object = self.model.object(source);
        if let (Some((source, target)), Some(object)) = (ends, object) {
            let field = field!("Workload", "reaches");
            self.fact(field, source, target, object.span());
        }
    }
}
