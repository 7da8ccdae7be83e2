//! Varisat for a moment, then CaDiCaL.
//!
//! Most problems are decided within milliseconds, where Varisat is the faster of the two: CaDiCaL
//! takes its time to simplify. What is not decided soon is hard, and there that time pays.

use super::{Answer, Cadical, SatSolver, Varisat};
use crate::limits::{Limits, Reason};

/// Bytes of proof that Varisat may need to find an instance of a small problem: less than a tenth of
/// a second, but counted in work, so that the same instance is found on a slow machine and on a fast
/// one.
const PATIENCE: u64 = 1_500_000;

/// Where none is expected. An instance may be found any moment; a refutation that has become long is
/// mostly far from its end.
const PATIENCE_WITHOUT_HOPE: u64 = 400_000;

/// As many literals more make a byte of proof cost as much again.
const LITERALS_PER_COST: usize = 300_000;

/// Who is at work.
enum Runner {
    /// Nobody has been asked yet.
    Waiting,
    First(Varisat),
    Second(Cadical),
}

/// Passes a problem on when the first solver does not decide it.
pub(crate) struct Relay {
    /// All clauses, each ended by 0, as long as there may be somebody to give them to.
    clauses: Vec<i32>,
    runner: Runner,
    /// Whether there is hope for an answer.
    hopeful: bool,
}

impl Relay {
    pub(crate) fn new(hopeful: bool) -> Self {
        Relay {
            clauses: Vec::new(),
            runner: Runner::Waiting,
            hopeful,
        }
    }

    /// Bytes of proof that Varisat may need.
    fn patience(&self) -> u64 {
        let patience = match self.hopeful {
            true => PATIENCE,
            false => PATIENCE_WITHOUT_HOPE,
        };
        patience / (1 + self.clauses.len() / LITERALS_PER_COST) as u64
    }

    /// Lets the first solver run; the second one where the first does not decide.
    fn run(&mut self, assumptions: &[i32], limits: &Limits) -> Result<Answer, &mut Cadical> {
        if matches!(self.runner, Runner::Waiting) {
            let mut first = Varisat::new(true);
            self.hand_over(&mut first);
            self.runner = Runner::First(first);
        }
        let patience = self.patience();
        if let Runner::First(first) = &mut self.runner {
            if let Some(answer) = first.solve_within(patience, assumptions, limits) {
                return Ok(answer);
            }
            let mut second = Cadical::new(self.hopeful);
            self.hand_over(&mut second);
            self.clauses = Vec::new();
            self.runner = Runner::Second(second);
        }
        match &mut self.runner {
            Runner::Second(second) => Err(second),
            _ => Ok(Answer::Unknown(Reason::Interrupted)),
        }
    }

    fn hand_over(&self, solver: &mut dyn SatSolver) {
        let mut rest = self.clauses.as_slice();
        while let Some(end) = rest.iter().position(|&lit| lit == 0) {
            let (clause, after) = rest.split_at(end);
            solver.add_clause(clause);
            rest = after.get(1..).unwrap_or_default();
        }
    }
}

impl SatSolver for Relay {
    fn add_clause(&mut self, clause: &[i32]) {
        if !matches!(self.runner, Runner::Second(_)) {
            self.clauses.extend_from_slice(clause);
            self.clauses.push(0);
        }
        match &mut self.runner {
            Runner::Waiting => {}
            Runner::First(first) => first.add_clause(clause),
            Runner::Second(second) => second.add_clause(clause),
        }
    }

    fn solve(&mut self, assumptions: &[i32], limits: &Limits) -> Answer {
        match self.run(assumptions, limits) {
            Ok(answer) => answer,
            Err(second) => second.solve(assumptions, limits),
        }
    }

    fn solve_briefly(&mut self, limits: &Limits) -> Option<Answer> {
        match self.run(&[], limits) {
            Ok(answer) => Some(answer),
            Err(second) => second.solve_briefly(limits),
        }
    }

    fn value(&self, var: i32) -> bool {
        match &self.runner {
            Runner::Waiting => false,
            Runner::First(first) => first.value(var),
            Runner::Second(second) => second.value(var),
        }
    }

    fn failed(&self, assumption: i32) -> bool {
        match &self.runner {
            Runner::Waiting => false,
            Runner::First(first) => first.failed(assumption),
            Runner::Second(second) => second.failed(assumption),
        }
    }
}
