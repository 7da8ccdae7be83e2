//! Atoms, the universe, and sets of tuples.

use std::fmt;

use locus_terms::Atom;

/// The atoms of a problem, by name.
#[derive(Clone, Debug, Default)]
pub struct Universe {
    names: Vec<String>,
}

impl Universe {
    /// A universe of named atoms.
    pub fn new(names: Vec<String>) -> Self {
        Universe { names }
    }

    /// Number of atoms.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no atoms.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Name of an atom.
    pub fn name(&self, atom: Atom) -> &str {
        self.names.get(atom.0 as usize).map_or("", String::as_str)
    }

    /// All atoms in order.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> + use<> {
        (0..u32::try_from(self.names.len()).unwrap_or(u32::MAX)).map(Atom)
    }
}

/// The tuples of this arity over this universe do not fit into 64-bit indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityExceeded {
    /// The arity.
    pub arity: usize,
    /// The number of atoms.
    pub atoms: usize,
}

impl fmt::Display for CapacityExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a relation of {} columns over {} atoms has more possible tuples than can be counted",
            self.arity, self.atoms
        )
    }
}

impl std::error::Error for CapacityExceeded {}

/// A set of tuples of one arity.
///
/// A tuple `(a, b, c)` over `n` atoms is the number `(a * n + b) * n + c`, so that the set is a sorted
/// list of numbers in which tuples that agree on their first columns are neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TupleSet {
    arity: usize,
    /// Number of atoms in the universe.
    atoms: u64,
    /// Sorted, without repeats.
    indices: Vec<u64>,
}

impl TupleSet {
    /// The empty set; fails when tuples of this arity cannot be numbered.
    pub fn empty(arity: usize, universe: &Universe) -> Result<Self, CapacityExceeded> {
        let atoms = universe.len() as u64;
        let fits = u32::try_from(arity)
            .ok()
            .and_then(|arity| atoms.max(1).checked_pow(arity))
            .is_some();
        if fits {
            Ok(TupleSet {
                arity,
                atoms,
                indices: Vec::new(),
            })
        } else {
            Err(CapacityExceeded {
                arity,
                atoms: universe.len(),
            })
        }
    }

    /// A set of single atoms.
    pub fn unary(universe: &Universe, atoms: impl IntoIterator<Item = Atom>) -> Self {
        let indices = atoms.into_iter().map(|atom| u64::from(atom.0)).collect();
        Self::from_unsorted(1, universe.len() as u64, indices)
    }

    /// A set from tuple numbers in any order.
    pub fn from_unsorted(arity: usize, atoms: u64, mut indices: Vec<u64>) -> Self {
        indices.sort_unstable();
        indices.dedup();
        TupleSet {
            arity,
            atoms,
            indices,
        }
    }

    /// The number of a tuple over this set's universe.
    pub fn index_of(&self, tuple: &[Atom]) -> u64 {
        tuple
            .iter()
            .fold(0, |index, atom| index * self.atoms + u64::from(atom.0))
    }

    /// Adds a tuple.
    pub fn insert(&mut self, tuple: &[Atom]) {
        let index = self.index_of(tuple);
        if let Err(at) = self.indices.binary_search(&index) {
            self.indices.insert(at, index);
        }
    }

    /// Number of columns.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Number of atoms in the universe of the tuples.
    pub fn universe_len(&self) -> u64 {
        self.atoms
    }

    /// Number of tuples.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether it has no tuple.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The tuple numbers, ascending.
    pub fn indices(&self) -> &[u64] {
        &self.indices
    }

