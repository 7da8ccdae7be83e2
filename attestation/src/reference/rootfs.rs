//! Reference values from a root file system.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::model::{DigestSet, FileSet, PathText};
use crate::digest::{HashAlg, Hasher};

/// A file or folder that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be read: {error}", path.display())]
pub struct RootError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    pub error: std::io::Error,
}

/// The files below a folder, named as if it were the root, with digests of some algorithms.
///
/// Symbolic links are not followed, as what is measured is the file they lead to; other file systems
/// mounted below are left out. All errors are returned, and a list with errors is not complete.
pub fn from_root(root: &Path, algorithms: &[HashAlg]) -> (FileSet, Vec<RootError>) {
    let mut walk = Walk {
        root: root.to_owned(),
        algorithms,
        files: FileSet::new(),
        errors: Vec::new(),
        device: None,
    };
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if let Err(error) = walk.folder(&folder, &mut folders) {
            walk.errors.push(RootError {
                path: folder,
                error,
            });
        }
    }
    (walk.files, walk.errors)
}

struct Walk<'a> {
    root: PathBuf,
    algorithms: &'a [HashAlg],
    files: FileSet,
    errors: Vec<RootError>,
    device: Option<u64>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, folders: &mut Vec<PathBuf>) -> std::io::Result<()> {
        let device = device_of(&fs::symlink_metadata(folder)?);
        if *self.device.get_or_insert(device) != device {
            return Ok(());
        }
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let kind = fs::symlink_metadata(&path)?.file_type();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && let Err(error) = self.file(&path)
            {
                self.errors.push(RootError { path, error });
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> std::io::Result<()> {
        let digests = digests_of(&mut fs::File::open(path)?, self.algorithms)?;
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let mut name = vec![b'/'];
        name.extend_from_slice(inside.as_os_str().as_encoded_bytes());
        self.files.insert(PathText::new(name), digests);
        Ok(())
    }
}

#[cfg(unix)]
fn device_of(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::dev(metadata)
}

#[cfg(not(unix))]
fn device_of(_: &fs::Metadata) -> u64 {
    0
}

/// The digests of some content, read once for all algorithms.
pub(super) fn digests_of(
    content: &mut impl Read,
    algorithms: &[HashAlg],
) -> std::io::Result<DigestSet> {
    let mut hashers: Vec<Hasher> = algorithms.iter().map(|alg| Hasher::new(*alg)).collect();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = content.read(&mut buffer)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
            return Ok(hashers.into_iter().map(Hasher::finish).collect());
        };
        for hasher in &mut hashers {
            hasher.update(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_files_from_the_root_and_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        fs::write(root.join("usr/bin/tool"), "tool").unwrap();
        fs::write(root.join("empty"), "").unwrap();
        std::os::unix::fs::symlink("usr/bin", root.join("bin")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("escape")).unwrap();
        let (files, errors) = from_root(root, &[HashAlg::Sha1, HashAlg::Sha256]);
        assert!(errors.is_empty());
        let names: Vec<String> = files.keys().map(ToString::to_string).collect();
        assert_eq!(names, ["/empty", "/usr/bin/tool"]);
        let tool: PathText = "/usr/bin/tool".into();
        assert_eq!(
            files[&tool],
            [
                HashAlg::Sha1.hash(&[b"tool"]),
                HashAlg::Sha256.hash(&[b"tool"])
            ]
            .into()
        );
    }

    #[test]
    fn a_missing_root_is_an_error() {
        let (files, errors) = from_root(Path::new("/nonexistent/root"), &[HashAlg::Sha256]);
        assert!(files.is_empty());
        assert_eq!(errors.len(), 1);
    }
}
