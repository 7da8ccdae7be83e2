//! Reads the firmware's event log, which the kernel keeps as it was when it took over.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::AgentError;
use crate::evidence::MAX_EVENT_LOG;

/// The event log as an open file: it is opened before privileges are dropped and stays open.
pub struct EventLogFile {
    path: PathBuf,
    file: Result<File, String>,
}

impl EventLogFile {
    /// Opens a log. Not every firmware writes one: that it is missing is an error only once somebody asks for it.
    pub fn open(path: &Path) -> Self {
        EventLogFile {
            path: path.to_owned(),
            file: File::open(path).map_err(|error| error.to_string()),
        }
    }

    /// The whole log.
    pub fn read(&mut self) -> Result<Vec<u8>, AgentError> {
        let unreadable = |reason: String| AgentError::Log {
            path: self.path.clone(),
            reason,
        };
        let file = match &mut self.file {
            Ok(file) => file,
            Err(reason) => return Err(unreadable(reason.clone())),
        };
        let mut bytes = Vec::new();
        let limit = u64::try_from(MAX_EVENT_LOG).unwrap_or(u64::MAX);
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.take(limit.saturating_add(1)).read_to_end(&mut bytes))
            .map_err(|error| unreadable(error.to_string()))?;
        if bytes.len() > MAX_EVENT_LOG {
            return Err(unreadable(format!(
                "it is longer than {MAX_EVENT_LOG} bytes"
            )));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_whole_every_time_and_a_missing_one_is_named_when_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("binary_bios_measurements");
        let mut missing = EventLogFile::open(&path);
        assert!(
            missing
                .read()
                .unwrap_err()
                .to_string()
                .contains("binary_bios_measurements")
        );
        std::fs::write(&path, b"events").unwrap();
        let mut log = EventLogFile::open(&path);
        assert_eq!(log.read().unwrap(), b"events");
        assert_eq!(log.read().unwrap(), b"events");
        std::fs::write(&path, vec![0; MAX_EVENT_LOG + 1]).unwrap();
        assert!(log.read().is_err());
    }
}
