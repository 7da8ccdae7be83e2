//! Policies of the network, read into one form: who is meant, in which tier, and what its rules say.
//!
//! A NetworkPolicy isolates the pods it selects and its rules allow. AdminNetworkPolicy, BaselineAdminNetworkPolicy and
//! ClusterNetworkPolicy have rules that are asked in order, in a tier before or after. What is wrong with a NetworkPolicy is
//! found by the checks of its schema; [`super::admin`] reads the others and finds it itself.

use std::sync::Arc;

use locus_core::Span;
use locus_core::values::{Cidr, Family};

use super::addresses::{self, Range};
use super::connections::{Connections, Ports, Protocol};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::Selector;
use crate::kubernetes::object::Object;
use crate::yaml::Node;

/// When a policy is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Before all network policies, lower priorities first.
    Admin(i64),
    /// The network policies of namespaces, all at once.
    Network,
    /// Where no network policy isolates, lower priorities first.
    Baseline(i64),
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The connection is allowed.
    Allow,
    /// It is not.
    Deny,
    /// The next tier decides.
    Pass,
}

/// The namespaces that pods are looked for in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// One.
    Named(Arc<str>),
    /// Those whose labels match.
    Matching(Selector),
}

/// Pods by labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pods {
    /// Where they are.
    pub namespaces: Namespaces,
    /// What their labels must be; nothing when all are meant.
    pub selector: Option<Selector>,
    /// Where this is written.
    pub span: Span,
}

/// The other side of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Pods.
    Pods(Pods),
    /// Addresses outside.
    Addresses {
        /// The addresses, in order.
        ranges: Vec<Range>,
        /// Whether pods are meant too, when every address of a family is.
        and_pods: bool,
        /// Where they are written.
        span: Span,
    },
    /// Nodes by labels.
    Nodes {
        /// What their labels must be.
        selector: Selector,
        /// Where this is written.
        span: Span,
    },
    /// Something whose members are not known, such as domain names.
    Unknown {
        /// Where it is written.
        span: Span,
    },
}

impl Peer {
    /// Where it is written.
    pub fn span(&self) -> Span {
        match self {
            Peer::Pods(pods) => pods.span,
            Peer::Addresses { span, .. } | Peer::Nodes { span, .. } | Peer::Unknown { span } => {
                *span
            }
        }
    }
}

/// Ports that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// By number.
    Numbers(Connections),
    /// By the name that containers give it.
    Named {
        /// The name.
        name: Arc<str>,
        /// The protocol, when only that will do.
        protocol: Option<Protocol>,
    },
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it does.
    pub action: Action,
    /// Its name, when it has one.
    pub name: Option<Arc<str>>,
    /// Its peers; everything when there is no list.
    pub peers: Option<Vec<Peer>>,
    /// Its ports; all when there is no list.
    pub ports: Option<Vec<Port>>,
    /// Where it is written.
    pub span: Span,
}

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The position of its object.
    pub object: usize,
    /// What it is called in messages, as in ``NetworkPolicy `shop/api` ``.
    pub title: String,
    /// Where its name is written.
    pub span: Span,
    /// When it is asked.
    pub tier: Tier,
    /// The pods that it is about.
    pub subject: Pods,
    /// The rules for connections to them; none when it says nothing about these.
    pub ingress: Option<Vec<Rule>>,
    /// The rules for connections from them.
    pub egress: Option<Vec<Rule>>,
}

/// A direction, as seen from the pods that a policy is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To them.
    Ingress,
    /// From them.
    Egress,
}

impl Direction {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Ingress => "ingress",
            Direction::Egress => "egress",
        }
    }
}

impl Policy {
    /// The rules of a direction; none when the policy says nothing about it.
    pub fn rules(&self, direction: Direction) -> Option<&[Rule]> {
        match direction {
            Direction::Ingress => self.ingress.as_deref(),
            Direction::Egress => self.egress.as_deref(),
        }
    }

    /// All of its rules, with their directions.
    pub fn all_rules(&self) -> impl Iterator<Item = (Direction, &Rule)> {
        let of = |direction| {
            let rules = self.rules(direction).unwrap_or_default().iter();
            rules.map(move |rule| (direction, rule))
        };
        of(Direction::Ingress).chain(of(Direction::Egress))
    }
}

/// Whether an object is a NetworkPolicy.
pub fn is_network_policy(object: &Object) -> bool {
    object.is("networking.k8s.io", "NetworkPolicy") || object.is("extensions", "NetworkPolicy")
}

