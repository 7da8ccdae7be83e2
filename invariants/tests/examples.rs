//! Every rule is shown by examples: one that holds, and one that breaks it at marked places.
//!
//! A comment `#   ^ HOT221` marks the line above it: a finding of that rule starts there, at the column of
//! the caret. A breaking example has the marked findings and no others; a holding one has none. The
//! environment of `a.breaks.yaml` is `a.breaks.env.yaml`; examples can name each other as files.

use std::collections::BTreeSet;

use locus_core::Sources;
use locus_frontends::hot;
use locus_invariants::check::{Checker, Configuration, Options, Report};
use locus_invariants::rules::{Example, Library};
use locus_invariants::vocabulary::hot::Hot;

/// The files of the examples.
struct Examples;

impl hot::Loader for Examples {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = Library::all_examples().find(|example| example.name == path);
        let text = found.map(|example| example.text.as_bytes().to_vec());
        text.ok_or_else(|| "no such file".to_owned())
    }
}

/// The environment of an example.
fn environment(name: &str) -> Option<Example> {
    let name = name.replace(".yaml", ".env.yaml");
    Library::all_examples().find(|example| example.name == name)
}

fn check(sources: &mut Sources, name: &str, text: &str) -> Report {
    let file = sources.add(name, text);
    let mut request = hot::Request::new(file);
    if let Some(environment) = environment(name) {
        let file = sources.add(environment.name, environment.text);
        request.environments.push(file);
    }
    let loaded = hot::load(sources, &Examples, &request);
    let configuration = Configuration {
        vocabulary: &Hot,
        graph: &loaded.graph,
        facts: &loaded.facts,
    };
    let mut report = Checker::hot().check(configuration, &Options::default());
    report.findings.extend(loaded.diagnostics);
    report.unchecked.extend(loaded.unchecked);
    report
}

/// File, line, column and rule.
type Place = (String, usize, usize, String);

fn found(sources: &Sources, report: &Report) -> BTreeSet<Place> {
    report
        .findings
        .iter()
        .map(|finding| {
            let code = finding.code.clone();
            match finding.primary() {
                Some(span) => {
                    let at = sources.start(span);
                    (sources.name(span.file).to_owned(), at.line, at.column, code)
                }
                None => (String::new(), 0, 0, code),
            }
        })
        .collect()
}

/// The column that a caret marks; `#^` is the first, which a comment cannot point at.
fn column(before: &str) -> usize {
    match before.chars().count() {
        1 => 1,
        count => count + 1,
    }
}

/// The marked places of an example.
fn marked(name: &str, text: &str) -> BTreeSet<Place> {
    let mut line = 0;
    let mut places = BTreeSet::new();
    if let Some(environment) = environment(name) {
        places.extend(marked(environment.name, environment.text));
    }
    for (at, content) in text.lines().enumerate() {
        match content.split_once('^').filter(|_| content.starts_with('#')) {
            Some((before, rule)) => {
                let (name, rule) = (name.to_owned(), rule.trim().to_owned());
                places.insert((name, line, column(before), rule));
            }
            None => line = at + 1,
        }
    }
    places
}

#[test]
fn the_library_has_no_errors() {
    let mut sources = Sources::new();
    let mut library = Library::default();
    let mut problems = Vec::new();
    for source in Library::builtin().sources() {
        problems.extend(library.add(source.clone(), &mut sources));
    }
    let checker = Checker::new(&library, &Hot, &mut sources);
    problems.extend(checker.diagnostics().iter().cloned());
    let told: Vec<String> = problems
        .iter()
        .map(|problem| {
            let at = problem
                .primary()
                .map(|span| (sources.name(span.file), sources.start(span)));
            format!("{at:?} {}", problem.message)
        })
        .collect();
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(checker.program().rules.len(), library.rules().len());
}

#[test]
fn every_rule_has_an_example_that_holds_and_one_that_breaks() {
    let mut lacking = Vec::new();
    for rule in Library::builtin().rules() {
        for id in std::iter::once(&rule.id).chain(&rule.aliases) {
            for kind in ["holds", "breaks"] {
                let suffix = format!(".{kind}.yaml");
                if !Library::examples(id).any(|example| example.name.ends_with(&suffix)) {
                    lacking.push(format!("{id}{suffix}"));
                }
            }
        }
    }
    lacking.dedup();
    assert_eq!(lacking, Vec::<String>::new());
}

#[test]
fn examples_that_hold_are_silent() {
    let mut wrong = Vec::new();
    for example in Library::all_examples() {
        if example.name.ends_with(".holds.yaml") {
            let mut sources = Sources::new();
            let report = check(&mut sources, example.name, example.text);
            for finding in report.findings.iter().chain(&report.unchecked) {
                wrong.push(format!(
                    "{}: {} {}",
                    example.name, finding.code, finding.message
                ));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn examples_that_break_are_reported_where_they_are_marked() {
    let mut wrong = Vec::new();
    for example in Library::all_examples() {
        if example.name.ends_with(".breaks.yaml") {
            let mut sources = Sources::new();
            let report = check(&mut sources, example.name, example.text);
            let (found, marked) = (found(&sources, &report), marked(example.name, example.text));
            for place in marked.difference(&found) {
                wrong.push(format!("{}: not reported: {place:?}", example.name));
            }
            for place in found.difference(&marked) {
                wrong.push(format!("{}: not marked: {place:?}", example.name));
            }
            if marked.is_empty() {
                wrong.push(format!("{}: nothing is marked", example.name));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// A rule that nothing can break is no rule: each assertion is broken by an example of its rule.
#[test]
fn every_assertion_is_broken_by_an_example() {
    let mut messages = BTreeSet::new();
    for example in Library::all_examples() {
        let mut sources = Sources::new();
        let report = check(&mut sources, example.name, example.text);
        messages.extend(report.broken.iter().cloned());
    }
    let unbroken: Vec<String> = Library::builtin()
        .rules()
        .iter()
        .filter(|rule| !messages.contains(&(rule.module.clone(), rule.assertion.clone())))
        .map(|rule| format!("{} {}", rule.id, rule.assertion))
        .collect();
    assert_eq!(unbroken, Vec::<String>::new());
}

#[test]
fn what_examples_say_reads_well() {
    let mut told = String::new();
    for example in Library::all_examples() {
        if !example.name.ends_with(".breaks.yaml") {
            continue;
        }
        let mut sources = Sources::new();
        let report = check(&mut sources, example.name, example.text);
        told.push_str(&format!("{}\n", example.name));
        for finding in &report.findings {
            told.push_str(&format!(
                "  {} {}: {}\n",
                finding.severity, finding.code, finding.message
            ));
            for label in finding.labels.iter().chain(&finding.related) {
                let at = sources.start(label.span);
                let text = sources.snippet(label.span).lines().next().unwrap_or("");
                told.push_str(&format!(
                    "    {}:{} `{text}` {}\n",
                    at.line, at.column, label.message
                ));
            }
            if let Some(help) = &finding.help {
                told.push_str(&format!("    help: {help}\n"));
            }
        }
    }
    insta::assert_snapshot!(told);
}
