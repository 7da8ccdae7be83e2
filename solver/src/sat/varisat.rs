//! Varisat, a solver in Rust.
//!
//! It cannot be interrupted, but it gives up when its proof cannot be written. So where there is a
//! limit it writes its proof to a sink that fails once the limit is reached: every few kilobytes of
//! learnt clauses it looks at the clock.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use varisat::{ExtendFormula, Lit, ProofFormat, Solver};

use super::{Answer, ProvingSolver, SatSolver};
use crate::limits::{Limits, Reason};

/// Fails when a limit is reached.
struct Watch<W> {
    limits: Rc<RefCell<Limits>>,
    stopped: Rc<RefCell<Option<Reason>>>,
    target: W,
}

impl<W: Write> Write for Watch<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.limits.borrow().exceeded() {
            Some(reason) => {
                *self.stopped.borrow_mut() = Some(reason);
                Err(io::Error::other(reason.to_string()))
            }
            None => self.target.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

/// Varisat.
pub(crate) struct Varisat {
    solver: Solver<'static>,
    limits: Rc<RefCell<Limits>>,
    stopped: Rc<RefCell<Option<Reason>>>,
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
        let limits = Rc::new(RefCell::new(Limits::default()));
        let stopped = Rc::new(RefCell::new(None));
        let mut solver = Solver::new();
        if limited {
            let watch = Watch {
                limits: limits.clone(),
                stopped: stopped.clone(),
                target: io::sink(),
            };
            solver.write_proof(watch, ProofFormat::Varisat);
        }
        Varisat {
            solver,
            limits,
            stopped,
            dead: None,
            model: Vec::new(),
            failed: Vec::new(),
        }
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
        *self.limits.borrow_mut() = limits.clone();
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
                let reason = self.stopped.borrow().unwrap_or(Reason::Interrupted);
                self.dead = Some(reason);
                Answer::Unknown(reason)
            }
        }
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
        let stopped = Rc::new(RefCell::new(None));
        let mut solver = Solver::new();
        solver.write_proof(
            Watch {
                limits: Rc::new(RefCell::new(limits.clone())),
                stopped: stopped.clone(),
                target: proof,
            },
            ProofFormat::Drat,
        );
        for clause in clauses {
            let clause: Vec<Lit> = clause.iter().map(|&number| lit(number)).collect();
            solver.add_clause(&clause);
        }
        let answer = solver.solve();
        if let Some(reason) = *stopped.borrow() {
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
