//! Findings for people.

use std::fmt::Write;

use locus_core::{Diagnostic, Severity};
use locus_invariants::instance::MODEL;
use rayon::prelude::*;

use super::Style;
use super::frame::Frames;
use super::printable::printable;
use crate::session::{Batch, Skip, Suggestion};

/// How many like findings in a row are shown before they are folded, and how many of them then are.
const RUN: usize = 10;
const SHOWN: usize = 3;

/// How many findings are rendered one after the other, and how many such parts at once: parts are independent of each other, and
/// what is rendered is given away before more is.
const PART: usize = 128;
const AT_ONCE: usize = 32;

/// Renders what came of a check.
pub fn render(batch: &Batch, style: &Style) -> String {
    let mut out = String::new();
    write(batch, style, &mut |text| out.push_str(text));
    out
}

/// Renders what came of a check, piece by piece.
pub fn write(batch: &Batch, style: &Style, put: &mut dyn FnMut(&str)) {
    let listed = listed(batch, style);
    let part = |listed: &[Listed<'_>]| {
        let mut out = String::new();
        let mut frames = Frames::new(&batch.sources, style);
        for one in listed {
            one.render(&mut frames, &mut out);
        }
        out
    };
    if listed.len() <= PART {
        put(&part(&listed));
    } else {
        for many in listed.chunks(PART * AT_ONCE) {
            let parts: Vec<String> = many.par_chunks(PART).map(part).collect();
            parts.iter().for_each(|text| put(text));
        }
    }
    let mut out = String::new();
    let mut frames = Frames::new(&batch.sources, style);
    for finding in &batch.unchecked {
        out.push_str(&frames.render(finding));
    }
    for suggestion in &batch.suggestions {
        out.push_str(&suggested(suggestion));
    }
    if style.undecided {
        for diagnostic in &batch.undecided {
            out.push_str(&frames.render(diagnostic));
        }
    }
    skipped(batch, style, &mut out);
    summary(batch, style, &mut out);
    put(&out);
}

/// A finding, or how many like the ones before it are left out.
enum Listed<'b> {
    Finding(&'b Diagnostic),
    More { next: &'b Diagnostic, count: usize },
}

/// The findings that are shown, in their order.
fn listed<'b>(batch: &'b Batch, style: &Style) -> Vec<Listed<'b>> {
    let like = |a: &Diagnostic, b: &Diagnostic| {
        let file = |finding: &Diagnostic| finding.primary().map(|span| span.file);
        a.code == b.code && a.severity == b.severity && file(a) == file(b)
    };
    let mut all = Vec::new();
    for run in batch.findings.chunk_by(like) {
        let shown = if style.verbose || run.len() <= RUN {
            run.len()
        } else {
            SHOWN
        };
        all.extend(run.iter().take(shown).map(Listed::Finding));
        if let Some(next) = run.get(shown) {
            let count = run.len() - shown;
            all.push(Listed::More { next, count });
        }
    }
    all
}

impl Listed<'_> {
    fn render(&self, frames: &mut Frames<'_>, out: &mut String) {
        match self {
            Listed::Finding(finding) => {
                frames.write(finding, out);
                if let Some(why) = why(finding) {
                    frames.write(&why, out);
                }
            }
            Listed::More { next, count } => {
                let file = next.primary().map(|span| frames.sources().name(span.file));
                let file = file.map(|file| format!(" in {}", printable(file)));
                let _ = writeln!(
                    out,
                    "  ... and {count} more of {}{}; `-v` shows them\n",
                    next.code,
                    file.unwrap_or_default()
                );
            }
        }
    }
}

/// The reasons of a finding, as one more frame.
fn why(diagnostic: &Diagnostic) -> Option<Diagnostic> {
    let first = diagnostic.reasons.first()?;
    let message = match diagnostic.reasons.len() {
        1 => "why: without this line, that is not found",
        _ => "why: without any one of these lines, that is not found",
    };
    let mut why = Diagnostic::new(Severity::Info, diagnostic.code.clone(), message);
    for reason in &diagnostic.reasons {
        why = match reason.span.file == first.span.file {
            true => why.label(reason.span, reason.message.clone()),
            false => why.related(reason.span, reason.message.clone()),
        };
    }
    Some(why)
}

