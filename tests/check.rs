//! `locus check`, as a user calls it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

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
    assert_eq!(report["version"], 1);
    let findings = report["findings"].as_array().unwrap();
    let lines: Vec<_> = findings.iter().map(|finding| &finding["line"]).collect();
    assert_eq!(lines, [27, 37]);
    assert!(findings.iter().all(|finding| finding["rule"] == "HOT221"));
    assert_eq!(findings[0]["related"][0]["line"], 19);
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
fn rules_are_listed_and_explained() {
    let output = locus(&["rules"]);
    assert!(
        stdout(&output).contains("HOT301   error"),
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
