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
    // What other platforms need may not be there.
    let rustc = Command::new("rustc").arg("-vV").output();
    let rustc = String::from_utf8(rustc.expect("rustc starts").stdout).unwrap();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args([
            "--filter-platform",
            host.expect("it says for what it compiles"),
        ])
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
        (
            "[kubernetes]\nassert = [\"a -> b\"]\n[kubernetes.policy]\nreplicas = 2\ncpu-least = \"1m\"\n[[kubernetes.nodes]]\ncpu = 4\ngpu = \"1\"",
            true,
        ),
        ("[kubernetes.policy]\nreplica = 2", false),
        ("[kubernetes.policy]\nservice-types = \"NodePort\"", false),
        ("[[kubernetes.nodes]]\ncount = \"two\"", false),
        ("[heat.types.A]\npropertys = {}", false),
        ("[rules]\nHOT302 = \"fatal\"", false),
        ("[compose]\ntarget = \"swarn\"", false),
        ("[compose]\nnods = 3", false),
        ("[kubernets]", false),
    ] {
        let settings: Value = toml::from_str(text).unwrap();
        assert_eq!(validator.is_valid(&settings), valid, "{text}");
    }
}

/// Reads a report about every example, and one about a finding that has no place.
fn reports(format: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "--format", format, "there/is/no/such/file.yaml"])
        .current_dir(root())
        .output()
        .expect("the binary starts");
    assert_eq!(
        output.status.code(),
        Some(2),
        "what is not there is not checked"
    );
    vec![report(format), String::from_utf8(output.stdout).unwrap()]
}

/// What GitLab requires (its validator `codeclimate.json`: an object with `description`, `fingerprint`, `severity` and `location`,
/// texts but for the last, in which `path` is a text and `lines.begin` an integer), and what its documentation of the code quality
/// report adds: `check_name`, five severities, fingerprints that differ, paths from the root of the repository without `./`.
#[test]
fn gitlab_reports_have_what_gitlab_reads() {
    let mut count = 0;
    for text in reports("gitlab") {
        let report: Value = serde_json::from_str(&text).unwrap();
        let issues = report.as_array().expect("a list of objects");
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
        assert!(!issues.is_empty());
        count += issues.len();
    }
    assert!(count > 50);
}

/// An element as the XSD of JUnit reports declares it.
struct Element {
    name: &'static str,
    /// Where it may stand.
    within: &'static [&'static str],
    required: &'static [&'static str],
    optional: &'static [&'static str],
    /// Whether text may stand in it.
    mixed: bool,
}

/// The elements that reports use, of `junit-10.xsd` of the xUnit plugin of Jenkins (commit 8c515de), with every attribute that it
/// allows them. An element of another name, or at another place, is refused by it.
const JUNIT: [Element; 5] = [
    Element {
        name: "testsuites",
        within: &[""],
        required: &[],
        optional: &["name", "time", "tests", "failures", "errors"],
        mixed: false,
    },
    Element {
        name: "testsuite",
        within: &["testsuites", "testsuite"],
        required: &["name", "tests", "failures", "errors"],
        optional: &[
            "group",
            "time",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
            "version",
        ],
        mixed: false,
    },
    Element {
        name: "testcase",
        within: &["testsuite"],
        required: &["name"],
        optional: &["time", "classname", "group"],
        mixed: false,
    },
    Element {
        name: "failure",
        within: &["testcase"],
        required: &[],
        optional: &["type", "message"],
        mixed: true,
    },
    Element {
        name: "error",
        within: &["testcase"],
        required: &[],
        optional: &["type", "message"],
        mixed: true,
    },
];

