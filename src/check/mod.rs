//! `locus check`: configurations against the rules of their language.

mod files;
mod json;
mod text;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use locus_core::{Diagnostic, FileId, Severity, Sources, Span};
use locus_frontends::kind::{self, FileKind};
use locus_frontends::language::{self, Loaded, Request};
use locus_frontends::loader::{Loader, normalize};
use locus_frontends::yaml;
use locus_invariants::{Options, check_loaded};

use crate::Exit;
use crate::cli::{CheckArgs, CheckFormat};
use crate::loader::{FileSystem, Given};

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
            let loaded = self.load(FileKind::Compose, files.collect(), &FileSystem, args);
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
        let name = path.display().to_string();
        let standard_input = path == Path::new("-");
        let mut loader = Given::default();
        let kind = match kind::by_name(&name) {
            Some(kind) => kind,
            None => {
                let text = self.read(path)?;
                let file = self.sources.add(name.as_str(), text.as_str());
                let parsed = yaml::parse(&self.sources, file, &yaml::Limits::default());
                if standard_input {
                    loader.standard_input = Some(text.into_bytes().into());
                }
                match kind::recognise(&parsed.documents) {
                    Some(kind) => kind,
                    None => {
                        self.unknown(&name, file, parsed.diagnostics);
                        return None;
                    }
                }
            }
        };
        if language::of(kind).is_none() {
            self.not_checked(&name, kind);
            return None;
        }
        self.load(kind, vec![name], &loader, args)
    }

    /// Loads a configuration with the inputs of the command line.
    fn load(
        &mut self,
        kind: FileKind,
        files: Vec<String>,
        loader: &dyn Loader,
        args: &CheckArgs,
    ) -> Option<Loaded> {
        let paths = |paths: &[PathBuf]| paths.iter().map(|p| p.display().to_string()).collect();
        let request = Request {
            files,
            environments: paths(&args.environment),
            parameters: args.param.clone(),
            env_files: paths(&args.env_file),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            profiles: args.profile.clone(),
            target: args.target.into(),
            nodes: args.nodes,
            all_inputs: args.all_inputs,
        };
        let language = language::of(kind)?;
        Some(language.load(&request, loader, &mut self.sources))
    }

    /// Checks a configuration that was loaded against the rules of its language.
    fn check(&mut self, loaded: Option<Loaded>, args: &CheckArgs) {
        let Some(loaded) = loaded else { return };
        let options = Options {
            all_inputs: args.all_inputs,
            ignore: args.ignore.clone(),
            ..Options::default()
        };
        let report = check_loaded(&loaded, &options);
        self.findings.extend(loaded.diagnostics);
        self.unchecked.extend(loaded.unchecked);
        self.findings.extend(report.findings);
        self.unchecked.extend(report.unchecked);
        self.locations += report.stats.locations;
        self.rules = self.rules.max(report.stats.rules);
        self.variables += report.stats.variables;
        self.clauses += report.stats.clauses;
    }

    /// The text of a file, or says why there is none.
    fn read(&mut self, path: &Path) -> Option<String> {
        match crate::loader::read(path) {
            Ok(text) => Some(text),
            Err(error) => {
                let message = format!("cannot read `{}`: {error}", path.display());
                self.unchecked.push(Diagnostic::error("io", message));
                None
            }
        }
    }

    /// Says that nothing tells what a file is, or why it could not be read.
    fn unknown(&mut self, name: &str, file: FileId, errors: Vec<Diagnostic>) {
        if !errors.is_empty() {
            self.findings.extend(errors);
            return;
        }
        self.unchecked.push(
            Diagnostic::warning("kind", format!("nothing in `{name}` tells what it is"))
                .at(Span::start_of(file))
                .help("a Heat template starts with `heat_template_version`, a Compose file has `services`"),
        );
    }

    /// Says that a file of this kind is not checked by itself.
    fn not_checked(&mut self, name: &str, kind: FileKind) {
        let diagnostic = if kind == FileKind::HeatEnvironment {
            let message = format!("`{name}` is an environment and is checked with its template");
            Diagnostic::warning("kind", message).help(format!(
                "name the template, and give this file as `-e {name}`"
            ))
        } else {
            let message = format!("`{name}` is a {} and was not checked", kind.as_str());
            Diagnostic::warning("kind", message)
                .help("Heat templates and Compose files can be checked so far")
        };
        let file = self.sources.files().last();
        self.unchecked.push(match file {
            Some(file) => diagnostic.at(Span::start_of(file)),
            None => diagnostic,
        });
    }
}
