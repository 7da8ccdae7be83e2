//! Who can talk to whom, as people ask for it: workloads, ranges of addresses, what forwards from outside.

use std::sync::{Arc, Mutex, PoisonError};

use locus_core::suggest;
use locus_core::values::{Address, Cidr};
use rustc_hash::FxHashMap;

use super::addresses::{self, Range};
use super::cluster::{CONTROLLER, Cluster};
use super::connections::Connections;
use super::evaluate::{Decider, Decision, End, Evaluation};
use super::policy::Direction;
use super::table::Id;
use crate::kubernetes::model::Model;
use crate::language::reach::{Peer, PeerKind, Reason, Relation};

/// What a peer stands for.
#[derive(Clone, Debug)]
enum Member {
    /// Pods of one owner.
    Instances(Vec<usize>),
    /// What forwards from outside.
    Controller(usize),
    /// A range of addresses that connections come from.
    Source(usize),
    /// A range of addresses that connections go to.
    Target(usize),
    /// A node.
    Host(usize),
}

/// Who can talk to whom.
#[derive(Debug)]
pub struct Reachability {
    /// What policies allow.
    pub evaluation: Evaluation,
    peers: Vec<Peer>,
    members: Vec<Member>,
    texts: Mutex<FxHashMap<(Id, Id), Arc<str>>>,
}

impl Reachability {
    /// Finds who can talk to whom.
    pub fn of(model: &Model<'_>) -> Reachability {
        Reachability::new(Evaluation::of(Cluster::of(model)))
    }

    fn new(evaluation: Evaluation) -> Reachability {
        let cluster = &evaluation.cluster;
        let mut named: FxHashMap<String, usize> = FxHashMap::default();
        let mut all: Vec<(Peer, Member)> = Vec::new();
        for (at, instance) in cluster.instances.iter().enumerate() {
            if cluster.controller == Some(at) {
                let peer = Peer {
                    text: format!("{{{CONTROLLER}}}"),
                    group: None,
                    kind: PeerKind::Forwarder,
                    span: None,
                };
                all.push((peer, Member::Controller(at)));
                continue;
            }
            let (name, kind) = &instance.owner;
            let namespace = &instance.namespace;
            let text = format!("{namespace}/{name}[{kind}]");
            match named.get(&text).and_then(|known| all.get_mut(*known)) {
                Some((_, Member::Instances(instances))) => instances.push(at),
                _ => {
                    named.insert(text.clone(), all.len());
                    let peer = Peer {
                        text,
                        group: Some(namespace.to_string()),
                        kind: PeerKind::Workload,
                        span: instance.span,
                    };
                    all.push((peer, Member::Instances(vec![at])));
                }
            }
        }
        let outside = |range: &Range, source: bool| Peer {
            text: format!("{range}[External]"),
            group: None,
            kind: PeerKind::Outside {
                first: range.first,
                last: range.last,
                source,
            },
            span: None,
        };
        for (at, range) in cluster.sources.iter().enumerate() {
            all.push((outside(range, true), Member::Source(at)));
        }
        for (at, range) in cluster.targets.iter().enumerate() {
            all.push((outside(range, false), Member::Target(at)));
        }
        for (at, host) in cluster.hosts.iter().enumerate() {
            let peer = Peer {
                text: format!("{}[Node]", host.name),
                group: None,
                kind: PeerKind::Host,
                span: Some(host.span),
            };
            all.push((peer, Member::Host(at)));
        }
        all.sort_by(|(a, _), (b, _)| a.text.cmp(&b.text));
        let (peers, members) = all.into_iter().unzip();
        Reachability {
            evaluation,
            peers,
            members,
            texts: Mutex::default(),
        }
    }

    /// The ends that a peer is as a source, each with the connections that it is limited to.
    fn ends(&self, member: &Member) -> Vec<End> {
        match member {
            Member::Instances(instances) => instances.iter().copied().map(End::Instance).collect(),
            Member::Controller(at) => vec![End::Instance(*at)],
            Member::Source(at) | Member::Target(at) => vec![End::Outside(*at)],
            Member::Host(at) => vec![End::Host(*at)],
        }
    }

