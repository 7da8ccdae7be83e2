//! Which constraints cannot hold together.

use std::time::Instant;

use super::{Core, Error, Feed, Search, new_solver, with_deep_stack};
use crate::cnf;
use crate::limits::Budget;
use crate::sat::{Answer, SatSolver};

use super::prepare::{Extent, Preparation};

impl Search<'_> {
    /// The constraints of a minimal set without instance, after [`Outcome::Unsat`] was the first
    /// answer. At a limit the set is the smallest found so far.
    ///
    /// [`Outcome::Unsat`]: super::Outcome::Unsat
    pub fn core(&mut self) -> Result<Core, Error> {
        self.find_core()
    }

    /// As [`core`](Self::core), but not beyond a moment.
    pub fn core_until(&mut self, moment: Instant) -> Result<Core, Error> {
        let before = self.options.limits.clone();
        let deadline = before.deadline.map_or(moment, |end| end.min(moment));
        self.options.limits.deadline = Some(deadline);
        let core = self.find_core();
        self.options.limits = before;
        core
    }

    fn find_core(&self) -> Result<Core, Error> {
        self.require_unsat()?;
        // Only who asks for a core pays for the selectors.
        let (problem, options) = (self.problem, &self.options);
        let prepared = with_deep_stack(problem, || {
            Preparation::new(problem, options).run(Extent::Selected)
        })?;
        let mut solver = new_solver(&self.options);
        let mut budget = Budget::new(self.options.limits.clone());
        let constraints = self.problem.constraints.len();
        let written = cnf::write(
            &prepared.circuit,
            &prepared.inputs,
            &prepared.roots,
            constraints,
            &mut budget,
            &mut Feed {
                solver: solver.as_mut(),
            },
        )
        .map_err(Error::Limit)?;
        // A constraint that is always true has no root and cannot be needed.
        let mut needed: Vec<bool> = vec![false; constraints];
        for root in &prepared.roots {
            if let Some(slot) = root.selector.and_then(|at| needed.get_mut(at)) {
                *slot = true;
            }
        }
        let candidates: Vec<(usize, i32)> = written
            .selectors
            .iter()
            .copied()
            .enumerate()
            .filter(|(at, _)| needed.get(*at) == Some(&true))
            .collect();
        self.minimise(solver.as_mut(), candidates)
    }

    /// Leaves out one constraint after the other, and with each all that were not needed then.
    fn minimise(
        &self,
        solver: &mut dyn SatSolver,
        candidates: Vec<(usize, i32)>,
    ) -> Result<Core, Error> {
        let limits = &self.options.limits;
        let all: Vec<i32> = candidates.iter().map(|entry| entry.1).collect();
        let mut open = match solver.solve(&all, limits) {
            Answer::Unsat => keep_failed(solver, candidates),
            Answer::Sat => {
                return Err(Error::Internal(
                    "the constraints have an instance when asked for their core".into(),
                ));
            }
            Answer::Unknown(reason) => return Err(Error::Limit(reason)),
        };
        let mut core: Vec<(usize, i32)> = Vec::new();
        let mut minimal = true;
        while let Some(candidate) = open.pop() {
            let rest: Vec<i32> = core.iter().chain(&open).map(|entry| entry.1).collect();
            match solver.solve(&rest, limits) {
                Answer::Unsat => {
                    core = keep_failed(solver, core);
                    open = keep_failed(solver, open);
                }
                Answer::Sat => core.push(candidate),
                Answer::Unknown(_) => {
                    minimal = false;
                    core.push(candidate);
                }
            }
        }
        let mut constraints: Vec<usize> = core.into_iter().map(|entry| entry.0).collect();
        constraints.sort_unstable();
        Ok(Core {
            constraints,
            minimal,
        })
    }
}

fn keep_failed(solver: &dyn SatSolver, entries: Vec<(usize, i32)>) -> Vec<(usize, i32)> {
    entries
        .into_iter()
        .filter(|entry| solver.failed(entry.1))
        .collect()
}
