//! YAQL, placeholder.
use locus_core::value::{Item, Value};

/// Evaluates.
pub(super) fn evaluate(_arg: &Item) -> Option<Value> {
    None
}
