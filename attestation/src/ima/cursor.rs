//! Where the verification of a worker's log stands, and where its next answer may start.

use serde::{Deserialize, Serialize};

use super::replay::BankValue;
use crate::digest::{Digest, HashAlg};

/// What a TPM says about its own time; part of every quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TpmClock {
    /// Milliseconds that the TPM has been powered.
    pub clock: u64,
    /// Which boot this is.
    pub boot: Boot,
}

/// Which boot of a machine a quote is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Boot {
    /// How often the TPM was reset since it was owned.
    pub reset_count: u32,
    /// How often it was resumed or restarted since the last reset.
    pub restart_count: u32,
}

/// How far a worker's log has been verified; one per worker, shared by all its pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The number of the first entry that has not been verified.
    pub next_entry: u64,
    /// The value of the measurement PCR after the entries so far, in each bank.
    pub banks: Vec<BankValue>,
    /// The TPM's time when this was true.
    pub tpm: TpmClock,
    /// How many entries the worker has shown, verified or not.
    pub seen: u64,
    /// How many answers in a row had a quote that did not cover entries already shown before.
    pub behind: u32,
    /// The terms by which the entries so far were read: under others they are read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_by: Option<Digest>,
}

/// Where an answer takes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resume {
    /// At the entry that was asked for: only new entries follow.
    Continue(Cursor),
    /// At the entry that was asked for, after the machine was suspended: only new entries follow.
    Resumed(Cursor),
    /// At entry 0, in the same boot: the log must come by where it was before.
    Restart(Cursor),
    /// At entry 0, after the machine was suspended, or booted without a reset of the TPM: which of them, is seen
    /// by whether the log comes by where it was before.
    Restarted(Cursor),
    /// At entry 0, after a boot: whatever was trusted before is not any more.
    Rebooted(Cursor),
}

impl Resume {
    /// The state that the entries of the answer are replayed on.
    pub fn cursor(&self) -> &Cursor {
        match self {
            Resume::Continue(cursor)
            | Resume::Resumed(cursor)
            | Resume::Restart(cursor)
            | Resume::Restarted(cursor)
            | Resume::Rebooted(cursor) => cursor,
        }
    }

    /// Whether the answer begins before what was verified in this boot.
    pub fn repeats(&self) -> bool {
        matches!(self, Resume::Restart(_) | Resume::Restarted(_))
    }
}

/// Why an answer cannot be taken up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// The answer starts elsewhere than asked.
    #[error("the log was asked for from entry {asked} and starts at entry {answered}")]
    WrongStart {
        /// The entry that was asked for.
        asked: u64,
        /// The entry the answer starts with.
        answered: u64,
    },
    /// The machine was booted since, and the answer goes on as if it had not been.
    #[error("the worker was booted since its last quote and did not answer from entry 0")]
    BootChanged,
    /// Within one boot the TPM's clock only goes forward.
    #[error("the TPM's clock went back from {before} ms to {after} ms within one boot")]
    ClockWentBack {
        /// At the last quote.
        before: u64,
        /// At this one.
        after: u64,
    },
    /// Within one reset, the counter of restarts only goes up.
    #[error("the TPM's restart counter went back from {before} to {after} within one boot")]
    RestartCountWentBack {
        /// At the last quote.
        before: u32,
        /// At this one.
        after: u32,
    },
    /// The counter of resets only goes up: a quote of an earlier boot, or of another TPM.
    #[error("the TPM's reset counter went back from {before} to {after}")]
    ResetCountWentBack {
        /// At the last quote.
        before: u32,
        /// At this one.
        after: u32,
    },
}

impl Cursor {
    /// Before the first entry of a boot, in the usual PCR.
    pub fn fresh(banks: &[HashAlg], tpm: TpmClock) -> Self {
        Cursor::fresh_in(banks, &[super::replay::DEFAULT_PCR], tpm)
    }

    /// Before the first entry of a boot, in some PCRs: all of the first bank, then all of the next.
    pub fn fresh_in(banks: &[HashAlg], pcrs: &[u32], tpm: TpmClock) -> Self {
        let registers = banks
            .iter()
            .flat_map(|alg| pcrs.iter().map(move |pcr| (*alg, *pcr)));
        Cursor {
            next_entry: 0,
            banks: registers
                .map(|(alg, pcr)| BankValue {
                    pcr,
                    ..BankValue::native(Digest::zero(alg))
                })
                .collect(),
            tpm,
            seen: 0,
            behind: 0,
            read_by: None,
        }
    }

    /// The same banks and ways of extending, before the first entry.
    fn rewound(&self, tpm: TpmClock) -> Self {
        Cursor {
            next_entry: 0,
            banks: self
                .banks
                .iter()
                .map(|bank| BankValue {
                    value: Digest::zero(bank.value.alg()),
                    ..*bank
                })
                .collect(),
            tpm,
            seen: 0,
            behind: 0,
            read_by: None,
        }
    }

    /// Whether it is about exactly these registers, in this order.
    pub fn covers(&self, banks: &[HashAlg], pcrs: &[u32]) -> bool {
        let asked = banks
            .iter()
            .flat_map(|alg| pcrs.iter().map(move |pcr| (*alg, *pcr)));
        asked.eq(self.banks.iter().map(|bank| (bank.value.alg(), bank.pcr)))
    }

