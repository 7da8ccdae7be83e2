//! Tests of the whole front-end: what is told of a file, and where.

mod lifecycle;
mod search;

use locus_core::{Severity, Sources};

use super::{Options, Service, load};
use crate::loader::MemoryLoader;

fn service(files: &[(&str, &str)]) -> (Sources, Service) {
    let mut loader = MemoryLoader::new();
    for (path, text) in files {
        loader.insert(path, text);
    }
    let mut sources = Sources::new();
    let service = load(files[0].0, &Options::default(), &loader, &mut sources);
    (sources, service)
}

/// What is told of files, as `line code`, the errors alone.
fn errors(files: &[(&str, &str)]) -> Vec<String> {
    let (sources, service) = service(files);
    let errors = service.diagnostics.iter();
    let errors = errors.filter(|diagnostic| diagnostic.severity == Severity::Error);
    let mut told: Vec<(usize, String)> = errors
        .map(|diagnostic| {
            let line = diagnostic
                .primary()
                .map_or(0, |span| sources.start(span).line);
            (line, diagnostic.code.clone())
        })
        .collect();
    told.sort();
    told.into_iter()
        .map(|(line, code)| format!("{line} {code}"))
        .collect()
}

/// A 1.3 template with node templates.
fn simple(nodes: &str) -> String {
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n{nodes}"
    )
}

#[test]
fn a_template_of_the_simple_profile_becomes_locations_and_roles() {
    let text = simple(
        "    db:\n      type: tosca.nodes.DBMS\n      properties: {port: 3306}\n      requirements:\n        - host: vm\n    vm:\n      type: Compute\n",
    );
    let (_, service) = service(&[("a.yaml", &text)]);
    assert_eq!(service.diagnostics, []);
    let names: Vec<&str> = service.graph.locations().map(|(_, l)| &*l.name).collect();
    assert_eq!(names, ["db", "vm", "db.host"]);
    assert_eq!(service.graph.bindings().len(), 2);
}

#[test]
fn two_nodes_on_one_host_have_a_role_each() {
    let text = simple(
        "    a:\n      type: SoftwareComponent\n      requirements: [host: vm]\n    b:\n      type: SoftwareComponent\n      requirements: [host: vm]\n    vm:\n      type: Compute\n",
    );
    let (_, service) = service(&[("a.yaml", &text)]);
    assert_eq!(service.diagnostics, []);
    let vm = service.graph.find("vm").unwrap();
    assert_eq!(service.graph.location(vm).provided.len(), 2);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = simple(
        "    a:\n      type: tosca.nodes.Comput\n    b:\n      type: Compute\n      propertys: {}\n      capabilities:\n        host:\n          properties:\n            num_cpus: 0\n            mem_size: 4 XB\n            cpus: 1\n      requirements:\n        - hots: c\n",
    );
    assert_eq!(
        errors(&[("a.yaml", &text)]),
        [
            "5 tosca-unknown-type",
            "8 tosca-unknown-key",
            "12 tosca-constraint",
            "13 tosca-value",
            "14 tosca-unknown-property",
            "16 tosca-reference",
            "16 tosca-unknown-requirement",
        ]
    );
}

#[test]
fn keys_of_other_versions_are_named() {
    let text = "tosca_definitions_version: tosca_2_0\ntopology_template: {}\n";
    let (_, service) = service(&[("a.yaml", text)]);
    let help = service.diagnostics[0].help.as_deref();
    assert_eq!(help, Some("since TOSCA 2.0 it is `service_template`"));
}

