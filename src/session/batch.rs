//! Many projects, checked together.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use locus_core::vocabulary::lg;
use locus_core::{Diagnostic, FileId, Severity, Sources, Span};
use locus_frontends::loader::normalize;
use serde::Serialize;

use super::check::{Given, Loading, Report, in_order};
use super::discover::{Project, Skipped};
use super::every::Violable;
use super::explain::Explanation;
use super::ignores;
use super::suggest::Suggestion;
use super::{Cancel, Cancelled, Snapshot, on_all_cores};

/// What was counted over all projects.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Files that were checked; those that a configuration only names are not counted.
    pub files: usize,
    /// Locations of all graphs.
    pub locations: usize,
    /// Rules that were checked, of each language.
    pub rules: BTreeMap<&'static str, usize>,
    /// Variables of the SAT problems that were solved.
    pub variables: usize,
    /// Clauses of the SAT problems that were solved.
    pub clauses: usize,
    /// Things that rules are about and that depend on inputs, when all inputs are taken.
    pub dependent: usize,
    /// Configurations that were checked.
    pub checked: usize,
    /// How many of them nothing forbids to deploy.
    pub deployable: usize,
    /// Graphs that the reference model has as instances; none when it was not asked.
    pub instances: Option<usize>,
}

/// What came of checking many projects, about one set of sources.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// What is wrong, in the order of files and text.
    pub findings: Vec<Diagnostic>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Diagnostic>,
    /// What could not be decided because of inputs that are too free.
    pub undecided: Vec<Diagnostic>,
    /// Files met in folders that are not checked by themselves.
    pub skipped: Vec<Skipped>,
    /// The folders that were searched, and the files in them that may be configurations.
    pub searched: Vec<(String, Vec<String>)>,
    /// The sources that all of it is about.
    pub sources: Sources,
    /// What was counted.
    pub totals: Totals,
    /// What is wrong and a comment in the files ignores, with the reason that it gives.
    pub ignored: Vec<(Diagnostic, String)>,
    /// How many findings a baseline has taken out.
    pub baselined: usize,
    /// What this was compared with, if it was; then the findings are only those that are new.
    pub compared: Option<Compared>,
    /// The reports that this was made from, each about its own sources.
    pub reports: Vec<Arc<Report>>,
    /// The projects that were checked, in the order of the reports.
    pub checked: Vec<Checked>,
    /// Edits that mend projects, when somebody asked for them.
    pub suggestions: Vec<Suggestion>,
}

/// How findings differ from those of an earlier state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// What the earlier state is called.
    pub base: String,
    /// How many findings are as before.
    pub same: usize,
    /// What is no longer there.
    pub fixed: Vec<Fixed>,
}

/// A finding that is no longer there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fixed {
    /// Its rule.
    pub rule: String,
    /// What it said.
    pub message: String,
    /// The file it was in.
    pub file: Option<String>,
    /// The line it was on.
    pub line: Option<usize>,
}

/// A project that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The project.
    pub project: Project,
    /// What came of it.
    pub report: Arc<Report>,
    /// What the files of its report are in the sources of the batch.
    files: Vec<FileId>,
}

/// A project, and how far it has come.
enum Progress {
    Known(Arc<Report>),
    Loaded(Box<Loading>),
    /// It is loaded when it is checked, as nobody asks before what it consists of.
    Due,
}

impl Progress {
    fn files(&self) -> &[String] {
        match self {
            Progress::Known(report) => &report.files,
            Progress::Loaded(loading) => &loading.loaded.files,
            Progress::Due => &[],
        }
    }
}

