//! What there is to know about a place.

use std::fmt::Write as _;

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::{Failure, settings};
use crate::lsp::checker::is_model;
use crate::lsp::world::{World, absolute, bytes};
use crate::lsp::{diagnostics, uri};
use crate::session::{Part, Written};

/// What there is to know about a place.
pub(super) fn hover(world: &World, params: HoverParams) -> Result<Option<Hover>, Failure> {
    let at = params.text_document_position_params;
    let path = uri::to_path(&at.text_document.uri);
    let Some(text) = world.text(&path) else {
        return Ok(None);
    };
    let offset = world.offset(&text, at.position);
    let found = if settings::is_settings(&path) {
        settings::hover(&text, offset)
    } else if is_model(&path) {
        model(world, &path, offset)
    } else {
        configuration(world, &path, &text, offset)?
    };
    Ok(found.map(|(range, value)| Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range: Some(world.lines(&text).range(range)),
    }))
}

type Said = (std::ops::Range<usize>, String);

/// The declaration and the type of what is at a place of a model.
fn model(world: &World, path: &str, offset: usize) -> Option<Said> {
    let model = world.snapshot.model(path);
    let typed = model.type_at(offset);
    match model.at(offset) {
        Some(named) => {
            let mut text = format!("```alloy\n{}\n```\n", named.shown);
            if let Some(doc) = &named.doc {
                let _ = write!(text, "\n{doc}\n");
            }
            let all = std::iter::once(named.declared).chain(named.uses.iter().copied());
            let here = all
                .filter(|span| span.file == model.file)
                .map(bytes)
                .find(|bytes| bytes.start <= offset && offset <= bytes.end)?;
            Some((here, text))
        }
        None => {
            let (span, ty) = typed?;
            Some((bytes(span), format!("type: `{ty}`")))
        }
    }
}

fn configuration(
    world: &World,
    path: &str,
    text: &str,
    offset: usize,
) -> Result<Option<Said>, Failure> {
    let Some(report) = world.report(path)? else {
        return Ok(None);
    };
    let mut files = report.sources.files();
    let Some(file) = files.find(|&file| absolute(report.sources.name(file)) == path) else {
        return Ok(None);
    };
    let name = report.sources.name(file).to_owned();
    let Some(here) = report.at(&name, offset) else {
        return Ok(None);
    };
    let mut said = String::new();
    let language = world.snapshot.registry().named(report.language);
    let mut range = bytes(here.span);
    let name = world.name_at(path, offset)?;
    let written = match language {
        Some(_) if here.part == Part::Gap => return Ok(None),
        Some(language) => {
            let others = world.others(path)?;
            let snapshot = &world.snapshot;
            snapshot.written(language, text, offset, &others)
        }
        None => None,
    };
    let is_written = written.is_some();
    if let Some(name) = &name {
        range = name.here.clone();
        let _ = write!(said, "{} `{}`", name.what, name.name);
        // What comes with a language is told of below.
        if name.defined.is_empty() && !is_written {
            said.push_str(" (not defined here)");
        }
        said.push_str("\n\n");
        if let Some((file, bytes)) = name.defined.first()
            && let Some(text) = world.text(file)
        {
            let _ = write!(said, "```yaml\n{}\n```\n\n", definition(&text, bytes.start));
        }
    }
    // A name that is defined is told of by its definition.
    let is_defined = name.is_some_and(|name| !name.defined.is_empty());
    if let Some(Written { about }) = written.filter(|_| !is_defined) {
        let text = match about.text.as_str() {
            "" => "\"\"",
            text => text,
        };
        let _ = write!(said, "`{text}`");
        if !about.detail.is_empty() {
            let _ = write!(said, ": {}", about.detail);
        }
        said.push_str("\n\n");
        if !about.documentation.is_empty() {
            let _ = write!(said, "{}\n\n", about.documentation);
        }
    }
    // A function has the value that it makes of what is in it.
    let word = text.get(range.clone()).unwrap_or_default();
    let is_function = language.is_some_and(|language| language.is_function(word));
    if let Some(value) = here
        .value
        .filter(|_| here.part == Part::Value || is_function)
    {
        let _ = write!(said, "value: `{}`\n\n", short(&value));
    }
    for finding in here
        .findings
        .iter()
        .filter_map(|&at| report.findings.get(at))
    {
        let points = finding.primary().map(bytes);
        let here = |place: &std::ops::Range<usize>| place.start <= offset && offset <= place.end;
        if !points.as_ref().is_some_and(here) {
            continue;
        }
        let _ = write!(
            said,
            "**{}** {}\n\n",
            finding.code,
            diagnostics::message(finding)
        );
        let mut rules = locus_invariants::rules().iter();
        if let Some(rule) = rules.find(|rule| rule.id == finding.code) {
            let _ = write!(said, "{}\n\n", rule.why);
        }
    }
    let said = said.trim_end().to_owned();
    Ok((!said.is_empty()).then_some((range, said)))
}

/// A text that fits into a line.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(120).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short.replace('`', "'")
}

/// The first lines of what is defined at a place; of a name that is a value, the line that it is in.
fn definition(text: &str, start: usize) -> String {
    let line_start = text.get(..start).and_then(|before| before.rfind('\n'));
    let line_start = line_start.map_or(0, |at| at + 1);
    let before = text.get(line_start..start).unwrap_or_default();
    let indent = before.len() - before.trim_start_matches([' ', '-']).len();
    let mut lines = text.get(line_start..).unwrap_or_default().lines();
    let mut shown: Vec<&str> = lines.next().into_iter().collect();
    for line in lines.take(11) {
        let deeper = line.len() - line.trim_start().len() > indent;
        if !deeper && !line.trim().is_empty() {
            break;
        }
        shown.push(line);
    }
    shown
        .iter()
        .map(|line| line.get(indent..).unwrap_or(line.trim_start()))
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end()
        .to_owned()
}
