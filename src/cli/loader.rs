//! Models from the file system.

use std::path::Path;

/// Reads what a model opens from the file system.
pub(crate) struct FileSystem;

impl locus_grammar::Loader for FileSystem {
    fn load(&self, path: &str) -> Option<String> {
        read(Path::new(path)).ok()
    }
}

/// Reads the text of a file; `-` is standard input. What is not text is shown as far as it can be, so that a
/// parser points at it.
pub(crate) fn read(path: &Path) -> std::io::Result<String> {
    Ok(match locus_core::decode(&bytes(path)?) {
        Ok(text) => text.into_owned(),
        Err(refused) => refused.shown,
    })
}

/// Reads a file; `-` is standard input.
fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)?;
        Ok(bytes)
    } else {
        std::fs::read(path)
    }
}
