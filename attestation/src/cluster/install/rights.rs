//! What each component may do in the cluster, and nothing else.

use serde_json::{Value, json};

use super::{Component, PART_OF};
use crate::cluster::known::WATCHED;
use crate::cluster::names::WEBHOOKS;

/// The accounts, and what they may do. An agent may do nothing in the cluster.
pub(super) fn objects() -> Vec<Value> {
    let mut all: Vec<Value> = Component::ALL.into_iter().map(account).collect();
    all.extend(granted(Component::Gate, &gate()));
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

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
}

fn named(mut rule: Value, names: &[&str]) -> Value {
    rule["resourceNames"] = json!(names);
    rule
}

const READ: &[&str] = &["get", "list", "watch"];

/// Rules for everything that is watched, a rule for each group.
fn watching() -> Vec<Value> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in WATCHED {
        match groups.iter_mut().find(|(group, _)| *group == one.group) {
            Some((_, resources)) => resources.push(one.resource),
            None => groups.push((one.group, vec![one.resource])),
        }
    }
    groups
        .iter()
        .map(|(group, resources)| rule(&[group], resources, READ))
        .collect()
}

/// What each part of the gate needs.
fn gate() -> Vec<Value> {
    let mut rules = watching();
    // Admission tells the API server which certificate it shows. The configurations are made by the installation.
    let group = &["admissionregistration.k8s.io"];
    let webhooks = [
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
    ];
    rules.push(named(
        rule(group, &webhooks, &["get", "patch"]),
        &[WEBHOOKS],
    ));
    rules.extend([
        // Who a token is, so that the agent of a worker gets a certificate for that worker.
        rule(&["authentication.k8s.io"], &["tokenreviews"], &["create"]),
        // Controllers take away the scheduling gate by a change of the pod, and evict.
        rule(&[""], &["pods"], &["patch", "delete"]),
        rule(&[""], &["pods/status"], &["get", "patch"]),
        rule(&[""], &["pods/eviction"], &["create"]),
        // Taints and cordons, and the removal of a worker that is not to come back.
        rule(&[""], &["nodes"], &["patch", "delete"]),
        rule(&["locus.dev"], &["agents"], &["create", "patch"]),
        rule(
            &["locus.dev"],
            &["agents/status", "attestationrequests/status"],
            &["get", "patch"],
        ),
        rule(&["events.k8s.io"], &["events"], &["create"]),
    ]);
    rules
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
    // Gates agree by a lease of their own namespace which of them acts.
    let leases = |verbs: &[&str]| rule(&["coordination.k8s.io"], &["leases"], verbs);
    let rules = [
        leases(&["create"]),
        named(leases(&["get", "update"]), &[WEBHOOKS]),
    ];
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": component.metadata(),
            "rules": rules,
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
        "rules": [rule(
            &["locus.dev"],
            &["agents", "attestationrequests", "invariantsets", "referenceimages"],
            READ,
        )],
    })
}
