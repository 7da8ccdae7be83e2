//! What every other crate shares: source files and spans, the one diagnostic type, values, the
//! location graph, and what rules can mention.
//!
//! This crate does no input or output, and knows neither YAML nor SAT.

pub mod catalogue;
pub mod decode;
pub mod diagnostic;
pub mod facts;
pub mod graph;
pub mod int;
pub mod memory;
pub mod placement;
pub mod source;
pub mod suggest;
pub mod value;
pub mod values;
pub mod vocabulary;

pub use decode::decode;
pub use diagnostic::{Diagnostic, Label, Severity};
pub use graph::{Location, LocationGraph, LocationId};
pub use int::Int;
pub use source::{FileId, Position, Sources, Span};
pub use value::{Item, Value};