#[test]
fn constraints_are_evaluated_exactly() {
    let of = |ty: &str, constraint: &str, value: &str| {
        let text = format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  N:\n    properties:\n      p:\n        type: {ty}\n        constraints:\n          - {constraint}\ntopology_template:\n  node_templates:\n    n:\n      type: N\n      properties:\n        p: {value}\n"
        );
        errors(&[("a.yaml", &text)]).is_empty()
    };
    let cases = [
        (
            "scalar-unit.size",
            "greater_or_equal: 1 GiB",
            "1.073741824 GB",
            true,
        ),
        (
            "scalar-unit.size",
            "greater_or_equal: 1 GiB",
            "1073741823 B",
            false,
        ),
        ("scalar-unit.time", "less_than: 1 s", "999 ms", true),
        ("scalar-unit.time", "less_than: 1 s", "1000 ms", false),
        (
            "scalar-unit.frequency",
            "in_range: [1 GHz, 2 GHz]",
            "1500 mhz",
            true,
        ),
        ("float", "less_than: 0.3", "0.29999", true),
        ("float", "greater_than: 0.3", "0.3", false),
        ("string", "pattern: \"[a-z]+\"", "abc", true),
        ("string", "pattern: \"[a-z]+\"", "abc1", false),
        ("string", "min_length: 3", "ab", false),
        ("string", "max_length: 3", "äöü", true),
        ("integer", "valid_values: [1, 2]", "3", false),
        ("integer", "in_range: [1, UNBOUNDED]", "70000", true),
        ("version", "greater_than: 1.2", "1.10", true),
        ("range", "in_range: [1, 10]", "[2, 11]", false),
        ("range", "in_range: [1, 10]", "[2, 10]", true),
        (
            "timestamp",
            "less_than: \"2020-01-01T00:00:00Z\"",
            "\"2020-01-01T00:30:00+01:00\"",
            true,
        ),
    ];
    for (ty, constraint, value, holds) in cases {
        assert_eq!(
            of(ty, constraint, value),
            holds,
            "{ty} {constraint} {value}"
        );
    }
}

#[test]
fn functions_of_2_0_are_computed_in_validations() {
    let of = |validation: &str, value: &str| {
        let text = format!(
            "tosca_definitions_version: tosca_2_0\ndata_types:\n  T:\n    derived_from: string\n    validation: {validation}\nnode_types:\n  N:\n    properties:\n      p: {{type: T}}\nservice_template:\n  node_templates:\n    n:\n      type: N\n      properties:\n        p: {value}\n"
        );
        errors(&[("a.yaml", &text)]).is_empty()
    };
    let cases = [
        ("{$equal: [{$length: [$value]}, 3]}", "abc", true),
        ("{$equal: [{$length: [$value]}, 3]}", "abcd", false),
        ("{$has_prefix: [$value, ab]}", "abc", true),
        ("{$has_suffix: [$value, ab]}", "abc", false),
        ("{$contains: [$value, b]}", "abc", true),
        ("{$valid_values: [$value, [a, b]]}", "c", false),
        (
            "{$or: [{$equal: [$value, a]}, {$equal: [$value, b]}]}",
            "b",
            true,
        ),
        ("{$not: [{$equal: [$value, a]}]}", "a", false),
        ("{$xor: [true, {$equal: [$value, a]}]}", "a", false),
        ("{$equal: [{$concat: [$value, c]}, abc]}", "ab", true),
        ("{$equal: [{$token: [$value, '.', 1]}, b]}", "a.b.c", true),
        ("{$equal: [{$join: [[a, $value], '-']}, a-b]}", "b", true),
        ("{$equal: [{$sum: [1, 2]}, {$product: [3, 1]}]}", "x", true),
        (
            "{$equal: [{$difference: [1, 2]}, {$remainder: [7, 4]}]}",
            "x",
            false,
        ),
        ("{$equal: [{$quotient: [7, 2]}, 3.5]}", "x", true),
        ("{$equal: [{$floor: [2.5]}, {$round: [2.4]}]}", "x", true),
        ("{$has_entry: [{$union: [[a], [b]]}, $value]}", "b", true),
        (
            "{$has_entry: [{$intersection: [[a, b], [b]]}, $value]}",
            "a",
            false,
        ),
        ("{$matches: [$value, '^[a-z]+$']}", "A", false),
        ("{$matches: [$value, 'b+']}", "abc", true),
        ("{$equal: [{$round: [3.5]}, 3]}", "x", true),
        ("{$equal: [{$round: [-3.5]}, -4]}", "x", true),
        ("{$equal: [{$round: [3.53]}, 4]}", "x", true),
        ("{$equal: [{$sum: [0.1, 0.2]}, 0.3]}", "x", true),
        ("{$equal: [{$quotient: [6, 2]}, 3.0]}", "x", true),
        // Whether `::` is one separator or two is open.
        ("{$equal: [{$token: [$value, ':', 1]}, c]}", "a::b", true),
        ("{$equal: [{$token: [$value, ',;', 1]}, c]}", "a,;b", true),
        ("{$has_key: [{a: 1}, $value]}", "b", false),
    ];
    for (validation, value, holds) in cases {
        assert_eq!(of(validation, value), holds, "{validation} {value}");
    }
}

