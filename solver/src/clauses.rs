//! Plain clauses, for whoever needs no relations: asked again and again, under other assumptions.

use std::fmt;

use crate::limits::Limits;
use crate::sat::{Answer, SatSolver as _, Varisat};
use crate::search::Proof;

/// Clauses over numbered variables. Literals are numbers as in DIMACS: variables count from 1, a negative number is a
/// negation.
pub struct Clauses {
    solver: Varisat,
    vars: i32,
    /// All of them, for proofs.
    list: Vec<Vec<i32>>,
}

impl fmt::Debug for Clauses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clauses over {} variables", self.vars)
    }
}

impl Default for Clauses {
    fn default() -> Self {
        Clauses {
            solver: Varisat::new(false),
            vars: 0,
            list: Vec::new(),
        }
    }
}

impl Clauses {
    /// A new variable.
    pub fn var(&mut self) -> i32 {
        self.vars = self.vars.saturating_add(1);
        self.vars
    }

    /// Demands one of the literals.
    pub fn add(&mut self, clause: &[i32]) {
        self.solver.add_clause(clause);
        self.list.push(clause.to_vec());
    }

    /// Demands that a variable is true exactly when all literals are.
    pub fn all(&mut self, var: i32, literals: &[i32]) {
        let mut back = vec![var];
        for &literal in literals {
            self.add(&[-var, literal]);
            back.push(-literal);
        }
        self.add(&back);
    }

    /// Demands that exactly one of the literals is true.
    pub fn one(&mut self, literals: &[i32]) {
        self.add(literals);
        for (at, &a) in literals.iter().enumerate() {
            for &b in literals.iter().skip(at + 1) {
                self.add(&[-a, -b]);
            }
        }
    }

    /// Literals of which the one at `k` is true whenever at least `k + 1` of the given ones are, up to `most`:
    /// assuming its negation allows at most `k`.
    pub fn counter(&mut self, literals: &[i32], most: usize) -> Vec<i32> {
        let mut counts: Vec<i32> = Vec::new();
        for &literal in literals {
            let width = (counts.len() + 1).min(most);
            let next: Vec<i32> = (0..width).map(|_| self.var()).collect();
            for (at, &out) in next.iter().enumerate() {
                if let Some(&before) = counts.get(at) {
                    self.add(&[-before, out]);
                }
                match at.checked_sub(1).map(|below| counts.get(below)) {
                    None => self.add(&[-literal, out]),
                    Some(Some(&below)) => self.add(&[-literal, -below, out]),
                    Some(None) => {}
                }
            }
            counts = next;
        }
        counts
    }

    /// Whether all clauses and assumptions can be true; [`value`](Self::value) then says how.
    pub fn solve(&mut self, assumptions: &[i32]) -> bool {
        self.solver.solve(assumptions, &Limits::default()) == Answer::Sat
    }

    /// A proof that none of some sets of literals can be true; none when one of them can, or it is too hard to tell.
    pub fn prove(&self, impossible: &[Vec<i32>]) -> Option<Proof> {
        let mut clauses = self.list.clone();
        let mut vars = self.vars;
        // One of the sets is chosen, whichever.
        let mut chosen = Vec::with_capacity(impossible.len());
        for literals in impossible {
            vars = vars.saturating_add(1);
            chosen.push(vars);
            clauses.extend(literals.iter().map(|&literal| vec![-vars, literal]));
        }
        clauses.push(chosen);
        Proof::of(vars, &clauses, &Limits::default()).ok()
    }

    /// The value of a variable.
    pub fn value(&self, var: i32) -> bool {
        self.solver.value(var)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_limits_how_many_are_true() {
        let mut clauses = Clauses::default();
        let vars: Vec<i32> = (0..5).map(|_| clauses.var()).collect();
        clauses.add(&vars[..2]);
        clauses.add(&vars[2..4]);
        let counts = clauses.counter(&vars, 4);
        // One of each pair: at most one is too few, two are enough.
        assert!(!clauses.solve(&[-counts[1]]));
        assert!(!clauses.solve(&[-counts[2], vars[4]]));
        assert!(clauses.solve(&[-counts[2]]));
        assert_eq!(vars.iter().filter(|&&var| clauses.value(var)).count(), 2);
        let proof = clauses.prove(&[vec![-counts[1]], vec![-counts[2], vars[4]]]);
        assert!(proof.is_some_and(|proof| proof.dimacs.starts_with(b"p cnf ")));
        assert_eq!(clauses.prove(&[vec![-counts[2]]]), None);
        let and = clauses.var();
        clauses.all(and, &vars);
        assert!(clauses.solve(&[and]));
        assert!(!clauses.solve(&[-and, vars[0], vars[1], vars[2], vars[3], vars[4]]));
    }
}
