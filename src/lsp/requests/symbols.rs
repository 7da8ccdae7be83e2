//! What is defined in a file, and in all.

use std::ops::Range;

use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, SymbolInformation,
    SymbolKind, Uri, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use super::Failure;
use crate::lsp::checker::is_model;
use crate::lsp::position::Lines;
use crate::lsp::uri;
use crate::lsp::world::{World, absolute, bytes};
use crate::session::NameKind;

/// Something that is defined.
struct Defined {
    name: String,
    what: String,
    kind: SymbolKind,
    /// The name.
    name_at: Range<usize>,
    /// All of it.
    whole: Range<usize>,
}

/// Symbols that are told of at once.
const MOST: usize = 1000;

/// What is defined in a file.
pub(super) fn document(
    world: &World,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    let Some(text) = world.text(&path) else {
        return Ok(None);
    };
    let lines = world.lines(&text);
    let all = defined(world, &path, &text);
    #[expect(deprecated, reason = "the type has a field that is no longer used")]
    if world.options.symbol_tree {
        let all = all.into_iter().map(|one| DocumentSymbol {
            name: one.name,
            detail: Some(one.what),
            kind: one.kind,
            tags: None,
            deprecated: None,
            range: lines.range(one.whole),
            selection_range: lines.range(one.name_at),
            children: None,
        });
        return Ok(Some(DocumentSymbolResponse::Nested(all.collect())));
    }
    let uri = params.text_document.uri;
    let all = all.into_iter().map(|one| information(&uri, &lines, one));
    Ok(Some(DocumentSymbolResponse::Flat(all.collect())))
}

/// What is defined in the files of the workspace and has a word in its name.
pub(super) fn workspace(
    world: &World,
    params: WorkspaceSymbolParams,
) -> Result<Option<WorkspaceSymbolResponse>, Failure> {
    let word = params.query.to_lowercase();
    let mut paths: Vec<String> = world.documents.paths().map(str::to_owned).collect();
    for indexed in world.index.iter() {
        paths.extend(indexed.project.files.iter().map(|path| absolute(path)));
    }
    paths.sort_unstable();
    paths.dedup();
    let mut found = Vec::new();
    for path in paths {
        world.cancel.check()?;
        let (Some(text), Some(uri)) = (world.text(&path), world.uri(&path)) else {
            continue;
        };
        let lines = world.lines(&text);
        for one in defined(world, &path, &text) {
            if one.name.to_lowercase().contains(&word) {
                found.push(information(&uri, &lines, one));
            }
        }
        if found.len() >= MOST {
            break;
        }
    }
    Ok(Some(WorkspaceSymbolResponse::Flat(found)))
}

fn information(uri: &Uri, lines: &Lines<'_>, one: Defined) -> SymbolInformation {
    #[expect(deprecated, reason = "the type has a field that is no longer used")]
    SymbolInformation {
        name: one.name,
        kind: one.kind,
        tags: None,
        deprecated: None,
        location: Location::new(uri.clone(), lines.range(one.name_at)),
        container_name: Some(one.what),
    }
}

fn defined(world: &World, path: &str, text: &str) -> Vec<Defined> {
    if is_model(path) {
        let model = world.snapshot.model(path);
        let own = model
            .names
            .iter()
            .filter(|name| name.declared.file == model.file && !name.declared.is_empty());
        let mut all: Vec<Defined> = own
            .filter_map(|name| {
                let kind = match name.kind {
                    NameKind::Sig => SymbolKind::CLASS,
                    NameKind::Field => SymbolKind::FIELD,
                    NameKind::Pred => SymbolKind::BOOLEAN,
                    NameKind::Fun => SymbolKind::FUNCTION,
                    NameKind::Assertion | NameKind::Fact => SymbolKind::EVENT,
                    NameKind::Command | NameKind::Var => return None,
                };
                Some(Defined {
                    name: name.name.clone(),
                    what: name.shown.clone(),
                    kind,
                    name_at: bytes(name.declared),
                    whole: bytes(name.declared),
                })
            })
            .collect();
        all.sort_by_key(|one| one.name_at.start);
        return all;
    }
    let Some(known) = world.snapshot.language_of(path) else {
        return Vec::new();
    };
    let names = world.snapshot.names(known.language, path);
    let own = names.into_iter().filter(|name| name.is_definition);
    own.map(|name| {
        let name_at = bytes(name.span);
        Defined {
            what: known.language.called(&name),
            // The first kind of name of a language is told apart from the others.
            kind: match name.kind {
                0 => SymbolKind::VARIABLE,
                1 => SymbolKind::CLASS,
                _ => SymbolKind::OBJECT,
            },
            whole: name_at.start..block_end(text, name_at.start),
            name: name.name,
            name_at,
        }
    })
    .collect()
}

/// Where the block of a key ends.
fn block_end(text: &str, start: usize) -> usize {
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let indent = start - line_start;
    let mut end = start;
    for (number, line) in text
        .get(line_start..)
        .unwrap_or_default()
        .split_inclusive('\n')
        .enumerate()
    {
        let deeper = line.len() - line.trim_start_matches(' ').len() > indent;
        if number > 0 && !deeper && !line.trim().is_empty() {
            break;
        }
        if number == 0 {
            end = line_start + line.trim_end().len();
        } else if !line.trim().is_empty() {
            let from = line.as_ptr() as usize - text.as_ptr() as usize;
            end = from + line.trim_end().len();
        }
    }
    end.max(start)
}
