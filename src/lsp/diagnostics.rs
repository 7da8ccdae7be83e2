//! Findings as editors show them.

use std::collections::BTreeMap;

use locus_core::diagnostic::Verdict;
use locus_core::{Diagnostic, Severity, Sources, Span};
use lsp_types::{
    CodeDescription, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    NumberOrString, Range,
};

use super::world::{Ranges, World, absolute};
use crate::catalogue::{self, Tag};

/// Diagnostics by the path of the file that they are about.
pub(super) type ByPath = BTreeMap<String, Vec<lsp_types::Diagnostic>>;

/// Adds findings to what is said about files. One without a place is said at the start of `first`.
pub(super) fn add<'d>(
    world: &World,
    findings: impl IntoIterator<Item = &'d Diagnostic>,
    sources: &Sources,
    first: &str,
    all: &mut ByPath,
) {
    let mut ranges = Ranges::new(world, sources);
    for finding in findings {
        let place = finding.primary().and_then(|span| {
            let path = sources.name(span.file);
            let known = world.exists(path);
            known.then(|| (absolute(path), ranges.range(span)))
        });
        let (path, range) = place.unwrap_or_else(|| (absolute(first), Range::default()));
        let diagnostic = convert(world, finding, range, &mut ranges);
        let said = all.entry(path).or_default();
        if !said.contains(&diagnostic) {
            said.push(diagnostic);
        }
    }
}

fn convert(
    world: &World,
    finding: &Diagnostic,
    range: Range,
    ranges: &mut Ranges<'_, '_>,
) -> lsp_types::Diagnostic {
    lsp_types::Diagnostic {
        range,
        severity: Some(severity(finding.severity)),
        code: Some(NumberOrString::String(finding.code.clone())),
        code_description: page(world, &finding.code),
        source: Some("locus".to_owned()),
        message: message(finding),
        related_information: related(finding, ranges),
        tags: catalogue::tag(&finding.code).map(|tag| {
            vec![match tag {
                Tag::Deprecated => DiagnosticTag::DEPRECATED,
                Tag::Unnecessary => DiagnosticTag::UNNECESSARY,
            }]
        }),
        data: None,
    }
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
    }
}

/// What is wrong, what is said at the place, for which inputs, and what to do.
pub(super) fn message(finding: &Diagnostic) -> String {
    let mut text = finding.message.clone();
    let label = finding.labels.first();
    if let Some(label) = label.filter(|one| !finding.message.ends_with(&one.message)) {
        text.push_str(&format!(": {}", label.message));
    }
    match &finding.verdict {
        Verdict::Violable { inputs } if !inputs.is_empty() => {
            let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
            text.push_str(&format!("\nwith {}", inputs.join(", ")));
        }
        Verdict::Undecided { why } if !why.is_empty() => text.push_str(&format!("\n{why}")),
        _ => {}
    }
    if let Some(help) = &finding.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}

/// The other places that a finding points at, each once.
fn related(
    finding: &Diagnostic,
    ranges: &mut Ranges<'_, '_>,
) -> Option<Vec<DiagnosticRelatedInformation>> {
    let labels = finding.labels.iter().skip(1).chain(&finding.related);
    let labels = labels.map(|label| (label.span, label.message.as_str()));
    let steps = finding.flows.iter().flat_map(|flow| &flow.steps);
    let steps = steps.filter_map(|step| Some((step.span?, step.name.as_str())));
    let members = finding.members.iter();
    let members = members.filter_map(|member| Some((member.span?, member.name.as_str())));
    let mut seen: Vec<Span> = finding.primary().into_iter().collect();
    let mut places = Vec::new();
    for (span, message) in labels.chain(steps).chain(members) {
        if seen.contains(&span) {
            continue;
        }
        seen.push(span);
        if let Some(location) = ranges.location(span) {
            let message = match message {
                "" => "see here".to_owned(),
                file if ranges.is_file(file) => "in this file".to_owned(),
                message => message.to_owned(),
            };
            places.push(DiagnosticRelatedInformation { location, message });
        }
    }
    (!places.is_empty()).then_some(places)
}

/// The page about a code, when the client says where pages are.
fn page(world: &World, code: &str) -> Option<CodeDescription> {
    let start = world.options.documentation.as_deref()?;
    catalogue::documentation(code)?;
    let href = format!("{start}{code}.md").parse().ok()?;
    Some(CodeDescription { href })
}
