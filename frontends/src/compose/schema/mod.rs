//! Whether a Compose file has the shape that the specification gives it.
//!
//! The walker finds all mistakes at once and reports each where it is, in the user's words.

mod compile;
mod report;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use walk::check;
