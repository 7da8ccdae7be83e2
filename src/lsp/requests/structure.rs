//! How a file is built: what folds, what is selected together, which files it names.

use std::ops::Range;

use locus_core::Sources;
use locus_frontends::loader::{directory, join};
use locus_frontends::yaml::{self, Kind, Node};
use lsp_types::{
    DocumentLink, DocumentLinkParams, FoldingRange, FoldingRangeParams, SelectionRange,
    SelectionRangeParams,
};

use super::{Failure, settings, toml};
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::{World, absolute, bytes};

/// Calls a function for a node and everything in it, with the bytes of the entry that it is the value of.
fn visit(node: &Node, entry: Option<Range<usize>>, call: &mut impl FnMut(&Node, Range<usize>)) {
    let own = bytes(node.span);
    call(node, entry.unwrap_or_else(|| own.clone()));
    if node.alias().is_some() {
        return;
    }
    match &node.kind {
        Kind::Mapping(mapping) => {
            for entry in &mapping.entries {
                call(&entry.key, bytes(entry.key.span));
                visit(&entry.value, Some(bytes(entry.span())), call);
            }
        }
        Kind::Sequence(items) => items.iter().for_each(|item| visit(item, None, call)),
        Kind::Scalar(_) => {}
    }
}

/// Calls a function for everything in a YAML text.
pub(super) fn each(path: &str, text: &str, call: &mut impl FnMut(&Node, Range<usize>)) {
    let mut sources = Sources::new();
    let file = sources.add(path, text);
    let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
    for document in &parsed.documents {
        visit(&document.root, None, call);
    }
}

/// What can be folded: entries and paragraphs of several lines.
pub(super) fn folding(
    world: &World,
    params: FoldingRangeParams,
) -> Result<Option<Vec<FoldingRange>>, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    let Some(text) = own_text(world, &path) else {
        return Ok(None);
    };
    let mut all: Vec<Range<usize>> = Vec::new();
    if is_model(&path) {
        let model = world.snapshot.model(&path);
        all.extend(model.module.paragraphs.iter().map(|one| bytes(one.span)));
    } else if settings::is_settings(&path) {
        all.extend(toml::parts(&text).into_iter().map(|part| part.whole));
    } else {
        each(&path, &text, &mut |_, entry| all.push(entry));
    }
    let lines = world.lines(&text);
    let mut folds: Vec<(u32, u32)> = all
        .into_iter()
        .map(|bytes| {
            let end = text
                .get(..bytes.end)
                .map_or(0, |before| before.trim_end().len());
            (lines.position(bytes.start).line, lines.position(end).line)
        })
        .filter(|(start, end)| start < end)
        .collect();
    folds.sort_unstable();
    // Of what starts in one line, the largest folds.
    folds.dedup_by(|next, before| {
        let same = next.0 == before.0;
        if same {
            before.1 = before.1.max(next.1);
        }
        same
    });
    let folds = folds
        .into_iter()
        .map(|(start_line, end_line)| FoldingRange {
            start_line,
            end_line,
            ..FoldingRange::default()
        });
    Ok(Some(folds.collect()))
}

/// What is around places, from the inside out.
pub(super) fn selection(
    world: &World,
    params: SelectionRangeParams,
) -> Result<Option<Vec<SelectionRange>>, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    let Some(text) = own_text(world, &path) else {
        return Ok(None);
    };
    let lines = world.lines(&text);
    let mut all: Vec<Range<usize>> = Vec::new();
    if is_model(&path) {
        let model = world.snapshot.model(&path);
        all.extend(model.module.paragraphs.iter().map(|one| bytes(one.span)));
    } else if settings::is_settings(&path) {
        for part in toml::parts(&text) {
            all.extend([part.name_at, part.whole]);
        }
        all.extend(toml::strings(&text));
    } else {
        each(&path, &text, &mut |node, entry| {
            all.push(bytes(node.span));
            all.push(entry);
        });
    }
    all.push(0..text.len());
    let around = params.positions.iter().map(|&position| {
        let offset = lines.offset(position);
        let covers = |range: &&Range<usize>| range.start <= offset && offset <= range.end;
        let mut here: Vec<Range<usize>> = all.iter().filter(covers).cloned().collect();
        here.sort_by_key(|range| std::cmp::Reverse(range.end - range.start));
        here.dedup();
        let mut outer: Option<Box<SelectionRange>> = None;
        for range in here {
            outer = Some(Box::new(SelectionRange {
                range: lines.range(range),
                parent: outer,
            }));
        }
        let nothing = || SelectionRange {
            range: lines.range(offset..offset),
            parent: None,
        };
        outer.map_or_else(nothing, |outer| *outer)
    });
    Ok(Some(around.collect()))
}

/// The text of a file that is one of ours.
fn own_text(world: &World, path: &str) -> Option<std::sync::Arc<str>> {
    let ours =
        is_model(path) || settings::is_settings(path) || world.snapshot.language_of(path).is_some();
    ours.then(|| world.text(path)).flatten()
}

/// The files that a file names, among those that are read with it.
pub(super) fn links(
    world: &World,
    params: DocumentLinkParams,
) -> Result<Option<Vec<DocumentLink>>, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    let Some(text) = world.text(&path) else {
        return Ok(None);
    };
    let lines = world.lines(&text);
    let links = files(world, &path, &text)?.into_iter();
    let links = links.map(|(bytes, file)| DocumentLink {
        range: lines.range(bytes),
        target: world.uri(&file),
        tooltip: None,
        data: None,
    });
    Ok(Some(links.collect()))
}

/// The file that is named at a place.
pub(super) fn file_at(
    world: &World,
    path: &str,
    text: &str,
    offset: usize,
) -> Result<Option<(Range<usize>, String)>, Failure> {
    let all = files(world, path, text)?.into_iter();
    let mut here = all.filter(|(bytes, _)| bytes.start <= offset && offset <= bytes.end);
    Ok(here.next())
}

fn files(world: &World, path: &str, text: &str) -> Result<Vec<(Range<usize>, String)>, Failure> {
    if settings::is_settings(path) {
        let all = toml::strings(text).into_iter().filter_map(|range| {
            let name = text.get(range.clone()).filter(|name| !name.is_empty())?;
            let file = join(directory(path), name);
            world.exists(&file).then_some((range, file))
        });
        return Ok(all.collect());
    }
    let mut read: Vec<String> = Vec::new();
    for report in world.reports(path)? {
        read.extend(report.watched.iter().map(|path| absolute(path)));
    }
    let mut found = Vec::new();
    if read.is_empty() {
        return Ok(found);
    }
    each(path, text, &mut |node, _| {
        if let Some(name) = node.as_str().filter(|name| !name.contains('\n')) {
            let name = name.strip_prefix("file://").unwrap_or(name);
            let file = join(directory(path), name);
            if file != path && read.contains(&file) && world.exists(&file) {
                found.push((bytes(node.span), file));
            }
        }
    });
    Ok(found)
}