#[test]
fn a_refinement_may_only_narrow() {
    let of = |refined: &str| {
        let text = format!(
            "tosca_definitions_version: tosca_2_0\nnode_types:\n  A:\n    properties:\n      p: {{type: integer}}\n      q: {{type: string, value: x}}\n  B:\n    derived_from: A\n    properties:\n      {refined}\n"
        );
        errors(&[("a.yaml", &text)])
    };
    assert_eq!(of("p: {default: 1}"), Vec::<String>::new());
    assert_eq!(of("p: {default: one}"), ["10 tosca-value"]);
    assert_eq!(of("p: {type: string}"), ["10 tosca-refinement"]);
    assert_eq!(of("p: {required: false}"), ["10 tosca-refinement"]);
    assert_eq!(of("q: y"), ["10 tosca-refinement"]);
    assert_eq!(of("q: x"), Vec::<String>::new());
    assert_eq!(of("r: {default: 1}"), ["10 tosca-missing-key"]);
}

#[test]
fn imports_are_followed_in_all_forms() {
    let types = "tosca_definitions_version: tosca_simple_yaml_1_3\nnode_types:\n  my.Node:\n    derived_from: tosca.nodes.Root\n";
    let of = |import: &str, ty: &str| {
        let text = format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\nimports:\n  - {import}\ntopology_template:\n  node_templates:\n    n:\n      type: {ty}\n"
        );
        errors(&[("d/a.yaml", &text), ("d/t/types.yaml", types)])
    };
    let none = Vec::<String>::new();
    assert_eq!(of("t/types.yaml", "my.Node"), none);
    assert_eq!(of("types: t/types.yaml", "my.Node"), none);
    assert_eq!(of("types: {file: t/types.yaml}", "my.Node"), none);
    assert_eq!(of("file: t/types.yaml", "my.Node"), none);
    assert_eq!(
        of("{file: t/types.yaml, namespace_prefix: p}", "p:my.Node"),
        none
    );
    assert_eq!(
        of("{file: t/types.yaml, namespace_prefix: p}", "my.Node"),
        ["7 tosca-unknown-type"]
    );
    assert_eq!(of("t/type.yaml", "tosca.nodes.Root"), ["3 tosca-import"]);
    assert_eq!(
        of("{file: t/types.yaml, repository: r}", "tosca.nodes.Root"),
        ["3 tosca-import"]
    );
}

#[test]
fn what_is_behind_the_network_is_unknown_and_the_rest_is_checked() {
    let text = "tosca_definitions_version: tosca_2_0\nimports:\n  - url: https://example.com/types.yaml\n    namespace: far\nservice_template:\n  node_templates:\n    a:\n      type: far:Node\n      properties: {anything: 1}\n    b:\n      type: Near\n";
    let (_, service) = service(&[("a.yaml", text)]);
    assert_eq!(service.unchecked.len(), 1);
    assert_eq!(errors(&[("a.yaml", text)]), ["11 tosca-unknown-type"]);
}

#[test]
fn what_a_requirement_adds_to_a_relationship_is_told_once() {
    let text = |root: &str| {
        format!(
            "tosca_definitions_version: tosca_2_0
imports:
  - profile: org.example.base:1.0
    namespace: base
capability_types:
  C: {{}}
relationship_types:
  Root: {{}}
  R: {{derived_from: {root}}}
node_types:
  A:
    requirements:
      - to:
          capability: C
          relationship: {{type: R, properties: {{speed: {{default: 3}}}}}}
"
        )
    };
    let told = |root: &str| errors(&[("a.yaml", &text(root))]);
    assert_eq!(told("base:Root"), ["3 tosca-import"]);
    assert_eq!(
        told("Root"),
        ["3 tosca-import", "15 tosca-unknown-property"]
    );
}

