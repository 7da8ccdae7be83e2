//! What each component may do in the cluster, and nothing else.

use serde_json::{Value, json};

use super::{Component, PART_OF};
use crate::cluster::rights::{Came, lease_rules, rules};

/// The accounts, and what they may do. An agent may do nothing in the cluster.
pub(super) fn objects() -> Vec<Value> {
    let mut all: Vec<Value> = Component::ALL.into_iter().map(account).collect();
    all.extend(granted(Component::Gate, &rules(Came::Installed)));
    all.extend(local(Component::Gate));
    all.push(view());
    all
}

fn account(component: Component) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": component.metadata(),
        // Pods that need a token say so themselves.
        "automountServiceAccountToken": false,
    })
}

fn granted(component: Component, rules: &[Value]) -> [Value; 2] {
    let labels = component.labels();
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": component.name(), "labels": labels},
            "rules": rules,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": component.name(), "labels": labels},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": component.name()},
            "subjects": [subject(component)],
        }),
    ]
}

fn local(component: Component) -> [Value; 2] {
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": component.metadata(),
            "rules": lease_rules(),
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": component.metadata(),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": component.name()},
            "subjects": [subject(component)],
        }),
    ]
}

fn subject(component: Component) -> Value {
    json!({"kind": "ServiceAccount", "name": component.name(), "namespace": component.namespace()})
}

/// For people who look: a part of the cluster's own role `view`.
fn view() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "locus-view", "labels": {
            PART_OF: "locus",
            "rbac.authorization.k8s.io/aggregate-to-view": "true",
        }},
        "rules": [{
            "apiGroups": ["locus.dev"],
            "resources": ["agents", "attestationrequests", "invariantsets", "referenceimages"],
            "verbs": ["get", "list", "watch"],
        }],
    })
}
