//! What stands above a file and its commands.

use lsp_types::{CodeLens, CodeLensParams, Command, Range};
use serde_json::json;

use super::{Failure, commands};
use crate::lsp::checker::is_model;
use crate::lsp::uri;
use crate::lsp::world::{Ranges, World};

/// Whether a configuration is deployable; above each command of a model, a way to run it.
pub(super) fn lenses(
    world: &World,
    params: CodeLensParams,
) -> Result<Option<Vec<CodeLens>>, Failure> {
    let own = params.text_document.uri;
    let path = uri::to_path(&own);
    let lens =
        |range: Range, title: String, command: &str, arguments: Vec<serde_json::Value>| CodeLens {
            range,
            command: Some(Command {
                title,
                command: command.to_owned(),
                arguments: Some(arguments),
            }),
            data: None,
        };
    if is_model(&path) {
        let model = world.snapshot.model(&path);
        let Some(resolved) = &model.model else {
            return Ok(None);
        };
        let text = world.text(&path);
        let mut ranges = Ranges::new(world, &model.sources);
        let mut all = Vec::new();
        for (at, command) in resolved.commands.iter().enumerate() {
            if command.span.file == model.file && !command.span.is_empty() {
                let range = ranges.range(command.span);
                let number = u64::try_from(at).unwrap_or(u64::MAX);
                let verdict = text
                    .as_deref()
                    .and_then(|text| world.verdicts.get(&path, number, text));
                let title = match verdict {
                    Some(verdict) => format!("{}: {verdict}", command.label),
                    None => format!("run {}", command.label),
                };
                let arguments = vec![json!(own.as_str()), json!(at)];
                all.push(lens(range, title, commands::RUN, arguments.clone()));
                let title = "show instances".to_owned();
                all.push(lens(range, title, commands::INSTANCE, arguments));
            }
        }
        return Ok(Some(all));
    }
    let Some(report) = world.report(&path)? else {
        return Ok(None);
    };
    let title = match (report.is_deployable(), report.findings.len()) {
        (true, 0) => "deployable".to_owned(),
        (true, 1) => "deployable, 1 finding".to_owned(),
        (true, n) => format!("deployable, {n} findings"),
        (false, 1) => "not deployable, 1 finding".to_owned(),
        (false, n) => format!("not deployable, {n} findings"),
    };
    let arguments = vec![json!(own.as_str())];
    let first = Range::default();
    Ok(Some(vec![lens(
        first,
        title,
        commands::ALL_INPUTS,
        arguments,
    )]))
}