#[test]
fn junit_has_the_form_of_its_schema() {
    let mut failures = 0;
    for text in reports("junit") {
        let document = roxmltree::Document::parse(&text).unwrap();
        let mut cases = std::collections::BTreeSet::new();
        let mut counted = [("tests", 0), ("failures", 0), ("errors", 0)];
        for node in document.descendants().filter(roxmltree::Node::is_element) {
            let name = node.tag_name().name();
            let known = JUNIT.iter().find(|known| known.name == name);
            let known = known.unwrap_or_else(|| panic!("<{name}> is not of JUnit"));
            let above = node
                .parent_element()
                .map_or("", |parent| parent.tag_name().name());
            assert!(known.within.contains(&above), "<{name}> in <{above}>");
            for attribute in node.attributes() {
                let own = attribute.name();
                assert!(
                    known.required.contains(&own) || known.optional.contains(&own),
                    "{name} {own}"
                );
                // The type SUREFIRE_TIME: digits, and at most three after a point.
                if own == "time" {
                    let (whole, rest) = attribute
                        .value()
                        .split_once('.')
                        .unwrap_or((attribute.value(), ""));
                    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
                    assert!(
                        digits(whole) && digits(rest) && rest.len() <= 3,
                        "{attribute:?}"
                    );
                }
            }
            assert!(
                known.required.iter().all(|own| node.has_attribute(*own)),
                "<{name}>"
            );
            let texts = node.children().filter(|child| child.is_text());
            let written = texts
                .filter_map(|text| text.text())
                .any(|text| !text.trim().is_empty());
            assert!(known.mixed || !written, "text in <{name}>");
            let at = match name {
                "testcase" => 0,
                "failure" => 1,
                "error" => 2,
                _ => continue,
            };
            counted[at].1 += 1;
            if name == "testcase" {
                // GitLab keeps one case of each class and name.
                let key = (node.attribute("classname"), node.attribute("name"));
                assert!(cases.insert(key), "twice: {key:?}");
            }
        }
        // What is counted is there, as a whole and in each suite.
        for (name, count) in counted {
            let top = document.root_element();
            let number = |node: &roxmltree::Node<'_, '_>| {
                node.attribute(name).unwrap().parse::<usize>().unwrap()
            };
            assert_eq!(number(&top), count, "{name}");
            let suites = top.children().filter(roxmltree::Node::is_element);
            assert_eq!(
                suites.map(|suite| number(&suite)).sum::<usize>(),
                count,
                "{name}"
            );
        }
        assert!(counted[0].1 > 0, "Jenkins fails a build without a case");
        failures += counted[1].1;
    }
    assert!(failures > 50);
}

/// Checkstyle publishes no schema of its reports: what its own listener writes (`XMLLogger.java`) is the form. It writes the attribute
/// `line` always and `column` when it is above 0, one of four severities, a message and a source.
#[test]
fn checkstyle_has_the_form_that_checkstyle_writes() {
    let mut errors = 0;
    for text in reports("checkstyle") {
        let document = roxmltree::Document::parse(&text).unwrap();
        let top = document.root_element();
        assert_eq!(top.tag_name().name(), "checkstyle");
        assert!(top.has_attribute("version"));
        let mut names = std::collections::BTreeSet::new();
        for file in top.children().filter(roxmltree::Node::is_element) {
            assert_eq!(file.tag_name().name(), "file");
            let name = file.attribute("name").unwrap();
            assert!(!name.is_empty() && names.insert(name), "`{name}`");
            for error in file.children().filter(roxmltree::Node::is_element) {
                assert_eq!(error.tag_name().name(), "error");
                let known = ["line", "column", "severity", "message", "source"];
                assert!(error.attributes().all(|own| known.contains(&own.name())));
                let severity = error.attribute("severity").unwrap();
                assert!(["ignore", "info", "warning", "error"].contains(&severity));
                assert!(error.has_attribute("message") && error.has_attribute("source"));
                error.attribute("line").unwrap().parse::<u32>().unwrap();
                let column = error
                    .attribute("column")
                    .map(|text| text.parse::<u32>().unwrap());
                assert!(column.is_none_or(|column| column >= 1));
                errors += 1;
            }
        }
    }
    assert!(errors > 50);
}
