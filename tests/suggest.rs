//! `--suggest` and `--fix`: edits that were checked before anybody sees them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::{Command, Output};

use locus::session::{Cancel, Given, Session, Suggestion};
use locus_invariants::library::{self, Example};
use rayon::prelude::*;
use tempfile::TempDir;

fn locus(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

const OLD: &str = "# the shop
version: \"3.8\"   # gone soon
services:
  web:
    image: example/web:1.4   # pinned
    ports:
      - \"8080:80\"
  admin:
    image: example/admin:1.4
    ports:
      - \"8080:80\" # the same
";

#[test]
fn fix_makes_safe_edits_and_leaves_every_other_byte() {
    let folder = folder(&[("compose.yaml", OLD)]);
    let output = locus(folder.path(), &["check", "--fix", "compose.yaml"]);
    let after = std::fs::read_to_string(folder.path().join("compose.yaml")).unwrap();
    let expected = OLD.replace("version: \"3.8\"   # gone soon\n", "");
    assert_eq!(
        after,
        expected,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("fixed: remove `version: \"3.8\""), "{said}");
    // What is not safe is left, and found.
    assert_eq!(output.status.code(), Some(1));
    // There is nothing more to do.
    let output = locus(folder.path(), &["check", "--fix", "compose.yaml"]);
    assert!(output.stderr.is_empty());
    assert_eq!(
        std::fs::read_to_string(folder.path().join("compose.yaml")).unwrap(),
        expected
    );
    let output = locus(folder.path(), &["check", "--fix", "-"]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_suggestion_is_a_diff_that_patch_applies() {
    let folder = folder(&[("compose.yaml", OLD)]);
    let output = locus(
        folder.path(),
        &["check", "--suggest", "--format", "json", "compose.yaml"],
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let suggestion = json.pointer("/suggestions/0").expect("a suggestion");
    let diff = suggestion.get("diff").unwrap().as_str().unwrap();
    std::fs::write(folder.path().join("s.diff"), diff).unwrap();
    let patched = Command::new("git")
        .args(["apply", "s.diff"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(
        patched.status.success(),
        "{}\n{diff}",
        String::from_utf8_lossy(&patched.stderr)
    );
    let left = suggestion.get("left").unwrap().as_u64().unwrap();
    let output = locus(
        folder.path(),
        &["check", "--format", "json", "compose.yaml"],
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        json.get("findings").unwrap().as_array().unwrap().len() as u64,
        left
    );
    assert_eq!(left, 0, "{diff}");
}

/// The findings of an example before, what is suggested, and the findings after it was applied.
fn suggested(example: &Example) -> (usize, Option<Suggestion>, usize) {
    let files: Vec<(&str, &str)> = library::examples()
        .filter(|other| other.language == example.language)
        .filter(|other| !other.name.contains(".breaks.yaml") || other.name == example.name)
        .map(|other| (other.name, other.text))
        .collect();
    let folder = folder(&files);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let snapshot = Session::new().forgetful().snapshot();
    let mut project = snapshot
        .project_of(&path(example.name))
        .expect("a configuration");
    project.files = vec![path(example.name)];
    // An example of a rule that is off by default is checked with that rule.
    let mut given = Given {
        all_rules: true,
        ignore: library::builtin().off_for(example.name),
        ..Given::default()
    };
    let mut inputs = Vec::new();
    // Comments say what else an example is checked with.
    let comments = example.text.lines();
    inputs.extend(comments.filter_map(|line| {
        let (name, value) = line.strip_prefix("# input: ")?.split_once(' ')?;
        Some((name, value.to_owned()))
    }));
    let environment = example.name.replace(".yaml", ".env.yaml");
    if folder.path().join(&environment).exists() {
        inputs.push(("environment", path(&environment)));
    }
    if example.name.contains(".swarm.") {
        inputs.extend([("target", "swarm".to_owned()), ("nodes", "2".to_owned())]);
    }
    for loss in ["node", "zone"] {
        if example.name.contains(&format!(".without-{loss}.")) {
            inputs.push(("survive", loss.to_owned()));
        }
    }
    for (name, value) in inputs {
        let mut declared = project.language.inputs().iter();
        let input = declared.find(|input| input.name == name).unwrap();
        given.inputs.give(input, &value).unwrap();
    }
    let cancel = Cancel::default();
    let before = snapshot.check(&project, &given, &cancel).unwrap();
    let suggestion = snapshot.suggest(&project, &given, false, &cancel).unwrap();
    if let Some(suggestion) = &suggestion {
        for file in &suggestion.files {
            assert_eq!(std::fs::read_to_string(&file.path).unwrap(), file.before);
            std::fs::write(&file.path, &file.after).unwrap();
        }
    }
    let after = Session::new().forgetful().snapshot();
    let after = after.check(&project, &given, &cancel).unwrap();
    let known = |code: &str, message: &str| {
        let mut known = before.findings.iter();
        known.any(|one| one.code == code && one.message == message)
    };
    for finding in &after.findings {
        assert!(
            known(&finding.code, &finding.message),
            "{}: nothing new is found: {}",
            example.name,
            finding.message
        );
    }
    (before.findings.len(), suggestion, after.findings.len())
}

/// Whatever is suggested for a breaking example of the library was applied, and what is left is what was said.
#[test]
fn every_suggestion_for_the_examples_passes() {
    let examples: Vec<Example> = library::examples()
        .filter(|example| example.name.contains(".breaks.") && !example.name.contains(".env."))
        .collect();
    let outcomes: Vec<(String, bool)> = examples
        .par_iter()
        .map(|example| {
            let (before, suggestion, after) = suggested(example);
            if let Some(suggestion) = &suggestion {
                assert_eq!(suggestion.left, after, "{}", example.name);
                assert_eq!(suggestion.mended, before - after, "{}", example.name);
                assert!(after < before, "{}", example.name);
            }
            (example.name.to_owned(), before > 0 && after == 0)
        })
        .collect();
    let open: Vec<&str> = outcomes
        .iter()
        .filter(|(_, mended)| !mended)
        .map(|(name, _)| name.as_str())
        .collect();
    println!(
        "{} of {} mended; not: {open:?}",
        outcomes.len() - open.len(),
        outcomes.len()
    );
    assert!(open.len() <= 19, "not mended: {open:?}");
}

/// What some inputs break is mended by a limit of these inputs, after which every input is checked again.
#[test]
fn inputs_are_given_limits_with_which_nothing_breaks() {
    let heat = |parameters: &str, properties: &str| {
        format!(
            "heat_template_version: 2021-04-16\nparameters:\n{parameters}resources:\n  group:\n    type: OS::Heat::AutoScalingGroup\n    properties:\n{properties}      resource: {{ type: OS::Cinder::Volume, properties: {{ size: 1 }} }}\n"
        )
    };
    let sizes = "      min_size: { get_param: least }\n      max_size: 5\n";
    let subnet = "heat_template_version: 2021-04-16
parameters:
  block: { type: string, default: 10.0.0.0/24 }
resources:
  net: { type: OS::Neutron::Net }
  subnet:
    type: OS::Neutron::Subnet
    properties: { network: { get_resource: net }, cidr: { get_param: block } }
";
    let cases = [
        // A range that is there, a list that is there, another constraint, and none at all.
        (
            heat(
                "  least:\n    type: number\n    default: 2\n    constraints:\n      - range: { min: 1, max: 9 }\n",
                sizes,
            ),
            "- range: { min: 1, max: 5 }\n",
        ),
        (
            heat(
                "  least:\n    type: number\n    default: 2\n    constraints:\n      - allowed_values: [1, 2, 9]\n",
                sizes,
            ),
            "- allowed_values: [1, 2]\n",
        ),
        (
            heat(
                "  least:\n    type: number\n    default: 2\n    constraints:\n      - range: { min: 1 }\n",
                sizes,
            ),
            "- range: { min: 1, max: 5 }\n",
        ),
        (
            heat("  least: { type: number, default: 2 }\n", sizes),
            "range: { min: 0, max: 5 }",
        ),
        (subnet.to_owned(), "custom_constraint: net_cidr"),
    ];
    for (text, limit) in cases {
        let folder = folder(&[("t.yaml", &text)]);
        let path = folder.path().join("t.yaml").display().to_string();
        let given = Given {
            all_inputs: true,
            ..Given::default()
        };
        let cancel = Cancel::default();
        let check = || {
            let snapshot = Session::new().forgetful().snapshot();
            let project = snapshot.project_of(&path).expect("a configuration");
            let report = snapshot.check(&project, &given, &cancel).unwrap();
            (snapshot, project, report)
        };
        let (snapshot, project, before) = check();
        assert!(!before.findings.is_empty(), "{text}");
        let suggestion = snapshot.suggest(&project, &given, false, &cancel).unwrap();
        let suggestion = suggestion.unwrap_or_else(|| panic!("no suggestion for\n{text}"));
        for file in &suggestion.files {
            std::fs::write(&file.path, &file.after).unwrap();
        }
        let after = std::fs::read_to_string(&path).unwrap();
        let (.., report) = check();
        assert!(after.contains(limit), "{:?}\n{after}", suggestion.titles);
        assert!(
            report.findings.is_empty(),
            "{:?} in\n{after}",
            report.findings
        );
        assert_eq!(suggestion.left, 0);
        assert_eq!(suggestion.mended, before.findings.len());
    }
}