/// Reads a NetworkPolicy.
pub(super) fn network_policy(at: usize, object: &Object) -> Option<Policy> {
    let spec = object.spec()?;
    let namespace: Arc<str> = object.namespace.clone().unwrap_or_else(|| "default".into());
    let selector = spec.some_entry("podSelector");
    let span = selector.map_or(object.span(), |entry| entry.key.span);
    let types: Vec<_> = spec.texts("policyTypes");
    let is_about = |name: &str| types.iter().any(|listed| &*listed.text == name);
    // Without types, every policy is about ingress, and one with egress rules about egress too.
    let (ingress, egress) = match types.is_empty() {
        true => (true, !spec.items("egress").is_empty()),
        false => (is_about("Ingress"), is_about("Egress")),
    };
    let rules = |list: &str, side: &str| {
        let rules = spec.items(list).iter();
        rules
            .map(|rule| network_rule(rule, side, &namespace))
            .collect()
    };
    Some(Policy {
        object: at,
        title: format!("NetworkPolicy `{namespace}/{}`", object.called()),
        span: object.span(),
        tier: Tier::Network,
        subject: Pods {
            namespaces: Namespaces::Named(namespace.clone()),
            selector: selector.map(|entry| Selector::of(&entry.value)),
            span,
        },
        ingress: ingress.then(|| rules("ingress", "from")),
        egress: egress.then(|| rules("egress", "to")),
    })
}

fn network_rule(rule: &Node, side: &str, namespace: &Arc<str>) -> Rule {
    let peers = rule.items(side);
    let peers = peers
        .iter()
        .filter_map(|peer| network_peer(peer, namespace));
    let ports = rule.items("ports");
    Rule {
        action: Action::Allow,
        name: None,
        peers: (!rule.items(side).is_empty()).then(|| peers.collect()),
        ports: (!ports.is_empty()).then(|| ports.iter().filter_map(network_port).collect()),
        span: head(rule),
    }
}

fn network_peer(peer: &Node, namespace: &Arc<str>) -> Option<Peer> {
    let span = head(peer);
    if let Some(block) = peer.some("ipBlock") {
        let cidr = Cidr::parse(block.str_of("cidr")?)?;
        let excepted = block.texts("except");
        let excepted: Vec<Cidr> = excepted
            .iter()
            .filter_map(|text| Cidr::parse(&text.text))
            .collect();
        return Some(Peer::Addresses {
            ranges: addresses::except(cidr, &excepted),
            and_pods: false,
            span,
        });
    }
    let pods = peer.some("podSelector").map(Selector::of);
    let namespaces = match peer.some("namespaceSelector") {
        Some(selector) => Namespaces::Matching(Selector::of(selector)),
        None => {
            pods.as_ref()?;
            Namespaces::Named(namespace.clone())
        }
    };
    Some(Peer::Pods(Pods {
        namespaces,
        selector: pods,
        span,
    }))
}

fn network_port(port: &Node) -> Option<Port> {
    let protocol = match port.str_of("protocol") {
        None | Some("") => Protocol::Tcp,
        Some(text) => Protocol::parse(text)?,
    };
    let Some(first) = port.some("port") else {
        return Some(Port::Numbers(Connections::of(protocol, Ports::all())));
    };
    match first.int() {
        Some(first) => {
            let last = port.int_of("endPort").unwrap_or(first);
            Some(Port::Numbers(numbers(protocol, first, last)))
        }
        None => Some(Port::Named {
            name: first.text_at()?.text,
            protocol: Some(protocol),
        }),
    }
}

/// The connections of a range of numbers; those that are no ports are left out.
pub(super) fn numbers(protocol: Protocol, first: i64, last: i64) -> Connections {
    let clamp = |number: i64| u16::try_from(number.clamp(0, 65535)).unwrap_or(0);
    let ports = match (1..=65535).contains(&first) {
        true => Ports::range(clamp(first), clamp(last)),
        false => Ports::default(),
    };
    Connections::of(protocol, ports)
}

/// The families of addresses that policies speak of, IPv4 always.
pub(super) fn families<'p>(policies: impl Iterator<Item = &'p Policy>) -> Vec<Family> {
    let mut ranges = policies
        .flat_map(Policy::all_rules)
        .flat_map(|(_, rule)| rule.peers.iter().flatten())
        .flat_map(|peer| match peer {
            Peer::Addresses { ranges, .. } => ranges.as_slice(),
            _ => &[],
        });
    match ranges.any(|range| range.family() == Family::V6) {
        true => vec![Family::V4, Family::V6],
        false => vec![Family::V4],
    }
}

/// Where a map starts: its first key, so that what points at it is a line and not all of it.
pub(super) fn head(node: &Node) -> Span {
    node.entries()
        .first()
        .map_or(node.span, |entry| entry.key.span)
}
