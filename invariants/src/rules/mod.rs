//! Rules: assertions with an identifier, a severity and a message, read from the files of a library.

mod compile;
mod doc;
mod library;
mod lower;
mod program;
mod stored;
mod template;

pub use doc::{Rule, RuleError};
pub use library::{Example, Library, Source};
pub use program::{Program, RelationEntry, RelationKind, RuleProgram};
pub use template::{Path, Piece, Template};
