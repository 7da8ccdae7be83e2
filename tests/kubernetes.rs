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
mod reach;

use std::collections::{BTreeMap, BTreeSet};
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

/// The rules of Pod Security Standards that are broken, with the file of each.
fn standards(folder: &Path, args: &[&str]) -> Vec<(String, String)> {
    let mut all = vec!["check", "--format", "json", "--fail-on", "never"];
    all.extend(args);
    let output = locus(folder, &all);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let findings = report["findings"].as_array().unwrap().iter();
    let found = findings.filter_map(|finding| {
        let rule = finding["rule"].as_str().unwrap();
        let file = finding["file"].as_str().unwrap_or("");
        let name = file.rsplit('/').next().unwrap_or(file);
        rule.starts_with("K8S1")
            .then(|| (name.to_owned(), rule.to_owned()))
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    found.dedup();
    found
}

/// A pod that meets every standard, but for fields of the pod and the container.
fn secure_pod(pod: &str, container: &str) -> String {
    let indent = |text: &str, by: &str| -> String {
        text.lines().map(|line| format!("{by}{line}\n")).collect()
    };
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n{}  containers:\n  - name: c\n    image: i:1\n{}",
        indent(pod, "  "),
        indent(container, "    ")
    )
}

const CONTEXT: &str =
    "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}";
const LOCKED: &str =
    "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}";

/// Each form of each control: the file, the level, the first and the last release in which it is refused, and the rule.
#[test]
fn standards_are_those_of_each_release() {
    const LAST: u8 = 37;
    let pod = |pod: &str, container: &str| secure_pod(pod, container);
    let base = |container: &str| secure_pod("", container);
    let with = |more: &str| {
        secure_pod(
            &format!(
                "securityContext: {{runAsNonRoot: true, seccompProfile: {{type: RuntimeDefault}}, {more}}}"
            ),
            LOCKED,
        )
    };
    let annotated = |key: &str, value: &str| {
        secure_pod(CONTEXT, LOCKED).replace(
            "  name: p\n",
            &format!("  name: p\n  annotations:\n    {key}: {value}\n"),
        )
    };
    let sysctl = |name: &str| with(&format!("sysctls: [{{name: {name}, value: \"1\"}}]"));
    let windows = "os: {name: windows}\nsecurityContext: {runAsNonRoot: true}";
    let own_users = "hostUsers: false\nsecurityContext: {seccompProfile: {type: RuntimeDefault}}";
    type Case<'c> = (&'c str, String, &'c str, u8, u8, &'c str);
    let cases: Vec<Case<'_>> = vec![
        (
            "privileged",
            base("securityContext: {privileged: true}"),
            "baseline",
            0,
            LAST,
            "K8S100",
        ),
        (
            "network",
            pod("hostNetwork: true", ""),
            "baseline",
            0,
            LAST,
            "K8S101",
        ),
        (
            "pid",
            pod("hostPID: true", ""),
            "baseline",
            0,
            LAST,
            "K8S101",
        ),
        (
            "ipc",
            pod("hostIPC: true", ""),
            "baseline",
            0,
            LAST,
            "K8S101",
        ),
        (
            "path",
            pod("volumes: [{name: v, hostPath: {path: /srv}}]", ""),
            "baseline",
            0,
            LAST,
            "K8S102",
        ),
        (
            "port",
            base("ports: [{containerPort: 80, hostPort: 80}]"),
            "baseline",
            0,
            LAST,
            "K8S103",
        ),
        (
            "capability",
            base("securityContext: {capabilities: {add: [NET_RAW]}}"),
            "baseline",
            0,
            LAST,
            "K8S104",
        ),
        (
            "proc",
            base("securityContext: {procMount: Unmasked}"),
            "baseline",
            0,
            LAST,
            "K8S105",
        ),
        (
            "proc-users",
            pod("hostUsers: false", "securityContext: {procMount: Unmasked}"),
            "baseline",
            0,
            34,
            "K8S105",
        ),
        (
            "seccomp-note",
            annotated("seccomp.security.alpha.kubernetes.io/pod", "unconfined"),
            "baseline",
            0,
            18,
            "K8S106",
        ),
        (
            "seccomp-container-note",
            annotated(
                "container.seccomp.security.alpha.kubernetes.io/c",
                "unconfined",
            ),
            "baseline",
            0,
            18,
            "K8S106",
        ),
        (
            "seccomp-pod",
            pod("securityContext: {seccompProfile: {type: Unconfined}}", ""),
            "baseline",
            19,
            LAST,
            "K8S106",
        ),
        (
            "seccomp",
            base("securityContext: {seccompProfile: {type: Unconfined}}"),
            "baseline",
            19,
            LAST,
            "K8S106",
        ),
        (
            "no-seccomp",
            pod("securityContext: {runAsNonRoot: true}", LOCKED),
            "restricted",
            19,
            LAST,
            "K8S107",
        ),
        (
            "selinux-user",
            with("seLinuxOptions: {user: u}"),
            "baseline",
            0,
            LAST,
            "K8S108",
        ),
        (
            "selinux-type",
            base("securityContext: {seLinuxOptions: {type: spc_t}}"),
            "baseline",
            0,
            LAST,
            "K8S108",
        ),
        (
            "selinux-engine",
            with("seLinuxOptions: {type: container_engine_t}"),
            "baseline",
            0,
            30,
            "K8S108",
        ),
        (
            "sysctl",
            sysctl("net.core.somaxconn"),
            "baseline",
            0,
            LAST,
            "K8S109",
        ),
        (
            "sysctl-ports",
            sysctl("net.ipv4.ip_local_reserved_ports"),
            "baseline",
            0,
            26,
            "K8S109",
        ),
        (
            "sysctl-keepalive",
            sysctl("net.ipv4.tcp_keepalive_time"),
            "baseline",
            0,
            28,
            "K8S109",
        ),
        (
            "sysctl-memory",
            sysctl("net.ipv4.tcp_rmem"),
            "baseline",
            0,
            31,
            "K8S109",
        ),
        (
            "apparmor",
            base("securityContext: {appArmorProfile: {type: Unconfined}}"),
            "baseline",
            0,
            LAST,
            "K8S110",
        ),
        (
            "apparmor-note",
            annotated(
                "container.apparmor.security.beta.kubernetes.io/c",
                "unconfined",
            ),
            "baseline",
            0,
            LAST,
            "K8S110",
        ),
        (
            "process",
            base("securityContext: {windowsOptions: {hostProcess: true}}"),
            "baseline",
            0,
            LAST,
            "K8S111",
        ),
        (
            "probe",
            base("livenessProbe: {tcpSocket: {port: 80, host: example.org}}"),
            "baseline",
            34,
            LAST,
            "K8S112",
        ),
        (
            "hook",
            base("lifecycle: {preStop: {httpGet: {port: 80, host: example.org}}}"),
            "baseline",
            34,
            LAST,
            "K8S112",
        ),
        (
            "volume",
            pod(
                &format!("{CONTEXT}\nvolumes: [{{name: v, nfs: {{server: s, path: /}}}}]"),
                LOCKED,
            ),
            "restricted",
            0,
            LAST,
            "K8S113",
        ),
        (
            "escalation",
            pod(CONTEXT, "securityContext: {capabilities: {drop: [ALL]}}"),
            "restricted",
            8,
            LAST,
            "K8S114",
        ),
        (
            "escalation-windows",
            pod(windows, "securityContext: {capabilities: {drop: [ALL]}}"),
            "restricted",
            8,
            24,
            "K8S114",
        ),
        (
            "root",
            pod(
                "securityContext: {seccompProfile: {type: RuntimeDefault}}",
                LOCKED,
            ),
            "restricted",
            0,
            LAST,
            "K8S115",
        ),
        (
            "root-users",
            pod(own_users, LOCKED),
            "restricted",
            0,
            34,
            "K8S115",
        ),
        (
            "user",
            with("runAsUser: 0"),
            "restricted",
            23,
            LAST,
            "K8S116",
        ),
        (
            "user-users",
            pod(
                "hostUsers: false\nsecurityContext: {runAsNonRoot: true, runAsUser: 0, seccompProfile: {type: RuntimeDefault}}",
                LOCKED,
            ),
            "restricted",
            23,
            34,
            "K8S116",
        ),
        (
            "drop",
            pod(
                CONTEXT,
                "securityContext: {allowPrivilegeEscalation: false}",
            ),
            "restricted",
            22,
            LAST,
            "K8S117",
        ),
        (
            "drop-windows",
            pod(
                windows,
                "securityContext: {allowPrivilegeEscalation: false}",
            ),
            "restricted",
            22,
            24,
            "K8S117",
        ),
        (
            "add",
            pod(
                CONTEXT,
                "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [CHOWN]}}",
            ),
            "restricted",
            22,
            LAST,
            "K8S118",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, text, level, ..) in &cases {
        let path = folder.path().join(level).join(format!("{name}.yaml"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // The releases where something changes, and those before them.
    for release in [
        0, 7, 8, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, LAST,
    ] {
        for level in ["baseline", "restricted"] {
            let version = format!("1.{release}");
            let args = [
                level,
                "--pod-security",
                level,
                "--kubernetes-version",
                &version,
            ];
            let found = standards(folder.path(), &args);
            for (name, _, of, first, last, rule) in &cases {
                if *of != level {
                    continue;
                }
                let file = format!("{name}.yaml");
                let is = found.contains(&(file, (*rule).to_owned()));
                let expected = (*first..=*last).contains(&release);
                assert_eq!(is, expected, "{name} at {level} of 1.{release}: {found:?}");
            }
        }
    }
}

#[test]
fn labels_of_a_namespace_ask_for_standards() {
    let namespace = |labels: &[(&str, &str)]| {
        let mut text =
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n  labels:\n    a: b\n"
                .to_owned();
        for (key, value) in labels {
            text.push_str(&format!("    pod-security.kubernetes.io/{key}: {value}\n"));
        }
        text
    };
    let pod =
        secure_pod("hostNetwork: true", "").replace("name: p\n", "name: p\n  namespace: shop\n");
    let check = |labels: &[(&str, &str)]| -> Vec<(String, String)> {
        let folder = project(&[("k/ns.yaml", &namespace(labels)), ("k/pod.yaml", &pod)]);
        let output = locus(folder.path(), &["check", "--format", "json", "k"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let of = |finding: &Value, key: &str| finding[key].as_str().unwrap().to_owned();
        findings
            .map(|finding| (of(finding, "rule"), of(finding, "severity")))
            .collect()
    };
    let says = |rule: &str, severity: &str| (rule.to_owned(), severity.to_owned());
    assert_eq!(check(&[]), [says("K8S051", "warning")]);
    assert_eq!(check(&[("enforce", "baseline")]), [says("K8S101", "error")]);
    assert_eq!(check(&[("warn", "baseline")]), [says("K8S101", "warning")]);
    assert_eq!(check(&[("audit", "baseline")]), [says("K8S101", "warning")]);
    assert_eq!(
        check(&[("enforce", "privileged")]),
        [says("K8S051", "warning")]
    );
    // What is enforced is told as that, and what a stricter standard only warns of as a warning.
    let both = check(&[
        ("enforce", "baseline"),
        ("warn", "restricted"),
        ("warn-version", "v1.7"),
    ]);
    assert_eq!(both, [says("K8S115", "warning"), says("K8S101", "error")]);
    assert_eq!(
        check(&[("enforce", "baselin")])[0],
        says("k8s-label", "error")
    );
    let version = check(&[("enforce", "baseline"), ("enforce-version", "v1")]);
    assert!(version.contains(&says("k8s-label", "error")), "{version:?}");
}

#[test]
fn settings_ask_for_a_standard() {
    let settings = "[kubernetes]\npod-security = \"baseline\"\n";
    let folder = project(&[
        ("locus.toml", settings),
        ("pod.yaml", &secure_pod("hostPID: true", "")),
    ]);
    assert_eq!(found(folder.path(), &["pod.yaml"]).0, ["K8S101"]);
    let refused = locus(
        folder.path(),
        &["check", "pod.yaml", "--pod-security", "strict"],
    );
    assert_eq!(refused.status.code(), Some(3));
}

/// `POD_SECURITY_TESTDATA` is `test/testdata` of the Go module `k8s.io/pod-security-admission`: pods that pass and that fail, by
/// level and release; the names of those that fail say which control they are about.
#[test]
fn verdicts_are_those_of_pod_security_admission() {
    let Some(data) = std::env::var_os("POD_SECURITY_TESTDATA") else {
        eprintln!("not run: POD_SECURITY_TESTDATA is not set");
        return;
    };
    let rules: &[(&str, &[&str])] = &[
        ("allowprivilegeescalation", &["K8S114"]),
        ("apparmorprofile", &["K8S110"]),
        ("capabilities_baseline", &["K8S104", "K8S118"]),
        ("capabilities_restricted", &["K8S117", "K8S118"]),
        ("hostnamespaces", &["K8S101"]),
        ("hostpathvolumes", &["K8S102", "K8S113"]),
        ("hostports", &["K8S103"]),
        ("hostprobesandhostlifecycle", &["K8S112"]),
        ("privileged", &["K8S100"]),
        ("procmount", &["K8S105"]),
        ("restrictedvolumes", &["K8S113"]),
        ("runasnonroot", &["K8S115"]),
        ("runasuser", &["K8S116"]),
        ("seccompprofile_baseline", &["K8S106"]),
        ("seccompprofile_restricted", &["K8S106", "K8S107"]),
        ("selinuxoptions", &["K8S108"]),
        ("sysctls", &["K8S109"]),
        ("windowshostprocess", &["K8S111"]),
    ];
    let (mut checked, mut wrong) = (0, Vec::new());
    for level in ["baseline", "restricted"] {
        let releases = fs::read_dir(Path::new(&data).join(level)).unwrap();
        for release in releases.map(|release| release.unwrap().path()) {
            let version = release
                .file_name()
                .unwrap()
                .to_string_lossy()
                .replace('v', "");
            for verdict in ["pass", "fail"] {
                let folder = release.join(verdict);
                let args = [
                    "--pod-security",
                    level,
                    "--kubernetes-version",
                    &version,
                    ".",
                ];
                let found = standards(&folder, &args);
                for file in fs::read_dir(&folder).unwrap() {
                    let name = file.unwrap().file_name().into_string().unwrap();
                    checked += 1;
                    let broken = found.iter().filter(|(file, _)| *file == name);
                    let broken: Vec<&str> = broken.map(|(_, rule)| rule.as_str()).collect();
                    let control = rules
                        .iter()
                        .filter(|(control, _)| name.starts_with(control));
                    let control = control.max_by_key(|(control, _)| control.len());
                    let right = match (verdict, control) {
                        ("pass", _) => broken.is_empty(),
                        (_, Some((_, rules))) => broken.iter().any(|rule| rules.contains(rule)),
                        _ => false,
                    };
                    if !right {
                        wrong.push(format!("{level} {version} {verdict} {name}: {broken:?}"));
                    }
                }
            }
        }
    }
    eprintln!("{checked} pods");
    assert!(checked > 4000, "{checked} pods");
    assert_eq!(wrong, Vec::<String>::new());
}

/// How our verdict on kube-linter's own manifests compares with that of one of its checks; docs/kubernetes.md says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    /// The same objects.
    Same,
    /// All that it finds, and more.
    More,
    /// Only some of what it finds.
    Fewer,
    /// Some that it does not find, and not all that it finds.
    Differs,
}

/// Its checks, the rules that stand for them with a word of their message where several checks are one rule, and how they
/// compare.
const CHECKS: &[(&str, &[&str], Compared)] = &[
    ("access-to-create-pods", &["K8S062"], Compared::Same),
    ("access-to-secrets", &["K8S063"], Compared::Same),
    ("cluster-admin-role-binding", &["K8S055"], Compared::Same),
    (
        "dangling-horizontalpodautoscaler",
        &["K8S010"],
        Compared::Same,
    ),
    ("dangling-ingress", &["K8S002", "K8S003"], Compared::Same),
    ("dangling-networkpolicy", &["K8S011"], Compared::Fewer),
    (
        "dangling-networkpolicypeer-podselector",
        &["K8S019"],
        Compared::Same,
    ),
    ("dangling-service", &["K8S001"], Compared::Differs),
    ("dangling-servicemonitor", &["K8S020"], Compared::Same),
    ("default-service-account", &["K8S064"], Compared::Fewer),
    (
        "deprecated-service-account-field",
        &["K8S054"],
        Compared::Same,
    ),
    ("dnsconfig-options", &["K8S090"], Compared::Fewer),
    ("docker-sock", &["K8S052"], Compared::Same),
    ("drop-net-raw-capability", &["K8S067"], Compared::More),
    ("duplicate-env-var", &["K8S037"], Compared::Same),
    ("env-value-from", &["K8S004", "K8S005"], Compared::Same),
    ("env-var-secret", &["K8S058"], Compared::More),
    ("exposed-services", &["K8S074"], Compared::Same),
    ("host-ipc", &["K8S051:memory"], Compared::Same),
    ("host-network", &["K8S051:network"], Compared::Same),
    ("host-pid", &["K8S051:processes"], Compared::Same),
    ("hpa-minimum-three-replicas", &["K8S078"], Compared::Same),
    (
        "invalid-target-ports",
        &["k8s-value:port", "k8s-name:port", "K8S015"],
        Compared::Same,
    ),
    (
        "job-ttl-seconds-after-finished",
        &["K8S089"],
        Compared::Same,
    ),
    ("latest-tag", &["K8S057"], Compared::Fewer),
    ("liveness-port", &["K8S018:liveness"], Compared::Same),
    ("readiness-port", &["K8S018:readiness"], Compared::Same),
    ("startup-port", &["K8S018:startup"], Compared::Same),
    ("minimum-three-replicas", &["K8S077"], Compared::Fewer),
    (
        "mismatching-selector",
        &["K8S013", "k8s-missing-field:selector"],
        Compared::Differs,
    ),
    ("no-anti-affinity", &["K8S079"], Compared::Fewer),
    (
        "no-extensions-v1beta",
        &["k8s-removed-api:extensions"],
        Compared::Same,
    ),
    ("no-liveness-probe", &["K8S081"], Compared::Fewer),
    ("no-node-affinity", &["K8S080"], Compared::Fewer),
    ("no-read-only-root-fs", &["K8S066"], Compared::Same),
    ("no-readiness-probe", &["K8S082"], Compared::Fewer),
    ("no-rolling-update-strategy", &["K8S083"], Compared::Fewer),
    ("non-existent-service-account", &["K8S007"], Compared::Same),
    ("non-isolated-pod", &["K8S061"], Compared::Fewer),
    ("pdb-max-unavailable", &["K8S084:lets"], Compared::Same),
    ("pdb-min-available", &["K8S084:keeps"], Compared::Fewer),
    (
        "pdb-unhealthy-pod-eviction-policy",
        &["K8S086"],
        Compared::Same,
    ),
    ("priority-class-name", &["K8S088"], Compared::Same),
    (
        "privilege-escalation-container",
        &["K8S059", "K8S050"],
        Compared::Same,
    ),
    ("privileged-container", &["K8S050"], Compared::Same),
    ("privileged-ports", &["K8S070"], Compared::Same),
    ("read-secret-from-env-var", &["K8S072"], Compared::Same),
    ("required-annotation-email", &["K8S091"], Compared::Fewer),
    ("required-label-owner", &["K8S092"], Compared::Fewer),
    ("restart-policy", &["K8S087"], Compared::Fewer),
    ("run-as-non-root", &["K8S065"], Compared::Same),
    ("scc-deny-privileged-container", &["K8S073"], Compared::Same),
    ("schema-validation", &["k8s-*"], Compared::More),
    ("sensitive-host-mounts", &["K8S053"], Compared::Same),
    ("sorted-keys", &["K8S094"], Compared::More),
    ("ssh-port", &["K8S071"], Compared::Same),
    ("unsafe-proc-mount", &["K8S069"], Compared::Same),
    ("unsafe-sysctls", &["K8S060"], Compared::Same),
    ("unset-cpu-requirements", &["K8S075"], Compared::Same),
    ("unset-memory-requirements", &["K8S076"], Compared::Same),
    ("use-namespace", &["K8S093"], Compared::Fewer),
    ("wildcard-in-rules", &["K8S056"], Compared::Same),
    ("writable-host-mount", &["K8S068"], Compared::Same),
];

/// The objects of a file, with their first and last line, as kube-linter names them.
fn objects(text: &str) -> Vec<(usize, usize, String)> {
    let mut objects = Vec::new();
    let mut start = 1;
    let lines: Vec<&str> = text.lines().collect();
    let ends = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.starts_with("---"));
    let ends: Vec<usize> = ends
        .map(|(at, _)| at + 1)
        .chain([lines.len() + 1])
        .collect();
    for end in ends {
        let (mut kind, mut name, mut namespace, mut inside) = ("", "", "", false);
        for line in &lines[start - 1..(end - 1).max(start - 1)] {
            let value = |key: &str| {
                let value = line.strip_prefix(key)?;
                let value = value.split(" #").next().unwrap_or(value);
                Some(value.trim().trim_matches(['"', '\'']))
            };
            if !line.starts_with([' ', '#']) && !line.is_empty() {
                inside = line.starts_with("metadata:");
            }
            kind = value("kind:").unwrap_or(kind);
            if inside {
                name = value("  name:").unwrap_or(name);
                namespace = value("  namespace:").unwrap_or(namespace);
            }
        }
        let called = match namespace {
            "" => format!("{kind}/{name}"),
            _ => format!("{kind}/{namespace}/{name}"),
        };
        objects.push((start, end, called));
        start = end;
    }
    objects
}

/// `KUBE_LINTER` is a checkout of stackrox/kube-linter, `KUBE_LINTER_VERDICTS` what its checks say of its own manifests: lines of
/// JSON with `file`, `check` and `object`.
#[test]
fn verdicts_are_those_of_kube_linter() {
    let given = std::env::var_os("KUBE_LINTER").zip(std::env::var_os("KUBE_LINTER_VERDICTS"));
    let Some((folder, verdicts)) = given else {
        eprintln!("not run: KUBE_LINTER and KUBE_LINTER_VERDICTS are not set");
        return;
    };
    type Found = BTreeMap<(String, String), BTreeSet<String>>;
    let mut theirs: Found = BTreeMap::new();
    let (mut files, mut named) = (BTreeSet::new(), BTreeSet::new());
    for line in fs::read_to_string(verdicts).unwrap().lines() {
        let verdict: Value = serde_json::from_str(line).unwrap();
        let of = |key: &str| verdict[key].as_str().unwrap().to_owned();
        files.insert(of("file"));
        named.insert((of("file"), of("object")));
        theirs
            .entry((of("file"), of("check")))
            .or_default()
            .insert(of("object"));
    }
    let mut ours: Found = BTreeMap::new();
    for file in &files {
        let text = fs::read_to_string(Path::new(&folder).join(file)).unwrap();
        let objects = objects(&text);
        let args = [
            "check",
            "--format",
            "json",
            "--all-rules",
            "--fail-on",
            "never",
            file,
        ];
        let output = locus(Path::new(&folder), &args);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        for finding in report["findings"].as_array().unwrap() {
            let line = usize::try_from(finding["line"].as_u64().unwrap_or(0)).unwrap();
            let object = objects
                .iter()
                .find(|(start, end, _)| (*start..*end).contains(&line));
            let (rule, said) = (
                finding["rule"].as_str().unwrap(),
                finding["message"].as_str().unwrap(),
            );
            for (check, rules, _) in CHECKS {
                let stands = rules.iter().any(|known| {
                    let (known, word) = known.split_once(':').unwrap_or((known, ""));
                    let same = match known.strip_suffix('*') {
                        Some(start) => rule.starts_with(start),
                        None => rule == known,
                    };
                    same && said.contains(word)
                });
                if let Some((_, _, object)) = object.filter(|_| stands) {
                    let key = (file.clone(), (*check).to_owned());
                    ours.entry(key).or_default().insert(object.clone());
                }
            }
        }
    }
    let none = BTreeSet::new();
    let mut wrong = Vec::new();
    for (check, _, expected) in CHECKS {
        let (mut more, mut fewer) = (Vec::new(), Vec::new());
        for file in &files {
            let key = (file.clone(), (*check).to_owned());
            let (a, b) = (
                ours.get(&key).unwrap_or(&none),
                theirs.get(&key).unwrap_or(&none),
            );
            // The manifests may be newer than the verdicts: objects that no check speaks of are left out.
            let named = |object: &&String| named.contains(&(file.clone(), (*object).clone()));
            more.extend(
                a.difference(b)
                    .filter(named)
                    .map(|object| format!("{file} {object}")),
            );
            fewer.extend(b.difference(a).map(|object| format!("{file} {object}")));
        }
        let compared = match (more.is_empty(), fewer.is_empty()) {
            (true, true) => Compared::Same,
            (false, true) => Compared::More,
            (true, false) => Compared::Fewer,
            (false, false) => Compared::Differs,
        };
        if compared != *expected {
            wrong.push(format!(
                "{check}: {compared:?}: ours only {more:?}, theirs only {fewer:?}"
            ));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
