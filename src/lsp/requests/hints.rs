//! What a configuration makes of what is written, shown beside it.

use locus_core::Span;
use locus_frontends::language::editing::shown_value;
use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams};

use super::{Failure, structure};
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::{World, absolute};

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
    let mut all = world.snapshot.hints(language, &path, &together);
    // What is computed is shown as it comes out.
    let mut computed: Vec<(Span, usize)> = Vec::new();
    let report = world.report(&path)?;
    if let Some(report) = &report
        && let Some(file) = report
            .sources
            .files()
            .find(|&file| absolute(report.sources.name(file)) == path)
    {
        structure::each(&path, &text, &mut |node, _| {
            if node.as_str().is_some_and(|text| language.is_computed(text)) {
                let end = node.span.end as usize;
                let (start, end) = (node.span.start as usize, end);
                computed.push((Span::new(file, start, end), end));
            }
        });
        for (span, end) in computed {
            let value = report.resolved(span).as_deref().and_then(shown_value);
            all.extend(value.map(|value| (end, value)));
        }
    }
    all.sort_unstable();
    let shown = all.into_iter().map(|(at, label)| InlayHint {
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
