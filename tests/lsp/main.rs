//! `locus lsp`, spoken to as editors do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    missing_docs,
    unreachable_pub,
    reason = "a test fails by panicking"
)]

mod client;
mod completing;
mod compose;
mod conversation;
mod editing;
mod emacs;
mod half;
mod kubernetes;
mod mending;
mod models;
mod neovim;
mod protocol;
mod random;
mod renaming;
mod settings;
mod tosca;
mod vscode;

use std::path::Path;

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