    /// What is forwarded to an end, when the source forwards.
    fn forwarded(&self, from: &Member, to: End) -> Option<Connections> {
        match (from, to) {
            (Member::Controller(_), End::Instance(at)) => {
                let known = self.evaluation.cluster.forwarded.get(&at);
                let all = known.into_iter().flatten();
                Some(all.fold(Connections::default(), |all, one| {
                    all.union(&one.connections)
                }))
            }
            _ => None,
        }
    }

    /// The connections between two peers.
    pub fn between(&self, from: usize, to: usize) -> Connections {
        let mut all = Connections::default();
        if !self.is_pair(from, to) {
            return all;
        }
        let (Some(source), Some(target)) = (self.members.get(from), self.members.get(to)) else {
            return all;
        };
        for one in self.ends(source) {
            for other in self.ends(target) {
                let mut set = self.evaluation.between(one, other);
                if let Some(limit) = self.forwarded(source, other) {
                    set = set.intersection(&limit);
                }
                all = all.union(&set);
            }
        }
        all
    }

    /// The instances of a peer.
    pub fn instances(&self, peer: usize) -> &[usize] {
        match self.members.get(peer) {
            Some(Member::Instances(instances)) => instances,
            _ => &[],
        }
    }

    /// The peers of workloads in a namespace.
    pub fn in_namespace(&self, namespace: &str) -> Vec<usize> {
        self.which(|peer| {
            peer.kind == PeerKind::Workload && peer.group.as_deref() == Some(namespace)
        })
    }

