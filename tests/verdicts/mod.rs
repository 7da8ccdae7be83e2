//! Objects of the control plane, and expressions, beside what Kubernetes 1.36.3 says of them.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

/// A name, `refused` or `accepted`, and an object in JSON.
const OBJECTS: &str = include_str!("../server/control_plane.txt");

#[test]
fn the_control_plane_refuses_these_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = BTreeSet::new();
    for line in OBJECTS.lines() {
        let mut words = line.splitn(3, ' ');
        let (name, verdict) = (words.next().unwrap(), words.next().unwrap());
        fs::write(
            folder.path().join(format!("{name}.json")),
            words.next().unwrap(),
        )
        .unwrap();
        if verdict == "refused" {
            refused.insert(name.to_owned());
        }
    }
    let version = [
        "check",
        "--format",
        "json",
        "--kubernetes-version",
        "1.36",
        ".",
    ];
    let output = super::locus(folder.path(), &version);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let found = findings.filter(|finding| {
        finding["severity"] == "error" && finding["rule"].as_str().unwrap().starts_with("k8s-")
    });
    let found = found.map(|finding| {
        let file = finding["file"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap();
        file.trim_end_matches(".json").to_owned()
    });
    assert_eq!(found.collect::<BTreeSet<_>>(), refused);
}
