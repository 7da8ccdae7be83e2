//! What runs: the gate, and an agent on each worker.

use serde_json::{Value, json};

use super::network::{ADMISSION, AGENT, GATE, JOIN};
use super::{Choice, Component, NAME, NAMESPACE, StoreChoice, secrets};
use crate::cluster::join::AUDIENCE;

/// Who runs the programs that need no rights on their machine.
const USER: u32 = 65534;

/// Workloads, services and budgets.
pub(super) fn objects(choice: &Choice) -> Vec<Value> {
    vec![
        service(
            Component::Gate,
            &[
                ("https", 443, ADMISSION),
                ("gate", GATE, GATE),
                ("join", JOIN, JOIN),
            ],
        ),
        policy(),
        gate(choice),
        agent(choice),
        budget(Component::Gate),
    ]
}

fn service(component: Component, ports: &[(&str, u16, u16)]) -> Value {
    let ports = ports.iter().map(|(name, port, target)| {
        json!({"name": name, "port": port, "targetPort": target, "protocol": "TCP"})
    });
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": component.metadata(),
        "spec": {"selector": component.selector(), "ports": ports.collect::<Vec<_>>()},
    })
}

/// One pod at a time goes when nodes are drained.
fn budget(component: Component) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": component.metadata(),
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": component.selector()},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    })
}

/// What the verifier insists on; to be changed.
fn policy() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "locus-policy", "namespace": NAMESPACE, "labels": Component::Gate.labels()},
        "data": {"policy.toml": "[defaults]\n"},
    })
}

/// A container with no right on its machine.
fn container(component: Component, image: &str, args: &[String]) -> Value {
    json!({
        "name": component.name(),
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": args,
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
            "runAsNonRoot": true,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}},
    })
}

/// A pod of a component; its token is mounted if it asks the API server.
fn pod(component: Component, container: Value, volumes: Value) -> Value {
    json!({
        "metadata": {"labels": component.labels()},
        "spec": {
            "serviceAccountName": component.name(),
            "automountServiceAccountToken": true,
            "enableServiceLinks": false,
            "securityContext": {
                "runAsNonRoot": true, "runAsUser": USER, "runAsGroup": USER, "fsGroup": USER,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "tolerations": tolerations(),
            "containers": [container],
            "volumes": volumes,
        },
    })
}

/// Where the gate runs is not for the gate to decide: it has to run before any worker is trusted.
fn tolerations() -> Value {
    json!([{"key": crate::cluster::names::TAINT, "operator": "Exists", "effect": "NoSchedule"}])
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn secret(name: &str, of: &str) -> Value {
    json!({"name": name, "secret": {"secretName": of, "defaultMode": 0o440}})
}

fn probe(path: &str, port: u16) -> Value {
    json!({"httpGet": {"path": path, "port": port, "scheme": "HTTPS"}, "periodSeconds": 10})
}

fn gate(choice: &Choice) -> Value {
    let component = Component::Gate;
    let listen = format!("0.0.0.0:{GATE}");
    let join = format!("0.0.0.0:{JOIN}");
    let asked = format!("0.0.0.0:{ADMISSION}");
    let place = format!("{NAMESPACE}/{}:443", component.name());
    let mut args = words(&["cluster", "/etc/locus"]);
    args.extend(words(match &choice.store {
        None => &["--data", "/var/lib/locus"],
        Some(_) => &["--store-file", "/etc/locus-store/url"],
    }));
    args.extend(words(&[
        "--policy",
        "/etc/locus-policy/policy.toml",
        "--listen",
        &listen,
        "--health",
        &join,
        "--join",
        "--admission",
        &place,
        "--admission-listen",
        &asked,
        "--namespace",
        NAMESPACE,
    ]));
    let mut container = container(component, &choice.gate, &args);
    container["ports"] = json!([
        {"name": "https", "containerPort": ADMISSION}, {"name": "gate", "containerPort": GATE},
        {"name": "join", "containerPort": JOIN},
    ]);
    container["readinessProbe"] = probe("/readyz", JOIN);
    container["livenessProbe"] = probe("/healthz", JOIN);
    let mut mounts = vec![
        json!({"name": "keys", "mountPath": "/etc/locus", "readOnly": true}),
        json!({"name": "policy", "mountPath": "/etc/locus-policy", "readOnly": true}),
    ];
    let mut volumes = vec![
        secret("keys", secrets::GATE),
        json!({"name": "policy", "configMap": {"name": "locus-policy"}}),
    ];
    match &choice.store {
        None => mounts.push(json!({"name": "data", "mountPath": "/var/lib/locus"})),
        Some(store) => {
            mounts
                .push(json!({"name": "store", "mountPath": "/etc/locus-store", "readOnly": true}));
            volumes.push(secret("store", &store.secret));
        }
    }
    container["volumeMounts"] = json!(mounts);
    let template = pod(component, container, json!(volumes));
    if let Some(store) = &choice.store {
        return shared(component, store, template);
    }
    json!({
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": component.metadata(),
        "spec": {
            "replicas": 1,
            "serviceName": component.name(),
            "selector": {"matchLabels": component.selector()},
            "template": template,
            "volumeClaimTemplates": [{
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "data", "labels": component.labels()},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": choice.storage}},
                },
            }],
        },
    })
}

