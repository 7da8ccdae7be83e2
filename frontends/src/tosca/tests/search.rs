//! Requirements without a target: what can meet them.

use super::*;

/// What the search says of the open requirements, with `--all-bindings`.
fn choices(text: &str) -> Vec<String> {
    let loader = MemoryLoader::new().with("a.yaml", text);
    let options = Options {
        all_bindings: true,
        ..Options::default()
    };
    let service = load("a.yaml", &options, &loader, &mut Sources::new());
    let told = service.diagnostics.iter();
    let told = told.filter(|told| told.severity != Severity::Warning);
    told.map(|told| told.message.clone()).collect()
}

/// Two machines and a component that needs one of them, with a filter.
fn filtered(filter: &str) -> String {
    simple(&format!(
        "    small:\n      type: Compute\n      capabilities:\n        host: {{properties: {{num_cpus: 2, mem_size: 1 GB}}}}\n    large:\n      type: Compute\n      capabilities:\n        host: {{properties: {{num_cpus: 8, mem_size: 16 GB}}}}\n    unknown:\n      type: Compute\n      capabilities:\n        host: {{properties: {{num_cpus: {{get_input: cpus}}}}}}\n    app:\n      type: SoftwareComponent\n      requirements:\n        - host:\n            node: Compute\n            node_filter:\n{filter}"
    )) + "  inputs:\n    cpus: {type: integer}\n"
}

#[test]
fn a_filter_of_1_x_leaves_what_fulfils_it_and_what_is_not_known() {
    let cpus = |clause: &str| {
        filtered(&format!(
            "              capabilities:\n                - host:\n                    properties:\n                      - num_cpus: {clause}\n"
        ))
    };
    let all = "`app.host` can be met by `small`, `large` or `unknown`";
    assert_eq!(choices(&cpus("{in_range: [1, 9]}")), [all]);
    assert_eq!(
        choices(&cpus("{greater_than: 4}")),
        ["`app.host` can be met by `large` or `unknown`"]
    );
    assert_eq!(
        choices(&cpus("[{greater_than: 1}, {less_than: 8}]")),
        ["`app.host` can be met by `small` or `unknown`"]
    );
    assert_eq!(
        choices(&cpus("2")),
        ["`app.host` can be met by `small` or `unknown`"]
    );
    let by_type = filtered(
        "              capabilities:\n                - tosca.capabilities.Compute:\n                    properties:\n                      - mem_size: {greater_or_equal: 2048 MB}\n",
    );
    assert_eq!(
        choices(&by_type),
        ["`app.host` can be met by `large` or `unknown`"]
    );
    let no_such = filtered("              properties:\n                - zone: {equal: a}\n");
    assert_eq!(choices(&no_such), [""; 0], "no node has a property `zone`");
}

const TYPES_2_0: &str = "tosca_definitions_version: tosca_2_0\ncapability_types:\n  Place:\n    properties:\n      size: {type: integer}\nrelationship_types:\n  Uses: {}\nnode_types:\n  Machine:\n    properties:\n      zone: {type: string}\n    capabilities:\n      place: {type: Place}\n  App:\n    requirements:\n      - place: {capability: Place, relationship: Uses}\n";

fn machines(apps: &str) -> String {
    format!(
        "{TYPES_2_0}service_template:\n  node_templates:\n    a:\n      type: Machine\n      properties: {{zone: x}}\n      capabilities: {{place: {{properties: {{size: 2}}}}}}\n    b:\n      type: Machine\n      properties: {{zone: y}}\n      capabilities: {{place: {{properties: {{size: 4}}}}}}\n{apps}"
    )
}

fn app(name: &str, inside: &str) -> String {
    format!(
        "    {name}:\n      type: App\n      requirements:\n        - place:\n            directives: [internal]\n{inside}"
    )
}

#[test]
fn a_filter_of_2_0_is_asked_of_each_candidate() {
    let filter =
        |clause: &str| machines(&app("app", &format!("            node_filter: {clause}\n")));
    assert_eq!(
        choices(&filter(
            "{$equal: [{$get_property: [SELF, TARGET, zone]}, y]}"
        )),
        ["`app.place` can be met by `b` alone"]
    );
    assert_eq!(
        choices(&filter(
            "{$and: [{$greater_than: [{$get_property: [SELF, CAPABILITY, size]}, 1]}, {$not: [{$equal: [{$get_property: [SELF, TARGET, zone]}, y]}]}]}"
        )),
        ["`app.place` can be met by `a` alone"]
    );
    assert_eq!(
        choices(&filter(
            "{$greater_than: [{$get_property: [SELF, CAPABILITY, size]}, 9]}"
        )),
        [""; 0]
    );
}

