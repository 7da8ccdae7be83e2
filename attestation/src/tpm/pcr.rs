//! Platform configuration registers: which were chosen, what they hold, and their digest in a quote.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::{Reader, StructureError, Writer};
use crate::digest::{Digest, HashAlg};

/// How many PCRs a PC client TPM has.
pub const PCR_COUNT: u8 = 24;

/// The PCRs that software can reset while the machine runs: they prove nothing about its past.
pub const RESETTABLE: [u8; 8] = [16, 17, 18, 19, 20, 21, 22, 23];

/// The register that the kernel's measurement log is extended into.
pub const IMA_PCR: u8 = 10;

/// The registers that firmware, boot loader and kernel command line are measured into.
pub const BOOT_PCRS: [u8; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/// One bank and the PCRs chosen from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct BankSelection {
    /// The bank, by its algorithm.
    pub bank: HashAlg,
    /// The numbers of the PCRs, below 24.
    pub pcrs: BTreeSet<u8>,
}

/// The PCRs that a quote covers (`TPML_PCR_SELECTION`), in the order in which they are digested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PcrSelection(Vec<BankSelection>);

impl PcrSelection {
    /// Some PCRs of one bank.
    pub fn of(bank: HashAlg, pcrs: impl IntoIterator<Item = u8>) -> Self {
        let pcrs = pcrs.into_iter().filter(|pcr| *pcr < PCR_COUNT).collect();
        PcrSelection(vec![BankSelection { bank, pcrs }])
    }

    /// The same with some PCRs of another bank.
    #[must_use]
    pub fn and(mut self, bank: HashAlg, pcrs: impl IntoIterator<Item = u8>) -> Self {
        self.0.extend(PcrSelection::of(bank, pcrs).0);
        self
    }

    /// The banks in order.
    pub fn banks(&self) -> &[BankSelection] {
        &self.0
    }

    /// Every chosen register, in the order in which a quote digests them.
    pub fn registers(&self) -> impl Iterator<Item = (HashAlg, u8)> + '_ {
        self.0
            .iter()
            .flat_map(|bank| bank.pcrs.iter().map(|pcr| (bank.bank, *pcr)))
    }

    /// The wire form, with the three select octets of a PC client TPM.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        for bank in &self.0 {
            out.u16(bank.bank.tpm_id()).u8(3);
            for octet in 0..3u8 {
                let bits = (0..8u8)
                    .filter(|bit| bank.pcrs.contains(&(octet * 8 + bit)))
                    .fold(0u8, |bits, bit| bits | 1 << bit);
                out.u8(bits);
            }
        }
        out.0
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, StructureError> {
        let count = reader.u32("number of PCR banks")?;
        if count > 16 {
            return Err(reader.value("number of PCR banks", count, "at most 16"));
        }
        let mut banks: Vec<BankSelection> = Vec::new();
        for _ in 0..count {
            let id = reader.u16("PCR bank")?;
            let bank = HashAlg::from_tpm_id(id).ok_or_else(|| {
                reader.value(
                    "PCR bank",
                    format_args!("{id:#06x}"),
                    "sha1, sha256, sha384 or sha512",
                )
            })?;
            if banks.iter().any(|seen| seen.bank == bank) {
                return Err(reader.value("PCR bank", bank, "each bank once"));
            }
            let octets = reader.u8("PCR selection size")?;
            if octets != 3 {
                return Err(reader.value("PCR selection size", octets, "3"));
            }
            let bits = reader.take("PCR selection", usize::from(octets))?;
            let pcrs = (0..PCR_COUNT)
                .filter(|pcr| {
                    bits.get(usize::from(pcr / 8))
                        .is_some_and(|octet| octet & (1 << (pcr % 8)) != 0)
                })
                .collect();
            banks.push(BankSelection { bank, pcrs });
        }
        Ok(PcrSelection(banks))
    }
}

/// PCR values by bank and register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PcrValues(BTreeMap<HashAlg, BTreeMap<u8, Digest>>);

impl PcrValues {
    /// Sets the value of a register; the digest's algorithm names the bank.
    pub fn set(&mut self, pcr: u8, value: Digest) {
        self.0.entry(value.alg()).or_default().insert(pcr, value);
    }

    /// The value of a register.
    pub fn get(&self, bank: HashAlg, pcr: u8) -> Option<Digest> {
        self.0.get(&bank)?.get(&pcr).copied()
    }

    /// The values of a bank in the order of their registers.
    pub fn bank(&self, bank: HashAlg) -> impl Iterator<Item = (u8, Digest)> + '_ {
        self.0
            .get(&bank)
            .into_iter()
            .flatten()
            .map(|(pcr, value)| (*pcr, *value))
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether every value lies in the bank of its own algorithm, as an honest reader writes them.
    pub fn is_consistent(&self) -> bool {
        self.0
            .iter()
            .all(|(bank, values)| values.values().all(|value| value.alg() == *bank))
    }

    /// The digest over the selected registers, as a quote contains it; none if a value is missing.
    pub fn digest(&self, selection: &PcrSelection, alg: HashAlg) -> Option<Digest> {
        let values = selection
            .registers()
            .map(|(bank, pcr)| self.get(bank, pcr).filter(|value| value.alg() == bank))
            .collect::<Option<Vec<_>>>()?;
        let parts: Vec<&[u8]> = values.iter().map(Digest::as_bytes).collect();
        Some(alg.hash(&parts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_goes_through_the_wire() {
        let selection =
            PcrSelection::of(HashAlg::Sha256, [0, 10, 23]).and(HashAlg::Sha1, BOOT_PCRS);
        let bytes = selection.to_bytes();
        let mut reader = Reader::new("selection", &bytes);
        assert_eq!(PcrSelection::read(&mut reader), Ok(selection));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn a_bank_chosen_twice_is_refused() {
        let twice = PcrSelection::of(HashAlg::Sha256, [0]).and(HashAlg::Sha256, [1]);
        let bytes = twice.to_bytes();
        let error = PcrSelection::read(&mut Reader::new("selection", &bytes)).unwrap_err();
        assert!(error.to_string().contains("each bank once"), "{error}");
    }

    #[test]
    fn the_digest_is_over_the_values_in_order() {
        let selection = PcrSelection::of(HashAlg::Sha256, [1, 0]);
        let mut values = PcrValues::default();
        let (a, b) = (HashAlg::Sha256.hash(&[b"a"]), HashAlg::Sha256.hash(&[b"b"]));
        values.set(0, a);
        assert_eq!(values.digest(&selection, HashAlg::Sha256), None);
        values.set(1, b);
        assert_eq!(
            values.digest(&selection, HashAlg::Sha256),
            Some(HashAlg::Sha256.hash(&[a.as_bytes(), b.as_bytes()]))
        );
    }
}
