//! What two builds of Locus find in the same configurations.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What tells findings apart: rule, severity, file, and where it starts and ends.
type Finding = (String, String, String, [u64; 4]);

/// Checks paths with two programs and prints what only one of them finds, with flags that both are given.
pub(crate) fn run(
    before: &Path,
    after: &Path,
    paths: &[PathBuf],
    flags: &[String],
) -> io::Result<()> {
    let mut differences = 0;
    let mut same = 0;
    for path in paths {
        let [old, new] = [before, after].map(|program| found(program, path, flags));
        let (old, new) = (old?, new?);
        for (only, one, other) in [("-", &old, &new), ("+", &new, &old)] {
            for (finding, message) in one {
                if other.contains_key(finding) {
                    same += usize::from(only == "-");
                    continue;
                }
                let (rule, severity, file, [line, column, ..]) = finding;
                println!("{only} {file}:{line}:{column}: {severity}: {message} [{rule}]");
                differences += 1;
            }
        }
    }
    println!("{same} findings are the same, {differences} differ");
    match differences {
        0 => Ok(()),
        _ => Err(io::Error::other("say why each of them differs")),
    }
}

/// The findings of a program, what it could not check included, and what they say.
fn found(program: &Path, path: &Path, flags: &[String]) -> io::Result<BTreeMap<Finding, String>> {
    let output = Command::new(program)
        .args(["check", "--format", "json"])
        .args(flags)
        .arg(path)
        .output()
        .map_err(crate::about(program))?;
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        io::Error::other(format!("{}: {error}: {said}", program.display()))
    })?;
    let text = |finding: &Value, key: &str| {
        let value = finding.get(key).and_then(Value::as_str);
        value.unwrap_or("").to_owned()
    };
    let number = |finding: &Value, key: &str| finding.get(key).and_then(Value::as_u64).unwrap_or(0);
    let mut found = BTreeMap::new();
    for list in ["findings", "unchecked", "undecided"] {
        for finding in report
            .get(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let place =
                ["line", "column", "end_line", "end_column"].map(|key| number(finding, key));
            let severity = match list {
                "findings" => text(finding, "severity"),
                _ => "not checked".to_owned(),
            };
            let key = (
                text(finding, "rule"),
                severity,
                text(finding, "file"),
                place,
            );
            found.insert(key, text(finding, "message"));
        }
    }
    Ok(found)
}
