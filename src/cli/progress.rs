//! A bar on standard error while many files are checked; only on a terminal, and only when it takes a while.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::session::Cancel;
use indicatif::{ProgressBar, ProgressStyle};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(700);
const TICK: Duration = Duration::from_millis(100);

/// A bar that follows a check; it ends when this is dropped.
pub(super) struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Follows a check.
    pub(super) fn of(work: &Cancel) -> Self {
        if !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let work = work.clone();
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new(0);
            if let Ok(style) =
                ProgressStyle::with_template("{bar:30} {pos}/{len} checked, {elapsed}")
            {
                bar.set_style(style);
            }
            loop {
                let (done, total) = work.progress();
                if total > 0 {
                    bar.set_length(total as u64);
                    bar.set_position(done as u64);
                }
                if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
            bar.finish_and_clear();
        });
        Progress(Some((end, thread)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}
