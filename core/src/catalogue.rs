//! Codes that findings have without a rule behind them: what a file must be before rules can speak of it.

use crate::diagnostic::Severity;

/// A code that is reported by the program itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code, in short lower-case words: it is name and identifier at once.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub title: &'static str,
    /// Why it matters and what to do about it.
    pub why: &'static str,
    /// Whether a project may turn it off. What keeps a file from being understood cannot be: everything after it would be
    /// a guess.
    pub optional: bool,
}

impl Code {
    /// An error that cannot be turned off.
    pub const fn error(id: &'static str, title: &'static str, why: &'static str) -> Self {
        Code {
            id,
            severity: Severity::Error,
            title,
            why,
            optional: false,
        }
    }

    /// The same as a warning.
    #[must_use]
    pub const fn as_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same, worth knowing and no fault.
    #[must_use]
    pub const fn as_info(mut self) -> Self {
        self.severity = Severity::Info;
        self
    }

    /// The same, which a project may turn off.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }
}
