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

mod server;

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
        "unmasked",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: c, image: 'i:1', securityContext: {procMount: Unmasked}}]}\n",
    ),
    (
        "unmasked-init",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {hostUsers: true, initContainers: [{name: i, image: 'i:1', securityContext: {procMount: Unmasked}}], containers: [{name: c, image: 'i:1'}]}\n",
    ),
    (
        "unmasked-good",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {hostUsers: false, containers: [{name: c, image: 'i:1', securityContext: {procMount: Unmasked}}]}\n",
    ),
    (
        "masked-good",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: c, image: 'i:1', securityContext: {procMount: Default}}]}\n",
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
    for (name, text) in server::cases() {
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
    // What a rule says of the others, this one is told of without any: the standard forbids what is refused anyway.
    let own = BTreeSet::from(["K8S105.breaks.yaml".to_owned()]);
    assert_eq!(files(&found(&examples)), own);
}

const THERE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {k: v}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: default}\nstringData: {password: hunter2}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n";
const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: i:1\n    resources: {requests: {cpu: 1}}\n    envFrom: [{configMapRef: {name: settings}}]\n    env: [{name: A, valueFrom: {secretKeyRef: {name: key, key: password}}}]\n";

#[cfg(unix)]
#[test]
fn what_a_real_cluster_has_may_be_referred_to() {
    use control_plane::User;
    use std::os::unix::fs::PermissionsExt as _;

    if let Err(missing) = Programs::find() {
        eprintln!("not run: {missing}");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(home.path(), &Part::SERVER).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("there.yaml", THERE);
    write("pod.yaml", POD);
    let there = folder.path().join("there.yaml").display().to_string();
    let made = cluster
        .kubectl(&["create", "namespace", "default"])
        .unwrap();
    assert!(made.status.success() || !made.stderr.is_empty());
    let made = cluster.kubectl(&["apply", "-f", &there]).unwrap();
    let why = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "{why}");
    let status = r#"{"status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}, "capacity": {"cpu": "2", "memory": "4Gi", "pods": "10"}}}"#;
    let patch = [
        "patch",
        "node",
        "n1",
        "--subresource=status",
        "--type=merge",
        "-p",
        status,
    ];
    let made = cluster.kubectl(&patch).unwrap();
    let why = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "{why}");
    // A new node is tainted until its kubelet says that it is ready.
    let taint = ["taint", "node", "n1", "node.kubernetes.io/not-ready-"];
    let made = cluster.kubectl(&taint).unwrap();
    let why = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "{why}");

    // The `kubectl` of the cluster, as that of a user.
    let own = cluster.kubectl_as(User::Admin);
    let words = std::iter::once(own.get_program()).chain(own.get_args());
    let words: Vec<String> = words
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let kubectl = folder.path().join("bin/kubectl");
    fs::create_dir(folder.path().join("bin")).unwrap();
    fs::write(
        &kubectl,
        format!("#!/bin/sh\nexec {} \"$@\"\n", words.join(" ")),
    )
    .unwrap();
    fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).unwrap();
    let locus = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_locus"));
        command.args(args).current_dir(folder.path());
        command
            .env("PATH", folder.path().join("bin"))
            .env("NO_COLOR", "1");
        command.output().unwrap()
    };
    let codes = |output: &std::process::Output| {
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let codes = findings.map(|found| found["rule"].as_str().unwrap().to_owned());
        codes.collect::<BTreeSet<_>>()
    };
    let skip = "--skip=K8S059,K8S072";
    let alone = codes(&locus(&["check", "--format=json", skip, "pod.yaml"]));
    assert!(alone.contains("K8S004"), "{alone:?}");
    let output = locus(&["check", "--format=json", skip, "--cluster", "pod.yaml"]);
    assert_eq!(codes(&output), BTreeSet::new());
    assert_eq!(output.status.code(), Some(0));

    let placed = locus(&["place", "--cluster", "pod.yaml"]);
    let text = String::from_utf8_lossy(&placed.stdout).into_owned();
    assert_eq!(text, "n1  default/p\n");
    let big = POD.replace("cpu: 1", "cpu: 3");
    write("pod.yaml", &big);
    let output = locus(&["check", "--format=json", skip, "--cluster", "pod.yaml"]);
    assert_eq!(codes(&output), BTreeSet::from(["K8S300".to_owned()]));

    // What the server made is what the server takes.
    let live = locus(&["check", "--format=json", "--cluster", "--live"]);
    let text = String::from_utf8_lossy(&live.stdout).into_owned();
    let refused: Vec<String> = codes(&live)
        .into_iter()
        .filter(|code| code.starts_with("k8s-"))
        .collect();
    assert_eq!(refused, Vec::<String>::new(), "{text}");
    assert!(
        !text.contains("aHVudGVyMg"),
        "what Secrets hold is not read"
    );
}
