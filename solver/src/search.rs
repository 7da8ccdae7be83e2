//! The search for instances of a problem.

mod options;
mod outcome;
mod prepare;

use std::time::{Duration, Instant};

pub use options::{Options, Overflow, SolverKind};
pub use outcome::{Core, Error, Instance, Outcome, Proof, Skolem, Stats};

use crate::cnf::{self, ClauseSink};
use crate::evaluate::{EvaluateError, Evaluator};
use crate::limits::Budget;
use crate::problem::Problem;
use crate::sat::{Answer, SatSolver, Varisat};
use prepare::{Preparation, Prepared};

/// A problem translated to clauses, and the solver that looks for its instances.
pub struct Search<'p> {
    problem: &'p Problem,
    options: Options,
    prepared: Prepared,
    solver: Box<dyn SatSolver>,
    /// The variables of the bits of relations that are not known.
    primary: Vec<i32>,
    stats: Stats,
    verdict: Option<bool>,
    /// The last instance, until it is blocked.
    found: bool,
}

/// Feeds clauses to a solver and counts them.
struct Feed<'a> {
    solver: &'a mut dyn SatSolver,
}

impl ClauseSink for Feed<'_> {
    fn clause(&mut self, clause: &[i32]) {
        self.solver.add_clause(clause);
    }
}

fn new_solver(options: &Options) -> Box<dyn SatSolver> {
    match options.solver {
        SolverKind::Varisat => {
            let limits = &options.limits;
            let limited = limits.deadline.is_some() || limits.interrupt.is_some();
            Box::new(Varisat::new(limited))
        }
        #[cfg(feature = "cadical")]
        SolverKind::Cadical => Box::new(crate::sat::Cadical::new()),
    }
}

impl<'p> Search<'p> {
    /// Translates a problem.
    pub fn new(problem: &'p Problem, options: &Options) -> Result<Self, Error> {
        let start = Instant::now();
        let prepared = Preparation::new(problem, options).run(false)?;
        let mut solver = new_solver(options);
        let mut budget = Budget::new(options.limits.clone());
        let written = cnf::write(
            &prepared.circuit,
            &prepared.inputs,
            &prepared.roots,
            0,
            &mut budget,
            &mut Feed {
                solver: solver.as_mut(),
            },
        )
        .map_err(Error::Limit)?;
        let primary = prepared
            .inputs
            .iter()
            .filter_map(|input| written.numbering.var(input.node()))
            .collect();
        let stats = Stats {
            primary_vars: prepared.inputs.len(),
            vars: written.numbering.count(),
            clauses: written.clauses,
            translate: start.elapsed(),
            solve: Duration::ZERO,
        };
        Ok(Search {
            problem,
            options: options.clone(),
            prepared,
            solver,
            primary,
            stats,
            verdict: None,
            found: false,
        })
    }

    /// Sizes and times so far.
    pub fn stats(&self) -> Stats {
        self.stats.clone()
    }

    /// The next instance, different from all before.
    #[expect(
        clippy::should_implement_trait,
        reason = "it can fail and goes on after the end"
    )]
    pub fn next(&mut self) -> Result<Outcome, Error> {
        if self.found {
            self.block();
        }
        self.solve(&[])
    }

    fn solve(&mut self, assumptions: &[i32]) -> Result<Outcome, Error> {
        let start = Instant::now();
        let answer = self.solver.solve(assumptions, &self.options.limits);
        self.stats.solve += start.elapsed();
        match answer {
            Answer::Unsat => {
                self.verdict.get_or_insert(false);
                Ok(Outcome::Unsat)
            }
            Answer::Unknown(reason) => Ok(Outcome::Unknown(reason)),
            Answer::Sat => {
                self.verdict.get_or_insert(true);
                self.found = true;
                let instance = self.decode();
                self.check(&instance)?;
                Ok(Outcome::Sat(instance))
            }
        }
    }

    /// Excludes the instance found last.
    fn block(&mut self) {
        self.found = false;
        let block: Vec<i32> = self
            .primary
            .iter()
            .map(|&var| if self.solver.value(var) { -var } else { var })
            .collect();
        self.solver.add_clause(&block);
    }

    fn decode(&self) -> Instance {
        let mut values = vec![false; self.prepared.circuit.len()];
        for (input, &var) in self.prepared.inputs.iter().zip(&self.primary) {
            if let Some(value) = values.get_mut(input.node()) {
                *value = self.solver.value(var);
            }
        }
        self.prepared.decode(self.problem, &values)
    }

    /// Asks the evaluator whether the instance is one.
    fn check(&self, instance: &Instance) -> Result<(), Error> {
        let mut evaluator = Evaluator::new(self.problem, instance)
            .with_overflow(self.options.overflow)
            .with_limits(self.options.limits.clone());
        match evaluator.is_instance() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Internal(
                "an instance found by the solver does not satisfy the problem".into(),
            )),
            Err(EvaluateError::Limit(reason)) => Err(Error::Limit(reason)),
            Err(error) => Err(Error::Internal(format!(
                "an instance could not be checked: {error:?}"
            ))),
        }
    }
}

#[cfg(test)]
pub(crate) fn mentioned_relations(problem: &Problem) -> Vec<bool> {
    Preparation::new(problem, &Options::default()).mentioned_relations()
}
