//! What can be done about findings.

use locus_core::diagnostic::{Applicability, Fix};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse,
    NumberOrString, Range,
};

use super::rename::{Edits, workspace_edit};
use super::{Failure, mend};
use crate::lsp::uri;
use crate::lsp::world::{Ranges, World, absolute, bytes};
use crate::session::{Report, comment_for};

/// The fixes of the findings at a place.
pub(super) fn actions(
    world: &World,
    params: CodeActionParams,
) -> Result<Option<CodeActionResponse>, Failure> {
    let path = uri::to_path(&params.text_document.uri);
    if !world.options.actions {
        return Ok(None);
    }
    let only = params.context.only.as_ref();
    let wants = |kind: &CodeActionKind| {
        only.is_none_or(|only| {
            only.iter()
                .any(|one| kind.as_str().starts_with(one.as_str()))
        })
    };
    let mut all: Vec<CodeActionOrCommand> = Vec::new();
    let mut ignores: Vec<CodeActionOrCommand> = Vec::new();
    let mut safe: Vec<&Fix> = Vec::new();
    let reports = world.reports(&path)?;
    for report in &reports {
        let mut ranges = Ranges::new(world, &report.sources);
        for finding in &report.findings {
            let Some(span) = finding.primary() else {
                continue;
            };
            if absolute(report.sources.name(span.file)) != path {
                continue;
            }
            let own = finding.fixes.iter();
            safe.extend(
                own.filter(|fix| fix.applicability == Applicability::Safe)
                    .take(1),
            );
            let range = ranges.range(span);
            if !touches(range, params.range) || !wants(&CodeActionKind::QUICKFIX) {
                continue;
            }
            let said = params.context.diagnostics.iter().find(|said| {
                said.range == range
                    && said.code == Some(NumberOrString::String(finding.code.clone()))
            });
            if let Some((at, comment)) = comment_for(
                report.sources.text(span.file),
                span.start as usize,
                &finding.code,
            ) {
                let edits = Edits::from([(path.clone(), vec![(at..at, comment)])]);
                ignores.push(CodeActionOrCommand::CodeAction(CodeAction {
                    title: format!("Ignore {} here, with a reason", finding.code),
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: said.map(|said| vec![said.clone()]),
                    edit: Some(workspace_edit(world, edits)),
                    ..CodeAction::default()
                }));
            }
            for (at, fix) in finding.fixes.iter().enumerate() {
                let action = CodeAction {
                    title: fix.title.clone(),
                    kind: Some(CodeActionKind::QUICKFIX),
                    diagnostics: said.map(|said| vec![said.clone()]),
                    edit: Some(workspace_edit(world, edits(report, &[fix]))),
                    is_preferred: Some(at == 0 && fix.applicability == Applicability::Safe),
                    ..CodeAction::default()
                };
                let action = CodeActionOrCommand::CodeAction(action);
                if !all.contains(&action) {
                    all.push(action);
                }
            }
        }
    }
    // What has no fix of its own may have one that takes a search.
    if world.options.resolves && all.is_empty() && !ignores.is_empty() {
        let action = mend::action(&params.text_document.uri);
        all.push(CodeActionOrCommand::CodeAction(action));
    }
    if wants(&CodeActionKind::QUICKFIX) {
        all.extend(at_name(world, &path, params.range)?);
    }
    ignores.dedup();
    all.append(&mut ignores);
    if let [report] = reports.as_slice()
        && wants(&CodeActionKind::SOURCE_FIX_ALL)
        && !safe.is_empty()
    {
        let count = safe.len();
        all.push(CodeActionOrCommand::CodeAction(CodeAction {
            title: format!("Apply all safe fixes ({count})"),
            kind: Some(CodeActionKind::SOURCE_FIX_ALL),
            edit: Some(workspace_edit(world, edits(report, &safe))),
            ..CodeAction::default()
        }));
    }
    Ok(Some(all))
}

/// What can be done about the name at a place: what is used and defined nowhere is created, and an input is limited to what
/// its uses take.
fn at_name(world: &World, path: &str, range: Range) -> Result<Vec<CodeActionOrCommand>, Failure> {
    let mut actions = Vec::new();
    let (Some(text), Some(language)) = (world.text(path), world.language(path)) else {
        return Ok(actions);
    };
    let offset = world.offset(&text, range.start);
    let Some(here) = world.name_at(path, offset)? else {
        return Ok(actions);
    };
    let together = world.together(path)?;
    let names = world.snapshot.names_of(language, &[path.to_owned()]);
    let mut names = names.iter().flat_map(|(_, names)| names);
    let Some(name) = names.find(|name| bytes(name.span) == here.here) else {
        return Ok(actions);
    };
    let mut add = |title: String, (at, new): (usize, String)| {
        let edits = Edits::from([(path.to_owned(), vec![(at..at, new)])]);
        actions.push(CodeActionOrCommand::CodeAction(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            edit: Some(workspace_edit(world, edits)),
            ..CodeAction::default()
        }));
    };
    if here.defined.is_empty() {
        if let Some(edit) = world.snapshot.create(language, path, name) {
            add(format!("Create the {} `{}`", here.what, here.name), edit);
        }
        return Ok(actions);
    }
    let limits = world.snapshot.constrain(language, path, &together, name);
    for (limit, at, new) in limits {
        add(format!("Constrain `{}`: {limit}", here.name), (at, new));
    }
    Ok(actions)
}

/// The changes of fixes; one that meets another before it is left out.
fn edits(report: &Report, fixes: &[&Fix]) -> Edits {
    let mut all = Edits::new();
    for fix in fixes {
        let meets = fix.edits.iter().any(|edit| {
            let known = all.get(&absolute(report.sources.name(edit.span.file)));
            let new = bytes(edit.span);
            known.is_some_and(|known| {
                let mut known = known.iter();
                known.any(|(old, _)| old.start <= new.end && new.start <= old.end)
            })
        });
        if meets {
            continue;
        }
        for edit in &fix.edits {
            let path = absolute(report.sources.name(edit.span.file));
            let own = all.entry(path).or_default();
            own.push((bytes(edit.span), edit.text.clone()));
        }
    }
    all
}

fn touches(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}
