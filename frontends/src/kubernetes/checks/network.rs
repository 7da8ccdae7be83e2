//! Services, ingresses and network policies.

use locus_core::Diagnostic;
use locus_core::values::{Address, Cidr, Family};
use rustc_hash::FxHashMap;

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::cel::address;
use crate::kubernetes::metadata;
use crate::kubernetes::object::Text;
use crate::kubernetes::text;
use crate::yaml::Node;

pub(super) fn service(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "ServiceSpec" => service_spec(here),
        "ServicePort" => {
            here.range("port", 1, 65535);
            // Zero is as good as nothing: the number of `port`.
            if here.node.int_of("targetPort") != Some(0) {
                here.port_or_name("targetPort");
            }
            here.range("nodePort", 0, 65535);
            let help = "use at most 63 lower-case letters, digits and `-`";
            here.syntax("name", text::is_dns_label, "the name of a port", help);
        }
        "EndpointPort" => {
            here.range("port", 1, 65535);
            here.dns_label("name");
        }
        "EndpointAddress" => addresses(here, &["ip"]),
        "HostAlias" => {
            addresses(here, &["ip"]);
            super::cluster::hosts(here, "hostnames");
        }
        _ => {}
    }
}

fn addresses(here: &mut Here<'_, '_, '_>, keys: &[&str]) {
    for key in keys {
        here.syntax(
            key,
            is_address,
            "an IP address",
            "write it as in `10.0.0.7` or `fd00::7`",
        );
    }
}

pub(super) fn is_address(text: &str) -> bool {
    Address::parse(text).is_some()
}

fn service_spec(here: &mut Here<'_, '_, '_>) {
    let kind = here.node.text_of("type");
    let kind: &str = kind.as_ref().map_or("ClusterIP", |kind| &kind.text);
    let ip = here.node.str_of("clusterIP").unwrap_or("");
    let headless = ip == "None";
    let ports = here.node.items("ports");
    metadata::labels(&here.node.labels("selector"), here.diagnostics);
    if !matches!(ip, "" | "None") {
        addresses(here, &["clusterIP"]);
    }
    match kind {
        "ExternalName" => {
            if !ip.is_empty() && !headless {
                let message = "a Service of type `ExternalName` has no `clusterIP`".to_owned();
                let span = here.key_span("clusterIP");
                here.fields(message, span, "remove it");
            }
            if here.not_empty("externalName") {
                let help = "use lower-case letters, digits, `-` and `.`";
                here.syntax("externalName", is_external, "a DNS name", help);
            }
        }
        _ if ports.is_empty() && !headless => here.missing("ports"),
        "LoadBalancer" | "NodePort" if headless => {
            let message = format!("a Service of type `{kind}` cannot be headless");
            let span = here.node.span_of("clusterIP");
            here.fields(
                message,
                span,
                "remove `clusterIP: None`, or use `type: ClusterIP`",
            );
        }
        _ => {}
    }
    let mut names: FxHashMap<&str, ()> = FxHashMap::default();
    let mut numbers: FxHashMap<(i64, String), ()> = FxHashMap::default();
    for port in ports {
        let name = port.str_of("name").unwrap_or("");
        if name.is_empty() && ports.len() > 1 {
            let message = "a Service with several ports must name each of them".to_owned();
            here.fields(message, port.span, "add a `name` to the port");
        } else if !name.is_empty() && names.insert(name, ()).is_some() {
            let message = format!("two ports of the Service are called `{name}`");
            here.fields(message, port.span_of("name"), "rename one of them");
        }
        let protocol = port.str_of("protocol").unwrap_or("TCP").to_owned();
        if let Some(number) = port.int_of("port")
            && numbers.insert((number, protocol.clone()), ()).is_some()
        {
            let message = format!("two ports of the Service are {number}/{protocol}");
            here.fields(
                message,
                port.span_of("port"),
                "remove or change one of them",
            );
        }
        if let Some(node) = port.int_of("nodePort").filter(|node| *node != 0)
            && matches!(kind, "ClusterIP" | "ExternalName")
        {
            let message =
                format!("`nodePort: {node}` is not allowed for a Service of type `{kind}`");
            let help = "remove it, or use `type: NodePort`";
            here.fields(message, port.span_of("nodePort"), help);
        }
    }
    let affinity = here.node.at(&["sessionAffinityConfig", "clientIP"]);
    if let Some(timeout) = affinity.and_then(|client| client.int_of("timeoutSeconds"))
        && !(1..=86400).contains(&timeout)
    {
        let message = format!(
            "`sessionAffinityConfig.clientIP.timeoutSeconds` is {timeout}, outside 1 to 86400"
        );
        let span = here.key_span("sessionAffinityConfig");
        here.value(message, span, "use at most a day");
    }
    if here
        .node
        .str_of("externalTrafficPolicy")
        .is_some_and(|policy| !policy.is_empty())
        && matches!(kind, "ClusterIP" | "ExternalName")
        && here.node.items("externalIPs").is_empty()
    {
        let message =
            format!("`externalTrafficPolicy` is not allowed for a Service of type `{kind}`");
        let span = here.key_span("externalTrafficPolicy");
        here.fields(
            message,
            span,
            "remove it, or use `type: NodePort` or `LoadBalancer`",
        );
    }
    for ip in here.node.texts("externalIPs") {
        if !is_address(&ip.text) {
            let message = format!("`{}` is not an IP address", ip.text);
            here.value(message, ip.span, "write it as in `203.0.113.7`");
        }
    }
    let help = "write it as in `example.org/internal`";
    here.syntax(
        "loadBalancerClass",
        text::is_qualified_name,
        "the name of a class",
        help,
    );
    for range in here.node.texts("loadBalancerSourceRanges") {
        if cidr(here, &range).is_some() {
            no_host(here, &range);
        }
    }
}

