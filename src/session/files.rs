//! The files of a session: those of the disk, and unsaved text over them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use locus_frontends::language::render::Rendering;
use locus_frontends::loader::{LoadError, Loader, PathKind, normalize};

/// Where a session finds files that no overlay hides.
pub type Disk = Arc<dyn Loader + Send + Sync>;

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Loader for FileSystem {
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

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let entries = std::fs::read_dir(path).ok()?;
        let files = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let is_file = entry.metadata().is_ok_and(|metadata| metadata.is_file());
            is_file.then(|| entry.file_name().into_string().ok())?
        });
        let mut names: Vec<String> = files.collect();
        names.sort_unstable();
        Some(names)
    }
}

/// Why a file could not be read, without the number that the system gives it.
pub fn why(error: &std::io::Error) -> String {
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

/// Files with unsaved text over them. A clone shares the text.
#[derive(Clone)]
pub struct Files {
    disk: Disk,
    overlays: Arc<BTreeMap<String, Arc<[u8]>>>,
    rendered: Arc<BTreeMap<String, Option<Arc<Rendering>>>>,
}

impl Files {
    pub(super) fn new(disk: Disk) -> Self {
        Files {
            disk,
            overlays: Arc::default(),
            rendered: Arc::default(),
        }
    }

    /// Notes that the text that is put over a file was made of it.
    pub(super) fn add_rendering(&mut self, path: &str, rendering: Rendering) {
        Arc::make_mut(&mut self.rendered).insert(key(path), Some(Arc::new(rendering)));
    }

    /// Notes that a file is checked as a part of what was rendered.
    pub(super) fn add_rendered_part(&mut self, path: &str) {
        Arc::make_mut(&mut self.rendered).insert(key(path), None);
    }

    /// What was made of a file, if it is checked in its place.
    pub(super) fn rendering(&self, path: &str) -> Option<Arc<Rendering>> {
        self.rendered_as(path).flatten()
    }

    /// What a file was rendered to; nothing, when it is a part of another.
    pub(super) fn rendered_as(&self, path: &str) -> Option<Option<Arc<Rendering>>> {
        if self.rendered.is_empty() {
            return None;
        }
        self.rendered.get(&key(path)).cloned()
    }

    /// Whether anything was rendered.
    pub(super) fn has_renderings(&self) -> bool {
        !self.rendered.is_empty()
    }

    /// What the disk has at a path, whatever is put over it.
    pub(super) fn on_disk(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        self.disk.load(path)
    }

    /// Puts text over a file, or takes it away.
    pub(super) fn overlay(&mut self, path: &str, content: Option<Arc<[u8]>>) {
        let overlays = Arc::make_mut(&mut self.overlays);
        match content {
            Some(content) => overlays.insert(key(path), content),
            None => overlays.remove(&key(path)),
        };
    }

    /// The paths that text is put over.
    pub fn overlays(&self) -> impl Iterator<Item = &str> {
        self.overlays.keys().map(String::as_str)
    }
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.overlays()).finish()
    }
}

/// One name for a file, however it is written.
fn key(path: &str) -> String {
    if path == "-" {
        return path.to_owned();
    }
    let absolute = std::path::absolute(Path::new(path));
    normalize(&absolute.map_or_else(|_| path.to_owned(), |path| path.display().to_string()))
}

impl Loader for Files {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        if !self.overlays.is_empty()
            && let Some(content) = self.overlays.get(&key(path))
        {
            return Ok(content.clone());
        }
        self.disk.load(path)
    }

    fn kind(&self, path: &str) -> Option<PathKind> {
        if !self.overlays.is_empty() {
            let path = key(path);
            if self.overlays.contains_key(&path) {
                return Some(PathKind::File);
            }
            // A folder that only unsaved files are in is a folder.
            let below = format!("{}/", path.trim_end_matches('/'));
            let mut inside = self.overlays.range(below.clone()..);
            if inside
                .next()
                .is_some_and(|(path, _)| path.starts_with(&below))
            {
                return Some(PathKind::Directory);
            }
        }
        self.disk.kind(path)
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let known = self.disk.list(path);
        if self.overlays.is_empty() {
            return known;
        }
        let below = format!("{}/", key(path).trim_end_matches('/'));
        let inside = self.overlays.keys().filter_map(|file| {
            let name = file.strip_prefix(&below)?;
            (!name.contains('/')).then(|| name.to_owned())
        });
        let mut names: Vec<String> = known.into_iter().flatten().chain(inside).collect();
        names.sort_unstable();
        names.dedup();
        Some(names)
    }
}

/// Something that was asked of the files, and the answer.
#[derive(Clone, Debug)]
enum Asked {
    Content(String, Result<Arc<[u8]>, LoadError>),
    Kind(String, Option<PathKind>),
    List(String, Option<Vec<String>>),
}

/// What was at a path when it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A file, which was read.
    Content(String, Arc<[u8]>),
    /// A file or folder; what is in it was not asked, or could not be read.
    Present(String),
    /// A folder, and the names of the files in it.
    Listed(String, Vec<String>),
    /// Nothing.
    Absent(String),
}