impl Snapshot {
    /// Checks all projects in some files and folders, and some projects beside. What is a part of another project is
    /// checked as that, unless it was named.
    ///
    /// # Errors
    /// When the check was called off.
    pub fn check_all(
        &self,
        paths: &[PathBuf],
        projects: &[Project],
        given: &Given,
        cancel: &Cancel,
    ) -> Result<Batch, Cancelled> {
        let discovery = self.discover(paths);
        let mut batch = Batch {
            findings: discovery.broken,
            unchecked: discovery.unchecked,
            skipped: discovery.skipped,
            searched: discovery.searched,
            sources: discovery.sources,
            ..Batch::default()
        };
        batch.totals.files = discovery.broken_files;
        batch.totals.instances = given.as_instance.then_some(0);
        let named = paths.iter().map(|path| path.display().to_string());
        let named = named.chain(
            projects
                .iter()
                .flat_map(|project| project.files.iter().cloned()),
        );
        let named: HashSet<String> = named.map(|path| normalize(&path)).collect();
        let all: Vec<&Project> = projects.iter().chain(&discovery.projects).collect();
        let together = self.together(&all, &named, given);
        let in_groups = together.iter().flat_map(|group| &group.files);
        let in_groups: HashSet<&str> = in_groups.map(String::as_str).collect();
        let is_alone = |project: &&Project| !in_groups.contains(project.first());
        let all: Vec<&Project> = all.into_iter().filter(is_alone).collect();
        let loaded = on_all_cores(&all, |project| -> Result<Progress, Cancelled> {
            cancel.check()?;
            Ok(match self.remembered(project, given) {
                Some(report) => Progress::Known(report),
                None => Progress::Loaded(Box::new(self.load(project, given))),
            })
        });
        let loaded: Vec<Progress> = loaded.into_iter().collect::<Result<_, Cancelled>>()?;
        let (is_own, parts) = self.own(&all, &loaded, &named);
        let together: Vec<Project> = together
            .into_iter()
            .filter_map(|mut group| {
                group.files.retain(|path| !parts.contains(&normalize(path)));
                (!group.files.is_empty()).then_some(group)
            })
            .collect();
        let own = all.iter().zip(loaded).zip(is_own);
        let own = own.filter(|(_, is_own)| *is_own).map(|(both, _)| both);
        let own = own.map(|(project, progress)| (*project, progress));
        let own = own.chain(together.iter().map(|group| (group, Progress::Due)));
        let own: Vec<(&Project, Mutex<Option<Progress>>)> = own
            .map(|(project, progress)| (project, Mutex::new(Some(progress))))
            .collect();
        let files = own.iter().flat_map(|(project, _)| &project.files);
        let files: HashSet<String> = files.map(|path| normalize(path)).collect();
        batch.totals.files += files.len();
        cancel.expect(own.len());
        let reports = on_all_cores(&own, |(project, progress)| {
            let report = self.last_step(project, progress, given, cancel);
            cancel.step();
            report
        });
        let reports: Vec<Arc<Report>> = reports.into_iter().collect::<Result<_, Cancelled>>()?;
        let sources = reports.iter().map(|report| report.sources.clone());
        let ids = batch.sources.merge(sources.collect());
        for (report, files) in reports.iter().zip(&ids) {
            batch.add(report, files);
        }
        batch.drop_used(&reports, &ids);
        let checked = own.iter().zip(&reports).zip(ids);
        batch.checked = checked
            .map(|(((project, _), report), files)| Checked {
                project: (*project).clone(),
                report: report.clone(),
                files,
            })
            .collect();
        batch.reports = reports;
        batch.sort();
        Ok(batch)
    }

    /// Projects of the files that are checked as well together, where nobody asks about each.
    fn together(&self, all: &[&Project], named: &HashSet<String>, given: &Given) -> Vec<Project> {
        if given.apart || given.as_instance {
            return Vec::new();
        }
        let mut groups = Vec::new();
        for language in self.registry.languages() {
            let own = all.iter().filter(|project| {
                project.language.name() == language.name()
                    && project.files.len() == 1
                    && !named.contains(&normalize(project.first()))
            });
            let own: Vec<&str> = own.map(|project| project.first()).collect();
            let found = language.together(&own, &self.files).into_iter();
            groups.extend(found.map(|files| Project::new(language, files)));
        }
        // The user's own rules may be about what each of them has.
        groups.retain(|group| self.rules_of(group, given).is_empty());
        groups
    }

    /// Which projects are checked by themselves, and the files that are checked with these.
    fn own(
        &self,
        all: &[&Project],
        loaded: &[Progress],
        named: &HashSet<String>,
    ) -> (Vec<bool>, HashSet<String>) {
        let parts = |progress: &Progress| -> Vec<String> {
            let files = progress.files().iter().skip(1);
            files.map(|path| normalize(path)).collect()
        };
        let of_all: HashSet<String> = loaded.iter().flat_map(parts).collect();
        let is_own = |project: &&Project| {
            let first = normalize(project.first());
            !of_all.contains(&first)
                || named.contains(&first)
                || project.language.stands_alone(project.first(), &self.files)
        };
        let mut own: Vec<bool> = all.iter().map(is_own).collect();
        let checked = loaded.iter().zip(&own).filter(|(_, own)| **own);
        let mut checked: HashSet<String> =
            checked.flat_map(|(progress, _)| parts(progress)).collect();
        // Where files are parts of each other only, the first is checked with the others.
        for ((project, progress), own) in all.iter().zip(loaded).zip(&mut own) {
            if !*own && !checked.contains(&normalize(project.first())) {
                *own = true;
                checked.extend(parts(progress));
            }
        }
        (own, checked)
    }

    fn last_step(
        &self,
        project: &Project,
        progress: &Mutex<Option<Progress>>,
        given: &Given,
        cancel: &Cancel,
    ) -> Result<Arc<Report>, Cancelled> {
        let progress = progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match progress {
            Some(Progress::Known(report)) => Ok(report),
            Some(Progress::Loaded(loading)) => self.finish(project, *loading, given, cancel),
            Some(Progress::Due) => self.check(project, given, cancel),
            None => Err(Cancelled),
        }
    }

