//! `locus check` on Docker Compose projects, as a user calls it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Calls the program in a folder.
fn locus(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("COMPOSE_PROFILES")
        .env_remove("COMPOSE_PROJECT_NAME")
        .output()
        .expect("the binary starts")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the binary ends by itself")
}

/// A folder with files.
fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The findings of a run, as `file:line:column severity rule`, without information; and the exit code.
fn found(folder: &Path, args: &[&str]) -> (Vec<String>, i32) {
    let mut all = vec!["check", "--format", "json"];
    all.extend(args);
    let output = locus(folder, &all);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let unchecked = report["unchecked"].as_array().unwrap().iter();
    let line = |finding: &Value| {
        let text = |key: &str| finding[key].as_str().unwrap_or("-").to_owned();
        format!(
            "{}:{}:{} {} {}",
            text("file"),
            finding["line"],
            finding["column"],
            text("severity"),
            text("rule")
        )
    };
    let all = findings.chain(unchecked).map(line);
    let told = all.filter(|line| !line.contains(" info ")).collect();
    (told, code(&output))
}

const WEB: &str = "services:\n  web:\n    image: nginx:1.27\n";

#[test]
fn the_first_voting_application_is_diagnosed_and_the_corrected_one_passes() {
    let first = ["examples/compose/voting-app-first.yaml"];
    let (findings, code) = found(root(), &first);
    assert_eq!(code, 1);
    assert!(
        findings.contains(&format!("{}:21:5 error compose-unknown-key", first[0])),
        "{findings:?}"
    );
    let output = locus(root(), &["check", first[0]]);
    assert!(
        stdout(&output).contains("`resources` belongs under `deploy`"),
        "{}",
        stdout(&output)
    );
    for target in ["compose", "swarm"] {
        let corrected = ["--target", target, "examples/compose/voting-app.yaml"];
        let (findings, code) = found(root(), &corrected);
        assert_eq!(code, 0, "{target}: {findings:?}");
        assert!(findings.iter().all(|line| !line.contains(" error ")));
    }
}

