//! `locus check`: configurations against the rules of their language.

mod files;
mod json;
mod text;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use locus_core::{Diagnostic, FileId, LocationGraph, Severity, Sources};
use locus_frontends::kind::FileKind;
use locus_frontends::language::Loaded;
use locus_frontends::loader::normalize;
use locus_invariants::instance::{self, Judgement};
use locus_invariants::{Options, Report, check_loaded};
use locus_solver::limits::Limits;
use rayon::prelude::*;

use crate::Exit;
use crate::cli::{CheckArgs, CheckFormat};
use crate::configuration::{self, Read};
use crate::loader::FileSystem;
use crate::settings::{self, Settings};

/// Everything found in one run.
#[derive(Default)]
struct Findings {
    sources: Sources,
    settings: settings::Known,
    findings: Vec<Diagnostic>,
    unchecked: Vec<Diagnostic>,
    files: usize,
    locations: usize,
    /// Rules that were checked, of each language.
    rules: BTreeMap<&'static str, usize>,
    variables: usize,
    clauses: usize,
    /// The configurations that were checked as a whole, and how many of them nothing forbids to deploy.
    checked: usize,
    deployable: usize,
    /// Graphs that the reference model has as instances; none when it was not asked.
    instances: Option<usize>,
    time: Duration,
}

/// Checks all files.
pub(crate) fn check(args: &CheckArgs) -> Exit {
    let start = Instant::now();
    let mut run = Findings::default();
    run.run(args);
    run.time = start.elapsed();
    let sources = &run.sources;
    run.findings.sort_by_cached_key(|finding| {
        let span = finding.primary();
        (
            span.map(|span| (sources.name(span.file).to_owned(), span.start)),
            finding.code.clone(),
        )
    });
    run.findings.dedup();
    let text = match args.format {
        CheckFormat::Text => text::render(&run),
        CheckFormat::Json => json::render(&run),
    };
    crate::run::print(&text);
    run.exit(args.fail_on.severity())
}

impl Findings {
    fn exit(&self, fail_on: Severity) -> Exit {
        if self
            .findings
            .iter()
            .any(|finding| finding.severity >= fail_on)
        {
            Exit::Findings
        } else if self.unchecked.is_empty() {
            Exit::Clean
        } else {
            Exit::Unanswered
        }
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    }

    /// Checks the files named, and those of folders.
    fn run(&mut self, args: &CheckArgs) {
        if !args.file.is_empty() {
            self.files += args.file.len();
            let files = args.file.iter().map(|path| path.display().to_string());
            let (kind, files) = (FileKind::Compose, files.collect());
            let first = args.file.first().map_or(Path::new("."), PathBuf::as_path);
            let settings = self.settings(first, args);
            let (inputs, sources) = (&args.inputs, &mut self.sources);
            let loaded = configuration::load(kind, files, &FileSystem, inputs, &settings, sources);
            let files = self.sources.files().collect();
            let loaded = loaded.map(|loaded| Project { loaded, files });
            self.check(loaded.into_iter().collect(), args);
        }
        let paths = files::walk(&args.files, &mut self.unchecked);
        let mut bases: Vec<(PathBuf, Arc<Settings>)> = Vec::new();
        for path in &paths {
            let base = files::base(path);
            if base.as_ref().is_some_and(|base| paths.contains(base)) {
                continue;
            }
            let path = base.unwrap_or_else(|| path.clone());
            let settings = self.settings(&path, args);
            bases.push((path, settings));
        }
        self.files += bases.len();
        let mut projects = self.read(&bases, args);
        // What another configuration includes or extends is checked as a part of it.
        let parts: HashSet<String> = projects
            .iter()
            .flat_map(|project| project.loaded.files.iter().skip(1))
            .map(|path| normalize(path))
            .collect();
        let named: HashSet<String> = args
            .files
            .iter()
            .map(|path| normalize(&path.display().to_string()))
            .collect();
        projects.retain(|project| {
            let first = project.loaded.files.first().map(|path| normalize(path));
            first.is_none_or(|path| !parts.contains(&path) || named.contains(&path))
        });
        self.check(projects, args);
    }

    /// Reads files of whatever kind they are, each by itself.
    fn read(&mut self, files: &[(PathBuf, Arc<Settings>)], args: &CheckArgs) -> Vec<Project> {
        let read = |(path, settings): &(PathBuf, Arc<Settings>)| {
            let mut sources = Sources::new();
            let read = configuration::read(path, &args.inputs, settings, &mut sources);
            (sources, read)
        };
        let (sources, read): (Vec<Sources>, Vec<Read>) =
            on_all_cores(files, read).into_iter().unzip();
        let mut projects = Vec::new();
        for (read, files) in read.into_iter().zip(self.sources.merge(sources)) {
            match read {
                Read::Loaded(loaded) => projects.push(Project {
                    loaded: *loaded,
                    files,
                }),
                Read::Broken(diagnostics) => self.findings.extend(moved(diagnostics, &files)),
                Read::NotChecked(diagnostic) => {
                    self.unchecked.extend(moved(vec![*diagnostic], &files));
                }
            }
        }
        projects
    }