fn is_external(text: &str) -> bool {
    text::is_dns_subdomain(text.strip_suffix('.').unwrap_or(text))
}

/// Reads a block, and says what is wrong with one that is none.
fn cidr(here: &mut Here<'_, '_, '_>, text: &Text) -> Option<Cidr> {
    let block = Cidr::parse(text.text.trim()).filter(|_| text.text.contains('/'));
    if block.is_none() {
        let message = format!("`{}` is not a CIDR block", text.text);
        here.value(message, text.span, "write it as in `10.0.0.0/16`");
    }
    block
}

/// What an ingress leads to in place of a Service.
fn resource(here: &mut Here<'_, '_, '_>) {
    let Some(resource) = here.node.some("resource") else {
        return;
    };
    if let Some(group) = resource.text_of("apiGroup")
        && !text::is_dns_subdomain(&group.text)
    {
        let message = format!("`{}` is not a group of the interface", group.text);
        here.value(message, group.span, "write it as in `k8s.example.org`");
    }
    for key in ["kind", "name"] {
        let given = resource.text_of(key).filter(|given| !given.text.is_empty());
        if let Some(given) = given.filter(|given| !text::is_path_segment(&given.text)) {
            let message = format!("`{}` cannot be the {key} of an object", given.text);
            here.value(message, given.span, "use a text without `/` and `%`");
        }
    }
}

/// Says of a block that it is written with an address in it; since 1.36 that is refused, before it was a warning.
fn no_host(here: &mut Here<'_, '_, '_>, text: &Text) {
    let Some((address, bits)) = address::cidr(text.text.trim()) else {
        return;
    };
    let first = address::masked((address, bits));
    if first == address {
        return;
    }
    let message = format!("`{}` has bits beyond its prefix of {bits}", text.text);
    let help = format!(
        "write `{first}/{bits}` for the block, or `{address}` with all its bits for the one address"
    );
    let diagnostic = match here.release {
        36.. => Diagnostic::error("k8s-value", message),
        _ => Diagnostic::warning("k8s-value", message),
    };
    here.push(diagnostic.at(text.span).help(help));
}

/// Checks ingresses and network policies.
pub(super) fn policy(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "IngressSpec" => {
            if here.node.some("defaultBackend").is_none() && here.node.items("rules").is_empty() {
                let message = format!("{} needs `defaultBackend` or `rules`", here.steps.subject());
                let at = here.at;
                here.push(Diagnostic::error("k8s-missing-field", message).at(at));
            }
            here.dns_subdomain("ingressClassName");
        }
        "IngressTLS" => super::cluster::hosts(here, "hosts"),
        "IngressRule" => ingress_host(here),
        "HTTPIngressRuleValue" => {
            here.not_empty("paths");
        }
        "HTTPIngressPath" => ingress_path(here),
        "IngressBackend" => {
            here.exactly_one(&["service", "resource"]);
            resource(here);
        }
        "IngressServiceBackend" => {
            here.dns_label("name");
            if here.node.some("port").is_none() {
                here.missing("port");
            }
        }
        "ServiceBackendPort" => {
            here.exactly_one(&["name", "number"]);
            here.range("number", 1, 65535);
            here.syntax(
                "name",
                text::is_port_name,
                "the name of a port",
                super::PORT_NAME,
            );
        }
        "NetworkPolicyPeer" => {
            let given = here.given(&["ipBlock", "podSelector", "namespaceSelector"]);
            if given.is_empty() {
                here.exactly_one(&["ipBlock", "podSelector", "namespaceSelector"]);
            } else if given.len() > 1 && given.contains(&"ipBlock") {
                here.at_most_one(&given);
            }
        }
        "NetworkPolicyPort" => policy_port(here),
        "NetworkPolicySpec" if here.node.items("policyTypes").len() > 2 => {
            let message = "a policy has at most two types".to_owned();
            let span = here.key_span("policyTypes");
            here.value(message, span, "use `Ingress` and `Egress`, each once");
        }
        "IPBlock" => ip_block(here),
        _ => {}
    }
}

