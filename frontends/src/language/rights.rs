//! Who can do something, in languages that grant rights.

use locus_core::{Diagnostic, Span};

/// Something that somebody may be able to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightsQuestion {
    /// What is done.
    pub verb: String,
    /// What it is done with.
    pub resource: String,
    /// Where; anywhere when there is none.
    pub place: Option<String>,
    /// With which object; with all when there is none.
    pub name: Option<String>,
}

/// A step on the way to a right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightsStep {
    /// What happens.
    pub text: String,
    /// Where it is allowed.
    pub span: Option<Span>,
}

/// Somebody who can do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Able {
    /// The kind of somebody, as in `Group`.
    pub kind: &'static str,
    /// The name.
    pub name: String,
    /// Where; none for everywhere.
    pub place: Option<String>,
    /// The only objects it is about; all when there are none.
    pub names: Vec<String>,
    /// What grants it, in words.
    pub through: String,
    /// Where it is granted.
    pub span: Option<Span>,
    /// The steps that lead to it, for somebody who is not granted it but can come to it.
    pub steps: Vec<RightsStep>,
}

/// Those who can do something.
#[derive(Clone, Debug, Default)]
pub struct RightsAnswer {
    /// First those who are granted it, then those who can come to it.
    pub able: Vec<Able>,
    /// What is wrong with the files.
    pub diagnostics: Vec<Diagnostic>,
    /// What is not known, so that there may be more.
    pub unchecked: Vec<Diagnostic>,
}
