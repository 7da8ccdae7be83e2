//! A measurement log in an operator's hand: replayed against the registers and quotes that belong to it.
//!
//! Nothing here decides about trust. A gate takes the same steps with values that it asked for itself; this
//! takes them from files, and says what they come to.

pub mod cli;
mod facts;
mod folder;
mod quoted;
mod text;

pub use facts::{Aggregate, Covered, Facts, facts};
pub use folder::{Recording, RecordingError};
pub use quoted::{QuoteFacts, RecordedQuote};
