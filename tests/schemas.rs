//! Reports against the published schemas of their formats.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A report about every example of a rule that breaks it: findings with flows, fixes and inputs, of every language.
fn report(format: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "--all-inputs", "--format", format])
        .args(["invariants/library", "examples"])
        .current_dir(root())
        .output()
        .expect("the binary starts");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.len() > 1000,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// The folder of a package that the tests are built with.
fn package(name: &str) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let found = packages.find(|package| package["name"] == name).unwrap();
    let manifest = Path::new(found["manifest_path"].as_str().unwrap());
    manifest.parent().unwrap().to_owned()
}

#[test]
fn sarif_is_valid() {
    let text = report("sarif");
    let log: serde_sarif::sarif::Sarif =
        serde_json::from_str(&text).expect("it has the types of SARIF");
    let results = log.runs[0].results.as_ref().unwrap();
    assert!(results.len() > 50);
    let with = |has: fn(&serde_sarif::sarif::Result) -> bool| results.iter().any(has);
    assert!(with(|result| result.code_flows.is_some()), "paths");
    assert!(with(|result| result.fixes.is_some()), "fixes");
    // The schema as OASIS publishes it, from the package that is made from it.
    let schema = fs::read_to_string(package("serde-sarif").join("src/schema.json"));
    let mut schema: Value = serde_json::from_str(&schema.unwrap()).unwrap();
    // Its pattern for languages has a bracket too many and is no regular expression; reports name no language.
    for owner in ["run", "toolComponent"] {
        let language = schema["definitions"][owner]["properties"]["language"].as_object_mut();
        assert!(language.unwrap().remove("pattern").is_some());
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(&report)
        .take(5)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
    let mut broken = report.clone();
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(
        !validator.is_valid(&broken),
        "the schema refuses what is wrong"
    );
}

#[test]
fn json_is_valid() {
    let schema = fs::read_to_string(root().join("docs/schemas/report-2.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let report: Value = serde_json::from_str(&report("json")).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(&report)
        .take(5)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
    let mut broken = report.clone();
    broken["findings"][0]["severity"] = "fatal".into();
    assert!(!validator.is_valid(&broken));
}

/// The schema of settings is what languages declare, and takes what the program takes.
#[test]
fn the_schema_of_settings_is_current() {
    use locus_frontends::language::{Registry, schema};
    let expected = schema::settings(&Registry::builtin());
    let written = fs::read_to_string(root().join("docs/schemas/settings-1.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written, expected, "`cargo xtask rules` writes it");
    let validator = jsonschema::validator_for(&expected).unwrap();
    for (text, valid) in [
        (
            "[rules]\nHOT302 = \"error\"\nHOT020 = { severity = \"off\", paths = [\"old/**\"] }",
            true,
        ),
        (
            "[heat]\nenvironments = [\"a.yaml\"]\n[heat.types.A]\n[compose]\nnodes = 3\ntarget = \"swarm\"",
            true,
        ),
        ("[kubernetes]\nrules = [\"own.als\"]\n[tosca]\n[lg]", true),
        ("[rules]\nHOT302 = \"fatal\"", false),
        ("[compose]\ntarget = \"swarn\"", false),
        ("[compose]\nnods = 3", false),
        ("[kubernets]", false),
    ] {
        let settings: Value = toml::from_str(text).unwrap();
        assert_eq!(validator.is_valid(&settings), valid, "{text}");
    }
}

/// What GitLab documents for a code quality report: these keys, these severities, unique fingerprints, paths within the
/// repository.
#[test]
fn gitlab_reports_have_what_gitlab_reads() {
    let report: Value = serde_json::from_str(&report("gitlab")).unwrap();
    let issues = report.as_array().unwrap();
    let mut prints = std::collections::BTreeSet::new();
    for issue in issues {
        let text = |key: &str| {
            issue[key]
                .as_str()
                .unwrap_or_else(|| panic!("{key}: {issue}"))
                .to_owned()
        };
        assert!(!text("description").is_empty() && !text("check_name").is_empty());
        let severity = text("severity");
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&severity.as_str()));
        assert!(prints.insert(text("fingerprint")), "twice: {issue}");
        let path = issue["location"]["path"].as_str().unwrap();
        assert!(
            !path.starts_with("./") && !path.starts_with('/') && !path.is_empty(),
            "{path}"
        );
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
    }
    assert!(issues.len() > 50);
}

/// The elements and attributes that the XSD of JUnit reports allows (Jenkins' junit-10.xsd), and what it requires.
#[test]
fn junit_has_the_form_of_its_schema() {
    let text = report("junit");
    let document = roxmltree::Document::parse(&text).unwrap();
    // Element, where it may stand, its required attributes, and the others.
    let allowed: [(&str, &str, &[&str], &[&str]); 5] = [
        (
            "testsuites",
            "",
            &[],
            &["name", "time", "tests", "failures", "disabled", "errors"],
        ),
        (
            "testsuite",
            "testsuites",
            &["name"],
            &[
                "tests",
                "failures",
                "errors",
                "time",
                "disabled",
                "skipped",
                "timestamp",
                "hostname",
                "id",
                "package",
            ],
        ),
        (
            "testcase",
            "testsuite",
            &["name"],
            &[
                "assertions",
                "time",
                "classname",
                "status",
                "class",
                "file",
                "line",
            ],
        ),
        ("failure", "testcase", &[], &["type", "message"]),
        ("error", "testcase", &[], &["type", "message"]),
    ];
    let mut failures = 0;
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let known = allowed.iter().find(|(known, ..)| *known == name);
        let (_, parent, required, optional) =
            known.unwrap_or_else(|| panic!("<{name}> is not of JUnit"));
        let above = node
            .parent_element()
            .map_or("", |parent| parent.tag_name().name());
        assert_eq!(above, *parent, "<{name}>");
        for attribute in node.attributes() {
            let own = attribute.name();
            assert!(
                required.contains(&own) || optional.contains(&own),
                "{name} {own}"
            );
            if ["tests", "failures", "errors", "skipped", "disabled"].contains(&own) {
                attribute.value().parse::<u32>().unwrap();
            }
            if own == "time" {
                attribute.value().parse::<f64>().unwrap();
            }
        }
        assert!(
            required.iter().all(|own| node.has_attribute(*own)),
            "<{name}>"
        );
        failures += usize::from(name == "failure");
    }
    let total: usize = document
        .root_element()
        .attribute("failures")
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(total, failures);
    assert!(failures > 50);
}

/// The form that Checkstyle's own XML listener writes.
#[test]
fn checkstyle_has_the_form_that_checkstyle_writes() {
    let text = report("checkstyle");
    let document = roxmltree::Document::parse(&text).unwrap();
    let top = document.root_element();
    assert_eq!(top.tag_name().name(), "checkstyle");
    assert!(top.has_attribute("version"));
    let mut errors = 0;
    for file in top.children().filter(roxmltree::Node::is_element) {
        assert_eq!(file.tag_name().name(), "file");
        assert!(file.has_attribute("name"));
        for error in file.children().filter(roxmltree::Node::is_element) {
            assert_eq!(error.tag_name().name(), "error");
            let severity = error.attribute("severity").unwrap();
            assert!(["ignore", "info", "warning", "error"].contains(&severity));
            assert!(error.has_attribute("message") && error.has_attribute("source"));
            for number in ["line", "column"] {
                let number = error
                    .attribute(number)
                    .map(|number| number.parse::<u32>().unwrap());
                assert!(number.is_none_or(|number| number >= 1));
            }
            errors += 1;
        }
    }
    assert!(errors > 50);
}
