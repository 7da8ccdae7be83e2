//! Pod Security Standards: each form of each control, in each release.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{found, locus, project};

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