fn ingress_host(here: &mut Here<'_, '_, '_>) {
    let Some(host) = here
        .node
        .text_of("host")
        .filter(|host| !host.text.is_empty())
    else {
        return;
    };
    if is_address(&host.text) {
        let message = format!(
            "the host of an Ingress is a DNS name, not the address `{}`",
            host.text
        );
        here.value(message, host.span, "leave `host` out to match every host");
        return;
    }
    let name = host.text.strip_prefix("*.").unwrap_or(&host.text);
    if !text::is_dns_subdomain(name) {
        let message = format!("`{}` is not a host", host.text);
        here.value(
            message,
            host.span,
            "write it as in `shop.example.org` or `*.example.org`",
        );
    }
}

fn ingress_path(here: &mut Here<'_, '_, '_>) {
    let path = here.node.text_of("path");
    let kind = here.node.str_of("pathType").unwrap_or("");
    let text = path.as_ref().map_or("", |path| &path.text);
    let span = path.as_ref().map_or(here.at, |path| path.span);
    match kind {
        "Exact" | "Prefix" => {
            let bad = ["//", "/./", "/../", "%2f", "%2F"];
            if !text.starts_with('/') {
                let message = format!("the path `{text}` must start with `/`");
                here.value(message, span, "write it as in `/shop`");
            } else if let Some(part) = bad.iter().find(|part| text.contains(**part)) {
                let message = format!("the path `{text}` must not contain `{part}`");
                here.value(message, span, "write the path that is asked for");
            } else if text.ends_with("/..") || text.ends_with("/.") {
                let message = format!("the path `{text}` must not end with a relative part");
                here.value(message, span, "write the path that is asked for");
            }
        }
        "ImplementationSpecific" if !text.is_empty() && !text.starts_with('/') => {
            let message = format!("the path `{text}` must start with `/`");
            here.value(message, span, "write it as in `/shop`");
        }
        _ => {}
    }
}

fn policy_port(here: &mut Here<'_, '_, '_>) {
    here.port_or_name("port");
    here.range("endPort", 1, 65535);
    let Some(end) = here.node.int_of("endPort") else {
        return;
    };
    let span = here.key_span("endPort");
    match here.node.some("port").map(Node::int) {
        None => here.fields(
            "`endPort` needs `port`".to_owned(),
            span,
            "add the first port of the range",
        ),
        Some(None) => here.fields(
            "`endPort` needs a `port` that is a number".to_owned(),
            span,
            "a named port is one port: write its number",
        ),
        Some(Some(first)) if end < first => {
            let message = format!("the range of ports ends at {end}, before it starts at {first}");
            here.value(message, span, "exchange `port` and `endPort`");
        }
        _ => {}
    }
}

fn ip_block(here: &mut Here<'_, '_, '_>) {
    let Some(text) = here.node.text_of("cidr") else {
        return;
    };
    let Some(block) = cidr(here, &text) else {
        return;
    };
    no_host(here, &text);
    for except in here.node.texts("except") {
        let Some(inner) = cidr(here, &except) else {
            continue;
        };
        no_host(here, &except);
        if !block.covers(inner) || block.prefix == inner.prefix {
            let family = |family: Family| match family {
                Family::V4 => "IPv4",
                Family::V6 => "IPv6",
            };
            let message = if block.family() == inner.family() {
                format!("`{}` is not a smaller part of `{}`", except.text, text.text)
            } else {
                let (a, b) = (family(inner.family()), family(block.family()));
                format!("`{}` is {a}, and `{}` is {b}", except.text, text.text)
            };
            let help = "an exception lies within the block";
            here.value(message, except.span, help);
        }
    }
}
