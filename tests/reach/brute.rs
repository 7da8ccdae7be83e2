//! Reachability on random small clusters against an evaluation of the policies for each pair, port and protocol.

use std::net::IpAddr;

use locus_core::Sources;
use locus_frontends::kubernetes::Kubernetes;
use locus_frontends::language::reach::{PeerKind, Relation};
use locus_frontends::language::{Language as _, Request};
use locus_frontends::loader::MemoryLoader;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Numbers that are as random as a test needs.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
const PORTS: [u16; 9] = [1, 52, 53, 79, 80, 81, 8080, 9000, 65535];
const NAMES: [&str; 3] = ["http", "dns", "other"];
const BLOCKS: [(&str, Option<&str>); 6] = [
    ("0.0.0.0/0", None),
    ("10.0.0.0/8", Some("10.1.0.0/16")),
    ("10.1.0.0/16", None),
    ("192.168.0.0/16", None),
    ("fd00::/8", Some("fd12::/16")),
    ("::/0", None),
];
const ADDRESSES: [&str; 7] = [
    "8.8.8.8",
    "10.0.0.1",
    "10.1.2.3",
    "192.168.0.1",
    "fd00::1",
    "fd12::1",
    "2600::1",
];

struct Pod {
    namespace: usize,
    labels: [Option<u8>; 2],
    ports: Vec<(&'static str, &'static str, u16)>,
}

/// Requirements on two labels.
#[derive(Clone)]
struct Labels(Vec<(usize, u8, u8)>);

#[derive(Clone)]
enum Peer {
    Pods(Option<Labels>, Option<Labels>),
    Block(usize),
}

