//! `--diff` on a scripted history.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const SHARED: &str = include_str!("../examples/heat/servers-share-port.yaml");

struct Repository(TempDir);

impl Repository {
    fn new() -> Self {
        let repository = Repository(TempDir::new().unwrap());
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    fn git(&self, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(args)
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git is there");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "a change"]);
    }

    fn locus(&self, folder: &str, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_locus"))
            .args(args)
            .current_dir(self.0.path().join(folder))
            .output()
            .expect("the binary starts")
    }

    /// What is new, with the file it is in; what is as before, and what is gone.
    fn new_since(&self, folder: &str, base: &str, paths: &[&str]) -> (Vec<String>, u64, usize) {
        let args = [&["check", "--format", "json", "--diff", base], paths].concat();
        let output = self.locus(folder, &args);
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        let findings = report["findings"].as_array().unwrap().iter();
        let shown = |one: &Value| {
            format!(
                "{} {}",
                one["rule"].as_str().unwrap(),
                one["file"].as_str().unwrap()
            )
        };
        let same = report["compared"]["same"].as_u64().unwrap();
        let fixed = report["compared"]["fixed"].as_array().unwrap().len();
        (findings.map(shown).collect(), same, fixed)
    }
}

#[test]
fn only_what_a_change_brings_is_reported() {
    let repository = Repository::new();
    repository.write("old.yaml", SHARED);
    repository.write("sub/gone.yaml", SHARED);
    repository.commit();
    repository.git(&["checkout", "-q", "-b", "work"]);
    // Lines move, a file is renamed, another mended, a third is new.
    repository.write("old.yaml", &format!("# moved\n{SHARED}"));
    fs::remove_file(repository.0.path().join("sub/gone.yaml")).unwrap();
    repository.write("sub/renamed.yaml", SHARED);
    repository.git(&["add", "-A"]);
    assert_eq!(repository.new_since(".", "main", &["."]), (vec![], 2, 0));
    assert_eq!(repository.new_since("sub", "main", &["."]), (vec![], 1, 0));
    repository.write("new/new.yaml", &SHARED.replace("vm", "machine"));
    let (found, ..) = repository.new_since(".", "main", &["."]);
    assert_eq!(found, ["HOT221 new/new.yaml"]);
    let (found, ..) = repository.new_since("new", "main", &["new.yaml"]);
    assert_eq!(
        found,
        ["HOT221 new.yaml"],
        "a folder that the base does not have"
    );
    repository.commit();
    // What others do on the base afterwards is not of this change.
    repository.git(&["checkout", "-q", "main"]);
    fs::remove_file(repository.0.path().join("old.yaml")).unwrap();
    repository.commit();
    repository.git(&["checkout", "-q", "work"]);
    let (found, ..) = repository.new_since(".", "main", &["."]);
    assert_eq!(found, ["HOT221 new/new.yaml"]);
    fs::write(
        repository.0.path().join("new/new.yaml"),
        "heat_template_version: 2021-04-16\n",
    )
    .unwrap();
    repository.write("old.yaml", "heat_template_version: 2021-04-16\n");
    let (found, _, fixed) = repository.new_since(".", "main", &["old.yaml"]);
    assert!(
        !found.iter().any(|one| one.starts_with("HOT221")),
        "{found:?}"
    );
    assert_eq!(fixed, 1);
    let absolute = repository.0.path().join("sub/renamed.yaml");
    let (found, same, _) = repository.new_since(".", "work", &[absolute.to_str().unwrap()]);
    assert_eq!((found, same), (vec![], 1), "an absolute path");
}

#[test]
fn a_change_of_one_file_that_breaks_another_is_found() {
    let repository = Repository::new();
    let nested = |name: &str| {
        format!("heat_template_version: 2021-04-16\nparameters:\n  {name}: {{ type: string }}\n")
    };
    let top = "heat_template_version: 2021-04-16\nresources:\n  a:\n    type: nested.yaml\n    properties: { size: small }\n";
    repository.write("top.yaml", top);
    repository.write("nested.yaml", &nested("size"));
    repository.commit();
    let before = repository.locus(".", &["check", "--format", "json", "top.yaml"]);
    let before: Value = serde_json::from_slice(&before.stdout).unwrap();
    repository.write("nested.yaml", &nested("length"));
    let (found, ..) = repository.new_since(".", "HEAD", &["top.yaml"]);
    assert!(
        found.iter().any(|one| one.ends_with(" top.yaml")),
        "{found:?}, before {before}"
    );
}

#[test]
fn a_base_that_is_none_is_refused() {
    let repository = Repository::new();
    repository.write("a.yaml", SHARED);
    repository.commit();
    for base in ["nowhere", "--output=x", ""] {
        let output = repository.locus(".", &["check", &format!("--diff={base}"), "a.yaml"]);
        assert_eq!(output.status.code(), Some(3), "{base}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("is not a commit"));
    }
    let elsewhere = TempDir::new().unwrap();
    fs::write(elsewhere.path().join("a.yaml"), SHARED).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "--diff", "main", "a.yaml"])
        .current_dir(Path::new(elsewhere.path()))
        .env("GIT_CEILING_DIRECTORIES", "/")
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(repository.0.path().join(".git/index").exists());
}

