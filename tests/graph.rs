//! `locus graph`, as a user calls it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::process::{Command, Output};

use locus_invariants::models;
use serde_json::Value;

fn locus(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts")
}

fn graph(file: &str, format: &str) -> String {
    let output = locus(&["graph", file, "--format", format]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{file} as {format}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

const TWO_VMS: &str = "examples/heat/two-vms.yaml";

#[test]
fn the_graph_of_two_machines_has_all_its_locations() {
    let graph: Value = serde_json::from_str(&graph(TWO_VMS, "json")).unwrap();
    let locations = graph["locations"].as_array().unwrap();
    // Eleven resources; the image, the flavor and the network that exist already.
    assert_eq!(locations.len(), 14);
    let of = |sort: &str| locations.iter().filter(|one| one["sort"] == sort).count();
    assert_eq!((of("OS::Nova::Server"), of("OS::Neutron::Port")), (2, 2));
    let bindings = graph["bindings"].as_array().unwrap();
    let joined = |provider: &str, requirer: &str| {
        let both = |one: &&Value| one["provider"] == provider && one["requirer"] == requirer;
        bindings.iter().filter(both).count()
    };
    assert_eq!(joined("vm1_port", "vm1"), 1);
    assert_eq!(joined("router_interface", "vm1_floating_ip"), 1);
    assert_eq!(joined("vm1_port", "vm2"), 0);
}

#[test]
fn pictures_name_every_location() {
    for format in ["dot", "svg"] {
        let picture = graph(TWO_VMS, format);
        for name in [
            "private_subnet",
            "vm1",
            "vm2_floating_ip",
            "OS::Nova::Server",
        ] {
            assert!(picture.contains(name), "{format}: {name}");
        }
    }
    assert!(graph(TWO_VMS, "svg").trim_end().ends_with("</svg>"));
}

#[test]
fn the_model_of_a_configuration_runs() {
    let folder = tempfile::tempdir().unwrap();
    for (name, file) in [
        ("two.als", TWO_VMS),
        ("one.als", "examples/heat/icmpv6-over-ipv4.yaml"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, graph(file, "als")).unwrap();
        let output = locus(&["run", &path.display().to_string()]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{file}: {text}");
        // One instance that shows it, and the static semantics holds.
        assert_eq!(
            text.lines().filter(|line| line.starts_with("ok ")).count(),
            2
        );
    }
}

/// The rules about graphs name the role that is wrong, the predicates of the reference model do not: they say the same of every
/// set of locations up to a size.
#[test]
fn rules_about_graphs_are_the_predicates_of_the_model() {
    let mut model = String::from("open lg/static\n");
    for (id, predicate) in [
        ("LG001", "UniquelyNamedLocations"),
        ("LG002", "UniquelyProvidedRoles"),
        ("LG003", "UniquelyRequiredRoles"),
        ("LG004", "DisjointRoles"),
    ] {
        let mut rules = locus_invariants::rules().iter();
        let rule = rules.find(|rule| rule.id == id).expect("it is a rule");
        let (_, body) = rule.text.split_once('{').expect("a body");
        let (body, _) = body.rsplit_once('}').expect("an end");
        model += &format!("check {{ ({body}) iff {predicate}[Location] }} for 4 but 7 Value\n");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("lg")).unwrap();
    for model in models::find("lg/vocabulary")
        .into_iter()
        .chain([&models::STATIC_SEMANTICS])
    {
        let path = folder.path().join(format!("{}.als", model.name));
        std::fs::write(path, model.text).unwrap();
    }
    let run = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let output = locus(&["run", path.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (said, output.status.code())
    };
    let (said, code) = run("equal.als", &model);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("no counterexample").count(), 4, "{said}");
    // What is not the same is told apart in that scope.
    let (said, code) = run("other.als", &model.replace("[Location]", "[none]"));
    assert_eq!(code, Some(1), "{said}");
}

#[test]
fn what_is_no_configuration_has_no_graph() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.yaml");
    std::fs::write(&file, "what: is this\n").unwrap();
    let output = locus(&["graph", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("tells what it is"), "{errors}");
}
