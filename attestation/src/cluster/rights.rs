//! What the gate's own user may do in a cluster: what controllers and watches need, and nothing else. The installation, and
//! whoever runs the gate beside a cluster, have it from here.

use serde_json::{Value, json};

use super::known::WATCHED;
use super::names::WEBHOOKS;

/// How the gate came to its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It runs beside the cluster, and makes what is missing of the webhooks' configurations.
    Beside,
    /// It was installed in it together with those configurations, and gives agents their certificates.
    Installed,
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
}

/// The same about objects with some name alone.
fn named(group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": [group], "resources": resources, "resourceNames": [WEBHOOKS], "verbs": verbs})
}

/// The rules for everything but the Lease.
pub fn rules(came: Came) -> Vec<Value> {
    let mut rules = watching();
    rules.extend([
        // Taints, and what is closed and deleted by policy.
        rule("", &["nodes"], &["get", "patch", "delete"]),
        // The scheduling gate, the condition, and pods that have to go. All of it is read anyway.
        rule("", &["pods"], &["get", "patch", "delete"]),
        rule("", &["pods/status"], &["get", "patch"]),
        rule("", &["pods/eviction"], &["create"]),
        rule("events.k8s.io", &["events"], &["create"]),
        rule("locus.dev", &["agents"], &["create"]),
        rule(
            "locus.dev",
            &[
                "agents/status",
                "attestationrequests/status",
                "invariantsets/status",
            ],
            &["get", "patch"],
        ),
    ]);
    let group = "admissionregistration.k8s.io";
    let kinds = [
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
    ];
    rules.push(named(group, &kinds, &["patch"]));
    match came {
        // One that is not there yet has no name to be allowed by.
        Came::Beside => rules.push(rule(group, &kinds, &["create"])),
        // Who a token is, so that the agent of a worker gets a certificate for that worker, and where that agent is.
        Came::Installed => rules.extend([
            rule("authentication.k8s.io", &["tokenreviews"], &["create"]),
            rule("locus.dev", &["agents"], &["patch"]),
        ]),
    }
    rules
}

/// Rules for everything that is watched, a rule for each group.
fn watching() -> Vec<Value> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in WATCHED {
        match groups.iter_mut().find(|(group, _)| *group == one.group) {
            Some((_, resources)) => resources.push(one.resource),
            None => groups.push((one.group, vec![one.resource])),
        }
    }
    let rules = groups.iter();
    rules
        .map(|(group, resources)| rule(group, resources, &["list", "watch"]))
        .collect()
}

/// The rules for the Lease, by which gates agree which of them acts, in its namespace.
pub fn lease_rules() -> Vec<Value> {
    let group = "coordination.k8s.io";
    vec![
        rule(group, &["leases"], &["create"]),
        named(group, &["leases"], &["get", "update"]),
    ]
}

/// The role of a gate beside the cluster: for everything but its Lease.
pub fn cluster_role() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": WEBHOOKS}, "rules": rules(Came::Beside),
    })
}

/// The role of a gate in the namespace of its Lease.
pub fn lease_role(namespace: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": WEBHOOKS, "namespace": namespace}, "rules": lease_rules(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_may_do_nothing_to_everything() {
        let installed = json!(rules(Came::Installed));
        for role in [cluster_role(), lease_role("locus-system"), installed] {
            let text = role.to_string();
            assert!(
                !text.contains("\"*\"") && !text.contains("secrets"),
                "{text}"
            );
            assert!(!text.contains("impersonate") && !text.contains("escalate"));
        }
    }

    #[test]
    fn everything_that_is_watched_may_be_watched() {
        let watching = watching();
        for kind in WATCHED {
            let allowed = watching.iter().any(|rule| {
                rule["apiGroups"] == json!([kind.group])
                    && rule["resources"].to_string().contains(kind.resource)
            });
            assert!(allowed, "{}", kind.resource);
        }
        assert!(watching.len() < WATCHED.len());
    }
}
