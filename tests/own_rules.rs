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

const SHOP: &str = "tosca_definitions_version: tosca_simple_yaml_1_3
data_types:
  my.data.Port:
    derived_from: integer
    constraints: [{in_range: [1, 65535]}]
capability_types:
  my.capabilities.Counter: {derived_from: tosca.capabilities.Root}
node_types:
  my.nodes.App:
    derived_from: tosca.nodes.SoftwareComponent
    description: what the shop sells
    properties:
      port: {type: my.data.Port, required: false, default: 8080}
    capabilities:
      counter: {type: my.capabilities.Counter}
topology_template:
  node_templates:
    machine: {type: tosca.nodes.Compute}
    shop:
      type: my.nodes.App
      requirements: [{host: machine}]
";

#[test]
fn types_of_tosca_are_described_with_all_that_they_have() {
    let folder = folder(&[("shop.yaml", SHOP)]);
    let print = |args: &[&str]| {
        let output = locus(folder.path(), &[&["vocabulary", "tosca"], args].concat());
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let full = print(&["tosca.nodes.WebServer"]);
    assert_eq!(full, print(&["WebServer"]));
    for line in [
        "/** a node of type `tosca.nodes.WebServer` of TOSCA 1.3 */\nsig tosca_nodes_WebServer extends Node {",
        "(from `tosca.nodes.SoftwareComponent`) */\n  prop_component_version: lone univ",
        "//   data_endpoint: tosca.capabilities.Endpoint\n",
        "//   feature: tosca.capabilities.Node (from `tosca.nodes.Root`)\n",
        "//   state: a string, `initial` by default (from `tosca.nodes.Root`)\n",
    ] {
        assert!(full.contains(line), "{line}\n{full}");
    }
    // A short name may be that of several types.
    let both = print(&["Compute"]);
    assert!(both.contains("sig tosca_nodes_Compute "), "{both}");
    assert!(
        both.contains("// the capability type `tosca.capabilities.Compute`"),
        "{both}"
    );
    assert!(print(&["RoutesTo"]).contains("// derives from tosca.relationships.ConnectsTo"));
    assert!(print(&["PortDef"]).contains("in_range: [1, 65535]"));
    // Of 2.0, and of 1.0 alone.
    assert!(print(&["Abstract.Storage"]).contains("TOSCA 1.3"));
    assert!(print(&["Implementation.Python"]).contains("TOSCA"));
    // The user's own.
    let own = print(&["App", "--file", "shop.yaml"]);
    assert!(
        own.contains("a node of type `my.nodes.App`: what the shop sells"),
        "{own}"
    );
    assert!(
        own.contains("`port`: a `my.data.Port`, `8080` by default */"),
        "{own}"
    );
    assert!(print(&["--file", "shop.yaml"]).contains("my.capabilities.Counter: capability type"));
    let unknown = locus(folder.path(), &["vocabulary", "tosca", "Compte"]);
    assert_eq!(unknown.status.code(), Some(3));
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("did you mean `Compute`?"), "{said}");
    let missing = locus(
        folder.path(),
        &["vocabulary", "tosca", "App", "--file", "no.yaml"],
    );
    assert_eq!(missing.status.code(), Some(2));
}

/// Every example that is printed with a type is a rule that compiles, and those about the user's types find what they are about.
#[test]
fn examples_of_tosca_types_are_rules() {
    use locus_frontends::language::{Registry, Request};
    use locus_frontends::loader::MemoryLoader;
    let tosca = Registry::builtin().named("tosca").unwrap();
    let disk = MemoryLoader::new().with("shop.yaml", SHOP);
    let describe = |name: Option<&str>, files: &[&str]| {
        let request = Request::of(files.iter().copied());
        tosca
            .describe(name, &request, &disk, &mut locus_core::Sources::new())
            .0
    };
    let mut files = vec![("shop.yaml".to_owned(), SHOP.to_owned())];
    let mut of_shop = String::new();
    let mut without = Vec::new();
    for name in describe(None, &["shop.yaml"]).names.keys().cloned() {
        let pages = describe(Some(&name), &["shop.yaml"]).pages;
        assert_eq!(pages.len(), 1, "{name}");
        let Some((_, rule)) = pages.first().unwrap().split_once("module tosca/mine\n") else {
            without.push(name);
            continue;
        };
        let number = files.len();
        if name == "my.nodes.App" {
            of_shop = format!("MINE{number:03}");
        }
        let rule = rule.replace(
            "MINE001 example",
            &format!("MINE{number:03} example-{number}"),
        );
        let rule = rule.replace("assert Example", &format!("assert Example{number}"));
        files.push((
            format!("r{number}.als"),
            format!("module tosca/r{number}\n{rule}"),
        ));
    }
    // Nodes have no such artifacts, and properties of nodes no such data.
    let kinds = ["artifacts", "interfaces", "datatypes", "my.data"];
    for name in &without {
        assert!(kinds.iter().any(|kind| name.contains(kind)), "{name}");
    }
    assert!(files.len() > 50, "{}", files.len());
    let names: Vec<String> = files
        .iter()
        .skip(1)
        .map(|(name, _)| format!("{name:?}"))
        .collect();
    files.push((
        "locus.toml".to_owned(),
        format!("[tosca]\nrules = [{}]\n", names.join(", ")),
    ));
    let borrowed: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let folder = folder(&borrowed);
    let output = locus(folder.path(), &["check", "shop.yaml"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "warnings only\n{said}{err}");
    assert!(
        !said.contains(&format!("[{of_shop}]")),
        "a shop has a port by default\n{said}"
    );
    assert!(said.contains("MINE"), "{said}");
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
