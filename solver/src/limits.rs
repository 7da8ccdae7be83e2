//! Limits on time and memory, and the wish of the user to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Why an answer was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The deadline passed.
    Time,
    /// The memory allowed was used up.
    Memory,
    /// The user interrupted the search.
    Interrupted,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::Time => "the time limit was reached",
            Reason::Memory => "the memory limit was reached",
            Reason::Interrupted => "interrupted",
        })
    }
}

/// When to give up.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The moment after which nothing more is tried.
    pub deadline: Option<Instant>,
    /// Bytes that translation and clauses may take.
    pub memory: Option<u64>,
    /// Set by another thread to stop the search.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// Why to stop now, if so; asks the clock.
    pub fn exceeded(&self) -> Option<Reason> {
        if let Some(flag) = &self.interrupt
            && flag.load(Ordering::Relaxed)
        {
            return Some(Reason::Interrupted);
        }
        if let Some(deadline) = self.deadline
            && Instant::now() >= deadline
        {
            return Some(Reason::Time);
        }
        None
    }
}

/// Counts work against [`Limits`], asking the clock only now and then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget {
    limits: Limits,
    ticks: u64,
    next_look: u64,
    bytes: u64,
}

/// Units of work between two looks at the clock; one unit is about a gate or a matrix cell.
const TICKS_PER_LOOK: u64 = 4096;

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Budget {
            limits,
            ..Budget::default()
        }
    }

    /// Counts `work` units and says when to stop.
    pub(crate) fn spend(&mut self, work: usize) -> Result<(), Reason> {
        self.ticks = self.ticks.saturating_add(work as u64).saturating_add(1);
        if self.ticks < self.next_look {
            return Ok(());
        }
        self.next_look = self.ticks.saturating_add(TICKS_PER_LOOK);
        self.limits.exceeded().map_or(Ok(()), Err)
    }

    /// Says whether `bytes` more than what is held already are allowed.
    pub(crate) fn fits(&self, bytes: u64) -> Result<(), Reason> {
        match self.limits.memory {
            Some(memory) if self.bytes.saturating_add(bytes) > memory => Err(Reason::Memory),
            _ => Ok(()),
        }
    }

    /// Records how many bytes are held.
    pub(crate) fn hold(&mut self, bytes: u64) -> Result<(), Reason> {
        self.bytes = bytes;
        self.fits(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passed_deadline_stops_the_work() {
        let mut budget = Budget::new(Limits {
            deadline: Some(Instant::now()),
            ..Limits::default()
        });
        assert_eq!(budget.spend(1), Err(Reason::Time));
    }

    #[test]
    fn an_interrupt_is_noticed() {
        let flag = Arc::new(AtomicBool::new(false));
        let mut budget = Budget::new(Limits {
            interrupt: Some(flag.clone()),
            ..Limits::default()
        });
        assert_eq!(budget.spend(1), Ok(()));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(budget.spend(10_000), Err(Reason::Interrupted));
    }

    #[test]
    fn memory_is_counted() {
        let mut budget = Budget::new(Limits {
            memory: Some(100),
            ..Limits::default()
        });
        assert_eq!(budget.hold(60), Ok(()));
        assert_eq!(budget.fits(30), Ok(()));
        assert_eq!(budget.fits(41), Err(Reason::Memory));
        assert_eq!(budget.hold(101), Err(Reason::Memory));
    }
}
