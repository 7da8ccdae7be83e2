//! `locus check`, as a user calls it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

fn locus(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the binary ends by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

const EXAMPLES: &str = "invariants/library/hot/examples";

#[test]
fn findings_have_their_place_in_json() {
    let output = locus(&[
        "check",
        "--format",
        "json",
        &format!("{EXAMPLES}/HOT221.breaks.yaml"),
    ]);
    assert_eq!(code(&output), 1);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["version"], 2);
    let findings = report["findings"].as_array().unwrap();
    let lines: Vec<_> = findings.iter().map(|finding| &finding["line"]).collect();
    assert_eq!(lines, [27, 37]);
    assert!(findings.iter().all(|finding| finding["rule"] == "HOT221"));
    assert_eq!(findings[0]["labels"][1]["line"], 19);
    assert_eq!(findings[0]["verdict"], "violated");
    assert_eq!(findings[0]["documentation"], "locus explain HOT221");
    assert_eq!(findings[0]["members"].as_array().unwrap().len(), 2);
    assert_eq!(report["unchecked"].as_array().unwrap().len(), 0);
}

#[test]
fn a_template_that_holds_is_clean_and_silent() {
    let output = locus(&["check", &format!("{EXAMPLES}/HOT221.holds.yaml")]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert!(
        stdout(&output).starts_with("0 errors, 0 warnings in 1 file"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn warnings_fail_only_when_asked() {
    let file = format!("{EXAMPLES}/HOT002.breaks.yaml");
    assert_eq!(code(&locus(&["check", &file])), 0);
    assert_eq!(code(&locus(&["check", "--fail-on", "warning", &file])), 1);
    assert_eq!(
        code(&locus(&[
            "check",
            "--fail-on",
            "warning",
            "--ignore",
            "HOT002",
            &file
        ])),
        0
    );
}

#[test]
fn what_is_not_checked_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let unknown = dir.path().join("a.yaml");
    std::fs::write(&unknown, "what: is this\n").unwrap();
    let output = locus(&["check", &unknown.display().to_string()]);
    assert_eq!(code(&output), 2);
    assert!(
        stdout(&output).contains("tells what it is"),
        "{}",
        stdout(&output)
    );
    assert_eq!(code(&locus(&["check", "no/such/file.yaml"])), 2);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(
        code(&locus(&["check", &empty.path().display().to_string()])),
        2
    );
}

#[test]
fn rules_are_counted_by_their_identifiers() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("a.yaml", "heat_template_version: rocky\nresources: {}\n");
    write("b.yaml", "heat_template_version: rocky\nresources: {}\n");
    write("compose.yaml", "services:\n  web:\n    image: nginx:1.27\n");
    let checked = |ignored: &[&str]| {
        let path = folder.path().display().to_string();
        let mut args = vec!["check", "--format", "json", &path];
        args.extend(ignored.iter().flat_map(|id| ["--ignore", id]));
        let report: Value = serde_json::from_str(&stdout(&locus(&args))).unwrap();
        report["stats"]["rules"].as_u64().unwrap()
    };
    let listed = stdout(&locus(&["rules"]));
    let ids: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|id| ["HOT", "COMPOSE", "LG"].iter().any(|of| id.starts_with(of)))
        .collect();
    assert_eq!(checked(&[]), ids.len() as u64, "{ids:?}");
    let fewer = checked(&["HOT221", "COMPOSE084"]);
    assert_eq!(fewer, ids.len() as u64 - 2);
}

#[test]
fn a_file_that_two_templates_include_is_told_about_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let outer = "heat_template_version: rocky\nresources:\n  inner: { type: inner.yaml }\n";
    write("a.yaml", outer);
    write("b.yaml", outer);
    write(
        "inner.yaml",
        "heat_template_version: rocky\nresources:\n  x: { type: OS::Nova::Sever }\n",
    );
    let path = folder.path().display().to_string();
    let output = locus(&["check", "--format", "json", &path]);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let told: Vec<&Value> = findings.iter().map(|finding| &finding["rule"]).collect();
    assert_eq!(told, ["HOT014"], "{report:#}");
    assert!(
        findings[0]["file"]
            .as_str()
            .unwrap()
            .ends_with("inner.yaml")
    );
}

#[test]
fn a_missing_file_is_told_once_and_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let template = "heat_template_version: rocky\nresources:\n  a: { type: gone.yaml }\n";
    let path = folder.path().join("t.yaml");
    std::fs::write(&path, template).unwrap();
    let output = locus(&["check", "--format", "json", &path.display().to_string()]);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let told: Vec<&str> = findings
        .iter()
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    let expected = "cannot read `gone.yaml`: there is no such file";
    assert_eq!(told, [expected]);
    assert_eq!(report["unchecked"].as_array().unwrap().len(), 0);
}

#[test]
fn rules_are_listed_and_explained() {
    let output = locus(&["rules"]);
    assert!(
        stdout(&output).lines().any(|line| {
            let words = line.split_whitespace().take(3);
            words.eq(["HOT301", "network-not-external", "error"])
        }),
        "{}",
        stdout(&output)
    );
    let output = locus(&["explain", "HOT221"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("HOT221"));
    assert_eq!(code(&locus(&["explain", "HOT999"])), 3);
}

#[test]
fn every_example_is_an_instance_of_the_reference_model() {
    let output = locus(&["check", "--as-instance", "--format", "json", "examples"]);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let mentions = |list: &str| {
        let list = report[list].as_array().unwrap();
        list.iter()
            .filter(|item| item["rule"] == "instance")
            .count()
    };
    assert_eq!(mentions("findings") + mentions("unchecked"), 0, "{report}");
    let instances = report["stats"]["instances"].as_u64().unwrap();
    assert!(instances >= 10, "{report}");

    let output = locus(&["check", "--as-instance", "examples/heat/two-vms.yaml"]);
    let text = stdout(&output);
    assert!(
        text.contains("1 graph is an instance of `lg/location_graphs`"),
        "{text}"
    );
}

/// One decoder: a template is the same in every encoding, wherever it is named, and columns count its characters.
#[test]
fn an_encoding_changes_neither_findings_nor_columns() {
    let template = "heat_template_version: 2018-08-31\nresources: {s: {type: OS::Nova::Servr}}\n";
    let utf16: Vec<u8> = format!("\u{feff}{template}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let encodings = [
        template.as_bytes().to_vec(),
        format!("\u{feff}{template}").into_bytes(),
        utf16,
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stack.yaml");
    let reports = encodings.map(|bytes| {
        fs::write(&file, bytes).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_locus"))
            .args(["check", "--format", "json", "stack.yaml"])
            .current_dir(folder.path())
            .output()
            .expect("the binary starts");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["findings"].to_string()
    });
    assert!(reports[0].contains("OS::Nova::Servr"), "{}", reports[0]);
    assert_eq!(reports[0], reports[1], "with a byte order mark");
    assert_eq!(reports[0], reports[2], "in UTF-16");
}
