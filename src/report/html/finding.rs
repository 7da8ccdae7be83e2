//! A finding on the page: its source, inputs, ways and fixes as differences.

use std::fmt::Write;

use locus_core::diagnostic::{Member, Verdict};
use locus_core::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::{Drawn, prose, shown, source};
use crate::catalogue;
use crate::report::place::Place;
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

/// What all findings of a page share.
pub(super) struct Page<'a> {
    pub(super) batch: &'a Batch,
    /// What the rules are about, by their codes.
    pub(super) titles: FxHashMap<String, String>,
}

/// Writes a finding.
pub(super) fn write(
    finding: &Diagnostic,
    index: usize,
    place: Option<&InGraph>,
    state: State<'_>,
    page: &Page<'_>,
    out: &mut String,
) {
    let Page { batch, titles } = page;
    let at = Place::primary(finding, &batch.sources);
    let file = shown(at.map_or("no file", |at| at.file));
    let code = shown(&finding.code);
    let (class, word) = match state {
        State::Found => (finding.severity.as_str(), finding.severity.as_str()),
        State::Unchecked => ("unchecked", "not checked"),
        State::Ignored(_) => ("ignored", "ignored"),
    };
    let _ = write!(
        out,
        "<article class=\"finding {class}\" id=\"f{index}\" data-file=\"{file}\" data-rule=\"{code}\" data-state=\"{class}\""
    );
    if let Some(title) = titles.get(&finding.code) {
        let _ = write!(out, " data-title=\"{}\"", shown(title));
    }
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
    let line = at.map_or_else(String::new, |at| format!("line {}", at.start.line));
    let _ = write!(
        out,
        "><button type=\"button\" aria-expanded=\"false\"><span class=\"word\">{word}</span> <code class=\"rule\">{code}</code> \
         <span class=\"says\">{}</span> <span class=\"place\"><span class=\"file\">{file}</span> {line}</span></button>\
         <div class=\"more\">",
        prose(&finding.message)
    );
    if let State::Ignored(reason) = state {
        let _ = write!(out, "<p><b>Ignored:</b> {}</p>", prose(reason));
    }
    let labels = finding.labels.iter().chain(&finding.related);
    source::frames(labels.take(FRAMES), batch, out);
    match &finding.verdict {
        Verdict::Violable { inputs } if !inputs.is_empty() => {
            out.push_str("<h4>Inputs with which it is wrong</h4><ul>");
            for input in inputs {
                let _ = write!(out, "<li><code>{}</code></li>", shown(&input.to_string()));
            }
            out.push_str("</ul>");
        }
        Verdict::Undecided { why } => {
            let _ = write!(out, "<p><b>Not decided:</b> {}</p>", prose(why));
        }
        _ => {}
    }
    for flow in &finding.flows {
        let steps = flow.steps.iter();
        let steps: Vec<String> = steps
            .map(|step| format!("<code>{}</code>", shown(&step.name)))
            .collect();
        let (kind, steps) = (flow.kind.as_str(), steps.join(" → "));
        let _ = write!(out, "<p class=\"flow\"><b>{kind}:</b> {steps}</p>");
    }
    if let Some(help) = &finding.help {
        let _ = write!(out, "<p><b>Help:</b> {}</p>", prose(help));
    }
    for fix in &finding.fixes {
        let _ = write!(
            out,
            "<h4>Fix: {} <span class=\"soft\">({})</span></h4>",
            prose(&fix.title),
            fix.applicability.as_str()
        );
        source::difference(fix, batch, out);
    }
    reasons(finding, batch, out);
    if let Some(why) = catalogue::why(&finding.code) {
        let _ = write!(out, "<p><b>Why it matters:</b> {}</p>", prose(why));
    }
    match catalogue::page(&finding.code) {
        Some(page) => {
            let page = shown(&page);
            let _ = write!(out, "<p><a href=\"{page}\">All about {code}</a></p>");
        }
        None if catalogue::documentation(&finding.code).is_some() => {
            let _ = write!(
                out,
                "<p class=\"soft\"><code>locus explain {code}</code> says more.</p>"
            );
        }
        None => {}
    }
    out.push_str("</div></article>\n");
}

/// What came of a finding.
#[derive(Clone, Copy)]
pub(super) enum State<'a> {
    /// It is reported.
    Found,
    /// It could not be checked.
    Unchecked,
    /// It is ignored, for a reason.
    Ignored(&'a str),
}

/// The lines without any one of which the finding is not made.
fn reasons(finding: &Diagnostic, batch: &Batch, out: &mut String) {
    let head = match finding.reasons.len() {
        0 => return,
        1 => "Without this line, it is not found",
        _ => "Without any one of these lines, it is not found",
    };
    let _ = write!(out, "<h4>{head}</h4><ul class=\"reasons\">");
    let here = finding.primary().map(|span| span.file);
    for reason in &finding.reasons {
        let at = Place::of(reason.span, &batch.sources);
        let text = batch.sources.text(reason.span.file);
        let start = reason.span.start as usize;
        let line = text.get(source::line_start(text, start, 0)..source::line_end(text, start, 0));
        let file = match here == Some(reason.span.file) {
            true => String::new(),
            false => format!("{} ", shown(at.file)),
        };
        let _ = write!(
            out,
            "<li><span class=\"soft\">{file}line {}</span> <code>{}</code>",
            at.start.line,
            shown(line.unwrap_or("").trim())
        );
        if !reason.message.is_empty() {
            let _ = write!(out, "<br>{}", prose(&reason.message));
        }
        out.push_str("</li>");
    }
    out.push_str("</ul>");
}