#[test]
fn profiles_are_found_where_their_names_say() {
    let app = "tosca_definitions_version: tosca_2_0
profile: org.example.app:2.1
imports:
  - {profile: org.example.base:1.0, namespace: base}
node_types:
  A: {derived_from: base:Root}
  B: {derived_from: base:Rot}
";
    let base = "tosca_definitions_version: tosca_2_0
profile: org.example.base:1.0
node_types:
  Root: {}
";
    let other = base.replace("1.0", "1.1");
    let at = |app_at: &'static str| {
        [
            (app_at, app),
            ("lib/org/example/base/1.0/profile.yaml", base),
            ("lib/org/example/base/1.1/profile.yaml", &other),
        ]
        .map(|(path, text)| (path, text.to_owned()))
    };
    let told = |files: [(&'static str, String); 3]| {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, &**text)).collect();
        errors(&files)
    };
    assert_eq!(
        told(at("lib/org/example/app/2.1/profile.yaml")),
        ["7 tosca-unknown-type"]
    );
    assert_eq!(told(at("lib/elsewhere/app.yaml")), ["4 tosca-import"]);
}

#[test]
fn what_a_type_inherits_from_one_that_is_not_known_is_not_said_to_be_missing() {
    let text = |root: &str| {
        format!(
            "tosca_definitions_version: tosca_2_0
imports:
  - profile: org.example.base:1.0
    namespace: base
capability_types:
  C: {{}}
node_types:
  Root: {{}}
  A:
    derived_from: {root}
    properties:
      size: {{default: 3}}
      colour: red
    capabilities:
      host: {{properties: {{cpus: {{default: 2}}}}}}
      disk: {{type: base:Disk, properties: {{speed: {{default: 2}}}}}}
    requirements:
      - manager: {{node: A}}
    interfaces:
      Standard: {{operations: {{create: run.sh}}}}
  B:
    derived_from: A
    properties:
      weight: {{default: 4}}
"
        )
    };
    let unknown = text("base:Root");
    assert_eq!(errors(&[("a.yaml", &unknown)]), ["3 tosca-import"]);
    let known = text("Root");
    assert_eq!(
        errors(&[("a.yaml", &known)]),
        [
            "3 tosca-import",
            "12 tosca-missing-key",
            "13 tosca-shape",
            "15 tosca-missing-key",
            "18 tosca-missing-key",
            "20 tosca-missing-key",
            "24 tosca-missing-key",
        ]
    );
}

#[test]
fn files_that_import_each_other_are_read_once() {
    let of = |other: &str| {
        format!(
            "tosca_definitions_version: tosca_2_0\nimports: [{other}]\nnode_types:\n  N{}: {{}}\n",
            other.len()
        )
    };
    assert_eq!(
        errors(&[("a.yaml", &of("bb.yaml")), ("bb.yaml", &of("a.yaml"))]),
        Vec::<String>::new()
    );
}

#[test]
fn dialects_are_named_and_not_misread() {
    for (version, name) in [
        ("alien_dsl_2_0_0", "Alien4Cloud"),
        ("cloudify_dsl_1_3", "Cloudify"),
    ] {
        let text = format!("tosca_definitions_version: {version}\nnode_templates: []\n");
        let (_, service) = service(&[("a.yaml", &text)]);
        assert_eq!(service.diagnostics, []);
        assert!(service.unchecked[0].message.contains(name));
    }
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\n";
    for (rest, name) in [
        (
            "topology_template:\n  variability: {inputs: {}}\n",
            "Vintner",
        ),
        (
            "node_types:\n  a: {derived_from: unfurl.nodes.K8sCluster}\n",
            "Unfurl",
        ),
        (
            "imports: [{repository: unfurl, file: tosca_plugins/k8s.yaml}]\n",
            "Unfurl",
        ),
        (
            "topology_template:\n  outputs: {o: {value: {eval: '.::address'}}}\n",
            "Unfurl",
        ),
    ] {
        let (_, service) = service(&[("a.yaml", &format!("{head}{rest}"))]);
        assert_eq!(service.diagnostics, [], "{rest}");
        assert!(service.unchecked[0].message.contains(name), "{rest}");
    }
    // What only looks like it is judged.
    for (rest, errors) in [
        (
            "node_types:\n  unfurl: {derived_from: zz}\n",
            vec!["3 tosca-unknown-type"],
        ),
        (
            "data_types:\n  d: {properties: {eval: {type: strin}}}\n",
            vec!["3 tosca-unknown-type"],
        ),
    ] {
        let text = format!("{head}{rest}");
        assert_eq!(self::errors(&[("a.yaml", &text)]), errors, "{rest}");
    }
}

