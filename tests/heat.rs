//! The Heat templates in `examples/`, as a user checks them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// What is found in a template of `examples/heat`, as rule and line, and the exit code.
fn check(arguments: &[&str]) -> (Value, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "--format", "json"])
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/heat"))
        .output()
        .expect("the binary starts");
    let report = serde_json::from_slice(&output.stdout).expect("one JSON object");
    (report, output.status.code().expect("it ends by itself"))
}

fn findings(report: &Value) -> Vec<(String, u64)> {
    let findings = report["findings"].as_array().unwrap();
    let finding = |finding: &Value| {
        let rule = finding["rule"].as_str().unwrap().to_owned();
        (rule, finding["line"].as_u64().unwrap())
    };
    findings.iter().map(finding).collect()
}

/// Each template, what is found in it, and where.
const EXAMPLES: &[(&str, &[(&str, u64)])] = &[
    ("address-outside-subnet.yaml", &[("HOT209", 17)]),
    ("floating-ip-on-private-network.yaml", &[("HOT301", 9)]),
    ("icmpv6-over-ipv4.yaml", &[("HOT214", 9)]),
    ("server-behind-gateway.yaml", &[]),
    ("server-behind-router.yaml", &[]),
    ("server-on-external-network.yaml", &[("HOT302", 14)]),
    ("server-on-private-network.yaml", &[("HOT302", 21)]),
    ("servers-share-port.yaml", &[("HOT221", 38)]),
    ("subnets-overlap.yaml", &[("HOT208", 15)]),
    ("two-vms.yaml", &[]),
];

#[test]
fn each_example_has_its_findings_and_no_others() {
    for (file, expected) in EXAMPLES {
        let (report, code) = check(&[file]);
        let expected: Vec<(String, u64)> = expected
            .iter()
            .map(|&(rule, line)| (rule.to_owned(), line))
            .collect();
        assert_eq!(findings(&report), expected, "{file}");
        assert_eq!(report["unchecked"], Value::Array(Vec::new()), "{file}");
        let errors = expected.iter().any(|(rule, _)| rule != "HOT302");
        assert_eq!(code, i32::from(errors), "{file}");
    }
}

#[test]
fn every_example_is_listed_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/heat");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".env.yaml"))
        .collect();
    let listed = EXAMPLES.iter().map(|(name, _)| (*name).to_owned());
    assert_eq!(files, listed.collect());
}

#[test]
fn what_is_wrong_with_each_member_of_a_group_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("group.yaml");
    let text = "heat_template_version: rocky
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: 40
      resource_def:
        type: OS::Nova::Server
        properties: { image: debian, colour: red, networks: [{ network: public }] }
";
    std::fs::write(&template, text).unwrap();
    let (report, code) = check(&[template.to_str().unwrap()]);
    let said: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["rule"] == "HOT014")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    assert_eq!(
        said,
        [
            "`group[0]` is missing the property `flavor`, which `OS::Nova::Server` requires (and 39 more like it)",
            "`OS::Nova::Server` has no property `colour`",
        ]
    );
    assert_eq!(code, 1);
}

#[test]
fn two_machines_are_deployable_with_their_environment() {
    let (report, code) = check(&["two-vms.yaml", "-e", "two-vms.env.yaml"]);
    assert_eq!((findings(&report), code), (Vec::new(), 0));
    // Ten resources of the document, a security group, and the image, flavor and network that exist.
    assert_eq!(report["stats"]["locations"], 14);
    assert!(report["stats"]["variables"].as_u64().unwrap() <= 100);
}
