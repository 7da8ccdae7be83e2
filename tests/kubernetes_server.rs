//! What a real API server says of manifests, beside what `locus check` says.
//!
//! `cargo xtask cluster build` makes the server; without it, this says so and asks nobody.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use control_plane::{Cluster, Part, Programs};
use serde_json::Value;

/// Objects, each with one thing that is wrong or that looks so, of kinds whose schema does not say it.
const CASES: &[(&str, &str)] = &[
    (
        "class-controller",
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: x}\nspec: {controller: nginx}\n",
    ),
    (
        "class-controller-good",
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: x}\nspec: {controller: a.b/c}\n",
    ),
    (
        "class-without-controller",
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: x}\nspec: {}\n",
    ),
    (
        "tls-host",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: x}\nspec: {tls: [{hosts: [A B]}], defaultBackend: {service: {name: s, port: {number: 80}}}}\n",
    ),
    (
        "tls-wildcard",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: x}\nspec: {tls: [{hosts: ['*.a.b'], secretName: s}], defaultBackend: {service: {name: s, port: {number: 80}}}}\n",
    ),
    (
        "tls-secret",
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: x}\nspec: {tls: [{secretName: A_B}], defaultBackend: {service: {name: s, port: {number: 80}}}}\n",
    ),
    (
        "provisioner",
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: x}\nprovisioner: a b\n",
    ),
    (
        "provisioner-good",
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: x}\nprovisioner: Example.org/Disk\n",
    ),
    (
        "driver-policy",
        "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: a.b}\nspec: {fsGroupPolicy: Files}\n",
    ),
    (
        "driver-policy-good",
        "apiVersion: storage.k8s.io/v1\nkind: CSIDriver\nmetadata: {name: a.b}\nspec: {fsGroupPolicy: File}\n",
    ),
    (
        "claim-class",
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: x}\nspec: {accessModes: [ReadWriteOnce], storageClassName: Fast_Disk, resources: {requests: {storage: 1Gi}}}\n",
    ),
    (
        "claim-without-class",
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: x}\nspec: {accessModes: [ReadWriteOnce], storageClassName: '', resources: {requests: {storage: 1Gi}}}\n",
    ),
    (
        "handler",
        "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: x}\nhandler: a_b\n",
    ),
    (
        "handler-good",
        "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: x}\nhandler: runsc\n",
    ),
    (
        "slice-address",
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: x}\naddressType: IPv4\nendpoints: [{addresses: [web]}]\n",
    ),
    (
        "slice-name",
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: x}\naddressType: FQDN\nendpoints: [{addresses: [web.example.org]}]\n",
    ),
    (
        "slice-port",
        "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: x}\naddressType: IPv4\nendpoints: [{addresses: [10.1.1.1]}]\nports: [{name: A_B, port: 80}]\n",
    ),
    (
        "limit-type",
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: x}\nspec: {limits: [{type: Containers, max: {cpu: '1'}}]}\n",
    ),
    (
        "limit-type-good",
        "apiVersion: v1\nkind: LimitRange\nmetadata: {name: x}\nspec: {limits: [{type: Container, max: {cpu: '1'}}]}\n",
    ),
    (
        "quota",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: x}\nspec: {hard: {pod: '1'}}\n",
    ),
    (
        "quota-good",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: x}\nspec: {hard: {pods: '1', requests.cpu: '1', limits.ephemeral-storage: 1Gi, count/deployments.apps: '3', requests.example.org/gpu: '1', services.nodeports: '2', requests.hugepages-2Mi: 1Gi, gold.storageclass.storage.k8s.io/requests.storage: 1Gi}}\n",
    ),
    (
        "quota-storage",
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: x}\nspec: {hard: {storage: 1Gi}}\n",
    ),
    (
        "role-ref",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: x}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a/b}\n",
    ),
    (
        "subject-nowhere",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: x}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects: [{kind: ServiceAccount, name: a}]\n",
    ),
    (
        "subject-here",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: x}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: a}]\n",
    ),
    (
        "webhook-name",
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: x}\nwebhooks: [{name: gate, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://a.b/c'}}]\n",
    ),
    (
        "webhook-good",
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: x}\nwebhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://a.b/c'}}]\n",
    ),
    (
        "webhook-client",
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: x}\nwebhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {}}]\n",
    ),
    (
        "webhook-rule",
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: x}\nwebhooks: [{name: a.b.c, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {url: 'https://a.b/c'}, rules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1]}]}]\n",
    ),
    (
        "scale-policy",
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\nspec: {scaleTargetRef: {kind: Deployment, name: d, apiVersion: apps/v1}, maxReplicas: 2, behavior: {scaleUp: {policies: [{type: Pod, value: 1, periodSeconds: 10}]}}}\n",
    ),
    (
        "scale-period",
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\nspec: {scaleTargetRef: {kind: Deployment, name: d, apiVersion: apps/v1}, maxReplicas: 2, behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 1801}]}}}\n",
    ),
    (
        "scale-select",
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\nspec: {scaleTargetRef: {kind: Deployment, name: d, apiVersion: apps/v1}, maxReplicas: 2, behavior: {scaleUp: {selectPolicy: Most}}}\n",
    ),
    (
        "scale-good",
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\nspec: {scaleTargetRef: {kind: Deployment, name: d, apiVersion: apps/v1}, maxReplicas: 2, behavior: {scaleUp: {selectPolicy: Max, policies: [{type: Percent, value: 1, periodSeconds: 1800}]}}}\n",
    ),
    (
        "target-port-zero",
        "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {ports: [{port: 80, targetPort: 0}]}\n",
    ),
    (
        "target-port",
        "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {ports: [{port: 80, targetPort: 65536}]}\n",
    ),
    (
        "balancer-class",
        "apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {type: LoadBalancer, loadBalancerClass: a b, ports: [{port: 80}]}\n",
    ),
    (
        "alias",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {hostAliases: [{ip: 1.2.3.4, hostnames: [A_B]}], containers: [{name: c, image: 'i:1'}]}\n",
    ),
];

