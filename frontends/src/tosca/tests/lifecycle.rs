//! Lifecycles that policies give.

use super::*;

const MACHINE: &str = "          states: [off, on]\n          initial: off\n          final: [on]\n          transitions: [{from: off, to: on}]\n";

/// A web server that connects to a database, with a lifecycle for the nodes named.
fn template(policies: &str) -> String {
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  Db:\n    derived_from: tosca.nodes.Root\n    capabilities:\n      db: {{type: tosca.capabilities.Endpoint}}\n  App:\n    derived_from: tosca.nodes.Root\n    requirements:\n      - db: {{capability: tosca.capabilities.Endpoint, relationship: tosca.relationships.ConnectsTo, occurrences: [0, 2]}}\ntopology_template:\n  node_templates:\n    data: {{type: Db}}\n    first:\n      type: App\n      requirements: [db: data]\n    second:\n      type: App\n      requirements: [db: data]\n  policies:\n{policies}"
    )
}

fn policy(name: &str, target: &str, machine: &str, activations: &str) -> String {
    format!(
        "    - {name}:\n        type: locus.policies.Lifecycle\n        targets: [{target}]\n        properties:\n{machine}{activations}"
    )
}

fn messages(text: &str) -> Vec<String> {
    let (_, service) = service(&[("a.yaml", text)]);
    service
        .diagnostics
        .iter()
        .map(|told| told.message.clone())
        .collect()
}

#[test]
fn a_sound_lifecycle_is_sound() {
    let provides = "          activations: [{state: on, provides: {db: 2}}]\n";
    let requires = "          activations: [{state: on, requires: {db: 1}}]\n";
    let text = template(&format!(
        "{}{}",
        policy("p", "data", MACHINE, provides),
        policy("q", "first, second", MACHINE, requires)
    ));
    assert_eq!(messages(&text), [""; 0]);
}

#[test]
fn what_is_not_active_in_a_final_state_serves_nobody() {
    let text = template(&policy(
        "p",
        "data",
        MACHINE,
        "          activations: [{state: off, provides: {db: 0}}]\n",
    ));
    let told = messages(&text);
    assert_eq!(
        told,
        ["the nodes cannot all be in a final state: what `second` needs cannot hold"],
        "the standard lifecycle needs its requirements met"
    );
}

#[test]
fn a_limit_and_two_users_of_it_cannot_hold() {
    let (_, service) = service(&[(
        "a.yaml",
        &template(&policy(
            "p",
            "data",
            MACHINE,
            "          activations: [{state: on, provides: {db: 1}}]\n",
        )),
    )]);
    assert_eq!(service.diagnostics.len(), 1);
    assert_eq!(
        service.diagnostics[0].labels.len(),
        3,
        "the limit and its two users"
    );
}

#[test]
fn a_conflict_names_both_sides() {
    let text = template(&policy(
        "p",
        "first",
        MACHINE,
        "          activations: [{state: on, requires: {db: 0}}]\n",
    ));
    assert_eq!(
        messages(&text),
        ["the nodes cannot all be in a final state: what `first` needs cannot hold"]
    );
}

#[test]
fn another_final_state_is_chosen_when_one_cannot_be() {
    let two = "          states: [off, on, idle]\n          initial: off\n          final: [on, idle]\n          transitions: [{from: off, to: on}, {from: off, to: idle}]\n          activations: [{state: on, requires: {db: 0}}]\n";
    assert_eq!(messages(&template(&policy("p", "first", two, ""))), [""; 0]);
}

#[test]
fn an_automaton_must_be_one() {
    let wrong = "          states: [off, on]\n          initial: of\n          final: [on]\n          transitions: [{from: off, to: one}]\n          activations: [{state: on, provides: {db: 1}}]\n";
    assert_eq!(
        messages(&template(&policy("p", "data", wrong, ""))),
        ["there is no state `of`", "there is no state `one`"]
    );
    let stuck = "          states: [off, on]\n          initial: off\n          final: [on]\n";
    assert_eq!(
        messages(&template(&policy("p", "data", stuck, ""))),
        ["the final state `on` cannot be reached from `off`"]
    );
    let port = "          activations: [{state: on, provides: {dbs: 1}}]\n";
    assert!(
        messages(&template(&policy("p", "data", MACHINE, port)))
            .contains(&"`data` has no capability `dbs`".to_owned())
    );
}
