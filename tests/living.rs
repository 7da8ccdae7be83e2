//! Living with findings: comments, settings, baselines, filters, and files to start with.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "living/around.rs"]
mod around;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const SHARED: &str = include_str!("../examples/heat/servers-share-port.yaml");

fn locus(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .expect("the binary starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the binary ends by itself")
}

fn text(output: &Output) -> String {
    let both = [output.stdout.clone(), output.stderr.clone()].concat();
    String::from_utf8(both).unwrap()
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = locus(folder, &[&["check", "--format", "json"], args].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)))
}

/// The rules of the findings, with their severities.
fn found(report: &Value) -> Vec<(String, String)> {
    let findings = report["findings"].as_array().unwrap().iter();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    findings
        .map(|one| (word(&one["rule"]), word(&one["severity"])))
        .collect()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// The example, with a comment at the end of its last line.
fn ignoring(comment: &str) -> String {
    let at = SHARED.rfind("- port: { get_resource: port }").unwrap();
    let end = at + SHARED[at..].find('\n').unwrap();
    format!("{} {comment}{}", &SHARED[..end], &SHARED[end..])
}

#[test]
fn a_comment_with_a_reason_ignores_a_rule() {
    let line = ignoring("# locus: ignore HOT221 -- one is a spare");
    let block = SHARED.replace(
        "  vm2:\n",
        "  # locus: ignore port-shared -- one is a spare\n  vm2:\n",
    );
    for content in [line, block] {
        let folder = folder(&[("a.yaml", &content)]);
        let report = json(folder.path(), &["a.yaml"]);
        assert_eq!(found(&report), []);
        assert_eq!(report["ignored"][0]["reason"], "one is a spare");
        let output = locus(folder.path(), &["check", "a.yaml"]);
        assert_eq!(code(&output), 0);
        assert!(text(&output).contains("; 1 ignored"), "{}", text(&output));
    }
}

#[test]
fn a_comment_without_a_reason_or_a_rule_ignores_nothing() {
    for (comment, says) in [
        ("# locus: ignore HOT221", "needs a reason"),
        ("# locus: ignore HOT221 --", "needs a reason"),
        ("# locus: ignore HOT22l -- why", "there is no rule `HOT22l`"),
        ("# locus: ignore syntax -- why", "cannot be turned off"),
        ("# locus:ignore HOT22l -- why", "there is no rule `HOT22l`"),
        ("# locus: ignroe HOT221 -- why", "cannot say `ignroe`"),
        ("# locus:disable HOT221", "cannot say `disable`"),
    ] {
        let folder = folder(&[("a.yaml", &ignoring(comment))]);
        let output = locus(folder.path(), &["check", "--format", "compact", "a.yaml"]);
        let text = text(&output);
        assert!(
            text.contains("[HOT221]") && text.contains(says),
            "{comment}: {text}"
        );
        assert_eq!(code(&output), 1);
    }
}

#[test]
fn an_unused_comment_is_reported_unless_its_rule_is_off() {
    let unused = ignoring("# locus: ignore HOT221, HOT222 -- why");
    let folder = folder(&[("a.yaml", &unused)]);
    let report = json(folder.path(), &["a.yaml"]);
    assert_eq!(
        found(&report),
        [("ignore".to_owned(), "warning".to_owned())]
    );
    assert_eq!(
        report["findings"][0]["message"],
        "nothing here breaks `HOT222`"
    );
    let report = json(folder.path(), &["--skip", "HOT222", "a.yaml"]);
    assert_eq!(found(&report), []);
}

#[test]
fn settings_are_per_rule_and_path() {
    let settings = "[rules]\nHOT221 = [{ severity = \"off\", paths = [\"old/**\"] }, { severity = \"warning\", paths = [\"new/*.yaml\"] }]\n";
    let folder = folder(&[
        ("locus.toml", settings),
        ("old/a.yaml", SHARED),
        ("new/a.yaml", SHARED),
        ("a.yaml", SHARED),
    ]);
    let of = |file: &str| found(&json(folder.path(), &[file]));
    assert_eq!(of("old/a.yaml"), []);
    assert_eq!(
        of("new/a.yaml"),
        [("HOT221".to_owned(), "warning".to_owned())]
    );
    assert_eq!(of("a.yaml"), [("HOT221".to_owned(), "error".to_owned())]);
    let from_inside = found(&json(&folder.path().join("old"), &["a.yaml"]));
    assert_eq!(from_inside, [], "patterns are relative to the settings");
}

#[test]
fn unknown_keys_of_a_rule_are_errors_where_they_stand() {
    for (setting, says, at) in [
        (
            "HOT221 = { severty = \"off\" }",
            "`severty` is not a setting of a rule",
            12,
        ),
        (
            "HOT221 = { paths = [\"a\"] }",
            "`severity` of `HOT221` is missing",
            10,
        ),
        (
            "HOT221 = { severity = \"of\", paths = [\"a\"] }",
            "`of` is not one of",
            23,
        ),
        (
            "HOT221 = { severity = \"off\", paths = \"a\" }",
            "`paths` takes a list",
            38,
        ),
        (
            "HOT221 = { severity = \"off\", paths = [\"[\"] }",
            "is not a pattern",
            39,
        ),
        ("HOT221 = [\"off\"]", "is not a table with `severity`", 11),
    ] {
        let folder = folder(&[
            ("locus.toml", &format!("[rules]\n{setting}\n")),
            ("a.yaml", SHARED),
        ]);
        let report = json(folder.path(), &["a.yaml"]);
        let findings = report["findings"].as_array().unwrap();
        let wrong = findings
            .iter()
            .find(|one| one["rule"] == "settings")
            .expect(setting);
        assert!(wrong["message"].as_str().unwrap().contains(says), "{wrong}");
        assert_eq!(
            (&wrong["line"], &wrong["column"]),
            (&2.into(), &at.into()),
            "{setting}"
        );
        assert!(
            findings.iter().any(|one| one["rule"] == "HOT221"),
            "a wrong setting changes nothing"
        );
    }
}

#[test]
fn a_baseline_takes_out_what_is_known_and_nothing_else() {
    let folder = folder(&[("a.yaml", SHARED)]);
    let at = folder.path();
    let written = locus(
        at,
        &[
            "check",
            "--baseline",
            "known.json",
            "--write-baseline",
            "a.yaml",
        ],
    );
    assert_eq!(code(&written), 0, "{}", text(&written));
    let moved = format!("# a line more\n{SHARED}");
    fs::write(at.join("a.yaml"), &moved).unwrap();
    let output = locus(at, &["check", "--baseline", "known.json", "a.yaml"]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert!(
        text(&output).contains("; 1 in the baseline"),
        "{}",
        text(&output)
    );
    // A third server on the same port is new.
    let third = SHARED[SHARED.find("  vm2:").unwrap()..].replace("vm2", "vm3");
    fs::write(at.join("a.yaml"), format!("{SHARED}{third}")).unwrap();
    let output = locus(at, &["check", "--baseline", "known.json", "a.yaml"]);
    assert_eq!(code(&output), 1, "{}", text(&output));
    fs::write(
        at.join("a.yaml"),
        SHARED.replacen("resources:", "resources: [", 1),
    )
    .unwrap();
    let output = locus(at, &["check", "--baseline", "known.json", "a.yaml"]);
    assert_ne!(code(&output), 0, "what cannot be read is never known");
    assert!(
        text(&output).contains("no longer found"),
        "{}",
        text(&output)
    );
    fs::write(at.join("known.json"), "{}").unwrap();
    let output = locus(at, &["check", "--baseline", "known.json", "a.yaml"]);
    assert_eq!(code(&output), 2, "{}", text(&output));
}

#[test]
fn only_and_skip_choose_rules_that_are_evaluated() {
    let folder = folder(&[("a.yaml", SHARED)]);
    let at = folder.path();
    let all = json(at, &["a.yaml"])["stats"]["rules"].as_u64().unwrap();
    let only = json(at, &["--only", "HOT221", "a.yaml"]);
    assert_eq!(found(&only), [("HOT221".to_owned(), "error".to_owned())]);
    assert!(only["stats"]["rules"].as_u64().unwrap() <= 2, "{only}");
    let skip = json(at, &["--skip", "port-shared,HOT222", "a.yaml"]);
    assert_eq!(found(&skip), []);
    assert!(skip["stats"]["rules"].as_u64().unwrap() < all);
    let wrong = locus(at, &["check", "--only", "HOT22l", "a.yaml"]);
    assert_eq!(code(&wrong), 3);
    assert!(text(&wrong).contains("did you mean"), "{}", text(&wrong));
}

#[test]
fn what_fails_is_chosen() {
    let folder = folder(&[
        ("a.yaml", SHARED),
        ("locus.toml", "[rules]\nHOT221 = \"info\"\n"),
    ]);
    let at = folder.path();
    for (fail_on, expected) in [
        ("error", 0),
        ("warning", 0),
        ("note", 1),
        ("undecided", 0),
        ("never", 0),
    ] {
        let output = locus(at, &["check", "--fail-on", fail_on, "a.yaml"]);
        assert_eq!(code(&output), expected, "{fail_on}");
    }
    fs::remove_file(at.join("locus.toml")).unwrap();
    assert_eq!(
        code(&locus(at, &["check", "--fail-on", "never", "a.yaml"])),
        0
    );
    assert_eq!(
        code(&locus(at, &["check", "--fail-on", "never", "none.yaml"])),
        2
    );
}

#[test]
fn several_formats_go_to_several_places() {
    let folder = folder(&[("a.yaml", SHARED)]);
    let at = folder.path();
    let output = locus(
        at,
        &[
            "check",
            "a.yaml",
            "--format",
            "sarif=out.sarif",
            "--format",
            "compact",
        ],
    );
    assert_eq!(code(&output), 1);
    assert!(
        text(&output).starts_with("a.yaml:38:17: error: "),
        "{}",
        text(&output)
    );
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(at.join("out.sarif")).unwrap()).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let two = locus(
        at,
        &["check", "a.yaml", "--format", "json", "--format", "text"],
    );
    assert_eq!(code(&two), 3, "{}", text(&two));
    let unknown = locus(at, &["check", "a.yaml", "--format", "yaml"]);
    assert_eq!(code(&unknown), 3);
    assert!(text(&unknown).contains("checkstyle"), "{}", text(&unknown));
    let nowhere = locus(at, &["check", "a.yaml", "--format", "json=none/out.json"]);
    assert_eq!(code(&nowhere), 2, "{}", text(&nowhere));
}

#[test]
fn files_to_start_with_are_accepted() {
    for ci in ["github", "gitlab", "jenkins"] {
        let folder = folder(&[("a.yaml", SHARED)]);
        let at = folder.path();
        let output = locus(at, &["init", "--ci", ci]);
        assert_eq!(code(&output), 0, "{}", text(&output));
        assert_eq!(
            found(&json(at, &["a.yaml"])),
            [("HOT221".to_owned(), "error".to_owned())]
        );
        let again = locus(at, &["init", "--ci", ci]);
        assert_eq!(code(&again), 3, "{}", text(&again));
        assert_eq!(code(&locus(at, &["init", "--ci", ci, "--force"])), 0);
        // Every command of the pipeline is one that this program takes.
        let file = match ci {
            "github" => ".github/workflows/locus.yml",
            "gitlab" => ".gitlab-ci.yml",
            _ => "Jenkinsfile",
        };
        let pipeline = fs::read_to_string(at.join(file)).unwrap();
        let start = pipeline.find("locus check").unwrap();
        let command = pipeline[start..]
            .lines()
            .next()
            .unwrap()
            .trim_end_matches('\'');
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let output = locus(at, &words);
        assert_eq!(code(&output), 1, "{ci}: {}", text(&output));
    }
}

#[test]
fn shells_and_man_know_the_flags() {
    let folder = folder(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = locus(folder.path(), &["completions", shell]);
        assert!(text(&output).contains("write-baseline"), "{shell}");
    }
    assert_eq!(code(&locus(folder.path(), &["man", "pages"])), 0);
    let page = fs::read_to_string(folder.path().join("pages/locus-check.1")).unwrap();
    assert!(page.contains("baseline"), "{page}");
}
