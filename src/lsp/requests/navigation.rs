//! Where things are defined and used.

use std::ops::Range;

use locus_core::{Sources, Span};
use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams,
    GotoDefinitionResponse, Location, ReferenceParams, TextDocumentPositionParams,
};

use super::{Failure, structure};
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::{Ranges, World, bytes};

/// The definition of what is used at a place.
pub(super) fn definition(
    world: &World,
    params: GotoDefinitionParams,
) -> Result<Option<GotoDefinitionResponse>, Failure> {
    let found = find(world, &params.text_document_position_params)?;
    let places = found.map(|found| found.definitions).unwrap_or_default();
    Ok((!places.is_empty()).then_some(GotoDefinitionResponse::Array(places)))
}

/// The uses of what is at a place.
pub(super) fn references(
    world: &World,
    params: ReferenceParams,
) -> Result<Option<Vec<Location>>, Failure> {
    let Some(found) = find(world, &params.text_document_position)? else {
        return Ok(None);
    };
    let mut places = found.references;
    if params.context.include_declaration {
        for place in found.declared {
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places.sort_by(|a, b| {
        let key = |place: &Location| (place.uri.as_str().to_owned(), place.range.start);
        key(a).cmp(&key(b))
    });
    Ok(Some(places))
}

/// The same, in one file.
pub(super) fn highlight(
    world: &World,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>, Failure> {
    let position = &params.text_document_position_params;
    let Some(found) = find(world, position)? else {
        return Ok(None);
    };
    let own = &position.text_document.uri;
    let of = |kind| {
        move |place: Location| DocumentHighlight {
            range: place.range,
            kind: Some(kind),
        }
    };
    let here = |place: &Location| place.uri == *own;
    let declared = found.declared.into_iter().filter(here);
    let mut all: Vec<DocumentHighlight> = declared.map(of(DocumentHighlightKind::WRITE)).collect();
    for one in found.references.into_iter().filter(here) {
        if !all.iter().any(|known| known.range == one.range) {
            all.push(of(DocumentHighlightKind::READ)(one));
        }
    }
    Ok(Some(all))
}

/// What navigation knows of a place.
#[derive(Default)]
struct Found {
    /// Where what is used here is defined.
    definitions: Vec<Location>,
    /// Where what is defined or used here is defined.
    declared: Vec<Location>,
    /// Where it is used.
    references: Vec<Location>,
}

impl Found {
    fn add(&mut self, world: &World, sources: &Sources, spans: (&[Span], &[Span], &[Span])) {
        let mut ranges = Ranges::new(world, sources);
        let (definitions, declared, references) = spans;
        for (spans, places) in [
            (definitions, &mut self.definitions),
            (declared, &mut self.declared),
            (references, &mut self.references),
        ] {
            for &span in spans {
                if let Some(place) = ranges.location(span)
                    && !places.contains(&place)
                {
                    places.push(place);
                }
            }
        }
    }
}

fn find(world: &World, at: &TextDocumentPositionParams) -> Result<Option<Found>, Failure> {
    let path = uri::to_path(&at.text_document.uri);
    let Some(text) = world.text(&path) else {
        return Ok(None);
    };
    let offset = world.offset(&text, at.position);
    let mut found = Found::default();
    if is_model(&path) {
        let model = world.snapshot.model(&path);
        if let Some(named) = model.at(offset) {
            let declared = [named.declared];
            let is_use =
                !(named.declared.file == model.file && bytes(named.declared).contains(&offset));
            let definitions = if is_use { declared.as_slice() } else { &[] };
            found.add(world, &model.sources, (definitions, &declared, &named.uses));
        }
        return Ok(Some(found));
    }
    if let Some(name) = world.name_at(&path, offset)? {
        let place = |(path, bytes): &(String, Range<usize>)| world.location(path, bytes.clone());
        found.declared = name.defined.iter().filter_map(place).collect();
        found.references = name.used.iter().filter_map(place).collect();
        let is_use = name
            .used
            .iter()
            .any(|(other, bytes)| *other == path && *bytes == name.here);
        if is_use {
            found.definitions = found.declared.clone();
        }
        return Ok(Some(found));
    }
    if let Some(language) = world.language(&path) {
        let together = world.together(&path)?;
        let places = world.snapshot.leads(language, &path, offset, &together);
        let places = places.into_iter();
        found.definitions = places
            .filter_map(|(path, bytes)| world.location(&path, bytes))
            .collect();
        found.declared.clone_from(&found.definitions);
    }
    if let Some((_, file)) = structure::file_at(world, &path, &text, offset)? {
        let start = world.location(&file, 0..0);
        found.definitions.extend(start.clone());
        found.declared.extend(start);
    }
    Ok(Some(found))
}
