//! The files of one boot: logs, registers, quotes.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::quoted::RecordedQuote;
use crate::digest::{Digest, HashAlg, decode_hex};
use crate::ima::{LogError, Templates, ascii, template_names};
use crate::tpm::{PcrValues, Public, StructureError};

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file cannot be read.
    #[error("cannot read `{path}`: {error}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// There is no log.
    #[error(
        "`{0}` has no measurement log: neither `binary_runtime_measurements` nor `ascii_runtime_measurements`"
    )]
    NoLog(PathBuf),
    /// A log is malformed.
    #[error("`{path}` is not a measurement log: {error}")]
    Log {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        error: LogError,
    },
    /// The values of the registers are malformed.
    #[error("`{path}` does not hold PCR values: {reason}")]
    Pcrs {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The key is malformed.
    #[error("`{path}` does not hold a public key of a TPM: {error}")]
    Key {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        error: StructureError,
    },
    /// The nonce is malformed.
    #[error("`{0}` does not hold a nonce in hexadecimal digits")]
    Nonce(PathBuf),
    /// Something else than a file: reading it might never end.
    #[error("`{0}` is not a file")]
    NotAFile(PathBuf),
    /// Longer than any file of a recording.
    #[error("`{0}` is longer than {LONGEST} bytes")]
    TooLong(PathBuf),
}

/// No file of a recording is longer.
const LONGEST: u64 = 1 << 30;

/// What was recorded of one boot.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The log in its binary form.
    pub log: Vec<u8>,
    /// The algorithm of its template hashes.
    pub column: HashAlg,
    /// The same log with template hashes of other banks.
    pub bank_logs: Vec<(HashAlg, Vec<u8>)>,
    /// The templates that it uses.
    pub templates: Templates,
    /// The templates among them whose name is a format; a gate reads them only if its policy names them.
    pub formats: Vec<String>,
    /// The values of the registers.
    pub pcrs: PcrValues,
    /// The quotes, by name.
    pub quotes: BTreeMap<String, RecordedQuote>,
    /// The quotes that cannot be verified, by name, each with the file that is missing.
    pub incomplete: BTreeMap<String, String>,
}

const BINARY: &str = "binary_runtime_measurements";
const ASCII: &str = "ascii_runtime_measurements";

impl Recording {
    /// From a log in its binary or its ASCII form.
    pub fn of_log(path: &Path, column: HashAlg) -> Result<Self, RecordingError> {
        let bytes = read(path)?;
        let is_text = bytes
            .first()
            .is_some_and(|byte| matches!(byte, b' ' | b'0'..=b'9'));
        let mut templates = Templates::default();
        let mut formats = Vec::new();
        let names = if is_text {
            ascii::template_names(&bytes)
        } else {
            template_names(&bytes, column)
        };
        for name in names {
            let Ok(name) = std::str::from_utf8(name) else {
                continue;
            };
            if templates.layout(name.as_bytes()).is_none()
                && templates.add_checked(name, name).is_ok()
            {
                formats.push(name.to_owned());
            }
        }
        let log = if is_text {
            let (log, errors) = ascii::to_binary(&bytes, column, &templates);
            if let Some(error) = errors.into_iter().next() {
                let path = path.to_owned();
                return Err(RecordingError::Log { path, error });
            }
            log
        } else {
            bytes
        };
        Ok(Recording {
            log,
            column,
            bank_logs: Vec::new(),
            templates,
            formats,
            pcrs: PcrValues::default(),
            quotes: BTreeMap::new(),
            incomplete: BTreeMap::new(),
        })
    }

    /// From a folder with files named as the kernel names them; what is not there is left out.
    pub fn of_folder(folder: &Path) -> Result<Self, RecordingError> {
        let (binary, ascii) = (folder.join(BINARY), folder.join(ASCII));
        let mut recording = if is_there(&binary)? {
            Recording::of_log(&binary, HashAlg::Sha1)?
        } else if is_there(&ascii)? {
            Recording::of_log(&ascii, HashAlg::Sha1)?
        } else {
            Recording::of_a_bank(folder)?
        };
        for alg in HashAlg::ALL {
            let path = folder.join(format!("{BINARY}_{alg}"));
            if is_there(&path)? {
                recording.bank_logs.push((alg, read(&path)?));
            }
        }
        let pcrs = folder.join("pcrs.json");
        if is_there(&pcrs)? {
            recording.read_pcrs(&pcrs)?;
        }
        for name in ["quote", "quote-2banks"] {
            recording.read_quote_in(folder, name)?;
        }
        Ok(recording)
    }

