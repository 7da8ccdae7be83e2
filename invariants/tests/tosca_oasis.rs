//! The conformance tests of OASIS: files with a label that says whether they are valid.
//!
//! Runs when `LOCUS_TOSCA_TESTS` names a clone of oasis-open/tosca-community-contributions and `LOCUS_TOSCA_LABELS` a folder
//! with `tosca-verdicts.jsonl` (file and `expected`) and `tosca-labels-disputed.jsonl` (labels that the standard contradicts).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use locus_core::{Severity, Sources};
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::{LoadError, Loader};
use locus_invariants::{Options, check_loaded};

struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Arc<[u8]>, LoadError> {
        std::fs::read(path)
            .map(Into::into)
            .map_err(|_| LoadError::missing())
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let entries = std::fs::read_dir(path).ok()?.flatten();
        let files = entries.filter(|entry| entry.path().is_file());
        let mut names: Vec<String> = files
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        Some(names)
    }
}

fn rows(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).expect("the labels can be read");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect()
}

#[test]
fn the_tests_of_oasis_get_the_verdicts_they_are_labelled_with() {
    let (Some(tests), Some(labels)) = (
        std::env::var_os("LOCUS_TOSCA_TESTS").map(PathBuf::from),
        std::env::var_os("LOCUS_TOSCA_LABELS").map(PathBuf::from),
    ) else {
        return;
    };
    let disputed: BTreeMap<String, String> = rows(&labels.join("tosca-labels-disputed.jsonl"))
        .iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            (text("file"), text("class"))
        })
        .collect();
    let tosca = Registry::builtin().named("tosca").unwrap();
    let (mut right, mut wrong, mut excused) = (0, Vec::new(), 0);
    for row in rows(&labels.join("tosca-verdicts.jsonl")) {
        let Some(expected) = row["expected"].as_bool() else {
            continue;
        };
        let file = row["file"].as_str().unwrap();
        let path = tests.join(file.strip_prefix("oasis/").unwrap());
        let mut sources = Sources::new();
        let loaded = tosca.load(&Request::of([path.to_string_lossy()]), &Disk, &mut sources);
        let report = check_loaded(&loaded, &Options::default());
        let errors: Vec<String> = loaded
            .diagnostics
            .iter()
            .chain(&report.findings)
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .map(|diagnostic| {
                let at = diagnostic.primary().map_or_else(String::new, |span| {
                    let start = sources.start(span);
                    let name = sources.name(span.file);
                    let name = name.rsplit('/').next().unwrap_or(name);
                    format!("{name}:{}", start.line)
                });
                format!("{at} {}: {}", diagnostic.code, diagnostic.message)
            })
            .collect();
        // Two units with prefixes: an example that the standard's own table forbids (9.1.2.2), as another test says too.
        let against_text = file.ends_with("tosca_2_0/time/s70.yaml");
        let class = if against_text {
            "wrong"
        } else {
            disputed.get(file).map_or("", String::as_str)
        };
        if errors.is_empty() == expected {
            right += 1;
        } else if matches!(class, "wrong" | "network") {
            excused += 1;
        } else {
            wrong.push(format!(
                "{file} is {expected} {class}\n    {}",
                errors.join("\n    ")
            ));
        }
    }
    println!("{right} as labelled, {excused} labels that are wrong or need a network");
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
