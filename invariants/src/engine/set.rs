//! Three truth values, and sets of tuples of which some are not certain.

use smallvec::SmallVec;

pub use crate::logic::Atom;

/// What is known of a formula, over all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tri {
    /// It holds for no input.
    False,
    /// It may hold for some and not for others.
    Unknown,
    /// It holds for every input.
    True,
}

impl Tri {
    /// Both.
    #[must_use]
    pub fn and(self, other: Tri) -> Tri {
        self.min(other)
    }

    /// Either.
    #[must_use]
    pub fn or(self, other: Tri) -> Tri {
        self.max(other)
    }
}

impl std::ops::Not for Tri {
    type Output = Tri;

    fn not(self) -> Tri {
        match self {
            Tri::False => Tri::True,
            Tri::Unknown => Tri::Unknown,
            Tri::True => Tri::False,
        }
    }
}

impl From<bool> for Tri {
    fn from(value: bool) -> Self {
        if value { Tri::True } else { Tri::False }
    }
}

/// Atoms one after the other; the few that a rule mostly meets take nothing from the heap.
pub(super) type Rows = SmallVec<[Atom; 6]>;

/// A set of tuples. Tuples lie one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Number of columns.
    pub arity: usize,
    /// Tuples that are certainly in it; sorted, without repeats.
    pub sure: Rows,
    /// Tuples that may be in it; sorted, without repeats.
    pub maybe: Vec<Atom>,
    /// Whether there may be more tuples, of which nothing is known.
    pub open: bool,
}

impl Set {
    /// The empty set.
    pub fn empty(arity: usize) -> Set {
        Set {
            arity,
            sure: Rows::new(),
            maybe: Vec::new(),
            open: false,
        }
    }

    /// The set of one atom.
    pub fn single(atom: Atom) -> Set {
        Set {
            arity: 1,
            sure: Rows::from_slice(&[atom]),
            maybe: Vec::new(),
            open: false,
        }
    }

    /// The tuples that are certain.
    pub fn sure(&self) -> impl ExactSizeIterator<Item = &[Atom]> {
        self.sure.chunks_exact(self.arity.max(1))
    }

    /// The tuples that are possible and not certain.
    pub fn maybe(&self) -> impl ExactSizeIterator<Item = &[Atom]> {
        self.maybe.chunks_exact(self.arity.max(1))
    }

    /// All tuples, with whether they are certain.
    pub fn rows(&self) -> impl Iterator<Item = (&[Atom], Tri)> {
        let sure = self.sure().map(|row| (row, Tri::True));
        sure.chain(self.maybe().map(|row| (row, Tri::Unknown)))
    }

    /// Whether it certainly has no tuple.
    pub fn is_empty(&self) -> bool {
        self.sure.is_empty() && self.maybe.is_empty() && !self.open
    }

    /// Adds a tuple; [`normalize`](Self::normalize) must follow.
    pub fn push(&mut self, row: &[Atom], certain: Tri) {
        match certain {
            Tri::True => self.sure.extend_from_slice(row),
            Tri::Unknown => self.maybe.extend_from_slice(row),
            Tri::False => {}
        }
    }

    /// Adds a tuple that is given in two parts; [`normalize`](Self::normalize) must follow.
    pub fn push_parts(&mut self, head: &[Atom], tail: &[Atom], certain: Tri) {
        self.push(head, certain);
        self.push(tail, certain);
    }

    /// Sorts and drops repeats.
    pub fn normalize(&mut self) {
        if !is_sorted(&self.sure, self.arity) {
            let mut sure = std::mem::take(&mut self.sure).into_vec();
            sort_rows(&mut sure, self.arity);
            self.sure = Rows::from_vec(sure);
        }
        if !self.maybe.is_empty() {
            sort_rows(&mut self.maybe, self.arity);
            if !self.sure.is_empty() {
                let mut kept = Vec::with_capacity(self.maybe.len());
                for row in self.maybe.chunks_exact(self.arity.max(1)) {
                    if !contains(&self.sure, self.arity, row) {
                        kept.extend_from_slice(row);
                    }
                }
                self.maybe = kept;
            }
        }
    }

    /// Makes every tuple merely possible.
    pub fn doubt(&mut self) {
        let sure = std::mem::take(&mut self.sure);
        self.maybe.extend(sure);
        self.normalize();
    }

    /// Adds all tuples of another; [`normalize`](Self::normalize) must follow.
    pub fn extend(&mut self, other: &Set) {
        self.sure.extend_from_slice(&other.sure);
        self.maybe.extend_from_slice(&other.maybe);
        self.open |= other.open;
    }
}

/// Whether tuples are sorted, each once.
fn is_sorted(rows: &[Atom], arity: usize) -> bool {
    if arity <= 1 {
        return rows.is_sorted_by(|a, b| a < b);
    }
    let next = rows.chunks_exact(arity).skip(1);
    rows.chunks_exact(arity).zip(next).all(|(a, b)| a < b)
}

fn sort_rows(rows: &mut Vec<Atom>, arity: usize) {
    if rows.len() <= arity {
        return;
    }
    if arity <= 1 {
        rows.sort_unstable();
        rows.dedup();
        return;
    }
    if is_sorted(rows, arity) {
        return;
    }
    let mut chunks: Vec<&[Atom]> = rows.chunks_exact(arity).collect();
    chunks.sort_unstable();
    chunks.dedup();
    *rows = chunks.concat();
}

/// Whether sorted tuples include one.
pub(super) fn contains(rows: &[Atom], arity: usize, row: &[Atom]) -> bool {
    if arity == 1 {
        return row
            .first()
            .is_some_and(|atom| rows.binary_search(atom).is_ok());
    }
    let (mut low, mut high) = (0, rows.len() / arity.max(1));
    while low < high {
        let middle = low.midpoint(high);
        let found = rows
            .get(middle * arity..(middle + 1) * arity)
            .unwrap_or(&[]);
        match found.cmp(row) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_certain_is_not_also_possible() {
        let mut set = Set::empty(2);
        for (row, tri) in [
            ([3, 1], Tri::True),
            ([0, 2], Tri::Unknown),
            ([3, 1], Tri::Unknown),
            ([0, 2], Tri::Unknown),
            ([1, 1], Tri::True),
        ] {
            set.push(&row.map(Atom), tri);
        }
        set.normalize();
        assert_eq!(set.sure[..], [1, 1, 3, 1].map(Atom));
        assert_eq!(set.maybe, [0, 2].map(Atom));
        assert!(contains(&set.sure, 2, &[Atom(3), Atom(1)]));
        assert!(!contains(&set.sure, 2, &[Atom(3), Atom(0)]));
    }

    #[test]
    fn three_values_follow_kleene() {
        use Tri::{False, True, Unknown};
        assert_eq!(Unknown.and(False), False);
        assert_eq!(Unknown.or(True), True);
        assert_eq!(!Unknown, Unknown);
        assert_eq!(True.and(Unknown), Unknown);
    }
}
