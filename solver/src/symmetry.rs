//! Symmetry: atoms that no bound tells apart, and how to look at one of many equal instances only.
#![expect(
    clippy::indexing_slicing,
    reason = "tables are as long as the universe, atoms of bounds are in it"
)]

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use crate::circuit::{Circuit, Lit};
use crate::matrix::Matrix;
use crate::problem::{Atom, TupleSet};
use crate::sets::Space;

/// A bound as sorted tuple numbers.
type Bound<'a> = &'a TupleSet;

/// Finds the classes of interchangeable atoms, of two or more, each ascending.
///
/// Two atoms are interchangeable when exchanging them leaves every bound as it is. That is an
/// equivalence, and every permutation within its classes leaves every bound as it is. Atoms that are
/// `fixed` (they are named by a term, or stand for an integer) are alone.
pub(crate) fn classes(atoms: usize, bounds: &[Bound], fixed: &[Atom]) -> Vec<Vec<u32>> {
    let space = Space::new(atoms);
    let colours = colours(atoms, space, bounds, fixed);
    let mut groups: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    for (atom, &colour) in (0u32..).zip(&colours) {
        groups.entry(colour).or_default().push(atom);
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().filter(|g| g.len() > 1).collect();
    groups.sort_unstable();
    let occurrences = Occurrences::new(atoms, space, bounds, &groups);
    let mut result = Vec::new();
    for group in groups {
        let mut classes: Vec<Vec<u32>> = Vec::new();
        for atom in group {
            let class = classes
                .iter()
                .position(|class| occurrences.interchangeable(class[0], atom));
            match class {
                Some(class) => classes[class].push(atom),
                // Atoms of one colour are nearly always interchangeable; if not, few are tried.
                None if classes.len() < MAX_CLASSES_PER_COLOUR => classes.push(vec![atom]),
                None => {}
            }
        }
        result.extend(classes.into_iter().filter(|class| class.len() > 1));
    }
    result.sort_unstable();
    result
}

const MAX_CLASSES_PER_COLOUR: usize = 16;

/// Colours atoms so that interchangeable ones have the same colour: by how often they occur in each
/// column of each bound, and next to which colours.
fn colours(atoms: usize, space: Space, bounds: &[Bound], fixed: &[Atom]) -> Vec<u64> {
    let mut colours = vec![0u64; atoms];
    for atom in fixed {
        if let Some(colour) = colours.get_mut(atom.0 as usize) {
            *colour = u64::from(atom.0) + 1;
        }
    }
    for _ in 0..2 {
        let mut sums = vec![0u64; atoms];
        for (number, bound) in bounds.iter().enumerate() {
            let arity = bound.arity();
            for &index in bound.indices() {
                let mut hasher = FxHasher::default();
                hasher.write_usize(number);
                let mut rest = index;
                for _ in 0..arity {
                    let atom = usize::try_from(rest % space.atoms()).unwrap_or(0);
                    hasher.write_u64(colours[atom]);
                    rest /= space.atoms();
                }
                let tuple = hasher.finish();
                let mut rest = index;
                for column in 0..arity {
                    let atom = usize::try_from(rest % space.atoms()).unwrap_or(0);
                    let mut hasher = FxHasher::default();
                    hasher.write_u64(tuple);
                    hasher.write_usize(column);
                    sums[atom] = sums[atom].wrapping_add(hasher.finish());
                    rest /= space.atoms();
                }
            }
        }
        for (colour, sum) in colours.iter_mut().zip(sums) {
            let mut hasher = FxHasher::default();
            hasher.write_u64(*colour);
            hasher.write_u64(sum);
            *colour = hasher.finish();
        }
    }
    colours
}

/// The tuples of the bounds by the atoms in them.
struct Occurrences<'a> {
    space: Space,
    bounds: &'a [Bound<'a>],
    /// By atom: bound and tuple.
    tuples: Vec<Vec<(u32, u64)>>,
}

impl<'a> Occurrences<'a> {
    fn new(atoms: usize, space: Space, bounds: &'a [Bound<'a>], groups: &[Vec<u32>]) -> Self {
        let mut interesting = vec![false; atoms];
        for &atom in groups.iter().flatten() {
            interesting[atom as usize] = true;
        }
        let mut tuples = vec![Vec::new(); atoms];
        for (number, bound) in (0u32..).zip(bounds) {
            for &index in bound.indices() {
                let mut rest = index;
                for _ in 0..bound.arity() {
                    let atom = usize::try_from(rest % space.atoms()).unwrap_or(0);
                    if interesting[atom] && tuples[atom].last() != Some(&(number, index)) {
                        tuples[atom].push((number, index));
                    }
                    rest /= space.atoms();
                }
            }
        }
        Occurrences {
            space,
            bounds,
            tuples,
        }
    }

    fn interchangeable(&self, a: u32, b: u32) -> bool {
        let (of_a, of_b) = (&self.tuples[a as usize], &self.tuples[b as usize]);
        of_a.len() == of_b.len()
            && of_a.iter().chain(of_b).all(|&(number, index)| {
                let bound = self.bounds[number as usize];
                bound.contains_index(exchange(self.space, bound.arity(), index, a, b))
            })
    }
}

