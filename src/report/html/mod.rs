//! One page for reviewers: findings with their source, and the location graph as a picture. Nothing is loaded from elsewhere:
//! the page has its script and style, allows only these by their hashes, and works without the script as a list to print.

mod finding;
pub mod run;
mod source;
mod theme;

use std::fmt::Write;

use base64::Engine;
use locus_core::{Diagnostic, Severity, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

use super::Style;
use super::picture::{BROKEN, Picture, body, legend};
use super::xml::shown;
use crate::catalogue;
use crate::session::{Batch, Report};
use finding::State;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("viewer.js"), include_str!("page.js"));

/// Projects whose graphs are drawn; those with findings come first.
const DRAWN: usize = 50;

/// A graph that is drawn, and where its locations are written.
struct Drawn<'a> {
    report: &'a Report,
    picture: Picture,
    /// By file: where locations start, and the items that they are drawn as.
    places: FxHashMap<&'a str, Vec<(u32, u32, usize)>>,
    by_name: FxHashMap<&'a str, usize>,
}

impl<'a> Drawn<'a> {
    fn of(report: &'a Report) -> Self {
        let picture = Picture::of(&report.graph);
        let mut item_of: FxHashMap<usize, usize> = FxHashMap::default();
        for (index, item) in picture.items.iter().enumerate() {
            item_of.extend(item.locations.iter().map(|&location| (location, index)));
        }
        let mut places: FxHashMap<&str, Vec<(u32, u32, usize)>> = FxHashMap::default();
        let mut by_name = FxHashMap::default();
        for (id, location) in report.graph.locations() {
            let Some(&item) = item_of.get(&id.index()) else {
                continue;
            };
            let span = location.origin.span;
            let file = report.sources.name(span.file);
            let end = span
                .end
                .max(block_end(report.sources.text(span.file), span));
            places
                .entry(file)
                .or_default()
                .push((span.start, end, item));
            by_name.insert(&*location.name, item);
        }
        for places in places.values_mut() {
            places.sort_unstable();
        }
        Drawn {
            report,
            picture,
            places,
            by_name,
        }
    }

    /// The items that something at a place is about: the innermost location around it.
    fn at(&self, file: &str, offset: u32) -> Option<usize> {
        let places = self.places.get(file)?.iter();
        let mut around = places.filter(|(start, end, _)| *start <= offset && offset < *end);
        around.next_back().map(|(.., item)| *item)
    }
}

/// Where the text of a location ends whose name is a key: with the last line that is indented more than the key.
fn block_end(text: &str, name: Span) -> u32 {
    let (start, end) = (name.start as usize, name.end as usize);
    let after = text.get(end..).unwrap_or_default();
    if !after.trim_start_matches(['"', '\'']).starts_with(':') {
        return name.end;
    }
    let before = text.get(..start).unwrap_or_default();
    let column = start - before.rfind('\n').map_or(0, |at| at + 1);
    let mut lines = after.split_inclusive('\n');
    let mut last = end + lines.next().map_or(0, str::len);
    let mut at = last;
    for line in lines {
        at += line.len();
        let inner = line.trim_start_matches(' ');
        if inner.trim().is_empty() {
            continue;
        }
        // The items of a list may stand as far left as the key.
        let indent = line.len() - inner.len();
        if indent < column || (indent == column && !inner.starts_with("- ")) {
            break;
        }
        last = at;
    }
    u32::try_from(last).unwrap_or(name.end)
}

