//! What clauses of the standard forbid that OASIS's own tests do not cover: a text for each, and what is told of it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use locus_core::{Severity, Sources};
use locus_frontends::language::{Registry, Request};
use locus_frontends::loader::MemoryLoader;
use locus_invariants::{Options, check_loaded};

const CASES: &str = include_str!("tosca_clauses.txt");

/// What is told of a text: each error as `LINE CODE`, and warnings in brackets where they are asked for.
fn told(text: &str, warnings: bool) -> String {
    let mut loader = MemoryLoader::new();
    loader.insert("service.yaml", text);
    let mut sources = Sources::new();
    let tosca = Registry::builtin().named("tosca").unwrap();
    let loaded = tosca.load(&Request::of(["service.yaml"]), &loader, &mut sources);
    let report = check_loaded(&loaded, &Options::default());
    let mut told: Vec<(usize, String)> = loaded
        .diagnostics
        .iter()
        .chain(&report.findings)
        .filter(|found| warnings || found.severity == Severity::Error)
        .map(|found| {
            let line = found.primary().map_or(0, |span| sources.start(span).line);
            let code = match found.severity {
                Severity::Error => found.code.clone(),
                _ => format!("({})", found.code),
            };
            (line, code)
        })
        .collect();
    told.sort();
    let told: Vec<String> = told
        .iter()
        .map(|(line, code)| format!("{line} {code}"))
        .collect();
    match told.is_empty() {
        true => "nothing".to_owned(),
        false => told.join(", "),
    }
}

#[test]
fn each_clause_is_told_where_it_is_broken() {
    let mut wrong = Vec::new();
    let mut number = 0;
    for case in CASES.split("\n=== ").skip(1) {
        let (head, text) = case.split_once('\n').expect("a case has a text");
        let head: Vec<&str> = head.split(" | ").collect();
        let [name, clause, expected] = head[..] else {
            panic!("`{}` is not NAME | CLAUSE | what is told", head.join(" | "));
        };
        number += 1;
        let told = told(text, expected.contains('('));
        if told != expected {
            wrong.push(format!(
                "{name} ({clause}): {expected}, and told was {told}"
            ));
        }
    }
    assert!(number > 100, "only {number} cases were read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Long chains need time, not stack: types that derive from each other, values whose defaults hold each other, files that
/// import each other.
#[test]
fn long_chains_do_not_exhaust_the_stack() {
    let head = "tosca_definitions_version: tosca_2_0\n";
    let types: String = (1..800)
        .map(|at| format!("  T{at}: {{derived_from: T{}}}\n", at - 1))
        .collect();
    let text = format!(
        "{head}node_types:\n  T0: {{properties: {{p: {{type: string}}}}}}\n{types}service_template:\n  node_templates:\n    a: {{type: T799, properties: {{q: x}}}}\n"
    );
    assert_eq!(
        told(&text, false),
        "805 tosca-missing-property, 805 tosca-unknown-property"
    );
    let values: String = (1..800)
        .map(|at| {
            format!(
                "  T{at}: {{properties: {{p: {{type: T{}, default: {{}}}}}}}}\n",
                at - 1
            )
        })
        .collect();
    let text = format!(
        "{head}data_types:\n  T0: {{properties: {{p: {{type: string, default: x}}}}}}\n{values}node_types:\n  A: {{properties: {{p: {{type: T799, default: {{}}}}}}}}\nservice_template:\n  node_templates:\n    a: {{type: A}}\n"
    );
    assert_eq!(told(&text, false), "nothing");
    let mut loader = MemoryLoader::new();
    for at in 0..700 {
        let text = format!(
            "{head}imports: [f{}.yaml]\nnode_types: {{N{at}: {{derived_from: N{}}}}}\n",
            at + 1,
            at + 1
        );
        loader.insert(&format!("f{at}.yaml"), &text);
    }
    loader.insert("f700.yaml", format!("{head}node_types: {{N700: {{}}}}\n"));
    let mut sources = Sources::new();
    let tosca = Registry::builtin().named("tosca").unwrap();
    let loaded = tosca.load(&Request::of(["f0.yaml"]), &loader, &mut sources);
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.files.len(), 701);
    // What lies above a thousand types is said not to be looked at.
    let chain: String = (0..3000)
        .map(|at| format!("  N{at}: {{derived_from: N{}}}\n", at + 1))
        .collect();
    let text = format!(
        "{head}node_types:\n{chain}  N3000: {{}}\nservice_template:\n  node_templates:\n    a: {{type: N0}}\n"
    );
    let loader = MemoryLoader::new().with("service.yaml", text);
    let loaded = tosca.load(&Request::of(["service.yaml"]), &loader, &mut sources);
    let unchecked: Vec<&str> = loaded.unchecked.iter().map(|one| &*one.message).collect();
    assert!(
        matches!(unchecked.as_slice(), [one] if one.contains("derives from a thousand types")),
        "{unchecked:?}"
    );
}