#[test]
fn paths_of_2_0_are_followed() {
    let of = |path: &str| {
        let text = format!(
            "tosca_definitions_version: tosca_2_0\ncapability_types:\n  C:\n    properties:\n      port: {{type: integer, default: 1}}\nrelationship_types:\n  R: {{}}\nnode_types:\n  S:\n    properties:\n      name: {{type: string, default: s}}\n    capabilities:\n      api: {{type: C}}\n  N:\n    requirements:\n      - server: {{capability: C, relationship: R}}\nservice_template:\n  node_templates:\n    s:\n      type: S\n    n:\n      type: N\n      requirements:\n        - server: s\n  outputs:\n    o:\n      value: {{ $get_property: {path} }}\n"
        );
        errors(&[("a.yaml", &text)]).is_empty()
    };
    assert!(of("[s, name]"));
    assert!(of("[s, CAPABILITY, api, port]"));
    assert!(of("[n, RELATIONSHIP, server, CAPABILITY, port]"));
    assert!(of("[n, RELATIONSHIP, server, 0, TARGET, name]"));
    assert!(!of("[s, nam]"));
    assert!(!of("[t, name]"));
    assert!(!of("[s, CAPABILITY, api, prot]"));
    assert!(!of("[s, CAPABILITY, web, port]"));
    assert!(!of("[n, RELATIONSHIP, sever, TARGET, name]"));
    assert!(!of("[n, RELATIONSHIP, server, TARGET, nam]"));
}

#[test]
fn nothing_panics_on_any_prefix_of_a_file() {
    let text = simple(
        "    a:\n      type: Compute\n      capabilities: {host: {properties: {num_cpus: {get_input: [x, 1]}}}}\n      requirements:\n        - local_storage: {node: b, relationship: {type: AttachesTo, properties: {location: /a}}}\n  substitution_mappings: {node_type: Compute, capabilities: {host: [a, host]}}\n  workflows: {w: {steps: {s: {target: a, activities: [call_operation: Standard.create]}}}}\n",
    );
    for end in 0..text.len() {
        if let Some(part) = text.get(..end) {
            service(&[("a.yaml", part)]);
        }
    }
}

#[test]
fn the_conditions_of_a_type_do_not_ask_for_themselves() {
    // Ports have a type with conditions of its own.
    let good = simple(
        "    web:\n      type: WebServer\n      capabilities: {data_endpoint: {properties: {port: 9100}}}\n      requirements: [host: vm]\n    vm: {type: Compute}\n",
    );
    assert_eq!(errors(&[("a.yaml", &good)]), Vec::<String>::new());
    let bad = good.replace("9100", "91000");
    let said = errors(&[("a.yaml", &bad)]);
    assert!(
        said.iter().any(|one| one.ends_with("tosca-constraint")),
        "{said:?}"
    );
}