#[test]
fn a_project_is_found_by_its_name_and_by_its_content() {
    let folder = project(&[("compose.yaml", WEB), ("stack.yml", WEB)]);
    for name in ["compose.yaml", "stack.yml", "."] {
        assert_eq!(found(folder.path(), &[name]), (vec![], 0), "{name}");
    }
    let output = locus(folder.path(), &["check", "."]);
    assert!(
        stdout(&output).starts_with("0 errors, 0 warnings in 2 files"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_project_comes_by_standard_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let text = "services:\n  web:\n    ports: ['80:80']\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 1);
    assert!(
        stdout(&output).contains("COMPOSE012"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn files_are_merged_in_the_order_given() {
    let folder = project(&[
        (
            "a.yaml",
            "services:\n  web:\n    image: nginx:1.27\n    ports: ['80:80']\n",
        ),
        (
            "b.yaml",
            "services:\n  api:\n    image: example/api:1\n    ports: ['80:8000']\n",
        ),
    ]);
    assert_eq!(found(folder.path(), &["a.yaml", "b.yaml"]), (vec![], 0));
    let merged = found(folder.path(), &["-f", "a.yaml", "-f", "b.yaml"]);
    assert_eq!(merged, (vec!["b.yaml:4:13 error COMPOSE030".to_owned()], 1));
}

#[test]
fn the_override_is_picked_up_and_not_checked_alone() {
    let folder = project(&[
        ("compose.yaml", WEB),
        (
            "compose.override.yaml",
            "services:\n  web:\n    networks: [missing]\n",
        ),
    ]);
    let expected = vec!["compose.override.yaml:3:16 error COMPOSE002".to_owned()];
    for name in ["compose.yaml", ".", "compose.override.yaml"] {
        let (findings, code) = found(folder.path(), &[name]);
        assert_eq!((findings, code), (expected.clone(), 1), "{name}");
    }
    // Named with `-f`, a file is taken alone, as Compose takes it.
    let (alone, code) = found(folder.path(), &["-f", "compose.yaml", "-f", "compose.yaml"]);
    assert_eq!((alone, code), (vec![], 0));
}

#[test]
fn what_another_file_includes_is_checked_as_a_part_of_it() {
    let folder = project(&[
        (
            "compose.yaml",
            "include: [a-part.yaml]\nservices:\n  web:\n    image: nginx:1.27\n",
        ),
        (
            "a-part.yaml",
            "services:\n  db:\n    image: postgres:17\n    depends_on: [web]\n",
        ),
    ]);
    assert_eq!(found(folder.path(), &["."]), (vec![], 0));
    let (alone, code) = found(folder.path(), &["a-part.yaml"]);
    assert_eq!(alone, ["a-part.yaml:4:18 error COMPOSE001"]);
    assert_eq!(code, 1);
}

#[test]
fn variables_come_from_the_shell_and_from_files() {
    let text = "services:\n  web:\n    image: nginx:1.27\n    ports: ['${PORT_A}:80']\n  api:\n    image: example/api:1\n    ports: ['8080:80']\n";
    let folder = project(&[
        ("compose.yaml", text),
        ("same.env", "PORT_A=8080\n"),
        ("other.env", "PORT_A=8081\n"),
    ]);
    let conflict = vec!["compose.yaml:7:13 error COMPOSE030".to_owned()];
    let same = found(folder.path(), &["--env-file", "same.env", "compose.yaml"]);
    assert_eq!(same, (conflict.clone(), 1));
    let other = found(folder.path(), &["--env-file", "other.env", "compose.yaml"]);
    assert_eq!(other, (vec![], 0));
    // Without a value the port may be any: nothing is certain, and a conflict is possible.
    assert_eq!(found(folder.path(), &["compose.yaml"]), (vec![], 0));
    let (possible, code) = found(folder.path(), &["--all-inputs", "compose.yaml"]);
    // A text that is no port breaks more than that: one note on the variable names both.
    assert_eq!(possible, [""; 0], "a note is not listed among these");
    assert_eq!(code, 0);
    let output = locus(folder.path(), &["check", "--all-inputs", "compose.yaml"]);
    let said = stdout(&output);
    let note = "`PORT_A` accepts anything: `8080` breaks COMPOSE030, `x` breaks compose-port";
    assert!(said.contains(note), "{said}");
    fs::write(folder.path().join(".env"), "PORT_A=8080\n").unwrap();
    assert_eq!(found(folder.path(), &["compose.yaml"]), (conflict, 1));
}

#[test]
fn profiles_decide_what_is_started() {
    let text = "services:\n  web:\n    image: nginx:1.27\n    ports: ['80:80']\n  debug:\n    image: example/debug:1\n    profiles: [debug]\n    ports: ['80:90']\n";
    let folder = project(&[("compose.yaml", text)]);
    assert_eq!(found(folder.path(), &["compose.yaml"]), (vec![], 0));
    for profile in ["debug", "*"] {
        let (findings, code) = found(folder.path(), &["--profile", profile, "compose.yaml"]);
        assert_eq!(findings, ["compose.yaml:8:13 error COMPOSE030"]);
        assert_eq!(code, 1);
    }
    let output = locus(folder.path(), &["check", "--all-inputs", "compose.yaml"]);
    assert!(
        stdout(&output).contains("with `profile debug` = `true`"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn the_target_decides_which_rules_matter() {
    let text =
        "services:\n  web:\n    build: .\n    ports: ['80:80']\n    deploy:\n      replicas: 2\n";
    let folder = project(&[("compose.yaml", text)]);
    let (findings, _) = found(folder.path(), &["compose.yaml"]);
    assert_eq!(findings, ["compose.yaml:4:13 error COMPOSE032"]);
    let (findings, _) = found(folder.path(), &["--target", "swarm", "compose.yaml"]);
    assert_eq!(findings, ["compose.yaml:2:3 error COMPOSE064"]);
}

#[test]
fn rules_about_compose_are_listed_and_explained() {
    let listed = stdout(&locus(root(), &["rules"]));
    let is_it = |line: &str| line.starts_with("COMPOSE030 ") && line.contains(" error ");
    assert!(listed.lines().any(is_it), "{listed}");
    let page = stdout(&locus(root(), &["explain", "compose030"]));
    assert!(page.starts_with("# COMPOSE030"), "{page}");
    assert!(page.contains("assert PortsArePublishedOnce"), "{page}");
}

#[test]
fn bad_input_is_told() {
    let folder = project(&[
        ("empty/compose.yaml", ""),
        ("list/compose.yaml", "- a\n"),
        ("syntax/compose.yaml", "services:\n  web: {image: 'a\n"),
        (
            "self/compose.yaml",
            "include: [compose.yaml]\nservices: {}\n",
        ),
        (
            "gone/compose.yaml",
            "include: [missing.yaml]\nservices: {}\n",
        ),
        (
            "env/compose.yaml",
            "services:\n  web:\n    image: nginx:1.27\n    env_file: [missing.env]\n",
        ),
        ("given/compose.yaml", WEB),
    ]);
    fs::create_dir(folder.path().join("binary")).unwrap();
    let noise: Vec<u8> = (0..4096_u32).map(|n| (n * 31 % 251) as u8).collect();
    fs::write(folder.path().join("binary/compose.yaml"), noise).unwrap();
    for (name, message) in [
        ("empty", "empty"),
        ("list", "a Compose file is a map"),
        ("syntax", "syntax/compose.yaml"),
        ("self", "includes itself"),
        ("gone", "missing.yaml` cannot be read"),
        ("env", "does not exist"),
        ("binary", "binary/compose.yaml"),
    ] {
        let output = locus(folder.path(), &["check", &format!("{name}/compose.yaml")]);
        assert_eq!(code(&output), 1, "{name}: {}", stdout(&output));
        assert!(
            stdout(&output).contains(message),
            "{name}: {}",
            stdout(&output)
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{name}");
    }
    for args in [
        &["check", "--env-file", "missing.env", "given/compose.yaml"][..],
        &["check", "-f", "missing.yaml"],
    ] {
        let output = locus(folder.path(), args);
        assert_eq!(code(&output), 1, "{}", stdout(&output));
        assert!(
            stdout(&output).contains("cannot be read"),
            "{}",
            stdout(&output)
        );
    }
}

#[test]
fn deep_and_large_input_is_told() {
    let mut deep = String::from("services:");
    for _ in 0..10_000 {
        deep.push_str("{a: ");
    }
    let mut large = String::from("services:\n");
    // A scalar of 50 MB costs no more than reading it.
    large.push_str("  web:\n    image: nginx:1.27\n    labels:\n      note: \"");
    large.extend(std::iter::repeat_n("0123456789", 5_000_000));
    large.push_str("\"\n    unknown: 1\n");
    let folder = project(&[("deep/compose.yaml", &deep), ("large/compose.yaml", &large)]);
    for name in ["deep", "large"] {
        let output = locus(
            folder.path(),
            &["check", "--format", "json", &format!("{name}/compose.yaml")],
        );
        assert_eq!(code(&output), 1, "{name}");
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert!(!report["findings"].as_array().unwrap().is_empty(), "{name}");
    }
}
