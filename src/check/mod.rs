//! `locus check`: configurations against the rules of their language.

mod files;
mod json;
mod text;

use std::path::Path;
use std::time::{Duration, Instant};

use locus_core::{Diagnostic, FileId, Severity, Sources, Span};
use locus_frontends::hot;
use locus_frontends::kind::{self, FileKind};
use locus_frontends::yaml;
use locus_invariants::{Options, check_hot};

use crate::Exit;
use crate::cli::{CheckArgs, CheckFormat};

/// Everything found in one run.
#[derive(Default)]
struct Findings {
    sources: Sources,
    findings: Vec<Diagnostic>,
    unchecked: Vec<Diagnostic>,
    files: usize,
    locations: usize,
    rules: usize,
    variables: usize,
    clauses: usize,
    time: Duration,
}

/// Checks all files.
pub(crate) fn check(args: &CheckArgs) -> Exit {
    let start = Instant::now();
    let mut run = Findings::default();
    let paths = files::walk(&args.files, &mut run.unchecked);
    for path in &paths {
        run.file(path, args);
    }
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

    fn file(&mut self, path: &Path, args: &CheckArgs) {
        self.files += 1;
        let Some(file) = self.add(path) else { return };
        let parsed = yaml::parse(&self.sources, file, &yaml::Limits::default());
        let span = Span::start_of(file);
        let name = path.display();
        match kind::recognise(&parsed.documents) {
            Some(FileKind::Hot | FileKind::Cfn) => self.heat(file, args),
            Some(FileKind::HeatEnvironment) => self.unchecked.push(
                Diagnostic::warning(
                    "kind",
                    format!("`{name}` is an environment and is checked with its template"),
                )
                .at(span)
                .help(format!(
                    "name the template, and give this file as `-e {name}`"
                )),
            ),
            Some(kind) => self.unchecked.push(
                Diagnostic::warning(
                    "kind",
                    format!("`{name}` is a {} and was not checked", kind.as_str()),
                )
                .at(span)
                .help("Heat templates can be checked so far"),
            ),
            None => {
                let broken = !parsed.diagnostics.is_empty();
                self.findings.extend(parsed.diagnostics);
                if !broken {
                    self.unchecked.push(
                        Diagnostic::warning(
                            "kind",
                            format!("nothing in `{name}` tells what it is"),
                        )
                        .at(span)
                        .help("a Heat template starts with `heat_template_version`"),
                    );
                }
            }
        }
    }

    /// Adds a file to the sources, or says why not.
    fn add(&mut self, path: &Path) -> Option<FileId> {
        match crate::loader::read(path) {
            Ok(text) => Some(self.sources.add(path.display().to_string(), text)),
            Err(error) => {
                let message = format!("cannot read `{}`: {error}", path.display());
                self.unchecked.push(Diagnostic::error("io", message));
                None
            }
        }
    }

    fn heat(&mut self, file: FileId, args: &CheckArgs) {
        let mut request = hot::Request::new(file);
        request.all_inputs = args.all_inputs;
        for path in &args.environment {
            request.environments.extend(self.add(path));
        }
        for (name, value) in &args.param {
            request.parameter(&mut self.sources, name, value);
        }
        let loaded = hot::load(&mut self.sources, &crate::loader::FileSystem, &request);
        let options = Options {
            all_inputs: args.all_inputs,
            ignore: args.ignore.clone(),
            ..Options::default()
        };
        let report = check_hot(&loaded, &options);
        self.findings.extend(loaded.diagnostics);
        self.unchecked.extend(loaded.unchecked);
        self.findings.extend(report.findings);
        self.unchecked.extend(report.unchecked);
        self.locations += report.stats.locations;
        self.rules = self.rules.max(report.stats.rules);
        self.variables += report.stats.variables;
        self.clauses += report.stats.clauses;
    }
}
