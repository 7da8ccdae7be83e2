//! The firmware's event log: what it measured before the kernel took over, and which of it is acceptable.
//!
//! The log comes from the worker and proves nothing by itself: [`EventLog::explain`] replays it to the registers that
//! the TPM quoted. Of an event the registers cover its digests, and neither its type nor what the log says was measured;
//! [`Content::of`] therefore believes only what has the digest. A [`BootPolicy`] says which events may be there.

mod content;
mod kind;
mod learn;
mod log;
mod pattern;
mod policy;
mod replay;

pub use content::{Content, Variable};
pub use kind::EventKind;
pub use learn::learn;
pub use log::{Event, EventLog, EventLogError};
pub use pattern::TextPattern;
pub use policy::{BootPolicy, BootPolicyError, EventRule, Unaccepted};
pub use replay::{Explained, Unexplained};

#[cfg(test)]
mod tests;
