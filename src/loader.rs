//! Models from the file system.

use std::path::Path;

/// Reads what a model opens from the file system.
pub(crate) struct FileSystem;

impl locus_grammar::Loader for FileSystem {
    fn load(&self, path: &str) -> Option<String> {
        read(Path::new(path)).ok()
    }
}

/// Reads a text file; `-` is standard input. Bytes that are not UTF-8 become replacement characters
/// so that the parser can point at them.
pub(crate) fn read(path: &Path) -> std::io::Result<String> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)?;
        bytes
    } else {
        std::fs::read(path)?
    };
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}
