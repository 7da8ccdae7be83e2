//! `--watch`: check again whenever a file changes.
//!
//! Files are asked for their time and size several times a second: that needs nothing of the system that some file systems
//! do not have.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::session::{Batch, Session};
use ignore::WalkBuilder;

use super::{Exit, print};

const PAUSE: Duration = Duration::from_millis(250);

/// What tells that a file has changed; none when it is not there.
type Stamp = Option<(SystemTime, u64)>;

/// Checks until the program is ended.
pub(super) fn watch(
    paths: &[PathBuf],
    session: &Session,
    check: impl Fn(&Session) -> Result<(Batch, Exit), Exit>,
) -> Exit {
    if paths.iter().any(|path| path == Path::new("-")) {
        eprintln!("error: `--watch` cannot watch standard input");
        return Exit::Usage;
    }
    let terminal = std::io::stdout().is_terminal();
    loop {
        if terminal {
            // Clear the screen and go to its start.
            print("\u{1b}[2J\u{1b}[3J\u{1b}[H");
        }
        let watched: Vec<String> = match check(session) {
            Ok((batch, _)) => {
                let reports = batch.reports.iter();
                reports
                    .flat_map(|report| report.watched.iter().cloned())
                    .collect()
            }
            Err(Exit::Usage) => return Exit::Usage,
            Err(_) => Vec::new(),
        };
        eprintln!("watching; Ctrl-C ends");
        let before = stamps(paths, &watched);
        while stamps(paths, &watched) == before {
            std::thread::sleep(PAUSE);
        }
    }
}

fn stamps(paths: &[PathBuf], watched: &[String]) -> BTreeMap<PathBuf, Stamp> {
    let mut stamps = BTreeMap::new();
    let mut add = |path: PathBuf| {
        let stamp = std::fs::metadata(&path).ok();
        let stamp = stamp.filter(|found| found.is_file());
        let stamp = stamp.and_then(|found| Some((found.modified().ok()?, found.len())));
        stamps.insert(path, stamp);
    };
    for path in watched {
        add(PathBuf::from(path));
    }
    for path in paths {
        for entry in WalkBuilder::new(path).build().flatten() {
            add(entry.into_path());
        }
    }
    stamps
}
