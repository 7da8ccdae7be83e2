//! Reports that need not be made again.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::check::{Given, Report};
use super::discover::Project;
use super::files::{Files, Trace};

/// Projects whose reports are kept.
const KEPT: usize = 1 << 10;

type Key = (&'static str, Vec<String>);

struct Entry {
    given: Given,
    trace: Arc<Trace>,
    report: Arc<Report>,
}

/// The last report of each project, with everything that it was made from.
#[derive(Default)]
pub(super) struct Memo {
    entries: Mutex<FxHashMap<Key, Entry>>,
}

impl Memo {
    /// The report of a project, if it would come out the same now.
    pub(super) fn get(
        &self,
        project: &Project,
        given: &Given,
        files: &Files,
    ) -> Option<Arc<Report>> {
        let (trace, report) = {
            let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            let entry = entries.get(&key(project))?;
            if entry.given != *given {
                return None;
            }
            (entry.trace.clone(), entry.report.clone())
        };
        // Files are read without the lock.
        trace.holds(files).then_some(report)
    }

    pub(super) fn put(&self, project: &Project, given: &Given, trace: Trace, report: Arc<Report>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= KEPT {
            entries.clear();
        }
        let entry = Entry {
            given: given.clone(),
            trace: Arc::new(trace),
            report,
        };
        entries.insert(key(project), entry);
    }
}

fn key(project: &Project) -> Key {
    (project.language.name(), project.files.clone())
}
