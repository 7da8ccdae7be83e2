//! `locus check`: configurations against the rules of their language.

mod files;
mod json;
mod text;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use locus_core::{Diagnostic, LocationGraph, Severity, Sources};
use locus_frontends::kind::FileKind;
use locus_frontends::language::Loaded;
use locus_frontends::loader::normalize;
use locus_invariants::instance::{self, Judgement};
use locus_invariants::{Options, check_loaded};
use locus_solver::limits::Limits;

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
    rules: usize,
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
            self.check(loaded, args);
        }
        let paths = files::walk(&args.files, &mut self.unchecked);
        let mut projects: Vec<Loaded> = Vec::new();
        for path in &paths {
            let base = files::base(path);
            if base.as_ref().is_some_and(|base| paths.contains(base)) {
                continue;
            }
            self.files += 1;
            projects.extend(self.file(base.as_ref().unwrap_or(path), args));
        }
        // What another configuration includes or extends is checked as a part of it.
        let parts: HashSet<String> = projects
            .iter()
            .flat_map(|loaded| loaded.files.iter().skip(1).map(|path| normalize(path)))
            .collect();
        let named: Vec<String> = args
            .files
            .iter()
            .map(|path| normalize(&path.display().to_string()))
            .collect();
        for loaded in projects {
            let part = loaded.files.first().is_some_and(|path| {
                let path = normalize(path);
                parts.contains(&path) && !named.contains(&path)
            });
            if !part {
                self.check(Some(loaded), args);
            }
        }
    }

    /// Reads a file of whatever kind it is.
    fn file(&mut self, path: &Path, args: &CheckArgs) -> Option<Loaded> {
        let settings = self.settings(path, args);
        match configuration::read(path, &args.inputs, &settings, &mut self.sources) {
            Read::Loaded(loaded) => return Some(*loaded),
            Read::Broken(diagnostics) => self.findings.extend(diagnostics),
            Read::NotChecked(diagnostic) => self.unchecked.push(diagnostic),
        }
        None
    }

    /// The settings for a file; what is wrong with them is a finding.
    fn settings(&mut self, path: &Path, args: &CheckArgs) -> Arc<Settings> {
        let given = args.inputs.config.as_deref();
        let (sources, findings) = (&mut self.sources, &mut self.findings);
        self.settings.of(given, path, sources, findings)
    }

    /// Checks a configuration that was loaded against the rules of its language.
    fn check(&mut self, loaded: Option<Loaded>, args: &CheckArgs) {
        let Some(loaded) = loaded else { return };
        let first = loaded.files.first().map_or(".", String::as_str);
        let settings = self.settings(Path::new(first), args);
        let options = Options {
            all_inputs: args.inputs.all_inputs,
            ignore: args.ignore.iter().chain(&settings.off).cloned().collect(),
            severities: settings.severities.clone(),
            ..Options::default()
        };
        let mut report = check_loaded(&loaded, &options);
        for (_, own) in settings
            .rules
            .iter()
            .filter(|(name, _)| *name == loaded.language)
        {
            let more = own.check_loaded(&loaded, &options);
            report.findings.extend(more.findings);
            report.unchecked.extend(more.unchecked);
            report.stats.rules += more.stats.rules;
            report.stats.variables += more.stats.variables;
            report.stats.clauses += more.stats.clauses;
        }
        let errors = loaded.diagnostics.iter().chain(&report.findings);
        let errors = errors
            .filter(|found| found.severity == Severity::Error)
            .count();
        let whole = loaded.unchecked.is_empty() && report.unchecked.is_empty();
        self.checked += 1;
        self.deployable += usize::from(errors == 0 && whole);
        if args.as_instance {
            self.judge(&loaded.graph);
        }
        self.findings.extend(loaded.diagnostics);
        self.unchecked.extend(loaded.unchecked);
        self.findings.extend(report.findings);
        self.unchecked.extend(report.unchecked);
        self.locations += report.stats.locations;
        self.rules = self.rules.max(report.stats.rules);
        self.variables += report.stats.variables;
        self.clauses += report.stats.clauses;
    }

    /// Lets the reference model judge a graph.
    fn judge(&mut self, graph: &LocationGraph) {
        let instances = self.instances.get_or_insert(0);
        match instance::judge(graph, &Limits::default()) {
            Judgement::Instance => *instances += 1,
            Judgement::Broken(findings) => self.findings.extend(findings),
            Judgement::Unknown(reason) => self.unchecked.push(reason),
        }
    }
}
