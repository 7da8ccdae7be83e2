//! Which files to check.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use locus_core::Diagnostic;
use locus_frontends::kind;

/// The files named, and those in the folders named that may be configurations; what `.gitignore`
/// leaves out is left out.
pub(super) fn walk(paths: &[PathBuf], unchecked: &mut Vec<Diagnostic>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        for entry in WalkBuilder::new(path).sort_by_file_path(Path::cmp).build() {
            match entry {
                Ok(entry) if entry.path().is_file() && is_candidate(entry.path()) => {
                    files.push(entry.into_path());
                }
                Ok(_) => {}
                Err(error) => unchecked.push(Diagnostic::error("io", error.to_string())),
            }
        }
        if files.len() == before {
            let message = format!("there is no configuration in `{}`", path.display());
            unchecked.push(Diagnostic::warning("kind", message));
        }
    }
    files
}

fn is_candidate(path: &Path) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| matches!(extension, "yaml" | "yml" | "template"))
}

/// The file that Compose reads before this one, and this one with it: `compose.yaml` for
/// `compose.override.yaml`.
pub(super) fn base(path: &Path) -> Option<PathBuf> {
    let bases = kind::overridden(&path.display().to_string())?;
    bases.iter().map(PathBuf::from).find(|base| base.is_file())
}
