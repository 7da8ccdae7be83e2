//! What holds for every language that comes with the program.

use locus_core::Sources;

use super::*;
use crate::loader::MemoryLoader;
use crate::yaml::{Limits, parse};

fn kind_of(text: &str) -> Option<&'static str> {
    let mut sources = Sources::new();
    let file = sources.add("x", text);
    let parsed = parse(&sources, file, &Limits::default());
    let found = Registry::builtin().by_content(&parsed.documents)?;
    Some(found.kind.name)
}

#[test]
fn a_configuration_of_any_language_is_loaded_in_one_way() {
    let loader = MemoryLoader::new()
        .with("a.yaml", "heat_template_version: rocky\nresources: {}\n")
        .with("b.yaml", "services:\n  web:\n    image: nginx:1.27\n");
    let registry = Registry::builtin();
    for (path, language, locations) in [("a.yaml", "hot", 0), ("b.yaml", "compose", 2)] {
        let mut sources = Sources::new();
        let language = registry.named(language).unwrap();
        let loaded = language.load(&Request::of([path]), &loader, &mut sources);
        assert_eq!(loaded.language, language.name());
        assert_eq!(loaded.graph.len(), locations);
        assert_eq!(loaded.files, [path]);
    }
    assert!(registry.named("cobol").is_none());
}

#[test]
fn a_file_that_is_not_there_is_told() {
    for language in Registry::builtin().languages() {
        let mut sources = Sources::new();
        let loader = MemoryLoader::new();
        let loaded = language.load(&Request::of(["a.yaml"]), &loader, &mut sources);
        let told = loaded.diagnostics.len() + loaded.unchecked.len();
        assert_eq!(told, 1, "{}", language.name());
    }
}

#[test]
fn languages_declare_nothing_that_conflicts() {
    assert_eq!(Registry::builtin().conflicts(), Vec::<String>::new());
}

#[test]
fn the_files_of_compose_are_known_by_name() {
    let registry = Registry::builtin();
    for name in [
        "compose.yaml",
        "a/docker-compose.yml",
        "compose.override.yml",
    ] {
        let found = registry.by_name(name).unwrap();
        assert_eq!(found.language.name(), "compose", "{name}");
    }
    for name in ["a.yaml", "compose", "compose.json", "my-compose.yaml"] {
        assert!(registry.by_name(name).is_none(), "{name}");
    }
}

#[test]
fn an_override_is_a_part_of_the_project_that_it_changes() {
    let compose = Registry::builtin().named("compose").unwrap();
    let kind = &compose.kinds()[0];
    let found = |path| Found {
        path,
        kind,
        named: ".",
    };
    let all = [
        found("a/compose.yml"),
        found("a/compose.override.yaml"),
        found("b/compose.override.yaml"),
    ];
    let loader = MemoryLoader::new().with("b/compose.yaml", "");
    let projects = compose.projects(&all, &loader);
    let files: Vec<_> = projects.iter().map(|p| p.files[0].as_str()).collect();
    assert_eq!(files, ["a/compose.yml", "b/compose.yaml"]);
}

#[test]
fn a_template_is_told_by_its_first_line() {
    let registry = Registry::builtin();
    for text in [
        "heat_template_version: rocky\n",
        "# why\r\n\r\n---\r\nheat_template_version:\r\n",
    ] {
        let found = registry.by_first_line(text).unwrap();
        assert_eq!(found.kind.name, "Heat template", "{text:?}");
    }
    for text in [
        "",
        "a: 1\nheat_template_version: rocky\n",
        "heat_template_version:rocky\n",
        " heat_template_version: rocky\n",
        "\"heat_template_version: \": 1\n",
        "... \nheat_template_version: rocky\n",
    ] {
        assert!(registry.by_first_line(text).is_none(), "{text:?}");
    }
}

#[test]
fn each_language_is_told_by_its_content() {
    let cases = [
        ("heat_template_version: rocky\n", Some("Heat template")),
        (
            "resources:\n  a:\n    type: OS::Heat::None\n",
            Some("Heat template"),
        ),
        (
            "AWSTemplateFormatVersion: '2010-09-09'\n",
            Some("CFN-style Heat template"),
        ),
        ("parameters:\n  a: 1\n", Some("Heat environment")),
        ("resource_registry: {}\n", Some("Heat environment")),
        ("services:\n  web:\n    image: a\n", Some("Compose file")),
        ("version: '3'\nvolumes: {a: }\n", Some("Compose file")),
        ("apiVersion: v1\nkind: Pod\n", Some("Kubernetes manifest")),
        (
            "---\n---\napiVersion: v1\nkind: Pod\n",
            Some("Kubernetes manifest"),
        ),
        (
            "apiVersion: v1\nkind: Pod\nservices: {}\n",
            Some("Kubernetes manifest"),
        ),
        (
            "tosca_definitions_version: tosca_2_0\n",
            Some("TOSCA service template"),
        ),
        ("kind: Pod\nservices: {}\n", Some("Compose file")),
        (
            "apiVersion: apps/v1\nkid: Pod\n",
            Some("Kubernetes manifest"),
        ),
        ("apiVersion: 1\ndatasources: []\n", None),
        ("hello: world\n", None),
        ("- a\n", None),
        ("", None),
    ];
    for (text, expected) in cases {
        assert_eq!(kind_of(text), expected, "{text}");
    }
}

#[test]
fn a_section_of_the_settings_is_read_by_what_its_language_declares() {
    use locus_core::value::{Item, Value};
    let mut sources = Sources::new();
    let file = sources.add("locus.toml", "x".repeat(100));
    let span = |at| locus_core::Span::new(file, at, at + 1);
    let item = |value, at| Item::new(value, span(at));
    let field = |name: &str, value, at| Field {
        name: name.into(),
        key: span(at),
        item: item(value, at + 1),
    };
    let fields = [
        field("rules", Value::Null, 0),
        field("profiles", Value::List(vec![item(Value::str("a"), 10)]), 2),
        field("env_files", Value::str("../x.env"), 4),
        field("target", Value::str("swarn"), 6),
        field("nods", Value::Int(1i64.into()), 8),
        field("nodes", Value::str("three"), 20),
    ];
    let compose = Registry::builtin().with_section("compose").unwrap();
    let mut diagnostics = Vec::new();
    let section = settings::read(compose, &fields, &["rules"], "a/b", &mut diagnostics);
    let texts = |name| section.inputs.texts(name).collect::<Vec<_>>();
    assert_eq!(texts("profile"), ["a"]);
    assert_eq!(texts("env-file"), ["a/x.env"]);
    let told: Vec<(String, Option<usize>)> = diagnostics
        .iter()
        .map(|d| {
            (
                d.message.clone(),
                d.primary().map(|span| span.start as usize),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (
                "`swarn` is not a value of `target`; did you mean `swarm`?".to_owned(),
                Some(7)
            ),
            ("`nods` is not a setting of `[compose]`".to_owned(), Some(8)),
            ("`nodes` takes a whole number".to_owned(), Some(21)),
        ]
    );
}