    /// Adds to each finding of a batch why it is made, as far as that can be told.
    ///
    /// # Errors
    /// When it was called off.
    pub fn explain_all(
        &self,
        batch: &mut Batch,
        given: &Given,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let all = batch.checked.iter().flat_map(|checked| {
            let found = checked.report.findings.iter();
            found.map(move |finding| (checked, finding))
        });
        let all: Vec<(&Checked, &Diagnostic)> = all.collect();
        let explained = on_all_cores(&all, |(checked, finding)| {
            let report = &checked.report;
            let explained = self.explain(&checked.project, given, report, finding, cancel)?;
            let mut plain = (*finding).clone();
            let mut told = plain.clone();
            told.reasons = explained.map(Explanation::told).unwrap_or_default();
            plain.move_to(&checked.files);
            told.move_to(&checked.files);
            Ok((plain, told))
        });
        let key = |finding: &Diagnostic| {
            let (code, message) = (finding.code.clone(), finding.message.clone());
            (code, message, finding.primary())
        };
        let mut places: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, finding) in batch.findings.iter().enumerate() {
            places.entry(key(finding)).or_default().push(at);
        }
        let mut called_off = Ok(());
        for one in explained {
            // What was explained before it was called off stays.
            let (plain, told) = match one {
                Ok(both) => both,
                Err(cancelled) => {
                    called_off = Err(cancelled);
                    continue;
                }
            };
            let same = places.get(&key(&plain)).into_iter().flatten();
            let mut same = same.copied();
            let at = same.find(|&at| batch.findings.get(at) == Some(&plain));
            if let Some(finding) = at.and_then(|at| batch.findings.get_mut(at)) {
                *finding = told;
            }
        }
        called_off
    }

    /// Looks for edits that mend the projects of a batch.
    ///
    /// # Errors
    /// When it was called off.
    pub fn suggest_all(
        &self,
        batch: &mut Batch,
        given: &Given,
        safe_only: bool,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let broken = |checked: &&Checked| !checked.report.findings.is_empty();
        let all: Vec<&Checked> = batch.checked.iter().filter(broken).collect();
        let found = on_all_cores(&all, |checked| {
            self.suggest(&checked.project, given, safe_only, cancel)
        });
        let found: Vec<Option<Suggestion>> = found.into_iter().collect::<Result<_, Cancelled>>()?;
        batch.suggestions = found.into_iter().flatten().collect();
        Ok(())
    }
}

impl Batch {
    /// What breaks for some inputs, each with its project.
    pub fn violable(&self) -> impl Iterator<Item = (&Project, &Violable)> {
        self.checked.iter().flat_map(|checked| {
            let violable = checked.report.everything.violable.iter();
            violable.map(|one| (&checked.project, one))
        })
    }

    /// Adds what came of one project, whose files are these here.
    fn add(&mut self, report: &Report, files: &[FileId]) {
        let moved = |diagnostic: &Diagnostic| {
            let mut diagnostic = diagnostic.clone();
            diagnostic.move_to(files);
            diagnostic
        };
        self.findings.extend(report.findings.iter().map(moved));
        self.unchecked.extend(report.unchecked.iter().map(moved));
        let ignored = report.ignored.iter();
        let ignored = ignored.map(|(finding, reason)| (moved(finding), reason.clone()));
        self.ignored.extend(ignored);
        let everything = &report.everything;
        self.undecided
            .extend(everything.undecided.iter().map(moved));
        let totals = &mut self.totals;
        totals.checked += 1;
        totals.deployable += usize::from(report.is_deployable());
        totals.locations += report.stats.locations;
        totals.variables += report.stats.variables;
        totals.clauses += report.stats.clauses;
        totals.dependent += everything.dependent;
        let rules = totals.rules.entry(report.language).or_default();
        *rules = report.stats.rules.max(*rules);
        let rules = totals.rules.entry(lg::NAME).or_default();
        *rules = report.stats.shared_rules.max(*rules);
        if let Some(instances) = &mut totals.instances {
            *instances += usize::from(report.is_instance == Some(true));
        }
    }

    /// A comment that one project needs is not unused because another, with the same file, does not need it.
    fn drop_used(&mut self, reports: &[Arc<Report>], ids: &[Vec<FileId>]) {
        let mut used: HashSet<Span> = HashSet::new();
        for (report, ids) in reports.iter().zip(ids) {
            for span in &report.used_ignores {
                let file = ids.get(span.file.index()).copied();
                used.extend(file.map(|file| Span { file, ..*span }));
            }
        }
        self.findings.retain(|finding| {
            let place = finding.primary();
            !ignores::is_unused(finding) || place.is_none_or(|place| !used.contains(&place))
        });
    }

    /// Brings the findings into the order of files and text, each once: several projects may share a file.
    pub(super) fn sort(&mut self) {
        in_order(&mut self.findings, &self.sources);
        self.findings.dedup();
        self.ignored.dedup();
        let mut told = HashSet::new();
        self.unchecked.retain(|one| {
            let place = one.primary();
            place.is_none() || told.insert((one.code.clone(), one.message.clone(), place))
        });
    }

    /// How many findings have a severity.
    pub fn count(&self, severity: Severity) -> usize {
        let found = self.findings.iter();
        found.filter(|finding| finding.severity == severity).count()
    }
}
