//! Replay: the entries, hashed again from their fields, must lead to the quoted PCR values.

use serde::{Deserialize, Serialize};

use super::boot::{boot_aggregate, is_boot_aggregate};
use super::cursor::Cursor;
use super::entry::Entry;
use super::reader::{LogError, Reader};
use crate::digest::{Digest, HashAlg};

/// The PCR that IMA extends unless its policy says otherwise.
pub const DEFAULT_PCR: u32 = 10;

/// How a kernel extends a bank whose algorithm is not the one of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extend {
    /// With the template hash of the bank's own algorithm: every kernel since 5.8.
    Native,
    /// With the SHA-1 template hash and zeros up to the size: older kernels.
    PaddedSha1,
}

impl Extend {
    /// What an entry is extended with into a bank of an algorithm.
    pub fn measured(self, alg: HashAlg, entry: &Entry<'_>) -> Digest {
        if entry.is_violation() {
            // Every bank gets ones, also one that is otherwise padded.
            return Digest::ones(alg);
        }
        self.hashed(alg, entry)
    }

    /// The same for an entry that is known not to be a violation.
    pub(super) fn hashed(self, alg: HashAlg, entry: &Entry<'_>) -> Digest {
        match self {
            Extend::Native => template_hash(alg, entry),
            Extend::PaddedSha1 => {
                Digest::filled(alg, template_hash(HashAlg::Sha1, entry).as_bytes())
            }
        }
    }
}

/// The running value of a measurement PCR in one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BankValue {
    /// The value.
    pub value: Digest,
    /// How the kernel extends this bank.
    pub extend: Extend,
    /// Which PCR.
    #[serde(default = "default_pcr")]
    pub pcr: u32,
}

fn default_pcr() -> u32 {
    DEFAULT_PCR
}

impl BankValue {
    /// The usual PCR in a bank extended with its own algorithm.
    pub const fn native(value: Digest) -> Self {
        BankValue {
            value,
            extend: Extend::Native,
            pcr: DEFAULT_PCR,
        }
    }
}

/// What a replay insists on; chosen by the verifier, never by the worker.
#[derive(Clone, Debug)]
pub struct ReplayPolicy<'a> {
    /// Accepted digests of the boot aggregate, which is entry 0.
    pub boot_aggregates: &'a [Digest],
    /// Whether a violation fails the worker; otherwise it is reported.
    pub deny_violations: bool,
    /// How many answers in a row may leave entries uncovered that were shown before.
    pub max_behind: u32,
    /// Whether the machine may have been restarted with kexec: there is then another boot aggregate.
    pub allow_kexec: bool,
    /// Where the same log came by before, if it is shown from its start again.
    pub waypoint: Option<&'a Cursor>,
}

/// What a successful replay came to. Nothing is changed until the caller commits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The state to commit.
    pub cursor: Cursor,
    /// How many entries were verified.
    pub verified: u64,
    /// How many entries follow that are newer than the quote; they come again with the next answer.
    pub newer: u64,
    /// The numbers of the verified entries that are violations.
    pub violations: Vec<u64>,
    /// Whether the log came by the waypoint: up to there it is the one that was shown before.
    pub passed: bool,
}

