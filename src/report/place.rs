//! Where a finding is, in the words that every format shares.

use locus_core::{Diagnostic, Position, Sources, Span};

/// A place in a file, as people count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) start: Position,
    pub(super) end: Position,
}

impl<'a> Place<'a> {
    pub(super) fn of(span: Span, sources: &'a Sources) -> Self {
        Place {
            file: sources.name(span.file),
            start: sources.start(span),
            end: sources.end(span),
        }
    }

    /// The place that a finding is reported at.
    pub(super) fn primary(finding: &Diagnostic, sources: &'a Sources) -> Option<Self> {
        finding.primary().map(|span| Place::of(span, sources))
    }
}

/// A path with forward slashes and without a leading `./`, as formats for repositories want it.
pub(super) fn path(name: &str) -> String {
    let name = name.replace('\\', "/");
    let mut name = name.as_str();
    while let Some(rest) = name.strip_prefix("./") {
        name = rest;
    }
    name.to_owned()
}
