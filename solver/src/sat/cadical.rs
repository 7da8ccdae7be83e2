//! CaDiCaL, a solver in C++.

use std::time::Instant;

use cadical::{Callbacks, Solver};

use super::{Answer, SatSolver};
use crate::limits::{Limits, Reason};

/// Asked by the solver now and then whether to stop.
struct Watch {
    limits: Limits,
    stopped: Option<Reason>,
}

impl Callbacks for Watch {
    fn terminate(&mut self) -> bool {
        if self.stopped.is_none() {
            self.stopped = self.limits.exceeded();
        }
        self.stopped.is_some()
    }
}

/// Conflicts that are little work.
const BRIEFLY: i32 = 20_000;

/// CaDiCaL.
///
/// It tries a variable first as true, which suits a relation badly: most tuples are not in it. The
/// binding has no option for that, so every literal goes in and comes out negated.
pub(crate) struct Cadical {
    solver: Solver<Watch>,
}

impl Cadical {
    /// A solver; where it is `hopeful` it is set to find an answer rather than to prove that there is
    /// none.
    pub(crate) fn new(hopeful: bool) -> Self {
        let config = if hopeful { "sat" } else { "default" };
        Cadical {
            solver: Solver::with_config(config).unwrap_or_default(),
        }
    }
}

impl SatSolver for Cadical {
    fn add_clause(&mut self, clause: &[i32]) {
        self.solver.add_clause(clause.iter().map(|&lit| -lit));
    }

    fn solve(&mut self, assumptions: &[i32], limits: &Limits) -> Answer {
        if let Some(reason) = limits.exceeded() {
            return Answer::Unknown(reason);
        }
        let watched = limits.deadline.is_some() || limits.interrupt.is_some();
        self.solver.set_callbacks(watched.then(|| Watch {
            limits: limits.clone(),
            stopped: None,
        }));
        let answer = self.solver.solve_with(assumptions.iter().map(|&lit| -lit));
        let stopped = self
            .solver
            .get_callbacks()
            .and_then(|watch| watch.stopped)
            .unwrap_or(match limits.deadline {
                Some(deadline) if Instant::now() >= deadline => Reason::Time,
                _ => Reason::Interrupted,
            });
        match answer {
            Some(true) => Answer::Sat,
            Some(false) => Answer::Unsat,
            None => Answer::Unknown(stopped),
        }
    }

    fn solve_briefly(&mut self, limits: &Limits) -> Option<Answer> {
        let limited = self.solver.set_limit("conflicts", BRIEFLY);
        let answer = limited.is_ok().then(|| self.solve(&[], limits))?;
        let given_up = matches!(answer, Answer::Unknown(_)) && limits.exceeded().is_none();
        (!given_up).then_some(answer)
    }

    fn value(&self, var: i32) -> bool {
        self.solver.value(var) == Some(false)
    }

    fn failed(&self, assumption: i32) -> bool {
        self.solver.failed(-assumption)
    }
}
