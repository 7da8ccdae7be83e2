//! Renaming, everywhere at once.

use std::collections::BTreeMap;
use std::ops::Range;

use lsp_types::{
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, PrepareRenameResponse,
    RenameParams, TextDocumentEdit, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};

use super::Failure;
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::{World, bytes};
use crate::session::{Project, Renamed};

/// Changes by the path of the file.
pub(super) type Edits = BTreeMap<String, Vec<(Range<usize>, String)>>;

/// What a rename at a place is about.
pub(super) fn prepare(
    world: &World,
    at: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, Failure> {
    let path = uri::to_path(&at.text_document.uri);
    let Some(text) = world.text(&path) else {
        return Ok(None);
    };
    let offset = world.offset(&text, at.position);
    let here = if is_model(&path) {
        model_places(world, &path, offset)?.map(|(_, here)| here)
    } else {
        let name = world.name_at(&path, offset)?;
        name.filter(|name| !name.defined.is_empty())
            .map(|name| name.here)
    };
    Ok(here.map(|here| PrepareRenameResponse::Range(world.lines(&text).range(here))))
}

/// The changes that rename what is at a place.
pub(super) fn rename(
    world: &World,
    params: RenameParams,
) -> Result<Option<WorkspaceEdit>, Failure> {
    let at = params.text_document_position;
    let path = uri::to_path(&at.text_document.uri);
    let Some(text) = world.text(&path) else {
        return Ok(None);
    };
    let (offset, new) = (world.offset(&text, at.position), params.new_name);
    let mut edits = Edits::new();
    if is_model(&path) {
        if !locus_invariants::rules::is_name(&new) && !is_identifier(&new) {
            return Err(Failure::Refused(format!("`{new}` is not a name")));
        }
        let Some((places, _)) = model_places(world, &path, offset)? else {
            return Err(Failure::Refused("there is no name here".to_owned()));
        };
        for (path, bytes) in places {
            edits.entry(path).or_default().push((bytes, new.clone()));
        }
        return Ok(Some(workspace_edit(world, edits)));
    }
    let Some(name) = world.name_at(&path, offset)? else {
        return Err(Failure::Refused("there is no name here".to_owned()));
    };
    // All that reads a file in which something changes is checked.
    let mut projects = world.projects_of(&path);
    let mut changed: Vec<&str> = name.defined.iter().map(|(path, _)| path.as_str()).collect();
    changed.extend(name.used.iter().map(|(path, _)| path.as_str()));
    changed.sort_unstable();
    changed.dedup();
    for other in changed.into_iter().filter(|other| *other != path) {
        for project in world.projects_of(other) {
            let known = |one: &Project| {
                one.files == project.files && one.language.name() == project.language.name()
            };
            if !projects.iter().any(known) {
                projects.push(project);
            }
        }
    }
    let (given, cancel) = (world.given(), &world.cancel);
    let renamed = world
        .snapshot
        .rename(&name, &new, &projects, &given, cancel)?;
    match renamed {
        Renamed::Refused(message) => Err(Failure::Refused(message)),
        Renamed::Edits(all) => {
            for edit in all {
                let own = edits.entry(edit.path).or_default();
                own.push((edit.bytes, edit.text));
            }
            Ok(Some(workspace_edit(world, edits)))
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(char::is_alphabetic)
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '\'')
}

type Places = Vec<(String, Range<usize>)>;

/// Where the name at a place of a model stands, and the place itself. What is declared in a module that comes with the
/// program cannot be renamed.
fn model_places(
    world: &World,
    path: &str,
    offset: usize,
) -> Result<Option<(Places, Range<usize>)>, Failure> {
    let model = world.snapshot.model(path);
    // What is not resolved has uses that are not known.
    if model.model.is_none() {
        let message = "names are known once the model has no errors".to_owned();
        return Err(Failure::Refused(message));
    }
    let Some(named) = model.at(offset) else {
        return Ok(None);
    };
    let all = std::iter::once(named.declared).chain(named.uses.iter().copied());
    let mut places = Vec::new();
    let mut here = None;
    for span in all {
        let file = model.sources.name(span.file);
        if !world.exists(file) {
            return Ok(None);
        }
        let bytes = bytes(span);
        if span.file == model.file && bytes.start <= offset && offset <= bytes.end {
            here = Some(bytes.clone());
        }
        if !places.contains(&(file.to_owned(), bytes.clone())) {
            places.push((file.to_owned(), bytes));
        }
    }
    Ok(here.map(|here| (places, here)))
}

/// Changes as the client takes them.
pub(super) fn workspace_edit(world: &World, edits: Edits) -> WorkspaceEdit {
    let mut all: Vec<(Uri, Option<i32>, Vec<TextEdit>)> = Vec::new();
    for (path, own) in edits {
        let (Some(text), Some(uri)) = (world.text(&path), world.uri(&path)) else {
            continue;
        };
        let lines = world.lines(&text);
        let own = own.into_iter().map(|(bytes, new_text)| TextEdit {
            range: lines.range(bytes),
            new_text,
        });
        let version = world.documents.get(&path).map(|document| document.version);
        all.push((uri, version, own.collect()));
    }
    if world.options.versioned_edits {
        let edits = all
            .into_iter()
            .map(|(uri, version, edits)| TextDocumentEdit {
                text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
                edits: edits.into_iter().map(OneOf::Left).collect(),
            });
        return WorkspaceEdit {
            document_changes: Some(DocumentChanges::Edits(edits.collect())),
            ..WorkspaceEdit::default()
        };
    }
    let changes = all.into_iter().map(|(uri, _, edits)| (uri, edits));
    WorkspaceEdit {
        changes: Some(changes.collect()),
        ..WorkspaceEdit::default()
    }
}