    /// Whether another one stands at the same entry, with the same values.
    pub fn is_at(&self, other: &Cursor) -> bool {
        self.next_entry == other.next_entry && self.banks == other.banks
    }

    /// Decides where an answer that starts at entry `answered` takes up.
    ///
    /// `self` is what was committed last; for a worker never verified before it is
    /// [`Cursor::fresh`] with the time of this very quote.
    pub fn resume(&self, answered: u64, tpm: TpmClock) -> Result<Resume, ResumeError> {
        let before = self.tpm;
        if tpm.boot.reset_count < before.boot.reset_count {
            return Err(ResumeError::ResetCountWentBack {
                before: before.boot.reset_count,
                after: tpm.boot.reset_count,
            });
        }
        if tpm.boot.reset_count != before.boot.reset_count {
            return if answered == 0 {
                Ok(Resume::Rebooted(self.rewound(tpm)))
            } else {
                Err(ResumeError::BootChanged)
            };
        }
        let restarts = (before.boot.restart_count, tpm.boot.restart_count);
        if restarts.1 < restarts.0 {
            return Err(ResumeError::RestartCountWentBack {
                before: restarts.0,
                after: restarts.1,
            });
        }
        // A TPM that was suspended keeps its registers; whether it did is seen when the log is replayed.
        let suspended = restarts.0 != restarts.1;
        if suspended && answered == self.next_entry && answered > 0 {
            return Ok(Resume::Resumed(Cursor {
                tpm,
                ..self.clone()
            }));
        }
        if suspended {
            return if answered == 0 {
                Ok(Resume::Restarted(self.rewound(tpm)))
            } else {
                Err(ResumeError::BootChanged)
            };
        }
        if tpm.clock < before.clock {
            return Err(ResumeError::ClockWentBack {
                before: before.clock,
                after: tpm.clock,
            });
        }
        if answered == self.next_entry {
            return Ok(Resume::Continue(Cursor {
                tpm,
                ..self.clone()
            }));
        }
        if answered == 0 {
            // The entries shown before must be shown again.
            return Ok(Resume::Restart(Cursor {
                seen: self.next_entry,
                ..self.rewound(tpm)
            }));
        }
        Err(ResumeError::WrongStart {
            asked: self.next_entry,
            answered,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(clock: u64, reset_count: u32, restart_count: u32) -> TpmClock {
        TpmClock {
            clock,
            boot: Boot {
                reset_count,
                restart_count,
            },
        }
    }

    fn committed() -> Cursor {
        Cursor {
            next_entry: 7,
            banks: vec![BankValue::native(HashAlg::Sha256.hash(&[b"state"]))],
            tpm: clock(1000, 3, 1),
            seen: 9,
            behind: 0,
            read_by: None,
        }
    }

    #[test]
    fn continues_where_it_was_asked_to() {
        let resume = committed().resume(7, clock(2000, 3, 1)).unwrap();
        assert!(matches!(resume, Resume::Continue(_)));
        assert_eq!(resume.cursor().banks, committed().banks);
        assert_eq!(resume.cursor().seen, 9);
    }

    #[test]
    fn an_answer_from_zero_starts_over() {
        let resume = committed().resume(0, clock(2000, 3, 1)).unwrap();
        assert!(matches!(resume, Resume::Restart(_)));
        assert!(resume.repeats());
        assert!(resume.cursor().banks[0].value.is_zero());
        assert_eq!(resume.cursor().seen, 7, "verified entries cannot vanish");
    }

    #[test]
    fn a_reset_is_a_boot() {
        for later in [clock(10, 4, 0), clock(2000, 4, 1)] {
            assert_eq!(committed().resume(7, later), Err(ResumeError::BootChanged));
            let resume = committed().resume(0, later).unwrap();
            assert!(matches!(resume, Resume::Rebooted(_)));
            assert_eq!(resume.cursor().seen, 0);
        }
    }

    #[test]
    fn a_restart_may_be_a_suspended_machine() {
        let later = clock(10, 3, 2);
        let resume = committed().resume(7, later).unwrap();
        assert!(matches!(resume, Resume::Resumed(_)));
        assert_eq!(resume.cursor().banks, committed().banks);
        let resume = committed().resume(0, later).unwrap();
        assert!(matches!(resume, Resume::Restarted(_)) && resume.repeats());
        assert_eq!(committed().resume(3, later), Err(ResumeError::BootChanged));
        assert_eq!(
            committed().resume(7, clock(5000, 3, 0)),
            Err(ResumeError::RestartCountWentBack {
                before: 1,
                after: 0
            })
        );
    }

    #[test]
    fn time_does_not_go_back() {
        assert_eq!(
            committed().resume(7, clock(999, 3, 1)),
            Err(ResumeError::ClockWentBack {
                before: 1000,
                after: 999
            })
        );
        assert_eq!(
            committed().resume(0, clock(5000, 2, 9)),
            Err(ResumeError::ResetCountWentBack {
                before: 3,
                after: 2
            })
        );
    }

    #[test]
    fn any_other_start_fails() {
        for answered in [1, 6, 8, u64::MAX] {
            assert_eq!(
                committed().resume(answered, clock(2000, 3, 1)),
                Err(ResumeError::WrongStart { asked: 7, answered })
            );
        }
    }
}
