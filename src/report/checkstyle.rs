//! Checkstyle XML: findings by file.

use std::fmt::Write;

use locus_core::{Diagnostic, Severity};

use super::place::Place;
use super::xml::escape;
use crate::session::Batch;

/// Renders what came of a check.
pub fn render(batch: &Batch) -> String {
    let mut files: Vec<(&str, Vec<&Diagnostic>)> = Vec::new();
    for finding in batch.findings.iter().chain(&batch.unchecked) {
        let name = finding
            .primary()
            .map_or("", |span| batch.sources.name(span.file));
        match files.iter_mut().rev().find(|(known, _)| *known == name) {
            Some((_, findings)) => findings.push(finding),
            None => files.push((name, vec![finding])),
        }
    }
    let mut out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<checkstyle version=\"4.3\">\n".to_owned();
    for (name, findings) in files {
        let _ = writeln!(out, "  <file name=\"{}\">", escape(name));
        for finding in findings {
            out.push_str("    <error");
            if let Some(place) = Place::primary(finding, &batch.sources) {
                let start = place.start;
                let _ = write!(out, " line=\"{}\" column=\"{}\"", start.line, start.column);
            }
            let severity = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "info",
            };
            let message = escape(&finding.message);
            let code = escape(&finding.code);
            let _ = writeln!(
                out,
                " severity=\"{severity}\" message=\"{message}\" source=\"locus.{code}\"/>"
            );
        }
        out.push_str("  </file>\n");
    }
    out.push_str("</checkstyle>\n");
    out
}
