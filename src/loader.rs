//! Models from the file system.

use std::path::Path;
use std::sync::Arc;

use locus_frontends::loader::{LoadError, PathKind};

/// Reads what a model opens from the file system.
pub(crate) struct FileSystem;

impl locus_grammar::Loader for FileSystem {
    fn load(&self, path: &str) -> Option<String> {
        read(Path::new(path)).ok()
    }
}

impl locus_frontends::loader::Loader for FileSystem {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        std::fs::read(path)
            .map(Into::into)
            .map_err(|error| LoadError {
                missing: error.kind() == std::io::ErrorKind::NotFound,
                reason: why(&error),
            })
    }

    fn kind(&self, path: &str) -> Option<PathKind> {
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Some(PathKind::Directory),
            Ok(_) => Some(PathKind::File),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(PathKind::Missing),
            Err(_) => None,
        }
    }
}

/// Files of the file system, and what came by standard input as `-`.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) standard_input: Option<Arc<[u8]>>,
}

impl locus_frontends::loader::Loader for Given {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        match &self.standard_input {
            Some(bytes) if path == "-" => Ok(bytes.clone()),
            _ => locus_frontends::loader::Loader::load(&FileSystem, path),
        }
    }

    fn kind(&self, path: &str) -> Option<PathKind> {
        locus_frontends::loader::Loader::kind(&FileSystem, path)
    }
}

/// Why a file could not be read, without the number that the system gives it.
pub(crate) fn why(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => {
            let text = error.to_string();
            let end = text.find(" (os error").unwrap_or(text.len());
            text.get(..end).unwrap_or(&text).to_lowercase()
        }
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
