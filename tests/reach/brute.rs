//! Reachability on random small clusters against an evaluation of the policies for each pair, port and protocol.

use std::net::IpAddr;

use locus_core::Sources;
use locus_frontends::kubernetes::Kubernetes;
use locus_frontends::language::reach::{PeerKind, Relation};
use locus_frontends::language::{Language as _, Request};
use locus_frontends::loader::MemoryLoader;
use proptest::prelude::*;

use super::world::*;

/// An end of one connection.
#[derive(Clone, Copy)]
enum End {
    Pod(usize),
    Address(IpAddr),
}

fn contains(block: &str, address: IpAddr) -> bool {
    let (first, length) = block.split_once('/').unwrap();
    let length: u32 = length.parse().unwrap();
    match (first.parse().unwrap(), address) {
        (IpAddr::V4(first), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            u32::from(first) & mask == u32::from(address) & mask
        }
        (IpAddr::V6(first), IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            u128::from(first) & mask == u128::from(address) & mask
        }
        _ => false,
    }
}

impl World {
    fn is_peer(&self, peer: &Peer, kind: Kind, other: End) -> bool {
        match (peer, other) {
            (Peer::Block(at), End::Address(address)) => {
                let (block, except) = BLOCKS[*at];
                let excepted = except.filter(|_| matches!(kind, Kind::Network(_)));
                contains(block, address)
                    && !excepted.is_some_and(|except| contains(except, address))
            }
            (Peer::Pods(namespaces, pods), End::Pod(at)) => {
                let pod = &self.pods[at];
                let there = match (namespaces, kind) {
                    (Some(namespaces), _) => namespaces.matches(&self.namespaces[pod.namespace]),
                    (None, Kind::Network(own)) => own == pod.namespace,
                    (None, _) => true,
                };
                there && pods.as_ref().is_none_or(|pods| pods.matches(&pod.labels))
            }
            _ => false,
        }
    }

    fn is_port(&self, wanted: &Port, kind: Kind, to: End, protocol: &str, port: u16) -> bool {
        match wanted {
            Port::All(one) => *one == protocol,
            Port::Range(one, first, last) => *one == protocol && (*first..=*last).contains(&port),
            Port::Named(one, name) => match to {
                End::Pod(at) => {
                    self.pods[at]
                        .ports
                        .iter()
                        .any(|(listed, listed_protocol, number)| {
                            let any = !matches!(kind, Kind::Network(_));
                            listed == name
                                && *listed_protocol == protocol
                                && (any || *one == protocol)
                                && *number == port
                        })
                }
                End::Address(_) => false,
            },
        }
    }

    fn is_about(
        &self,
        policy: &Policy,
        rule: &Rule,
        other: End,
        to: End,
        protocol: &str,
        port: u16,
    ) -> bool {
        let peer = rule.peers.as_ref().is_none_or(|peers| {
            peers
                .iter()
                .any(|peer| self.is_peer(peer, policy.kind, other))
        });
        peer && rule.ports.as_ref().is_none_or(|ports| {
            ports
                .iter()
                .any(|wanted| self.is_port(wanted, policy.kind, to, protocol, port))
        })
    }

    /// Whether one side lets a connection through.
    fn lets(
        &self,
        own: End,
        ingress: bool,
        other: End,
        to: End,
        protocol: &str,
        port: u16,
    ) -> bool {
        let End::Pod(at) = own else {
            return true;
        };
        let pod = &self.pods[at];
        let about: Vec<(&Policy, &Vec<Rule>)> = self
            .policies
            .iter()
            .filter(|policy| {
                let here = match policy.kind {
                    Kind::Network(namespace) => namespace == pod.namespace,
                    _ => true,
                };
                here && policy
                    .pods
                    .as_ref()
                    .is_none_or(|pods| pods.matches(&pod.labels))
            })
            .filter_map(|policy| {
                let rules = if ingress {
                    &policy.ingress
                } else {
                    &policy.egress
                };
                Some((policy, rules.as_ref()?))
            })
            .collect();
        let first = |wanted: fn(Kind) -> bool| {
            let ordered = about.iter().filter(move |(policy, _)| wanted(policy.kind));
            let mut rules =
                ordered.flat_map(|(policy, rules)| rules.iter().map(move |rule| (policy, rule)));
            rules
                .find(|(policy, rule)| self.is_about(policy, rule, other, to, protocol, port))
                .map(|(_, rule)| rule.action)
        };
        // The policies of a world are made in the order of their priorities.
        match first(|kind| matches!(kind, Kind::Admin(_))) {
            Some("Allow") => return true,
            Some("Deny") => return false,
            _ => {}
        }
        let mut isolating = about
            .iter()
            .filter(|(policy, _)| matches!(policy.kind, Kind::Network(_)))
            .peekable();
        if isolating.peek().is_some() {
            return isolating.any(|(policy, rules)| {
                rules
                    .iter()
                    .any(|rule| self.is_about(policy, rule, other, to, protocol, port))
            });
        }
        first(|kind| kind == Kind::Baseline) != Some("Deny")
    }

