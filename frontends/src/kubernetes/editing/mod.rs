//! What editors ask about manifests: names and what they refer to, and what can be written.

mod create;
mod names;
mod suggest;

pub(super) use create::{called, create};
pub(super) use names::{NAMES, find, hints, names_for, selected};
pub(super) use suggest::suggest;
