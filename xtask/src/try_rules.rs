//! Rules tried on files, read anew each time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use locus_core::{Diagnostic, Sources};
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::{LoadError, Loader, PathKind};
use locus_frontends::yaml;
use locus_invariants::check::{Checker, Options};
use locus_invariants::rules::marks::marks;
use locus_invariants::rules::{Library, Source};

use crate::about;

struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<std::sync::Arc<[u8]>, LoadError> {
        fs::read(path).map(Into::into).map_err(|error| LoadError {
            missing: error.kind() == io::ErrorKind::NotFound,
            reason: error.to_string(),
        })
    }

    fn kind(&self, path: &str) -> Option<PathKind> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => Some(PathKind::Directory),
            Ok(_) => Some(PathKind::File),
            Err(_) => Some(PathKind::Missing),
        }
    }
}

fn place(sources: &Sources, diagnostic: &Diagnostic) -> String {
    match diagnostic.primary() {
        Some(span) => {
            let at = sources.start(span);
            format!("{}:{}:{}", sources.name(span.file), at.line, at.column)
        }
        None => "-".to_owned(),
    }
}

/// The files of a library, with the names of their modules.
fn modules(folder: &Path, root: &Path, out: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("models") {
            modules(&path, root, out)?;
        } else if path.extension().is_some_and(|extension| extension == "als") {
            let module = path.strip_prefix(root).unwrap_or(&path).with_extension("");
            out.push((module.to_string_lossy().into_owned(), path));
        }
    }
    out.sort();
    Ok(())
}

/// Checks files with the rules of a folder. Of an example of a rule (`*.breaks.yaml`, `*.holds.yaml`) only what differs from
/// its marks is shown; one with `.swarm.` in its name is deployed to a swarm of two nodes, and one with `.without-node.` or
/// `.without-zone.` must survive that loss.
pub(crate) fn run(root: &Path, paths: &[PathBuf]) -> io::Result<()> {
    let start = Instant::now();
    let mut sources = Sources::new();
    let mut library = Library::default();
    let mut files = Vec::new();
    modules(root, root, &mut files).map_err(about(root))?;
    for (module, path) in files {
        let source = Source {
            module,
            path: path.to_string_lossy().into_owned(),
            text: fs::read_to_string(&path)?,
        };
        for problem in library.add(source, &mut sources) {
            println!("{}: {}", place(&sources, &problem), problem.message);
        }
    }
    let mut checkers = Vec::new();
    for language in Registry::builtin().languages() {
        let checker = Checker::new(&library, &language.vocabulary(), &mut sources);
        println!(
            "{} rules about {} in {:?}",
            checker.program().rules.len(),
            language.name(),
            start.elapsed()
        );
        for problem in checker.diagnostics() {
            println!(
                "{} {}: {}",
                place(&sources, problem),
                problem.severity,
                problem.message
            );
        }
        checkers.push((language.name(), checker));
    }
    for path in paths {
        let text = fs::read_to_string(path).map_err(about(path))?;
        let path = path.to_string_lossy().into_owned();
        let file = sources.add(path.as_str(), text.clone());
        let start = Instant::now();
        let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
        let registry = Registry::builtin();
        let found = registry.by_content(&parsed.documents);
        let Some(found) = found.or_else(|| registry.by_name(&path)) else {
            println!("{path}: not recognised");
            continue;
        };
        let language = found.language;
        let mut request = Request::of([path.as_str()]);
        for (part, name, value) in [
            (".swarm.", "target", "swarm"),
            (".swarm.", "nodes", "2"),
            (".without-node.", "survive", "node"),
            (".without-zone.", "survive", "zone"),
        ] {
            let mut inputs = language.inputs().iter();
            if let Some(input) = inputs.find(|input| input.name == name)
                && path.contains(part)
            {
                request
                    .inputs
                    .give(input, value)
                    .map_err(io::Error::other)?;
            }
        }
        let given = text.lines();
        let given = given.filter_map(|line| line.strip_prefix("# input: ")?.split_once(' '));
        for (name, value) in given {
            let mut inputs = language.inputs().iter();
            if let Some(input) = inputs.find(|input| input.name == name) {
                request
                    .inputs
                    .give(input, value)
                    .map_err(io::Error::other)?;
            }
        }
        let loaded = language.load(&request, &Disk, &mut sources);
        let load = start.elapsed();
        let mut of_language = checkers.iter();
        let Some((_, checker)) = of_language.find(|(name, _)| *name == loaded.language) else {
            continue;
        };
        let start = Instant::now();
        let name = path.rsplit('/').next().unwrap_or(&path);
        let options = Options {
            ignore: library.off_for(name),
            ..Options::default()
        };
        let report = checker.check_loaded(&loaded, &options);
        let time = start.elapsed();
        let all: Vec<&Diagnostic> = loaded
            .diagnostics
            .iter()
            .chain(&report.findings)
            .chain(&report.unchecked)
            .chain(&loaded.unchecked)
            .collect();
        let example = path.ends_with(".breaks.yaml") || path.ends_with(".holds.yaml");
        let marks: BTreeSet<_> = marks(&text)
            .into_iter()
            .map(|mark| (mark.line, mark.column, mark.rule))
            .collect();
        let mut found = BTreeSet::new();
        if !example {
            println!(
                "{path}: loaded in {load:?}, checked in {time:?}, {:?}",
                report.stats
            );
            let mut steps = report.steps.clone();
            steps.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            let rules = &checker.program().rules;
            let most = steps.iter().take(6).filter_map(|&(at, count)| {
                let rule = &rules.get(at)?.rule;
                Some((rule.assertion.as_str(), count))
            });
            println!("most steps: {:?}", most.collect::<Vec<_>>());
        }
        for diagnostic in all {
            let at = diagnostic.primary().map(|span| sources.start(span));
            let (line, column) = at.map_or((0, 0), |at| (at.line, at.column));
            let mark = (line, column, diagnostic.code.clone());
            if !(example && marks.contains(&mark)) {
                let (severity, code) = (diagnostic.severity, &diagnostic.code);
                let place = place(&sources, diagnostic);
                println!("{place} {severity}[{code}]: {}", diagnostic.message);
            }
            found.insert(mark);
        }
        for mark in marks.difference(&found) {
            println!("{path}: not reported: {mark:?}");
        }
    }
    Ok(())
}
