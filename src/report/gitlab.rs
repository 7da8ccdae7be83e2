//! GitLab's code quality report.

use std::borrow::Cow;

use locus_core::Severity;
use serde::Serialize;

use super::fingerprint;
use super::place::{Place, first_file, path};
use crate::session::Batch;

#[derive(Serialize)]
struct Issue<'a> {
    description: Cow<'a, str>,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// Renders what came of a check. A finding without a place is shown on the first line of the first file, as GitLab shows
/// only what has one.
pub fn render(batch: &Batch) -> String {
    let findings = || batch.findings.iter().chain(&batch.unchecked);
    let fingerprints = fingerprint::all(findings(), &batch.sources);
    let found = batch.findings.len();
    let issues = findings().zip(fingerprints).enumerate();
    let issues = issues.map(|(index, (finding, fingerprint))| {
        let unchecked = index >= found;
        let place = Place::primary(finding, &batch.sources);
        Issue {
            description: super::said(finding, unchecked),
            check_name: &finding.code,
            fingerprint,
            severity: match finding.severity {
                _ if unchecked => "critical",
                Severity::Error => "critical",
                Severity::Warning => "minor",
                Severity::Info => "info",
            },
            location: Location {
                path: place.map_or_else(|| first_file(&batch.sources), |place| path(place.file)),
                lines: Lines {
                    begin: place.map_or(1, |place| place.start.line),
                    end: place.map_or(1, |place| place.end.line),
                },
            },
        }
    });
    let issues: Vec<Issue<'_>> = issues.collect();
    // Plain data with string keys always has a JSON form.
    let mut text = serde_json::to_string_pretty(&issues).unwrap_or_default();
    text.push('\n');
    text
}