/// Why a log is no explanation of the quoted PCR values. All of these are the worker's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The log cannot be read.
    #[error("the measurement log cannot be read: {0}")]
    Log(#[from] LogError),
    /// The banks quoted are not those that were asked for.
    #[error("the quote does not cover the banks that were asked for")]
    Banks,
    /// An entry claims a hash that its fields do not have.
    #[error("entry {entry} (`{path}`) does not have the template hash it claims")]
    TemplateHash {
        /// The number of the entry.
        entry: u64,
        /// The name in it.
        path: String,
    },
    /// An entry is in a PCR that the quote does not cover.
    #[error("entry {entry} is in PCR {pcr}, which the policy does not have quoted")]
    Pcr {
        /// The number of the entry.
        entry: u64,
        /// Its PCR.
        pcr: u32,
    },
    /// Entry 0 is no boot aggregate.
    #[error("the log does not start with the boot aggregate")]
    NoBootAggregate,
    /// Entry 0 is of another boot than the quoted boot PCRs.
    #[error("the boot aggregate `{found}` in the log is not that of the quoted boot")]
    BootAggregate {
        /// What the log has.
        found: Digest,
    },
    /// A file changed while it was measured, and the policy does not tolerate it.
    #[error("entry {entry} is a violation: a file was changed while it was measured")]
    Violation {
        /// The number of the entry.
        entry: u64,
    },
    /// There is a second boot aggregate.
    #[error(
        "entry {entry} is another boot aggregate: the machine was restarted with kexec, which no quote shows; reboot it"
    )]
    Kexec {
        /// The number of the entry.
        entry: u64,
    },
    /// Within one boot, the log is another than before.
    #[error(
        "the log is not the one that was shown before, although the TPM was not reset: the machine was restarted with \
         kexec and did not carry its log over, or entries are hidden; reboot it"
    )]
    Restarted,
    /// No prefix of the log gives the quoted values.
    #[error(
        "the log does not lead to the quoted PCR value, neither at its end (entry {end}) nor before"
    )]
    Mismatch {
        /// The number of the entry after the last.
        end: u64,
    },
    /// The quote has kept leaving out entries that were shown long before.
    #[error("the quote covers {covered} entries although {seen} had been shown before")]
    Behind {
        /// What the quote covers.
        covered: u64,
        /// What was shown before.
        seen: u64,
    },
}

/// The hash of an entry's fields: what the kernel extends, in the algorithm of a bank.
#[inline]
pub fn template_hash(alg: HashAlg, entry: &Entry<'_>) -> Digest {
    if !entry.layout.is_legacy() {
        // Lengths and fields, exactly as they stand in the binary log.
        return alg.hash(&[entry.data]);
    }
    let digest = entry.field_at(0).unwrap_or(&[]);
    let name = entry.field_at(1).unwrap_or(&[]);
    let mut padded = [0_u8; 256];
    for (to, from) in padded.iter_mut().zip(name) {
        *to = *from;
    }
    alg.hash(&[digest, &padded])
}

/// Replays the entries of an answer on a cursor until its banks have the quoted values.
///
/// `visit` is called for each verified entry with its number in the whole log. What it collects is
/// worthless unless this returns `Ok`. Entries that are newer than the quote are read but not visited.
pub fn advance<'a>(
    mut reader: Reader<'a>,
    column: HashAlg,
    start: &Cursor,
    quoted: &[Digest],
    policy: &ReplayPolicy<'_>,
    mut visit: impl FnMut(u64, &Entry<'a>),
) -> Result<Advance, ReplayError> {
    let same_banks = quoted.len() == start.banks.len()
        && quoted
            .iter()
            .zip(&start.banks)
            .all(|(quoted, bank)| quoted.alg() == bank.value.alg());
    if !same_banks || quoted.is_empty() {
        return Err(ReplayError::Banks);
    }
    let mut cursor = start.clone();
    let mut violations = Vec::new();
    let (waypoint, mut passed) = (policy.waypoint, false);
    let matches = |cursor: &Cursor| {
        cursor
            .banks
            .iter()
            .zip(quoted)
            .all(|(bank, quoted)| bank.value == *quoted)
    };
    let mut newer = 0;
    // What is measured is extended once the next entry is read: hashing that entry, which does not depend on it, keeps
    // the processor busy beside it.
    let mut pending = None;
    let mut measured: Vec<Digest> = Vec::with_capacity(cursor.banks.len());
    // An untouched PCR at the very start explains nothing: a log begins with the boot aggregate.
    let mut matched = cursor.next_entry > 0 && matches(&cursor);
    while !matched {
        let next = reader.read();
        let next = next.map_err(|error| renumber(error, start.next_entry))?;
        if let Some(pcr) = pending {
            for (bank, measured) in cursor.banks.iter_mut().zip(&measured) {
                if bank.pcr == pcr {
                    bank.value = bank.value.extend(measured.as_bytes());
                }
            }
            cursor.next_entry += 1;
            passed |= waypoint.is_some_and(|before| cursor.is_at(before));
            if matches(&cursor) {
                matched = true;
                newer += u64::from(next.is_some());
                continue;
            }
        }
        let Some(entry) = next else {
            return Err(if start.next_entry == 0 && cursor.next_entry == 0 {
                ReplayError::NoBootAggregate
            } else if waypoint.is_some() {
                // Also when it came by there: two kernels may begin with the same entries.
                ReplayError::Restarted
            } else {
                ReplayError::Mismatch {
                    end: cursor.next_entry,
                }
            });
        };
        check(
            &cursor,
            column,
            entry,
            policy,
            &mut violations,
            &mut measured,
        )?;
        visit(cursor.next_entry, entry);
        pending = Some(entry.pcr);
    }
    for entry in reader {
        entry.map_err(|error| renumber(error, start.next_entry))?;
        newer += 1;
    }
    let covered = cursor.next_entry;
    if covered < start.seen {
        cursor.behind = start.behind.saturating_add(1);
        if cursor.behind > policy.max_behind {
            return Err(ReplayError::Behind {
                covered,
                seen: start.seen,
            });
        }
    } else {
        cursor.behind = 0;
    }
    cursor.seen = start.seen.max(covered.saturating_add(newer));
    Ok(Advance {
        verified: covered - start.next_entry,
        newer,
        violations,
        passed,
        cursor,
    })
}

