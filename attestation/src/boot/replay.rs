//! Replays an event log: the events must lead to the registers that the TPM quoted.

use super::kind::EventKind;
use super::log::{Event, EventLog};
use crate::digest::{Digest, HashAlg};
use crate::tpm::PcrValues;
use crate::tpm::pcr::BOOT_PCRS;

/// The beginning of the event that tells from which locality the TPM was started.
const STARTUP_LOCALITY: &[u8] = b"StartupLocality\0";

/// Why a log does not explain a quote. All registers are named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unexplained {
    /// The log has no digests of the bank that was quoted.
    #[error("the event log has no {0} digests")]
    Bank(HashAlg),
    /// The locality that the TPM was started from is not one, or is told twice.
    #[error("event {0} of the event log tells an impossible startup locality")]
    Locality(usize),
    /// The events lead to other values.
    #[error("the event log does not lead to the quoted value of PCR {}", list(.0))]
    Registers(Vec<u8>),
}

fn list(pcrs: &[u8]) -> String {
    let words: Vec<String> = pcrs.iter().map(u8::to_string).collect();
    words.join(", ")
}

/// The events of a log that registers vouch for: those of PCR 0 to 9, by their digests in one bank.
#[derive(Clone, Debug)]
pub struct Explained<'l, 'a> {
    log: &'l EventLog<'a>,
    bank: HashAlg,
}

impl<'l, 'a> Explained<'l, 'a> {
    /// The events, in order, each with the digest that was extended. What was not extended is left out.
    pub fn events(&self) -> impl Iterator<Item = (&'l Event<'a>, Digest)> {
        let bank = self.bank;
        self.log
            .events()
            .iter()
            .filter(|event| event.kind != EventKind::NO_ACTION && BOOT_PCRS.contains(&event.pcr))
            .filter_map(move |event| Some((event, *event.digests.get(&bank)?)))
    }

    /// The bank.
    pub fn bank(&self) -> HashAlg {
        self.bank
    }
}

impl<'a> EventLog<'a> {
    /// The values of PCR 0 to 9 after all events.
    pub fn replay(&self, bank: HashAlg) -> Result<PcrValues, Unexplained> {
        if !self.banks().contains(&bank) {
            return Err(Unexplained::Bank(bank));
        }
        let mut values = BOOT_PCRS.map(|_| Digest::zero(bank));
        let mut untouched = true;
        for event in self.events() {
            let Some(value) = values.get_mut(usize::from(event.pcr)) else {
                continue;
            };
            if event.kind == EventKind::NO_ACTION {
                if let Some(locality) = event.data.strip_prefix(STARTUP_LOCALITY) {
                    let [locality @ (0 | 3 | 4)] = locality else {
                        return Err(Unexplained::Locality(event.number));
                    };
                    if event.pcr != 0 || !untouched {
                        return Err(Unexplained::Locality(event.number));
                    }
                    *value = started_from(bank, *locality);
                    untouched = false;
                }
                continue;
            }
            let measured = event.digests.get(&bank).ok_or(Unexplained::Bank(bank))?;
            untouched = untouched && event.pcr != 0;
            // A measurement before the firmware's own leaves locality 4 behind in the register.
            if event.kind == EventKind::EFI_HCRTM && event.pcr == 0 && value.is_zero() {
                *value = started_from(bank, 4);
            }
            *value = value.extend(measured.as_bytes());
        }
        let mut all = PcrValues::default();
        for (pcr, value) in BOOT_PCRS.into_iter().zip(values) {
            all.set(pcr, value);
        }
        Ok(all)
    }

    /// The events, once they were found to lead to the quoted values of PCR 0 to 9.
    pub fn explain(
        &self,
        bank: HashAlg,
        quoted: &PcrValues,
    ) -> Result<Explained<'_, 'a>, Unexplained> {
        let replayed = self.replay(bank)?;
        let differs = |pcr: &u8| {
            let value = replayed.get(bank, *pcr);
            value.is_none() || value != quoted.get(bank, *pcr)
        };
        let wrong: Vec<u8> = BOOT_PCRS.into_iter().filter(differs).collect();
        if wrong.is_empty() {
            return Ok(Explained { log: self, bank });
        }
        Err(Unexplained::Registers(wrong))
    }
}

/// PCR 0 after a start from a locality.
fn started_from(bank: HashAlg, locality: u8) -> Digest {
    let mut bytes = vec![0; bank.size()];
    if let Some(last) = bytes.last_mut() {
        *last = locality;
    }
    Digest::new(bank, &bytes).unwrap_or(Digest::zero(bank))
}