/// Examples of rules that say what the server refuses.
const REFUSED: &[&str] = &[
    "K8S013", "K8S030", "K8S031", "K8S032", "K8S033", "K8S034", "K8S035", "K8S038", "K8S105",
];

/// Refusals that a dry run cannot decide, each with the reason.
const UNTOLD: &[(&str, &str)] = &[
    (
        "no matches for kind",
        "the definition of a custom resource is not installed",
    ),
    (
        "error looking up service account",
        "a dry run does not store the account of the same file",
    ),
    (
        "no PriorityClass with name",
        "a dry run does not store the class of the same file",
    ),
];

/// The files that the server refuses, with what it says.
fn refused(cluster: &Cluster, folder: &Path) -> BTreeMap<String, String> {
    let folder = folder.display().to_string();
    let output = cluster
        .kubectl(&[
            "apply",
            "--dry-run=server",
            "--validate=strict",
            "-f",
            &folder,
        ])
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut refused = BTreeMap::new();
    for line in told.lines().filter(|line| !line.starts_with("Warning")) {
        if UNTOLD.iter().any(|(told, _)| line.contains(told)) {
            continue;
        }
        let name = line.split('"').find(|word| word.ends_with(".yaml"));
        if let Some(name) = name.and_then(|name| name.rsplit('/').next()) {
            refused.insert(name.to_owned(), line.to_owned());
        }
    }
    assert!(!output.stdout.is_empty(), "nothing was accepted: {told}");
    refused
}

/// The files that Locus says the server refuses, with what it says.
fn found(folder: &Path) -> BTreeMap<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(["check", "--format", "json", "--kubernetes-version", "1.36"])
        .arg(folder)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let refused = findings.filter(|finding| {
        finding["severity"] == "error" && finding["rule"].as_str().unwrap().starts_with("k8s-")
    });
    let named = refused.map(|finding| {
        let file = finding["file"].as_str().unwrap();
        let name = file.rsplit('/').next().unwrap();
        (name.to_owned(), finding["message"].to_string())
    });
    named.collect()
}

#[test]
fn verdicts_are_those_of_a_real_server() {
    if let Err(missing) = Programs::find() {
        eprintln!("not run: {missing}");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(home.path(), &Part::SERVER).unwrap();
    let make = |arguments: &[&str]| {
        let made = cluster.kubectl(arguments).unwrap();
        let why = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(
            made.status.success() || why.contains("already exists"),
            "{why}"
        );
    };
    for namespace in ["default", "shop", "ci", "operations", "ops"] {
        make(&["create", "namespace", namespace]);
        make(&["create", "serviceaccount", "default", "-n", namespace]);
    }

    let cases = tempfile::tempdir().unwrap();
    for (name, text) in CASES {
        fs::write(cases.path().join(format!("{name}.yaml")), text).unwrap();
    }
    let (server, own) = (refused(&cluster, cases.path()), found(cases.path()));
    let files = |all: &BTreeMap<String, String>| all.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(files(&own), files(&server), "{own:#?}\n{server:#?}");

    let examples =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("invariants/library/kubernetes/examples");
    let server = refused(&cluster, &examples);
    let expected = REFUSED.iter().map(|rule| format!("{rule}.breaks.yaml"));
    assert_eq!(files(&server), expected.collect(), "{server:#?}");
    assert_eq!(found(&examples), BTreeMap::new());
}
