//! Findings as one JSON object that carries everything there is to know about them.
//!
//! Lines and columns count from 1; columns count characters, and `utf16` holds the columns that editors count in.

use std::collections::BTreeMap;

use locus_core::diagnostic::{Fix, Flow, Input, Member, Verdict};
use locus_core::{Diagnostic, Label, Sources, Span};
use serde::Serialize;

use super::Style;
use super::fingerprint;
use super::text::reason;
use crate::catalogue;
use crate::session::{Batch, Compared, Suggestion};

#[derive(Serialize)]
struct Output<'a> {
    version: u32,
    findings: Vec<Finding<'a>>,
    unchecked: Vec<Finding<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<Finding<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<&'a Compared>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<Finding<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<SkippedFile<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggested<'a>>,
    stats: Stats,
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'a str,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<&'a str>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<InputValue<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    severity: &'static str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    help: Option<&'a str>,
    labels: Vec<Said<'a>>,
    related: Vec<Said<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flows: Vec<Steps<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<Named<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Change<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<Said<'a>>,
}

/// Edits that mend a project.
#[derive(Serialize)]
struct Suggested<'a> {
    titles: &'a [String],
    applicability: Option<&'static str>,
    mended: usize,
    left: usize,
    diff: String,
}

#[derive(Serialize)]
struct InputValue<'a> {
    name: &'a str,
    value: Option<&'a str>,
}

/// A place in a file.
#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    start: u32,
    end: u32,
    utf16: [usize; 2],
}

#[derive(Serialize)]
struct Said<'a> {
    message: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    #[serde(flatten)]
    place: Option<Place<'a>>,
}

#[derive(Serialize)]
struct Steps<'a> {
    kind: &'static str,
    steps: Vec<Named<'a>>,
}

#[derive(Serialize)]
struct Change<'a> {
    title: &'a str,
    applicability: &'static str,
    edits: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
struct Replacement<'a> {
    text: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

#[derive(Serialize)]
struct SkippedFile<'a> {
    file: &'a str,
    why: String,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    dependent: Option<usize>,
    checked: usize,
    deployable: usize,
    ms: f64,
}

/// Renders what came of a check.
pub fn render(batch: &Batch, style: &Style) -> String {
    let sources = &batch.sources;
    let totals = &batch.totals;
    let skipped = batch.skipped.iter().map(|skipped| SkippedFile {
        file: &skipped.path,
        why: reason(skipped.why),
    });
    let documented = documented(batch);
    let ignored = batch.ignored.iter().map(|(finding, _)| finding);
    let mut ignored = findings(ignored, sources, &documented);
    for (finding, (_, reason)) in ignored.iter_mut().zip(&batch.ignored) {
        finding.reason = Some(reason);
    }
    let output = Output {
        version: 2,
        findings: findings(&batch.findings, sources, &documented),
        unchecked: findings(&batch.unchecked, sources, &documented),
        ignored,
        compared: batch.compared.as_ref(),
        undecided: findings(&batch.undecided, sources, &documented),
        skipped: skipped.collect(),
        suggestions: batch.suggestions.iter().map(suggested).collect(),
        stats: Stats {
            files: totals.files,
            locations: totals.locations,
            rules: totals.rules.values().sum(),
            instances: totals.instances,
            variables: totals.variables,
            clauses: totals.clauses,
            dependent: Some(totals.dependent).filter(|&dependent| dependent > 0),
            checked: totals.checked,
            deployable: totals.deployable,
            ms: (style.time.as_secs_f64() * 1e6).round() / 1e3,
        },
    };
    // Plain data with string keys always has a JSON form.
    let mut text = serde_json::to_string_pretty(&output).unwrap_or_default();
    text.push('\n');
    text
}

/// A line for each finding and for what could not be checked.
pub(super) fn lines(batch: &Batch) -> String {
    let documented = documented(batch);
    let all = batch.findings.iter().chain(&batch.unchecked);
    let mut out = String::new();
    for finding in findings(all, &batch.sources, &documented) {
        out.push_str(&serde_json::to_string(&finding).unwrap_or_default());
        out.push('\n');
    }
    out
}

fn suggested(suggestion: &Suggestion) -> Suggested<'_> {
    Suggested {
        titles: &suggestion.titles,
        applicability: suggestion.applicability.map(|one| one.as_str()),
        mended: suggestion.mended,
        left: suggestion.left,
        diff: suggestion.diff(),
    }
}

