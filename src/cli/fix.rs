//! `locus check --fix`: safe edits, made.

use std::path::{Path, PathBuf};

use crate::session::{Cancel, Given, Project, Snapshot, why};

use super::Exit;

/// Applies the safe edits of all findings, and says on standard error what was done.
pub(super) fn fix(
    snapshot: &Snapshot,
    files: &[PathBuf],
    projects: &[Project],
    given: &Given,
) -> Result<(), Exit> {
    if files.iter().any(|path| path == Path::new("-")) {
        eprintln!("error: `--fix` changes files and cannot change standard input");
        return Err(Exit::Usage);
    }
    let cancel = Cancel::default();
    // Nobody calls it off: Ctrl-C ends the program.
    let checked = snapshot.check_all(files, projects, given, &cancel);
    let mut batch = checked.unwrap_or_default();
    let _ = snapshot.suggest_all(&mut batch, given, true, &cancel);
    for suggestion in &batch.suggestions {
        for changed in &suggestion.files {
            // Somebody else's change is not overwritten.
            let now = std::fs::read(&changed.path);
            if !matches!(&now, Ok(now) if now == changed.before.as_bytes()) {
                eprintln!(
                    "error: `{}` is not fixed: it cannot be read, or is not in plain UTF-8",
                    changed.path
                );
                return Err(Exit::Unanswered);
            }
            if let Err(error) = std::fs::write(&changed.path, &changed.after) {
                eprintln!("error: cannot write `{}`: {}", changed.path, why(&error));
                return Err(Exit::Unanswered);
            }
        }
        for title in &suggestion.titles {
            eprintln!("fixed: {title}");
        }
    }
    Ok(())
}
