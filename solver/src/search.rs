//! The search for instances of a problem.

#[cfg(test)]
mod drat;
mod mentioned;
mod options;
mod outcome;
mod overflow;
mod prepare;
mod proof;
mod smallest;
mod unsat_core;

use std::time::{Duration, Instant};

pub use options::{Options, Overflow, SolverKind};
pub use outcome::{Core, Error, Instance, Outcome, Proof, Skolem, Stats};

use crate::cnf::{self, ClauseSink};
use crate::evaluate::{EvaluateError, Evaluator};
use crate::limits::Budget;
use crate::problem::Problem;
use crate::sat::{Answer, SatSolver, Varisat};
use prepare::{Extent, Preparation, Prepared};

/// A problem translated to clauses, and the solver that looks for its instances.
pub struct Search<'p> {
    problem: &'p Problem,
    options: Options,
    prepared: Prepared,
    solver: Box<dyn SatSolver>,
    /// The variables of the bits of relations that are not known.
    primary: Vec<i32>,
    stats: Stats,
    /// Whether the first answer was an instance.
    verdict: Option<bool>,
    /// Whether there is an instance to be excluded before the next question.
    found: bool,
    /// The values of the primary variables in it.
    blocked_values: Vec<bool>,
    /// The instance found last.
    last: Option<Instance>,
    /// The last variable that the solver knows.
    last_var: i32,
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
        SolverKind::Cadical => Box::new(crate::sat::Cadical::new(options.small_first)),
        #[cfg(feature = "cadical")]
        SolverKind::Relay => Box::new(crate::sat::Relay::new(options.small_first)),
    }
}

/// Terms are walked by recursion; a thread with a deep stack makes room for deep ones.
const STACK_BYTES: usize = 1 << 28;

/// So few terms cannot be nested too deeply for any stack.
const FEW_TERMS: usize = 500;

/// Runs `work` on a problem with a deep stack, or where there is none with the one at hand.
fn with_deep_stack<T: Send>(problem: &Problem, work: impl Fn() -> T + Send + Sync) -> T {
    if problem.terms.len() <= FEW_TERMS {
        return work();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, &work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => work(),
        }
    })
}

impl<'p> Search<'p> {
    /// Translates a problem.
    pub fn new(problem: &'p Problem, options: &Options) -> Result<Self, Error> {
        let extent = if options.small_first {
            Extent::Small
        } else {
            Extent::Whole
        };
        Self::translate(problem, options, extent)
    }

    fn translate(problem: &'p Problem, options: &Options, extent: Extent) -> Result<Self, Error> {
        let start = Instant::now();
        let prepared = with_deep_stack(problem, || Preparation::new(problem, options).run(extent))?;
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
            blocked_values: Vec::new(),
            last: None,
            last_var: i32::try_from(written.numbering.count()).unwrap_or(i32::MAX),
        })
    }

    /// Goes on with the whole problem.
    fn widen(&mut self) -> Result<(), Error> {
        if !self.prepared.small {
            return Ok(());
        }
        let whole = Self::translate(self.problem, &self.options, Extent::Whole)?;
        let before = std::mem::replace(self, whole);
        self.stats.translate += before.stats.translate;
        self.stats.solve += before.stats.solve;
        self.verdict = before.verdict;
        self.found = before.found;
        if let Some(instance) = &before.last {
            self.blocked_values = self.prepared.values(instance);
        }
        self.last = before.last;
        Ok(())
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
        if self.prepared.small {
            if !self.found
                && let Some(instance) = self.solve_small()?
            {
                return Ok(Outcome::Sat(instance));
            }
            self.widen()?;
        }
        if self.found {
            self.block();
        }
        self.solve(&[])
    }

    /// Looks for an instance of the smaller problem as long as that is easy.
    fn solve_small(&mut self) -> Result<Option<Instance>, Error> {
        let start = Instant::now();
        let answer = self.solver.solve_briefly(&self.options.limits);
        self.stats.solve += start.elapsed();
        match answer {
            Some(Answer::Sat) => self.accept().map(Some),
            _ => Ok(None),
        }
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
            Answer::Sat => self.accept().map(Outcome::Sat),
        }
    }

    /// The instance that the solver found.
    fn accept(&mut self) -> Result<Instance, Error> {
        self.verdict.get_or_insert(true);
        let instance = self.decode();
        self.check(&instance)?;
        self.found = true;
        let values = self.primary.iter().map(|&var| self.solver.value(var));
        self.blocked_values = values.collect();
        self.last = Some(instance.clone());
        Ok(instance)
    }

    /// Excludes the instance found last.
    fn block(&mut self) {
        self.found = false;
        let block: Vec<i32> = self
            .primary
            .iter()
            .zip(&self.blocked_values)
            .map(|(&var, &value)| if value { -var } else { var })
            .collect();
        self.solver.add_clause(&block);
    }

    fn require_unsat(&self) -> Result<(), Error> {
        match self.verdict {
            Some(false) => Ok(()),
            Some(true) => Err(Error::Misuse("there is an instance")),
            None => Err(Error::Misuse("nothing was searched for yet")),
        }
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
    pub(crate) fn check(&self, instance: &Instance) -> Result<(), Error> {
        let (problem, options) = (self.problem, &self.options);
        let result = with_deep_stack(problem, || {
            Evaluator::new(problem, instance)
                .with_overflow(options.overflow)
                .with_limits(options.limits.clone())
                .is_instance()
        });
        match result {
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
