//! Random small clusters with policies of all kinds, as manifests.

use serde_json::{Value, json};

/// Numbers that are as random as a test needs.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    pub(super) fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

pub(super) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];
pub(super) const PORTS: [u16; 9] = [1, 52, 53, 79, 80, 81, 8080, 9000, 65535];
pub(super) const NAMES: [&str; 3] = ["http", "dns", "other"];
pub(super) const BLOCKS: [(&str, Option<&str>); 6] = [
    ("0.0.0.0/0", None),
    ("10.0.0.0/8", Some("10.1.0.0/16")),
    ("10.1.0.0/16", None),
    ("192.168.0.0/16", None),
    ("fd00::/8", Some("fd12::/16")),
    ("::/0", None),
];
pub(super) const ADDRESSES: [&str; 7] = [
    "8.8.8.8",
    "10.0.0.1",
    "10.1.2.3",
    "192.168.0.1",
    "fd00::1",
    "fd12::1",
    "2600::1",
];

pub(super) struct Pod {
    pub(super) namespace: usize,
    pub(super) labels: [Option<u8>; 2],
    pub(super) ports: Vec<(&'static str, &'static str, u16)>,
}

/// Requirements on two labels.
#[derive(Clone)]
pub(super) struct Labels(pub(super) Vec<(usize, u8, u8)>);

#[derive(Clone)]
pub(super) enum Peer {
    Pods(Option<Labels>, Option<Labels>),
    Block(usize),
}

#[derive(Clone)]
pub(super) enum Port {
    All(&'static str),
    Range(&'static str, u16, u16),
    Named(&'static str, &'static str),
}

#[derive(Clone)]
pub(super) struct Rule {
    pub(super) action: &'static str,
    pub(super) peers: Option<Vec<Peer>>,
    pub(super) ports: Option<Vec<Port>>,
}

pub(super) struct Policy {
    pub(super) kind: Kind,
    /// The pods that it is about: in its namespace, or in those that match.
    pub(super) pods: Option<Labels>,
    pub(super) ingress: Option<Vec<Rule>>,
    pub(super) egress: Option<Vec<Rule>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Network(usize),
    Admin(usize),
    Baseline,
}

pub(super) struct World {
    pub(super) pods: Vec<Pod>,
    pub(super) namespaces: Vec<[Option<u8>; 2]>,
    pub(super) policies: Vec<Policy>,
}

impl Labels {
    pub(super) fn random(dice: &mut Dice) -> Labels {
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

    pub(super) fn matches(&self, labels: &[Option<u8>; 2]) -> bool {
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

    pub(super) fn json(&self) -> Value {
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

pub(super) fn labels_json(labels: &[Option<u8>; 2]) -> Value {
    let mut map = serde_json::Map::new();
    for (key, value) in ["a", "b"].iter().zip(labels) {
        if let Some(value) = value {
            map.insert((*key).to_owned(), json!(format!("v{value}")));
        }
    }
    Value::Object(map)
}

impl Rule {
    pub(super) fn random(dice: &mut Dice, kind: Kind, egress: bool) -> Rule {
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

    pub(super) fn json(&self, kind: Kind, side: &str) -> Value {
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
    pub(super) fn json(&self, admin: bool) -> Value {
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
    pub(super) fn json(&self, admin: bool) -> Value {
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
    pub(super) fn random(dice: &mut Dice) -> World {
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
    pub(super) fn text(&self) -> String {
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
    pub(super) fn json(&self, at: usize) -> Value {
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
