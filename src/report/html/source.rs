//! Source on the page: numbered lines with what is meant marked, and what a fix changes in them.

use std::fmt::Write;

use locus_core::diagnostic::Fix;
use locus_core::{FileId, Label};
use similar::{ChangeTag, TextDiff};

use super::{prose, shown};
use crate::session::Batch;

/// Lines that are shown before and after a place.
const AROUND: usize = 2;
/// Lines of a place that are shown; the first ones.
const LONGEST: usize = 8;
/// Bytes of a line that are shown.
const WIDEST: usize = 400;

/// Columns by which words about a place are moved to the right at most.
const FARTHEST: usize = 24;

/// A place within one file.
struct Marked<'a> {
    start: usize,
    end: usize,
    /// The lines that are shown for it, by where they start and end.
    from: usize,
    to: usize,
    says: &'a str,
}

/// Writes the lines that labels are about: a box for each file, the lines in their order.
pub(super) fn frames<'a>(labels: impl Iterator<Item = &'a Label>, batch: &Batch, out: &mut String) {
    let mut files: Vec<(FileId, Vec<Marked<'a>>)> = Vec::new();
    for label in labels {
        let file = label.span.file;
        let text = batch.sources.text(file);
        let start = (label.span.start as usize).min(text.len());
        let end = (label.span.end as usize).clamp(start, text.len());
        // A block that ends with its line break ends in the line before; of a long one, only the first lines are shown.
        let body = text.get(start..end).unwrap_or("");
        let body = body.trim_end_matches(['\n', '\r']);
        let body = match body.match_indices('\n').nth(LONGEST - 1) {
            Some((at, _)) => body.get(..at).unwrap_or(""),
            None => body,
        };
        let end = start + body.len();
        let marked = Marked {
            start,
            end,
            from: line_start(text, start, AROUND),
            to: line_end(text, end, AROUND),
            says: &label.message,
        };
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, list)) => list.push(marked),
            None => files.push((file, vec![marked])),
        }
    }
    for (file, marked) in &mut files {
        marked.sort_by_key(|one| one.from);
        one_file(*file, marked, batch, out);
    }
}