/// Renders what came of a check.
pub fn render(batch: &Batch, style: &Style) -> String {
    let with: FxHashSet<&str> = batch
        .findings
        .iter()
        .flat_map(|finding| finding.labels.iter())
        .map(|label| batch.sources.name(label.span.file))
        .collect();
    let mut reports: Vec<&Report> = batch.reports.iter().map(|report| &**report).collect();
    reports.sort_by_key(|report| !report.files.iter().any(|file| with.contains(file.as_str())));
    let drawn: Vec<Drawn<'_>> = reports
        .iter()
        .take(DRAWN)
        .map(|report| Drawn::of(report))
        .collect();
    let mut graph_of: FxHashMap<&str, usize> = FxHashMap::default();
    for (index, one) in drawn.iter().enumerate() {
        for id in one.report.sources.files() {
            graph_of.entry(one.report.sources.name(id)).or_insert(index);
        }
    }
    let mut broken: Vec<FxHashSet<usize>> = vec![FxHashSet::default(); drawn.len()];
    let mut list = String::new();
    let entries = catalogue::entries().into_iter();
    let page = finding::Page {
        batch,
        titles: entries.map(|entry| (entry.id, entry.title)).collect(),
    };
    // The worst first, as they are read first; in the order of files and text else.
    let mut all: Vec<(&Diagnostic, State<'_>)> = Vec::new();
    all.extend(batch.unchecked.iter().map(|one| (one, State::Unchecked)));
    all.extend(batch.findings.iter().map(|one| (one, State::Found)));
    all.sort_by_key(|(one, _)| std::cmp::Reverse(one.severity));
    let ignored = batch.ignored.iter();
    all.extend(ignored.map(|(one, reason)| (one, State::Ignored(reason))));
    for (index, (one, state)) in all.into_iter().enumerate() {
        let place = finding::place(one, batch, &drawn, &graph_of);
        if let Some(place) = &place
            && let Some(broken) = broken.get_mut(place.graph)
            && !matches!(state, State::Ignored(_))
        {
            broken.extend(&place.items);
        }
        finding::write(one, index, place.as_ref(), state, &page, &mut list);
    }
    let mut out = String::with_capacity(list.len() + 32_768);
    head("Locus report", SCRIPT, STYLE, &mut out);
    summary(batch, style, &mut out);
    out.push_str(
        "<main>\n<section aria-label=\"Findings\"><div class=\"controls\"><label>Search <input id=\"search\" type=\"search\" \
         placeholder=\"text, rule, file or location\"></label>\
         <label>Group by <select id=\"grouping\"><option value=\"file\">file</option><option value=\"rule\">rule</option></select></label>\
         <span id=\"status\" role=\"status\" class=\"soft\"></span></div>\n<div id=\"findings\" data-by=\"file\">\n",
    );
    if list.is_empty() {
        out.push_str("<p class=\"good\">Every rule that was checked holds.</p>\n");
    }
    out.push_str(&list);
    out.push_str("</div></section>\n");
    graphs(&drawn, &broken, reports.len(), &mut out);
    let _ = write!(
        out,
        "</main>\n<footer class=\"soft\">Made by Locus {}. Keys: <kbd>j</kbd> and <kbd>k</kbd> go to the next and the previous finding, \
         <kbd>/</kbd> to the search.</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    out
}

/// What was found, in numbers: each kind of finding is a switch that hides it.
fn summary(batch: &Batch, style: &Style, out: &mut String) {
    let count = super::text::count;
    let totals = &batch.totals;
    out.push_str(
        "<header><h1>Locus report</h1><div class=\"tiles\" role=\"group\" aria-label=\"Show\">",
    );
    let mut tile = |class: &str, number: usize, what: &str| {
        let plain = count(number, what);
        let words = plain.split_once(' ').map_or("", |(_, words)| words);
        let _ = write!(
            out,
            "<button type=\"button\" class=\"tile {class}\" data-show=\"{class}\" aria-pressed=\"true\"{}><b>{number}</b> {words}</button>",
            if number == 0 { " disabled" } else { "" }
        );
    };
    tile("error", batch.count(Severity::Error), "error");
    tile("warning", batch.count(Severity::Warning), "warning");
    if batch.count(Severity::Info) > 0 {
        tile("info", batch.count(Severity::Info), "note");
    }
    let others = [
        ("unchecked", batch.unchecked.len(), "not checked"),
        ("ignored", batch.ignored.len(), "ignored"),
    ];
    for (class, number, words) in others {
        if number > 0 {
            let _ = write!(
                out,
                "<button type=\"button\" class=\"tile {class}\" data-show=\"{class}\" aria-pressed=\"true\"><b>{number}</b> {words}</button>"
            );
        }
    }
    let _ = write!(
        out,
        "</div><p>{} with {}; {} of {} deployable.",
        count(totals.files, "file"),
        count(totals.locations, "location"),
        totals.deployable,
        count(totals.checked, "configuration"),
    );
    if let Some(compared) = &batch.compared {
        let _ = write!(
            out,
            " Only what is new since <code>{}</code> is shown: {} as before, {} gone.",
            shown(&compared.base),
            count(compared.same, "finding"),
            compared.fixed.len()
        );
    }
    if batch.baselined > 0 {
        let _ = write!(out, " {} in the baseline.", batch.baselined);
    }
    if !batch.undecided.is_empty() {
        let _ = write!(out, " {} undecided.", batch.undecided.len());
    }
    let _ = writeln!(
        out,
        " <span class=\"soft\">Checked against {} in {:.1} s.</span></p></header>",
        count(totals.rules.values().sum(), "rule"),
        style.time.as_secs_f64(),
    );
}

/// Text with words between backticks, as messages have it: these are code. Where backticks do not come in pairs, all is text.
fn prose(text: &str) -> String {
    if text.matches('`').count() % 2 == 1 {
        return shown(text);
    }
    let mut out = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        match index % 2 {
            0 => out.push_str(&shown(part)),
            _ => {
                let _ = write!(out, "<code>{}</code>", shown(part));
            }
        }
    }
    out
}

/// The head of a page that loads nothing and runs nothing but its own script.
fn head(title: &str, script: &str, style: &str, out: &mut String) {
    let hash = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text));
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n",
        hash(script),
        hash(style),
        shown(title),
    );
}

