//! What policies do to each other, to Services and to what leads there from outside.

use locus_core::Span;
use rustc_hash::FxHashMap;

use super::Builder;
use crate::kubernetes::network::audit::{self, Audit};
use crate::kubernetes::network::policy::Tier;
use crate::kubernetes::network::relation::Reachability;
use crate::kubernetes::vocabulary::{field, sig};

impl Builder<'_, '_> {
    /// States what is odd about policies; where there are none, nothing is.
    pub(super) fn policies(&mut self) {
        let model = self.model;
        let mut objects = model.objects.iter();
        let audit = match objects.any(crate::kubernetes::network::is_policy) {
            true => audit::audit(model, &Reachability::of(model).evaluation),
            false => Audit::default(),
        };
        self.policy_rules(&audit);
        for (object, allows) in &audit.policies {
            if let (Some(atom), Some(span)) = (self.atom_of(*object), self.span_of(*object)) {
                let field = field!("NetworkPolicy", "allows");
                self.truth_fact(field, atom, *allows, span);
            }
        }
        for (at, object) in model.objects.iter().enumerate() {
            if object.is("", "Service")
                && let Some(atom) = self.atom_of(at)
            {
                let cut_off = audit.cut_off.binary_search(&at).is_ok();
                let field = field!("Service", "cut_off");
                self.truth_fact(field, atom, cut_off, object.span());
            }
        }
        for (first, second) in &audit.ties {
            let ends = self.atom_of(*first).zip(self.atom_of(*second));
            let spans = self.span_of(*first).zip(self.span_of(*second));
            if let (Some((first, second)), Some((before, span))) = (ends, spans) {
                let tie = self.facts.atom(sig!("PolicyTie"), "tie", span);
                self.fact(field!("PolicyTie", "tied"), tie, second, span);
                self.fact(field!("PolicyTie", "tied_with"), tie, first, before);
            }
        }
        for (object, span) in &audit.idle {
            if let Some(policy) = self.atom_of(*object) {
                let atom = self.facts.atom(sig!("IdlePolicy"), "subject", *span);
                self.fact(field!("IdlePolicy", "idle"), atom, policy, *span);
            }
        }
        for forward in &audit.forwards {
            let Some(by) = self.atom_of(forward.object) else {
                continue;
            };
            let atom = self.facts.atom(sig!("Forward"), "backend", forward.span);
            self.fact(field!("Forward", "forwarded_by"), atom, by, forward.span);
            let field = field!("Forward", "blocked");
            self.truth_fact(field, atom, forward.blocked, forward.span);
            for policy in &forward.policies {
                if let (Some(policy), Some(span)) = (self.atom_of(*policy), self.span_of(*policy)) {
                    self.fact(field!("Forward", "blockers"), atom, policy, span);
                }
            }
        }
    }

    fn span_of(&self, object: usize) -> Option<Span> {
        self.model.object(object).map(|object| object.span())
    }

    fn policy_rules(&mut self, audit: &Audit) {
        let mut atoms = FxHashMap::default();
        for rule in &audit.rules {
            let Some(policy) = self.atom_of(rule.object) else {
                continue;
            };
            let (span, side) = (rule.span, rule.direction.as_str());
            let atom = self.facts.atom(sig!("TrafficRule"), side, span);
            atoms.insert(span, atom);
            self.fact(field!("TrafficRule", "policy"), atom, policy, span);
            self.text_fact(field!("TrafficRule", "side"), atom, side, span);
            let tier = match rule.tier {
                Tier::Admin(_) => "admin",
                Tier::Network => "network",
                Tier::Baseline(_) => "baseline",
            };
            self.text_fact(field!("TrafficRule", "tier"), atom, tier, span);
            self.truth_fact(field!("TrafficRule", "counts"), atom, rule.counts, span);
            for (span, elsewhere, matches) in &rule.peers {
                let peer = self.facts.atom(sig!("TrafficPeer"), "peer", *span);
                self.fact(field!("TrafficPeer", "peer_of"), peer, policy, *span);
                let field = field!("TrafficPeer", "elsewhere");
                self.truth_fact(field, peer, *elsewhere, *span);
                self.truth_fact(field!("TrafficPeer", "matches"), peer, *matches, *span);
            }
            for (name, listed) in &rule.ports {
                let port = self.facts.atom(sig!("TrafficPort"), &**name, span);
                self.fact(field!("TrafficPort", "port_of"), port, policy, span);
                self.truth_fact(field!("TrafficPort", "listed"), port, *listed, span);
            }
        }
        for rule in &audit.rules {
            let covering = rule
                .covered
                .and_then(|span| Some((span, atoms.get(&span)?)));
            if let (Some(&atom), Some((span, &covering))) = (atoms.get(&rule.span), covering) {
                let field = field!("TrafficRule", "covered_by");
                self.fact(field, atom, covering, span);
            }
        }
    }
}
