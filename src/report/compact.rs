//! A line for each finding: `file:line:column: severity: message [rule]`.

use std::fmt::Write;

use locus_core::Diagnostic;

use super::Style;
use super::place::Place;
use super::printable::printable;
use crate::session::Batch;

/// Renders what came of a check.
pub fn render(batch: &Batch, style: &Style) -> String {
    let mut out = String::new();
    for finding in &batch.findings {
        line(finding, finding.severity.as_str(), batch, &mut out);
    }
    for finding in &batch.unchecked {
        line(finding, "not checked", batch, &mut out);
    }
    super::text::summary(batch, style, &mut out);
    out
}

fn line(finding: &Diagnostic, severity: &str, batch: &Batch, out: &mut String) {
    if let Some(place) = Place::primary(finding, &batch.sources) {
        let file = one_line(place.file);
        let _ = write!(out, "{file}:{}:{}: ", place.start.line, place.start.column);
    }
    let message = one_line(&finding.message);
    let _ = writeln!(out, "{severity}: {message} [{}]", finding.code);
}

/// Text of others on one line.
fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\r'], " ")
}
