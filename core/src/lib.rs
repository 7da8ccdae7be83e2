//! What every other crate shares: source files and spans, and the one diagnostic type.
//!
//! This crate does no input or output, and knows neither YAML nor SAT.

pub mod diagnostic;
pub mod int;
pub mod source;
pub mod suggest;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use source::{FileId, Position, Sources, Span};