/// The number of a tuple with two atoms exchanged.
fn exchange(space: Space, arity: usize, index: u64, a: u32, b: u32) -> u64 {
    let (a, b) = (u64::from(a), u64::from(b));
    let (mut rest, mut unit, mut result) = (index, 1, 0);
    for _ in 0..arity {
        let atom = rest % space.atoms();
        let atom = if atom == a {
            b
        } else if atom == b {
            a
        } else {
            atom
        };
        result += atom * unit;
        unit = unit.wrapping_mul(space.atoms());
        rest /= space.atoms();
    }
    result
}

/// A relation whose value is not known, for the order of instances.
pub(crate) struct Open<'a> {
    pub(crate) arity: usize,
    pub(crate) matrix: &'a Matrix,
}

/// Literals that hold in at least one instance of each set of instances that are equal up to a
/// permutation within `classes`: the least one, comparing up to `length` bits of `relations` in
/// their order, under the exchange of neighbours in a class.
pub(crate) fn predicate(
    circuit: &mut Circuit,
    atoms: usize,
    classes: &[Vec<u32>],
    relations: &[Open],
    length: usize,
) -> Vec<Lit> {
    let space = Space::new(atoms);
    let mut roots = Vec::new();
    for class in classes {
        for pair in class.windows(2) {
            let pairs = compared(space, relations, pair[0], pair[1], length);
            // While all before were equal, this one must not decrease.
            let mut equal = Lit::TRUE;
            for (original, permuted) in pairs {
                let decrease = circuit.and_all([equal, original, !permuted]);
                roots.push(!decrease);
                // Given that it does not decrease, it is equal unless it increases.
                let no_increase = circuit.or(original, !permuted);
                equal = circuit.and(equal, no_increase);
            }
        }
    }
    roots.retain(|&root| root != Lit::TRUE);
    roots
}

/// The bits that change when two atoms are exchanged, with what they change to.
fn compared(space: Space, relations: &[Open], a: u32, b: u32, length: usize) -> Vec<(Lit, Lit)> {
    let mut pairs: Vec<(Lit, Lit)> = Vec::new();
    for relation in relations {
        for &(index, lit) in &relation.matrix.cells {
            if pairs.len() >= length {
                return pairs;
            }
            let other = exchange(space, relation.arity, index, a, b);
            if other == index {
                continue;
            }
            let permuted = relation.matrix.get(other);
            if lit != permuted && !pairs.contains(&(permuted, lit)) {
                pairs.push((lit, permuted));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Universe;

    fn universe(n: usize) -> Universe {
        Universe::new((0..n).map(|i| format!("a{i}")).collect())
    }

    #[test]
    fn bounds_split_the_universe() {
        let u = universe(6);
        let left = TupleSet::unary(&u, [0, 1, 2].map(Atom));
        let right = TupleSet::unary(&u, [3, 4, 5].map(Atom));
        let both = left.product(&right).unwrap();
        assert_eq!(
            classes(6, &[&both], &[]),
            vec![vec![0, 1, 2], vec![3, 4, 5]]
        );
        assert_eq!(
            classes(6, &[&both], &[Atom(1)]),
            vec![vec![0, 2], vec![3, 4, 5]]
        );
    }

    #[test]
    fn an_edge_tells_atoms_apart() {
        let u = universe(4);
        let mut edge = TupleSet::empty(2, &u).unwrap();
        edge.insert(&[Atom(0), Atom(1)]);
        assert_eq!(classes(4, &[&edge], &[]), vec![vec![2, 3]]);
        // Both ways the two ends look alike again.
        edge.insert(&[Atom(1), Atom(0)]);
        assert_eq!(classes(4, &[&edge], &[]), vec![vec![0, 1], vec![2, 3]]);
        // Two such edges can be exchanged as wholes only.
        edge.insert(&[Atom(2), Atom(3)]);
        edge.insert(&[Atom(3), Atom(2)]);
        assert_eq!(classes(4, &[&edge], &[]), vec![vec![0, 1], vec![2, 3]]);
    }

    #[test]
    fn the_identity_keeps_atoms_alike() {
        let u = universe(3);
        let mut iden = TupleSet::empty(2, &u).unwrap();
        for i in 0..3 {
            iden.insert(&[Atom(i), Atom(i)]);
        }
        assert_eq!(classes(3, &[&iden], &[]), vec![vec![0, 1, 2]]);
    }
}
