//! Every example in the documentation is run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![root.join("README.md")];
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// The fenced blocks of a page in one language, with the line each starts at.
fn blocks(page: &Path, language: &str) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        match &mut open {
            Some(_) if line.trim_start().starts_with("```") => blocks.extend(open.take()),
            Some((_, block)) => {
                block.push_str(line);
                block.push('\n');
            }
            None if line.trim() == format!("```{language}") => {
                open = Some((number + 1, String::new()));
            }
            None => {}
        }
    }
    blocks
}

#[test]
fn alloy_blocks_run_as_they_expect() {
    let mut ran = 0;
    for page in pages() {
        for (line, model) in blocks(&page, "alloy") {
            let mut child = Command::new(env!("CARGO_BIN_EXE_locus"))
                .args(["run", "-"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the binary starts");
            let mut stdin = child.stdin.take().expect("standard input is piped");
            stdin.write_all(model.as_bytes()).unwrap();
            drop(stdin);
            let output = child.wait_with_output().unwrap();
            assert!(
                output.status.success(),
                "{}:{line}\n{}{}",
                page.display(),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            ran += 1;
        }
    }
    assert!(ran > 0, "there are examples");
}

/// Times and sizes differ from run to run, and the number of rules grows.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = match line.split_once("  [") {
            Some((before, after)) if after.ends_with("clauses]") => before,
            _ => line,
        };
        let line = match line.rsplit_once(", ") {
            Some((before, after)) if after.ends_with(" ms)") => before,
            _ => line,
        };
        let line = match line.rsplit_once(", ") {
            Some((before, after)) if after.ends_with(" rules") => before,
            _ => line,
        };
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[test]
fn console_blocks_show_what_is_printed() {
    let mut ran = 0;
    for page in pages() {
        // Its commands are run in a folder of their own, by `tests/writing_rules.rs`.
        if page.ends_with("writing-rules.md") {
            continue;
        }
        for (line, block) in blocks(&page, "console") {
            let (command, expected) = block.split_once('\n').unwrap();
            // What is typed at a named machine (`node-1# ...`) is run by the walk-through of the attestation crate.
            let at_machine = |(machine, _): (&str, &str)| {
                let mut name = machine.bytes();
                !machine.is_empty() && name.all(|b| b.is_ascii_alphanumeric() || b == b'-')
            };
            if command.split_once(['#', '$']).is_some_and(at_machine) {
                continue;
            }
            let args = command
                .strip_prefix("$ locus ")
                .expect("a block starts with a call");
            let output = Command::new(env!("CARGO_BIN_EXE_locus"))
                .args(args.split_whitespace())
                .current_dir(env!("CARGO_MANIFEST_DIR"))
                .output()
                .expect("the binary starts");
            assert_eq!(
                without_times(&String::from_utf8_lossy(&output.stdout)),
                without_times(expected),
                "{}:{line}",
                page.display()
            );
            ran += 1;
        }
    }
    assert!(ran > 0, "there are examples");
}
