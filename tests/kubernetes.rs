//! `locus check` on Kubernetes manifests, as a user calls it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[cfg(unix)]
mod around;
mod linter;
mod reach;
mod scale;
mod standards;
mod verdicts;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_locus"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1");
    command
}

fn locus(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().expect("the binary starts")
}

/// The codes of what is found and of what is unchecked, and the exit code.
fn codes(output: &Output) -> (Vec<String>, usize, i32) {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let codes = findings.map(|finding| finding["rule"].as_str().unwrap().to_owned());
    let unchecked = report["unchecked"].as_array().unwrap().len();
    (codes.collect(), unchecked, output.status.code().unwrap())
}

fn found(folder: &Path, args: &[&str]) -> (Vec<String>, usize, i32) {
    let mut all = vec!["check", "--format", "json"];
    all.extend(args);
    codes(&locus(folder, &all))
}

fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n";
const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: i:1\n    envFrom:\n    - configMapRef: {name: a}\n";

#[test]
fn a_folder_is_one_project() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(found(root, &["examples/kubernetes/shop"]), (vec![], 0, 0));
    let (mut broken, _, exit) = found(root, &["examples/kubernetes/broken-shop"]);
    broken.sort();
    let expected = [
        "K8S004",
        "K8S011",
        "K8S015",
        "K8S033",
        "K8S056",
        "K8S084",
        "K8S100",
        "K8S114",
        "K8S345",
        "k8s-unknown-field",
    ];
    assert_eq!((broken, exit), (expected.map(str::to_owned).to_vec(), 1));
    let folder = project(&[("k8s/pod.yaml", POD), ("k8s/deep/config.yaml", CONFIG)]);
    assert_eq!(found(folder.path(), &["k8s"]), (vec![], 0, 0));
    let both = ["k8s/pod.yaml", "k8s/deep/config.yaml"];
    assert_eq!(found(folder.path(), &both), (vec![], 0, 0));
    let alone = found(folder.path(), &["k8s/pod.yaml"]);
    assert_eq!(alone.0, ["K8S004"]);
}

/// As `kubectl` does, with the list of a kind and not with `List`.
#[test]
fn items_take_version_and_kind_from_the_list_of_a_kind() {
    let item = "- metadata: {name: a}\n  data: {k: v}\n";
    let list = |kind: &str| format!("apiVersion: v1\nkind: {kind}\nitems:\n{item}");
    let folder = project(&[
        ("typed.yaml", &list("ConfigMapList")),
        ("untyped.yaml", &list("List")),
    ]);
    assert_eq!(found(folder.path(), &["typed.yaml"]), (vec![], 0, 0));
    let untyped = found(folder.path(), &["untyped.yaml"]);
    assert_eq!(untyped.0, ["k8s-document"]);
}

#[test]
fn standard_input_is_a_project() {
    let folder = project(&[]);
    let mut child = command(folder.path(), &["check", "--format", "json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let text = format!("---\n# Source: chart/templates/pod.yaml\n{POD}---\n{CONFIG}");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(codes(&output), (vec![], 0, 0));
}

#[test]
fn what_must_be_rendered_first_is_said_once() {
    let folder = project(&[
        ("chart/Chart.yaml", "apiVersion: v2\nname: shop\n"),
        ("chart/values.yaml", "services: {}\n"),
        (
            "chart/templates/pod.yaml",
            "{{- if .Values.a }}\napiVersion: v1\n{{- end }}\n",
        ),
        (
            "chart/templates/b.yaml",
            "apiVersion: v1\nkind: {{ .Values.kind }}\n",
        ),
        ("base/kustomization.yaml", "resources: [pod.yaml]\n"),
        ("base/pod.yaml", POD),
    ]);
    assert_eq!(found(folder.path(), &["chart"]), (vec![], 1, 2));
    assert_eq!(found(folder.path(), &["base"]), (vec![], 1, 2));
}

#[test]
fn a_kind_that_nothing_defines_is_unchecked() {
    let thing = "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 9}\n";
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.org}\nspec:\n  group: example.org\n  scope: Cluster\n  names: {plural: things, kind: Thing}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n              size: {type: integer, maximum: 5}\n";
    let folder = project(&[("thing.yaml", thing), ("crd.yaml", definition)]);
    assert_eq!(found(folder.path(), &["thing.yaml"]), (vec![], 1, 2));
    let given = found(folder.path(), &["thing.yaml", "--crd", "crd.yaml"]);
    assert_eq!(given, (vec!["k8s-value".to_owned()], 0, 1));
}

/// The settings of a program are no objects, and have no names.
#[test]
fn settings_of_programs_are_no_manifests() {
    let folder = project(&[
        (
            "k8s/audit.yaml",
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n",
        ),
        (
            "k8s/admission.yaml",
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: []\n",
        ),
        ("k8s/config.yaml", CONFIG),
    ]);
    let (codes, _, _) = found(folder.path(), &["k8s"]);
    assert_eq!(codes, Vec::<String>::new());
}

#[test]
fn a_release_serves_some_kinds() {
    let budget = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a}\n";
    let folder = project(&[("a.yaml", budget)]);
    let newest = found(folder.path(), &["a.yaml"]);
    assert_eq!(newest.0, ["k8s-removed-api"]);
    let refused = locus(
        folder.path(),
        &["check", "a.yaml", "--kubernetes-version", "1.99"],
    );
    assert_eq!(refused.status.code(), Some(3));
}

/// `KUBERNETES_EXAMPLES` is a checkout of kubernetes/examples, `KUBERNETES_VERDICTS` what a server of 1.36 says of its files:
/// lines of JSON with `file` and `accepted`.
#[test]
fn verdicts_are_those_of_the_api_server() {
    let given =
        std::env::var_os("KUBERNETES_EXAMPLES").zip(std::env::var_os("KUBERNETES_VERDICTS"));
    let Some((folder, verdicts)) = given else {
        eprintln!("not run: KUBERNETES_EXAMPLES and KUBERNETES_VERDICTS are not set");
        return;
    };
    let mut differ = Vec::new();
    let verdicts = fs::read_to_string(verdicts).unwrap();
    for line in verdicts.lines() {
        let verdict: Value = serde_json::from_str(line).unwrap();
        let file = verdict["file"].as_str().unwrap();
        let args = [
            "check",
            "--format",
            "json",
            "--kubernetes-version",
            "1.36",
            file,
        ];
        let output = locus(Path::new(&folder), &args);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut findings = report["findings"].as_array().unwrap().iter();
        let refused = findings.any(|finding| finding["severity"] == "error");
        let unchecked = !report["unchecked"].as_array().unwrap().is_empty();
        if verdict["accepted"].as_bool() == Some(refused || unchecked) {
            differ.push(file.to_owned());
        }
    }
    assert_eq!(differ, Vec::<String>::new());
}
