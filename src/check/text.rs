//! Findings for people.

use std::fmt::Write;

use locus_core::Severity;
use locus_invariants::instance::MODEL;

use super::Findings;
use crate::report::text as report;

pub(super) fn render(run: &Findings) -> String {
    let colour = report::stdout_has_colour();
    let mut out = String::new();
    for diagnostic in run.findings.iter().chain(&run.unchecked) {
        out.push_str(&report::render(diagnostic, &run.sources, colour));
    }
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let _ = write!(
        out,
        "{}, {} in {}",
        count(run.count(Severity::Error), "error"),
        count(run.count(Severity::Warning), "warning"),
        count(run.files, "file"),
    );
    match (run.deployable, run.checked) {
        (0, _) => {}
        (1, 1) => out.push_str("; deployable"),
        (deployable, checked) => {
            let _ = write!(out, "; {deployable} of {checked} deployable");
        }
    }
    if !run.unchecked.is_empty() {
        let _ = write!(out, "; {} not checked", run.unchecked.len());
    }
    if let Some(instances) = run.instances {
        let verb = if instances == 1 {
            "graph is an instance"
        } else {
            "graphs are instances"
        };
        let _ = write!(out, "; {instances} {verb} of `{MODEL}`");
    }
    let _ = writeln!(
        out,
        " ({}, {}, {:.1} ms)",
        count(run.locations, "location"),
        count(run.rules(), "rule"),
        run.time.as_secs_f64() * 1e3
    );
    out
}
