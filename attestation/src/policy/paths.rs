//! Patterns of paths and names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns, of which any may fit: `*` stays within a part of a path, `**` does not.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    texts: Vec<String>,
    set: GlobSet,
}

impl Patterns {
    /// From their texts; the message says what is wrong with the first bad one.
    pub fn new(texts: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, String> {
        let mut builder = GlobSetBuilder::new();
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        for text in &texts {
            builder.add(
                GlobBuilder::new(text)
                    .literal_separator(true)
                    .build()
                    .map_err(|error| error.kind().to_string())?,
            );
        }
        let set = builder.build().map_err(|error| error.to_string())?;
        Ok(Patterns { texts, set })
    }

    /// Whether any of them fits.
    pub fn matches(&self, path: &[u8]) -> bool {
        !self.texts.is_empty() && self.set.is_match(Path::new(OsStr::from_bytes(path)))
    }

    /// As they were written.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

impl Eq for Patterns {}

impl PartialEq for Patterns {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}
