//! What policies allow between any two ends.
//!
//! Pods that every policy sees alike are one class, so that the work grows with what policies tell apart and not with the
//! number of pods. For each class and direction, what is allowed with every other end is computed once.

mod classes;
mod decisions;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::addresses::Range;
use super::cluster::Cluster;
use super::connections::Connections;
use super::policy::{Action, Direction, Peer, Policy, Port, Rule, Tier};
use super::table::{ALL, Id, NONE, Table};
use classes::{Sets, classes, selecting};

/// An end of connections, as policies see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// An instance.
    Instance(usize),
    /// A range of addresses, among those of its direction.
    Outside(usize),
    /// A node.
    Host(usize),
}

/// What decided about some connections in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decider {
    /// A rule, by the positions of its policy and of itself.
    Rule {
        /// The policy.
        policy: usize,
        /// The rule, among those of the direction.
        rule: usize,
    },
    /// These policies isolate, and none of their rules allows it.
    Isolated(Vec<usize>),
    /// No policy says anything.
    Default,
}

/// What was decided about some connections in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The connections.
    pub connections: Connections,
    /// Whether they are allowed.
    pub allowed: bool,
    /// What decided it.
    pub by: Decider,
}

/// The rules of a direction, resolved: which ends each is about.
#[derive(Debug)]
struct Resolved {
    /// The ends that its peers are, in order; everything without a list.
    members: Option<Vec<u32>>,
    /// The connections that are the same for every destination.
    fixed: Id,
    /// Whether it has named ports.
    named: bool,
}

/// What policies allow.
#[derive(Debug)]
pub struct Evaluation {
    /// Who there is, and the policies.
    pub cluster: Cluster,
    class_of: Vec<u32>,
    /// An instance of each class.
    classes: Vec<usize>,
    /// The policies that select a class, in their order.
    selecting: Vec<Vec<u32>>,
    table: Table,
    egress: Vec<Arc<[Id]>>,
    ingress: Vec<Arc<[Id]>>,
    /// The rules that are asked in order and decide about something.
    counting: FxHashSet<Key>,
}

impl Evaluation {
    /// Evaluates all policies.
    pub fn of(cluster: Cluster) -> Evaluation {
        let sets = Sets::of(&cluster);
        let (class_of, classes) = classes(&cluster, &sets);
        let selecting = selecting(&sets, &class_of, classes.len());
        let mut evaluation = Evaluation {
            cluster,
            class_of,
            classes,
            selecting,
            table: Table::new(),
            egress: Vec::new(),
            ingress: Vec::new(),
            counting: FxHashSet::default(),
        };
        evaluation.egress = evaluation.profiles(&sets, Direction::Egress);
        evaluation.ingress = evaluation.profiles(&sets, Direction::Ingress);
        evaluation
    }

    /// The number of classes.
    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// An instance of each class.
    pub fn representatives(&self) -> impl Iterator<Item = usize> {
        self.classes.iter().copied()
    }

    /// Whether a rule that is asked in order decides about something that no rule before it decides.
    pub fn counts(&self, rule: (usize, Direction, usize)) -> bool {
        self.counting.contains(&rule)
    }

    /// The class of an instance.
    pub fn class(&self, instance: usize) -> usize {
        self.class_of
            .get(instance)
            .map_or(0, |class| *class as usize)
    }

    /// The policies that are about an instance, in their order.
    pub fn selecting(&self, instance: usize) -> impl Iterator<Item = (usize, &Policy)> {
        let listed = self.selecting.get(self.class(instance));
        let listed = listed.into_iter().flatten();
        listed.filter_map(|at| Some((*at as usize, self.cluster.policies.get(*at as usize)?)))
    }

    /// Whether a policy of the network tier isolates an instance in a direction.
    pub fn is_isolated(&self, instance: usize, direction: Direction) -> bool {
        let mut selecting = self.selecting(instance);
        selecting
            .any(|(_, policy)| policy.tier == Tier::Network && policy.rules(direction).is_some())
    }

    fn outside(&self, direction: Direction) -> &[Range] {
        match direction {
            Direction::Ingress => &self.cluster.sources,
            Direction::Egress => &self.cluster.targets,
        }
    }

    fn points(&self, direction: Direction) -> usize {
        self.classes.len() + self.outside(direction).len() + self.cluster.hosts.len()
    }

