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

/// The file that a finding without a place is shown in, where a format has no findings without one: the first that was read.
pub(super) fn first_file(sources: &Sources) -> String {
    let first = sources.files().next();
    first.map_or_else(|| ".".to_owned(), |id| path(sources.name(id)))
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