fn renumber(mut error: LogError, first: u64) -> LogError {
    error.entry = error.entry.saturating_add(first);
    error
}

/// Checks the next entry; `measured` becomes what the kernel extended each bank with.
#[inline(always)]
fn check(
    cursor: &Cursor,
    column: HashAlg,
    entry: &Entry<'_>,
    policy: &ReplayPolicy<'_>,
    violations: &mut Vec<u64>,
    measured: &mut Vec<Digest>,
) -> Result<(), ReplayError> {
    let number = cursor.next_entry;
    if cursor.banks.iter().all(|bank| bank.pcr != entry.pcr) {
        return Err(ReplayError::Pcr {
            entry: number,
            pcr: entry.pcr,
        });
    }
    let violation = entry.is_violation();
    if number == 0 {
        let found = boot_aggregate(entry).ok_or(ReplayError::NoBootAggregate)?;
        if !policy.boot_aggregates.contains(&found) {
            return Err(ReplayError::BootAggregate { found });
        }
    } else if !policy.allow_kexec && is_boot_aggregate(entry, policy.boot_aggregates) {
        return Err(ReplayError::Kexec { entry: number });
    }
    measured.clear();
    if violation {
        if policy.deny_violations {
            return Err(ReplayError::Violation { entry: number });
        }
        violations.push(number);
        measured.extend(
            cursor
                .banks
                .iter()
                .map(|bank| Digest::ones(bank.value.alg())),
        );
        return Ok(());
    }
    let claimed = template_hash(column, entry);
    if claimed.as_bytes() != entry.claimed {
        return Err(ReplayError::TemplateHash {
            entry: number,
            path: String::from_utf8_lossy(entry.path()).into_owned(),
        });
    }
    measured.extend(cursor.banks.iter().map(|bank| {
        let alg = bank.value.alg();
        match bank.extend {
            Extend::Native if alg == column => claimed,
            Extend::Native => template_hash(alg, entry),
            Extend::PaddedSha1 if column == HashAlg::Sha1 => {
                Digest::filled(alg, claimed.as_bytes())
            }
            Extend::PaddedSha1 => {
                Digest::filled(alg, template_hash(HashAlg::Sha1, entry).as_bytes())
            }
        }
    }));
    Ok(())
}
