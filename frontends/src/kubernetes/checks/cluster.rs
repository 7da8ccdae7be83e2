//! Kinds of the cluster itself: classes of storage, ingress and run time, drivers, slices of endpoints, limits, webhooks.

use super::network::is_address;
use super::{DNS_SUBDOMAIN, Here};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::text;

/// Resources that a quota limits without a domain.
const QUOTAS: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];

pub(super) fn check(group: &str, name: &str, here: &mut Here<'_, '_, '_>) {
    match (group, name) {
        ("storage", "StorageClass") => {
            let help = "write it as in `ebs.csi.example.org` or `example.org/disk`";
            here.syntax("provisioner", is_provisioner, "a provisioner", help);
        }
        ("storage", "CSIDriverSpec") => {
            here.word(
                "fsGroupPolicy",
                &["ReadWriteOnceWithFSType", "File", "None"],
            );
        }
        ("node", "RuntimeClass") => {
            here.not_empty("handler");
            here.dns_label("handler");
        }
        ("discovery", "EndpointSlice") => slice(here),
        ("discovery", "EndpointPort") => here.dns_label("name"),
        ("networking", "IngressClassSpec") => {
            here.not_empty("controller");
            let help = "write it as in `example.org/ingress-controller`";
            here.syntax("controller", is_controller, "a domain with a path", help);
        }
        ("networking", "IngressTLS") => here.dns_subdomain("secretName"),
        ("core", "LimitRangeItem") => {
            let kinds = "use `Pod`, `Container` or `PersistentVolumeClaim`";
            here.syntax("type", is_limit, "a type of limit", kinds);
        }
        ("core", "ResourceQuotaSpec") => quota(here),
        ("rbac", "RoleRef") => {
            here.not_empty("name");
            let help = "a name has no `/` and no `%`";
            here.syntax("name", text::is_path_segment, "the name of a role", help);
        }
        ("admissionregistration", "ValidatingWebhook" | "MutatingWebhook") => {
            here.syntax(
                "name",
                is_full_name,
                "a name of three parts",
                "write it as in `pods.gate.example.org`",
            );
            here.not_empty("admissionReviewVersions");
        }
        ("admissionregistration", "WebhookClientConfig") => here.exactly_one(&["url", "service"]),
        ("admissionregistration", "RuleWithOperations") => {
            for key in ["apiGroups", "apiVersions", "operations", "resources"] {
                here.not_empty(key);
            }
        }
        _ => {}
    }
}

fn is_provisioner(name: &str) -> bool {
    text::is_qualified_name(&name.to_lowercase())
}

fn is_controller(name: &str) -> bool {
    let parts = name.split_once('/');
    parts.is_some_and(|(domain, path)| text::is_dns_subdomain(domain) && !path.is_empty())
}

fn is_limit(name: &str) -> bool {
    matches!(name, "Pod" | "Container" | "PersistentVolumeClaim") || name.contains('/')
}

fn is_full_name(name: &str) -> bool {
    text::is_dns_subdomain(name) && name.split('.').count() >= 3
}

fn slice(here: &mut Here<'_, '_, '_>) {
    let addresses = matches!(here.node.str_of("addressType"), Some("IPv4" | "IPv6"));
    for endpoint in here.node.items("endpoints") {
        for address in endpoint.texts("addresses") {
            if addresses && !is_address(&address.text) {
                let message = format!("`{}` is not an IP address", address.text);
                here.value(
                    message,
                    address.span,
                    "write it as in `10.0.0.7`, or change `addressType`",
                );
            }
        }
    }
}

fn quota(here: &mut Here<'_, '_, '_>) {
    for limit in here.node.labels("hard") {
        let name = &*limit.key.text;
        let huge = name.strip_prefix("requests.").unwrap_or(name);
        let known = QUOTAS.contains(&name) || huge.starts_with("hugepages-");
        let known = known || (name.contains('/') && text::is_qualified_name(name));
        if !known {
            let message = format!("`{name}` is not a resource that a quota limits");
            let near = locus_core::suggest::did_you_mean(name, QUOTAS.iter().copied());
            let help = "a resource that is no standard one has a domain, as in `example.org/gpu` or `count/pods`";
            here.value(
                message,
                limit.key.span,
                near.unwrap_or_else(|| help.to_owned()),
            );
        }
    }
}

/// Requires the names of hosts to be names.
pub(super) fn hosts(here: &mut Here<'_, '_, '_>, key: &str) {
    for host in here.node.texts(key) {
        let name = host.text.strip_prefix("*.").unwrap_or(&host.text);
        if !text::is_dns_subdomain(name) {
            let message = format!("`{}` is not a host", host.text);
            here.value(message, host.span, DNS_SUBDOMAIN);
        }
    }
}
