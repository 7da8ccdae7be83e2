//! Where rules come from a reference model, both say the same.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use locus_invariants::{library, models};

/// The predicates of models that rules name as their sources: `` `Predicate` of the model `name` ``.
fn cited() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut cited: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for rule in library::builtin().rules() {
        for (at, between) in rule.source.match_indices("` of the model `") {
            let predicate = rule.source[..at].rsplit('`').next().unwrap_or("");
            let model = rule.source[at + between.len()..].split('`').next();
            cited
                .entry(model.unwrap_or(""))
                .or_default()
                .insert(predicate);
        }
    }
    cited
}

fn text(model: &str) -> &'static str {
    let found = models::ALL.iter().find(|other| other.name == model);
    found.expect("rules name models that are there").text
}

/// What a rule names as its source in a model is there.
#[test]
fn sources_in_models_exist() {
    let cited = cited();
    assert!(!cited.is_empty(), "some rules come from a model");
    for (model, predicates) in cited {
        for predicate in predicates {
            let is_there = text(model).contains(&format!("pred {predicate}["));
            assert!(is_there, "{predicate} in {model}");
        }
    }
}

/// A model that rules come from gathers its invariants in one predicate; each of them is a rule.
#[test]
fn the_invariants_of_models_are_rules() {
    for (model, predicates) in cited() {
        let (_, body) = text(model)
            .split_once("pred WellFormed")
            .expect("its invariants are gathered");
        let (_, body) = body.split_once('{').expect("a body");
        let (body, _) = body.split_once('}').expect("an end");
        let invariants: Vec<&str> = body
            .lines()
            .filter_map(|line| line.trim().strip_suffix("[c]"))
            .collect();
        assert!(invariants.len() > 5, "{model}: {invariants:?}");
        for invariant in invariants {
            assert!(
                predicates.contains(invariant),
                "no rule has the source `{invariant}` of the model `{model}`"
            );
        }
    }
}
