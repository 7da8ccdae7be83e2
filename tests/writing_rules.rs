//! `docs/writing-rules.md`, step by step: its files are written, its commands are run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::Command;

/// Times differ from run to run, and the number of rules grows.
fn without_times(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(" (") {
        Some((before, after)) if after.ends_with(" ms)") => before.to_owned(),
        _ => line.trim_end().to_owned(),
    };
    text.lines().map(|one| line(one) + "\n").collect()
}

#[test]
fn every_step_works_as_the_page_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = root.join("docs/writing-rules.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut files, mut commands) = (0, 0);
    let mut name: Option<&str> = None;
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(path) = line
            .strip_prefix('`')
            .and_then(|rest| rest.strip_suffix("`:"))
        {
            name = Some(path);
        }
        let Some(language) = line.strip_prefix("```").filter(|one| !one.is_empty()) else {
            continue;
        };
        let mut block = String::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| *line != "```") {
            block.push_str(line);
            block.push('\n');
        }
        let at = number + 1;
        if language == "console" {
            let (command, expected) = block.split_once('\n').unwrap();
            let args = command.strip_prefix("$ locus ").expect("a call of locus");
            let output = Command::new(env!("CARGO_BIN_EXE_locus"))
                .args(args.split_whitespace())
                .current_dir(folder.path())
                .output()
                .unwrap();
            let printed = String::from_utf8(output.stdout).unwrap();
            assert_eq!(
                without_times(&printed),
                without_times(expected),
                "line {at}"
            );
            assert!(output.stderr.is_empty(), "line {at}");
            commands += 1;
        } else {
            let name = name
                .take()
                .unwrap_or_else(|| panic!("line {at}: a file has a name"));
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, block).unwrap();
            files += 1;
        }
    }
    assert!(
        files >= 5 && commands >= 4,
        "{files} files, {commands} commands"
    );
}
