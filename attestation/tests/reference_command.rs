//! `locus reference` from end to end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn locus(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .arg("reference")
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the binary starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A root file system with some files.
fn root(folder: &Path, name: &str, files: &[(&str, &str)]) {
    for (path, content) in files {
        let path = folder.join(name).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

const DIGEST: &str = "sha256:00000000000000000000000000000000000000000000000000000000000000aa";

/// Lists a root file system as an image, into a file.
fn image(folder: &Path, name: &str) -> String {
    let args = ["from-root", name, "--name", "app", "--image-digest", DIGEST];
    let output = locus(folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let file = format!("{name}.json");
    fs::write(folder.join(&file), &output.stdout).unwrap();
    file
}

#[test]
fn versions_are_listed_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    root(folder, "old", &[("bin/app", "1"), ("etc/conf", "x")]);
    root(
        folder,
        "new",
        &[("bin/app", "2"), ("etc/conf", "x"), ("bin/tool", "t")],
    );
    let (old, new) = (image(folder, "old"), image(folder, "new"));
    let same = locus(folder, &["diff", &old, &old]);
    assert_eq!(same.status.code(), Some(0));
    let changed = locus(folder, &["diff", &old, &new]);
    assert_eq!(changed.status.code(), Some(1), "{}", stderr(&changed));
    assert_eq!(
        stdout(&changed),
        "~ /bin/app\n+ /bin/tool\n1 added, 0 removed, 1 changed, 1 unchanged\n"
    );
    let json = locus(folder, &["diff", &old, &new, "--format", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["changes"][0]["change"], "changed");
    assert_eq!(json["unchanged"], 1);
}

#[test]
fn an_exported_root_file_system_is_an_archive_or_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    root(
        folder,
        "root",
        &[("usr/bin/containerd", "c"), ("usr/bin/runc", "r")],
    );
    let tar = Command::new("tar")
        .args(["-cf", "root.tar", "-C", "root", "."])
        .current_dir(folder)
        .status()
        .unwrap();
    assert!(tar.success());
    let listed = |place: &str| {
        let output = locus(
            folder,
            &["from-root", place, "--name", "containerd", "--runtime"],
        );
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    assert_eq!(listed("root"), listed("root.tar"));
    let values: Value = serde_json::from_str(&listed("root")).unwrap();
    let files = values["runtimes"]["containerd"]["files"]
        .as_object()
        .unwrap();
    assert_eq!(files.len(), 2);
    assert!(
        files["/usr/bin/runc"][0]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
}

#[test]
fn signed_values_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    root(folder, "app", &[("bin/app", "1")]);
    let values = image(folder, "app");
    let gate = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .args(["init", "gate"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert_eq!(gate.status.code(), Some(0), "{}", stderr(&gate));
    let export = |files: &[&str]| {
        let mut args = vec!["export", "--key", "gate/reference.key", "--sequence", "7"];
        args.extend(files);
        locus(folder, &args)
    };
    let token = export(&[&values]);
    assert_eq!(token.status.code(), Some(0), "{}", stderr(&token));
    fs::write(folder.join("token"), &token.stdout).unwrap();
    let twice = export(&[&values, &values]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(stderr(&twice).contains("`app`"), "{}", stderr(&twice));

    let public = "gate/reference.pem";
    let good = locus(
        folder,
        &["import", "token", "--key", public, "--present", "6"],
    );
    assert_eq!(good.status.code(), Some(0), "{}", stderr(&good));
    assert_eq!(good.stdout, fs::read(folder.join(&values)).unwrap());
    let old = locus(
        folder,
        &["import", "token", "--key", public, "--present", "7"],
    );
    assert_eq!(old.status.code(), Some(2));
    assert!(
        stderr(&old).contains("sequence number 7"),
        "{}",
        stderr(&old)
    );
    let mut changed = token.stdout.clone();
    let middle = changed.len() / 2;
    changed[middle] = if changed[middle] == b'A' { b'B' } else { b'A' };
    fs::write(folder.join("token"), changed).unwrap();
    let forged = locus(folder, &["import", "token", "--key", public]);
    assert_eq!(forged.status.code(), Some(2));
    assert_eq!(stdout(&forged), "");
}

#[test]
fn the_boot_of_a_good_machine_is_taken_from_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // SHA-1 over the lengths and fields of the entry, as the kernel computes it.
    let line = "10 1d8d532d463c9f8c205d0df7787669a85f93e260 ima-ng \
                sha1:0000000000000000000000000000000000000000 boot_aggregate\n";
    fs::write(folder.join("log"), line).unwrap();
    let args = ["from-log", "log", "--os", "Debian GNU/Linux 12 (bookworm)"];
    let output = locus(folder, &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let values: Value = serde_json::from_slice(&output.stdout).unwrap();
    let boots = &values["os"]["Debian GNU/Linux 12 (bookworm)"]["boot_aggregates"];
    assert_eq!(boots[0], "sha1:0000000000000000000000000000000000000000");
    fs::write(folder.join("log"), line.replace("1d8d", "1d8e")).unwrap();
    let output = locus(folder, &args);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("hash it claims"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for args in [
        &["from-image", "nowhere"][..],
        &["from-root", "nowhere", "--name", "x"],
        &["diff", "nowhere", "nowhere"],
        &["from-log", "nowhere", "--os", "x"],
    ] {
        let output = locus(folder, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            stderr(&output).contains("`nowhere`"),
            "{args:?}: {}",
            stderr(&output)
        );
    }
}
