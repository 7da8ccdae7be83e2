//! Why an expression has no value.

use super::value::Value;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It fails on the server too: what is wrong.
    Fails(String),
    /// It is not known here what the server would say.
    Unknown,
}

/// The value of an expression.
pub(super) type Answer = Result<Value, Fault>;

/// A failure that the server meets too.
pub(super) fn fails<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Fails(why.into()))
}

/// What a step gives, which fails on the server too when there is none.
pub(super) fn or_fails<T>(value: Option<T>, why: &str) -> Result<T, Fault> {
    value.ok_or_else(|| Fault::Fails(why.to_owned()))
}