fn one_file(file: FileId, marked: &[Marked<'_>], batch: &Batch, out: &mut String) {
    let text = batch.sources.text(file);
    let name = shown(batch.sources.name(file));
    let _ = write!(
        out,
        "<figure><figcaption>{name}</figcaption><pre tabindex=\"0\" aria-label=\"source of {name}\">"
    );
    // Lines that are next to each other or overlap are shown once.
    let mut windows: Vec<(usize, usize)> = Vec::new();
    for one in marked {
        match windows.last_mut() {
            Some((_, to)) if one.from <= *to + 1 => *to = one.to.max(*to),
            _ => windows.push((one.from, one.to)),
        }
    }
    for (index, &(from, to)) in windows.iter().enumerate() {
        if index > 0 {
            out.push_str("<span class=\"gap\">…</span>\n");
        }
        let offset = u32::try_from(from).unwrap_or(u32::MAX);
        let first = batch.sources.position(file, offset).line;
        let mut start = from;
        for (number, line) in text.get(from..to).unwrap_or("").split('\n').enumerate() {
            let end = start + line.len();
            let here: Vec<&Marked<'_>> = marked
                .iter()
                .filter(|one| one.start <= end && start <= one.end)
                .collect();
            let class = if here.is_empty() { "l" } else { "l at" };
            let _ = write!(
                out,
                "<span class=\"{class}\" data-n=\"{}\">",
                first + number
            );
            marks(line.trim_end_matches('\r'), start, &here, out);
            out.push_str("</span>\n");
            let begins = here.iter().filter(|one| start <= one.start);
            for one in begins.filter(|one| !one.says.is_empty()) {
                // Below what is meant, where there is room for words beside it.
                let before = text.get(start..one.start).unwrap_or("");
                let column = before.chars().count().min(FARTHEST);
                let says = prose(one.says);
                let _ = writeln!(out, "<span class=\"note\">{:column$}^ {says}</span>", "");
            }
            start = end + 1;
        }
    }
    out.push_str("</pre></figure>");
}

/// Writes a line with what is meant in it marked. Leading spaces of the later lines of a block are not.
fn marks(line: &str, start: usize, marked: &[&Marked<'_>], out: &mut String) {
    let mut wide = line.len().min(WIDEST);
    while !line.is_char_boundary(wide) {
        wide -= 1;
    }
    let indent = line.len() - line.trim_start().len();
    let mut areas: Vec<(usize, usize)> = marked
        .iter()
        .map(|one| {
            let from = one.start.saturating_sub(start);
            let from = if one.start < start { indent } else { from };
            (from.min(wide), one.end.saturating_sub(start).min(wide))
        })
        .filter(|(from, to)| from < to)
        .collect();
    areas.sort_unstable();
    let part = |from: usize, to: usize| shown(line.get(from..to).unwrap_or(""));
    let mut done = 0;
    for (from, to) in areas {
        let from = from.max(done);
        if from < to {
            let _ = write!(out, "{}<mark>{}</mark>", part(done, from), part(from, to));
            done = to;
        }
    }
    out.push_str(&part(done, wide));
    if wide < line.len() {
        out.push('…');
    }
}

/// Writes what a fix changes, file by file.
pub(super) fn difference(fix: &Fix, batch: &Batch, out: &mut String) {
    let mut files: Vec<FileId> = fix.edits.iter().map(|edit| edit.span.file).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let mut edits: Vec<_> = fix
            .edits
            .iter()
            .filter(|edit| edit.span.file == file)
            .collect();
        edits.sort_by_key(|edit| edit.span.start);
        let text = batch.sources.text(file);
        // Only the lines around the edits are compared, so that many fixes of a long file cost no more than their own lines.
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else {
            continue;
        };
        let from = line_start(text, first.span.start as usize, 1);
        let to = line_end(text, (last.span.end as usize).min(text.len()), 1);
        let mut new = String::new();
        let mut done = from;
        for edit in edits {
            let start = edit.span.start as usize;
            new.push_str(text.get(done..start).unwrap_or(""));
            new.push_str(&edit.text);
            done = (edit.span.end as usize).max(done);
        }
        new.push_str(text.get(done..to).unwrap_or(""));
        let name = shown(batch.sources.name(file));
        let _ = write!(
            out,
            "<figure><figcaption>{name}</figcaption><pre tabindex=\"0\" aria-label=\"change of {name}\">"
        );
        let offset = u32::try_from(from).unwrap_or(u32::MAX);
        let mut number = batch.sources.position(file, offset).line;
        let old = text.get(from..to).unwrap_or("");
        for change in TextDiff::from_lines(old, &new).iter_all_changes() {
            let (class, sign) = match change.tag() {
                ChangeTag::Equal => ("l", " "),
                ChangeTag::Delete => ("l remove", "-"),
                ChangeTag::Insert => ("l add", "+"),
            };
            let text = shown(change.value().trim_end_matches(['\n', '\r']));
            let at = match change.tag() {
                ChangeTag::Insert => String::new(),
                _ => number.to_string(),
            };
            let _ = writeln!(
                out,
                "<span class=\"{class}\" data-n=\"{at}\">{sign} {text}</span>"
            );
            number += usize::from(change.tag() != ChangeTag::Insert);
        }
        out.push_str("</pre></figure>");
    }
}

/// Where the line of a place starts, or one some lines before it.
pub(super) fn line_start(text: &str, at: usize, before: usize) -> usize {
    let head = text.get(..at).unwrap_or("");
    let mut breaks = head.rmatch_indices('\n');
    breaks.nth(before).map_or(0, |(at, _)| at + 1)
}

/// Where the line of a place ends, or one some lines after it; without its break, and without an empty line at the end.
pub(super) fn line_end(text: &str, at: usize, after: usize) -> usize {
    let tail = text.get(at..).unwrap_or("");
    let mut breaks = tail.match_indices('\n');
    let end = breaks.nth(after).map(|(end, _)| at + end);
    end.unwrap_or_else(|| text.trim_end_matches('\n').len().max(at))
}