    /// The tuples, ascending.
    pub fn tuples(&self) -> impl Iterator<Item = Vec<Atom>> + '_ {
        self.indices
            .iter()
            .map(|&index| decode(index, self.arity, self.atoms))
    }

    /// Whether it has this tuple.
    pub fn contains(&self, tuple: &[Atom]) -> bool {
        self.contains_index(self.index_of(tuple))
    }

    /// Whether it has the tuple of this number.
    pub fn contains_index(&self, index: u64) -> bool {
        self.indices.binary_search(&index).is_ok()
    }

    /// Whether every tuple is in `other`.
    pub fn is_subset(&self, other: &TupleSet) -> bool {
        self.indices
            .iter()
            .all(|&index| other.contains_index(index))
    }

    /// The tuples of either.
    #[must_use]
    pub fn union(&self, other: &TupleSet) -> TupleSet {
        let mut indices = self.indices.clone();
        indices.extend_from_slice(&other.indices);
        Self::from_unsorted(self.arity, self.atoms, indices)
    }

    /// The tuples of `self` that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &TupleSet) -> TupleSet {
        let indices = self
            .indices
            .iter()
            .copied()
            .filter(|&index| !other.contains_index(index))
            .collect();
        TupleSet { indices, ..*self }
    }

    /// The tuples of both.
    #[must_use]
    pub fn intersection(&self, other: &TupleSet) -> TupleSet {
        let indices = self
            .indices
            .iter()
            .copied()
            .filter(|&index| other.contains_index(index))
            .collect();
        TupleSet { indices, ..*self }
    }

    /// Every tuple of `self` followed by every tuple of `other`.
    pub fn product(&self, other: &TupleSet) -> Result<TupleSet, CapacityExceeded> {
        let arity = self.arity + other.arity;
        let overflow = CapacityExceeded {
            arity,
            atoms: usize::try_from(self.atoms).unwrap_or(usize::MAX),
        };
        let exponent = u32::try_from(arity).map_err(|_| overflow)?;
        self.atoms.max(1).checked_pow(exponent).ok_or(overflow)?;
        let shift = self
            .atoms
            .pow(u32::try_from(other.arity).map_err(|_| overflow)?);
        let indices = self
            .indices
            .iter()
            .flat_map(|&left| other.indices.iter().map(move |&right| left * shift + right))
            .collect();
        Ok(TupleSet {
            arity,
            atoms: self.atoms,
            indices,
        })
    }
}

/// The tuple of a number.
pub(crate) fn decode(mut index: u64, arity: usize, atoms: u64) -> Vec<Atom> {
    let mut tuple = vec![Atom(0); arity];
    for atom in tuple.iter_mut().rev() {
        *atom = Atom(u32::try_from(index % atoms).unwrap_or(u32::MAX));
        index /= atoms;
    }
    tuple
}

#[cfg(test)]
mod tests {
    use super::*;

    fn universe() -> Universe {
        Universe::new((0..5).map(|i| format!("a{i}")).collect())
    }

    #[test]
    fn tuples_survive_numbering() {
        let mut set = TupleSet::empty(3, &universe()).unwrap();
        let tuples = [[4, 0, 1], [0, 3, 2], [4, 0, 0]].map(|t| t.map(Atom).to_vec());
        for tuple in &tuples {
            set.insert(tuple);
            set.insert(tuple);
        }
        let mut expected = tuples.to_vec();
        expected.sort();
        assert_eq!(set.tuples().collect::<Vec<_>>(), expected);
        assert!(set.contains(&[0, 3, 2].map(Atom)));
        assert!(!set.contains(&[0, 3, 3].map(Atom)));
    }

    #[test]
    fn set_operations() {
        let u = universe();
        let a = TupleSet::unary(&u, [0, 1, 2].map(Atom));
        let b = TupleSet::unary(&u, [2, 3].map(Atom));
        assert_eq!(a.union(&b), TupleSet::unary(&u, [0, 1, 2, 3].map(Atom)));
        assert_eq!(a.difference(&b), TupleSet::unary(&u, [0, 1].map(Atom)));
        assert_eq!(a.intersection(&b), TupleSet::unary(&u, [2].map(Atom)));
        let product = a.product(&b).unwrap();
        assert_eq!(product.len(), 6);
        assert!(product.contains(&[1, 3].map(Atom)));
        assert!(!product.contains(&[3, 1].map(Atom)));
    }

    #[test]
    fn too_many_columns_are_refused() {
        let u = Universe::new((0..1000).map(|i| i.to_string()).collect());
        assert!(TupleSet::empty(6, &u).is_ok());
        assert_eq!(
            TupleSet::empty(7, &u),
            Err(CapacityExceeded {
                arity: 7,
                atoms: 1000
            })
        );
    }
}
