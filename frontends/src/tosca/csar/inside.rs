//! The files of an archive as files among others.

use std::sync::Arc;

use super::Archive;
use crate::loader::{LoadError, Loader, PathKind};

/// Files of an archive, below `package.csar!`, and those outside for folders that the user named.
pub(crate) struct Inside<'l> {
    /// The archive.
    pub archive: &'l Archive,
    /// What stands before the names of its files: `package.csar!`.
    pub root: &'l str,
    /// Everything else.
    pub outside: &'l dyn Loader,
}

impl Inside<'_> {
    /// The name of an entry, of a path below the root.
    fn name<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = path.strip_prefix(self.root)?;
        match below {
            "" => Some(""),
            below => below.strip_prefix('/'),
        }
    }
}

impl Loader for Inside<'_> {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        let Some(name) = self.name(path) else {
            return self.outside.load(path);
        };
        match self.archive.load(name) {
            Ok(Some(content)) => Ok(content),
            Ok(None) if self.archive.has_folder(name) => Err(LoadError {
                missing: false,
                reason: "it is a folder".into(),
            }),
            Ok(None) => Err(LoadError {
                missing: true,
                reason: "there is no such file in the archive".into(),
            }),
            Err(fault) => Err(LoadError {
                missing: false,
                reason: fault.reason().to_owned(),
            }),
        }
    }

    fn kind(&self, path: &str) -> Option<PathKind> {
        let Some(name) = self.name(path) else {
            return self.outside.kind(path);
        };
        Some(if self.archive.has(name) {
            PathKind::File
        } else if name.is_empty() || self.archive.has_folder(name) {
            PathKind::Directory
        } else {
            PathKind::Missing
        })
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let Some(name) = self.name(path) else {
            return self.outside.list(path);
        };
        let inside = |file: &str| {
            let rest = match name {
                "" => file,
                name => file.strip_prefix(name)?.strip_prefix('/')?,
            };
            (!rest.contains('/')).then(|| rest.to_owned())
        };
        Some(self.archive.names().filter_map(inside).collect())
    }
}
