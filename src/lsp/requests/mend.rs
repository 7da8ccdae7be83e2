//! Edits that are looked for when somebody asks: the fewest after which nothing is found.

use std::ops::Range;

use lsp_types::{CodeAction, CodeActionKind, Uri};
use serde_json::{Value, json};

use super::Failure;
use super::rename::{Edits, workspace_edit};
use crate::lsp::uri;
use crate::lsp::world::{World, absolute};

/// An action whose edits are looked for once it is chosen.
pub(super) fn action(uri: &Uri) -> CodeAction {
    CodeAction {
        title: "Look for the fewest edits that mend everything".to_owned(),
        kind: Some(CodeActionKind::QUICKFIX),
        data: Some(json!({ "mend": uri })),
        ..CodeAction::default()
    }
}

/// Adds the edits to an action that was chosen.
pub(super) fn resolve(world: &World, action: CodeAction) -> Result<CodeAction, Failure> {
    let data = action.data.as_ref();
    let uri = data
        .and_then(|data| data.get("mend"))
        .and_then(Value::as_str);
    let Some(uri) = uri.and_then(|uri| uri.parse::<Uri>().ok()) else {
        return Ok(action);
    };
    let path = uri::to_path(&uri);
    let projects = world.projects_of(&path);
    let Some(project) = projects.first() else {
        return Err(Failure::Refused("this is not a configuration".to_owned()));
    };
    let (given, cancel) = (world.given(), &world.cancel);
    let found = world.snapshot.suggest(project, &given, false, cancel)?;
    let Some(found) = found.filter(|found| !found.files.is_empty()) else {
        let message = "no edits were found that mend this".to_owned();
        return Err(Failure::Refused(message));
    };
    let mut edits = Edits::new();
    for file in &found.files {
        let (range, new) = changed(&file.before, &file.after);
        edits.insert(absolute(&file.path), vec![(range, new.to_owned())]);
    }
    Ok(CodeAction {
        edit: Some(workspace_edit(world, edits)),
        ..action
    })
}

/// What differs between two texts, in whole lines: the bytes of the first, and what stands there in the second.
fn changed<'t>(before: &str, after: &'t str) -> (Range<usize>, &'t str) {
    let lines = before
        .split_inclusive('\n')
        .zip(after.split_inclusive('\n'));
    let same = lines.take_while(|(a, b)| a == b).map(|(a, _)| a.len());
    let start: usize = same.sum();
    let (rest_before, rest_after) = (
        before.get(start..).unwrap_or_default(),
        after.get(start..).unwrap_or_default(),
    );
    let lines = rest_before
        .split_inclusive('\n')
        .rev()
        .zip(rest_after.split_inclusive('\n').rev());
    let same = lines.take_while(|(a, b)| a == b).map(|(a, _)| a.len());
    let end: usize = same.sum();
    let new = rest_after.get(..rest_after.len() - end).unwrap_or_default();
    (start..before.len() - end, new)
}

#[cfg(test)]
mod tests {
    use super::changed;

    #[test]
    fn only_the_lines_between_what_is_the_same_change() {
        for (before, after, range, new) in [
            ("a\nb\nc\n", "a\nx\nc\n", 2..4, "x\n"),
            ("a\nb\n", "a\nb\nc\n", 4..4, "c\n"),
            ("a\na\n", "a\n", 2..4, ""),
            ("a", "b", 0..1, "b"),
            ("a\n", "a\n", 2..2, ""),
        ] {
            assert_eq!(changed(before, after), (range, new), "{before:?}");
        }
    }
}
