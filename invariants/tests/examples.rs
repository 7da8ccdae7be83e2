//! Every rule is shown by examples: one that holds, and one that breaks it at marked places.
//!
//! A breaking example has the findings that comments mark (`locus_rules::marks`) and no others; a holding one has none. The
//! environment of `a.breaks.yaml` is `a.breaks.env.yaml`; examples can name each other as files. An example with
//! `.swarm.` in its name is deployed to a swarm of two nodes; one with `.without-node.` or `.without-zone.` must survive
//! that loss; a comment `# input: NAME VALUE` gives an input.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use locus_core::diagnostic::Fix;
use locus_core::{Diagnostic, Sources};
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_invariants::check::{Checker, Options, Report, check as check_loaded};
use locus_invariants::library::{self, Example};
use locus_invariants::rules::Library;
use locus_invariants::rules::marks::marks;

/// The environment of an example.
fn environment(name: &str) -> Option<Example> {
    let name = format!("{}.env.yaml", name.strip_suffix(".yaml")?);
    library::examples().find(|example| example.name == name)
}

/// The inputs that an example is checked with.
fn inputs(example: &Example) -> Vec<(&'static str, &'static str)> {
    let mut inputs = Vec::new();
    if let Some(environment) = environment(example.name) {
        inputs.push(("environment", environment.name));
    }
    // Comments say what else an example is checked with.
    let lines = example.text.lines();
    let given = lines.filter_map(|line| line.strip_prefix("# input: ")?.split_once(' '));
    inputs.extend(given);
    if example.name.contains(".swarm.") {
        inputs.extend([("target", "swarm"), ("nodes", "2")]);
    }
    for loss in ["node", "zone"] {
        if example.name.contains(&format!(".without-{loss}.")) {
            inputs.push(("survive", loss));
        }
    }
    inputs
}

fn check(sources: &mut Sources, example: &Example) -> Report {
    check_text(sources, example, example.text)
}