    fn can(&self, from: End, to: End, protocol: &str, port: u16) -> bool {
        self.lets(from, false, to, to, protocol, port)
            && self.lets(to, true, from, to, protocol, port)
    }
}

/// Whether a text such as `TCP 80,8080-8090,UDP 53` has a port.
fn has(text: &str, protocol: &str, port: u16) -> bool {
    if text == "All Connections" {
        return true;
    }
    let mut current = "";
    text.split(',').any(|part| {
        let ports = match part.split_once(' ') {
            Some((protocol, ports)) => {
                current = protocol;
                ports
            }
            None => part,
        };
        let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
        let (first, last): (u16, u16) = (first.parse().unwrap(), last.parse().unwrap());
        current == protocol && (first..=last).contains(&port)
    })
}

fn relation(text: &str) -> Box<dyn Relation> {
    let loader = MemoryLoader::new().with("all.yaml", text);
    let mut sources = Sources::new();
    let reach = Kubernetes.reach(&Request::of(["all.yaml"]), &loader, &mut sources);
    let reach = reach.unwrap();
    let relation = reach.relation;
    relation.unwrap_or_else(|| panic!("{:?}\n{text}", reach.diagnostics))
}

/// The peer that an end is, as a source or as a destination.
fn peer(relation: &dyn Relation, end: End, source: bool) -> Option<usize> {
    relation
        .peers()
        .iter()
        .position(|peer| match (end, peer.kind) {
            (End::Pod(at), PeerKind::Workload) => peer.text.ends_with(&format!("/p{at}[Pod]")),
            (
                End::Address(address),
                PeerKind::Outside {
                    first,
                    last,
                    source: is_source,
                },
            ) => {
                let bits = match address {
                    IpAddr::V4(v4) => (32, u128::from(u32::from(v4))),
                    IpAddr::V6(v6) => (128, u128::from(v6)),
                };
                is_source == source
                    && first.family.bits() == bits.0
                    && (first.bits..=last.bits).contains(&bits.1)
            }
            _ => false,
        })
}

fn agrees(seed: u64) -> Result<(), String> {
    let mut dice = Dice(seed | 1);
    let world = World::random(&mut dice);
    let text = world.text();
    let relation = relation(&text);
    let mut ends: Vec<End> = (0..world.pods.len()).map(End::Pod).collect();
    ends.extend(
        ADDRESSES
            .iter()
            .map(|text| End::Address(text.parse().unwrap())),
    );
    for (number, &from) in ends.iter().enumerate() {
        let Some(source) = peer(&*relation, from, true) else {
            continue;
        };
        let reached = relation.reached(source);
        for (other, &to) in ends.iter().enumerate() {
            if number == other || matches!((from, to), (End::Address(_), End::Address(_))) {
                continue;
            }
            // IPv6 is left out where nothing speaks of it.
            let Some(target) = peer(&*relation, to, false) else {
                continue;
            };
            let found = reached.iter().find(|(at, _)| *at == target);
            let found = found.map_or("", |(_, text)| &**text);
            for protocol in PROTOCOLS {
                for port in PORTS {
                    let expected = world.can(from, to, protocol, port);
                    let is = !found.is_empty() && has(found, protocol, port);
                    if is != expected {
                        return Err(format!(
                            "{} => {} {protocol} {port}: expected {expected}, found `{found}`\n{text}",
                            relation.peers()[source].text,
                            relation.peers()[target].text,
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn each_pair_port_and_protocol_is_as_the_policies_say(seed in any::<u64>()) {
        if let Err(difference) = agrees(seed) {
            return Err(TestCaseError::fail(difference));
        }
    }
}

/// The worlds are not so simple that any evaluation would do.
#[test]
fn random_clusters_have_all_kinds_of_answers() {
    let (mut all, mut some) = (0, 0);
    for seed in 1..200u64 {
        let world = World::random(&mut Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1));
        let relation = relation(&world.text());
        for from in 0..relation.peers().len() {
            for (_, text) in relation.reached(from) {
                match &*text == "All Connections" {
                    true => all += 1,
                    false => some += 1,
                }
            }
        }
    }
    assert!(all > 200 && some > 200, "{all} {some}");
}
