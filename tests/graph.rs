//! `locus graph`, as a user calls it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::process::{Command, Output};

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
