//! Ways from pods to everything in the cluster.

use locus_core::facts::AtomId;
use rustc_hash::FxHashMap;

use super::Builder;
use crate::kubernetes::rbac::closure::{Closure, Step};
use crate::kubernetes::rbac::{Grants, Subject};
use crate::kubernetes::vocabulary::{field, sig};

impl Builder<'_, '_> {
    /// States how pods can come to hold everything.
    pub(super) fn escalations(&mut self) {
        let grants = Grants::of(self.model);
        if grants.bindings.is_empty() {
            return;
        }
        let mut ways: FxHashMap<Subject, Option<Vec<Step>>> = FxHashMap::default();
        for holder in &grants.holders {
            let way = ways
                .entry(holder.account.clone())
                .or_insert_with(|| Closure::way_to_admin(&grants, &holder.account));
            if let (Some(way), Some(workload)) = (way, self.atom_of(holder.object)) {
                let name = format!("{}/{}", holder.namespace, holder.name);
                let escalation = self.facts.atom(sig!("Escalation"), name, holder.span);
                self.fact(
                    field!("Escalation", "escalates"),
                    escalation,
                    workload,
                    holder.span,
                );
                let first = Step {
                    text: format!("its pods act as {}", holder.account),
                    span: Some(holder.span),
                };
                let steps: Vec<&Step> = std::iter::once(&first).chain(way.iter()).collect();
                self.steps(escalation, &steps, holder.span);
            }
        }
    }

    fn steps(&mut self, escalation: AtomId, steps: &[&Step], span: locus_core::Span) {
        let count = i64::try_from(steps.len()).unwrap_or(i64::MAX);
        self.number_fact(field!("Escalation", "step_count"), escalation, count, span);
        let mut before: Option<AtomId> = None;
        for step in steps {
            let at = step.span.unwrap_or(span);
            let atom = self.facts.atom(sig!("AccessStep"), step.text.clone(), at);
            self.fact(field!("Escalation", "way"), escalation, atom, at);
            match before {
                Some(before) => self.fact(field!("AccessStep", "next_step"), before, atom, at),
                None => self.fact(field!("Escalation", "first_step"), escalation, atom, at),
            }
            before = Some(atom);
        }
    }
}