/// Checks an example with another text.
fn check_text(sources: &mut Sources, example: &Example, text: &str) -> Report {
    let mut loader = MemoryLoader::new();
    for other in library::examples().filter(|other| other.language == example.language) {
        loader.insert(other.name, other.text);
    }
    loader.insert(example.name, text);
    let mut request = Request {
        files: vec![example.name.to_owned()],
        ..Request::default()
    };
    let registry = Registry::builtin();
    let language = registry
        .named(example.language)
        .expect("rules are about a language");
    for (name, value) in inputs(example) {
        let input = language.inputs().iter().find(|input| input.name == name);
        let input = input.expect("an input of the language");
        request
            .inputs
            .give(input, value)
            .expect("a value of the input");
    }
    let loaded = language.load(&request, &loader, sources);
    let options = Options {
        ignore: library::builtin().off_for(example.name),
        texts: Some(sources),
        ..Options::default()
    };
    let mut report = check_loaded(&loaded, &options);
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

/// The marked places of an example.
fn marked(name: &str, text: &str) -> BTreeSet<Place> {
    let environment = environment(name).map(|one| marked(one.name, one.text));
    let own = marks(text)
        .into_iter()
        .map(|mark| (name.to_owned(), mark.line, mark.column, mark.rule));
    own.chain(environment.into_iter().flatten()).collect()
}

#[test]
fn the_library_has_no_errors() {
    let mut sources = Sources::new();
    let mut library = Library::default();
    let mut problems = Vec::new();
    for source in library::builtin().sources() {
        problems.extend(library.add(source.clone(), &mut sources));
    }
    let mut rules = 0;
    for language in Registry::builtin().languages() {
        let checker = Checker::new(&library, &language.vocabulary(), &mut sources);
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
    for rule in library::builtin().rules() {
        for id in std::iter::once(&rule.id).chain(&rule.aliases) {
            for kind in ["holds", "breaks"] {
                let suffix = format!(".{kind}.yaml");
                if !library::examples_of(id).any(|example| example.name.ends_with(&suffix)) {
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
    for example in library::examples() {
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
    for example in library::examples() {
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
    for example in library::examples() {
        let mut sources = Sources::new();
        let report = check(&mut sources, &example);
        messages.extend(report.broken.iter().cloned());
    }
    let unbroken: Vec<String> = library::builtin()
        .rules()
        .iter()
        .filter(|rule| !messages.contains(&(rule.module.clone(), rule.assertion.clone())))
        .map(|rule| format!("{} {}", rule.id, rule.assertion))
        .collect();
    assert_eq!(unbroken, Vec::<String>::new());
}

/// What the examples of a rule that break it say, with where.
fn said(id: &str) -> String {
    let mut told = String::new();
    for example in library::examples_of(id).filter(|one| one.name.ends_with(".breaks.yaml")) {
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
            for fix in &finding.fixes {
                let applicability = fix.applicability.as_str();
                told.push_str(&format!("    {applicability} fix: {}\n", fix.title));
            }
        }
    }
    told
}

/// Each snapshot is beside the examples of its rule; `cargo xtask rules` writes those that changed.
#[test]
fn what_examples_say_reads_well() {
    let rules = library::builtin().rules().iter();
    let ids: BTreeSet<(&str, &String)> = rules
        .flat_map(|rule| {
            let ids = std::iter::once(&rule.id).chain(&rule.aliases);
            ids.map(|id| (rule.language.as_str(), id))
        })
        .collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (language, id) in ids {
        settings.set_snapshot_path(format!("../library/{language}/examples"));
        settings.bind(|| insta::assert_snapshot!(id.as_str(), said(id)));
    }
}

#[test]
fn every_snapshot_is_of_a_rule() {
    let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let mut strange = Vec::new();
    let rules = library::builtin().rules();
    let languages: BTreeSet<&str> = rules.iter().map(|rule| rule.language.as_str()).collect();
    for language in languages {
        let folder = library.join(language).join("examples");
        for entry in std::fs::read_dir(folder).expect("a language has examples") {
            let name = entry.expect("a file").file_name();
            let name = name.to_string_lossy();
            let (id, kind) = name.split_once('.').unwrap_or((&name, ""));
            if kind == "snap" && library::builtin().find(id).is_empty() {
                strange.push(name.into_owned());
            }
        }
    }
    assert_eq!(strange, Vec::<String>::new());
}

/// The text after a fix, when all of it is in one file.
fn fixed(sources: &Sources, fix: &Fix) -> Option<(String, String)> {
    let file = fix.edits.first()?.span.file;
    let mut edits: Vec<_> = fix.edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
    let mut text = sources.text(file).to_owned();
    for edit in edits {
        assert_eq!(edit.span.file, file, "{}", fix.title);
        let range = edit.span.start as usize..edit.span.end as usize;
        text.replace_range(range, &edit.text);
    }
    Some((sources.name(file).to_owned(), text))
}

#[test]
fn every_fix_of_an_example_mends_what_it_is_for() {
    let mut wrong = Vec::new();
    let mut made = BTreeSet::new();
    for example in library::examples().filter(|one| one.name.ends_with(".breaks.yaml")) {
        let mut sources = Sources::new();
        let report = check(&mut sources, &example);
        for finding in &report.findings {
            for fix in &finding.fixes {
                let Some((name, text)) = fixed(&sources, fix) else {
                    continue;
                };
                if name != example.name {
                    continue;
                }
                let mut again = Sources::new();
                let after = check_text(&mut again, &example, &text);
                let same = |other: &&Diagnostic| {
                    (&other.code, &other.message) == (&finding.code, &finding.message)
                };
                let (was, is) = (
                    report.findings.iter().filter(same).count(),
                    after.findings.iter().filter(same).count(),
                );
                let syntax = after.findings.iter().any(|one| one.code == "syntax");
                if is >= was || syntax {
                    wrong.push(format!(
                        "{}: {}: {}",
                        example.name, fix.title, finding.message
                    ));
                }
                made.insert(finding.code.clone());
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(made.len() >= 30, "fixes of {made:?}");
}

/// What is not given has no name: a message must not leave a hole for it.
#[test]
fn no_message_has_an_empty_hole() {
    let mut wrong = Vec::new();
    let examples = library::examples();
    for example in examples.filter(|example| example.name.ends_with(".breaks.yaml")) {
        let mut sources = Sources::new();
        let report = check(&mut sources, &example);
        for finding in &report.findings {
            let labels = finding.labels.iter().chain(&finding.related);
            let texts = labels.map(|label| &label.message).chain(&finding.help);
            for text in texts.chain([&finding.message]) {
                if text.contains("``") || text.trim_end().ends_with(':') {
                    wrong.push(format!("{}: {} {text}", example.name, finding.code));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
