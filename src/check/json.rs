//! Findings as one JSON object.

use locus_core::{Diagnostic, Label, Sources};
use serde::Serialize;

use super::Findings;

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    findings: Vec<Finding<'a>>,
    unchecked: Vec<Finding<'a>>,
    stats: Stats,
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'a str,
    severity: &'static str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    help: Option<&'a str>,
    related: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct Related<'a> {
    message: &'a str,
    file: &'a str,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct Stats {
    files: usize,
    locations: usize,
    rules: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    instances: Option<usize>,
    variables: usize,
    clauses: usize,
    checked: usize,
    deployable: usize,
    ms: f64,
}

pub(super) fn render(run: &Findings) -> String {
    let output = Output {
        version: 1,
        findings: run
            .findings
            .iter()
            .map(|d| finding(d, &run.sources))
            .collect(),
        unchecked: run
            .unchecked
            .iter()
            .map(|d| finding(d, &run.sources))
            .collect(),
        stats: Stats {
            files: run.files,
            locations: run.locations,
            rules: run.rules(),
            instances: run.instances,
            variables: run.variables,
            clauses: run.clauses,
            checked: run.checked,
            deployable: run.deployable,
            ms: (run.time.as_secs_f64() * 1e6).round() / 1e3,
        },
    };
    // Plain data with string keys always has a JSON form.
    let mut text = serde_json::to_string_pretty(&output).unwrap_or_default();
    text.push('\n');
    text
}

fn finding<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Finding<'a> {
    let span = diagnostic.primary();
    let start = span.map(|span| sources.start(span));
    let end = span.map(|span| sources.end(span));
    let others = diagnostic.labels.iter().skip(1).chain(&diagnostic.related);
    Finding {
        rule: &diagnostic.code,
        severity: diagnostic.severity.as_str(),
        message: &diagnostic.message,
        file: span.map(|span| sources.name(span.file)),
        line: start.map(|at| at.line),
        column: start.map(|at| at.column),
        end_line: end.map(|at| at.line),
        end_column: end.map(|at| at.column),
        help: diagnostic.help.as_deref(),
        related: others.map(|label| related(label, sources)).collect(),
    }
}

fn related<'a>(label: &'a Label, sources: &'a Sources) -> Related<'a> {
    let at = sources.start(label.span);
    Related {
        message: &label.message,
        file: sources.name(label.span.file),
        line: at.line,
        column: at.column,
    }
}