/// Gates that keep nothing themselves, on different nodes if that is possible.
fn shared(component: Component, store: &StoreChoice, mut template: Value) -> Value {
    template["spec"]["topologySpreadConstraints"] = json!([{
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": component.selector()},
    }]);
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": component.metadata(),
        "spec": {
            "replicas": store.replicas,
            "selector": {"matchLabels": component.selector()},
            "template": template,
        },
    })
}

/// The name of the gate in the cluster.
pub(super) fn host() -> String {
    format!("{}.{NAMESPACE}.svc", Component::Gate.name())
}

/// An agent on every worker. It has the worker's TPM and log, and nothing of the cluster but a token that says on which node it
/// is: with that it asks for its first certificate.
fn agent(choice: &Choice) -> Value {
    let component = Component::Agent;
    let join = format!("{}:{JOIN}", host());
    let mut joining = container(
        component,
        &choice.gate,
        &words(&[
            "join",
            &join,
            "--authority",
            "/etc/locus/ca.pem",
            "--token",
            "/var/run/secrets/locus/token",
            "--out",
            "/credentials",
        ]),
    );
    joining["name"] = json!("join");
    joining["volumeMounts"] = json!([
        {"name": "authority", "mountPath": "/etc/locus", "readOnly": true},
        {"name": "token", "mountPath": "/var/run/secrets/locus", "readOnly": true},
        {"name": "credentials", "mountPath": "/credentials"},
    ]);
    let listen = format!("0.0.0.0:{AGENT}");
    let args = words(&[
        "--credentials",
        "/credentials",
        "--name",
        "$(NODE)",
        "--listen",
        &listen,
        "--keep-privileges",
    ]);
    let mut container = container(component, &choice.agent, &args);
    container["env"] =
        json!([{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}]);
    container["ports"] = json!([{"name": "agent", "containerPort": AGENT}]);
    // A device of the node can be opened by privileged containers alone, and the log by root.
    container["securityContext"] = json!({
        "privileged": true, "readOnlyRootFilesystem": true, "runAsUser": 0, "runAsGroup": 0,
    });
    container["volumeMounts"] = json!([
        {"name": "credentials", "mountPath": "/credentials", "readOnly": true},
        {"name": "state", "mountPath": "/var/lib/locus-agent"},
        {"name": "tpm", "mountPath": "/dev/tpmrm0"},
        {"name": "security", "mountPath": "/sys/kernel/security", "readOnly": true},
        {"name": "release", "mountPath": "/etc/os-release", "readOnly": true},
    ]);
    let sources = json!([{"serviceAccountToken": {
        "audience": AUDIENCE, "expirationSeconds": 600, "path": "token",
    }}]);
    let volumes = json!([
        {"name": "authority", "configMap": {"name": secrets::AUTHORITY}},
        {"name": "token", "projected": {"sources": sources, "defaultMode": 0o440}},
        {"name": "credentials", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        {"name": "state", "hostPath": {"path": "/var/lib/locus-agent", "type": "DirectoryOrCreate"}},
        {"name": "tpm", "hostPath": {"path": "/dev/tpmrm0", "type": "CharDevice"}},
        {"name": "security", "hostPath": {"path": "/sys/kernel/security", "type": "Directory"}},
        {"name": "release", "hostPath": {"path": "/etc/os-release", "type": "File"}},
    ]);
    let mut template = pod(component, container, volumes);
    template["spec"]["automountServiceAccountToken"] = json!(false);
    template["spec"]["initContainers"] = json!([joining]);
    template["spec"]["securityContext"] =
        json!({"fsGroup": USER, "seccompProfile": {"type": "RuntimeDefault"}});
    template["spec"]["priorityClassName"] = json!("system-node-critical");
    // On every worker, trusted or not: who is not has to be able to show that it is.
    template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": component.metadata(),
        "spec": {
            "selector": {"matchLabels": {NAME: component.name()}},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            "template": template,
        },
    })
}
