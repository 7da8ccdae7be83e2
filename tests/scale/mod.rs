//! Numbers of pods that autoscalers decide, and pods that have no place.

use std::fs;

use serde_json::Value;

use super::{codes, found, locus, project};

/// A namespace with a quota for 8 pods, and a Deployment that an autoscaler scales.
const SHOP: &str = "apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: pods, namespace: shop}
spec: {hard: {pods: '8'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers: [{name: api, image: 'example/api:1.0'}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: api, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  minReplicas: 2
  maxReplicas: 10
";

#[test]
fn a_witness_shows_again_what_breaks_for_a_number_of_pods() {
    let folder = project(&[("shop.yaml", SHOP)]);
    assert_eq!(found(folder.path(), &["shop.yaml"]).0, ["K8S365"]);
    let args = [
        "check",
        "--format",
        "json",
        "--all-inputs",
        "--witness",
        "w",
        "shop.yaml",
    ];
    let report: Value = serde_json::from_slice(&locus(folder.path(), &args).stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let violable: Vec<&Value> = findings.filter(|one| one["rule"] == "K8S364").collect();
    let [only] = violable.as_slice() else {
        panic!("{report:#}");
    };
    let message = only["message"].as_str().unwrap();
    assert!(
        message.starts_with("with `replicas of shop/Deployment/api` = `9`, "),
        "{message}"
    );
    let mut files = fs::read_dir(folder.path().join("w")).unwrap();
    let witness = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none());
    let witness = witness.display().to_string();
    let again = found(folder.path(), &["shop.yaml", "--replicas-file", &witness]);
    assert!(again.0.contains(&"K8S364".to_owned()), "{again:?}");
    let again = found(folder.path(), &["shop.yaml", "--replicas", "api=9"]);
    assert!(again.0.contains(&"K8S364".to_owned()), "{again:?}");
    let fewer = found(folder.path(), &["shop.yaml", "--replicas", "shop/api=8"]);
    assert_eq!(fewer.0, ["K8S365"]);
    // What is given is not open.
    let given = [
        "shop.yaml",
        "--all-inputs",
        "--replicas",
        "shop/Deployment/api=8",
    ];
    assert_eq!(found(folder.path(), &given).0, ["K8S365"]);
}

#[test]
fn numbers_of_pods_that_cannot_be_are_refused() {
    let folder = project(&[
        ("shop.yaml", SHOP),
        (
            "numbers.yaml",
            "shop/Deployment/api: 11\nshop/Deployment/web: 1\n",
        ),
        ("list.yaml", "- shop/Deployment/api\n"),
    ]);
    for wrong in ["api=11", "api=1", "web=2", "api=many", "api=-1"] {
        let (codes, _, exit) = found(folder.path(), &["shop.yaml", "--replicas", wrong]);
        assert!(
            codes.contains(&"k8s-replicas".to_owned()),
            "{wrong}: {codes:?}"
        );
        assert_eq!(exit, 1);
    }
    let told = locus(
        folder.path(),
        &["check", "shop.yaml", "--replicas-file", "numbers.yaml"],
    );
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("numbers.yaml:1:22"), "{told}");
    assert!(told.contains("never to 11"), "{told}");
    assert!(told.contains("did you mean"), "{told}");
    let (codes, ..) = found(
        folder.path(),
        &["shop.yaml", "--replicas-file", "list.yaml"],
    );
    assert!(codes.contains(&"k8s-replicas".to_owned()), "{codes:?}");
    let (codes, ..) = found(
        folder.path(),
        &["shop.yaml", "--replicas-file", "none.yaml"],
    );
    assert!(codes.contains(&"io".to_owned()), "{codes:?}");
}

/// A node for so many pods, and Deployments with their number of pods and class.
fn cluster(cpu: usize, deployments: &[(&str, usize, &str)]) -> String {
    let mut text = format!(
        "apiVersion: v1\nkind: Node\nmetadata: {{name: one}}\nstatus: {{allocatable: {{cpu: '{cpu}', pods: '99'}}}}\n"
    );
    for (name, value, more) in [
        ("high", 1000, ""),
        ("polite", 1000, "preemptionPolicy: Never\n"),
        ("usual", 5, "globalDefault: true\n"),
    ] {
        text += &format!(
            "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n{more}"
        );
    }
    for (name, count, class) in deployments {
        let class = match *class {
            "" => String::new(),
            class => format!("priorityClassName: {class}, "),
        };
        text += &format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: {count}\n  \
             strategy: {{rollingUpdate: {{maxUnavailable: 0, maxSurge: 1}}}}\n  selector: {{matchLabels: {{app: {name}}}}}\n  \
             template:\n    metadata: {{labels: {{app: {name}}}}}\n    \
             spec: {{{class}containers: [{{name: c, image: 'example/c:1', resources: {{requests: {{cpu: 1}}}}}}]}}\n"
        );
    }
    text
}

#[test]
fn pods_of_lower_priority_stay_pending() {
    let text = cluster(
        4,
        &[
            ("front", 3, "high"),
            ("batch", 4, ""),
            ("agent", 1, "system-node-critical"),
        ],
    );
    let folder = project(&[("all.yaml", &text)]);
    let output = locus(folder.path(), &["place", "all.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).replace("\n", " ");
    let told: String = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("`default/batch`: 4 of 4 pods stay pending (priority 5)"),
        "{told}"
    );
    assert!(
        !told.contains("front`:") && !told.contains("agent`:"),
        "{told}"
    );
    let output = locus(folder.path(), &["check", "--format", "json", "all.yaml"]);
    assert!(codes(&output).0.contains(&"K8S300".to_owned()));
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        report.contains("4 of 4 pods stay pending (priority 5)"),
        "{report}"
    );
}

#[test]
fn an_update_drives_out_what_has_a_lower_priority() {
    let check = |deployments: &[(&str, usize, &str)]| {
        let folder = project(&[("all.yaml", &cluster(4, deployments))]);
        let mut found = found(folder.path(), &["all.yaml"]).0;
        found.sort();
        found.dedup();
        found
    };
    // The pod that is added takes the place of one of `batch`; one more of `batch` has no room itself.
    assert_eq!(
        check(&[("front", 2, "high"), ("batch", 2, "")]),
        ["K8S304", "K8S360"]
    );
    // One that waits for room drives nobody out, and nobody gives way to its equals.
    assert_eq!(
        check(&[("front", 2, "polite"), ("batch", 2, "")]),
        ["K8S360"]
    );
    assert_eq!(
        check(&[("front", 2, "high"), ("back", 2, "polite")]),
        ["K8S360"]
    );
    // There is room for one more.
    assert_eq!(check(&[("front", 2, "high"), ("batch", 1, "")]), [""; 0]);
}
