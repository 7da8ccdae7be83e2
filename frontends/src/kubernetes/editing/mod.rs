//! What editors ask about manifests: names and what they refer to, and what can be written.

mod names;
mod suggest;

pub(super) use names::{NAMES, find, hints, names_for};
pub(super) use suggest::suggest;