#[test]
fn lists_of_their_own_type_are_read_to_their_depth() {
    let text = |held: &str| {
        let types = "data_types:\n  t:\n    derived_from: list\n    entry_schema: {type: t}\n    constraints: [{max_length: 2}, {equal: [[]]}]\n  u:\n    derived_from: list\n    entry_schema: {type: u, entry_schema: {type: u, constraints: [{max_length: 1}]}}\n  m:\n    derived_from: map\n    entry_schema: w\n  w:\n    derived_from: map\n    entry_schema: m\n";
        let nodes = "node_types:\n  n:\n    derived_from: tosca.nodes.Root\n    properties:\n      p: {type: t, required: false}\n      q: {type: u, required: false}\n      r: {type: m, required: false}\n";
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\n{types}{nodes}topology_template:\n  inputs: {{i: {{type: u}}}}\n  node_templates:\n    a:\n      type: n\n      properties: {{{held}}}\n    b:\n      type: n\n      properties: {{p: {{get_input: i}}}}\n"
        )
    };
    // Each list that is not `[[]]` is told by itself.
    let said = errors(&[("a.yaml", &text("p: [[], [[]]]"))]);
    assert_eq!(said, ["28 tosca-constraint"; 3]);
    assert_eq!(errors(&[("a.yaml", &text("q: [[[], []]]"))]), [""; 0]);
    let said = errors(&[("a.yaml", &text("q: [[[[], []]]]"))]);
    assert_eq!(said, ["28 tosca-constraint"]);
    let said = errors(&[("a.yaml", &text("r: {a: {b: {c: 1}}}"))]);
    assert_eq!(said, ["28 tosca-value"]);
}

#[test]
fn a_default_that_holds_itself_is_told() {
    let text = |first: &str, second: &str| {
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\ndata_types:\n  t:\n    properties:\n      p: {{type: t, required: false, default: {first}}}\n      q: {{type: t, required: false, default: {second}}}\nnode_types:\n  n:\n    derived_from: tosca.nodes.Root\n    properties: {{v: {{type: t}}}}\ntopology_template:\n  node_templates:\n    a: {{type: n, properties: {{v: {{}}}}}}\n"
        )
    };
    let said = errors(&[("a.yaml", &text("{}", "{}"))]);
    assert_eq!(said, ["5 tosca-value", "6 tosca-value"]);
    let ended = "{p: null, q: null}";
    assert_eq!(errors(&[("a.yaml", &text(ended, ended))]), [""; 0]);
}

#[test]
fn types_may_require_capabilities_of_each_other_by_name() {
    let text = "\
tosca_definitions_version: tosca_2_0
capability_types: { Talk: {}, Loud: { derived_from: Talk } }
relationship_types: { To: {} }
node_types:
  Peer:
    capabilities: { talk: Talk }
    requirements:
      - peer: { node: Peer, capability: talk, relationship: To, count_range: [0, 1] }
      - friend: { node: Friend, capability: talk, relationship: To, count_range: [0, 1] }
  Friend:
    derived_from: Peer
    capabilities: { talk: { type: Loud } }
    requirements:
      - peer: { node: Peer, capability: talk, count_range: [0, 1] }
      - lost: { node: Friend, capability: shout, relationship: To, count_range: [0, 1] }
";
    assert_eq!(errors(&[("a.yaml", text)]), ["15 tosca-unknown-type"]);
}

#[test]
fn a_type_that_two_files_of_a_package_define_is_one() {
    let head = "tosca_definitions_version: tosca_simple_yaml_1_3\n";
    let service = format!(
        "{head}imports: [a.yaml, b.yaml]\ntopology_template:\n  node_templates:\n    s: {{type: my.Server}}\n    c:\n      type: my.Client\n      requirements: [to: s]\n"
    );
    let cap = "capability_types:\n  my.Cap: {derived_from: tosca.capabilities.Root}\n";
    let a = format!(
        "{head}{cap}node_types:\n  my.Server:\n    derived_from: tosca.nodes.Root\n    capabilities: {{c: my.Cap}}\n"
    );
    let b = format!(
        "{head}{cap}node_types:\n  my.Client:\n    derived_from: tosca.nodes.Root\n    requirements: [to: {{capability: my.Cap, relationship: tosca.relationships.DependsOn}}]\n"
    );
    let (_, loaded) = self::service(&[("s.yaml", &service), ("a.yaml", &a), ("b.yaml", &b)]);
    assert_eq!(loaded.diagnostics, []);
    let mut names: Vec<String> = loaded
        .facts
        .of("Type")
        .into_iter()
        .map(|atom| loaded.facts.get(atom).name.to_string())
        .collect();
    names.retain(|name| name == "my.Cap");
    assert_eq!(names.len(), 1);
}
