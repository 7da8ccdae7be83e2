//! `locus gate`, `attest`, `deploy`, `reference` and `agent` run programs of their own.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with `locus` in it, and another for the search path.
struct Place {
    home: tempfile::TempDir,
    path: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let inside = env!("CARGO_TARGET_TMPDIR");
        let place = Place {
            home: tempfile::tempdir_in(inside).unwrap(),
            path: tempfile::tempdir_in(inside).unwrap(),
        };
        let program = env!("CARGO_BIN_EXE_locus");
        std::fs::hard_link(program, place.home.path().join("locus")).unwrap();
        place
    }

    fn locus(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.home.path().join("locus"));
        command
            .args(args)
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", self.path.path().display()),
            )
            .current_dir(self.home.path());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.locus(args).output().expect("the binary starts")
    }
}

fn script(folder: &Path, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

// One test: while a thread writes a script, no other may start a process that inherits the open file.
#[test]
fn programs_are_found_and_replace_locus() {
    let place = Place::new();
    let (home, path) = (place.home.path(), place.path.path());

    let missing = place.run(&["gate", "serve", "x"]);
    assert_eq!(missing.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&missing.stderr),
        "error: `locus-gate` is neither beside `locus` nor on the path; \
         build it with `cargo build --release -p locus-attestation --features kubernetes`\n"
    );
    let missing = place.run(&["agent"]);
    assert!(String::from_utf8_lossy(&missing.stderr).ends_with("--features tpm`\n"));

    // On the path, with every argument as it was given, and its own exit code.
    let echo = "printf '%s|' \"$0\" \"$@\"; exit 7";
    script(path, "locus-gate", echo, 0o755);
    let found = place.run(&["gate", "--help", "-x", "a b", "--", "init"]);
    assert_eq!(found.status.code(), Some(7));
    let said = String::from_utf8_lossy(&found.stdout).into_owned();
    let said = said.strip_prefix(&*path.to_string_lossy()).unwrap();
    assert_eq!(said, "/locus-gate|--help|-x|a b|--|init|");
    for (command, passed) in [
        ("attest", "attest|demo|"),
        ("deploy", "deploy|demo|"),
        ("reference", "reference|demo|"),
    ] {
        let found = place.run(&[command, "demo"]);
        assert!(String::from_utf8_lossy(&found.stdout).ends_with(passed));
    }

    // What stands beside `locus` comes first, unless it cannot be run.
    let beside = script(home, "locus-gate", "echo beside $$; kill -TERM $$", 0o644);
    assert_eq!(place.run(&["gate"]).status.code(), Some(7));
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o755)).unwrap();
    let child = place
        .locus(&["gate"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id();
    let killed = child.wait_with_output().unwrap();
    assert_eq!(killed.status.signal(), Some(15), "signals are its own");
    assert_eq!(
        String::from_utf8_lossy(&killed.stdout),
        format!("beside {id}\n"),
        "it is the process that was started"
    );

    std::fs::write(&beside, "#!/nowhere/at/all\n").unwrap();
    let broken = place.run(&["gate"]);
    assert_eq!(broken.status.code(), Some(2));
    let said = String::from_utf8_lossy(&broken.stderr).into_owned();
    assert!(said.starts_with("error: cannot start `"), "{said}");
}
