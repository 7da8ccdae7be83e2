//! Sparse boolean matrices: which literal says that a tuple is in an expression.
#![expect(
    clippy::indexing_slicing,
    reason = "positions come from searches in the same slice"
)]

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use crate::circuit::{Circuit, Lit};
use crate::limits::{Budget, Reason};
use crate::problem::Count;
use crate::sets::{self, Space};

/// A tuple number and the literal of its membership, never [`Lit::FALSE`].
pub(crate) type Cell = (u64, Lit);

/// The value of an expression: its possible tuples, ascending, and when each is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    pub(crate) cells: Vec<Cell>,
    /// Whether arithmetic inside overflowed; [`Lit::FALSE`] where nobody asks.
    pub(crate) overflow: Lit,
    columns: Columns,
}

/// The cells by their last atom, made when first asked for: atom, the number of the other columns,
/// literal. It follows from the cells, so it is of no account for equality.
#[derive(Clone, Debug, Default)]
struct Columns(OnceCell<Vec<(u64, u64, Lit)>>);

impl PartialEq for Columns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Columns {}

impl Matrix {
    pub(crate) fn new(cells: Vec<Cell>) -> Self {
        debug_assert!(cells.windows(2).all(|pair| pair[0].0 < pair[1].0));
        Matrix {
            cells,
            overflow: Lit::FALSE,
            columns: Columns::default(),
        }
    }

    /// The cells that end in an atom: the number of their other columns, ascending, and literal.
    fn column(&self, atom: u64, atoms: u64) -> &[(u64, u64, Lit)] {
        let all = self.columns.0.get_or_init(|| {
            let mut all: Vec<_> = self
                .cells
                .iter()
                .map(|&(tuple, lit)| (tuple % atoms, tuple / atoms, lit))
                .collect();
            all.sort_unstable();
            all
        });
        let from = all.partition_point(|cell| cell.0 < atom);
        let to = all.partition_point(|cell| cell.0 <= atom);
        &all[from..to]
    }

    /// The matrix of a known set.
    pub(crate) fn constant(tuples: impl IntoIterator<Item = u64>) -> Self {
        Matrix::new(tuples.into_iter().map(|t| (t, Lit::TRUE)).collect())
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.cells.iter().all(|cell| cell.1 == Lit::TRUE)
    }

    pub(crate) fn get(&self, tuple: u64) -> Lit {
        match self.cells.binary_search_by_key(&tuple, |cell| cell.0) {
            Ok(at) => self.cells[at].1,
            Err(_) => Lit::FALSE,
        }
    }

    /// The cells with tuples from `start` on, `len` numbers wide.
    fn range(&self, start: u64, len: u64) -> &[Cell] {
        let from = self.cells.partition_point(|cell| cell.0 < start);
        let rest = &self.cells[from..];
        let to = rest.partition_point(|cell| cell.0 - start < len);
        &rest[..to]
    }

    fn tuples(&self) -> Vec<u64> {
        self.cells.iter().map(|cell| cell.0).collect()
    }
}

/// Operations on matrices: where gates are made and work is counted.
pub(crate) struct Ops<'a> {
    pub(crate) circuit: &'a mut Circuit,
    pub(crate) budget: &'a mut Budget,
    pub(crate) space: Space,
}

type Result<T> = std::result::Result<T, Reason>;

/// Bytes of a cell.
const CELL_BYTES: u64 = size_of::<Cell>() as u64;

