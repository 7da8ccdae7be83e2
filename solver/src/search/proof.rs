//! Proofs that there is no instance, for an independent checker.

use std::fmt::Display;
use std::io::Write;

use super::{Error, Proof, Search};
use crate::cnf;
use crate::limits::{Budget, Limits};
use crate::sat::{Answer, ProvingSolver, Varisat};

impl Search<'_> {
    /// The clauses of the problem and a proof that they contradict each other, after
    /// [`Outcome::Unsat`] was the first answer.
    ///
    /// [`Outcome::Unsat`]: super::Outcome::Unsat
    pub fn proof(&mut self) -> Result<Proof, Error> {
        self.require_unsat()?;
        let mut clauses: Vec<Vec<i32>> = Vec::new();
        let mut budget = Budget::new(self.options.limits.clone());
        let written = cnf::write(
            &self.prepared.circuit,
            &self.prepared.inputs,
            &self.prepared.roots,
            0,
            &mut budget,
            &mut clauses,
        )
        .map_err(Error::Limit)?;
        Proof::of(written.numbering.count(), &clauses, &self.options.limits)
    }
}

impl Proof {
    /// A proof that clauses over so many variables contradict each other.
    pub(crate) fn of(
        vars: impl Display,
        clauses: &[Vec<i32>],
        limits: &Limits,
    ) -> Result<Proof, Error> {
        let mut drat = Vec::new();
        // Of the solvers only Varisat writes proofs.
        match Varisat::prove(clauses, limits, &mut drat) {
            Ok(Answer::Unsat) => {}
            Ok(Answer::Unknown(reason)) => return Err(Error::Limit(reason)),
            Ok(Answer::Sat) => {
                return Err(Error::Internal(
                    "the solvers disagree on the verdict".into(),
                ));
            }
            Err(error) => return Err(Error::Internal(format!("no proof was written: {error}"))),
        }
        let mut dimacs = Vec::new();
        // Writing to memory does not fail.
        let _ = writeln!(dimacs, "p cnf {vars} {}", clauses.len());
        for clause in clauses {
            for lit in clause {
                let _ = write!(dimacs, "{lit} ");
            }
            let _ = writeln!(dimacs, "0");
        }
        Ok(Proof { dimacs, drat })
    }
}
