//! A JSON object for each finding on a line of its own, in the form of [`super::json`].

use crate::session::Batch;

/// Renders what came of a check.
pub fn render(batch: &Batch) -> String {
    super::json::lines(batch)
}