fn graphs(drawn: &[Drawn<'_>], broken: &[FxHashSet<usize>], all: usize, out: &mut String) {
    out.push_str("<section id=\"graphs\" aria-label=\"Location graph\"><div class=\"controls\"><label>Graph of <select id=\"project\">");
    for (index, one) in drawn.iter().enumerate() {
        let name = one.report.files.first().map_or("", String::as_str);
        let _ = write!(out, "<option value=\"{index}\">{}</option>", shown(name));
    }
    out.push_str(
        "</select></label><label>Sort <select id=\"sort\"></select></label>\
         <label>Namespace <select id=\"space\"></select></label></div>\n",
    );
    if all > drawn.len() {
        let _ = writeln!(
            out,
            "<p class=\"soft\">{} more graphs are not drawn.</p>",
            all - drawn.len()
        );
    }
    for (index, (one, broken)) in drawn.iter().zip(broken).enumerate() {
        let (w, h) = (one.picture.size.0.max(680.0), one.picture.size.1 + 70.0);
        let name = one.report.files.first().map_or("", String::as_str);
        let _ = writeln!(
            out,
            "<div class=\"graph\" data-graph=\"{index}\"><div class=\"picture\" tabindex=\"0\" role=\"group\" aria-label=\"Location graph of \
             {name}; arrow keys move, plus and minus zoom, zero shows all\"><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
             aria-label=\"Location graph of {name}\" viewBox=\"0 0 {w:.0} {h:.0}\" font-family=\"monospace\" font-size=\"11\">",
            name = shown(name),
        );
        let prefix = format!("g{index}-");
        let class = |item| if broken.contains(&item) { BROKEN } else { "" };
        body(&one.picture, &prefix, &class, out);
        legend(&one.picture, &prefix, one.picture.size.1 + 10.0, out);
        out.push_str("</svg></div></div>\n");
    }
    out.push_str("</section>\n");
}
