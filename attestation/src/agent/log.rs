//! Reads the kernel's measurement log, from any entry on.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::AgentError;
use crate::digest::HashAlg;
use crate::ima::{skip_entry, template_names};

/// The log as an open file: it is opened before privileges are dropped and stays open.
pub struct LogFile {
    path: PathBuf,
    file: File,
    column: HashAlg,
    /// Where each entry starts; one more for the end of the last whole entry.
    starts: Vec<u64>,
}

/// A part of the log.
pub struct LogPart {
    /// The number of its first entry.
    pub first: u64,
    /// Its entries, in the kernel's binary form.
    pub bytes: Vec<u8>,
}

impl LogFile {
    /// Opens a log in the kernel's binary form; `column` is the hash of its template hashes.
    pub fn open(path: &Path, column: HashAlg) -> Result<Self, AgentError> {
        let file = File::open(path).map_err(|error| AgentError::Log {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(LogFile {
            path: path.to_owned(),
            file,
            column,
            starts: vec![0],
        })
    }

    /// The hash of the log's template hashes.
    pub fn column(&self) -> HashAlg {
        self.column
    }

    /// The names of the templates in the log.
    pub fn templates(&mut self) -> Result<Vec<String>, AgentError> {
        let bytes = self.read(0)?;
        let names = template_names(&bytes, self.column).into_iter();
        Ok(names
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect())
    }

    /// Everything from an entry on; from entry 0 if the log does not go that far (the machine was
    /// booted since, and the asker has to know).
    pub fn from(&mut self, entry: u64) -> Result<LogPart, AgentError> {
        self.index()?;
        let known = usize::try_from(entry)
            .ok()
            .and_then(|entry| self.starts.get(entry).copied());
        let (first, start) = match known {
            Some(start) => (entry, start),
            None => (0, 0),
        };
        let end = self.starts.last().copied().unwrap_or(0);
        let mut bytes = self.read(start)?;
        // What the kernel is just writing belongs to the next answer.
        let whole = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        bytes.truncate(whole);
        Ok(LogPart { first, bytes })
    }

    /// Finds the entries that were added since the last time.
    fn index(&mut self) -> Result<(), AgentError> {
        let length = self.length()?;
        if self.starts.last().is_some_and(|end| length < *end) {
            // A log only grows; one that shrank is that of another boot.
            self.starts = vec![0];
        }
        let from = self.starts.last().copied().unwrap_or(0);
        let bytes = self.read(from)?;
        let mut rest = bytes.as_slice();
        let mut end = from;
        // An entry cut at the end is still being written; a log that is broken further inside is sent as far as it
        // goes. What the fields mean is the verifier's business.
        while let Some(size) = skip_entry(rest, self.column) {
            rest = rest.get(size..).unwrap_or(&[]);
            end = end.saturating_add(u64::try_from(size).unwrap_or(u64::MAX));
            self.starts.push(end);
        }
        Ok(())
    }

    /// The length, by reading: files of the kernel's security file system claim to be empty.
    fn length(&mut self) -> Result<u64, AgentError> {
        let claimed = self.file.metadata().map(|data| data.len());
        match claimed {
            Ok(0) | Err(_) => Ok(u64::MAX),
            Ok(length) => Ok(length),
        }
    }

    fn read(&mut self, from: u64) -> Result<Vec<u8>, AgentError> {
        let mut bytes = Vec::new();
        self.file
            .seek(SeekFrom::Start(from))
            .and_then(|_| self.file.read_to_end(&mut bytes))
            .map_err(|error| AgentError::Log {
                path: self.path.clone(),
                reason: error.to_string(),
            })?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ima::LogWriter;
    use std::io::Write as _;

    #[test]
    fn parts_start_where_asked_and_end_with_a_whole_entry() {
        let mut writer = LogWriter::new(HashAlg::Sha1, &[HashAlg::Sha256]);
        for name in ["/a", "/b", "/c"] {
            writer
                .ng(HashAlg::Sha256.hash(&[name.as_bytes()]), name)
                .unwrap();
        }
        let whole = writer.log().to_vec();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file = File::create(&path).unwrap();
        file.write_all(&whole).unwrap();
        let mut log = LogFile::open(&path, HashAlg::Sha1).unwrap();
        assert_eq!(log.from(0).unwrap().bytes, whole);
        let last = log.from(2).unwrap();
        assert_eq!((last.first, last.bytes.as_slice()), (2, writer.log_from(2)));
        let none = log.from(3).unwrap();
        assert_eq!(
            (none.first, none.bytes.len()),
            (3, 0),
            "nothing new is no failure"
        );
        let beyond = log.from(4).unwrap();
        assert_eq!((beyond.first, beyond.bytes), (0, whole.clone()));

        writer.ng(HashAlg::Sha256.hash(&[b"/d"]), "/d").unwrap();
        let (half, rest) = writer.log_from(3).split_at(10);
        file.write_all(half).unwrap();
        assert_eq!(log.from(3).unwrap().bytes.len(), 0, "half an entry waits");
        file.write_all(rest).unwrap();
        assert_eq!(log.from(3).unwrap().bytes, writer.log_from(3));
    }

    #[test]
    fn a_missing_log_is_named() {
        let error = LogFile::open(Path::new("/nowhere/log"), HashAlg::Sha1);
        assert!(error.err().unwrap().to_string().contains("/nowhere/log"));
    }
}
