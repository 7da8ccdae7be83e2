//! Whether a Compose file has the shape that the specification gives it.
//!
//! The walker finds all mistakes at once and reports each where it is, in the user's words.

mod compile;
mod lookup;
mod node;
mod report;
mod stored;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use lookup::{Keys, at_path};
pub use stored::to_store;
pub(crate) use walk::check;
