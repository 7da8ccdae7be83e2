//! Diagnostics in the formats people and programs read; one file per format.

pub(crate) mod printable;
pub(crate) mod text;