    fn point(&self, direction: Direction, end: End) -> usize {
        let classes = self.classes.len();
        match end {
            End::Instance(at) => self.class(at),
            End::Outside(at) => classes + at,
            End::Host(at) => classes + self.outside(direction).len() + at,
        }
    }

    /// What policies allow in a direction, by their number in the table.
    fn allowed_id(&self, instance: usize, direction: Direction, other: End) -> Id {
        let profiles = match direction {
            Direction::Egress => &self.egress,
            Direction::Ingress => &self.ingress,
        };
        let profile = profiles.get(self.class(instance));
        let point = self.point(direction, other);
        profile
            .and_then(|profile| profile.get(point))
            .copied()
            .unwrap_or(NONE)
    }

    /// What the policies of one side allow.
    pub fn allowed(&self, instance: usize, direction: Direction, other: End) -> Connections {
        self.table.get(self.allowed_id(instance, direction, other))
    }

    /// What both sides allow, as two numbers; equal numbers mean equal sets.
    pub(super) fn between_ids(&self, from: End, to: End) -> (Id, Id) {
        let egress = match from {
            End::Instance(at) => self.allowed_id(at, Direction::Egress, to),
            _ => ALL,
        };
        let ingress = match to {
            End::Instance(at) => self.allowed_id(at, Direction::Ingress, from),
            _ => ALL,
        };
        match (egress, ingress) {
            (NONE, _) | (_, NONE) => (NONE, NONE),
            (ALL, other) | (other, ALL) => (other, other),
            pair => pair,
        }
    }

    /// What both sides allow.
    pub fn between(&self, from: End, to: End) -> Connections {
        let (egress, ingress) = self.between_ids(from, to);
        match egress == ingress {
            true => self.table.get(egress),
            false => self
                .table
                .get(egress)
                .intersection(&self.table.get(ingress)),
        }
    }

    /// The rules of all policies in a direction.
    fn resolve(&mut self, sets: &Sets, direction: Direction) -> Vec<Vec<Resolved>> {
        let mut all = Vec::with_capacity(self.cluster.policies.len());
        for at in 0..self.cluster.policies.len() {
            let Some(policy) = self.cluster.policies.get(at) else {
                continue;
            };
            let rules = policy.rules(direction).unwrap_or_default();
            let mut resolved = Vec::with_capacity(rules.len());
            let fixed: Vec<Connections> = rules.iter().map(fixed).collect();
            for (number, rule) in rules.iter().enumerate() {
                resolved.push(Resolved {
                    members: self.members(sets, (at, direction, number), rule),
                    fixed: NONE,
                    named: has_named(rule),
                });
            }
            for (rule, fixed) in resolved.iter_mut().zip(fixed) {
                rule.fixed = self.table.id(fixed);
            }
            all.push(resolved);
        }
        all
    }

    /// The ends that a rule's peers are.
    fn members(&self, sets: &Sets, key: Key, rule: &Rule) -> Option<Vec<u32>> {
        let (_, direction, _) = key;
        let mut members = FxHashSet::default();
        for (number, peer) in rule.peers.as_ref()?.iter().enumerate() {
            match peer {
                Peer::Pods(_) => {
                    for at in sets.peers.get(&(key, number)).into_iter().flatten() {
                        members.extend(self.class_of.get(*at).copied());
                    }
                }
                Peer::Addresses {
                    ranges, and_pods, ..
                } => {
                    for (at, part) in self.outside(direction).iter().enumerate() {
                        if ranges.iter().any(|range| range.covers(*part)) {
                            members.insert(number_of(self.point(direction, End::Outside(at))));
                        }
                    }
                    for (at, host) in self.cluster.hosts.iter().enumerate() {
                        let mut known = host.addresses.iter();
                        if known.any(|address| {
                            let one = Range {
                                first: *address,
                                last: *address,
                            };
                            ranges.iter().any(|range| range.covers(one))
                        }) {
                            members.insert(number_of(self.point(direction, End::Host(at))));
                        }
                    }
                    if *and_pods {
                        members.extend(0..number_of(self.classes.len()));
                    }
                }
                Peer::Nodes { selector, .. } => {
                    for (at, host) in self.cluster.hosts.iter().enumerate() {
                        if selector.matches(&host.labels) {
                            members.insert(number_of(self.point(direction, End::Host(at))));
                        }
                    }
                }
                Peer::Unknown { .. } => {}
            }
        }
        let mut members: Vec<u32> = members.into_iter().collect();
        members.sort_unstable();
        Some(members)
    }

