//! What a TPM attests (`TPMS_ATTEST`), of which only quotes are read here.

use super::pcr::PcrSelection;
use super::wire::{Reader, StructureError, Writer};

/// `TPM_GENERATED_VALUE`: only the TPM itself writes it, so no signed foreign data can look like a quote.
const GENERATED: u32 = 0xff54_4347;
/// `TPM_ST_ATTEST_QUOTE`.
const ATTEST_QUOTE: u16 = 0x8018;
/// The largest name: an algorithm and a SHA-512 digest.
const MAX_NAME: usize = 66;
/// The largest extra data: a SHA-512 digest with its algorithm.
const MAX_DATA: usize = 66;
const STRUCTURE: &str = "the quote";

/// The TPM's clock and boot counters (`TPMS_CLOCK_INFO`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ClockInfo {
    /// Milliseconds the TPM has been powered.
    pub clock: u64,
    /// Counts TPM resets: one per boot.
    pub reset_count: u32,
    /// Counts resumes and restarts since the last reset.
    pub restart_count: u32,
    /// Whether no larger value of `clock` was ever reported: false after a sudden loss of power.
    pub safe: bool,
}

impl ClockInfo {
    /// Whether both were read in the same boot.
    pub fn same_boot(&self, other: &ClockInfo) -> bool {
        self.reset_count == other.reset_count && self.restart_count == other.restart_count
    }
}

/// A quote (`TPMS_ATTEST` of type `TPM_ST_ATTEST_QUOTE`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuoteAttest {
    /// The qualified name of the signing key.
    pub qualified_signer: Vec<u8>,
    /// The caller's qualifying data: a nonce.
    pub extra_data: Vec<u8>,
    /// Clock and boot counters.
    pub clock_info: ClockInfo,
    /// The firmware's version.
    pub firmware_version: u64,
    /// Which PCRs are quoted.
    pub selection: PcrSelection,
    /// The digest over their values.
    pub pcr_digest: Vec<u8>,
}

impl QuoteAttest {
    /// Reads a quote; every byte must belong to it.
    pub fn parse(bytes: &[u8]) -> Result<Self, StructureError> {
        let mut reader = Reader::new(STRUCTURE, bytes);
        let magic = reader.u32("magic")?;
        if magic != GENERATED {
            let found = format_args!("{magic:#010x}").to_string();
            return Err(reader.value("magic", found, "TPM_GENERATED (0xff544347)"));
        }
        let kind = reader.u16("type")?;
        if kind != ATTEST_QUOTE {
            let found = format_args!("{kind:#06x}").to_string();
            return Err(reader.value("type", found, "TPM_ST_ATTEST_QUOTE (0x8018)"));
        }
        let qualified_signer = reader
            .sized("qualified signer", MAX_NAME, "at most 66 bytes")?
            .to_vec();
        let extra_data = reader
            .sized("extra data", MAX_DATA, "at most 66 bytes")?
            .to_vec();
        let clock = reader.u64("clock")?;
        let reset_count = reader.u32("reset count")?;
        let restart_count = reader.u32("restart count")?;
        let safe = match reader.u8("safe flag")? {
            0 => false,
            1 => true,
            other => return Err(reader.value("safe flag", other, "0 or 1")),
        };
        let firmware_version = reader.u64("firmware version")?;
        let selection = PcrSelection::read(&mut reader)?;
        let pcr_digest = reader.sized("PCR digest", 64, "at most 64 bytes")?.to_vec();
        reader.end()?;
        Ok(QuoteAttest {
            qualified_signer,
            extra_data,
            clock_info: ClockInfo {
                clock,
                reset_count,
                restart_count,
                safe,
            },
            firmware_version,
            selection,
            pcr_digest,
        })
    }

    /// The bytes that a TPM signs.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(GENERATED)
            .u16(ATTEST_QUOTE)
            .sized(&self.qualified_signer)
            .sized(&self.extra_data)
            .u64(self.clock_info.clock)
            .u32(self.clock_info.reset_count)
            .u32(self.clock_info.restart_count)
            .u8(u8::from(self.clock_info.safe))
            .u64(self.firmware_version)
            .raw(&self.selection.to_bytes())
            .sized(&self.pcr_digest);
        out.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::HashAlg;

    fn quote() -> QuoteAttest {
        QuoteAttest {
            qualified_signer: vec![0, 11, 1, 2, 3],
            extra_data: vec![7; 32],
            clock_info: ClockInfo {
                clock: 1_000_000,
                reset_count: 3,
                restart_count: 1,
                safe: true,
            },
            firmware_version: 0x2019_1023_0016_3636,
            selection: PcrSelection::of(HashAlg::Sha256, [10]),
            pcr_digest: vec![9; 32],
        }
    }

    #[test]
    fn a_quote_goes_through_the_wire() {
        assert_eq!(QuoteAttest::parse(&quote().to_bytes()), Ok(quote()));
    }

    #[test]
    fn every_cut_and_every_addition_is_refused() {
        let bytes = quote().to_bytes();
        for length in 0..bytes.len() {
            let cut = QuoteAttest::parse(&bytes[..length]);
            assert!(cut.is_err(), "{length} bytes were accepted");
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert_eq!(
            QuoteAttest::parse(&longer),
            Err(StructureError::Trailing {
                structure: STRUCTURE,
                extra: 1
            })
        );
    }

    #[test]
    fn a_certification_is_not_a_quote() {
        let mut bytes = quote().to_bytes();
        bytes[5] = 0x17;
        let error = QuoteAttest::parse(&bytes).unwrap_err();
        assert!(error.to_string().contains("0x8017"), "{error}");
    }
}