impl Ops<'_> {
    fn spend(&mut self, cells: usize) -> Result<()> {
        self.budget.spend(cells)?;
        self.budget
            .fits(self.circuit.bytes() + cells as u64 * CELL_BYTES)
    }

    /// Sorts cells and joins those of one tuple by disjunction.
    fn gather(&mut self, mut cells: Vec<Cell>) -> Result<Matrix> {
        self.spend(cells.len())?;
        if cells.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            return Ok(Matrix::new(cells));
        }
        cells.sort_unstable();
        let mut result: Vec<Cell> = Vec::with_capacity(cells.len());
        let mut at = 0;
        while at < cells.len() {
            let tuple = cells[at].0;
            let mut end = at + 1;
            while end < cells.len() && cells[end].0 == tuple {
                end += 1;
            }
            let group = &cells[at..end];
            let lit = match group {
                [one] => one.1,
                // True sorts first within a tuple.
                [first, ..] if first.1 == Lit::TRUE => Lit::TRUE,
                _ => self.circuit.or_all(group.iter().map(|cell| cell.1)),
            };
            result.push((tuple, lit));
            at = end;
        }
        Ok(Matrix::new(result))
    }

    pub(crate) fn union(&mut self, parts: &[&Matrix]) -> Result<Matrix> {
        let cells = parts
            .iter()
            .flat_map(|part| part.cells.iter().copied())
            .collect();
        self.gather(cells)
    }

    pub(crate) fn intersection(&mut self, left: &Matrix, right: &Matrix) -> Result<Matrix> {
        let (small, large) = if left.cells.len() < right.cells.len() {
            (left, right)
        } else {
            (right, left)
        };
        self.spend(small.cells.len())?;
        let mut cells = Vec::new();
        for &(tuple, lit) in &small.cells {
            let both = match large.get(tuple) {
                Lit::FALSE => Lit::FALSE,
                other => self.circuit.and(lit, other),
            };
            if both != Lit::FALSE {
                cells.push((tuple, both));
            }
        }
        Ok(Matrix::new(cells))
    }

    pub(crate) fn difference(&mut self, left: &Matrix, right: &Matrix) -> Result<Matrix> {
        self.spend(left.cells.len())?;
        let mut cells = Vec::with_capacity(left.cells.len());
        for &(tuple, lit) in &left.cells {
            let other = right.get(tuple);
            let only = self.circuit.and(lit, !other);
            if only != Lit::FALSE {
                cells.push((tuple, only));
            }
        }
        Ok(Matrix::new(cells))
    }

    pub(crate) fn override_with(
        &mut self,
        left: &Matrix,
        right: &Matrix,
        arity: usize,
    ) -> Result<Matrix> {
        let shift = self.space.size(arity.saturating_sub(1));
        self.spend(left.cells.len())?;
        let mut cells = right.cells.clone();
        let mut row = None;
        for &(tuple, lit) in &left.cells {
            let first = tuple / shift;
            let replaced = match row {
                Some((atom, replaced)) if atom == first => replaced,
                _ => {
                    let replacing = right.range(first * shift, shift);
                    let replaced = self.circuit.or_all(replacing.iter().map(|cell| cell.1));
                    row = Some((first, replaced));
                    replaced
                }
            };
            let kept = self.circuit.and(lit, !replaced);
            if kept != Lit::FALSE {
                cells.push((tuple, kept));
            }
        }
        self.gather(cells)
    }

    /// `right_arity` is that of `right`.
    pub(crate) fn join(
        &mut self,
        left: &Matrix,
        right: &Matrix,
        right_arity: usize,
    ) -> Result<Matrix> {
        let atoms = self.space.atoms();
        let shift = self.space.size(right_arity.saturating_sub(1));
        let mut cells = Vec::new();
        if shift == 1 {
            if let &[(key, keyed)] = right.cells.as_slice() {
                let column = left.column(key, atoms);
                self.spend(column.len())?;
                for &(_, prefix, lit) in column {
                    let both = self.circuit.and(lit, keyed);
                    if both != Lit::FALSE {
                        cells.push((prefix, both));
                    }
                }
                return Ok(Matrix::new(cells));
            }
            // A set on the right: keep the rows of the left that end in it.
            self.spend(left.cells.len())?;
            for &(tuple, lit) in &left.cells {
                let key = right.get(tuple % atoms);
                if key != Lit::FALSE {
                    let both = self.circuit.and(lit, key);
                    if both != Lit::FALSE {
                        cells.push((tuple / atoms, both));
                    }
                }
            }
            return self.gather(cells);
        }
        for &(tuple, lit) in &left.cells {
            let (prefix, key) = (tuple / atoms, tuple % atoms);
            let row = right.range(key * shift, shift);
            self.spend(row.len())?;
            for &(other_tuple, other) in row {
                let both = self.circuit.and(lit, other);
                if both != Lit::FALSE {
                    cells.push((prefix * shift + other_tuple % shift, both));
                }
            }
        }
        self.gather(cells)
    }

    /// `right_arity` is that of `right`.
    pub(crate) fn product(
        &mut self,
        left: &Matrix,
        right: &Matrix,
        right_arity: usize,
    ) -> Result<Matrix> {
        let shift = self.space.size(right_arity);
        self.spend(left.cells.len().saturating_mul(right.cells.len()))?;
        let mut cells = Vec::with_capacity(left.cells.len() * right.cells.len());
        for &(tuple, lit) in &left.cells {
            for &(other_tuple, other) in &right.cells {
                let both = self.circuit.and(lit, other);
                if both != Lit::FALSE {
                    cells.push((tuple * shift + other_tuple, both));
                }
            }
        }
        Ok(Matrix::new(cells))
    }

    pub(crate) fn transpose(&mut self, matrix: &Matrix) -> Result<Matrix> {
        let atoms = self.space.atoms();
        self.spend(matrix.cells.len())?;
        let mut cells: Vec<Cell> = matrix
            .cells
            .iter()
            .map(|&(t, lit)| ((t % atoms) * atoms + t / atoms, lit))
            .collect();
        cells.sort_unstable();
        Ok(Matrix::new(cells))
    }

    /// Transitive closure by squaring; a search when the matrix is constant.
    pub(crate) fn closure(&mut self, matrix: &Matrix) -> Result<Matrix> {
        if matrix.is_constant() {
            let closed = self.space.closure(&matrix.tuples());
            self.spend(closed.len())?;
            return Ok(Matrix::constant(closed));
        }
        let mut reach = matrix.clone();
        reach.overflow = Lit::FALSE;
        let mut path = 1;
        let longest = self.longest_path(matrix);
        while path < longest {
            let squared = self.join(&reach, &reach, 2)?;
            let next = self.union(&[&reach, &squared])?;
            if next == reach {
                break;
            }
            reach = next;
            path *= 2;
        }
        Ok(reach)
    }

    /// No path without repeats through the possible edges, except for a cycle back to its start,
    /// has more edges than this.
    fn longest_path(&self, matrix: &Matrix) -> usize {
        let atoms = self.space.atoms();
        let mut successors: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        let mut indegree: FxHashMap<u64, usize> = FxHashMap::default();
        for &(tuple, _) in &matrix.cells {
            let (from, to) = (tuple / atoms, tuple % atoms);
            successors.entry(from).or_default().push(to);
            *indegree.entry(to).or_default() += 1;
            indegree.entry(from).or_default();
        }
        // Topological layers; whatever lies on or behind a cycle stays unlayered.
        let nodes = indegree.len();
        let mut layer: Vec<u64> = indegree
            .iter()
            .filter(|entry| *entry.1 == 0)
            .map(|entry| *entry.0)
            .collect();
        let (mut layers, mut layered) = (0, 0);
        while !layer.is_empty() {
            layers += 1;
            layered += layer.len();
            let mut next = Vec::new();
            for from in layer {
                for to in successors.get(&from).into_iter().flatten() {
                    if let Some(degree) = indegree.get_mut(to) {
                        *degree -= 1;
                        if *degree == 0 {
                            next.push(*to);
                        }
                    }
                }
            }
            layer = next;
        }
        layers + (nodes - layered)
    }

    pub(crate) fn ite(
        &mut self,
        condition: Lit,
        then: &Matrix,
        otherwise: &Matrix,
    ) -> Result<Matrix> {
        let mut tuples = sets::union(&then.tuples(), &otherwise.tuples());
        self.spend(tuples.len())?;
        let cells = tuples
            .drain(..)
            .map(|tuple| {
                let lit = self
                    .circuit
                    .ite(condition, then.get(tuple), otherwise.get(tuple));
                (tuple, lit)
            })
            .filter(|cell| cell.1 != Lit::FALSE)
            .collect();
        Ok(Matrix::new(cells))
    }

    pub(crate) fn subset(&mut self, left: &Matrix, right: &Matrix) -> Result<Lit> {
        self.spend(left.cells.len())?;
        let mut all = Vec::with_capacity(left.cells.len());
        for &(tuple, lit) in &left.cells {
            match self.circuit.implies(lit, right.get(tuple)) {
                Lit::FALSE => return Ok(Lit::FALSE),
                Lit::TRUE => {}
                lit => all.push(lit),
            }
        }
        Ok(self.circuit.and_all(all))
    }

    pub(crate) fn equal(&mut self, left: &Matrix, right: &Matrix) -> Result<Lit> {
        let forth = self.subset(left, right)?;
        if forth == Lit::FALSE {
            return Ok(forth);
        }
        let back = self.subset(right, left)?;
        Ok(self.circuit.and(forth, back))
    }

    /// Whether the number of tuples is as said.
    pub(crate) fn count(&mut self, matrix: &Matrix, count: Count) -> Result<Lit> {
        let mut sure = 0u64;
        let mut open = Vec::new();
        for &(_, lit) in &matrix.cells {
            if lit == Lit::TRUE {
                sure += 1;
            } else {
                open.push(lit);
            }
        }
        // How many of the open ones are wanted.
        let left = |wanted: u32| u64::from(wanted).checked_sub(sure);
        Ok(match count {
            Count::AtLeast(k) => match left(k) {
                None | Some(0) => Lit::TRUE,
                Some(k) => self.at_least(&open, k)?,
            },
            Count::AtMost(k) => match left(k) {
                None => Lit::FALSE,
                Some(k) => !self.at_least(&open, k + 1)?,
            },
            Count::Exactly(k) => match left(k) {
                None => Lit::FALSE,
                Some(0) => !self.circuit.or_all(open.iter().copied()),
                Some(k) => self.exactly(&open, k)?,
            },
        })
    }

    /// At least `k` of the literals hold, for `k` of one or more.
    fn at_least(&mut self, lits: &[Lit], k: u64) -> Result<Lit> {
        let n = lits.len() as u64;
        if k > n {
            return Ok(Lit::FALSE);
        }
        if k == 1 {
            return Ok(self.circuit.or_all(lits.iter().copied()));
        }
        if k == n {
            return Ok(self.circuit.and_all(lits.iter().copied()));
        }
        if k == 2 {
            return self.two_or_more(lits);
        }
        let counts = self.unary_count(lits, k)?;
        Ok(usize::try_from(k - 1)
            .ok()
            .and_then(|at| counts.get(at).copied())
            .unwrap_or(Lit::FALSE))
    }

    fn exactly(&mut self, lits: &[Lit], k: u64) -> Result<Lit> {
        if k > lits.len() as u64 {
            return Ok(Lit::FALSE);
        }
        let enough = self.at_least(lits, k)?;
        let more = self.at_least(lits, k + 1)?;
        Ok(self.circuit.and(enough, !more))
    }

    /// Two of the literals hold: pairwise for a few, with a running disjunction for more.
    fn two_or_more(&mut self, lits: &[Lit]) -> Result<Lit> {
        self.spend(lits.len())?;
        let mut pairs = Vec::new();
        if lits.len() <= 6 {
            for (i, &a) in lits.iter().enumerate() {
                for &b in &lits[i + 1..] {
                    pairs.push(self.circuit.and(a, b));
                }
            }
        } else {
            let mut before = Lit::FALSE;
            for &lit in lits {
                let pair = self.circuit.and(before, lit);
                pairs.push(pair);
                before = self.circuit.or(before, lit);
            }
        }
        Ok(self.circuit.or_all(pairs))
    }

    /// The literals sorted, ones first, as far as position `k`: a totalizer.
    fn unary_count(&mut self, lits: &[Lit], k: u64) -> Result<Vec<Lit>> {
        if lits.len() <= 1 {
            return Ok(lits.to_vec());
        }
        let (left, right) = lits.split_at(lits.len() / 2);
        let left = self.unary_count(left, k)?;
        let right = self.unary_count(right, k)?;
        let limit = usize::try_from(k).unwrap_or(usize::MAX);
        let mut result = Vec::new();
        for total in 1..=(left.len() + right.len()).min(limit) {
            self.spend(total)?;
            let mut ways = Vec::new();
            for from_left in 0..=total.min(left.len()) {
                let from_right = total - from_left;
                if from_right > right.len() {
                    continue;
                }
                let l = from_left.checked_sub(1).map_or(Lit::TRUE, |at| left[at]);
                let r = from_right.checked_sub(1).map_or(Lit::TRUE, |at| right[at]);
                ways.push(self.circuit.and(l, r));
            }
            result.push(self.circuit.or_all(ways));
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts_right(n: usize, count: Count) {
        let mut circuit = Circuit::new();
        let mut budget = Budget::default();
        let inputs: Vec<Lit> = (0..n).map(|_| circuit.input()).collect();
        let mut cells: Vec<Cell> = inputs
            .iter()
            .enumerate()
            .map(|(i, &lit)| (i as u64, lit))
            .collect();
        cells.push((n as u64, Lit::TRUE));
        let matrix = Matrix::new(cells);
        let mut ops = Ops {
            circuit: &mut circuit,
            budget: &mut budget,
            space: Space::new(64),
        };
        let lit = ops.count(&matrix, count).unwrap();
        for bits in 0u32..1 << n {
            let values = circuit.simulate(|node| bits >> (node - 1) & 1 == 1);
            let size = bits.count_ones() + 1;
            let expected = match count {
                Count::AtLeast(k) => size >= k,
                Count::AtMost(k) => size <= k,
                Count::Exactly(k) => size == k,
            };
            assert_eq!(
                values[lit.node()] != lit.is_negated(),
                expected,
                "{n} {count:?} {bits:b}"
            );
        }
    }

    #[test]
    fn counting_is_exact() {
        for n in 0..9 {
            for k in 0..=(n as u32 + 3) {
                counts_right(n, Count::AtLeast(k));
                counts_right(n, Count::AtMost(k));
                counts_right(n, Count::Exactly(k));
            }
        }
    }
}
