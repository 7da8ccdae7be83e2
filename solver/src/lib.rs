//! Relational problem to SAT and back.
//!
//! This crate knows nothing of YAML and does no input or output.

pub mod alloy;
pub mod problem;