    /// The peers of a workload by `namespace/name` or `name`, also by the name of one of its pods.
    pub fn named(&self, text: &str) -> Vec<usize> {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, text),
        };
        let instances = &self.evaluation.cluster.instances;
        let mut found = Vec::new();
        for (peer, member) in self.members.iter().enumerate() {
            let Member::Instances(of) = member else {
                continue;
            };
            let mut of = of.iter().filter_map(|at| instances.get(*at));
            if of.any(|instance| {
                namespace.is_none_or(|namespace| *instance.namespace == *namespace)
                    && (*instance.owner.0 == *name || instance.pod.as_deref() == Some(name))
            }) {
                found.push(peer);
            }
        }
        found
    }

    /// The peers of the pods of a Service, by `namespace/name`.
    pub fn service(&self, text: &str) -> Option<Vec<usize>> {
        let (namespace, name) = text.split_once('/')?;
        let key = (Arc::from(namespace), Arc::from(name));
        let instances = self.evaluation.cluster.services.get(&key)?;
        let member = |member: &Member| match member {
            Member::Instances(of) => of.iter().any(|at| instances.contains(at)),
            _ => false,
        };
        let numbered = self.members.iter().enumerate();
        Some(
            numbered
                .filter(|(_, one)| member(one))
                .map(|(at, _)| at)
                .collect(),
        )
    }

    /// The peers that meet a condition.
    pub fn which(&self, wanted: impl Fn(&Peer) -> bool) -> Vec<usize> {
        let numbered = self.peers.iter().enumerate();
        numbered
            .filter(|(_, peer)| wanted(peer))
            .map(|(at, _)| at)
            .collect()
    }

    /// The peers outside whose addresses overlap a range.
    pub fn addresses(&self, wanted: Range) -> Vec<usize> {
        self.which(|peer| range_of(peer).is_some_and(|range| range.overlaps(wanted)))
    }

    /// The peers outside that are part of the internet, and what forwards from there.
    pub fn internet(&self) -> Vec<usize> {
        self.which(|peer| {
            peer.kind == PeerKind::Forwarder || range_of(peer).is_some_and(addresses::is_public)
        })
    }

    fn reason(&self, direction: Direction, instance: usize, decision: &Decision) -> Reason {
        let cluster = &self.evaluation.cluster;
        let title = |at: usize| cluster.policies.get(at).map_or("", |policy| &policy.title);
        let pods = cluster.instances.get(instance);
        let (why, span) = match &decision.by {
            Decider::Rule { policy, rule } => {
                let written = cluster.policies.get(*policy);
                let rule = written.and_then(|policy| policy.rules(direction)?.get(*rule));
                let name = rule.and_then(|rule| rule.name.as_deref());
                let name = name.map_or_else(String::new, |name| format!(", rule `{name}`"));
                (
                    format!("by {}{name}", title(*policy)),
                    rule.map(|rule| rule.span),
                )
            }
            Decider::Isolated(policies) => {
                let titles: Vec<&str> = policies.iter().map(|at| title(*at)).collect();
                let first = policies.first().and_then(|at| cluster.policies.get(*at));
                (
                    format!("as no rule allows it: {}", titles.join(", ")),
                    first.map(|policy| policy.span),
                )
            }
            Decider::Default => {
                let owner = pods.map_or_else(String::new, |pods| {
                    format!("`{}/{}`", pods.namespace, pods.owner.0)
                });
                let why = match self.evaluation.selecting(instance).next() {
                    None => format!("as no policy selects {owner}"),
                    Some(_) => format!("as no policy about {owner} says otherwise"),
                };
                (why, pods.and_then(|pods| pods.span))
            }
        };
        Reason {
            allowed: decision.allowed,
            side: direction.as_str(),
            connections: decision.connections.to_string(),
            why,
            span,
        }
    }

    /// What decides about the connections of two instances or of one and another end, on both sides.
    pub fn decided(&self, from: End, to: End) -> Vec<(Direction, usize, Decision)> {
        let mut all = Vec::new();
        for (end, direction, other) in [
            (from, Direction::Egress, to),
            (to, Direction::Ingress, from),
        ] {
            if let End::Instance(at) = end {
                let decisions = self.evaluation.decisions(at, direction, other);
                all.extend(decisions.into_iter().map(|one| (direction, at, one)));
            }
        }
        all
    }

    /// The pairs of ends that two peers stand for.
    pub fn pairs(&self, from: usize, to: usize) -> Vec<(End, End)> {
        let (Some(source), Some(target)) = (self.members.get(from), self.members.get(to)) else {
            return Vec::new();
        };
        let targets = self.ends(target);
        let mut pairs = Vec::new();
        for one in self.ends(source) {
            pairs.extend(targets.iter().map(|other| (one, *other)));
        }
        pairs
    }
}

/// The addresses of a peer outside.
pub fn range_of(peer: &Peer) -> Option<Range> {
    match peer.kind {
        PeerKind::Outside { first, last, .. } => Some(Range { first, last }),
        _ => None,
    }
}

impl Relation for Reachability {
    fn peers(&self) -> &[Peer] {
        &self.peers
    }

    fn is_pair(&self, from: usize, to: usize) -> bool {
        let (Some(source), Some(target)) = (self.members.get(from), self.members.get(to)) else {
            return false;
        };
        match (source, target) {
            (Member::Target(_), _) | (_, Member::Source(_) | Member::Controller(_)) => false,
            (Member::Controller(_), Member::Instances(of)) => {
                let forwarded = &self.evaluation.cluster.forwarded;
                of.iter().any(|at| forwarded.contains_key(at))
            }
            (Member::Instances(_), _) => from != to,
            (_, Member::Instances(_)) => true,
            _ => false,
        }
    }

