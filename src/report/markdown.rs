//! A comment for a merge request: what changed since the base, the worst first, details folded.

use std::fmt::Write;

use locus_core::diagnostic::Verdict;
use locus_core::{Diagnostic, Severity};

use super::Style;
use super::frame::Frames;
use super::place::{Place, path};
use crate::catalogue;
use crate::session::Batch;

/// Findings that are shown with their source; the rest is counted.
const SHOWN: usize = 50;
/// Forges refuse comments beyond some 64,000 characters: what is shown with its source stays below this many bytes.
const LONGEST: usize = 48_000;

/// Renders what came of a check.
pub fn render(batch: &Batch, style: &Style) -> String {
    let mut out = String::from("<!-- locus -->\n");
    headline(batch, &mut out);
    let mut findings: Vec<&Diagnostic> = batch.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut frames = Frames::new(
        &batch.sources,
        &Style {
            colour: false,
            links: false,
            ..*style
        },
    );
    let mut shown = 0;
    for finding in findings.iter().take(SHOWN) {
        let before = out.len();
        details(finding, &mut frames, &mut out);
        if out.len() > LONGEST {
            out.truncate(before);
            break;
        }
        shown += 1;
    }
    if findings.len() > shown {
        let more = super::text::count(findings.len() - shown, "more finding");
        let _ = writeln!(out, "\nand {more}.");
    }
    list("not checked", batch.unchecked.iter(), batch, &mut out);
    if let Some(compared) = &batch.compared
        && !compared.fixed.is_empty()
    {
        let _ = writeln!(
            out,
            "\n<details><summary>{} no longer there</summary>\n",
            super::text::count(compared.fixed.len(), "finding")
        );
        for fixed in compared.fixed.iter().take(SHOWN) {
            let _ = writeln!(out, "- `{}` {}", code(&fixed.rule), inline(&fixed.message));
        }
        out.push_str("\n</details>\n");
    }
    out
}

fn headline(batch: &Batch, out: &mut String) {
    let count = super::text::count;
    let (errors, warnings) = (batch.count(Severity::Error), batch.count(Severity::Warning));
    let what = if batch.findings.is_empty() && batch.unchecked.is_empty() {
        "no findings".to_owned()
    } else {
        format!("{}, {}", count(errors, "error"), count(warnings, "warning"))
    };
    match &batch.compared {
        Some(compared) => {
            let _ = writeln!(
                out,
                "### Locus: {what} new since `{}`\n",
                code(&compared.base)
            );
            let _ = writeln!(
                out,
                "{} no longer there, {} as before.",
                count(compared.fixed.len(), "finding"),
                compared.same
            );
        }
        None => {
            let _ = writeln!(out, "### Locus: {what}\n");
            let _ = writeln!(
                out,
                "{} checked, {} deployable.",
                count(batch.totals.files, "file"),
                batch.totals.deployable
            );
        }
    }
}

fn details(finding: &Diagnostic, frames: &mut Frames<'_>, out: &mut String) {
    let mark = match finding.severity {
        Severity::Error => "❌ error",
        Severity::Warning => "⚠️ warning",
        Severity::Info => "ℹ️ info",
    };
    let place = Place::primary(finding, frames.sources());
    let place = place.map(|place| {
        format!(
            " at <code>{}:{}</code>",
            html(&path(place.file)),
            place.start.line
        )
    });
    let _ = writeln!(
        out,
        "\n<details><summary>{mark} <b>{}</b>{}: {}</summary>\n",
        html(&finding.code),
        place.unwrap_or_default(),
        inline(&finding.message),
    );
    let frame = frames.render(finding);
    let fence = fence(&frame);
    let _ = writeln!(out, "{fence}text\n{}\n{fence}", frame.trim_matches('\n'));
    if let Verdict::Violable { inputs } = &finding.verdict
        && !inputs.is_empty()
    {
        let inputs: Vec<String> = inputs
            .iter()
            .map(|input| inline(&input.to_string()))
            .collect();
        let _ = writeln!(out, "\nWith {}.", inputs.join(", "));
    }
    if let Some(page) = catalogue::page(&finding.code) {
        let _ = writeln!(out, "\n[{}]({page})", finding.code);
    } else if catalogue::documentation(&finding.code).is_some() {
        let _ = writeln!(
            out,
            "\n`locus explain {}` says why it matters.",
            code(&finding.code)
        );
    }
    out.push_str("\n</details>\n");
}

fn list<'a>(
    what: &str,
    findings: impl ExactSizeIterator<Item = &'a Diagnostic>,
    batch: &Batch,
    out: &mut String,
) {
    if findings.len() == 0 {
        return;
    }
    let _ = writeln!(out, "\n**{} {what}:**\n", findings.len());
    for finding in findings.take(SHOWN) {
        let place = Place::primary(finding, &batch.sources);
        let place =
            place.map(|place| format!("`{}:{}` ", code(&path(place.file)), place.start.line));
        let _ = writeln!(
            out,
            "- {}{}",
            place.unwrap_or_default(),
            inline(&finding.message)
        );
    }
}

/// Text in an element.
fn html(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        // Nobody is called by a template, and nothing is linked.
        .replace('@', "@\u{200b}")
        .replace('`', "&#96;")
        .replace('[', "&#91;")
        .replace('*', "&#42;")
        .replace('_', "&#95;")
}

/// Text within a paragraph: what stands between backticks is code, where they come in pairs.
fn inline(text: &str) -> String {
    if text.matches('`').count() % 2 == 1 {
        return html(text);
    }
    let mut out = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        let part = html(part);
        let _ = match index % 2 {
            0 => write!(out, "{part}"),
            _ => write!(out, "<code>{part}</code>"),
        };
    }
    out
}

/// Text between backticks.
fn code(text: &str) -> String {
    text.replace(['`', '\n', '\r'], " ")
}

/// A fence that the text does not end.
fn fence(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat(longest.max(2) + 1)
}
