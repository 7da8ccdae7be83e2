//! Models in one layout.

use locus_core::{Severity, Sources};
use lsp_types::{DocumentFormattingParams, TextEdit};

use super::Failure;
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::World;

/// A model laid out anew; nothing for other files, and for a model that cannot be read.
pub(super) fn format(
    world: &World,
    params: DocumentFormattingParams,
) -> Result<Option<Vec<TextEdit>>, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    let Some(text) = world.text(&path).filter(|_| is_model(&path)) else {
        return Ok(None);
    };
    let mut sources = Sources::new();
    let file = sources.add(path.as_str(), &*text);
    let (_, said) = locus_grammar::parse(file, &locus_grammar::model_text(&path, &text));
    if said.iter().any(|one| one.severity == Severity::Error) {
        return Ok(None);
    }
    let new_text = locus_grammar::format_file(&path, &text);
    if new_text == *text {
        return Ok(Some(Vec::new()));
    }
    let range = world.lines(&text).range(0..text.len());
    Ok(Some(vec![TextEdit { range, new_text }]))
}