    /// What is allowed between each class and every end.
    fn profiles(&mut self, sets: &Sets, direction: Direction) -> Vec<Arc<[Id]>> {
        let resolved = self.resolve(sets, direction);
        let points = self.points(direction);
        let open: Arc<[Id]> = vec![ALL; points].into();
        let mut profiles = Vec::with_capacity(self.classes.len());
        let mut named = Named {
            known: FxHashMap::default(),
        };
        // Classes that the same policies are about are allowed the same, but for the names of their own ports.
        let mut shared: FxHashMap<Vec<u32>, Arc<[Id]>> = FxHashMap::default();
        for class in 0..self.classes.len() {
            let selecting = self.selecting.get(class).cloned().unwrap_or_default();
            let about = |at: &&u32| {
                let policy = self.cluster.policies.get(**at as usize);
                policy.is_some_and(|policy| policy.rules(direction).is_some())
            };
            let selecting: Vec<u32> = selecting.iter().filter(about).copied().collect();
            if selecting.is_empty() {
                profiles.push(open.clone());
                continue;
            }
            let own_ports = direction == Direction::Ingress
                && selecting.iter().any(|at| {
                    let rules = resolved.get(*at as usize).into_iter().flatten();
                    rules.into_iter().any(|rule| rule.named)
                });
            if let Some(profile) = shared.get(&selecting).filter(|_| !own_ports) {
                profiles.push(profile.clone());
                continue;
            }
            let ids = self.profile(class, direction, &selecting, &resolved, points, &mut named);
            let profile: Arc<[Id]> = ids.into();
            if !own_ports {
                shared.insert(selecting, profile.clone());
            }
            profiles.push(profile);
        }
        profiles
    }

    fn profile(
        &mut self,
        class: usize,
        direction: Direction,
        selecting: &[u32],
        resolved: &[Vec<Resolved>],
        points: usize,
        named: &mut Named,
    ) -> Vec<Id> {
        // What each tier has not decided yet, and what is allowed so far.
        let mut left = vec![ALL; points];
        let mut allowed = vec![NONE; points];
        let tier_of = |at: u32| {
            self.cluster
                .policies
                .get(at as usize)
                .map(|policy| policy.tier)
        };
        let of = |wanted: fn(Tier) -> bool| -> Vec<u32> {
            let policies = selecting.iter().copied();
            policies
                .filter(|at| tier_of(*at).is_some_and(wanted))
                .collect()
        };
        let admin = of(|tier| matches!(tier, Tier::Admin(_)));
        let network = of(|tier| tier == Tier::Network);
        let baseline = of(|tier| matches!(tier, Tier::Baseline(_)));
        if !admin.is_empty() {
            let mut passed = vec![NONE; points];
            let mut counting = Vec::new();
            self.each_rule(
                &admin,
                direction,
                resolved,
                points,
                class,
                named,
                |table, at, (key, action), set| {
                    let (Some(left), Some(allowed), Some(passed)) =
                        (left.get_mut(at), allowed.get_mut(at), passed.get_mut(at))
                    else {
                        return;
                    };
                    let taken = table.intersection(set, *left);
                    if taken != NONE && counting.last() != Some(&key) {
                        counting.push(key);
                    }
                    *left = table.without(*left, taken);
                    match action {
                        Action::Allow => *allowed = table.union(*allowed, taken),
                        Action::Pass => *passed = table.union(*passed, taken),
                        Action::Deny => {}
                    }
                },
            );
            self.counting.extend(counting);
            for (left, passed) in left.iter_mut().zip(passed) {
                *left = self.table.union(*left, passed);
            }
        }
        if !network.is_empty() {
            let mut open = vec![NONE; points];
            self.each_rule(
                &network,
                direction,
                resolved,
                points,
                class,
                named,
                |table, at, _, set| {
                    if let Some(open) = open.get_mut(at) {
                        *open = table.union(*open, set);
                    }
                },
            );
            for ((allowed, left), open) in allowed.iter_mut().zip(left).zip(open) {
                let more = self.table.intersection(left, open);
                *allowed = self.table.union(*allowed, more);
            }
            return allowed;
        }
        if !baseline.is_empty() {
            let mut passed = vec![NONE; points];
            let mut counting = Vec::new();
            self.each_rule(
                &baseline,
                direction,
                resolved,
                points,
                class,
                named,
                |table, at, (key, action), set| {
                    let (Some(left), Some(passed)) = (left.get_mut(at), passed.get_mut(at)) else {
                        return;
                    };
                    let taken = table.intersection(set, *left);
                    if taken != NONE && counting.last() != Some(&key) {
                        counting.push(key);
                    }
                    *left = table.without(*left, taken);
                    if action != Action::Deny {
                        *passed = table.union(*passed, taken);
                    }
                },
            );
            self.counting.extend(counting);
            for (left, passed) in left.iter_mut().zip(passed) {
                *left = self.table.union(*left, passed);
            }
        }
        for (allowed, left) in allowed.iter_mut().zip(left) {
            *allowed = self.table.union(*allowed, left);
        }
        allowed
    }

