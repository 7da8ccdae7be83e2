//! Work that can be called off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A flag that calls work off, and how far the work has come; clones share both.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Work>);

#[derive(Debug, Default)]
struct Work {
    cancelled: AtomicBool,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Cancel {
    /// Calls the work off.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was called off.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// How many steps of how many are done.
    pub fn progress(&self) -> (usize, usize) {
        let total = self.0.total.load(Ordering::Relaxed);
        (self.0.done.load(Ordering::Relaxed), total)
    }

    /// Says how many steps there are.
    pub(super) fn expect(&self, total: usize) {
        self.0.total.store(total, Ordering::Relaxed);
    }

    /// Says that a step is done.
    pub(super) fn step(&self) {
        self.0.done.fetch_add(1, Ordering::Relaxed);
    }

    /// An error once it was called off.
    ///
    /// # Errors
    /// When it was.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }
}

/// The work was called off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl std::fmt::Display for Cancelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the check was called off")
    }
}

impl std::error::Error for Cancelled {}
