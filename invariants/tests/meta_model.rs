//! The meta-model of Compose and the rules about Compose say the same.

use locus_invariants::library;
use locus_invariants::models;

/// Every invariant of the meta-model is a rule, which names it as its source.
#[test]
fn the_invariants_of_the_meta_model_are_rules() {
    let model = models::ALL.iter().find(|model| model.name == "compose");
    let text = model.expect("the model is there").text;
    let (_, body) = text
        .split_once("pred WellFormedComposition")
        .expect("its invariants are gathered");
    let (_, body) = body.split_once('{').expect("a body");
    let (body, _) = body.split_once('}').expect("an end");
    let invariants: Vec<&str> = body
        .lines()
        .filter_map(|line| line.trim().strip_suffix("[c]"))
        .collect();
    assert!(invariants.len() > 5, "{invariants:?}");
    for invariant in invariants {
        let named = format!("`{invariant}` of the model `compose`");
        let mut rules = library::builtin().rules().iter();
        assert!(
            rules.any(|rule| rule.language == "compose" && rule.source.contains(&named)),
            "no rule has the source {named}"
        );
    }
}

/// What a rule names as its source in the meta-model is there.
#[test]
fn sources_in_the_meta_model_exist() {
    let model = models::ALL.iter().find(|model| model.name == "compose");
    let text = model.expect("the model is there").text;
    for rule in library::builtin().rules() {
        if let Some((before, _)) = rule.source.split_once("` of the model `compose`") {
            let name = before.rsplit('`').next().unwrap_or("");
            assert!(
                text.contains(&format!("pred {name}[")),
                "{}: {name}",
                rule.id
            );
        }
    }
}
