//! The demonstration, with the agent's real program and real software TPMs.

use std::path::{Path, PathBuf};

use locus_attestation::demo::DemoArgs;

#[tokio::test(flavor = "multi_thread")]
async fn the_three_verdicts_are_those_of_the_document() {
    let demo = DemoArgs {
        agent: Some(PathBuf::from(env!("CARGO_BIN_EXE_locus-agent"))),
    };
    let mut lines = Vec::new();
    let mut say = |line: String| {
        println!("{line}");
        lines.push(line);
    };
    let verdicts = demo.show(&mut say).await.unwrap();
    let found: Vec<(&str, &str)> = verdicts
        .iter()
        .map(|verdict| (verdict.pod.as_str(), verdict.verdict.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("default/healthy", "trusted"),
            ("default/unknown-file", "pod untrusted"),
            ("default/tampered-log", "worker untrusted"),
        ],
        "{lines:#?}"
    );
    assert!(verdicts[1].reason.contains("/tmp/miner"), "{lines:#?}");
    assert!(verdicts[2].reason.contains("template hash"), "{lines:#?}");
    assert_eq!(without_times(&lines.join("\n")), without_times(&shown()));
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
