//! What kube-linter says of its own manifests, beside what Locus says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::locus;

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
