//! The rule library and the checker that joins graph and model.
//!
//! A rule is an assertion in a file of `library/`; nothing about a single rule is written in Rust. Rules
//! are compiled once ([`rules`]), a configuration becomes a database of relations ([`check`]), and
//! each rule becomes a query for what breaks it ([`logic`], [`engine`]).

pub mod check;
pub mod engine;
pub mod explain;
pub mod instance;
pub mod library;
pub mod models;
pub mod own;
pub mod placement;

pub use check::{
    Candidate, Candidates, Checker, Configuration, Dependence, Options, Proved, Report, Stats,
    check as check_loaded,
};
pub use explain::explain;
pub use locus_rules as rules;
pub use locus_rules::logic;
pub use own::OwnRules;
pub use rules::{Library, Rule};

/// All rules that come with the program; a rule that is stated in parts appears once for each part.
pub fn rules() -> &'static [Rule] {
    library::builtin().rules()
}