/// A suggestion with its diff.
fn suggested(suggestion: &Suggestion) -> String {
    let mut out = String::new();
    for title in &suggestion.titles {
        let _ = writeln!(out, "suggestion: {}", printable(title));
    }
    for line in suggestion.diff().lines() {
        let _ = writeln!(out, "{}", printable(line));
    }
    let _ = match suggestion.left {
        0 => writeln!(out, "with these edits, every rule holds"),
        left => writeln!(
            out,
            "with these edits, {} of {} are left",
            left,
            count(left + suggestion.mended, "finding")
        ),
    };
    out
}

/// What folders hold beside configurations: one line, or all of it.
fn skipped(batch: &Batch, style: &Style, out: &mut String) {
    if batch.skipped.is_empty() {
        return;
    }
    if style.verbose {
        for skipped in &batch.skipped {
            let path = printable(&skipped.path);
            let _ = writeln!(out, "not checked: {path}: {}", reason(skipped.why));
        }
        return;
    }
    let mut counts: Vec<(Skip, usize)> = Vec::new();
    for skipped in &batch.skipped {
        match counts.iter_mut().find(|(why, _)| *why == skipped.why) {
            Some((_, count)) => *count += 1,
            None => counts.push((skipped.why, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counts = counts.iter().map(|&(why, count)| counted(why, count));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let files = count(batch.skipped.len(), "file");
    let _ = writeln!(out, "{files} not checked: {counts}; `-v` lists them");
}

/// Why a file is not checked, for a list.
pub(super) fn reason(why: Skip) -> String {
    match why {
        Skip::Unknown => "not a configuration".to_owned(),
        Skip::Empty => "empty".to_owned(),
        Skip::Part(kind) => format!("{kind}, checked where it is used"),
        Skip::Template => "Jinja template, to be rendered first".to_owned(),
        Skip::Source(kind) => format!("{kind}, to be rendered first"),
        Skip::Unsupported(kind) => format!("{kind}, cannot be checked yet"),
        Skip::Unreadable => "cannot be read".to_owned(),
    }
}

/// How many files are not checked for one reason.
fn counted(why: Skip, n: usize) -> String {
    let (they, them) = if n == 1 {
        ("it is", "it")
    } else {
        ("they are", "them")
    };
    match why {
        Skip::Unknown if n == 1 => "1 not a configuration".to_owned(),
        Skip::Unknown => format!("{n} not configurations"),
        Skip::Empty => format!("{n} empty"),
        Skip::Part(kind) => format!("{} (checked where {they} used)", count(n, kind.name)),
        Skip::Template => format!("{} (render {them} first)", count(n, "Jinja template")),
        Skip::Source(kind) => format!("{} (render {them} first)", count(n, kind.name)),
        Skip::Unsupported(kind) => format!("{} (cannot be checked yet)", count(n, kind.name)),
        Skip::Unreadable => format!("{n} cannot be read"),
    }
}

pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The last line.
pub(super) fn summary(batch: &Batch, style: &Style, out: &mut String) {
    let totals = &batch.totals;
    let _ = write!(
        out,
        "{}, {} in {}",
        count(batch.count(Severity::Error), "error"),
        count(batch.count(Severity::Warning), "warning"),
        count(totals.files, "file"),
    );
    match (totals.deployable, totals.checked) {
        (0, _) => {}
        (1, 1) => out.push_str("; deployable"),
        (deployable, checked) => {
            let _ = write!(out, "; {deployable} of {checked} deployable");
        }
    }
    if !batch.unchecked.is_empty() {
        let _ = write!(out, "; {} not checked", batch.unchecked.len());
    }
    if !batch.ignored.is_empty() {
        let _ = write!(out, "; {} ignored", batch.ignored.len());
    }
    if batch.baselined > 0 {
        let _ = write!(out, "; {} in the baseline", batch.baselined);
    }
    if !batch.undecided.is_empty() {
        let _ = write!(out, "; {} undecided", batch.undecided.len());
        if !style.undecided {
            out.push_str(" (`--show-undecided` lists them)");
        }
    }
    if let Some(compared) = &batch.compared {
        let _ = write!(
            out,
            "; compared with {}: {} as before, {} gone",
            printable(&compared.base),
            compared.same,
            compared.fixed.len()
        );
    }
    if let Some(instances) = totals.instances {
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
        count(totals.locations, "location"),
        count(totals.rules.values().sum(), "rule"),
        style.time.as_secs_f64() * 1e3
    );
}
