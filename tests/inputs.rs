//! Files that are no configuration, or hardly one: a clear diagnostic, never a panic, never silence.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Checks a file of a folder, and gives what is said as `rule line:column message`, and the exit code.
fn check(folder: &Path, arguments: &[&str]) -> (Vec<String>, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "--format", "json"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the binary starts");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let errors = String::from_utf8_lossy(&output.stderr);
        panic!("{error}: {errors}");
    });
    let said = ["findings", "unchecked"]
        .iter()
        .flat_map(|list| report[list].as_array().unwrap())
        .map(|found| {
            let text = |key: &str| found[key].as_str().unwrap_or_default();
            let (line, column) = (&found["line"], &found["column"]);
            format!("{} {line}:{column} {}", text("rule"), text("message"))
        })
        .collect();
    (said, output.status.code().expect("it ends by itself"))
}

/// Checks one file with this content.
fn check_text(content: impl AsRef<[u8]>) -> (Vec<String>, i32) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("stack.yaml"), content).unwrap();
    check(folder.path(), &["stack.yaml"])
}

#[test]
fn an_empty_file_is_refused() {
    for content in ["", "\n\n  \n", "\u{feff}"] {
        let (said, code) = check_text(content);
        assert_eq!(
            said,
            ["kind 1:1 `stack.yaml` is empty, not a configuration"]
        );
        assert_eq!(code, 1);
    }
}

#[test]
fn a_binary_file_is_refused() {
    let (said, code) = check_text(b"\x7fELF\x02\x01\x01\0\0\0\xff\xfe");
    assert_eq!(said, ["encoding 1:8 this is a binary file, not text"]);
    assert_eq!(code, 1);
}

#[test]
fn a_file_of_fifty_megabytes_is_refused_without_being_parsed() {
    let mut text = String::from("heat_template_version: rocky\nresources:\n");
    text.push_str(&"  a: { type: OS::Heat::None }\n".repeat((50 << 20) / 30));
    let (said, code) = check_text(text);
    let [only] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert!(only.starts_with("too-large 1:1 this file has "), "{only}");
    assert_eq!(code, 1);
}

#[test]
fn ten_thousand_nested_maps_are_refused_in_both_styles() {
    let flow = format!(
        "heat_template_version: rocky\nresources: {}1{}\n",
        "{a: ".repeat(10_000),
        "}".repeat(10_000)
    );
    let mut block = String::from("heat_template_version: rocky\nresources:\n");
    for depth in 1..2_000 {
        block.push_str(&" ".repeat(depth));
        block.push_str("a:\n");
    }
    for text in [flow, block] {
        let (said, code) = check_text(text);
        assert!(
            said.iter().any(|one| one.contains("too deeply")),
            "{said:?}"
        );
        assert_eq!(code, 1);
    }
}

#[test]
fn a_template_that_includes_itself_is_told_the_cycle() {
    let (said, code) =
        check_text("heat_template_version: rocky\nresources:\n  a:\n    type: stack.yaml\n");
    let cycle = "include-cycle 3:3 this template includes itself: `stack.yaml` -> `stack.yaml`";
    assert_eq!((said, code), (vec![cycle.to_owned()], 1));
}

#[test]
fn a_nested_file_that_is_missing_is_told_once() {
    let (said, code) =
        check_text("heat_template_version: rocky\nresources:\n  a:\n    type: nowhere.yaml\n");
    let [only] = said.as_slice() else {
        panic!("{said:?}")
    };
    let start = "HOT019 4:11 cannot read `nowhere.yaml`: ";
    assert!(only.starts_with(start), "{only}");
    assert_eq!(code, 1);
}

#[test]
fn an_environment_that_sets_an_unknown_parameter_is_told_where() {
    let folder = tempfile::tempdir().unwrap();
    let template = "heat_template_version: rocky\nresources:\n  a:\n    type: OS::Heat::None\n";
    std::fs::write(folder.path().join("stack.yaml"), template).unwrap();
    std::fs::write(
        folder.path().join("env.yaml"),
        "parameters:\n  nothing: 1\n",
    )
    .unwrap();
    let (said, code) = check(folder.path(), &["stack.yaml", "-e", "env.yaml"]);
    assert_eq!(said, ["HOT019 2:3 the template has no parameter `nothing`"]);
    assert_eq!(code, 1);
}

#[test]
fn all_errors_are_found_in_one_run_where_they_are() {
    let template = "\
heat_template_version: rocky
parameters:
  size:
    type: number
    default: big
resources:
  net:
    type: OS::Neutron::Net
  subnet:
    type: OS::Neutron::Subnet
    properties:
      network: { get_resource: nett }
      cidr: 10.0.0.0/24
      gateway: 10.0.0.1
  inside:
    type: OS::Neutron::Subnet
    properties:
      network: { get_resource: net }
      cidr: 10.1.0.0/24
      allocation_pools:
        - { start: 10.1.0.9, end: 10.1.0.5 }
  port:
    type: OS::Neutron::Port
    properties:
      network: { get_resource: net }
      fixed_ips:
        - { subnet: { get_resource: inside }, ip_address: 10.2.0.7 }
  address:
    type: OS::Neutron::FloatingIP
    properties:
      floating_network: { get_resource: net }
  rules:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
        - { ethertype: IPv4, protocol: icmpv6 }
  volume:
    type: OS::Cinder::Volume
  value:
    type: OS::Heat::Value
    properties:
      value: { get_parm: size }
  other:
    type: OS::Neutron::Nett
    depends_on: other
";
    let (said, code) = check_text(template);
    let places: Vec<String> = said
        .iter()
        .map(|one| one.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        places,
        [
            "HOT017 3:3",
            "HOT009 5:14",
            "HOT012 12:32",
            "HOT014 14:7",
            "HOT202 21:35",
            "HOT209 27:59",
            "HOT301 31:25",
            "HOT214 36:40",
            "HOT107 37:3",
            "HOT003 42:16",
            "HOT010 43:3",
            "HOT014 44:11",
        ],
        "{said:#?}"
    );
    assert_eq!(code, 1);
}

/// Sequences in a configuration or a model could otherwise colour, erase or forge what is said about it.
#[test]
fn nothing_of_a_file_is_obeyed_by_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let template = "heat_template_version: rocky\nresources:\n  a:\n    type: \"OS::\x1b[2J\u{202e}X\"\n  b:\n    type: \"OS::\\e[1A\\a\"\n";
    let model = "sig A {}\nrun { some \x1b[2J B }\n";
    let strings = "one sig A { s: String }\nfact { A.s = \"x\x1b[2Jy\" }\nrun {}\n";
    let name = "st\x1b[31mack.yaml";
    for (command, name, content) in [
        ("check", name, template),
        ("check", "binary.yaml", "\0\x1b[2J"),
        ("run", "model.als", model),
        ("run", "st\x1b[31mrings.als", strings),
    ] {
        std::fs::write(folder.path().join(name), content).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_locus"))
            .args([command, name])
            .current_dir(folder.path())
            .output()
            .expect("the binary starts");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).expect("text");
        assert!(!said.is_empty(), "{command} {name:?}");
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!said.contains(obeyed), "{command} {name:?}: {said:?}");
    }
}