#[test]
fn a_file_that_git_was_not_told_of_is_compared_with_what_it_was_called() {
    let repository = Repository::new();
    repository.write("a.yaml", SHARED);
    repository.commit();
    let at = |name: &str| repository.0.path().join(name);
    fs::rename(at("a.yaml"), at("b.yaml")).unwrap();
    let before = fs::read(at(".git/index")).unwrap();
    assert_eq!(repository.new_since(".", "HEAD", &["."]), (vec![], 1, 0));
    assert_eq!(
        fs::read(at(".git/index")).unwrap(),
        before,
        "the index is left alone"
    );
    repository.write("c.yaml", &SHARED.replace("vm", "machine"));
    let (found, ..) = repository.new_since(".", "HEAD", &["."]);
    assert_eq!(found, ["HOT221 c.yaml"]);
}

#[test]
fn a_change_of_settings_or_rules_is_a_change() {
    let repository = Repository::new();
    repository.write("a.yaml", SHARED);
    for (before, after, new) in [
        ("off", "error", 1),
        ("warning", "error", 1),
        ("error", "warning", 0),
        ("warning", "off", 0),
    ] {
        let settings = |severity: &str| format!("[rules]\nHOT221 = \"{severity}\"\n");
        repository.write("locus.toml", &settings(before));
        repository.commit();
        repository.write("locus.toml", &settings(after));
        let (found, ..) = repository.new_since(".", "HEAD", &["."]);
        assert_eq!(found.len(), new, "{before} to {after}: {found:?}");
    }
    // A rule of one's own that becomes stricter.
    let rule = |holds: &str| {
        format!(
            "module hot/naming\nopen hot/vocabulary\n/** ACME001 ours warning: a network is not ours\n * message: `{{n}}` is not ours\n \
             * at: n \"here\"\n * help: rename it\n * why: It is deleted.\n * source: our handbook\n */\n\
             assert Ours {{ all n: OS_Neutron_Net | {holds} }}\n"
        )
    };
    repository.write("locus.toml", "[heat]\nrules = [\"r.als\"]\n");
    repository.write("r.als", &rule("n = n"));
    repository.commit();
    repository.write("r.als", &rule("no n"));
    let (found, ..) = repository.new_since(".", "HEAD", &["."]);
    assert_eq!(found, ["ACME001 a.yaml"]);
}

#[test]
fn what_is_in_a_submodule_is_compared_with_the_submodule() {
    let module = Repository::new();
    module.write("s.yaml", SHARED);
    module.commit();
    let repository = Repository::new();
    repository.write("a.yaml", SHARED);
    repository.commit();
    let from = module.0.path().to_str().unwrap();
    repository.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        from,
        "sub",
    ]);
    repository.commit();
    assert_eq!(repository.new_since(".", "HEAD", &["."]), (vec![], 2, 0));
    // It came with the last commit.
    let (found, same, _) = repository.new_since(".", "HEAD~1", &["."]);
    assert_eq!((found, same), (vec!["HOT221 sub/s.yaml".to_owned()], 1));
    repository.write("sub/t.yaml", &SHARED.replace("vm", "machine"));
    let (found, ..) = repository.new_since(".", "HEAD", &["."]);
    assert_eq!(found, ["HOT221 sub/t.yaml"]);
}

#[test]
fn a_shallow_clone_says_what_it_lacks() {
    let origin = Repository::new();
    origin.write("a.yaml", SHARED);
    origin.commit();
    origin.git(&["checkout", "-q", "-b", "work"]);
    origin.write("b.yaml", SHARED);
    origin.commit();
    let clone = Repository::new();
    let from = format!("file://{}", origin.0.path().display());
    clone.git(&["remote", "add", "origin", &from]);
    clone.git(&["fetch", "-q", "--depth", "1", "origin", "work"]);
    clone.git(&["checkout", "-q", "FETCH_HEAD"]);
    let said = |base: &str| {
        let output = clone.locus(".", &["check", "--diff", base, "."]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    };
    let (code, text) = said("origin/main");
    assert_eq!(code, Some(3));
    assert!(text.contains("git fetch --unshallow"), "{text}");
    // The base is there, but not what lies between.
    let refs = "main:refs/remotes/origin/main";
    clone.git(&["fetch", "-q", "--depth", "1", "origin", refs]);
    let (code, text) = said("origin/main");
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("is compared with `origin/main` as it is"),
        "{text}"
    );
}
