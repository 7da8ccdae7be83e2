//! What a search finds.

use std::fmt;
use std::time::Duration;

use crate::limits::Reason;
use crate::problem::{TupleSet, Var};

/// The value of an existential variable in an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skolem {
    /// Name of the variable.
    pub name: String,
    /// The variable.
    pub var: Var,
    /// The universal variables that its value depends on: these are the first columns of `value`.
    pub outer: Vec<Var>,
    /// Its value, for each value of the outer variables.
    pub value: TupleSet,
}

/// Values of all relations that satisfy a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The values of the relations, in the order of the problem.
    pub relations: Vec<TupleSet>,
    /// The values of the existential variables that were skolemized.
    pub skolems: Vec<Skolem>,
}

/// What the solver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is an instance.
    Sat(Instance),
    /// There is no (further) instance.
    Unsat,
    /// It is not known whether there is one.
    Unknown(Reason),
}

/// Constraints that cannot hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Indices into the constraints of the problem, ascending.
    pub constraints: Vec<usize>,
    /// Whether it was proven that none can be left out.
    pub minimal: bool,
}

/// A proof that there is no instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The clauses, in the DIMACS format.
    pub dimacs: Vec<u8>,
    /// The proof, in the DRAT format.
    pub drat: Vec<u8>,
}

/// Sizes and times of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bits of relations that are not known.
    pub primary_vars: usize,
    /// Variables of the clauses.
    pub vars: usize,
    /// Clauses.
    pub clauses: usize,
    /// Time of the translation.
    pub translate: Duration,
    /// Time of the solver.
    pub solve: Duration,
}

/// Why a search cannot answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A limit was reached.
    Limit(Reason),
    /// A variable ranges over sets and could not be skolemized.
    HigherOrder {
        /// The variable.
        var: Var,
        /// Its name.
        name: String,
    },
    /// A relation has too many columns for the number of atoms.
    Capacity {
        /// Its columns.
        arity: usize,
        /// The atoms.
        atoms: usize,
    },
    /// Formulas are nested too deeply.
    Depth,
    /// The question does not fit what was found before.
    Misuse(&'static str),
    /// The solver contradicts itself; its answer is withheld.
    Internal(String),
}

impl Error {
    /// A stable name of the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Limit(Reason::Time) => "solver::time",
            Error::Limit(Reason::Memory) => "solver::memory",
            Error::Limit(Reason::Interrupted) => "solver::interrupted",
            Error::HigherOrder { .. } => "solver::higher-order",
            Error::Capacity { .. } => "solver::capacity",
            Error::Depth => "solver::depth",
            Error::Misuse(_) => "solver::misuse",
            Error::Internal(_) => "solver::internal",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Limit(reason) => reason.fmt(f),
            Error::HigherOrder { name, .. } => write!(
                f,
                "`{name}` ranges over sets, which needs a higher-order quantification that could \
                 not be skolemized"
            ),
            Error::Capacity { arity, atoms } => write!(
                f,
                "a relation of {arity} columns over {atoms} atoms has more possible tuples than \
                 can be counted"
            ),
            Error::Depth => write!(f, "the formula is nested too deeply"),
            Error::Misuse(what) => f.write_str(what),
            Error::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {}
