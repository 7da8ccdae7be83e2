//! What runs Locus elsewhere: hooks of pre-commit, the GitHub action, the image.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use locus_core::Sources;
use locus_frontends::yaml::{self, Limits, Node};
use tempfile::TempDir;

use super::{SHARED, code, folder, text};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The path with the built program on it.
fn path() -> String {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_locus"));
    let own = program.parent().unwrap().display();
    format!("{own}:{}", std::env::var("PATH").unwrap())
}

fn document(name: &str) -> Node {
    let text = fs::read_to_string(root().join(name)).unwrap();
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let mut parsed = yaml::parse(&sources, file, &Limits::default());
    assert!(parsed.is_complete(), "{name}: {:?}", parsed.diagnostics);
    parsed.documents.remove(0).root
}

fn word<'a>(node: &'a Node, key: &str) -> &'a str {
    node.get(key)
        .and_then(Node::as_str)
        .unwrap_or_else(|| panic!("no `{key}`"))
}

fn git(folder: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let output = Command::new("git")
        .args(identity)
        .args(args)
        .current_dir(folder)
        .output();
    let output = output.expect("git is installed");
    assert!(output.status.success(), "{}", text(&output));
}

fn pre_commit(repository: &Path, home: &Path) -> Output {
    Command::new("pre-commit")
        .args(["run", "--all-files", "--color", "never"])
        .current_dir(repository)
        .env("PATH", path())
        .env("PRE_COMMIT_HOME", home)
        .output()
        .expect("pre-commit is installed: apt-get install pre-commit")
}

#[test]
fn pre_commit_stops_a_commit_that_breaks_a_rule() {
    let hooks = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let hooks = folder(&[(".pre-commit-hooks.yaml", &hooks)]);
    git(hooks.path(), &["init", "-q"]);
    git(hooks.path(), &["add", "."]);
    git(hooks.path(), &["commit", "-qm", "hooks"]);
    let revision = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(hooks.path())
        .output()
        .unwrap();
    let config = format!(
        "repos:\n- repo: {}\n  rev: {}\n  hooks:\n  - id: locus-system\n",
        hooks.path().display(),
        String::from_utf8(revision.stdout).unwrap().trim()
    );
    let repository = folder(&[(".pre-commit-config.yaml", &config), ("stack.yaml", SHARED)]);
    git(repository.path(), &["init", "-q"]);
    git(repository.path(), &["add", "."]);
    let home = TempDir::new().unwrap();
    let output = pre_commit(repository.path(), home.path());
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(text(&output).contains("HOT221"), "{}", text(&output));
    // Files that are none of its languages, the hooks' own among them, stop nobody.
    fs::write(repository.path().join("stack.yaml"), "a: 1\n").unwrap();
    git(repository.path(), &["add", "."]);
    let output = pre_commit(repository.path(), home.path());
    assert_eq!(code(&output), 0, "{}", text(&output));
}

/// Both hooks are the same but for how the program gets there; `language: rust` installs the programs of the root package.
#[test]
fn the_hooks_differ_in_their_language_only() {
    let hooks = document(".pre-commit-hooks.yaml");
    let [built, system] = hooks.as_sequence().unwrap() else {
        panic!("two hooks");
    };
    assert_eq!(
        (word(built, "language"), word(system, "language")),
        ("rust", "system")
    );
    for key in ["entry", "files", "pass_filenames", "require_serial"] {
        assert_eq!(word(built, key), word(system, key), "{key}");
    }
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("[[bin]]\nname = \"locus\""));
}

