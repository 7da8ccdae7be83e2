//! The demonstration of a cluster, with the real programs.

use std::path::Path;
use std::process::Command;

use crate::town::{ONE, is_there};

#[test]
fn the_demonstration_says_what_the_manual_shows() {
    if !is_there() {
        return;
    }
    let _one = ONE.blocking_lock();
    let output = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .args(["demo", "--agent"])
        .arg(env!("CARGO_BIN_EXE_locus-agent"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{said}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/gate.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, shown) = page.split_once("$ locus gate demo\n").unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    // What comes after it depends on how far the log was read when it was changed.
    let end = "worker-1: its log was changed";
    let (told, rest) = told.split_once(end).unwrap();
    let (shown, _) = shown.split_once(end).unwrap();
    assert_eq!(without_times(told), without_times(shown));
    for word in [
        "WorkerUntrusted",
        "Evicted",
        "kubectl get agents",
        "Untrusted",
    ] {
        assert!(rest.contains(word), "{word}: {rest}");
    }
}

/// Times differ from run to run, and so does the room for them.
fn without_times(text: &str) -> Vec<Vec<&str>> {
    let is_time =
        |word: &&str| word.ends_with('s') && word.starts_with(|c: char| c.is_ascii_digit());
    text.lines()
        .map(|line| {
            line.split_whitespace()
                .filter(|word| !is_time(word))
                .collect()
        })
        .collect()
}
