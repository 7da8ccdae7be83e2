//! Every rule is shown by examples: one that holds, and one that breaks it at marked places.
//!
//! A comment `#   ^ HOT221` marks the line above it: a finding of that rule starts there, at the column of
//! the caret. A breaking example has the marked findings and no others; a holding one has none. The
//! environment of `a.breaks.yaml` is `a.breaks.env.yaml`; examples can name each other as files. An example with
//! `.swarm.` in its name is deployed to a swarm of two nodes.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use locus_core::Sources;
use locus_frontends::compose::Target;
use locus_frontends::language::{self, Request};
use locus_frontends::loader::MemoryLoader;
use locus_invariants::check::{Checker, Options, Report, check as check_loaded};
use locus_invariants::rules::{Example, Library};
use locus_invariants::vocabulary::VOCABULARIES;

/// The environment of an example.
fn environment(name: &str) -> Option<Example> {
    let name = name.replace(".yaml", ".env.yaml");
    Library::all_examples().find(|example| example.name == name)
}

fn check(sources: &mut Sources, example: &Example) -> Report {
    let mut loader = MemoryLoader::new();
    for other in Library::all_examples().filter(|other| other.language == example.language) {
        loader.insert(other.name, other.text);
    }
    let mut request = Request {
        files: vec![example.name.to_owned()],
        ..Request::default()
    };
    let environment = environment(example.name);
    request
        .environments
        .extend(environment.map(|environment| environment.name.to_owned()));
    if example.name.contains(".swarm.") {
        request.target = Target::Swarm;
        request.nodes = Some(2);
    }
    let language = language::named(example.language).expect("rules are about a language");
    let loaded = language.load(&request, &loader, sources);
    let mut report = check_loaded(&loaded, &Options::default());
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
    let mut rules = 0;
    for vocabulary in VOCABULARIES {
        let checker = Checker::new(&library, *vocabulary, &mut sources);
        problems.extend(checker.diagnostics().iter().cloned());
        rules += checker.program().rules.len();
    }
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
    assert_eq!(rules, library.rules().len());
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
            let report = check(&mut sources, &example);
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
            let report = check(&mut sources, &example);
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
        let report = check(&mut sources, &example);
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
        let report = check(&mut sources, &example);
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
