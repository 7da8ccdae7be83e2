//! The text of rules to programs that a checker runs.
//!
//! A rule is an assertion with an identifier, a severity and a message ([`Rule`]), in a file of a
//! [`Library`]. [`compile`](Program::compile) turns the rules of a library about one language into a [`Program`]: each assertion,
//! negated, is a query for what breaks it. The rules that come with Locus are compiled when Locus is built, so this
//! crate is used by a build script and knows neither the checker nor the solver.

pub mod builtin;
mod compile;
mod doc;
mod fix;
mod library;
pub mod logic;
pub mod marks;
mod normal;
mod origin;
mod program;
mod stored;
mod template;
mod violation;

pub use builtin::Builtin;
pub use compile::{Compiled, words};
pub use doc::{Place, Rule, RuleError, is_name};
pub use fix::{Change, Fix};
pub use library::{Library, Source};
pub use program::{Constant, Origin, Program, RelationEntry, RelationKind, RuleProgram, Things};
pub use template::{Path, Piece, Template};
