//! What can be written in rules of access, and in what binds them.

use std::collections::BTreeSet;

use crate::kubernetes::access::Access as _;
use crate::kubernetes::editing::names::plural;
use crate::language::Place;
use crate::yaml::Node;

use super::custom;
use super::words::kept;

/// The roles that every cluster has.
const ROLES: &[&str] = &["admin", "cluster-admin", "edit", "view"];

const VERBS: &[&str] = &[
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "*",
    "approve",
    "bind",
    "escalate",
    "impersonate",
    "sign",
    "use",
];

/// The parts of resources that rights are given for by themselves.
const PARTS: &[(&str, &[&str])] = &[
    (
        "pods",
        &[
            "attach",
            "ephemeralcontainers",
            "eviction",
            "exec",
            "log",
            "portforward",
            "proxy",
            "resize",
            "status",
        ],
    ),
    ("services", &["proxy", "status"]),
    ("serviceaccounts", &["token"]),
    ("namespaces", &["finalize", "status"]),
    ("nodes", &["proxy", "status"]),
    ("deployments", &["scale", "status"]),
    ("replicasets", &["scale", "status"]),
    ("statefulsets", &["scale", "status"]),
    ("replicationcontrollers", &["scale", "status"]),
    ("certificatesigningrequests", &["approval", "status"]),
];

/// What can be the value of a field of a definition of access.
pub(super) fn words(place: &Place<'_>, definition: &str, field: &str) -> Vec<String> {
    let beside = place.map();
    let said = |key: &str| beside.and_then(|node| node.str_of(key));
    let text = |all: &[&str]| all.iter().map(|&word| word.to_owned()).collect();
    match (definition, field) {
        ("RoleRef", "apiGroup") | ("Subject", "apiGroup") => text(&["rbac.authorization.k8s.io"]),
        ("RoleRef", "kind") => match place.root.str_of("kind") {
            Some("ClusterRoleBinding") => text(&["ClusterRole"]),
            _ => text(&["Role", "ClusterRole"]),
        },
        ("RoleRef", "name") if said("kind") != Some("Role") => text(ROLES),
        ("Subject", "kind") => text(&["ServiceAccount", "User", "Group"]),
        ("Subject", "name") if said("kind") == Some("ServiceAccount") => text(&["default"]),
        ("Subject", "name") if said("kind") == Some("Group") => text(&[
            "system:authenticated",
            "system:masters",
            "system:nodes",
            "system:serviceaccounts",
            "system:unauthenticated",
        ]),
        ("PolicyRule" | "ResourcePolicyRule" | "NonResourcePolicyRule", "verbs") => text(VERBS),
        ("PolicyRule", "nonResourceURLs") => {
            text(&["*", "/healthz", "/livez", "/metrics", "/readyz", "/version"])
        }
        (
            "PolicyRule"
            | "ResourcePolicyRule"
            | "Rule"
            | "RuleWithOperations"
            | "NamedRuleWithOperations",
            "apiGroups",
        ) => groups(place),
        (
            "PolicyRule"
            | "ResourcePolicyRule"
            | "Rule"
            | "RuleWithOperations"
            | "NamedRuleWithOperations",
            "resources",
        ) => {
            let groups = beside.map_or(&[][..], |node| node.items("apiGroups"));
            resources(place, groups)
        }
        _ => Vec::new(),
    }
}

/// The group of a version: `apps` of `apps/v1`, and of `v1` none.
pub(super) fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// All groups that have resources.
fn groups(place: &Place<'_>) -> Vec<String> {
    let mut all: BTreeSet<String> = kept()
        .map(|served| group(served.api_version).to_owned())
        .collect();
    let customs = custom::definitions(place);
    all.extend(customs.map(|one| one.group.to_owned()));
    let mut all: Vec<String> = all.into_iter().collect();
    all.push("*".to_owned());
    all
}

/// The resources of some groups, or all.
fn resources(place: &Place<'_>, groups: &[Node]) -> Vec<String> {
    let is_in = |group: &str| {
        let mut named = groups.iter().filter_map(Node::as_str);
        groups.is_empty() || named.any(|one| one == group || one == "*")
    };
    let mut all: BTreeSet<String> = BTreeSet::new();
    for served in kept().filter(|served| is_in(group(served.api_version))) {
        let name = plural(served.kind);
        let parts = PARTS.iter().find(|(whole, _)| *whole == name);
        for part in parts.into_iter().flat_map(|(_, parts)| *parts) {
            all.insert(format!("{name}/{part}"));
        }
        all.insert(name);
    }
    for one in custom::definitions(place).filter(|one| is_in(one.group)) {
        all.extend(one.plural.map(str::to_owned));
    }
    // Whole resources come before their parts.
    let mut all: Vec<String> = all.into_iter().collect();
    all.sort_by_key(|name| name.contains('/'));
    all.push("*".to_owned());
    all
}
