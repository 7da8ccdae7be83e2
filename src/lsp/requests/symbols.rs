//! What is defined in a file, and in all.

use std::ops::Range;

use locus_frontends::language::NameSort;
use locus_frontends::loader::join;
use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, SymbolInformation,
    SymbolKind, Uri, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use super::{Failure, settings, toml};
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
    if world.options.symbol_tree {
        #[expect(deprecated, reason = "the type has a field that is no longer used")]
        let all = nested(all, |one, inner| DocumentSymbol {
            name: one.name,
            detail: Some(one.what),
            kind: one.kind,
            tags: None,
            deprecated: None,
            range: lines.range(one.whole),
            selection_range: lines.range(one.name_at),
            children: (!inner.is_empty()).then_some(inner),
        });
        return Ok(Some(DocumentSymbolResponse::Nested(all)));
    }
    let uri = params.text_document.uri;
    let all = all.into_iter().map(|one| information(&uri, &lines, one));
    Ok(Some(DocumentSymbolResponse::Flat(all.collect())))
}

/// Makes a tree: what is inside another is below it, in the order of the text.
fn nested<T>(mut all: Vec<Defined>, make: impl Fn(Defined, Vec<T>) -> T) -> Vec<T> {
    all.sort_by_key(|one| (one.whole.start, std::cmp::Reverse(one.whole.end)));
    // What is open, from the outside in, with what is below it so far.
    let mut open: Vec<(Defined, Vec<T>)> = Vec::new();
    let mut top: Vec<T> = Vec::new();
    let close = |open: &mut Vec<(Defined, Vec<T>)>, top: &mut Vec<T>| {
        if let Some((one, inner)) = open.pop() {
            let made = make(one, inner);
            match open.last_mut() {
                Some((_, siblings)) => siblings.push(made),
                None => top.push(made),
            }
        }
    };
    for one in all {
        while open
            .last()
            .is_some_and(|(outer, _)| outer.whole.end < one.whole.end)
        {
            close(&mut open, &mut top);
        }
        open.push((one, Vec::new()));
    }
    while !open.is_empty() {
        close(&mut open, &mut top);
    }
    top
}

/// What is defined in the files of the workspace and has a word in its name.
pub(super) fn workspace(
    world: &World,
    params: WorkspaceSymbolParams,
) -> Result<Option<WorkspaceSymbolResponse>, Failure> {
    let word = params.query.to_lowercase();
    let mut paths: Vec<String> = world.documents.paths().map(str::to_owned).collect();
    paths.extend(
        world
            .folders
            .iter()
            .map(|folder| join(folder, "locus.toml")),
    );
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
    if settings::is_settings(path) {
        return toml::parts(text)
            .into_iter()
            .map(|part| Defined {
                what: settings::shown(text, &part),
                kind: match part.is_table {
                    true => SymbolKind::MODULE,
                    false => SymbolKind::PROPERTY,
                },
                name: part.name,
                name_at: part.name_at,
                whole: part.whole,
            })
            .collect();
    }
    let Some(known) = world.snapshot.language_of(path) else {
        return Vec::new();
    };
    let names = world.snapshot.names(known.language, path);
    let table = known.language.names();
    let mut all = Vec::new();
    for name in names {
        let (Some(whole), Some(names)) = (name.defines.map(bytes), table.get(name.kind)) else {
            continue;
        };
        let kind = match names.sort {
            NameSort::Input => SymbolKind::VARIABLE,
            NameSort::Location => SymbolKind::CLASS,
            NameSort::Type => SymbolKind::INTERFACE,
            NameSort::Part => SymbolKind::OBJECT,
            NameSort::Label => continue,
        };
        let written = text.get(whole.clone()).unwrap_or_default().trim_end();
        all.push(Defined {
            what: known.language.called(&name),
            kind,
            name_at: bytes(name.span),
            whole: whole.start..whole.start + written.len(),
            name: name.name,
        });
    }
    all
}
