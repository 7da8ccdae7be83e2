//! Files that a configuration names: the front-ends ask for them, the caller knows where they are.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Gives the content of files by path.
///
/// Paths use `/` and are relative to what the caller calls the working directory, or absolute; the
/// front-ends join and normalise them with [`join`].
pub trait Loader {
    /// The content of a file.
    ///
    /// # Errors
    /// When there is none, or it may not be read.
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError>;

    /// What is at a path; `None` when the loader cannot tell.
    fn kind(&self, path: &str) -> Option<PathKind> {
        let _ = path;
        None
    }

    /// The names of the files in a folder, sorted; `None` when the loader cannot tell.
    fn list(&self, path: &str) -> Option<Vec<String>> {
        let _ = path;
        None
    }
}

impl<L: Loader + ?Sized> Loader for &L {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        (**self).load(path)
    }

    fn kind(&self, path: &str) -> Option<PathKind> {
        (**self).kind(path)
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        (**self).list(path)
    }
}

/// Whoever gives files to one front-end gives them to all.
impl<L: Loader> crate::hot::Loader for L {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        match Loader::load(self, path) {
            Ok(bytes) => Ok(bytes.to_vec()),
            Err(error) => Err(error.reason),
        }
    }
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// Nothing.
    Missing,
}

/// Why a file has no content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Whether there is no such file, as opposed to one that cannot be read.
    pub missing: bool,
    /// The reason, lower case, for a message.
    pub reason: String,
}

impl LoadError {
    /// There is no such file.
    pub fn missing() -> Self {
        LoadError {
            missing: true,
            reason: "there is no such file".into(),
        }
    }
}

/// Files held in memory, for tests and editors.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    files: BTreeMap<String, Arc<[u8]>>,
}

impl MemoryLoader {
    /// No files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file.
    #[must_use]
    pub fn with(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.insert(path, content);
        self
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, path: &str, content: impl AsRef<[u8]>) {
        self.files
            .insert(normalize(path), Arc::from(content.as_ref()));
    }
}

impl Loader for MemoryLoader {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        self.files
            .get(&normalize(path))
            .cloned()
            .ok_or_else(LoadError::missing)
    }

    fn kind(&self, path: &str) -> Option<PathKind> {
        let path = normalize(path);
        if self.files.contains_key(&path) {
            return Some(PathKind::File);
        }
        if path == "." {
            return Some(PathKind::Directory);
        }
        let below = format!("{path}/");
        let inside = self
            .files
            .range(below.clone()..)
            .next()
            .is_some_and(|(file, _)| file.starts_with(&below));
        Some(if inside {
            PathKind::Directory
        } else {
            PathKind::Missing
        })
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let path = normalize(path);
        let inside = |file: &str| {
            let name = match path.as_str() {
                "." => file,
                _ => file.strip_prefix(&path)?.strip_prefix('/')?,
            };
            (!name.contains('/')).then(|| name.to_owned())
        };
        let names = self.files.keys().filter_map(|file| inside(file));
        Some(names.collect())
    }
}

/// A path relative to a directory; an absolute path stays as it is.
pub fn join(directory: &str, path: &str) -> String {
    if path.starts_with('/') || directory.is_empty() || directory == "." {
        normalize(path)
    } else {
        normalize(&format!("{directory}/{path}"))
    }
}

/// The directory that a path is in; `.` when it names none.
pub fn directory(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((directory, _)) => directory,
        None => ".",
    }
}

/// The path without `.`, empty parts, and `..` after a name.
pub fn normalize(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                None if absolute => {}
                _ => parts.push(".."),
            },
            name => parts.push(name),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".into(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_normalised() {
        assert_eq!(join(".", "a.yaml"), "a.yaml");
        assert_eq!(join("dir/sub", "../a.yaml"), "dir/a.yaml");
        assert_eq!(join("dir", "../../a"), "../a");
        assert_eq!(join("dir", "/etc/./a"), "/etc/a");
        assert_eq!(normalize("/.."), "/");
        assert_eq!(normalize("./"), ".");
        assert_eq!(directory("a/b/c.yaml"), "a/b");
        assert_eq!(directory("c.yaml"), ".");
        assert_eq!(directory("/c.yaml"), "/");
    }

    #[test]
    fn files_in_memory_are_found_by_any_spelling() {
        let loader = MemoryLoader::new().with("dir/a.yaml", "x");
        assert_eq!(&*loader.load("./dir/../dir/a.yaml").unwrap(), b"x");
        assert!(loader.load("b.yaml").unwrap_err().missing);
        assert_eq!(loader.kind("dir"), Some(PathKind::Directory));
        assert_eq!(loader.kind("dir/a.yaml"), Some(PathKind::File));
        assert_eq!(loader.kind("di"), Some(PathKind::Missing));
    }
}
