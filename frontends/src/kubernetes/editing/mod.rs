//! What editors ask about manifests: names and what they refer to, and what can be written.

mod create;
mod documents;
mod names;
mod selectors;
mod suggest;

pub(super) use create::{called, create};
pub(super) use names::{NAMES, find, names_defined, names_for};
pub(super) use selectors::{hints, selected};
pub(super) use suggest::{about, suggest};
