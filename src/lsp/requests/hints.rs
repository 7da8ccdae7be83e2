//! What a configuration makes of what is written, shown beside it.

use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams};

use super::Failure;
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::World;

/// The hints of a part of a file.
pub(super) fn hints(
    world: &World,
    params: InlayHintParams,
) -> Result<Option<Vec<InlayHint>>, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    let (Some(text), false) = (world.text(&path), is_model(&path)) else {
        return Ok(None);
    };
    let Some(language) = world.language(&path) else {
        return Ok(None);
    };
    let together = world.together(&path)?;
    let lines = world.lines(&text);
    let all = world.snapshot.hints(language, &path, &together).into_iter();
    let shown = all.map(|(at, label)| InlayHint {
        position: lines.position(at),
        label: InlayHintLabel::String(label),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    });
    let wanted = params.range;
    let within = |hint: &InlayHint| wanted.start <= hint.position && hint.position <= wanted.end;
    Ok(Some(shown.filter(within).collect()))
}
