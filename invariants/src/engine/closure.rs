//! Transitive closure by graph search.

use rustc_hash::{FxHashMap, FxHashSet};

use super::set::{Atom, Set, Tri};

/// A binary relation as a graph.
#[derive(Debug, Default)]
pub(super) struct Reach {
    edges: FxHashMap<Atom, Vec<(Atom, Tri)>>,
    /// The relation may have more tuples.
    open: bool,
    /// Atoms on a cycle of edges of any certainty; whoever is not among them never reaches itself.
    cyclic: FxHashSet<Atom>,
}

impl Reach {
    /// The graph of a set of pairs.
    pub(super) fn new(set: &Set) -> Reach {
        let mut reach = Reach {
            open: set.open,
            ..Reach::default()
        };
        for (row, tri) in set.rows() {
            if let [a, b] = row {
                reach.edges.entry(*a).or_default().push((*b, tri));
            }
        }
        reach.cyclic = reach.find_cycles();
        reach
    }

    /// Whether there may be edges of which nothing is known.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// The atoms that edges start from.
    pub(super) fn starts(&self) -> impl Iterator<Item = Atom> + '_ {
        self.edges.keys().copied()
    }

    fn next(&self, atom: Atom) -> &[(Atom, Tri)] {
        self.edges.get(&atom).map_or(&[], Vec::as_slice)
    }

    /// Everything that can be reached in one step or more.
    pub(super) fn from(&self, start: Atom) -> Vec<(Atom, Tri)> {
        let mut best: FxHashMap<Atom, Tri> = FxHashMap::default();
        let mut open = vec![(start, Tri::True)];
        while let Some((atom, so_far)) = open.pop() {
            for &(next, tri) in self.next(atom) {
                let tri = tri.and(so_far);
                if best.get(&next).is_none_or(|&known| known < tri) {
                    best.insert(next, tri);
                    open.push((next, tri));
                }
            }
        }
        best.into_iter().collect()
    }

    /// Whether one atom is reached from another.
    pub(super) fn connects(&self, start: Atom, end: Atom) -> Tri {
        if start == end && !self.cyclic.contains(&start) {
            return Tri::from(self.open).and(Tri::Unknown);
        }
        let found = self.from(start);
        let reached = found.iter().find(|(atom, _)| *atom == end);
        let reached = reached.map_or(Tri::False, |&(_, tri)| tri);
        reached.or(Tri::from(self.open).and(Tri::Unknown))
    }

    /// Atoms in a strongly connected component of more than one atom, or with an edge to themselves: Tarjan's
    /// algorithm with a stack of its own, since a chain of dependencies may be long.
    fn find_cycles(&self) -> FxHashSet<Atom> {
        let mut order: FxHashMap<Atom, (usize, usize, bool)> = FxHashMap::default();
        let mut stack: Vec<Atom> = Vec::new();
        let mut cyclic = FxHashSet::default();
        for root in self.starts() {
            if order.contains_key(&root) {
                continue;
            }
            let number = order.len();
            order.insert(root, (number, number, true));
            stack.push(root);
            let mut calls: Vec<(Atom, usize)> = vec![(root, 0)];
            while let Some((atom, at)) = calls.pop() {
                if let Some(&(next, _)) = self.next(atom).get(at) {
                    calls.push((atom, at + 1));
                    if next == atom {
                        cyclic.insert(atom);
                    }
                    match order.get(&next).copied() {
                        None => {
                            let number = order.len();
                            order.insert(next, (number, number, true));
                            stack.push(next);
                            calls.push((next, 0));
                        }
                        Some((number, _, true)) => lower(&mut order, atom, number),
                        Some(_) => {}
                    }
                    continue;
                }
                let Some(&(number, low, _)) = order.get(&atom) else {
                    continue;
                };
                if let Some(&(caller, _)) = calls.last() {
                    lower(&mut order, caller, low);
                }
                if number == low {
                    let from = stack.iter().rposition(|&other| other == atom).unwrap_or(0);
                    let component = stack.split_off(from);
                    for member in &component {
                        if let Some(entry) = order.get_mut(member) {
                            entry.2 = false;
                        }
                    }
                    if component.len() > 1 {
                        cyclic.extend(component);
                    }
                }
            }
        }
        cyclic
    }
}

fn lower(order: &mut FxHashMap<Atom, (usize, usize, bool)>, atom: Atom, low: usize) {
    if let Some(entry) = order.get_mut(&atom) {
        entry.1 = entry.1.min(low);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reach(edges: &[(u32, u32)]) -> Reach {
        let mut set = Set::empty(2);
        for &(a, b) in edges {
            set.push(&[Atom(a), Atom(b)], Tri::True);
        }
        set.normalize();
        Reach::new(&set)
    }

    #[test]
    fn a_long_chain_needs_no_call_stack() {
        let edges: Vec<(u32, u32)> = (0..200_000).map(|n| (n, n + 1)).collect();
        let reach = reach(&edges);
        assert!(reach.cyclic.is_empty());
        assert_eq!(reach.connects(Atom(0), Atom(200_000)), Tri::True);
    }

    proptest! {
        #[test]
        fn reachability_is_the_least_fixed_point(edges in prop::collection::vec((0u32..6, 0u32..6), 0..12)) {
            let mut pairs: FxHashSet<(u32, u32)> = edges.iter().copied().collect();
            loop {
                let more: Vec<_> = pairs.iter()
                    .flat_map(|&(a, b)| pairs.iter().filter(move |p| p.0 == b).map(move |p| (a, p.1)))
                    .filter(|pair| !pairs.contains(pair))
                    .collect();
                if more.is_empty() { break; }
                pairs.extend(more);
            }
            let reach = reach(&edges);
            for a in 0..6 {
                for b in 0..6 {
                    let expected = Tri::from(pairs.contains(&(a, b)));
                    prop_assert_eq!(reach.connects(Atom(a), Atom(b)), expected);
                }
            }
        }
    }
}
