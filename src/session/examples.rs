//! The user's own rules, tried on examples in which comments mark what they find.
//!
//! An example is a configuration with marks (`#   ^ ACME001` under the place where a finding starts), or one that is
//! called `*.breaks.*` or `*.holds.*`. In it, the user's own rules find what is marked and nothing else; of the rules that
//! come with the program, only those that are marked count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use locus_core::{Diagnostic, FileId, Sources};
use locus_frontends::loader::Loader;
use locus_invariants::rules::marks::{Mark, marks};

use super::check::{Given, Report};
use super::discover::Project;
use super::{Cancel, Cancelled, Snapshot, on_all_cores};

/// What came of trying rules on examples.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    /// The examples, in the order of their paths.
    pub examples: Vec<Example>,
    /// The user's own rules, and how many examples break each.
    pub rules: BTreeMap<String, usize>,
    /// What is wrong with the rules, the settings or the paths.
    pub wrong: Vec<Diagnostic>,
    /// The sources that this is about.
    pub sources: Sources,
}

/// An example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its path.
    pub path: String,
    /// How many findings are marked in it.
    pub marked: usize,
    /// What is not as the marks say, in the order of the text.
    pub differences: Vec<Difference>,
}

/// Something that is not as the marks of an example say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The line, from 1; 0 when it is about the whole file.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What it is.
    pub message: String,
}

/// What one project says about its rules.
struct Outcome {
    example: Option<Example>,
    rules: Vec<String>,
    broken: BTreeSet<String>,
    wrong: Vec<Diagnostic>,
    sources: Sources,
}

impl Snapshot {
    /// Tries the rules that projects have of their own on the examples in some files and folders.
    ///
    /// # Errors
    /// When it was called off.
    pub fn try_rules(
        &self,
        paths: &[PathBuf],
        given: &Given,
        cancel: &Cancel,
    ) -> Result<Tried, Cancelled> {
        let discovery = self.discover(paths);
        let outcomes = on_all_cores(&discovery.projects, |project| {
            self.try_example(project, given, cancel)
        });
        let mut tried = Tried {
            wrong: discovery.unchecked,
            sources: discovery.sources,
            ..Tried::default()
        };
        let is_example = |broken: &Diagnostic| {
            let file = broken.primary().map(|span| span.file);
            file.is_some_and(|file| is_named_example(tried.sources.name(file)))
        };
        let unreadable: Vec<Diagnostic> = discovery.broken.into_iter().filter(is_example).collect();
        tried.wrong.extend(unreadable);
        for outcome in outcomes {
            let outcome = outcome?;
            let files = tried.sources.merge(vec![outcome.sources]);
            let files: &[FileId] = files.first().map_or(&[], Vec::as_slice);
            for mut wrong in outcome.wrong {
                wrong.move_to(files);
                if !tried.wrong.contains(&wrong) {
                    tried.wrong.push(wrong);
                }
            }
            for rule in outcome.rules {
                let broken = usize::from(outcome.broken.contains(&rule));
                *tried.rules.entry(rule).or_default() += broken;
            }
            tried.examples.extend(outcome.example);
        }
        tried.examples.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tried)
    }

    fn try_example(
        &self,
        project: &Project,
        given: &Given,
        cancel: &Cancel,
    ) -> Result<Outcome, Cancelled> {
        let (settings, _) = self.settings(project, given);
        let own = settings.rules_of(project.language.name());
        let mut rules: Vec<String> = own
            .map(|own| own.rules().iter().map(|rule| rule.id.clone()).collect())
            .unwrap_or_default();
        rules.dedup();
        let text = match self.files().load(project.first()) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => String::new(),
        };
        let marked = marks(&text);
        let mut outcome = Outcome {
            example: None,
            rules,
            broken: BTreeSet::new(),
            wrong: Vec::new(),
            sources: Sources::new(),
        };
        let of_settings = |report: &Report, found: &Diagnostic| {
            let file = found.primary().map(|span| report.sources.name(span.file));
            file.is_none_or(|file| !report.files.iter().any(|own| own == file))
                && matches!(
                    found.code.as_str(),
                    "rule" | "settings" | "syntax" | "name" | "type"
                )
        };
        if marked.is_empty() && !is_named_example(project.first()) {
            // What is wrong with the settings is said even when there is no example to try them on.
            outcome.wrong = settings.problems(&[], &mut outcome.sources);
            return Ok(outcome);
        }
        let report = self.check(project, given, cancel)?;
        let wrong = report.findings.iter();
        let wrong = wrong.filter(|found| of_settings(&report, found)).cloned();
        outcome.wrong = wrong.collect();
        outcome.sources = report.sources.clone();
        let example = compare(project, &outcome.rules, &marked, &report);
        outcome.broken = marked.into_iter().map(|mark| mark.rule).collect();
        outcome.example = Some(example);
        Ok(outcome)
    }
}

/// Whether the name of a file says that it is an example.
fn is_named_example(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.contains(".breaks.") || name.contains(".holds.")
}

/// Compares what was found with what is marked.
fn compare(project: &Project, own: &[String], marked: &BTreeSet<Mark>, report: &Report) -> Example {
    let path = project.first().to_owned();
    let mut differences = Vec::new();
    let mut about = |line, column, message: String| {
        differences.push(Difference {
            line,
            column,
            message,
        });
    };
    let counts = |code: &String| own.contains(code) || marked.iter().any(|mark| mark.rule == *code);
    let mut found = BTreeSet::new();
    for finding in report.findings.iter().filter(|one| counts(&one.code)) {
        let at = finding.primary();
        let here = at.filter(|span| report.sources.name(span.file) == path);
        let start = here.map(|span| report.sources.start(span));
        let (line, column) = start.map_or((0, 0), |at| (at.line, at.column));
        let mark = Mark {
            line,
            column,
            rule: finding.code.clone(),
        };
        if !marked.contains(&mark) {
            let message = format!("{} is found and not marked: {}", mark.rule, finding.message);
            about(line, column, message);
        }
        found.insert(mark);
    }
    for mark in marked.difference(&found) {
        about(
            mark.line,
            mark.column,
            format!("{} is marked and not found", mark.rule),
        );
    }
    for open in report.unchecked.iter() {
        let code = &open.code;
        if own.contains(code) {
            about(0, 0, format!("{code} was not decided: {}", open.message));
        } else if report.graph.is_empty() {
            about(0, 0, format!("it was not checked: {}", open.message));
        }
    }
    if marked.is_empty() && path.contains(".breaks.") {
        let message =
            "nothing is marked: write `#   ^ RULE` under the place where a finding starts";
        about(0, 0, message.to_owned());
    }
    if !marked.is_empty() && path.contains(".holds.") {
        about(0, 0, "an example that holds has no marks".to_owned());
    }
    differences.sort();
    Example {
        path,
        marked: marked.len(),
        differences,
    }
}
