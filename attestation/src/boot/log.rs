//! Reads an event log: the crypto-agile form of the TCG, as the kernel shows it in `binary_bios_measurements`.

use std::collections::BTreeMap;

use super::kind::EventKind;
use crate::digest::{Digest, HashAlg};
use crate::evidence::MAX_EVENT_LOG;
use crate::tpm::pcr::PCR_COUNT;

/// The signature of the first event of a crypto-agile log.
const SPEC_ID: &[u8; 16] = b"Spec ID Event03\0";
/// More banks than any TPM has.
const MAX_BANKS: u32 = 16;
/// No digest is longer.
const MAX_DIGEST: u16 = 64;

/// Why a log cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventLogError {
    /// It is longer than any log.
    #[error("the event log is longer than {MAX_EVENT_LOG} bytes")]
    TooLong,
    /// It ends in the middle of an event.
    #[error("the event log ends in event {number}")]
    Truncated {
        /// Which event, the first being 0.
        number: usize,
    },
    /// It is in the form of TPM 1.2.
    #[error("the event log has SHA-1 digests only: its firmware treats the TPM as a TPM 1.2")]
    Legacy,
    /// An event is not of the form that the log announces.
    #[error("event {number} of the event log is malformed: {reason}")]
    Malformed {
        /// Which event.
        number: usize,
        /// How.
        reason: String,
    },
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its place in the log; the announcement of the form is 0.
    pub number: usize,
    /// The register it was extended into.
    pub pcr: u8,
    /// Its type, which no register covers.
    pub kind: EventKind,
    /// What was extended, by bank; banks of unknown algorithms are left out.
    pub digests: BTreeMap<HashAlg, Digest>,
    /// What the log says was measured, which no register covers either.
    pub data: &'a [u8],
}

/// An event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLog<'a> {
    events: Vec<Event<'a>>,
    banks: Vec<HashAlg>,
}

impl<'a> EventLog<'a> {
    /// Reads a whole log; every event must have a digest of every bank that the log announces.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, EventLogError> {
        if bytes.len() > MAX_EVENT_LOG {
            return Err(EventLogError::TooLong);
        }
        let mut reader = Bytes {
            rest: bytes,
            number: 0,
        };
        let algorithms = reader.announcement()?;
        let banks = algorithms
            .iter()
            .filter_map(|(id, _)| HashAlg::from_tpm_id(*id))
            .collect();
        let mut events = Vec::new();
        while !reader.rest.is_empty() {
            reader.number += 1;
            events.push(reader.event(&algorithms)?);
        }
        Ok(EventLog { events, banks })
    }

    /// Its events, in order; without the announcement of the form.
    pub fn events(&self) -> &[Event<'a>] {
        &self.events
    }

    /// The banks that it has digests of.
    pub fn banks(&self) -> &[HashAlg] {
        &self.banks
    }
}

struct Bytes<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Bytes<'a> {
    fn take(&mut self, size: usize) -> Result<&'a [u8], EventLogError> {
        let number = self.number;
        let (taken, rest) = self
            .rest
            .split_at_checked(size)
            .ok_or(EventLogError::Truncated { number })?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], EventLogError> {
        let number = self.number;
        let taken = self.take(N)?;
        taken
            .try_into()
            .map_err(|_| EventLogError::Truncated { number })
    }

    fn word(&mut self) -> Result<u32, EventLogError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn half(&mut self) -> Result<u16, EventLogError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn data(&mut self) -> Result<&'a [u8], EventLogError> {
        let size = self.word()?;
        self.take(usize::try_from(size).unwrap_or(usize::MAX))
    }

    fn malformed(&self, reason: impl Into<String>) -> EventLogError {
        EventLogError::Malformed {
            number: self.number,
            reason: reason.into(),
        }
    }

    /// The first event, in the form of TPM 1.2: it announces the form of those after it.
    fn announcement(&mut self) -> Result<Vec<(u16, usize)>, EventLogError> {
        let (pcr, kind) = (self.word()?, self.word()?);
        let digest = self.take(20)?;
        let data = self.data()?;
        let announces = data.starts_with(SPEC_ID);
        if pcr != 0 || kind != EventKind::NO_ACTION.0 || !announces {
            return Err(EventLogError::Legacy);
        }
        if digest.iter().any(|byte| *byte != 0) {
            return Err(self.malformed("the announcement has a digest"));
        }
        let mut inner = Bytes {
            rest: data,
            number: 0,
        };
        // Signature, platform class, version, errata, size of a machine word.
        inner.take(SPEC_ID.len() + 8)?;
        let count = inner.word()?;
        if count == 0 || count > MAX_BANKS {
            return Err(self.malformed(format!("it announces {count} banks")));
        }
        let mut algorithms: Vec<(u16, usize)> = Vec::new();
        for _ in 0..count {
            let (id, size) = (inner.half()?, inner.half()?);
            let known = HashAlg::from_tpm_id(id).map(HashAlg::size);
            if size == 0
                || size > MAX_DIGEST
                || known.is_some_and(|known| known != usize::from(size))
            {
                return Err(
                    self.malformed(format!("digests of algorithm {id:#06x} with {size} bytes"))
                );
            }
            if algorithms.iter().any(|(other, _)| *other == id) {
                return Err(self.malformed(format!("it announces algorithm {id:#06x} twice")));
            }
            algorithms.push((id, usize::from(size)));
        }
        let [vendor] = inner.array()?;
        inner.take(usize::from(vendor))?;
        if !inner.rest.is_empty() {
            return Err(self.malformed("the announcement is longer than it says"));
        }
        Ok(algorithms)
    }

    fn event(&mut self, algorithms: &[(u16, usize)]) -> Result<Event<'a>, EventLogError> {
        let pcr = self.word()?;
        let pcr = u8::try_from(pcr)
            .ok()
            .filter(|pcr| *pcr < PCR_COUNT)
            .ok_or_else(|| self.malformed(format!("there is no register {pcr}")))?;
        let kind = EventKind(self.word()?);
        let count = self.word()?;
        if usize::try_from(count) != Ok(algorithms.len()) {
            let announced = algorithms.len();
            return Err(self.malformed(format!("{count} digests where {announced} are announced")));
        }
        let mut seen = Vec::new();
        let mut digests = BTreeMap::new();
        for _ in 0..count {
            let id = self.half()?;
            let announced = algorithms.iter().find(|(known, _)| *known == id);
            let (_, size) = announced
                .ok_or_else(|| self.malformed(format!("algorithm {id:#06x} is not announced")))?;
            if seen.contains(&id) {
                return Err(self.malformed(format!("two digests of algorithm {id:#06x}")));
            }
            seen.push(id);
            let bytes = self.take(*size)?;
            if let Some(digest) = HashAlg::from_tpm_id(id).and_then(|alg| Digest::new(alg, bytes)) {
                digests.insert(digest.alg(), digest);
            }
        }
        let data = self.data()?;
        Ok(Event {
            number: self.number,
            pcr,
            kind,
            digests,
            data,
        })
    }
}
