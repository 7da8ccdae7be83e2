//! A session: files with unsaved text over them, and what can be asked about them.
//!
//! A [`Session`] takes changes; a [`Snapshot`] of it answers questions, on any thread, about the files as they were when
//! it was taken. Plain data comes in and goes out: no flags, no exit codes and no protocol of any editor. A check takes
//! milliseconds, so nothing is computed by halves: a report is made anew, or is the one that was made from the very same
//! files, settings and inputs.

mod after_dot;
mod batch;
mod cancel;
mod check;
mod complete;
mod discover;
mod every;
mod examples;
mod explain;
mod files;
mod here;
mod ignores;
mod memo;
mod model;
mod names;
mod placement;
mod recognise;
mod rendered;
mod rights;
mod settings;
mod suggest;

use std::path::PathBuf;
use std::sync::Arc;

use locus_core::{Diagnostic, Sources};
use locus_frontends::language::Registry;
use rayon::prelude::*;

pub use after_dot::Member;
pub use batch::{Batch, Checked, Compared, Fixed, Totals};
pub use cancel::{Cancel, Cancelled};
pub use check::{Given, Report};
pub use complete::{Completion, Written};
pub(crate) use discover::searched;
pub use discover::{Discovery, Project, Skipped};
pub use every::{Everything, Violable};
pub use examples::{Difference, Example, Tried};
pub use explain::Explanation;
pub use files::{Disk, FileSystem, Files, Seen, why};
pub use here::{Here, LocationHere, Part, RoleHere, Step, SymbolHere, Thing};
pub use ignores::comment_for;
pub use model::{ModelReport, NameKind, NamedHere};
pub use names::{NameHere, Renamed, TextEdit, is_plain};
pub use placement::Places;
pub use recognise::Skip;
pub use rendered::Origins;
pub use suggest::{Changed, Suggestion};

use files::Trace;
use memo::Memo;
use recognise::{Recognition, recognise};
use settings::{Known, Settings};

/// Takes changes of files, and gives snapshots.
#[derive(Debug)]
pub struct Session {
    now: Snapshot,
}

/// The files at one moment, and what is known about them. A clone is cheap.
#[derive(Clone)]
pub struct Snapshot {
    registry: Arc<Registry>,
    files: Files,
    revision: u64,
    known: Arc<Known>,
    memo: Option<Arc<Memo>>,
}

impl Session {
    /// A session about the file system.
    pub fn new() -> Self {
        Session::over(Arc::new(FileSystem), Registry::builtin())
    }

    /// A session about other files, in languages of the caller's choice.
    pub fn over(disk: Disk, registry: Registry) -> Self {
        Session {
            now: Snapshot {
                registry: Arc::new(registry),
                files: Files::new(disk),
                revision: 0,
                known: Arc::default(),
                memo: Some(Arc::default()),
            },
        }
    }

    /// The same, for whoever asks everything once: no report is kept.
    #[must_use]
    pub fn forgetful(mut self) -> Self {
        self.now.memo = None;
        self
    }

    /// Puts unsaved text over a file, which need not exist.
    pub fn open(&mut self, path: &str, content: impl Into<Arc<[u8]>>) {
        self.now.files.overlay(path, Some(content.into()));
        self.now.revision += 1;
    }

    /// Takes the unsaved text away again.
    pub fn close(&mut self, path: &str) {
        self.now.files.overlay(path, None);
        self.now.revision += 1;
    }

    /// The files as they are now. Files of the disk are read when they are needed.
    pub fn snapshot(&self) -> Snapshot {
        self.now.clone()
    }
}

impl Default for Session {
    fn default() -> Self {
        Session::new()
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Snapshot");
        shown.field("revision", &self.revision);
        shown.field("files", &self.files).finish_non_exhaustive()
    }
}

impl Snapshot {
    /// How many changes the session had taken.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The languages that are known.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The files, with unsaved text over them.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Finds the projects in some files and folders.
    pub fn discover(&self, paths: &[PathBuf]) -> Discovery {
        discover::discover(&self.registry, &self.files, paths)
    }

    /// The project that a file is the first of; none when the file is not a configuration.
    pub fn project_of(&self, path: &str) -> Option<Project> {
        match recognise(&self.registry, &self.files, path).1 {
            Recognition::Configuration(known) => {
                let found = locus_frontends::language::Found {
                    path,
                    kind: known.kind,
                    named: path,
                };
                let projects = known.language.projects(&[found], &self.files);
                let first = projects.into_iter().next()?;
                Some(Project::new(known.language, first.files))
            }
            _ => None,
        }
    }

    /// Checks a project, unless that was done before and nothing that the report was made from has changed.
    ///
    /// # Errors
    /// When the check was called off.
    pub fn check(
        &self,
        project: &Project,
        given: &Given,
        cancel: &Cancel,
    ) -> Result<Arc<Report>, Cancelled> {
        if let Some(report) = self.remembered(project, given) {
            return Ok(report);
        }
        cancel.check()?;
        let loading = self.load(project, given);
        self.finish(project, loading, given, cancel)
    }

    /// The report of a project that need not be made again.
    fn remembered(&self, project: &Project, given: &Given) -> Option<Arc<Report>> {
        self.memo.as_ref()?.get(project, given, &self.files)
    }

    /// Checks what was loaded, and remembers the report.
    fn finish(
        &self,
        project: &Project,
        loading: check::Loading,
        given: &Given,
        cancel: &Cancel,
    ) -> Result<Arc<Report>, Cancelled> {
        let (trace, mut report) = self.judge(loading, given, cancel)?;
        if given.all_inputs {
            self.every_input(project, given, &mut report, cancel)?;
        }
        let report = Arc::new(report);
        if let Some(memo) = &self.memo {
            memo.put(project, given, trace, report.clone());
        }
        Ok(report)
    }

    /// What is wrong with a settings file, the sources that this is about, and the paths that were read.
    pub fn check_settings(&self, path: &str) -> (Sources, Vec<Diagnostic>, Vec<String>) {
        let place = std::path::Path::new(path);
        let (settings, trace) = self
            .known
            .of(&self.registry, &self.files, Some(path), place);
        let mut sources = Sources::new();
        let wrong = settings.problems(&[], &mut sources);
        (sources, wrong, check::watched(&trace))
    }

    /// The settings of a project, and what was looked at to find them.
    fn settings(&self, project: &Project, given: &Given) -> (Arc<Settings>, Arc<Trace>) {
        let place = check::place(project);
        let asked = given.settings.as_deref();
        self.known.of(&self.registry, &self.files, asked, place)
    }
}

/// Calls a function for each of many things; for a single one, no thread is started.
fn on_all_cores<T: Sync, R: Send>(all: &[T], call: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match all {
        [one] => vec![call(one)],
        all => all.par_iter().map(&call).collect(),
    }
}
