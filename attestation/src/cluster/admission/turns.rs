//! Checks in turn: as many at once as there are processors, in the order in which they were asked for.
//!
//! A check is all computing. Many at once make none of them faster, and those that were begun first wait for those that were
//! begun last; the API server gives up on who is answered late.

use std::sync::{Condvar, Mutex, PoisonError};

/// Whose turn it is.
#[derive(Debug)]
pub(super) struct Turns {
    at_once: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How many came.
    came: u64,
    /// How many are done.
    done: u64,
}

impl Default for Turns {
    fn default() -> Self {
        let processors = std::thread::available_parallelism();
        Turns {
            at_once: processors.map_or(1, |number| number.get() as u64),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }
}

/// Gives the turn to the next, however the work ends.
struct Done<'t>(&'t Turns);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        drop(state);
        self.0.changed.notify_all();
    }
}

impl Turns {
    /// Waits for its turn, and works.
    pub(super) fn wait<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let own = state.came;
        state.came += 1;
        let turn = |state: &mut State| own >= state.done + self.at_once;
        let waited = self.changed.wait_while(state, turn);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        let _done = Done(self);
        work()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn no_more_than_there_are_turns_work_at_once_and_nobody_is_left_out() {
        let turns = Turns {
            at_once: 2,
            ..Turns::default()
        };
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for number in 0..40 {
                let (turns, now, most) = (&turns, &now, &most);
                scope.spawn(move || {
                    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        turns.wait(|| {
                            most.fetch_max(
                                now.fetch_add(1, Ordering::SeqCst) + 1,
                                Ordering::SeqCst,
                            );
                            std::thread::yield_now();
                            now.fetch_sub(1, Ordering::SeqCst);
                            assert!(number % 8 != 0, "some fail");
                        });
                    }));
                    assert_eq!(failed.is_err(), number % 8 == 0);
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 2);
        assert_eq!(turns.state.lock().unwrap().done, 40);
    }
}
