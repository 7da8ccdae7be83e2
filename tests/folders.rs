//! A whole folder, checked as somebody new to it would.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn locus(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus"))
        .arg("check")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the binary starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["--format", "json"], arguments].concat();
    serde_json::from_slice(&locus(folder, &arguments).stdout).expect("one JSON object")
}

const GOOD: &str =
    "heat_template_version: rocky\nresources:\n  a: { type: OS::Heat::RandomString }\n";
const JINJA: &str = "heat_template_version: rocky
resources:
{% for role in roles %}
  {{role.name}}:
    type: OS::Heat::None
{% endfor %}
";

#[test]
fn what_belongs_to_nobody_is_one_line() {
    let folder = folder(&[
        ("good.yaml", GOOD),
        ("env.yaml", "parameter_defaults: {}\n"),
        ("other/env.yaml", "parameters: { a: 1 }\n"),
        ("play.yaml", "- hosts: all\n"),
        ("empty.yaml", ""),
        ("role.j2.yaml", JINJA),
        ("role.yaml", JINJA),
    ]);
    let output = locus(folder.path(), &["."]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let said = text(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(lines[0].starts_with("6 files not checked: "), "{said}");
    for part in [
        "2 Heat environments",
        "2 Jinja templates",
        "1 not a configuration",
        "`-v` lists them",
    ] {
        assert!(lines[0].contains(part), "{part}: {said}");
    }
    assert!(
        lines[1].starts_with("0 errors, 0 warnings in 1 file; deployable"),
        "{said}"
    );

    let all = text(&locus(folder.path(), &["-v", "."]));
    for file in [
        "env.yaml",
        "other/env.yaml",
        "play.yaml",
        "role.j2.yaml",
        "role.yaml",
    ] {
        let listed = |line: &str| line.starts_with("not checked: ") && line.contains(file);
        assert!(all.lines().any(listed), "{file}: {all}");
    }
    let report = json(folder.path(), &["."]);
    assert_eq!(report["skipped"].as_array().unwrap().len(), 6);
}

#[test]
fn a_file_that_was_named_is_not_passed_over() {
    let files = [
        ("env.yaml", "parameter_defaults: {}\n", 2, "-e env.yaml"),
        ("play.yaml", "- hosts: all\n", 2, "tells what it is"),
        ("role.j2.yaml", JINJA, 2, "Jinja template"),
        ("role.yaml", JINJA, 2, "render it first"),
        ("empty.yaml", "", 1, "is empty"),
    ];
    let named: Vec<(&str, &str)> = files.iter().map(|&(name, text, ..)| (name, text)).collect();
    let folder = folder(&named);
    for (name, _, code, part) in files {
        let output = locus(folder.path(), &[name]);
        assert_eq!(output.status.code(), Some(code), "{name}");
        assert!(text(&output).contains(part), "{name}: {}", text(&output));
        // Once, not line by line.
        let report = json(folder.path(), &[name]);
        let said = ["findings", "unchecked"].map(|key| report[key].as_array().unwrap().len());
        assert_eq!(said.iter().sum::<usize>(), 1, "{name}: {report}");
    }
}

#[test]
fn the_exit_code_of_a_folder_is_that_of_its_findings() {
    let folder = folder(&[
        ("play.yaml", "- hosts: all\n"),
        (
            "bad.yaml",
            "heat_template_version: rocky\nresources:\n  a: { type: OS::Nova::Sever }\n",
        ),
    ]);
    assert_eq!(locus(folder.path(), &["."]).status.code(), Some(1));
}

#[test]
fn the_settings_name_environments() {
    let template = "heat_template_version: rocky
resources:
  a: { type: Acme::Thing }
";
    let folder = folder(&[
        ("templates/main.yaml", template),
        ("templates/thing.yaml", GOOD),
        (
            "environments/acme.yaml",
            "resource_registry:\n  Acme::Thing: ../templates/thing.yaml\n",
        ),
    ]);
    let before = json(folder.path(), &["templates"]);
    let broken = ["findings", "unchecked"].map(|key| before[key].as_array().unwrap().len());
    assert_ne!(
        broken.iter().sum::<usize>(),
        0,
        "the type is not known: {before}"
    );
    std::fs::write(
        folder.path().join("locus.toml"),
        "[heat]\nenvironments = [\"environments/acme.yaml\"]\n",
    )
    .unwrap();
    let output = locus(folder.path(), &["templates"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(
        text(&output).contains("in 1 file; deployable"),
        "{}",
        text(&output)
    );
}

/// What is deployed with an environment is checked with it, whether it is named or found.
#[test]
fn a_template_with_an_environment_is_found() {
    let part = "heat_template_version: rocky\nparameters: { size: { type: number } }\nresources:\n  \
                v: { type: OS::Cinder::Volume, properties: { size: { get_param: size } } }\n";
    let main = "heat_template_version: rocky\nresources:\n  \
                a: { type: 'Acme::Disk', properties: { size: big } }\n";
    let folder = folder(&[
        ("main.yaml", main),
        ("part.yaml", part),
        (
            "env.yaml",
            "resource_registry: { 'Acme::Disk': part.yaml }\n",
        ),
    ]);
    let given = json(folder.path(), &[".", "-e", "env.yaml"]);
    std::fs::write(
        folder.path().join("locus.toml"),
        "[heat]\nenvironments = ['env.yaml']\n",
    )
    .unwrap();
    let found = json(folder.path(), &["."]);
    let named = json(folder.path(), &["main.yaml"]);
    assert_eq!(named["findings"].as_array().unwrap().len(), 1, "{named}");
    assert_eq!(found["findings"], named["findings"]);
    assert_eq!(given["findings"], named["findings"]);
    assert_eq!(found["stats"]["files"], 1, "the other is a part of it");
}

/// All files of a project are counted.
#[test]
fn the_summary_counts_files() {
    let object = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ a: b }}\n")
    };
    let folder = folder(&[
        ("k/a.yaml", &object("a")),
        ("k/b.yaml", &object("b")),
        ("good.yaml", GOOD),
    ]);
    let report = json(folder.path(), &["."]);
    assert_eq!(report["stats"]["files"], 3, "{report}");
}

#[test]
fn a_file_has_one_name_however_it_is_found() {
    let folder = folder(&[("sub/a.yaml", "heat_template_version: 2018-08-31\n")]);
    for paths in [&["."][..], &["sub"], &["./sub"], &["sub/a.yaml"]] {
        let report = json(folder.path(), paths);
        let findings = report["findings"].as_array().unwrap();
        assert!(!findings.is_empty(), "a template without resources");
        for finding in findings {
            assert_eq!(finding["file"], "sub/a.yaml", "{paths:?}");
        }
    }
}

#[test]
fn an_unknown_rule_cannot_be_ignored() {
    let folder = folder(&[("a.yaml", GOOD)]);
    for (word, said) in [
        ("HOT22l", "there is no rule `HOT22l`; did you mean `HOT22"),
        (
            "nonsense",
            "there is no rule `nonsense`; `locus rules` lists all",
        ),
        ("syntax", "`syntax` cannot be turned off"),
    ] {
        let output = locus(folder.path(), &["--ignore", word, "a.yaml"]);
        assert_eq!(output.status.code(), Some(3), "{word}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(said), "{errors}");
    }
    for word in ["HOT221", "hot221"] {
        let output = locus(folder.path(), &["--ignore", word, "a.yaml"]);
        assert_eq!(output.status.code(), Some(0), "{word}");
    }
}

const OWN: &str = "module hot/own

open hot/vocabulary

/** ACME001 no-network warning: a stack has no network
 * message: there is no network
 * at: r
 * why: we need one.
 * source: our handbook
 */
assert Networked { all r: Resource | some OS_Neutron_Net }
";

#[test]
fn a_rule_of_ones_own_can_be_ignored() {
    let folder = folder(&[
        ("sub/a.yaml", GOOD),
        ("own.als", OWN),
        ("locus.toml", "[heat]\nrules = [\"own.als\"]\n"),
    ]);
    let output = locus(folder.path(), &["--ignore", "ACME001", "sub"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let output = locus(folder.path(), &["--ignore", "ACME002", "sub"]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_broken_rule_file_is_reported_where_it_is() {
    let folder = folder(&[
        ("a.yaml", GOOD),
        ("rules/own.als", &OWN.replace("OS_Neutron_Net", "Nowhere")),
        ("locus.toml", "[heat]\nrules = [\"rules/own.als\"]\n"),
    ]);
    let output = locus(folder.path(), &["a.yaml"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(!text(&output).contains("deployable"), "{}", text(&output));
    let report = json(folder.path(), &["a.yaml"]);
    let findings = report["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        let file = finding["file"].as_str().unwrap();
        assert!(folder.path().join(file).is_file(), "{finding}");
    }
    assert!(
        findings
            .iter()
            .any(|finding| finding["file"] == "rules/own.als"),
        "{report}"
    );
}

/// What is told about a folder: code, file and line.
fn told(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let all = json(folder, arguments);
    let found = all["findings"].as_array().expect("a list").iter();
    let told = found.map(|one| {
        let file = one["file"].as_str().unwrap_or_default();
        let file = file.rsplit('/').next().unwrap_or(file);
        format!("{} {file}:{}", one["rule"].as_str().unwrap(), one["line"])
    });
    told.collect()
}

/// Types of TOSCA, with a mistake on the last line.
fn types(imports: &str, name: &str) -> String {
    format!(
        "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [{imports}]\nnode_types:\n  {name}:\n    derived_from: \
         my.nodes.Missing\n"
    )
}

#[test]
fn files_that_import_each_other_are_checked_once() {
    let folder = folder(&[
        ("a.yaml", &types("b.yaml", "A")),
        ("b.yaml", &types("c.yaml, gone.yaml", "B")),
        ("c.yaml", &types("a.yaml, gone.yaml", "C")),
    ]);
    let gone = ["b.yaml:2", "c.yaml:2"].map(|at| format!("tosca-import {at}"));
    assert_eq!(told(folder.path(), &["."]), gone);
    let folder = self::folder(&[
        ("a.yaml", &types("b.yaml", "A")),
        ("b.yaml", &types("a.yaml", "B")),
        ("c.yaml", &types("a.yaml", "C")),
    ]);
    let all = ["a.yaml:5", "b.yaml:5", "c.yaml:5"].map(|at| format!("tosca-unknown-type {at}"));
    assert_eq!(told(folder.path(), &["."]), all);
    // Each by itself, as for reasons, tells the same.
    assert_eq!(told(folder.path(), &["--explain", "."]), all);
    assert_eq!(told(folder.path(), &["a.yaml", "."]), all);
}

#[test]
fn a_service_that_another_imports_is_checked_too() {
    let service = |imports: &str| {
        format!(
            "tosca_definitions_version: tosca_simple_yaml_1_3\nimports: [{imports}]\ntopology_template:\n  node_templates:\n    n: \
             {{type: tosca.nodes.Missing}}\n"
        )
    };
    let folder = folder(&[
        ("a.yaml", &service("b.yaml")),
        ("b.yaml", &service("a.yaml, t.yaml")),
    ]);
    let types = types("", "T");
    std::fs::write(folder.path().join("t.yaml"), types).unwrap();
    let all = ["a.yaml:5", "b.yaml:5", "t.yaml:5"].map(|at| format!("tosca-unknown-type {at}"));
    assert_eq!(told(folder.path(), &["."]), all);
}

#[test]
fn tosca_in_xml_is_named() {
    let xml = "<?xml version=\"1.0\"?>\n<Definitions id=\"a\" targetNamespace=\"a\" xmlns=\"http://docs.oasis-open.org/tosca/ns/2011/12\"/>\n";
    let folder = folder(&[("a.tosca", xml)]);
    let output = locus(folder.path(), &["a.tosca"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output);
    let message = "`a.tosca` is a TOSCA 1.0 document in XML and was not checked";
    assert!(said.contains(message), "{said}");
}
