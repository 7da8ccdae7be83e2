//! A finding on the page: its source, inputs, ways and fixes as differences.

use std::fmt::Write;

use locus_core::diagnostic::{Fix, Member, Verdict};
use locus_core::{Diagnostic, FileId, Span};
use rustc_hash::FxHashMap;

use super::Drawn;
use crate::catalogue;
use crate::report::place::Place;
use crate::report::xml::escape;
use crate::session::Batch;

/// Places that are shown with their source.
const FRAMES: usize = 6;

/// Where a finding is in the pictures.
pub(super) struct InGraph {
    pub(super) graph: usize,
    /// The items that it is about.
    pub(super) items: Vec<usize>,
    /// The items that each of its cycles and paths leads through.
    ways: Vec<Vec<usize>>,
}

/// The graph that a finding is in, and the items that it is about.
pub(super) fn place(
    finding: &Diagnostic,
    batch: &Batch,
    drawn: &[Drawn<'_>],
    graph_of: &FxHashMap<&str, usize>,
) -> Option<InGraph> {
    let file = batch.sources.name(finding.primary()?.file);
    let graph = *graph_of.get(file)?;
    let one = drawn.get(graph)?;
    let at = |span: Span| one.at(batch.sources.name(span.file), span.start);
    // A step that has a name of its own is meant, wherever it is written.
    let step = |member: &Member| {
        let named = one.by_name.get(member.name.as_str()).copied();
        named.or_else(|| member.span.and_then(at))
    };
    let labels = finding.labels.iter().chain(&finding.related);
    let mut items: Vec<usize> = labels
        .filter_map(|label| at(label.span))
        .chain(finding.members.iter().filter_map(step))
        .collect();
    let mut ways = Vec::new();
    for flow in &finding.flows {
        let way: Vec<usize> = flow.steps.iter().filter_map(step).collect();
        items.extend(&way);
        if way.len() > 1 {
            ways.push(way);
        }
    }
    items.sort_unstable();
    items.dedup();
    Some(InGraph { graph, items, ways })
}

fn joined(items: &[usize]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(" ")
}

/// Writes a finding.
pub(super) fn write(
    finding: &Diagnostic,
    index: usize,
    place: Option<&InGraph>,
    batch: &Batch,
    out: &mut String,
) {
    let at = Place::primary(finding, &batch.sources);
    let file = escape(at.map_or("no file", |at| at.file));
    let code = escape(&finding.code);
    let severity = finding.severity.as_str();
    let _ = write!(
        out,
        "<article class=\"finding {severity}\" id=\"f{index}\" data-file=\"{file}\" data-rule=\"{code}\""
    );
    if let Some(place) = place {
        let ways: Vec<String> = place.ways.iter().map(|way| joined(way)).collect();
        let _ = write!(
            out,
            " data-graph=\"{}\" data-items=\"{}\" data-ways=\"{}\"",
            place.graph,
            joined(&place.items),
            ways.join(";")
        );
    }
    let line = at.map_or_else(String::new, |at| format!(":{}", at.start.line));
    let _ = write!(
        out,
        "><button type=\"button\" aria-expanded=\"false\"><b>{severity}</b> {code}: {} <span class=\"soft\">{file}{line}</span></button>\
         <div class=\"more\">",
        escape(&finding.message)
    );
    for label in finding.labels.iter().chain(&finding.related).take(FRAMES) {
        if !label.message.is_empty() {
            let _ = write!(out, "<p>{}</p>", escape(&label.message));
        }
        frame(label.span, batch, out);
    }
    match &finding.verdict {
        Verdict::Violable { inputs } if !inputs.is_empty() => {
            out.push_str("<p>It is wrong with these inputs:</p><ul>");
            for input in inputs {
                let _ = write!(out, "<li>{}</li>", escape(&input.to_string()));
            }
            out.push_str("</ul>");
        }
        Verdict::Undecided { why } => {
            let _ = write!(out, "<p>Not decided: {}</p>", escape(why));
        }
        _ => {}
    }
    for flow in &finding.flows {
        let steps: Vec<String> = flow.steps.iter().map(|step| escape(&step.name)).collect();
        let _ = write!(out, "<p>{}: {}</p>", flow.kind.as_str(), steps.join(" → "));
    }
    reasons(finding, batch, out);
    if let Some(help) = &finding.help {
        let _ = write!(out, "<p><b>help:</b> {}</p>", escape(help));
    }
    for fix in &finding.fixes {
        let _ = write!(
            out,
            "<p><b>fix:</b> {} ({})</p>",
            escape(&fix.title),
            fix.applicability.as_str()
        );
        difference(fix, batch, out);
    }
    if let Some(why) = catalogue::why(&finding.code) {
        let _ = write!(out, "<p class=\"soft\">{}</p>", escape(why));
    }
    match catalogue::page(&finding.code) {
        Some(page) => {
            let _ = write!(out, "<p><a href=\"{}\">{code}</a></p>", escape(&page));
        }
        None => {
            let _ = write!(out, "<p class=\"soft\">locus explain {code}</p>");
        }
    }
    out.push_str("</div></article>\n");
}

/// The lines without any one of which the finding is not made.
fn reasons(finding: &Diagnostic, batch: &Batch, out: &mut String) {
    if finding.reasons.is_empty() {
        return;
    }
    out.push_str("<p>Without any one of these lines, that is not found:</p><ul class=\"reasons\">");
    for reason in &finding.reasons {
        let at = Place::of(reason.span, &batch.sources);
        let text = batch.sources.text(reason.span.file);
        let (start, end) = (reason.span.start as usize, reason.span.end as usize);
        let (from, to) = lines(text, start, end.min(text.len()), 0);
        let line = text
            .get(from..to)
            .unwrap_or("")
            .lines()
            .next()
            .unwrap_or("");
        let _ = write!(
            out,
            "<li><span class=\"soft\">{}:{}</span> <code>{}</code>",
            escape(at.file),
            at.start.line,
            escape(line.trim())
        );
        if !reason.message.is_empty() {
            let _ = write!(out, " {}", escape(&reason.message));
        }
        out.push_str("</li>");
    }
    out.push_str("</ul>");
}

/// The lines that a span touches, as byte offsets, with some around it.
fn lines(text: &str, start: usize, end: usize, around: usize) -> (usize, usize) {
    let head = text.get(..start).unwrap_or("");
    let from = head
        .rmatch_indices('\n')
        .nth(around)
        .map_or(0, |(at, _)| at + 1);
    let tail = text.get(end..).unwrap_or("");
    let to = tail
        .match_indices('\n')
        .nth(around)
        .map_or(text.len(), |(at, _)| end + at);
    (from, to)
}

fn frame(span: Span, batch: &Batch, out: &mut String) {
    let text = batch.sources.text(span.file);
    let (start, end) = (span.start as usize, (span.end as usize).min(text.len()));
    let (from, to) = lines(text, start, end, 2);
    let part = |from: usize, to: usize| escape_lines(text.get(from..to).unwrap_or(""));
    let first = batch
        .sources
        .position(span.file, u32::try_from(from).unwrap_or(u32::MAX))
        .line;
    let name = escape(batch.sources.name(span.file));
    let _ = write!(
        out,
        "<p class=\"soft\">{name}, from line {first}</p><pre>{}<mark>{}</mark>{}</pre>",
        part(from, start),
        part(start, end),
        part(end, to)
    );
}

/// Text in `pre`: line breaks stay.
fn escape_lines(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| escape(line.trim_end_matches('\r')))
        .collect();
    lines.join("\n")
}

/// What a fix changes, file by file.
fn difference(fix: &Fix, batch: &Batch, out: &mut String) {
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
        let _ = writeln!(out, "<pre>--- {}", escape(batch.sources.name(file)));
        for edit in edits {
            let (start, end) = (
                edit.span.start as usize,
                (edit.span.end as usize).min(text.len()),
            );
            let last = if end > start && text.get(..end).is_some_and(|t| t.ends_with('\n')) {
                end - 1
            } else {
                end
            };
            let (from, to) = lines(text, start, last, 0);
            let old = text.get(from..to).unwrap_or("");
            let new = format!(
                "{}{}{}",
                text.get(from..start).unwrap_or(""),
                edit.text,
                text.get(end..to.max(end)).unwrap_or("")
            );
            for line in old.lines() {
                let _ = write!(out, "<span class=\"remove\">- {}</span>", escape(line));
            }
            for line in new.lines() {
                let _ = write!(out, "<span class=\"add\">+ {}</span>", escape(line));
            }
        }
        out.push_str("</pre>");
    }
}
