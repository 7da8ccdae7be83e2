//! What changed between two versions of an image.

use serde::Serialize;

use super::model::{DigestSet, ImageReference, PathText};

/// What happened to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "lowercase")]
pub enum Change {
    /// Only in the new version.
    Added {
        /// The file.
        path: PathText,
        /// Its digests.
        digests: DigestSet,
    },
    /// Only in the old version.
    Removed {
        /// The file.
        path: PathText,
        /// Its digests.
        digests: DigestSet,
    },
    /// In both, with another content.
    Changed {
        /// The file.
        path: PathText,
        /// What is accepted only in the old version.
        old: DigestSet,
        /// What is accepted only in the new version.
        new: DigestSet,
    },
}

/// The differences between two versions of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImageDiff {
    /// File by file, ordered by path.
    pub changes: Vec<Change>,
    /// How many files are the same.
    pub unchanged: usize,
}

/// Compares two versions of an image.
pub fn diff(old: &ImageReference, new: &ImageReference) -> ImageDiff {
    let mut changes = Vec::new();
    let mut unchanged = 0;
    let paths: std::collections::BTreeSet<&PathText> =
        old.files.keys().chain(new.files.keys()).collect();
    for path in paths {
        match (old.files.get(path), new.files.get(path)) {
            (Some(before), Some(after)) if before == after => unchanged += 1,
            (Some(before), Some(after)) => changes.push(Change::Changed {
                path: path.clone(),
                old: before.difference(after).copied().collect(),
                new: after.difference(before).copied().collect(),
            }),
            (Some(digests), None) => changes.push(Change::Removed {
                path: path.clone(),
                digests: digests.clone(),
            }),
            (None, Some(digests)) => changes.push(Change::Added {
                path: path.clone(),
                digests: digests.clone(),
            }),
            (None, None) => {}
        }
    }
    ImageDiff { changes, unchanged }
}

impl std::fmt::Display for ImageDiff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (mut added, mut removed, mut changed) = (0, 0, 0);
        for change in &self.changes {
            match change {
                Change::Added { path, .. } => {
                    added += 1;
                    writeln!(f, "+ {path}")?;
                }
                Change::Removed { path, .. } => {
                    removed += 1;
                    writeln!(f, "- {path}")?;
                }
                Change::Changed { path, .. } => {
                    changed += 1;
                    writeln!(f, "~ {path}")?;
                }
            }
        }
        write!(
            f,
            "{added} added, {removed} removed, {changed} changed, {} unchanged",
            self.unchanged
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::HashAlg;

    #[test]
    fn tells_added_removed_and_changed_files() {
        let version = |files: &[(&str, &str)]| ImageReference {
            files: files
                .iter()
                .map(|(path, content)| {
                    let digest = HashAlg::Sha256.hash(&[content.as_bytes()]);
                    ((*path).into(), [digest].into())
                })
                .collect(),
            ..ImageReference::default()
        };
        let old = version(&[("/a", "1"), ("/b", "1"), ("/c", "1")]);
        let new = version(&[("/a", "1"), ("/b", "2"), ("/d", "1")]);
        let found = diff(&old, &new);
        assert_eq!(
            found.to_string(),
            "~ /b\n- /c\n+ /d\n1 added, 1 removed, 1 changed, 1 unchanged"
        );
        assert!(diff(&old, &old).changes.is_empty());
    }
}