    /// From the file of any bank: all have the same entries.
    fn of_a_bank(folder: &Path) -> Result<Self, RecordingError> {
        for alg in HashAlg::ALL {
            let path = folder.join(format!("{BINARY}_{alg}"));
            if is_there(&path)? {
                return Recording::of_log(&path, alg);
            }
        }
        Err(RecordingError::NoLog(folder.to_owned()))
    }

    /// Reads a quote that a folder has; one that cannot be verified is not passed over.
    fn read_quote_in(&mut self, folder: &Path, name: &str) -> Result<(), RecordingError> {
        let needed = [
            format!("{name}.attest"),
            format!("{name}.sig"),
            "ak.pub".to_owned(),
        ];
        let [attest, signature, key] = needed.each_ref().map(|file| folder.join(file));
        let (quoted, signed) = (is_there(&attest)?, is_there(&signature)?);
        if !quoted && !signed {
            return Ok(());
        }
        let there = [quoted, signed, is_there(&key)?];
        let missing = needed.iter().zip(there).find(|(_, there)| !there);
        if let Some((file, _)) = missing {
            self.incomplete.insert(name.to_owned(), file.clone());
            return Ok(());
        }
        let nonce = folder.join("nonce");
        let nonce = if is_there(&nonce)? {
            read_nonce(&nonce)?
        } else {
            Vec::new()
        };
        self.read_quote(name, &attest, &signature, &key, nonce)
    }

    /// Reads the values of registers: banks, numbers and digits as JSON.
    pub fn read_pcrs(&mut self, path: &Path) -> Result<(), RecordingError> {
        let wrong = |reason: String| RecordingError::Pcrs {
            path: path.to_owned(),
            reason,
        };
        let banks: BTreeMap<String, BTreeMap<String, String>> =
            serde_json::from_slice(&read(path)?).map_err(|error| wrong(error.to_string()))?;
        for (bank, values) in banks {
            let alg = HashAlg::from_name(bank.as_bytes())
                .ok_or_else(|| wrong(format!("`{bank}` is not a bank")))?;
            for (number, digits) in values {
                let pcr = number.parse().ok().filter(|pcr| *pcr < 24);
                let pcr = pcr.ok_or_else(|| wrong(format!("`{number}` is not a PCR")))?;
                let value =
                    decode_hex(digits.as_bytes()).and_then(|bytes| Digest::new(alg, &bytes));
                let value =
                    value.ok_or_else(|| wrong(format!("`{digits}` is not a value of {bank}")))?;
                self.pcrs.set(pcr, value);
            }
        }
        Ok(())
    }

    /// Reads a quote with its signature, the key that signed it and its nonce.
    pub fn read_quote(
        &mut self,
        name: &str,
        attest: &Path,
        signature: &Path,
        key: &Path,
        nonce: Vec<u8>,
    ) -> Result<(), RecordingError> {
        let bytes = read(key)?;
        // A structure with its size before it, as tools write it, or without.
        let sized = bytes.split_first_chunk::<2>().and_then(|(size, rest)| {
            (usize::from(u16::from_be_bytes(*size)) == rest.len()).then_some(rest)
        });
        let public =
            Public::parse(sized.unwrap_or(&bytes)).map_err(|error| RecordingError::Key {
                path: key.to_owned(),
                error,
            })?;
        let quote = RecordedQuote {
            attest: read(attest)?,
            signature: read(signature)?,
            key: public,
            nonce,
        };
        self.quotes.insert(name.to_owned(), quote);
        Ok(())
    }
}

/// Whether a file is there; a pipe or a device in its place is refused.
fn is_there(path: &Path) -> Result<bool, RecordingError> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(RecordingError::NotAFile(path.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(unreadable(path, error)),
    }
}

fn unreadable(path: &Path, error: std::io::Error) -> RecordingError {
    RecordingError::Read {
        path: path.to_owned(),
        error,
    }
}

fn read(path: &Path) -> Result<Vec<u8>, RecordingError> {
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, error))?;
    let mut bytes = Vec::new();
    let longest = file.take(LONGEST + 1).read_to_end(&mut bytes);
    let length = longest.map_err(|error| unreadable(path, error))?;
    if u64::try_from(length).is_ok_and(|length| length <= LONGEST) {
        return Ok(bytes);
    }
    Err(RecordingError::TooLong(path.to_owned()))
}

fn read_nonce(path: &Path) -> Result<Vec<u8>, RecordingError> {
    let text = read(path)?;
    decode_hex(text.trim_ascii())
        .filter(|nonce| !nonce.is_empty())
        .ok_or_else(|| RecordingError::Nonce(path.to_owned()))
}