/// Runs the steps of the action as a runner does: each script in bash, with inputs as the environment says.
fn act(repository: &Path, runner: &Path, given: &[(&str, &str)]) -> Output {
    let action = document("action.yml");
    let inputs = action.get("inputs").and_then(Node::as_mapping).unwrap();
    let mut values: BTreeMap<String, String> = inputs
        .named()
        .map(|(name, entry)| (name.to_string(), word(&entry.value, "default").to_owned()))
        .collect();
    values.extend(
        given
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
    );
    let runs = action.get("runs").unwrap();
    assert_eq!(word(runs, "using"), "composite");
    let mut last = None;
    for step in runs.get("steps").and_then(Node::as_sequence).unwrap() {
        assert_eq!(
            word(step, "shell"),
            "bash",
            "a composite action must name the shell"
        );
        let script = word(step, "run");
        assert!(
            !script.contains("${{"),
            "what users write is not part of a script"
        );
        let mut command = Command::new("bash");
        // What GitHub starts bash with.
        command.args([
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            "-c",
            script,
        ]);
        for (variable, file) in [
            ("GITHUB_PATH", "path"),
            ("GITHUB_OUTPUT", "output"),
            ("GITHUB_STEP_SUMMARY", "summary"),
            ("RUNNER_TEMP", ""),
        ] {
            command.env(variable, runner.join(file));
        }
        command
            .env("GITHUB_ACTION_PATH", root())
            .env("PATH", path());
        if let Some(environment) = step.get("env").and_then(Node::as_mapping) {
            for (name, entry) in environment.named() {
                let expression = entry.value.as_str().unwrap();
                let input = expression
                    .strip_prefix("${{ inputs.")
                    .and_then(|rest| rest.strip_suffix(" }}"))
                    .unwrap_or_else(|| panic!("{expression}"));
                command.env(&**name, &values[input]);
            }
        }
        let output = command.current_dir(repository).output().unwrap();
        let failed = !output.status.success();
        last = Some(output);
        if failed {
            break;
        }
    }
    last.expect("there are steps")
}

#[test]
fn the_action_annotates_and_says_where_its_report_is() {
    let repository = folder(&[("stack one.yaml", SHARED), ("other/stack.yaml", SHARED)]);
    let runner = TempDir::new().unwrap();
    let output = act(
        repository.path(),
        runner.path(),
        &[("paths", "other"), ("flags", "--skip HOT001")],
    );
    assert_eq!(code(&output), 1, "{}", text(&output));
    assert!(
        text(&output).contains("::error file=other/stack.yaml"),
        "{}",
        text(&output)
    );
    assert!(
        !text(&output).contains("stack one"),
        "only what was asked for"
    );
    let read = |name: &str| fs::read_to_string(runner.path().join(name)).unwrap();
    assert_eq!(read("output"), "sarif=locus.sarif\n");
    assert!(read("summary").contains("HOT221"));
    let sarif = fs::read_to_string(repository.path().join("locus.sarif")).unwrap();
    assert!(sarif.contains("\"2.1.0\""));
}

#[test]
fn what_is_given_to_the_action_is_not_run() {
    let repository = folder(&[("stack.yaml", "a: 1\n")]);
    let runner = TempDir::new().unwrap();
    let evil = "$(touch owned) `touch owned` ; touch owned";
    let _ = act(
        repository.path(),
        runner.path(),
        &[("paths", evil), ("flags", evil), ("diff", evil)],
    );
    assert!(!repository.path().join("owned").exists());
}

/// There is no engine for images where tests run: what each stage takes must be there, and what it builds must be known to cargo.
#[test]
fn the_image_is_made_of_things_that_exist() {
    let text = fs::read_to_string(root().join("Dockerfile")).unwrap();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let mut stages = Vec::new();
    let mut copied = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["FROM", _, "AS", name] => stages.push(*name),
            ["FROM", last] => assert_eq!(*last, "scratch", "nothing but the program"),
            ["COPY", from, source, _] if from.starts_with("--from=") => {
                assert!(stages.contains(&from.trim_start_matches("--from=")));
                copied.push(*source);
            }
            ["RUN", "cargo", rest @ ..] => {
                let profile = rest.iter().position(|word| *word == "--profile").unwrap();
                let profile = rest[profile + 1];
                assert!(manifest.contains(&format!("[profile.{profile}]")));
                // The program is copied from where this profile puts it.
                assert!(text.contains(&format!("/src/target/{profile}/locus")));
                assert!(rest.contains(&"--locked") && rest.contains(&"target-feature=+crt-static"));
            }
            _ => {}
        }
    }
    assert_eq!(copied.len(), 1);
    for line in fs::read_to_string(root().join(".dockerignore"))
        .unwrap()
        .lines()
    {
        let needed = [
            "Cargo.toml",
            "Cargo.lock",
            "src",
            "core",
            "grammar",
            "solver",
            "frontends",
            "invariants",
        ];
        assert!(!needed.contains(&line.trim_matches('/')), "{line}");
    }
}
