//! `locus attest replay`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::facts::facts;
use super::folder::{Recording, RecordingError};
use super::text;
use crate::digest::{HashAlg, decode_hex};

/// Replay a measurement log against the registers and quotes that belong to it.
///
/// Exits with 1 if the log does not explain them.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// A folder with `binary_runtime_measurements`, `pcrs.json`, `quote.attest`, `quote.sig`, `ak.pub`, `nonce`;
    /// what is not there is left out.
    #[arg(value_name = "FOLDER", required_unless_present = "log")]
    folder: Option<PathBuf>,
    /// A log in its binary or its ASCII form.
    #[arg(long, value_name = "FILE", conflicts_with = "folder")]
    log: Option<PathBuf>,
    /// The algorithm of the template hashes in the log.
    #[arg(
        long,
        value_name = "ALGORITHM",
        default_value = "sha1",
        requires = "log"
    )]
    column: String,
    /// Values of registers: `{"sha256": {"10": "<digits>"}}`.
    #[arg(long, value_name = "FILE", requires = "log")]
    pcrs: Option<PathBuf>,
    /// A quote (`TPMS_ATTEST`).
    #[arg(long, value_name = "FILE", requires_all = ["log", "signature", "key"])]
    quote: Option<PathBuf>,
    /// The signature of the quote (`TPMT_SIGNATURE`).
    #[arg(long, value_name = "FILE", requires = "quote")]
    signature: Option<PathBuf>,
    /// The public area of the key that signed it (`TPM2B_PUBLIC`).
    #[arg(long, value_name = "FILE", requires = "quote")]
    key: Option<PathBuf>,
    /// The nonce that the quote answers, in hexadecimal digits.
    #[arg(long, value_name = "DIGITS", requires = "quote")]
    nonce: Option<String>,
    /// How to print.
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: ReplayFormat,
}

/// How a replay is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReplayFormat {
    /// Every entry, and what registers and quotes cover.
    #[default]
    Text,
    /// What registers and quotes cover, as JSON.
    Json,
}

/// Why nothing can be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The files.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The log.
    #[error("the measurement log cannot be read: {0}")]
    Log(#[from] crate::ima::LogError),
    /// The algorithm.
    #[error("`{0}` is not an algorithm of template hashes; known are sha1, sha256, sha384, sha512")]
    Column(String),
    /// The nonce.
    #[error("`{0}` is not a nonce in hexadecimal digits")]
    Nonce(String),
    /// Standard output.
    #[error("cannot write: {0}")]
    Output(#[from] std::io::Error),
}

impl ReplayArgs {
    /// Replays; whether the log explains every register and quote.
    pub fn run(self) -> Result<bool, ReplayError> {
        let format = self.format;
        let recording = self.recording()?;
        let facts = facts(&recording)?;
        let mut out = std::io::stdout().lock();
        match format {
            ReplayFormat::Json => {
                serde_json::to_writer_pretty(&mut out, &facts).map_err(std::io::Error::from)?;
                writeln!(out)?;
            }
            ReplayFormat::Text => text::write(&mut out, &recording, &facts)?,
        }
        Ok(facts.explained())
    }

    fn recording(self) -> Result<Recording, ReplayError> {
        if let Some(folder) = &self.folder {
            return Ok(Recording::of_folder(folder)?);
        }
        let column = HashAlg::from_name(self.column.as_bytes());
        let column = column.ok_or_else(|| ReplayError::Column(self.column.clone()))?;
        let log = self.log.unwrap_or_default();
        let mut recording = Recording::of_log(&log, column)?;
        if let Some(pcrs) = &self.pcrs {
            recording.read_pcrs(pcrs)?;
        }
        if let (Some(quote), Some(signature), Some(key)) = (&self.quote, &self.signature, &self.key)
        {
            let digits = self.nonce.unwrap_or_default();
            let nonce = decode_hex(digits.as_bytes()).ok_or(ReplayError::Nonce(digits))?;
            recording.read_quote("quote", quote, signature, key, nonce)?;
        }
        Ok(recording)
    }
}
