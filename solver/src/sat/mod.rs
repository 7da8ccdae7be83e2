//! SAT solvers behind small traits.
//!
//! Literals are numbers as in DIMACS: variables count from 1, a negative number is a negation.

#[cfg(feature = "cadical")]
mod cadical;
#[cfg(test)]
mod conformance;
#[cfg(feature = "cadical")]
mod relay;
mod varisat;

use std::io::Write;

use crate::limits::{Limits, Reason};

#[cfg(feature = "cadical")]
pub(crate) use self::cadical::Cadical;
#[cfg(feature = "cadical")]
pub(crate) use self::relay::Relay;
pub(crate) use self::varisat::Varisat;

/// What a solver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Sat,
    Unsat,
    Unknown(Reason),
}

/// A solver that can be asked again and again, with more clauses and other assumptions.
pub(crate) trait SatSolver {
    /// Demands one of the literals.
    fn add_clause(&mut self, clause: &[i32]);

    /// Looks for values under which all clauses and assumptions hold, until a limit is reached.
    fn solve(&mut self, assumptions: &[i32], limits: &Limits) -> Answer;

    /// As [`solve`](Self::solve), but with little work; none when it takes more. The work is not
    /// measured in time, so that the answer is the same on every machine.
    fn solve_briefly(&mut self, limits: &Limits) -> Option<Answer>;

    /// The value of a variable after [`Answer::Sat`]; false where it does not matter.
    fn value(&self, var: i32) -> bool;

    /// Whether an assumption was needed for [`Answer::Unsat`].
    fn failed(&self, assumption: i32) -> bool;
}

/// A solver that writes down why it says [`Answer::Unsat`].
pub(crate) trait ProvingSolver {
    /// Decides clauses over `vars` variables and writes a DRAT proof of unsatisfiability.
    fn prove(
        clauses: &[Vec<i32>],
        limits: &Limits,
        proof: impl Write,
    ) -> Result<Answer, std::io::Error>;
}
