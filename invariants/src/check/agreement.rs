//! The query engine against the solver's evaluator, which knows nothing of plans and indexes.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use locus_core::Sources;
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_frontends::yaml::{self, Kind, Node};
use locus_solver::evaluate::Evaluator as Judge;
use locus_solver::search::Instance;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;

use super::populate::populate;
use super::problem::translate;
use super::run::Checker;
use super::run::Configuration;
use crate::engine::{Evaluator, Search, Shared, Slots, Tri};
use crate::library;

/// Compares the verdicts on all rules that `wanted` chooses; returns those that were compared.
fn agree(language: &str, text: &str, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut sources = Sources::new();
    let request = Request {
        files: vec!["stack.yaml".to_owned()],
        ..Request::default()
    };
    let loader = MemoryLoader::new().with("stack.yaml", text);
    let front_end = Registry::builtin().named(language).expect("a language");
    let loaded = front_end.load(&request, &loader, &mut sources);
    let program = Checker::builtin(language).expect("rules").program();
    let database = populate(program, Configuration::of(&loaded), false);
    let slots = Slots::new(&program.terms);
    let shared = Shared::new(&slots);
    let mut compared = BTreeSet::new();
    for rule in program.rules.iter().filter(|rule| wanted(&rule.rule.id)) {
        let Some(query) = rule.query else { continue };
        let Ok(translation) = translate(&program.terms, &database, query, &[]) else {
            continue;
        };
        let relations = translation.problem.relations.iter();
        let exact = relations
            .clone()
            .all(|relation| relation.lower == relation.upper);
        if !exact {
            continue;
        }
        let instance = Instance {
            relations: relations.map(|relation| relation.lower.clone()).collect(),
            skolems: Vec::new(),
        };
        let mut judge = Judge::new(&translation.problem, &instance);
        let Ok(expected) = judge.formula(translation.broken) else {
            continue;
        };
        let mut evaluator = Evaluator::new(
            &program.terms,
            &program.plans,
            &database,
            &shared,
            50_000_000,
        );
        let mut found = Tri::False;
        let run = evaluator.run(query, Search::Certain, &mut |_, tri| {
            found = found.or(tri);
            Ok(std::ops::ControlFlow::Continue(()))
        });
        assert!(run.is_ok(), "{}", rule.rule.assertion);
        assert_eq!(
            found,
            Tri::from(expected),
            "{} on\n{text}",
            rule.rule.assertion
        );
        compared.insert(rule.rule.id.clone());
    }
    compared
}

#[test]
fn examples_are_judged_alike() {
    let mut compared = BTreeSet::new();
    for example in library::examples() {
        let id = example.name.split('.').next().unwrap_or("");
        compared.extend(agree(example.language, example.text, |other| other == id));
    }
    let rules = library::builtin().rules().iter();
    let left_out: BTreeSet<&str> = rules
        .map(|rule| rule.id.as_str())
        .filter(|&id| !compared.contains(id))
        .collect();
    // Values of these examples are not known, or the evaluator does not take what the rule asks.
    let known = [
        "COMPOSE014",
        "COMPOSE018",
        "COMPOSE046",
        "HOT011",
        "HOT227",
        "HOT233",
        "HOT238",
        "HOT302",
    ];
    assert_eq!(
        left_out,
        BTreeSet::from(known),
        "left out by the comparison"
    );
}

/// The texts of the scalars of a document, each with where it is.
fn scalars(text: &str) -> Vec<Range<usize>> {
    fn visit(node: &Node, found: &mut Vec<Range<usize>>) {
        match &node.kind {
            Kind::Scalar(_) => found.push(node.span.start as usize..node.span.end as usize),
            Kind::Sequence(items) => items.iter().for_each(|item| visit(item, found)),
            Kind::Mapping(map) => map
                .named()
                .for_each(|(_, entry)| visit(&entry.value, found)),
        }
    }
    let mut sources = Sources::new();
    let file = sources.add("stack.yaml", text);
    let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
    let mut found = Vec::new();
    for document in &parsed.documents {
        visit(&document.root, &mut found);
    }
    found
}

/// An example in which values stand in the place of others, so that they collide, are missing or refer to something else.
fn mixed(text: &str, swaps: &[(Index, Index)]) -> String {
    let mut text = text.to_owned();
    for (to, from) in swaps {
        let places = scalars(&text);
        if places.is_empty() {
            break;
        }
        let (to, from) = (to.get(&places).clone(), from.get(&places).clone());
        let value = text[from].to_owned();
        text.replace_range(to, &value);
    }
    text
}

/// Of every language, whatever it is: examples with their values mixed up, judged by their own rule and some others.
#[test]
fn mixed_examples_are_judged_alike() {
    let examples: Vec<_> = library::examples().collect();
    let compared = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 80,
        ..ProptestConfig::default()
    });
    let swaps = prop::collection::vec((any::<Index>(), any::<Index>()), 1..4);
    let others = prop::collection::vec(any::<Index>(), 6);
    let run = runner.run(
        &(any::<Index>(), swaps, others),
        |(example, swaps, others)| {
            let example = example.get(&examples);
            let own = example.name.split('.').next().unwrap_or("");
            let rules = library::builtin().rules().iter();
            let rules = rules.filter(|rule| rule.language == example.language);
            let rules: Vec<&str> = rules.map(|rule| rule.id.as_str()).collect();
            let others: Vec<&str> = others.iter().map(|at| *at.get(&rules)).collect();
            let text = mixed(example.text, &swaps);
            let wanted = |id: &str| id == own || others.contains(&id);
            compared.set(compared.get() + agree(example.language, &text, wanted).len());
            Ok(())
        },
    );
    if let Err(error) = run {
        panic!("{error}");
    }
    assert!(
        compared.get() > 200,
        "only {} were compared",
        compared.get()
    );
}
