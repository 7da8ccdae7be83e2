//! `locus test`: the user's own rules against the user's own examples.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const SETTINGS: &str = "[heat]\nrules = [\"naming.als\"]\n";

const RULES: &str = r#"module hot/naming

open hot/vocabulary
open values

/** ACME001 network-without-owner warning: the name of a network does not say whose it is
 * message: the name of network `{n}` does not start with `acme-`
 * at: n.prop_name "not one of ours"
 * help: call it `acme-{n}`
 * why: Networks that nobody owns are deleted every night.
 * source: our handbook
 */
assert OurNetworks { all n: OS_Neutron_Net | some n.prop_name implies finds[n.prop_name, "^acme-"] }
"#;

const BREAKS: &str = "heat_template_version: 2021-04-16
resources:
  net:
    type: OS::Neutron::Net
    properties:
      name: private
#           ^ ACME001
";

const HOLDS: &str = "heat_template_version: 2021-04-16
resources:
  net:
    type: OS::Neutron::Net
    properties:
      name: acme-private
";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn locus(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The exit code, what was printed and what was said beside that.
fn test(files: &[(&str, &str)]) -> (i32, String, String) {
    let folder = folder(files);
    let output = locus(folder.path(), &["test"]);
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn rules_that_find_what_is_marked_pass() {
    let (code, out, _) = test(&[
        ("locus.toml", SETTINGS),
        ("naming.als", RULES),
        ("examples/ACME001.breaks.yaml", BREAKS),
        ("examples/ACME001.holds.yaml", HOLDS),
        // Not an example: no marks, and no name that says so.
        ("main.yaml", BREAKS.split("#  ").next().unwrap()),
    ]);
    assert_eq!(
        (code, out.as_str()),
        (
            0,
            "ok   examples/ACME001.breaks.yaml\nok   examples/ACME001.holds.yaml\n1 rule, 2 examples: 2 passed, 0 failed\n"
        )
    );
}

#[test]
fn what_differs_from_the_marks_is_said() {
    let moved = BREAKS.replace("#           ^ ACME001", "#     ^ ACME001");
    let (code, out, _) = test(&[
        ("locus.toml", SETTINGS),
        ("naming.als", RULES),
        ("a.breaks.yaml", &moved),
        (
            "b.holds.yaml",
            &BREAKS.replace("#           ^ ACME001\n", ""),
        ),
        ("c.breaks.yaml", HOLDS),
        ("d.holds.yaml", BREAKS),
    ]);
    assert_eq!(code, 1);
    assert_eq!(
        out,
        "FAIL a.breaks.yaml
     6:7: ACME001 is marked and not found
     6:13: ACME001 is found and not marked: the name of network `net` does not start with `acme-`
FAIL b.holds.yaml
     6:13: ACME001 is found and not marked: the name of network `net` does not start with `acme-`
FAIL c.breaks.yaml
     nothing is marked: write `#   ^ RULE` under the place where a finding starts
FAIL d.holds.yaml
     an example that holds has no marks
1 rule, 4 examples: 0 passed, 4 failed
"
    );
}

#[test]
fn a_rule_that_no_example_breaks_is_named() {
    let (code, out, _) = test(&[
        ("locus.toml", SETTINGS),
        ("naming.als", RULES),
        ("a.holds.yaml", HOLDS),
    ]);
    assert_eq!(code, 0);
    assert!(out.contains("no example breaks ACME001\n"), "{out}");
}

#[test]
fn marks_of_rules_that_come_with_the_program_count_too() {
    let text = BREAKS.replace(
        "    type: OS::Neutron::Net\n",
        "    type: OS::Neutron::Net\n    depends_on: net\n#               ^ HOT999\n",
    );
    let (code, out, _) = test(&[
        ("locus.toml", SETTINGS),
        ("naming.als", RULES),
        ("a.breaks.yaml", &text),
    ]);
    assert_eq!(code, 1);
    assert!(out.contains("HOT999 is marked and not found"), "{out}");
}

#[test]
fn nothing_to_test_is_no_success() {
    let (code, _, said) = test(&[("a.breaks.yaml", BREAKS)]);
    assert_eq!(code, 2);
    assert!(said.contains("there are no rules to test"), "{said}");
    let (code, _, said) = test(&[
        ("locus.toml", SETTINGS),
        ("naming.als", RULES),
        ("a.yaml", HOLDS),
    ]);
    assert_eq!(code, 2);
    assert!(said.contains("there are no examples"), "{said}");
    let (code, _, said) = test(&[("locus.toml", SETTINGS), ("a.breaks.yaml", BREAKS)]);
    assert_eq!(code, 2);
    assert!(said.contains("cannot read"), "{said}");
    let wrong = RULES.replace("OS_Neutron_Net |", "OS_Neutron_Nett |");
    let (code, _, said) = test(&[
        ("locus.toml", SETTINGS),
        ("naming.als", &wrong),
        ("a.breaks.yaml", BREAKS),
    ]);
    assert_eq!(code, 2);
    assert!(said.contains("OS_Neutron_Nett"), "{said}");
    let output = locus(folder(&[]).path(), &["test", "missing"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_vocabulary_has_documentation_and_an_example() {
    let folder = folder(&[]);
    let print = |args: &[&str]| {
        let output = locus(folder.path(), args);
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let port = print(&["vocabulary", "heat", "OS_Neutron_Port"]);
    assert!(
        port.contains("sig OS_Neutron_Port extends Resource"),
        "{port}"
    );
    assert!(port.contains("sig Resource"), "what it inherits\n{port}");
    assert!(port.contains("\nassert "), "an example\n{port}");
    let field = print(&["vocabulary", "heat", "prop_fixed_ips"]);
    assert!(
        field.contains("OS_Neutron_Port.prop_fixed_ips: set OS_Neutron_Port_fixed_ips // "),
        "{field}"
    );
    let values = print(&["vocabulary", "compose", "values"]);
    assert!(
        values.contains("pred contains[block, a: set univ]\n"),
        "{values}"
    );
    let output = locus(folder.path(), &["vocabulary", "heat", "OS_Neutron_Prt"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("OS_Neutron_Port"));
}

/// Every signature and every field of every language has a sentence, and something to show how it is used.
#[test]
fn nothing_in_the_vocabulary_is_undocumented() {
    for language in locus_frontends::language::Registry::builtin().languages() {
        let vocabulary = language.vocabulary();
        for name in vocabulary.names() {
            let sig = vocabulary.sig(&name).unwrap();
            assert!(!sig.doc.trim().is_empty(), "{name}");
            for field in &sig.fields {
                assert!(!field.doc.trim().is_empty(), "{name}.{}", field.name);
            }
        }
    }
}

#[test]
fn rules_name_the_node_types_of_a_tosca_service() {
    let rules = r#"module tosca/ours

open tosca/vocabulary
open values

/** ACME002 app-on-low-port error: an application listens on a port below 1024
 * message: `{a}` listens on a port that needs privileges
 * at: a.prop_port "below 1024"
 * help: use another port
 * why: Our applications run without privileges.
 * source: our handbook
 */
assert OurPorts { all a: my_nodes_App | not less[a.prop_port, 1024] }
"#;
    let service = |port: &str| {
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.nodes.App:
    derived_from: tosca.nodes.Root
    properties:
      port: {{type: integer}}
  my.nodes.Shop:
    derived_from: my.nodes.App
topology_template:
  node_templates:
    shop:
      type: my.nodes.Shop
      properties:
        port: {port}
"
        )
    };
    let (breaks, holds) = (service("80\n#             ^ ACME002"), service("8080"));
    let (code, out, err) = test(&[
        ("locus.toml", "[tosca]\nrules = [\"ours.als\"]\n"),
        ("ours.als", rules),
        ("examples/ACME002.breaks.yaml", &breaks),
        ("examples/ACME002.holds.yaml", &holds),
    ]);
    assert_eq!(code, 0, "{out}{err}");
}
