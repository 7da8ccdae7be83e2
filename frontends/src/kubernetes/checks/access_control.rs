//! Roles and their bindings.

use locus_core::Diagnostic;

use super::Here;
use crate::kubernetes::access::Access as _;

const RBAC: &str = "rbac.authorization.k8s.io";

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "PolicyRule" => rule(here),
        "RoleBinding" | "ClusterRoleBinding" => binding(name, here),
        "Subject" => subject(here),
        "Role" => {
            for rule in here.node.items("rules") {
                if !rule.items("nonResourceURLs").is_empty() {
                    let message = "a Role cannot grant `nonResourceURLs`".to_owned();
                    let span = rule.span_of("nonResourceURLs");
                    here.fields(
                        message,
                        span,
                        "they are not in a namespace: use a ClusterRole",
                    );
                }
            }
        }
        _ => {}
    }
}

fn rule(here: &mut Here<'_, '_, '_>) {
    if here.node.some("verbs").is_some() {
        here.not_empty("verbs");
    }
    let urls = !here.node.items("nonResourceURLs").is_empty();
    let has = |key: &str| !here.node.items(key).is_empty();
    let resources = has("resources") || has("apiGroups") || has("resourceNames");
    if urls && resources {
        let message =
            "a rule is about `resources` or about `nonResourceURLs`, not about both".to_owned();
        let span = here.key_span("nonResourceURLs");
        here.fields(message, span, "write two rules");
    } else if !urls {
        for key in ["apiGroups", "resources"] {
            if !has(key) {
                let message = format!("the rule names no `{key}`");
                let at = here.at;
                let help = match key {
                    "apiGroups" => "add `apiGroups`; the core group is `\"\"`",
                    _ => "add `resources`, or `nonResourceURLs`",
                };
                here.fields(message, at, help);
            }
        }
    }
}

fn binding(name: &str, here: &mut Here<'_, '_, '_>) {
    let Some(role) = here.node.some("roleRef") else {
        return;
    };
    // In a RoleBinding the server lets it be left out.
    if name == "ClusterRoleBinding" {
        let subjects = here.node.items("subjects").iter();
        let nowhere = subjects.filter(|subject| {
            subject.str_of("kind") == Some("ServiceAccount")
                && subject.str_of("namespace").is_none_or(str::is_empty)
        });
        for subject in nowhere {
            let message = "the service account lacks the required field `namespace`".to_owned();
            let missing = Diagnostic::error("k8s-missing-field", message);
            here.push(missing.at(subject.span));
        }
    }
    let kinds: &[&str] = match name {
        "RoleBinding" => &["Role", "ClusterRole"],
        _ => &["ClusterRole"],
    };
    if let Some(group) = role.text_of("apiGroup")
        && !matches!(&*group.text, RBAC | "")
    {
        let message = format!("roles are in the group `{RBAC}`, not in `{}`", group.text);
        here.value(message, group.span, format!("write `apiGroup: {RBAC}`"));
    }
    if let Some(kind) = role.text_of("kind")
        && !kinds.contains(&&*kind.text)
    {
        let message = format!(
            "a {name} refers to {}, not to `{}`",
            super::list(kinds),
            kind.text
        );
        here.value(message, kind.span, format!("use {}", super::list(kinds)));
    }
}

fn subject(here: &mut Here<'_, '_, '_>) {
    let Some(kind) = here.node.text_of("kind") else {
        return;
    };
    let group = here
        .node
        .text_of("apiGroup")
        .filter(|group| !group.text.is_empty());
    let wanted = match &*kind.text {
        "ServiceAccount" => "",
        "User" | "Group" => RBAC,
        other => {
            let message = format!("`{other}` cannot be bound to a role");
            here.value(
                message,
                kind.span,
                "use `ServiceAccount`, `User` or `Group`",
            );
            return;
        }
    };
    if let Some(group) = group.filter(|group| *group.text != *wanted) {
        let message = format!("a {} is not in the group `{}`", kind.text, group.text);
        let help = match wanted {
            "" => "remove `apiGroup`".to_owned(),
            group => format!("write `apiGroup: {group}`"),
        };
        here.value(message, group.span, help);
    }
    if &*kind.text == "ServiceAccount" {
        here.syntax(
            "name",
            crate::kubernetes::text::is_dns_subdomain,
            "the name of a service account",
            super::DNS_SUBDOMAIN,
        );
    }
}