#[test]
fn a_choice_is_one_that_leaves_enough_for_the_others() {
    let text = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  M:\n    derived_from: tosca.nodes.Root\n    capabilities:\n      slot: {type: tosca.capabilities.Node, occurrences: [0, 1]}\n  A:\n    derived_from: tosca.nodes.Root\n    requirements:\n      - slot: {capability: tosca.capabilities.Node, node: M, relationship: tosca.relationships.DependsOn}\n  N:\n    derived_from: M\ntopology_template:\n  node_templates:\n    m: {type: M}\n    n: {type: N}\n    any:\n      type: A\n      requirements: [slot: {node: M, capability: slot}]\n    one:\n      type: A\n      requirements: [slot: {node: N, capability: slot}]\n";
    let told = choices(text);
    assert!(
        told.contains(&"`one.slot` can be met by `n` alone".to_owned()),
        "{told:?}"
    );
}

#[test]
fn allocations_are_added_up_exactly() {
    let (_, sound) = service(&[(
        "a.yaml",
        &machines(&format!(
            "{}{}",
            app("p", "            allocation: {size: 2}\n"),
            app("q", "            allocation: {size: 4}\n")
        )),
    )]);
    assert_eq!(sound.diagnostics, []);
    assert!(sound.facts.of("Shortage").is_empty());
    let (_, short) = service(&[(
        "a.yaml",
        &machines(&format!(
            "{}{}{}",
            app("p", "            allocation: {size: 2}\n"),
            app("q", "            allocation: {size: 3}\n"),
            app("r", "            allocation: {size: 3}\n")
        )),
    )]);
    assert_eq!(short.facts.of("Shortage").len(), 1);
}

#[test]
fn sixty_requirements_find_their_sixty_targets_and_the_reason_when_they_do_not() {
    let text = |machines: usize| {
        let mut text = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  M:\n    derived_from: tosca.nodes.Root\n    capabilities:\n      slot: {type: tosca.capabilities.Container, occurrences: [0, 1]}\n  A:\n    derived_from: tosca.nodes.Root\n    requirements:\n      - slot: {capability: tosca.capabilities.Container, node: M, relationship: tosca.relationships.HostedOn}\ntopology_template:\n  node_templates:\n".to_owned();
        for at in 0..60 {
            if at < machines {
                text += &format!("    m{at}: {{type: M}}\n");
            }
            text += &format!("    a{at}:\n      type: A\n      requirements: [slot: M]\n");
        }
        text
    };
    let (_, sound) = service(&[("a.yaml", &text(60))]);
    assert!(sound.facts.of("Shortage").is_empty());
    let (_, short) = service(&[("a.yaml", &text(59))]);
    assert_eq!(short.facts.of("Shortage").len(), 1);
}

#[test]
fn relationships_of_one_assignment_may_lead_to_several_nodes() {
    // Machines of 2 and 4.
    let short = |size: u32, count: u32| {
        let inside =
            format!("            allocation: {{size: {size}}}\n            count: {count}\n");
        let text = machines(&app("p", &inside));
        service(&[("a.yaml", &text)]).1.facts.of("Shortage").len()
    };
    assert_eq!(short(2, 3), 0);
    assert_eq!(short(2, 4), 1);
    assert_eq!(short(4, 1), 0);
    assert_eq!(short(3, 2), 1);
}

#[test]
fn sixty_allocations_are_decided() {
    let text = |machines: usize, left: usize| {
        let mut text = "tosca_definitions_version: tosca_2_0\ncapability_types: {C: {properties: {mem: {type: integer}}}}\nrelationship_types: {R: {}}\nnode_types:\n  M: {capabilities: {c: {type: C}}}\n  A: {requirements: [r: {capability: C, relationship: R}]}\nservice_template:\n  node_templates:\n".to_owned();
        for at in 0..60 {
            let needed = 1 + at * 7 % 13;
            text += &format!(
                "    a{at}: {{type: A, requirements: [r: {{allocation: {{mem: {needed}}}}}]}}\n"
            );
        }
        for at in 0..machines {
            text += &format!(
                "    m{at}: {{type: M, capabilities: {{c: {{properties: {{mem: {left}}}}}}}}}\n"
            );
        }
        text
    };
    let (_, sound) = service(&[("a.yaml", &text(22, 20))]);
    assert_eq!(sound.unchecked, []);
    assert!(sound.facts.of("Shortage").is_empty());
    let (_, short) = service(&[("a.yaml", &text(20, 20))]);
    // Whether each of them is needed for the reason may be too much to find out, and is said then.
    assert!(short.unchecked.len() <= 1);
    assert_eq!(short.facts.of("Shortage").len(), 1);
}
