//! JUnit XML, as Jenkins and GitLab read it: a suite for each file, a failed case for each finding.

use std::collections::BTreeMap;
use std::fmt::Write;

use locus_core::{Diagnostic, Severity};
use rustc_hash::FxHashMap;

use super::Style;
use super::frame::Frames;
use super::place::Place;
use super::xml::escape;
use crate::session::Batch;

#[derive(Default)]
struct Suite<'a> {
    findings: Vec<&'a Diagnostic>,
    unchecked: Vec<&'a Diagnostic>,
}

/// Renders what came of a check. A file without findings is a case that passes, so that a run is never without cases.
pub fn render(batch: &Batch, style: &Style) -> String {
    let mut suites: BTreeMap<&str, Suite<'_>> = BTreeMap::new();
    for report in &batch.reports {
        let checked = report.files.iter().take(1);
        for file in checked {
            suites.entry(file).or_default();
        }
    }
    let name = |finding: &Diagnostic| match finding.primary() {
        Some(span) => batch.sources.name(span.file),
        None => "locus",
    };
    for finding in &batch.findings {
        suites
            .entry(name(finding))
            .or_default()
            .findings
            .push(finding);
    }
    for finding in &batch.unchecked {
        suites
            .entry(name(finding))
            .or_default()
            .unchecked
            .push(finding);
    }
    let seconds = style.time.as_secs_f64();
    let mut frames = Frames::new(&batch.sources, &Style::default());
    let mut body = String::new();
    let (mut tests, mut failures, mut errors) = (0, 0, 0);
    for (file, suite) in &suites {
        let cases = (suite.findings.len() + suite.unchecked.len()).max(1);
        tests += cases;
        failures += suite.findings.len();
        errors += suite.unchecked.len();
        let _ = writeln!(
            body,
            "  <testsuite name=\"{}\" tests=\"{cases}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"0\">",
            escape(file),
            suite.findings.len(),
            suite.unchecked.len(),
        );
        let mut names = FxHashMap::default();
        for finding in &suite.findings {
            case(finding, file, "failure", &mut names, &mut frames, &mut body);
        }
        for finding in &suite.unchecked {
            case(finding, file, "error", &mut names, &mut frames, &mut body);
        }
        if suite.findings.is_empty() && suite.unchecked.is_empty() {
            let file = escape(file);
            let _ = writeln!(
                body,
                "    <testcase name=\"locus check\" classname=\"{file}\" time=\"0\"/>"
            );
        }
        body.push_str("  </testsuite>\n");
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"locus\" tests=\"{tests}\" \
         failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\">\n{body}</testsuites>\n"
    )
}

/// Writes a case. Its name is one that no other case of the file has: GitLab keeps one case of a name.
fn case(
    finding: &Diagnostic,
    file: &str,
    tag: &str,
    names: &mut FxHashMap<String, usize>,
    frames: &mut Frames<'_>,
    out: &mut String,
) {
    let place = Place::primary(finding, frames.sources());
    let line = place.map(|place| place.start.line);
    let mut name = match line {
        Some(line) => format!("{} at line {line}", finding.code),
        None => finding.code.clone(),
    };
    let same = names.entry(name.clone()).or_default();
    *same += 1;
    if *same > 1 {
        let _ = write!(name, " ({same})");
    }
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    };
    let frame = frames.render(finding);
    let _ = writeln!(
        out,
        "    <testcase name=\"{}\" classname=\"{}\" time=\"0\">\n      <{tag} message=\"{}\" \
         type=\"{kind}\">{}</{tag}>\n    </testcase>",
        escape(&name),
        escape(file),
        escape(&finding.message),
        escape(&frame),
    );
}
