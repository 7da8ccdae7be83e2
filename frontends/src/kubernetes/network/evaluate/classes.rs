//! Pods that no policy tells apart.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Key, number_of};
use crate::kubernetes::network::cluster::{Cluster, Listed};
use crate::kubernetes::network::policy::{Direction, Peer, Policy, Port};

/// The instances that policies and their peers select.
pub(super) struct Sets {
    pub(super) subjects: Vec<Vec<usize>>,
    pub(super) peers: FxHashMap<(Key, usize), Vec<usize>>,
}

impl Sets {
    pub(super) fn of(cluster: &Cluster) -> Sets {
        let mut peers = FxHashMap::default();
        let mut subjects = Vec::with_capacity(cluster.policies.len());
        for (at, policy) in cluster.policies.iter().enumerate() {
            subjects.push(cluster.select(&policy.subject));
            for direction in [Direction::Ingress, Direction::Egress] {
                let rules = policy.rules(direction).unwrap_or_default();
                for (number, rule) in rules.iter().enumerate() {
                    for (which, peer) in rule.peers.iter().flatten().enumerate() {
                        if let Peer::Pods(pods) = peer {
                            let key = ((at, direction, number), which);
                            peers.insert(key, cluster.select(pods));
                        }
                    }
                }
            }
        }
        Sets { subjects, peers }
    }
}

/// Puts instances that no policy tells apart into one class.
pub(super) fn classes(cluster: &Cluster, sets: &Sets) -> (Vec<u32>, Vec<usize>) {
    let mut seen: Vec<Vec<u32>> = vec![Vec::new(); cluster.instances.len()];
    let all = sets.subjects.iter().chain(sets.peers.values());
    for (number, members) in all.enumerate() {
        for &at in members {
            if let Some(seen) = seen.get_mut(at) {
                seen.push(number_of(number));
            }
        }
    }
    let mut names: FxHashSet<&str> = FxHashSet::default();
    for (_, rule) in cluster.policies.iter().flat_map(Policy::all_rules) {
        for port in rule.ports.iter().flatten() {
            if let Port::Named { name, .. } = port {
                names.insert(name);
            }
        }
    }
    let mut known: FxHashMap<(Vec<u32>, Vec<&Listed>), u32> = FxHashMap::default();
    let mut class_of = Vec::with_capacity(cluster.instances.len());
    let mut classes = Vec::new();
    for (at, (instance, seen)) in cluster.instances.iter().zip(seen).enumerate() {
        let used = |port: &&Listed| {
            port.name
                .as_deref()
                .is_some_and(|name| names.contains(name))
        };
        let ports: Vec<&Listed> = instance.ports.iter().filter(used).collect();
        let class = *known.entry((seen, ports)).or_insert_with(|| {
            classes.push(at);
            number_of(classes.len() - 1)
        });
        class_of.push(class);
    }
    (class_of, classes)
}

/// The policies that select each class.
pub(super) fn selecting(sets: &Sets, class_of: &[u32], classes: usize) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = vec![Vec::new(); classes];
    for (policy, members) in sets.subjects.iter().enumerate() {
        for at in members {
            let class = class_of.get(*at).map(|class| *class as usize);
            let listed = class.and_then(|class| all.get_mut(class));
            if let Some(listed) = listed
                && listed.last() != Some(&number_of(policy))
            {
                listed.push(number_of(policy));
            }
        }
    }
    all
}
