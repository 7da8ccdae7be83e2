//! Diagnostics in the formats people and programs read; one file per format.

pub mod frame;
pub mod json;
pub mod printable;
pub mod text;

use std::time::Duration;

/// How a report is rendered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Whether text has colours.
    pub colour: bool,
    /// Whether files that were passed over are listed, not only counted.
    pub verbose: bool,
    /// How long the check took.
    pub time: Duration,
}
