//! What can be chosen about a search.

use crate::limits::Limits;

/// A SAT solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SolverKind {
    /// Varisat, written in Rust.
    #[cfg_attr(not(feature = "cadical"), default)]
    Varisat,
    /// CaDiCaL, written in C++.
    #[cfg(feature = "cadical")]
    Cadical,
    /// Varisat for a moment, then CaDiCaL: the easy ones fast, the hard ones too.
    #[cfg(feature = "cadical")]
    #[cfg_attr(feature = "cadical", default)]
    Relay,
}

impl SolverKind {
    /// All solvers of this build.
    pub const ALL: &'static [SolverKind] = &[
        SolverKind::Varisat,
        #[cfg(feature = "cadical")]
        SolverKind::Cadical,
        #[cfg(feature = "cadical")]
        SolverKind::Relay,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SolverKind::Varisat => "varisat",
            #[cfg(feature = "cadical")]
            SolverKind::Cadical => "cadical",
            #[cfg(feature = "cadical")]
            SolverKind::Relay => "relay",
        }
    }
}

/// What happens when an integer does not fit into its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Overflow {
    /// A comparison in which it happens cannot help: under an existential quantifier it fails, for a
    /// universally quantified integer it holds.
    #[default]
    Forbid,
    /// The value wraps around.
    Wrap,
}

/// What can be chosen about a search.
#[derive(Clone, Debug)]
pub struct Options {
    /// The SAT solver.
    pub solver: SolverKind,
    /// How many bits of an instance are compared with those of an equal one to leave out one of
    /// them; 0 keeps all.
    pub symmetry: u32,
    /// Whether the total orders of the problem may be fixed to the order of atoms.
    pub fix_orders: bool,
    /// Whether an existential variable may be given one of several interchangeable atoms. Who
    /// enumerates instances without breaking symmetry is not deprived of any.
    pub choose_constants: bool,
    /// Whether an instance is looked for among a few atoms first. Where one is expected, this mostly
    /// finds it much faster.
    pub small_first: bool,
    /// Whether instances differ that differ only in relations which no constraint mentions. Who wants
    /// one instance need not care; who enumerates them does.
    pub every_relation: bool,
    /// How many universal variables may be around a skolemized one.
    pub skolem_depth: u32,
    /// What happens when an integer does not fit.
    pub overflow: Overflow,
    /// When to give up.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            solver: SolverKind::default(),
            symmetry: 20,
            fix_orders: true,
            choose_constants: true,
            small_first: false,
            every_relation: false,
            skolem_depth: 1,
            overflow: Overflow::default(),
            limits: Limits::default(),
        }
    }
}
