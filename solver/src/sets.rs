//! Plain operations on sets of tuple numbers: sorted lists without repeats.
//!
//! A tuple `(a, b, c)` over `n` atoms is the number `(a * n + b) * n + c`, as in
//! [`TupleSet`](crate::problem::TupleSet).

use rustc_hash::FxHashMap;

/// The numbering of tuples over a universe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    atoms: u64,
}

impl Space {
    pub(crate) fn new(atoms: usize) -> Self {
        Space {
            atoms: (atoms as u64).max(1),
        }
    }

    /// Number of atoms, at least one.
    pub(crate) fn atoms(self) -> u64 {
        self.atoms
    }

    /// Number of tuples of an arity.
    pub(crate) fn size(self, arity: usize) -> u64 {
        u32::try_from(arity)
            .ok()
            .and_then(|arity| self.atoms.checked_pow(arity))
            .unwrap_or(u64::MAX)
    }

    /// Whether tuples of this arity can be numbered.
    pub(crate) fn fits(self, arity: usize) -> bool {
        u32::try_from(arity)
            .ok()
            .and_then(|arity| self.atoms.checked_pow(arity))
            .is_some()
    }

    /// The tuples of `left` joined with those of `right`, which has this arity.
    pub(crate) fn join(self, left: &[u64], right: &[u64], right_arity: usize) -> Vec<u64> {
        let shift = self.size(right_arity.saturating_sub(1));
        let mut result = Vec::new();
        for &l in left {
            let (prefix, key) = (l / self.atoms, l % self.atoms);
            for &r in range(right, key * shift, shift) {
                result.push(prefix * shift + r % shift);
            }
        }
        if left.len() > 1 {
            sort(&mut result);
        }
        result
    }

    /// Every tuple of `left` followed by every one of `right`, which has this arity.
    pub(crate) fn product(self, left: &[u64], right: &[u64], right_arity: usize) -> Vec<u64> {
        let shift = self.size(right_arity);
        left.iter()
            .flat_map(|&l| right.iter().map(move |&r| l * shift + r))
            .collect()
    }

    /// Pairs with their columns swapped.
    pub(crate) fn transpose(self, set: &[u64]) -> Vec<u64> {
        let mut result: Vec<u64> = set
            .iter()
            .map(|&t| (t % self.atoms) * self.atoms + t / self.atoms)
            .collect();
        sort(&mut result);
        result
    }

    /// The identity over all atoms.
    pub(crate) fn iden(self, atoms: usize) -> Vec<u64> {
        (0..atoms as u64).map(|a| a * self.atoms + a).collect()
    }

    /// Transitive closure, by a search from every atom that has a successor.
    pub(crate) fn closure(self, set: &[u64]) -> Vec<u64> {
        let mut successors: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        for &t in set {
            successors
                .entry(t / self.atoms)
                .or_default()
                .push(t % self.atoms);
        }
        let mut seen: FxHashMap<u64, u64> = FxHashMap::default();
        let mut result = Vec::new();
        let mut stack = Vec::new();
        for &start in successors.keys() {
            stack.push(start);
            while let Some(at) = stack.pop() {
                for &next in successors.get(&at).into_iter().flatten() {
                    // The start marks who saw the atom last, so nothing needs clearing.
                    if seen.insert(next, start) != Some(start) {
                        result.push(start * self.atoms + next);
                        stack.push(next);
                    }
                }
            }
        }
        result.sort_unstable();
        result
    }

    /// `right`, and of `left` what starts with an atom that `right` has no tuple for.
    pub(crate) fn override_with(self, left: &[u64], right: &[u64], arity: usize) -> Vec<u64> {
        let shift = self.size(arity.saturating_sub(1));
        let mut result: Vec<u64> = left
            .iter()
            .copied()
            .filter(|&l| range(right, l / shift * shift, shift).is_empty())
            .chain(right.iter().copied())
            .collect();
        sort(&mut result);
        result
    }
}

/// The members of a sorted list from `start` on, `len` numbers wide.
pub(crate) fn range(set: &[u64], start: u64, len: u64) -> &[u64] {
    let from = set.partition_point(|&t| t < start);
    let rest = set.get(from..).unwrap_or_default();
    let to = rest.partition_point(|&t| t - start < len);
    rest.get(..to).unwrap_or_default()
}

/// Sorts and drops repeats.
pub(crate) fn sort(set: &mut Vec<u64>) {
    set.sort_unstable();
    set.dedup();
}

pub(crate) fn union(left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut result = Vec::with_capacity(left.len() + right.len());
    result.extend_from_slice(left);
    result.extend_from_slice(right);
    // The two runs are sorted, which the stable sort notices.
    result.sort();
    result.dedup();
    result
}

pub(crate) fn contains(set: &[u64], tuple: u64) -> bool {
    set.binary_search(&tuple).is_ok()
}

pub(crate) fn intersection(left: &[u64], right: &[u64]) -> Vec<u64> {
    let (small, large) = if left.len() < right.len() {
        (left, right)
    } else {
        (right, left)
    };
    small
        .iter()
        .copied()
        .filter(|&t| contains(large, t))
        .collect()
}

pub(crate) fn difference(left: &[u64], right: &[u64]) -> Vec<u64> {
    left.iter()
        .copied()
        .filter(|&t| !contains(right, t))
        .collect()
}

pub(crate) fn is_subset(left: &[u64], right: &[u64]) -> bool {
    left.len() <= right.len() && left.iter().all(|&t| contains(right, t))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(u64, u64)]) -> Vec<u64> {
        let mut set = pairs.iter().map(|(a, b)| a * 10 + b).collect();
        sort(&mut set);
        set
    }

    #[test]
    fn join_and_closure_follow_paths() {
        let space = Space::new(10);
        let edges = pairs(&[(0, 1), (1, 2), (2, 0), (5, 6)]);
        assert_eq!(
            space.join(&edges, &edges, 2),
            pairs(&[(0, 2), (1, 0), (2, 1)])
        );
        let closed = space.closure(&edges);
        assert_eq!(closed.len(), 10);
        assert!(contains(&closed, 0) && contains(&closed, 56) && !contains(&closed, 5));
        assert_eq!(space.join(&[0], &edges, 2), vec![1]);
        assert_eq!(space.join(&edges, &[0], 1), vec![2]);
    }

    #[test]
    fn override_replaces_whole_rows() {
        let space = Space::new(10);
        let left = pairs(&[(0, 1), (0, 2), (3, 4)]);
        let right = pairs(&[(0, 7)]);
        assert_eq!(
            space.override_with(&left, &right, 2),
            pairs(&[(0, 7), (3, 4)])
        );
    }
}
