//! Varisat, a solver in Rust.
//!
//! It cannot be interrupted, but it gives up when its proof cannot be written. So where there is a
//! limit it writes its proof to a sink that fails once the limit is reached: every few kilobytes of
//! learnt clauses it looks at the clock. The length of the proof is also a measure of work that is
//! the same on every machine.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;

use varisat::{ExtendFormula, Lit, ProofFormat, Solver};

use super::{Answer, ProvingSolver, SatSolver};
use crate::limits::{Limits, Reason};

/// Bytes of proof that are little work.
const BRIEFLY: u64 = 4_000_000;

/// What a solver and the sink of its proof tell each other.
#[derive(Default)]
struct Control {
    limits: RefCell<Limits>,
    /// Bytes of proof that may still be written, if they are counted.
    allowance: Cell<Option<u64>>,
    /// The limit that was reached; none when the allowance was used up.
    stopped: Cell<Option<Reason>>,
}

/// Fails when a limit is reached.
struct Watch<W> {
    control: Rc<Control>,
    target: W,
}

impl<W: Write> Write for Watch<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(reason) = self.control.limits.borrow().exceeded() {
            self.control.stopped.set(Some(reason));
            return Err(io::Error::other(reason.to_string()));
        }
        let written = self.target.write(bytes)?;
        if let Some(left) = self.control.allowance.get() {
            let left = left
                .checked_sub(written as u64)
                .ok_or_else(|| io::Error::other("the allowance is used up"))?;
            self.control.allowance.set(Some(left));
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

/// Varisat.
pub(crate) struct Varisat {
    solver: Solver<'static>,
    control: Rc<Control>,
    /// Whether it was stopped, after which it cannot be asked again.
    dead: Option<Reason>,
    model: Vec<bool>,
    failed: Vec<i32>,
}

fn lit(number: i32) -> Lit {
    Lit::from_dimacs(number as isize)
}

impl Varisat {
    /// A solver; it can be stopped by limits later only when `limited`.
    pub(crate) fn new(limited: bool) -> Self {
        let control = Rc::new(Control::default());
        let mut solver = Solver::new();
        if limited {
            let watch = Watch {
                control: control.clone(),
                target: io::sink(),
            };
            solver.write_proof(watch, ProofFormat::Varisat);
        }
        Varisat {
            solver,
            control,
            dead: None,
            model: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Solves as long as the proof is no longer than `allowance` bytes; none when it became longer,
    /// after which this solver cannot be asked again. It must have been made `limited`.
    pub(crate) fn solve_within(
        &mut self,
        allowance: u64,
        assumptions: &[i32],
        limits: &Limits,
    ) -> Option<Answer> {
        self.control.allowance.set(Some(allowance));
        let answer = self.solve(assumptions, limits);
        self.control.allowance.set(None);
        let ended_by_allowance =
            matches!(answer, Answer::Unknown(_)) && self.control.stopped.get().is_none();
        (!ended_by_allowance || limits.exceeded().is_some()).then_some(answer)
    }
}

impl SatSolver for Varisat {
    fn add_clause(&mut self, clause: &[i32]) {
        let clause: Vec<Lit> = clause.iter().map(|&number| lit(number)).collect();
        self.solver.add_clause(&clause);
    }

    fn solve(&mut self, assumptions: &[i32], limits: &Limits) -> Answer {
        if let Some(reason) = self.dead.or_else(|| limits.exceeded()) {
            return Answer::Unknown(reason);
        }
        *self.control.limits.borrow_mut() = limits.clone();
        let assumed: Vec<Lit> = assumptions.iter().map(|&number| lit(number)).collect();
        self.solver.assume(&assumed);
        match self.solver.solve() {
            Ok(true) => {
                self.model.clear();
                for lit in self.solver.model().unwrap_or_default() {
                    let at = lit.var().index();
                    if self.model.len() <= at {
                        self.model.resize(at + 1, false);
                    }
                    if let Some(slot) = self.model.get_mut(at) {
                        *slot = lit.is_positive();
                    }
                }
                Answer::Sat
            }
            Ok(false) => {
                self.failed = self
                    .solver
                    .failed_core()
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|lit| i32::try_from(lit.to_dimacs()).ok())
                    .collect();
                Answer::Unsat
            }
            Err(_) => {
                let reason = self.control.stopped.get().unwrap_or(Reason::Interrupted);
                self.dead = Some(reason);
                Answer::Unknown(reason)
            }
        }
    }

    fn solve_briefly(&mut self, limits: &Limits) -> Option<Answer> {
        self.solve_within(BRIEFLY, &[], limits)
    }

    fn value(&self, var: i32) -> bool {
        usize::try_from(var - 1)
            .ok()
            .and_then(|at| self.model.get(at).copied())
            .unwrap_or(false)
    }

    fn failed(&self, assumption: i32) -> bool {
        self.failed.contains(&assumption)
    }
}

impl ProvingSolver for Varisat {
    fn prove(
        clauses: &[Vec<i32>],
        limits: &Limits,
        proof: impl Write,
    ) -> Result<Answer, io::Error> {
        let control = Rc::new(Control {
            limits: RefCell::new(limits.clone()),
            ..Control::default()
        });
        let mut solver = Solver::new();
        solver.write_proof(
            Watch {
                control: control.clone(),
                target: proof,
            },
            ProofFormat::Drat,
        );
        for clause in clauses {
            let clause: Vec<Lit> = clause.iter().map(|&number| lit(number)).collect();
            solver.add_clause(&clause);
        }
        let answer = solver.solve();
        if let Some(reason) = control.stopped.get() {
            return Ok(Answer::Unknown(reason));
        }
        let satisfiable = answer.map_err(|error| io::Error::other(error.to_string()))?;
        solver
            .close_proof()
            .map_err(|error| io::Error::other(error.to_string()))?;
        Ok(if satisfiable {
            Answer::Sat
        } else {
            Answer::Unsat
        })
    }
}
