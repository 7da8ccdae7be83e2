//! The demonstration, with the real programs and real software TPMs.

use std::path::Path;
use std::process::Command;

#[test]
fn the_three_verdicts_are_those_of_the_document() {
    let output = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .args(["attest", "demo", "--agent"])
        .arg(env!("CARGO_BIN_EXE_locus-agent"))
        .output()
        .unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{lines}\n{said}");
    let words = lines.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "default/healthy trusted",
        "default/unknown-file pod untrusted",
        "default/tampered-log worker untrusted",
        "/tmp/miner",
        "template hash",
    ] {
        assert!(words.contains(part), "{part}: {lines}");
    }
    assert_eq!(without_times(lines.trim_end()), without_times(&shown()));
}

#[test]
fn a_demonstration_without_an_agent_says_how_to_get_it() {
    let output = Command::new(env!("CARGO_BIN_EXE_locus-gate"))
        .args(["attest", "demo", "--agent", "/nowhere/locus-agent"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`locus-agent`"), "{said}");
    assert!(said.contains("cargo build"), "{said}");
}

/// What the README shows of it.
fn shown() -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let (_, after) = readme.split_once("$ locus attest demo\n").unwrap();
    let (block, _) = after.split_once("\n```").unwrap();
    block.to_owned()
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
