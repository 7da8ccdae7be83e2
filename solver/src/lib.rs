//! Relational problem to SAT and back.
//!
//! This crate knows nothing of YAML and does no input or output.

pub mod alloy;
mod approximate;
mod circuit;
pub mod clauses;
mod cnf;
pub mod evaluate;
mod least_number;
pub mod limits;
mod matrix;
mod memo;
mod miniscope;
mod narrow;
pub mod placement;
pub mod problem;
mod rewrite;
mod sat;
mod scope;
pub mod search;
mod sets;
mod skolem;
mod symmetry;
mod tighten;
mod translate;

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod random;
#[cfg(test)]
mod show;
