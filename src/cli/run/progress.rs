//! A line on standard error while work goes on for more than a second; only on a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows no line.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn start(total: usize) -> Self {
        let bar = if std::io::stderr().is_terminal() {
            let bar =
                ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
            let style = ProgressStyle::with_template("{spinner} {pos}/{len} commands, {elapsed}");
            if let Ok(style) = style {
                bar.set_style(style);
            }
            let later = bar.downgrade();
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                if let Some(bar) = later.upgrade() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(Duration::from_millis(100));
                }
            });
            bar
        } else {
            ProgressBar::hidden()
        };
        Progress { bar }
    }

    pub(super) fn finished(&self) {
        self.bar.inc(1);
    }

    /// Prints something without the line in between.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
