//! Kinds of the cluster itself: classes of storage, ingress and run time, drivers, slices of endpoints, limits, webhooks.

use super::network::is_address;
use super::{DNS_SUBDOMAIN, Here};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::cel::bytes;
use crate::kubernetes::text;
use crate::yaml::Schema;

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
        ("apiregistration", "APIService") => service_name(here),
        ("apiregistration", "APIServiceSpec") => service(here),
        ("certificates", "CertificateSigningRequestSpec") => request(here),
        _ => {}
    }
}

/// The name of an `APIService` is its version and group.
fn service_name(here: &mut Here<'_, '_, '_>) {
    let spec = here.node.some("spec");
    let field = |key: &str| spec.and_then(|spec| spec.str_of(key)).unwrap_or("");
    let wanted = format!("{}.{}", field("version"), field("group"));
    let name = here.node.some("metadata");
    let name = name.and_then(|metadata| metadata.text_of("name"));
    if let Some(name) = name
        && *name.text != *wanted
        && spec.is_some()
    {
        let message = format!("the name must be `{wanted}`, of `spec.version` and `spec.group`");
        here.value(message, name.span, "rename the object");
    }
}

fn service(here: &mut Here<'_, '_, '_>) {
    if here.node.str_of("version") != Some("v1") {
        here.not_empty("group");
    }
    here.dns_subdomain("group");
    here.not_empty("version");
    let help = "write it as in `v1` or `v1beta1`";
    here.syntax("version", text::is_rfc1035_label, "a version", help);
    here.range("groupPriorityMinimum", 1, 20_000);
    here.range("versionPriority", 1, 1_000);
    let insecure = here.node.bool_of("insecureSkipTLSVerify") == Some(true);
    let certificate = here
        .node
        .str_of("caBundle")
        .is_some_and(|text| !text.is_empty());
    let Some(service) = here.node.some("service") else {
        for (key, given) in [
            ("caBundle", certificate),
            ("insecureSkipTLSVerify", insecure),
        ] {
            if given {
                let span = here.key_span(key);
                here.fields(
                    format!("`{key}` needs a `service`"),
                    span,
                    "add the service, or remove it",
                );
            }
        }
        return;
    };
    for key in ["namespace", "name"] {
        if service.str_of(key).is_none_or(str::is_empty) {
            let message = format!("`{}.{key}` must be given", here.path("service"));
            let span = here.key_span("service");
            here.value(message, span, "name the service that serves this version");
        }
    }
    if let Some(port) = service.int_of("port")
        && !(1..=65535).contains(&port)
    {
        let message = format!(
            "`{}.port` is {port}, outside 1 to 65535",
            here.path("service")
        );
        here.value(
            message,
            service.span_of("port"),
            "use a number from 1 to 65535",
        );
    }
    if insecure && certificate {
        let span = here.key_span("insecureSkipTLSVerify");
        let message = "`insecureSkipTLSVerify` does not go with `caBundle`".to_owned();
        here.fields(message, span, "remove one of them");
    }
}

/// What a certificate may be used for.
const USAGES: [&str; 23] = [
    "signing",
    "digital signature",
    "content commitment",
    "key encipherment",
    "key agreement",
    "data encipherment",
    "cert sign",
    "crl sign",
    "encipher only",
    "decipher only",
    "any",
    "server auth",
    "client auth",
    "code signing",
    "email protection",
    "s/mime",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "timestamping",
    "ocsp signing",
    "microsoft sgc",
    "netscape sgc",
];

/// A request for a certificate.
fn request(here: &mut Here<'_, '_, '_>) {
    here.not_empty("usages");
    let mut seen: Vec<String> = Vec::new();
    for usage in here.node.texts("usages") {
        if !USAGES.contains(&&*usage.text) {
            let near = locus_core::suggest::did_you_mean(&usage.text, USAGES);
            let help = near.unwrap_or_else(|| "write it as in `client auth`".to_owned());
            here.value(
                format!("`{}` is not a usage of certificates", usage.text),
                usage.span,
                help,
            );
        } else if seen.iter().any(|known| **known == *usage.text) {
            let message = format!("`{}` is in `usages` twice", usage.text);
            here.fields(message, usage.span, "remove one of them");
        }
        seen.push(usage.text.to_string());
    }
    here.range("expirationSeconds", 600, i64::MAX);
    if let Some(signer) = here.node.text_of("signerName") {
        let help = "write it as in `kubernetes.io/kube-apiserver-client`";
        if !is_signer(&signer.text) {
            here.value(
                format!("`{}` is not a signer", signer.text),
                signer.span,
                help,
            );
        } else if *signer.text == *"kubernetes.io/legacy-unknown" {
            let message =
                "`kubernetes.io/legacy-unknown` signs no requests of this version".to_owned();
            here.value(message, signer.span, help);
        }
    }
    if let Some(given) = here.node.text_of("request") {
        let pem = bytes::decoded(&given.text).and_then(|bytes| String::from_utf8(bytes).ok());
        let is_request = pem.is_some_and(|pem| {
            let start = pem.find("-----BEGIN CERTIFICATE REQUEST-----");
            start.is_some() && pem.contains("-----END CERTIFICATE REQUEST-----")
        });
        if text::is_base64(&given.text) && !is_request {
            let message = "`request` holds no certificate request".to_owned();
            let help = "encode a PEM block of type `CERTIFICATE REQUEST` in base64";
            here.value(message, given.span, help);
        }
    }
}

/// Whether a text names a signer: a domain of two parts at least, and a path.
fn is_signer(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let [domain, path] = parts.as_slice() else {
        return false;
    };
    domain.contains('.') && text::is_dns_subdomain(domain) && text::is_dns_subdomain(path)
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

/// Requires the names of hosts to be names. What is null is an empty name to the server.
pub(super) fn hosts(here: &mut Here<'_, '_, '_>, key: &str) {
    for item in here.node.items(key) {
        if item.is_null(Schema::GoYaml2) {
            let message = "a host must not be null".to_owned();
            here.value(message, item.used_at(), "remove it, or write the name");
        }
    }
    for host in here.node.texts(key) {
        let name = host.text.strip_prefix("*.").unwrap_or(&host.text);
        if !text::is_dns_subdomain(name) {
            let message = format!("`{}` is not a host", host.text);
            here.value(message, host.span, DNS_SUBDOMAIN);
        }
    }
}