#[derive(Clone)]
enum Port {
    All(&'static str),
    Range(&'static str, u16, u16),
    Named(&'static str, &'static str),
}

#[derive(Clone)]
struct Rule {
    action: &'static str,
    peers: Option<Vec<Peer>>,
    ports: Option<Vec<Port>>,
}

struct Policy {
    kind: Kind,
    /// The pods that it is about: in its namespace, or in those that match.
    pods: Option<Labels>,
    ingress: Option<Vec<Rule>>,
    egress: Option<Vec<Rule>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Network(usize),
    Admin(usize),
    Baseline,
}

struct World {
    pods: Vec<Pod>,
    namespaces: Vec<[Option<u8>; 2]>,
    policies: Vec<Policy>,
}

impl Labels {
    fn random(dice: &mut Dice) -> Labels {
        let count = dice.below(3);
        let of = |dice: &mut Dice| {
            (
                dice.below(2),
                u8::try_from(dice.below(4)).unwrap(),
                u8::try_from(dice.below(2)).unwrap(),
            )
        };
        Labels((0..count).map(|_| of(dice)).collect())
    }

    fn matches(&self, labels: &[Option<u8>; 2]) -> bool {
        self.0.iter().all(|(key, operator, value)| {
            let label = labels[*key];
            match operator {
                0 => label == Some(*value),
                1 => label != Some(*value),
                2 => label.is_some(),
                _ => label.is_none(),
            }
        })
    }

    fn json(&self) -> Value {
        let all: Vec<Value> = self
            .0
            .iter()
            .map(|(key, operator, value)| {
                let key = ["a", "b"][*key];
                match operator {
                    0 => json!({"key": key, "operator": "In", "values": [format!("v{value}")]}),
                    1 => json!({"key": key, "operator": "NotIn", "values": [format!("v{value}")]}),
                    2 => json!({"key": key, "operator": "Exists"}),
                    _ => json!({"key": key, "operator": "DoesNotExist"}),
                }
            })
            .collect();
        json!({ "matchExpressions": all })
    }
}

fn labels_json(labels: &[Option<u8>; 2]) -> Value {
    let mut map = serde_json::Map::new();
    for (key, value) in ["a", "b"].iter().zip(labels) {
        if let Some(value) = value {
            map.insert((*key).to_owned(), json!(format!("v{value}")));
        }
    }
    Value::Object(map)
}

impl Rule {
    fn random(dice: &mut Dice, kind: Kind, egress: bool) -> Rule {
        let admin = !matches!(kind, Kind::Network(_));
        let action = match kind {
            Kind::Network(_) => "Allow",
            Kind::Admin(_) => dice.of(&["Allow", "Deny", "Pass"]),
            Kind::Baseline => dice.of(&["Allow", "Deny"]),
        };
        let peer = |dice: &mut Dice| {
            let blocks = !admin || egress;
            if blocks && dice.one_in(2) {
                return Peer::Block(dice.below(BLOCKS.len()));
            }
            let pods = Some(Labels::random(dice)).filter(|_| !dice.one_in(3));
            let namespaces = Some(Labels::random(dice)).filter(|_| admin || dice.one_in(2));
            match (&namespaces, &pods) {
                (None, None) => Peer::Pods(Some(Labels(Vec::new())), None),
                _ => Peer::Pods(namespaces, pods),
            }
        };
        let port = |dice: &mut Dice| {
            let protocol = dice.of(&PROTOCOLS);
            match dice.below(4) {
                0 if !admin => Port::All(protocol),
                1 => Port::Named(protocol, dice.of(&NAMES)),
                _ => {
                    let (one, two) = (dice.of(&PORTS), dice.of(&PORTS));
                    Port::Range(protocol, one.min(two), one.max(two))
                }
            }
        };
        let peers = match !admin && dice.one_in(4) {
            true => None,
            false => Some((0..1 + dice.below(2)).map(|_| peer(dice)).collect()),
        };
        let ports = match dice.one_in(2) {
            true => None,
            false => Some((0..1 + dice.below(2)).map(|_| port(dice)).collect()),
        };
        Rule {
            action,
            peers,
            ports,
        }
    }

    fn json(&self, kind: Kind, side: &str) -> Value {
        let admin = !matches!(kind, Kind::Network(_));
        let mut rule = serde_json::Map::new();
        if admin {
            rule.insert("action".to_owned(), json!(self.action));
        }
        if let Some(peers) = &self.peers {
            let peers: Vec<Value> = peers.iter().map(|peer| peer.json(admin)).collect();
            rule.insert(side.to_owned(), json!(peers));
        }
        if let Some(ports) = &self.ports {
            let ports: Vec<Value> = ports.iter().map(|port| port.json(admin)).collect();
            rule.insert("ports".to_owned(), json!(ports));
        }
        Value::Object(rule)
    }
}

impl Peer {
    fn json(&self, admin: bool) -> Value {
        match (self, admin) {
            (Peer::Block(at), false) => {
                let (block, except) = BLOCKS[*at];
                match except {
                    Some(except) => json!({"ipBlock": {"cidr": block, "except": [except]}}),
                    None => json!({"ipBlock": {"cidr": block}}),
                }
            }
            (Peer::Block(at), true) => json!({"networks": [BLOCKS[*at].0]}),
            (Peer::Pods(namespaces, pods), true) => {
                let everything = Labels(Vec::new());
                let namespaces = namespaces.as_ref().unwrap_or(&everything);
                match pods {
                    None => json!({"namespaces": namespaces.json()}),
                    Some(pods) => json!({
                        "pods": {"namespaceSelector": namespaces.json(), "podSelector": pods.json()}
                    }),
                }
            }
            (Peer::Pods(namespaces, pods), false) => {
                let mut peer = serde_json::Map::new();
                if let Some(namespaces) = namespaces {
                    peer.insert("namespaceSelector".to_owned(), namespaces.json());
                }
                if let Some(pods) = pods {
                    peer.insert("podSelector".to_owned(), pods.json());
                }
                Value::Object(peer)
            }
        }
    }
}

impl Port {
    fn json(&self, admin: bool) -> Value {
        match (self, admin) {
            (Port::All(protocol), _) => json!({ "protocol": protocol }),
            (Port::Range(protocol, first, last), false) => {
                json!({"protocol": protocol, "port": first, "endPort": last})
            }
            (Port::Range(protocol, first, last), true) if first == last => {
                json!({"portNumber": {"protocol": protocol, "port": first}})
            }
            (Port::Range(protocol, first, last), true) => {
                json!({"portRange": {"protocol": protocol, "start": first, "end": last}})
            }
            (Port::Named(protocol, name), false) => json!({"protocol": protocol, "port": name}),
            (Port::Named(_, name), true) => json!({ "namedPort": name }),
        }
    }
}

impl World {
    fn random(dice: &mut Dice) -> World {
        let label = |dice: &mut Dice| match dice.below(3) {
            0 => None,
            value => Some(u8::try_from(value - 1).unwrap()),
        };
        let namespaces: Vec<[Option<u8>; 2]> = (0..2).map(|_| [label(dice), label(dice)]).collect();
        let pods = (0..2 + dice.below(3))
            .map(|_| Pod {
                namespace: dice.below(namespaces.len()),
                labels: [label(dice), label(dice)],
                ports: (0..dice.below(3))
                    .map(|at| (NAMES[at], dice.of(&PROTOCOLS), dice.of(&PORTS)))
                    .collect(),
            })
            .collect();
        let mut kinds: Vec<Kind> = (0..dice.below(4))
            .map(|_| Kind::Network(dice.below(2)))
            .collect();
        kinds.extend((0..dice.below(3)).map(|at| Kind::Admin(at * 10)));
        if dice.one_in(2) {
            kinds.push(Kind::Baseline);
        }
        let policies = kinds
            .into_iter()
            .map(|kind| {
                let rules = |dice: &mut Dice, egress: bool| {
                    let rules = (0..dice.below(3)).map(|_| Rule::random(dice, kind, egress));
                    Some(rules.collect::<Vec<Rule>>())
                };
                let mut policy = Policy {
                    kind,
                    pods: Some(Labels::random(dice)).filter(|_| !dice.one_in(3)),
                    ingress: rules(dice, false),
                    egress: rules(dice, true),
                };
                if dice.one_in(3) {
                    policy.ingress = None;
                } else if dice.one_in(3) {
                    policy.egress = None;
                }
                policy
            })
            .collect();
        World {
            pods,
            namespaces,
            policies,
        }
    }

    /// The manifests. JSON is YAML, too.
    fn text(&self) -> String {
        let mut objects = Vec::new();
        for (at, labels) in self.namespaces.iter().enumerate() {
            objects.push(json!({
                "apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": format!("n{at}"), "labels": labels_json(labels)},
            }));
        }
        for (at, pod) in self.pods.iter().enumerate() {
            let ports: Vec<Value> = pod.ports.iter().map(|(name, protocol, number)| {
                json!({"name": name, "protocol": protocol, "containerPort": number})
            }).collect();
            objects.push(json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {
                    "name": format!("p{at}"), "namespace": format!("n{}", pod.namespace),
                    "labels": labels_json(&pod.labels),
                },
                "spec": {"containers": [{"name": "c", "image": "i:1", "ports": ports}]},
            }));
        }
        for (at, policy) in self.policies.iter().enumerate() {
            objects.push(policy.json(at));
        }
        let texts: Vec<String> = objects.iter().map(Value::to_string).collect();
        texts.join("\n---\n")
    }
}