/// Where each code is documented.
type Documented<'a> = BTreeMap<&'a str, Option<String>>;

fn documented(batch: &Batch) -> Documented<'_> {
    let mut documented = Documented::new();
    let ignored = batch.ignored.iter().map(|(finding, _)| finding);
    let findings = batch.findings.iter().chain(&batch.unchecked);
    for diagnostic in findings.chain(ignored).chain(&batch.undecided) {
        let code = diagnostic.code.as_str();
        let page = || catalogue::documentation(code);
        documented.entry(code).or_insert_with(page);
    }
    documented
}

fn findings<'a>(
    diagnostics: impl IntoIterator<Item = &'a Diagnostic> + Clone,
    sources: &'a Sources,
    documented: &'a Documented<'_>,
) -> Vec<Finding<'a>> {
    let prints = fingerprint::all(diagnostics.clone(), sources);
    let all = diagnostics.into_iter().zip(prints);
    all.map(|(one, print)| finding(one, print, sources, documented))
        .collect()
}

fn finding<'a>(
    diagnostic: &'a Diagnostic,
    fingerprint: String,
    sources: &'a Sources,
    documented: &'a Documented<'_>,
) -> Finding<'a> {
    let span = diagnostic.primary();
    let start = span.map(|span| sources.start(span));
    let end = span.map(|span| sources.end(span));
    let (inputs, why): (&[Input], _) = match &diagnostic.verdict {
        Verdict::Violated => (&[], None),
        Verdict::Violable { inputs } => (inputs, None),
        Verdict::Undecided { why } => (&[], Some(why.as_str())),
    };
    let said = |labels: &'a [Label]| labels.iter().map(|label| said(label, sources)).collect();
    Finding {
        rule: &diagnostic.code,
        fingerprint,
        reason: None,
        documentation: documented
            .get(diagnostic.code.as_str())
            .and_then(Option::as_deref),
        verdict: diagnostic.verdict.as_str(),
        inputs: inputs
            .iter()
            .map(|input| InputValue {
                name: &input.name,
                value: input.value.as_deref(),
            })
            .collect(),
        why,
        severity: diagnostic.severity.as_str(),
        message: &diagnostic.message,
        file: span.map(|span| sources.name(span.file)),
        line: start.map(|at| at.line),
        column: start.map(|at| at.column),
        end_line: end.map(|at| at.line),
        end_column: end.map(|at| at.column),
        help: diagnostic.help.as_deref(),
        labels: said(&diagnostic.labels),
        related: said(&diagnostic.related),
        flows: diagnostic
            .flows
            .iter()
            .map(|flow| steps(flow, sources))
            .collect(),
        members: named(&diagnostic.members, sources),
        fixes: diagnostic
            .fixes
            .iter()
            .map(|fix| change(fix, sources))
            .collect(),
        reasons: said(&diagnostic.reasons),
    }
}

fn place(span: Span, sources: &Sources) -> Place<'_> {
    let (start, end) = (sources.start(span), sources.end(span));
    let utf16 = |offset| sources.position_utf16(span.file, offset).column;
    Place {
        file: sources.name(span.file),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        start: span.start,
        end: span.end,
        utf16: [utf16(span.start), utf16(span.end)],
    }
}

fn said<'a>(label: &'a Label, sources: &'a Sources) -> Said<'a> {
    Said {
        message: &label.message,
        place: place(label.span, sources),
    }
}

fn named<'a>(members: &'a [Member], sources: &'a Sources) -> Vec<Named<'a>> {
    let named = members.iter().map(|member| Named {
        name: &member.name,
        place: member.span.map(|span| place(span, sources)),
    });
    named.collect()
}

fn steps<'a>(flow: &'a Flow, sources: &'a Sources) -> Steps<'a> {
    Steps {
        kind: flow.kind.as_str(),
        steps: named(&flow.steps, sources),
    }
}

fn change<'a>(fix: &'a Fix, sources: &'a Sources) -> Change<'a> {
    let edits = fix.edits.iter().map(|edit| Replacement {
        text: &edit.text,
        place: place(edit.span, sources),
    });
    Change {
        title: &fix.title,
        applicability: fix.applicability.as_str(),
        edits: edits.collect(),
    }
}
