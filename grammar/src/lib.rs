//! Text of a model to a resolved, typed model.
//!
//! This crate knows nothing of SAT and does no input or output.

pub mod ast;
pub mod model;
mod parse;

pub use parse::parse;
