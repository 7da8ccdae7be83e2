//! Sets of tuples on an instance: sorted lists of tuple numbers without repeats.
//!
//! The solver has such operations too ([`crate::sets`]), for what it folds before it translates. An
//! error there must not be repeated by the judge, so these are separate.

use std::collections::{BTreeMap, BTreeSet};

/// How tuples over a universe are numbered: `(a, b)` over `n` atoms is `a * n + b`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbering {
    atoms: u64,
}

impl Numbering {
    pub(super) fn new(atoms: usize) -> Self {
        Numbering {
            atoms: (atoms as u64).max(1),
        }
    }

    pub(super) fn atoms(self) -> u64 {
        self.atoms
    }

    /// Number of tuples of so many columns; none when they cannot be counted.
    pub(super) fn tuples(self, columns: usize) -> Option<u64> {
        (0..columns).try_fold(1u64, |tuples, _| tuples.checked_mul(self.atoms))
    }

    /// The number of the tuple `left` followed by one of `width` others.
    pub(super) fn followed(left: u64, width: u64, right: u64) -> u64 {
        left * width + right
    }

    /// Tuples that share the atom between them, without it. `width` is the number of tuples of the
    /// columns of `right` after its first.
    pub(super) fn join(self, left: &[u64], right: &[u64], width: u64) -> Vec<u64> {
        let mut joined = Vec::new();
        for tuple in left {
            let (start, shared) = (tuple / self.atoms, tuple % self.atoms);
            // Those that start with the shared atom lie next to each other.
            let from = right.partition_point(|other| other / width < shared);
            let others = right.iter().skip(from);
            let others = others.take_while(|&other| other / width == shared);
            joined.extend(others.map(|other| Self::followed(start, width, other % width)));
        }
        sorted(joined)
    }

    /// Every tuple of `left` followed by every one of `right`, of which there may be `width`.
    pub(super) fn product(left: &[u64], right: &[u64], width: u64) -> Vec<u64> {
        let mut pairs = Vec::with_capacity(left.len() * right.len());
        for &l in left {
            for &r in right {
                pairs.push(Self::followed(l, width, r));
            }
        }
        pairs
    }

    pub(super) fn transpose(self, pairs: &[u64]) -> Vec<u64> {
        let swapped = pairs
            .iter()
            .map(|pair| Self::followed(pair % self.atoms, self.atoms, pair / self.atoms));
        sorted(swapped.collect())
    }

    pub(super) fn iden(self, atoms: usize) -> Vec<u64> {
        (0..atoms as u64)
            .map(|atom| Self::followed(atom, self.atoms, atom))
            .collect()
    }

    /// The pairs that a path of one or more steps connects.
    pub(super) fn closure(self, pairs: &[u64]) -> Vec<u64> {
        let mut steps: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for pair in pairs {
            steps
                .entry(pair / self.atoms)
                .or_default()
                .push(pair % self.atoms);
        }
        let mut closed = Vec::new();
        for (&start, first) in &steps {
            let mut reached: BTreeSet<u64> = first.iter().copied().collect();
            let mut border = first.clone();
            while !border.is_empty() {
                let mut further = Vec::new();
                for atom in border {
                    for &next in steps.get(&atom).into_iter().flatten() {
                        if reached.insert(next) {
                            further.push(next);
                        }
                    }
                }
                border = further;
            }
            closed.extend(
                reached
                    .into_iter()
                    .map(|end| Self::followed(start, self.atoms, end)),
            );
        }
        closed
    }

    /// `right`, and those tuples of `left` whose first atom starts none of `right`. `width` is the
    /// number of tuples of the columns after the first.
    pub(super) fn override_with(left: &[u64], right: &[u64], width: u64) -> Vec<u64> {
        let replaced: BTreeSet<u64> = right.iter().map(|tuple| tuple / width).collect();
        let kept = left
            .iter()
            .filter(|tuple| !replaced.contains(&(*tuple / width)));
        sorted(kept.chain(right).copied().collect())
    }
}

/// A list as a set.
pub(super) fn sorted(mut list: Vec<u64>) -> Vec<u64> {
    list.sort_unstable();
    list.dedup();
    list
}

pub(super) fn contains(set: &[u64], tuple: u64) -> bool {
    set.binary_search(&tuple).is_ok()
}

/// Walks two sets at once and takes the smaller tuple each time.
pub(super) fn union(left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut union = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(&&l), Some(&&r)) = (left.peek(), right.peek()) {
        union.push(l.min(r));
        left.next_if(|&&tuple| tuple <= r);
        right.next_if(|&&tuple| tuple <= l);
    }
    union.extend(left.chain(right));
    union
}

pub(super) fn intersection(left: &[u64], right: &[u64]) -> Vec<u64> {
    if left.len() > right.len() {
        return intersection(right, left);
    }
    let mut both = left.to_vec();
    both.retain(|&tuple| contains(right, tuple));
    both
}

pub(super) fn difference(left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut rest = left.to_vec();
    rest.retain(|&tuple| !contains(right, tuple));
    rest
}

pub(super) fn is_subset(left: &[u64], right: &[u64]) -> bool {
    left.iter().all(|&tuple| contains(right, tuple))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::Space;
    use proptest::prelude::*;

    #[test]
    fn closure_and_override_mean_what_they_say() {
        let over = Numbering::new(10);
        assert_eq!(
            over.closure(&[1, 12, 20]),
            [0, 1, 2, 10, 11, 12, 20, 21, 22]
        );
        assert_eq!(Numbering::override_with(&[1, 2, 34], &[7], 10), [7, 34]);
        assert_eq!(over.join(&[3], &[31, 35, 41], 10), [1, 5]);
        assert_eq!(over.tuples(40), None);
    }

    proptest! {
        /// Both implementations say the same.
        #[test]
        fn operations_agree_with_those_of_the_solver(
            left in prop::collection::btree_set(0u64..25, 0..12),
            right in prop::collection::btree_set(0u64..25, 0..12),
        ) {
            let (left, right) = (Vec::from_iter(left), Vec::from_iter(right));
            let (over, space) = (Numbering::new(5), Space::new(5));
            prop_assert_eq!(over.join(&left, &right, 5), space.join(&left, &right, 2));
            prop_assert_eq!(Numbering::product(&left, &right, 25), space.product(&left, &right, 2));
            prop_assert_eq!(over.transpose(&left), space.transpose(&left));
            prop_assert_eq!(over.closure(&left), space.closure(&left));
            prop_assert_eq!(
                Numbering::override_with(&left, &right, 5),
                space.override_with(&left, &right, 2)
            );
            prop_assert_eq!(union(&left, &right), crate::sets::union(&left, &right));
            prop_assert_eq!(intersection(&left, &right), crate::sets::intersection(&left, &right));
            prop_assert_eq!(difference(&left, &right), crate::sets::difference(&left, &right));
        }
    }
}