    /// Calls for every end that a rule is about, in the order of the rules.
    #[expect(
        clippy::too_many_arguments,
        reason = "three tiers walk their rules alike, and differ in what they do at each"
    )]
    fn each_rule(
        &mut self,
        policies: &[u32],
        direction: Direction,
        resolved: &[Vec<Resolved>],
        points: usize,
        class: usize,
        named: &mut Named,
        mut each: impl FnMut(&mut Table, usize, (Key, Action), Id),
    ) {
        let Evaluation {
            cluster,
            classes,
            table,
            ..
        } = self;
        for &policy in policies {
            let Some((written, rules)) = cluster
                .policies
                .get(policy as usize)
                .zip(resolved.get(policy as usize))
            else {
                continue;
            };
            let written = written.rules(direction).unwrap_or_default();
            for (number, (rule, resolved)) in written.iter().zip(rules).enumerate() {
                let key = (policy as usize, direction, number);
                let mut at = |table: &mut Table, point: usize| {
                    // Named ports are those of the destination.
                    let destination = match direction {
                        Direction::Ingress => class,
                        Direction::Egress => point,
                    };
                    let set = match (resolved.named, classes.get(destination)) {
                        (true, Some(instance)) => {
                            let ports = named.of(cluster, table, rule, *instance);
                            table.union(resolved.fixed, ports)
                        }
                        _ => resolved.fixed,
                    };
                    if set != NONE {
                        each(table, point, (key, rule.action), set);
                    }
                };
                match &resolved.members {
                    Some(members) => {
                        for &point in members {
                            at(table, point as usize);
                        }
                    }
                    None => {
                        for point in 0..points {
                            at(table, point);
                        }
                    }
                }
            }
        }
    }
}

fn number_of(point: usize) -> u32 {
    u32::try_from(point).unwrap_or(u32::MAX)
}

/// The connections of a rule that are the same for every destination.
fn fixed(rule: &Rule) -> Connections {
    let Some(ports) = &rule.ports else {
        return Connections::all();
    };
    ports
        .iter()
        .fold(Connections::default(), |all, port| match port {
            Port::Numbers(set) => all.union(set),
            Port::Named { .. } => all,
        })
}

fn has_named(rule: &Rule) -> bool {
    let mut ports = rule.ports.iter().flatten();
    ports.any(|port| matches!(port, Port::Named { .. }))
}

/// The connections that named ports stand for, by name, protocol and instance.
struct Named {
    known: FxHashMap<(usize, *const Rule), Id>,
}

impl Named {
    fn of(&mut self, cluster: &Cluster, table: &mut Table, rule: &Rule, instance: usize) -> Id {
        let key = (instance, std::ptr::from_ref(rule));
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let mut all = Connections::default();
        let pods = cluster.instances.get(instance);
        for port in rule.ports.iter().flatten() {
            if let (Port::Named { name, protocol }, Some(pods)) = (port, pods) {
                all = all.union(&pods.named(name, *protocol));
            }
        }
        let id = table.id(all);
        self.known.insert(key, id);
        id
    }
}

/// A rule: its policy, direction and number.
type Key = (usize, Direction, usize);