impl Seen {
    /// The path.
    pub fn path(&self) -> &str {
        match self {
            Seen::Content(path, _)
            | Seen::Present(path)
            | Seen::Listed(path, _)
            | Seen::Absent(path) => path,
        }
    }
}

/// Everything that was read, and looked for and not found.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    asked: Vec<Asked>,
}

impl Trace {
    /// Whether everything would be answered as it was.
    pub(super) fn holds(&self, files: &Files) -> bool {
        self.asked.iter().all(|asked| match asked {
            Asked::Content(path, answer) => match (files.load(path), answer) {
                (Ok(now), Ok(then)) => Arc::ptr_eq(&now, then) || now == *then,
                (Err(now), Err(then)) => now == *then,
                _ => false,
            },
            Asked::Kind(path, answer) => files.kind(path) == *answer,
            Asked::List(path, answer) => files.list(path) == *answer,
        })
    }

    /// What was seen at each path.
    pub(super) fn seen(&self) -> Vec<Seen> {
        let mut seen: BTreeMap<&str, Seen> = BTreeMap::new();
        for asked in &self.asked {
            match asked {
                Asked::Content(path, Ok(bytes)) => {
                    let content = Seen::Content(path.clone(), bytes.clone());
                    seen.insert(path, content);
                }
                Asked::Content(path, Err(error)) if !error.missing => {
                    seen.entry(path).or_insert(Seen::Present(path.clone()));
                }
                Asked::Kind(path, Some(PathKind::File | PathKind::Directory)) => {
                    seen.entry(path).or_insert(Seen::Present(path.clone()));
                }
                Asked::List(path, Some(names)) => {
                    let listed = Seen::Listed(path.clone(), names.clone());
                    seen.insert(path, listed);
                }
                Asked::Content(path, Err(_)) | Asked::Kind(path, Some(PathKind::Missing)) => {
                    seen.entry(path).or_insert(Seen::Absent(path.clone()));
                }
                Asked::Kind(_, None) | Asked::List(_, None) => {}
            }
        }
        seen.into_values().collect()
    }

    /// Adds what another has seen.
    pub(super) fn extend(&mut self, other: &Trace) {
        self.asked.extend(other.asked.iter().cloned());
    }

    /// The files that were asked for, found or not.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.asked.iter().map(|asked| match asked {
            Asked::Content(path, _) | Asked::Kind(path, _) | Asked::List(path, _) => path.as_str(),
        })
    }
}

/// Files that remember what was asked of them.
pub(super) struct Traced<'a> {
    files: &'a Files,
    trace: Mutex<Trace>,
}

impl<'a> Traced<'a> {
    pub(super) fn new(files: &'a Files) -> Self {
        Traced {
            files,
            trace: Mutex::default(),
        }
    }

    /// What was asked.
    pub(super) fn into_trace(self) -> Trace {
        let trace = self.trace.into_inner();
        trace.unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, asked: Asked) {
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        trace.asked.push(asked);
    }
}

impl Loader for Traced<'_> {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        let answer = self.files.load(path);
        self.note(Asked::Content(path.to_owned(), answer.clone()));
        answer
    }

    fn kind(&self, path: &str) -> Option<PathKind> {
        let answer = self.files.kind(path);
        self.note(Asked::Kind(path.to_owned(), answer));
        answer
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let answer = self.files.list(path);
        self.note(Asked::List(path.to_owned(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_frontends::loader::MemoryLoader;

    #[test]
    fn unsaved_text_hides_the_disk_until_it_is_taken_away() {
        let mut files = Files::new(Arc::new(MemoryLoader::new().with("a", "disk")));
        assert_eq!(&*files.load("a").unwrap(), b"disk");
        files.overlay("./b/../a", Some(b"unsaved".as_slice().into()));
        files.overlay("new/c", Some(b"c".as_slice().into()));
        assert_eq!(&*files.load("a").unwrap(), b"unsaved");
        assert_eq!(files.kind("new/c"), Some(PathKind::File));
        assert_eq!(files.kind("new"), Some(PathKind::Directory));
        assert_eq!(files.kind("ne"), Some(PathKind::Missing));
        files.overlay("a", None);
        assert_eq!(&*files.load("a").unwrap(), b"disk");
    }

    #[test]
    fn a_trace_holds_until_an_answer_changes() {
        let mut files = Files::new(Arc::new(MemoryLoader::new().with("a", "1")));
        let trace = {
            let traced = Traced::new(&files);
            let _ = traced.load("a");
            let _ = traced.load("b");
            let _ = traced.kind("c");
            let _ = traced.list("d");
            traced.into_trace()
        };
        assert!(trace.holds(&files));
        for path in ["a", "b", "c", "d/e"] {
            files.overlay(path, Some(b"2".as_slice().into()));
            assert!(!trace.holds(&files), "{path}");
            files.overlay(path, None);
            assert!(trace.holds(&files), "{path}");
        }
        files.overlay("a", Some(b"1".as_slice().into()));
        assert!(trace.holds(&files), "the same text is the same");
    }
}