    fn reached(&self, from: usize) -> Vec<(usize, Arc<str>)> {
        let mut found = Vec::new();
        let Some(source) = self.members.get(from) else {
            return found;
        };
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let simple = |member: &Member| match member {
            Member::Instances(of) => match of.as_slice() {
                [only] => Some(End::Instance(*only)),
                _ => None,
            },
            Member::Controller(_) => None,
            Member::Source(at) | Member::Target(at) => Some(End::Outside(*at)),
            Member::Host(at) => Some(End::Host(*at)),
        };
        let one = simple(source);
        for (to, target) in self.members.iter().enumerate() {
            if !self.is_pair(from, to) {
                continue;
            }
            match one.zip(simple(target)) {
                Some((one, other)) => {
                    let ids = self.evaluation.between_ids(one, other);
                    if ids.0 == super::table::NONE {
                        continue;
                    }
                    let text = texts
                        .entry(ids)
                        .or_insert_with(|| text_of(&self.evaluation.between(one, other)));
                    if !text.is_empty() {
                        found.push((to, text.clone()));
                    }
                }
                None => {
                    let text = text_of(&self.between(from, to));
                    if !text.is_empty() {
                        found.push((to, text));
                    }
                }
            }
        }
        found
    }

    fn reasons(&self, from: usize, to: usize) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        if !self.is_pair(from, to) {
            return reasons;
        }
        if let (Some(Member::Controller(_)), Some(target)) =
            (self.members.get(from), self.members.get(to))
        {
            let forwarded = &self.evaluation.cluster.forwarded;
            for end in self.ends(target) {
                let End::Instance(at) = end else { continue };
                for one in forwarded.get(&at).into_iter().flatten() {
                    reasons.push(Reason {
                        allowed: true,
                        side: "forwarded",
                        connections: one.connections.to_string(),
                        why: "through the Service that is named here".to_owned(),
                        span: Some(one.span),
                    });
                }
            }
        }
        for (one, other) in self.pairs(from, to) {
            for (direction, instance, decision) in self.decided(one, other) {
                let reason = self.reason(direction, instance, &decision);
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
        reasons
    }

    fn find(&self, text: &str) -> Result<Vec<usize>, String> {
        let text = text.trim();
        let exact = self.which(|peer| peer.text == text);
        if !exact.is_empty() {
            return Ok(exact);
        }
        let braces: &[char] = &['{', '}'];
        match text.trim_matches(braces) {
            "internet" => return Ok(self.internet()),
            "outside" | "external" => {
                return Ok(self.which(|peer| range_of(peer).is_some()));
            }
            CONTROLLER if self.named(CONTROLLER).is_empty() => {
                let found = self.which(|peer| peer.kind == PeerKind::Forwarder);
                return match found.is_empty() {
                    true => Err("no Ingress or route leads to a Service here".to_owned()),
                    false => Ok(found),
                };
            }
            _ => {}
        }
        if let Some(address) = Address::parse(text) {
            let (first, last) = (address, address);
            return Ok(self.addresses(Range { first, last }));
        }
        if let Some(block) = Cidr::parse(text) {
            return Ok(self.addresses(Range::of(block)));
        }
        let namespace = text.strip_suffix("/*").or_else(|| text.strip_suffix('/'));
        let found = match namespace {
            Some(namespace) => self.in_namespace(namespace),
            None => self.named(text),
        };
        if found.is_empty() {
            return Err(self.unknown(text));
        }
        Ok(found)
    }
}

impl Reachability {
    /// What to say of a name that nothing has.
    pub fn unknown(&self, text: &str) -> String {
        let names = self.peers.iter().filter_map(|peer| {
            let name = peer.text.split_once('[')?.0;
            (peer.kind == PeerKind::Workload).then_some(name)
        });
        let short = names.clone().filter_map(|name| name.split('/').next_back());
        let near = match text.contains('/') {
            true => suggest::did_you_mean(text, names),
            false => suggest::did_you_mean(text, short),
        };
        let message = match text.strip_suffix("/*").or_else(|| text.strip_suffix('/')) {
            Some(namespace) => format!("no pods are in the namespace `{namespace}`"),
            None => format!("no workload is called `{text}`"),
        };
        match near {
            Some(near) => format!("{message}; {near}"),
            None => message,
        }
    }
}

/// A set of connections as text; nothing when there are none.
fn text_of(set: &Connections) -> Arc<str> {
    match set.is_empty() {
        true => "".into(),
        false => set.to_string().into(),
    }
}
