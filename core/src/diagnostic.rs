//! The one diagnostic type; how it is shown is decided by the renderers.

use serde::{Deserialize, Serialize};

use crate::source::{FileId, Span};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// Worth knowing; changes no exit code by default.
    Info,
    /// It works, and is a trap.
    Warning,
    /// It cannot work.
    Error,
}

impl Severity {
    /// The lower-case name used in every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place that a diagnostic points at, with what to say there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is said there; may be empty.
    pub message: String,
}

/// Something to tell the user, with the places it is about.
///
/// Messages are lower case without a full stop, have backticks around the user's words, and never
/// name a type of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable identifier: a rule such as `HOT221`, or a code such as `syntax`.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where it is wrong; the first label is the one reported as its position.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// Other places that explain it, possibly in other files.
    pub related: Vec<Label>,
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(severity: Severity, code: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic {
            code: code.into(),
            severity,
            message: message.into(),
            labels: Vec::new(),
            help: None,
            related: Vec::new(),
        }
    }

    /// An error without a place.
    pub fn error(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning without a place.
    pub fn warning(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// Points at a place without saying more there.
    #[must_use]
    pub fn at(self, span: Span) -> Self {
        self.label(span, "")
    }

    /// Points at a place and says something there.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// As [`help`](Self::help), when there is something to say.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        if help.is_some() {
            self.help = help;
        }
        self
    }

    /// Names another place that explains it.
    #[must_use]
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label {
            span,
            message: message.into(),
        });
        self
    }

    /// Points into other sources, given what the files of the old ones are there.
    pub fn move_to(&mut self, files: &[FileId]) {
        for label in self.labels.iter_mut().chain(&mut self.related) {
            if let Some(&file) = files.get(label.span.file.index()) {
                label.span.file = file;
            }
        }
    }

    /// The position it is reported at.
    pub fn primary(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}
