//! A boot policy from the event log of a machine that is as it should be.

use std::path::{Path, PathBuf};

use crate::boot::{EventLog, EventLogError, Unexplained, learn};
use crate::digest::{Digest, HashAlg, decode_hex};
use crate::tpm::PcrValues;
use crate::tpm::pcr::BOOT_PCRS;

/// Why there is no policy.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// A file cannot be read.
    #[error("`{}` cannot be read: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The log cannot be read.
    #[error("`{}`: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        error: EventLogError,
    },
    /// The log is not that of the registers.
    #[error("`{}`: {error}", path.display())]
    Registers {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Unexplained,
    },
}

/// The `boot` table of a policy for the boot in a log. `registers` is a folder with a file for each register, as the kernel
/// shows them below `/sys/class/tpm`; without it, the log is taken at its word.
pub(super) fn boot_policy(
    log: &Path,
    bank: HashAlg,
    registers: Option<&Path>,
) -> Result<String, LearnError> {
    let bytes = std::fs::read(log).map_err(|error| LearnError::Read {
        path: log.to_owned(),
        reason: error.to_string(),
    })?;
    let events = EventLog::parse(&bytes).map_err(|error| LearnError::Log {
        path: log.to_owned(),
        error,
    })?;
    let unexplained = |error| LearnError::Registers {
        path: log.to_owned(),
        error,
    };
    let values = match registers {
        Some(folder) => read_registers(folder, bank)?,
        None => events.replay(bank).map_err(unexplained)?,
    };
    let boot = events.explain(bank, &values).map_err(unexplained)?;
    Ok(learn(&boot))
}

fn read_registers(folder: &Path, bank: HashAlg) -> Result<PcrValues, LearnError> {
    let mut values = PcrValues::default();
    for pcr in BOOT_PCRS {
        let path = folder.join(pcr.to_string());
        let failed = |reason: String| LearnError::Read {
            path: path.clone(),
            reason,
        };
        let text = std::fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let value = decode_hex(text.trim().as_bytes()).and_then(|bytes| Digest::new(bank, &bytes));
        values.set(
            pcr,
            value.ok_or_else(|| failed(format!("it is not a {bank} value")))?,
        );
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/event-logs/ovmf/binary_bios_measurements")
    }

    /// The registers of the same boot as the kernel shows them.
    fn registers(folder: &Path) {
        let bytes = std::fs::read(log()).unwrap();
        let values = EventLog::parse(&bytes)
            .unwrap()
            .replay(HashAlg::Sha256)
            .unwrap();
        for (pcr, value) in values.bank(HashAlg::Sha256) {
            let text = format!("{}\n", value.to_hex().to_uppercase());
            std::fs::write(folder.join(pcr.to_string()), text).unwrap();
        }
    }

    #[test]
    fn registers_and_log_must_be_of_one_boot() {
        let folder = tempfile::tempdir().unwrap();
        registers(folder.path());
        let learnt = boot_policy(&log(), HashAlg::Sha256, Some(folder.path())).unwrap();
        assert_eq!(learnt, boot_policy(&log(), HashAlg::Sha256, None).unwrap());
        std::fs::write(folder.path().join("4"), "00".repeat(32)).unwrap();
        let error = boot_policy(&log(), HashAlg::Sha256, Some(folder.path())).unwrap_err();
        assert!(error.to_string().contains("PCR 4"), "{error}");
        std::fs::write(folder.path().join("4"), "zero").unwrap();
        assert!(boot_policy(&log(), HashAlg::Sha256, Some(folder.path())).is_err());
        assert!(boot_policy(folder.path(), HashAlg::Sha256, None).is_err());
    }
}