    /// The settings for a file; what is wrong with them is a finding.
    fn settings(&mut self, path: &Path, args: &CheckArgs) -> Arc<Settings> {
        let given = args.inputs.config.as_deref();
        let (sources, findings) = (&mut self.sources, &mut self.findings);
        self.settings.of(given, path, sources, findings)
    }

    /// Checks configurations that were loaded against the rules of their languages.
    fn check(&mut self, projects: Vec<Project>, args: &CheckArgs) {
        let with_settings: Vec<(Project, Arc<Settings>)> = projects
            .into_iter()
            .map(|project| {
                let first = project.loaded.files.first();
                let settings = self.settings(Path::new(first.map_or(".", String::as_str)), args);
                (project, settings)
            })
            .collect();
        let reports = on_all_cores(&with_settings, |(project, settings)| {
            report(&project.loaded, settings, args)
        });
        for ((project, _), report) in with_settings.into_iter().zip(reports) {
            self.add(project, report, args);
        }
    }

    /// Adds what came of one configuration.
    fn add(&mut self, project: Project, report: Report, args: &CheckArgs) {
        let Project { loaded, files } = project;
        let errors = loaded.diagnostics.iter().chain(&report.findings);
        let errors = errors
            .filter(|found| found.severity == Severity::Error)
            .count();
        let whole = loaded.unchecked.is_empty() && report.unchecked.is_empty();
        self.checked += 1;
        self.deployable += usize::from(errors == 0 && whole);
        if args.as_instance {
            self.judge(&loaded.graph, &files);
        }
        for found in [loaded.diagnostics, report.findings] {
            self.findings.extend(moved(found, &files));
        }
        for open in [loaded.unchecked, report.unchecked] {
            self.unchecked.extend(moved(open, &files));
        }
        self.locations += report.stats.locations;
        let rules = self.rules.entry(loaded.language).or_default();
        *rules = report.stats.rules.max(*rules);
        self.variables += report.stats.variables;
        self.clauses += report.stats.clauses;
    }

    /// Rules that were checked, by their identifiers.
    fn rules(&self) -> usize {
        self.rules.values().sum()
    }

    /// Lets the reference model judge a graph.
    fn judge(&mut self, graph: &LocationGraph, files: &[FileId]) {
        let instances = self.instances.get_or_insert(0);
        match instance::judge(graph, &Limits::default()) {
            Judgement::Instance => *instances += 1,
            Judgement::Broken(findings) => self.findings.extend(moved(findings, files)),
            Judgement::Unknown(reason) => self.unchecked.extend(moved(vec![reason], files)),
        }
    }
}

/// A configuration, and what its files are among all files.
struct Project {
    loaded: Loaded,
    files: Vec<FileId>,
}

/// Diagnostics about the sources of one configuration, as diagnostics about all.
fn moved(mut diagnostics: Vec<Diagnostic>, files: &[FileId]) -> Vec<Diagnostic> {
    for diagnostic in &mut diagnostics {
        diagnostic.move_to(files);
    }
    diagnostics
}

/// Calls a function for each of many things; for a single one, no thread is started.
fn on_all_cores<T: Sync, R: Send>(all: &[T], call: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match all {
        [one] => vec![call(one)],
        all => all.par_iter().map(&call).collect(),
    }
}

/// Checks a configuration against the rules of its language: those that come with the program, and the user's own.
fn report(loaded: &Loaded, settings: &Settings, args: &CheckArgs) -> Report {
    let options = Options {
        all_inputs: args.inputs.all_inputs,
        ignore: args.ignore.iter().chain(&settings.off).cloned().collect(),
        severities: settings.severities.clone(),
        ..Options::default()
    };
    let mut report = check_loaded(loaded, &options);
    let own = settings.rules.iter();
    for (_, own) in own.filter(|(name, _)| *name == loaded.language) {
        let more = own.check_loaded(loaded, &options);
        report.findings.extend(more.findings);
        report.unchecked.extend(more.unchecked);
        report.stats.rules += more.stats.rules;
        report.stats.variables += more.stats.variables;
        report.stats.clauses += more.stats.clauses;
    }
    report
}
