//! Who may talk to whom: nobody, but for what is said here.

use serde_json::{Value, json};

use super::{AGENTS, Choice, Component, NAME, NAMESPACE, PART_OF};

/// Where the API server asks.
pub(super) const ADMISSION: u16 = 8443;
/// Where operators, controllers and tenants ask the gate.
pub(super) const GATE: u16 = 30000;
/// Where the gate answers for health, and agents ask for their first certificate.
pub(super) const JOIN: u16 = 30080;
/// Where agents answer the verifier.
pub const AGENT: u16 = 31000;

/// The policies.
pub(super) fn objects(choice: &Choice) -> Vec<Value> {
    let gate = Component::Gate;
    let mut all = vec![closed(NAMESPACE), closed(AGENTS)];
    for component in Component::ALL {
        let (ingress, egress) =
            match component {
                Component::Gate => (
                    vec![
                        // The API server is no pod, and its address is not known here; neither are those of operators and tenants.
                        json!({"ports": [port(ADMISSION), port(GATE)]}),
                        from(&[pods(Component::Agent)], JOIN),
                    ],
                    {
                        let mut egress = vec![to(&[pods(Component::Agent)], AGENT), server()];
                        // Where it is stands in a Secret.
                        let store = choice.store.iter();
                        egress.extend(store.map(
                            |store| json!({"ports": [{"protocol": "TCP", "port": store.port}]}),
                        ));
                        egress
                    },
                ),
                Component::Agent => (
                    vec![from(&[pods(gate)], AGENT)],
                    vec![to(&[pods(gate)], JOIN)],
                ),
            };
        all.push(allowed(component, &ingress, &egress));
    }
    all
}

/// Nobody connects, and nobody is connected to.
fn closed(namespace: &str) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "closed", "namespace": namespace, "labels": {PART_OF: "locus"}},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    })
}

fn allowed(component: Component, ingress: &[Value], egress: &[Value]) -> Value {
    let mut egress = egress.to_vec();
    egress.push(names());
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": component.metadata(),
        "spec": {
            "podSelector": {"matchLabels": component.selector()},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": ingress,
            "egress": egress,
        },
    })
}

fn pods(component: Component) -> Value {
    json!({
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": component.namespace()}},
        "podSelector": {"matchLabels": {NAME: component.name()}},
    })
}

fn port(number: u16) -> Value {
    json!({"protocol": "TCP", "port": number})
}

fn from(peers: &[Value], number: u16) -> Value {
    json!({"from": peers, "ports": [port(number)]})
}

fn to(peers: &[Value], number: u16) -> Value {
    json!({"to": peers, "ports": [port(number)]})
}

/// The API server, wherever it is: by the ports that it has everywhere.
fn server() -> Value {
    json!({"ports": [port(443), port(6443)]})
}

/// The cluster's names are looked up.
fn names() -> Value {
    json!({
        "to": [{
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
            "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
        }],
        "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
    })
}
