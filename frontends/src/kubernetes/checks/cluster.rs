//! Kinds of the cluster itself: classes of storage, ingress and run time, drivers, slices of endpoints, limits, webhooks.

use super::network::is_address;
use super::{DNS_SUBDOMAIN, Here};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::text;

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
            here.dns_label("handler");
        }
        ("discovery", "EndpointSlice") => slice(here),
        ("discovery", "EndpointPort") => here.dns_label("name"),
        ("networking", "IngressClassSpec") => {
            here.not_empty("controller");
            let help = "write it as in `example.org/ingress-controller`";
            here.syntax("controller", is_controller, "a domain with a path", help);
        }
        ("networking", "IngressClassParametersReference") => parameters(here),
        ("networking", "IngressTLS") => here.dns_subdomain("secretName"),
        ("core", "TopologySelectorTerm") => here.distinct("matchLabelExpressions", "key"),
        ("core", "LimitRangeSpec") => here.distinct("limits", "type"),
        ("core", "LimitRangeItem") => {
            super::amounts::limit(here);
            let kinds = "use `Pod`, `Container` or `PersistentVolumeClaim`";
            here.syntax("type", is_limit, "a type of limit", kinds);
        }
        ("core", "ResourceQuotaSpec") => super::amounts::quota(here),
        ("core", "ScopedResourceSelectorRequirement") => {
            let operator = here.node.str_of("operator");
            if matches!(operator, Some("In" | "NotIn")) {
                here.not_empty("values");
            }
        }
        ("core", "EndpointSubset") => {
            if here.node.items("addresses").is_empty()
                && here.node.items("notReadyAddresses").is_empty()
            {
                here.not_empty("addresses");
            }
            let ports = here.node.items("ports");
            for port in ports.iter().filter(|_| ports.len() > 1) {
                if port.str_of("name").is_none_or(str::is_empty) {
                    let message = "one of several ports has no name".to_owned();
                    here.fields(message, port.span, "add a `name` to the port");
                }
            }
        }
        ("discovery", "Endpoint") => {
            here.not_empty("addresses");
        }
        (
            "admissionregistration",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => here.distinct("webhooks", "name"),
        ("rbac", "RoleRef") => {
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
            here.range("timeoutSeconds", 1, 30);
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

/// The parameters of an ingress class are of the cluster, or in a namespace.
fn parameters(here: &mut Here<'_, '_, '_>) {
    let named = here.node.str_of("namespace").is_some();
    match here.node.str_of("scope").unwrap_or("Cluster") {
        "Namespace" if !named => here.missing("namespace"),
        "Cluster" if named => {
            let message = "`namespace` needs `scope: Namespace`".to_owned();
            let span = here.key_span("namespace");
            here.fields(message, span, "add the scope, or remove `namespace`");
        }
        _ => here.word("scope", &["Cluster", "Namespace"]),
    }
}

fn slice(here: &mut Here<'_, '_, '_>) {
    here.distinct("ports", "name");
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