impl Policy {
    fn json(&self, at: usize) -> Value {
        let everything = Labels(Vec::new());
        let pods = self.pods.as_ref().unwrap_or(&everything);
        let mut spec = serde_json::Map::new();
        let mut types = Vec::new();
        for (name, side, rules) in [
            ("ingress", "from", &self.ingress),
            ("egress", "to", &self.egress),
        ] {
            if let Some(rules) = rules {
                let rules: Vec<Value> = rules
                    .iter()
                    .map(|rule| rule.json(self.kind, side))
                    .collect();
                spec.insert(name.to_owned(), json!(rules));
                types.push(if name == "ingress" {
                    "Ingress"
                } else {
                    "Egress"
                });
            }
        }
        match self.kind {
            Kind::Network(namespace) => {
                spec.insert("podSelector".to_owned(), pods.json());
                spec.insert("policyTypes".to_owned(), json!(types));
                json!({
                    "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
                    "metadata": {"name": format!("x{at}"), "namespace": format!("n{namespace}")},
                    "spec": spec,
                })
            }
            Kind::Admin(priority) => {
                spec.insert("priority".to_owned(), json!(priority));
                spec.insert(
                    "subject".to_owned(),
                    json!({"pods": {"podSelector": pods.json()}}),
                );
                json!({
                    "apiVersion": "policy.networking.k8s.io/v1alpha1", "kind": "AdminNetworkPolicy",
                    "metadata": {"name": format!("x{at}")}, "spec": spec,
                })
            }
            Kind::Baseline => {
                spec.insert(
                    "subject".to_owned(),
                    json!({"pods": {"podSelector": pods.json()}}),
                );
                json!({
                    "apiVersion": "policy.networking.k8s.io/v1alpha1",
                    "kind": "BaselineAdminNetworkPolicy",
                    "metadata": {"name": "default"}, "spec": spec,
                })
            }
        }
    }
}

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
