//! What decides about connections, rule by rule, so that it can be told.

use super::{Decider, Decision, End, Evaluation, fixed};
use crate::kubernetes::network::addresses::Range;
use crate::kubernetes::network::connections::Connections;
use crate::kubernetes::network::policy::{Action, Direction, Peer, Policy, Port, Rule, Tier};

impl Evaluation {
    /// What decides about the connections of an instance with another end, in one direction.
    pub fn decisions(&self, instance: usize, direction: Direction, other: End) -> Vec<Decision> {
        let mut decisions = Vec::new();
        let selecting: Vec<(usize, &Policy)> = self
            .selecting(instance)
            .filter(|(_, policy)| policy.rules(direction).is_some())
            .collect();
        let of = |wanted: fn(Tier) -> bool| {
            let policies = selecting.iter().copied();
            policies.filter(move |(_, policy)| wanted(policy.tier))
        };
        let destination = match (direction, other) {
            (Direction::Ingress, _) => Some(instance),
            (Direction::Egress, End::Instance(at)) => Some(at),
            _ => None,
        };
        let rules = |wanted: fn(Tier) -> bool| {
            let mut met = Vec::new();
            for (at, policy) in of(wanted) {
                let rules = policy.rules(direction).unwrap_or_default();
                for (number, rule) in rules.iter().enumerate() {
                    if self.is_peer(rule, direction, other) {
                        let set = self.connections(rule, destination);
                        let by = Decider::Rule {
                            policy: at,
                            rule: number,
                        };
                        met.push((rule.action, set, by));
                    }
                }
            }
            met
        };
        let mut left = Connections::all();
        let mut passed = Connections::default();
        let mut ordered = |rules: Vec<(Action, Connections, Decider)>,
                           left: &mut Connections,
                           decisions: &mut Vec<Decision>| {
            for (action, set, by) in rules {
                let taken = set.intersection(left);
                if taken.is_empty() {
                    continue;
                }
                *left = left.without(&taken);
                match action {
                    Action::Pass => passed = passed.union(&taken),
                    _ => decisions.push(Decision {
                        connections: taken,
                        allowed: action == Action::Allow,
                        by,
                    }),
                }
            }
            *left = left.union(&std::mem::take(&mut passed));
        };
        ordered(
            rules(|tier| matches!(tier, Tier::Admin(_))),
            &mut left,
            &mut decisions,
        );
        let isolating: Vec<usize> = of(|tier| tier == Tier::Network).map(|(at, _)| at).collect();
        if !isolating.is_empty() {
            let mut open = Connections::default();
            for (_, set, by) in rules(|tier| tier == Tier::Network) {
                let connections = set.intersection(&left);
                open = open.union(&connections);
                if !connections.is_empty() {
                    decisions.push(Decision {
                        connections,
                        allowed: true,
                        by,
                    });
                }
            }
            let connections = left.without(&open);
            if !connections.is_empty() {
                decisions.push(Decision {
                    connections,
                    allowed: false,
                    by: Decider::Isolated(isolating),
                });
            }
            return decisions;
        }
        ordered(
            rules(|tier| matches!(tier, Tier::Baseline(_))),
            &mut left,
            &mut decisions,
        );
        if !left.is_empty() {
            decisions.push(Decision {
                connections: left,
                allowed: true,
                by: Decider::Default,
            });
        }
        decisions
    }

    /// Whether a rule is about an end.
    fn is_peer(&self, rule: &Rule, direction: Direction, other: End) -> bool {
        let Some(peers) = &rule.peers else {
            return true;
        };
        let mut peers = peers.iter();
        peers.any(|peer| match (peer, other) {
            (Peer::Pods(pods), End::Instance(at)) => self.cluster.select(pods).contains(&at),
            (Peer::Addresses { and_pods, .. }, End::Instance(_)) => *and_pods,
            (Peer::Addresses { ranges, .. }, End::Outside(at)) => {
                let part = self.outside(direction).get(at);
                part.is_some_and(|part| ranges.iter().any(|range| range.covers(*part)))
            }
            (Peer::Addresses { ranges, .. }, End::Host(at)) => {
                let host = self.cluster.hosts.get(at);
                let addresses = host.map_or(&[][..], |host| &host.addresses);
                addresses.iter().any(|address| {
                    let (first, last) = (*address, *address);
                    ranges
                        .iter()
                        .any(|range| range.covers(Range { first, last }))
                })
            }
            (Peer::Nodes { selector, .. }, End::Host(at)) => {
                let host = self.cluster.hosts.get(at);
                host.is_some_and(|host| selector.matches(&host.labels))
            }
            _ => false,
        })
    }

    /// The connections that a rule is about, to a destination.
    fn connections(&self, rule: &Rule, destination: Option<usize>) -> Connections {
        let mut all = fixed(rule);
        let instance = destination.and_then(|at| self.cluster.instances.get(at));
        for port in rule.ports.iter().flatten() {
            if let (Port::Named { name, protocol }, Some(instance)) = (port, instance) {
                all = all.union(&instance.named(name, *protocol));
            }
        }
        all
    }
}
