//! Diagnostics in the formats people and programs read; one file per format.

mod printable;
pub(crate) mod text;
