//! What is odd about policies: rules that never count, peers and ports that nothing has, what they cut off.

use std::sync::Arc;

use locus_core::Span;

use super::cluster::Cluster;
use super::connections::Connections;
use super::evaluate::{End, Evaluation};
use super::ingress;
use super::policy::{Action, Direction, Namespaces, Peer, Pods, Policy, Port, Rule, Tier};
use crate::kubernetes::model::{Model, Selector};

/// A rule of a policy, and what is odd about it.
#[derive(Debug)]
pub struct AuditedRule {
    /// The position of the object of its policy.
    pub object: usize,
    /// The direction.
    pub direction: Direction,
    /// When its policy is asked.
    pub tier: Tier,
    /// Where it is written.
    pub span: Span,
    /// Whether it decides about something that no other rule decides in the same way before it.
    pub counts: bool,
    /// Where the rule is written that decides all of it already, when one does.
    pub covered: Option<Span>,
    /// Its peers that are pods: where each is written, whether it is about other namespaces, and whether it matches some.
    pub peers: Vec<(Span, bool, bool)>,
    /// Its named ports, and whether some destination lists each.
    pub ports: Vec<(Arc<str>, bool)>,
}

/// A Service that something leads to from outside, which policies cut off from its pods.
#[derive(Debug)]
pub struct Blocked {
    /// The object that leads there.
    pub object: usize,
    /// Where the Service is named.
    pub span: Span,
    /// Whether policies let nothing through.
    pub blocked: bool,
    /// The policies that are about the pods, by their objects.
    pub policies: Vec<usize>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Audit {
    /// The rules.
    pub rules: Vec<AuditedRule>,
    /// Network policies with rules, by their objects, and whether some rule allows something.
    pub policies: Vec<(usize, bool)>,
    /// What leads to Services.
    pub forwards: Vec<Blocked>,
    /// Services that policies cut off from everybody, by their objects.
    pub cut_off: Vec<usize>,
    /// Policies of one tier and priority, by their objects.
    pub ties: Vec<(usize, usize)>,
    /// Policies of the admin and baseline tiers that select no pods, by their objects.
    pub idle: Vec<(usize, Span)>,
}

/// Looks for what is odd about policies.
pub fn audit(model: &Model<'_>, evaluation: &Evaluation) -> Audit {
    let cluster = &evaluation.cluster;
    let mut audit = Audit::default();
    for (at, policy) in cluster.policies.iter().enumerate() {
        let subject = cluster.select(&policy.subject);
        let mut allows = false;
        for direction in [Direction::Ingress, Direction::Egress] {
            let rules = policy.rules(direction).unwrap_or_default();
            for (number, rule) in rules.iter().enumerate() {
                let (audited, some) = audit_rule(
                    evaluation,
                    (at, policy),
                    direction,
                    (number, rule),
                    &subject,
                );
                allows |= some;
                audit.rules.push(audited);
            }
        }
        if policy.tier != Tier::Network && subject.is_empty() {
            audit.idle.push((policy.object, policy.subject.span));
        }
        if policy.tier == Tier::Network
            && policy.all_rules().next().is_some()
            && !subject.is_empty()
        {
            audit.policies.push((policy.object, allows));
        }
    }
    for pair in cluster.policies.windows(2) {
        if let [first, second] = pair
            && first.tier == second.tier
            && first.tier != Tier::Network
        {
            audit.ties.push((first.object, second.object));
        }
    }
    audit.forwards = forwards(evaluation);
    audit.cut_off = cut_off(model, evaluation);
    audit
}

fn audit_rule(
    evaluation: &Evaluation,
    (at, policy): (usize, &Policy),
    direction: Direction,
    (number, rule): (usize, &Rule),
    subject: &[usize],
) -> (AuditedRule, bool) {
    let cluster = &evaluation.cluster;
    let mut peers = Vec::new();
    let mut met: Option<Vec<usize>> = rule.peers.as_ref().map(|_| Vec::new());
    let mut outside = rule.peers.is_none();
    let mut unknown = false;
    for peer in rule.peers.iter().flatten() {
        match peer {
            Peer::Pods(pods) => {
                let found = cluster.select(pods);
                let elsewhere = matches!(pods.namespaces, Namespaces::Matching(_));
                peers.push((pods.span, elsewhere, !found.is_empty()));
                // Pods of other namespaces may be deployed from elsewhere.
                unknown |= elsewhere;
                if let Some(met) = &mut met {
                    met.extend(found);
                }
            }
            _ => outside = true,
        }
    }
    // Named ports are those of the destination: the pods of the policy, or its peers.
    let everyone = || (0..cluster.instances.len()).collect();
    let destinations: Vec<usize> = match direction {
        Direction::Ingress => subject.to_vec(),
        Direction::Egress => met.clone().unwrap_or_else(everyone),
    };
    let mut ports = Vec::new();
    let mut some_port = rule.ports.is_none();
    for port in rule.ports.iter().flatten() {
        match port {
            Port::Numbers(set) => some_port |= !set.is_empty(),
            Port::Named { name, protocol } => {
                let mut pods = destinations
                    .iter()
                    .filter_map(|at| cluster.instances.get(*at));
                let listed = pods.any(|pods| !pods.named(name, *protocol).is_empty());
                // Whoever is deployed from elsewhere may list it.
                let elsewhere = direction == Direction::Egress && (unknown || outside);
                some_port |= listed || elsewhere;
                // Nobody is there to list it, which is told of the peers.
                if !destinations.is_empty() && !elsewhere {
                    ports.push((name.clone(), listed));
                }
            }
        }
    }
    let some_peer = outside || met.as_ref().is_none_or(|met| !met.is_empty());
    let asked = some_peer && some_port && !subject.is_empty();
    let covered = match policy.tier {
        Tier::Network => covering(cluster, at, direction, number),
        Tier::Baseline(_) | Tier::Admin(_) => preceding(cluster, at, direction, number),
    };
    let counts = match policy.tier {
        // Network policies come before the baseline, and are not to be held against it.
        Tier::Network | Tier::Baseline(_) => covered.is_none(),
        Tier::Admin(_) => !asked || evaluation.counts((at, direction, number)),
    };
    let audited = AuditedRule {
        object: policy.object,
        direction,
        tier: policy.tier,
        span: rule.span,
        counts,
        covered: covered.filter(|_| !counts),
        peers,
        ports,
    };
    (audited, (some_peer || unknown) && some_port)
}

/// The rule of a network policy that allows all that a rule allows: another of the policy, or of another policy about the same
/// pods and more. Of two that allow the same, the later one is covered.
fn covering(cluster: &Cluster, at: usize, direction: Direction, number: usize) -> Option<Span> {
    let policy = cluster.policies.get(at)?;
    let rule = policy.rules(direction)?.get(number)?;
    let of = |(other_at, other): (usize, &Policy)| {
        let same = pods_cover(&policy.subject, &other.subject);
        let rules = other.rules(direction).unwrap_or_default().iter();
        let mut rules = rules.enumerate().filter_map(move |(other, wide)| {
            let place = (other_at, other);
            let other_way = same && covers(rule, wide);
            let before = place < (at, number) || !other_way;
            (place != (at, number) && before && covers(wide, rule)).then_some(wide.span)
        });
        rules.next()
    };
    if let Some(found) = of((at, policy)) {
        return Some(found);
    }
    let others = cluster.network_policies(&policy.subject.namespaces);
    let mut others = others
        .filter(|(other_at, other)| *other_at != at && pods_cover(&other.subject, &policy.subject));
    others.find_map(of)
}

/// The rule that is asked before a rule and is about all that it is about, of its policy or of one that is asked earlier.
fn preceding(cluster: &Cluster, at: usize, direction: Direction, number: usize) -> Option<Span> {
    let policy = cluster.policies.get(at)?;
    let rule = policy.rules(direction)?.get(number)?;
    let is_admin = matches!(policy.tier, Tier::Admin(_));
    let tier = |other: &Policy| match other.tier {
        Tier::Admin(_) => is_admin,
        Tier::Baseline(_) => !is_admin,
        Tier::Network => false,
    };
    let earlier = cluster.policies.iter().take(at);
    let earlier = earlier.filter(|other| tier(other) && other.tier != policy.tier);
    let mut earlier = earlier.filter(|other| pods_cover(&other.subject, &policy.subject));
    let wide = |wide: &&Rule| covers(wide, rule);
    let own = policy.rules(direction)?.iter().take(number);
    let found = earlier.find_map(|other| other.rules(direction)?.iter().find(wide));
    let found = found.or_else(|| own.into_iter().find(wide));
    found.map(|wide| wide.span)
}

fn covers(wide: &Rule, narrow: &Rule) -> bool {
    let peers = match (&wide.peers, &narrow.peers) {
        (None, _) => true,
        (_, None) => false,
        (Some(wide), Some(narrow)) => narrow
            .iter()
            .all(|one| wide.iter().any(|other| peer_covers(other, one))),
    };
    peers && ports_cover(wide, narrow)
}

fn ports_cover(wide: &Rule, narrow: &Rule) -> bool {
    let (Some(wide), Some(narrow)) = (&wide.ports, &narrow.ports) else {
        return wide.ports.is_none();
    };
    let numbers = wide
        .iter()
        .fold(Connections::default(), |all, port| match port {
            Port::Numbers(set) => all.union(set),
            Port::Named { .. } => all,
        });
    narrow.iter().all(|port| match port {
        Port::Numbers(set) => set.without(&numbers).is_empty(),
        named => wide.contains(named),
    })
}

fn peer_covers(wide: &Peer, narrow: &Peer) -> bool {
    match (wide, narrow) {
        (Peer::Pods(wide), Peer::Pods(narrow)) => pods_cover(wide, narrow),
        (Peer::Addresses { ranges: wide, .. }, Peer::Addresses { ranges: narrow, .. }) => {
            let covered = |one| wide.iter().any(|other| other.covers(one));
            narrow.iter().copied().all(covered)
        }
        (
            Peer::Nodes { selector: wide, .. },
            Peer::Nodes {
                selector: narrow, ..
            },
        ) => selector_covers(wide, narrow),
        _ => false,
    }
}

fn pods_cover(wide: &Pods, narrow: &Pods) -> bool {
    let namespaces = match (&wide.namespaces, &narrow.namespaces) {
        (Namespaces::Matching(wide), _) if wide.is_empty() => true,
        (Namespaces::Matching(wide), Namespaces::Matching(narrow)) => selector_covers(wide, narrow),
        (Namespaces::Named(wide), Namespaces::Named(narrow)) => wide == narrow,
        _ => false,
    };
    let pods = match (&wide.selector, &narrow.selector) {
        (None, _) => true,
        (Some(wide), None) => wide.is_empty(),
        (Some(wide), Some(narrow)) => selector_covers(wide, narrow),
    };
    namespaces && pods
}

/// Whether what a selector requires, another requires too.
fn selector_covers(wide: &Selector, narrow: &Selector) -> bool {
    wide.requirements.iter().all(|one| {
        narrow.requirements.iter().any(|other| {
            let values = |all: &[crate::kubernetes::object::Text]| {
                let mut all: Vec<Arc<str>> = all.iter().map(|value| value.text.clone()).collect();
                all.sort();
                all
            };
            one.key.text == other.key.text
                && one.operator == other.operator
                && values(&one.values) == values(&other.values)
        })
    })
}

/// What leads to Services from outside, and whether policies let it through to some pod.
fn forwards(evaluation: &Evaluation) -> Vec<Blocked> {
    let cluster = &evaluation.cluster;
    let Some(controller) = cluster.controller else {
        return Vec::new();
    };
    let mut all: Vec<Blocked> = Vec::new();
    let mut instances: Vec<_> = cluster.forwarded.iter().collect();
    instances.sort_by_key(|(at, _)| **at);
    for (at, forwarded) in instances {
        let open = evaluation.between(End::Instance(controller), End::Instance(*at));
        for one in forwarded {
            // What the pods do not list is another mistake.
            if one.connections.is_empty() {
                continue;
            }
            let blocked = open.intersection(&one.connections).is_empty()
                && !may_be_others(evaluation, *at, &one.connections);
            let policies = evaluation.selecting(*at).map(|(_, policy)| policy.object);
            let policies: Vec<usize> = policies.collect();
            match all.iter_mut().find(|known| known.span == one.span) {
                Some(known) => {
                    known.blocked &= blocked;
                    known.policies.extend(policies);
                }
                None => all.push(Blocked {
                    object: one.object,
                    span: one.span,
                    blocked,
                    policies,
                }),
            }
        }
    }
    all
}

/// The Services whose pods nobody can talk to on the ports that they lead to.
fn cut_off(model: &Model<'_>, evaluation: &Evaluation) -> Vec<usize> {
    let cluster = &evaluation.cluster;
    let mut found = Vec::new();
    for (at, object) in model.objects.iter().enumerate() {
        if !object.is("", "Service") {
            continue;
        }
        let Some((namespace, name)) = object.namespace.as_ref().zip(object.name.as_ref()) else {
            continue;
        };
        let key = (namespace.clone(), name.text.clone());
        let pods = cluster.services.get(&key).map_or(&[][..], Vec::as_slice);
        let isolated = |at: &usize| evaluation.selecting(*at).next().is_some();
        if pods.is_empty() || !pods.iter().all(isolated) {
            continue;
        }
        let reachable = pods.iter().any(|pod| {
            let wanted = ingress::wanted(object, cluster, *pod);
            wanted.is_empty()
                || is_reached(evaluation, *pod, &wanted)
                || may_be_others(evaluation, *pod, &wanted)
        });
        if !reachable {
            found.push(at);
        }
    }
    found
}

/// Whether a rule lets somebody through who is not among the files, as the pods of a controller that is installed by others
/// mostly are not: by labels of namespaces, by labels that no known pod has, by nodes or names.
fn may_be_others(evaluation: &Evaluation, instance: usize, wanted: &Connections) -> bool {
    let cluster = &evaluation.cluster;
    let Some(pod) = cluster.instances.get(instance) else {
        return false;
    };
    let allows = |rule: &&Rule| {
        let port = |port: &Port| match port {
            Port::Numbers(set) => !set.intersection(wanted).is_empty(),
            Port::Named { name, protocol } => {
                let own = pod.named(name, *protocol);
                !own.intersection(wanted).is_empty()
            }
        };
        rule.action == Action::Allow
            && rule
                .ports
                .as_ref()
                .is_none_or(|ports| ports.iter().any(port))
    };
    let unknown = |peer: &Peer| match peer {
        Peer::Pods(pods) => match &pods.namespaces {
            Namespaces::Named(_) => cluster.select(pods).is_empty(),
            Namespaces::Matching(_) => true,
        },
        Peer::Addresses { .. } | Peer::Nodes { .. } | Peer::Unknown { .. } => true,
    };
    evaluation.selecting(instance).any(|(_, policy)| {
        let rules = policy.rules(Direction::Ingress).unwrap_or_default().iter();
        let mut rules = rules.filter(allows);
        rules.any(|rule| rule.peers.iter().flatten().any(unknown))
    })
}

/// Whether anybody can talk to an instance by some of these connections.
fn is_reached(evaluation: &Evaluation, instance: usize, wanted: &Connections) -> bool {
    let cluster = &evaluation.cluster;
    let target = End::Instance(instance);
    let outside = (0..cluster.sources.len()).map(End::Outside);
    let classes = evaluation.representatives().filter(|at| {
        // Pods talk to others of their class, if there are any.
        *at != instance || cluster.instances.len() > 1
    });
    let mut ends = classes.map(End::Instance).chain(outside);
    ends.any(|end| {
        let set = evaluation.between(end, target);
        !set.intersection(wanted).is_empty()
    })
}
