//! What the gate's own user may do in a cluster: what controllers and watches need, and nothing else.

use serde_json::{Value, json};

use super::known::WATCHED;
use super::names::WEBHOOKS;

/// The role of the gate: for everything but its Lease.
pub fn cluster_role() -> Value {
    let mut rules = Vec::new();
    for kind in WATCHED {
        rules.push(json!({
            "apiGroups": [kind.group], "resources": [kind.resource], "verbs": ["list", "watch"],
        }));
    }
    let mut may = |group: &str, resources: &[&str], verbs: &[&str]| {
        rules.push(json!({"apiGroups": [group], "resources": resources, "verbs": verbs}));
    };
    // Taints, and what is closed and deleted by policy.
    may("", &["nodes"], &["get", "patch", "delete"]);
    // The scheduling gate, the condition, and pods that have to go.
    may("", &["pods"], &["patch", "delete"]);
    may("", &["pods/status"], &["patch"]);
    may("", &["pods/eviction"], &["create"]);
    may("events.k8s.io", &["events"], &["create"]);
    may("locus.dev", &["agents"], &["create"]);
    let states = ["agents/status", "attestationrequests/status"];
    may("locus.dev", &states, &["patch"]);
    let group = "admissionregistration.k8s.io";
    let kinds = [
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
    ];
    // One that is not there yet has no name to be allowed by.
    may(group, &kinds, &["create"]);
    rules.push(json!({
        "apiGroups": [group], "resources": kinds, "resourceNames": [WEBHOOKS], "verbs": ["patch"],
    }));
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": WEBHOOKS}, "rules": rules,
    })
}

/// The role of the gate in the namespace of its Lease.
pub fn lease_role(namespace: &str) -> Value {
    let group = "coordination.k8s.io";
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": WEBHOOKS, "namespace": namespace},
        "rules": [
            {"apiGroups": [group], "resources": ["leases"], "verbs": ["create"]},
            {"apiGroups": [group], "resources": ["leases"], "resourceNames": [WEBHOOKS], "verbs": ["get", "update"]},
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_may_do_nothing_to_everything() {
        for role in [cluster_role(), lease_role("locus-system")] {
            let text = role.to_string();
            assert!(
                !text.contains("\"*\"") && !text.contains("secrets"),
                "{text}"
            );
            assert!(!text.contains("impersonate") && !text.contains("escalate"));
        }
    }
}
