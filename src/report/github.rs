//! Annotations of GitHub workflows.

use std::fmt::Write;

use locus_core::{Diagnostic, Severity};

use super::place::{Place, path};
use crate::session::Batch;

/// Renders what came of a check.
pub fn render(batch: &Batch) -> String {
    let mut out = String::new();
    for finding in &batch.findings {
        command(finding, false, batch, &mut out);
    }
    for finding in &batch.unchecked {
        command(finding, true, batch, &mut out);
    }
    out
}

fn command(finding: &Diagnostic, unchecked: bool, batch: &Batch, out: &mut String) {
    let level = match finding.severity {
        _ if unchecked => "error",
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let _ = write!(out, "::{level} ");
    if let Some(place) = Place::primary(finding, &batch.sources) {
        let file = property(&path(place.file));
        let (start, end) = (place.start, place.end);
        let _ = write!(out, "file={file},line={},", start.line);
        // Columns are for a single line.
        if start.line == end.line {
            let last = end.column.saturating_sub(1).max(start.column);
            let _ = write!(out, "col={},endColumn={last},", start.column);
        } else {
            let _ = write!(out, "endLine={},", end.line);
        }
    }
    let mut text = super::said(finding, unchecked).into_owned();
    if let Some(help) = &finding.help {
        let _ = write!(text, "\nhelp: {help}");
    }
    let _ = writeln!(out, "title={}::{}", property(&finding.code), data(&text));
}

/// What comes after the colons.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A value before the colons.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
