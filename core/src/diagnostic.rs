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

/// How sure it is that something is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It is wrong as written, with the inputs given.
    #[default]
    Violated,
    /// It is wrong with these inputs, which are allowed; none are named when all that is known is that there are some.
    Violable {
        /// The inputs, and a value for each.
        inputs: Vec<Input>,
    },
    /// Whether it is wrong is not known.
    Undecided {
        /// Why not.
        why: String,
    },
}

impl Verdict {
    /// The lower-case name used in every output format.
    pub fn as_str(&self) -> &'static str {
        match self {
            Verdict::Violated => "violated",
            Verdict::Violable { .. } => "violable",
            Verdict::Undecided { .. } => "undecided",
        }
    }
}

/// A value that an input can be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The input: a parameter, a condition, a variable.
    pub name: String,
    /// Its value; none when it is any but those that the configuration mentions.
    pub value: Option<String>,
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.value {
            Some(value) => write!(f, "`{}` = `{value}`", self.name),
            None => write!(f, "another `{}`", self.name),
        }
    }
}

/// Something that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name in the user's words.
    pub name: String,
    /// Where it is written, if it is.
    pub span: Option<Span>,
}

/// How the steps of a [`Flow`] follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKind {
    /// Each leads to the next.
    Chain,
    /// Each leads to the next, and the last is the first again.
    Cycle,
    /// Each is included by the next.
    Inclusion,
}

impl FlowKind {
    /// The lower-case name used in every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            FlowKind::Chain => "chain",
            FlowKind::Cycle => "cycle",
            FlowKind::Inclusion => "inclusion",
        }
    }
}

/// Steps that lead to what is wrong, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// How they follow each other.
    pub kind: FlowKind,
    /// What is passed; of a cycle, the first is also the last.
    pub steps: Vec<Member>,
}

/// How safely a [`Fix`] can be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// It has holes for the user to fill.
    Incomplete,
    /// It mends what is wrong, but may not be what the user wants.
    Unsafe,
    /// It can be applied without a second look.
    Safe,
}

impl Applicability {
    /// The lower-case name used in every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Applicability::Incomplete => "incomplete",
            Applicability::Unsafe => "unsafe",
            Applicability::Safe => "safe",
        }
    }
}

/// A change of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty where text is inserted.
    pub span: Span,
    /// What stands there instead.
    pub text: String,
}

/// Changes that mend what is wrong, all at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in one line.
    pub title: String,
    /// How safely it can be applied.
    pub applicability: Applicability,
    /// The changes, which do not overlap.
    pub edits: Vec<Edit>,
}

/// Something to tell the user, with the places it is about.
///
/// Messages are lower case without a full stop, have backticks around the user's words, and never
/// name a type of this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable identifier: a rule such as `HOT221`, or a code such as `syntax`.
    pub code: String,
    /// How sure it is.
    pub verdict: Verdict,
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
    /// Ways that lead to it: chains, cycles, inclusions.
    pub flows: Vec<Flow>,
    /// What it is about: of a rule, the things that break it together.
    pub members: Vec<Member>,
    /// Changes that mend it, the best first.
    pub fixes: Vec<Fix>,
    /// Why it is so: places that cannot all stay as they are, each with what it says. Without any one of them, there is
    /// nothing wrong. Empty when nobody asked.
    pub reasons: Vec<Label>,
}

impl Diagnostic {
    /// A diagnostic without a place.
    pub fn new(severity: Severity, code: impl Into<String>, message: impl Into<String>) -> Self {
        Diagnostic {
            code: code.into(),
            verdict: Verdict::default(),
            severity,
            message: message.into(),
            labels: Vec::new(),
            help: None,
            related: Vec::new(),
            flows: Vec::new(),
            members: Vec::new(),
            fixes: Vec::new(),
            reasons: Vec::new(),
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

    /// Names a change that mends it.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// Points into other sources, given what the files of the old ones are there.
    pub fn move_to(&mut self, files: &[FileId]) {
        for span in self.spans_mut() {
            if let Some(&file) = files.get(span.file.index()) {
                span.file = file;
            }
        }
    }

    /// Every place that it points at, in whatever way.
    fn spans_mut(&mut self) -> impl Iterator<Item = &mut Span> {
        let labels = self.labels.iter_mut().chain(&mut self.related);
        let labels = labels.chain(&mut self.reasons);
        let steps = self.flows.iter_mut().flat_map(|flow| &mut flow.steps);
        let members = self.members.iter_mut().chain(steps);
        let edits = self.fixes.iter_mut().flat_map(|fix| &mut fix.edits);
        let labels = labels.map(|label| &mut label.span);
        let members = members.filter_map(|member| member.span.as_mut());
        labels
            .chain(members)
            .chain(edits.map(|edit| &mut edit.span))
    }

    /// The position it is reported at.
    pub fn primary(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sources;

    #[test]
    fn everything_moves_to_other_sources() {
        let mut sources = Sources::new();
        let (a, b) = (sources.add("a", "x"), sources.add("b", "x"));
        let at = |file| Span::new(file, 0, 1);
        let of = |file| {
            let member = Member {
                name: "m".to_owned(),
                span: Some(at(file)),
            };
            let mut diagnostic = Diagnostic::error("X001", "wrong")
                .at(at(file))
                .related(at(file), "see")
                .fix(Fix {
                    title: "mend".to_owned(),
                    applicability: Applicability::Safe,
                    edits: vec![Edit {
                        span: at(file),
                        text: "y".to_owned(),
                    }],
                });
            diagnostic.flows.push(Flow {
                kind: FlowKind::Cycle,
                steps: vec![member.clone()],
            });
            diagnostic.members.push(member);
            diagnostic.reasons.push(Label {
                span: at(file),
                message: "because".to_owned(),
            });
            diagnostic
        };
        let mut moved = of(a);
        moved.move_to(&[b]);
        assert_eq!(moved, of(b));
    }

    #[test]
    fn an_input_without_a_value_is_any_other() {
        let input = |value: Option<&str>| Input {
            name: "size".to_owned(),
            value: value.map(str::to_owned),
        };
        assert_eq!(input(Some("3")).to_string(), "`size` = `3`");
        assert_eq!(input(None).to_string(), "another `size`");
    }
}
