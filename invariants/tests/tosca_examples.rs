//! The examples of TOSCA services: those that are sound, and the one with mistakes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::path::Path;

use locus_core::Sources;
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_invariants::{Options, check_loaded};

/// What is told of an example, as `line code`.
fn told(name: &str) -> Vec<(usize, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tosca");
    let text = std::fs::read(path.join(name)).expect("the example is there");
    let loader = MemoryLoader::new().with(name, text);
    let tosca = Registry::builtin().named("tosca").unwrap();
    let mut sources = Sources::new();
    let loaded = tosca.load(&Request::of([name]), &loader, &mut sources);
    assert!(!loaded.graph.is_empty(), "{name}");
    let report = check_loaded(&loaded, &Options::default());
    assert_eq!(report.unchecked, []);
    let all = loaded.diagnostics.iter().chain(&report.findings);
    let mut told: Vec<(usize, String)> = all
        .map(|diagnostic| {
            let at = sources.start(diagnostic.primary().expect("a place"));
            (at.line, diagnostic.code.clone())
        })
        .collect();
    told.sort();
    told
}

#[test]
fn sound_examples_are_sound() {
    for name in [
        "compute.yaml",
        "database.yaml",
        "two-tier.yaml",
        "network.yaml",
        "service.yaml",
        "open.yaml",
        "lifecycle.yaml",
    ] {
        assert_eq!(told(name), [], "{name}");
    }
}

#[test]
fn every_mistake_is_told() {
    let told = told("mistakes.yaml");
    let text = include_str!("../../examples/tosca/mistakes.yaml");
    let mut expected = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((_, codes)) = line.split_once('#') else {
            continue;
        };
        expected.extend(
            codes
                .split(',')
                .map(|code| (number + 1, code.trim().to_owned())),
        );
    }
    expected.sort();
    assert_eq!(told, expected);
}
