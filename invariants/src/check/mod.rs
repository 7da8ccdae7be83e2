//! The checker: joins the facts of a configuration with the rules of its language.

#[cfg(test)]
mod agreement;
mod candidates;
mod decide;
mod fold;
mod mend;
mod populate;
mod problem;
mod report;
mod run;

pub use candidates::{Candidate, Candidates, Dependence};
pub use run::{Checker, Configuration, Options, Proved, Report, Stats, check};
