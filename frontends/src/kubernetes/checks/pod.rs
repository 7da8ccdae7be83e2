//! Pods and containers.

use locus_core::{Span, suggest};

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::metadata;
use crate::kubernetes::text;
use crate::yaml::Node;

/// The fields of a probe or hook that say what is done.
const HANDLERS: &[&str] = &["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "PodSpec" => pod(here),
        "PodTemplateSpec" => super::workload::template(here),
        "Container" | "EphemeralContainer" => container(name, here),
        "ContainerPort" => container_port(here),
        "EnvVar" => variable(here),
        "EnvVarSource" => here.exactly_one(&[
            "fieldRef",
            "resourceFieldRef",
            "configMapKeyRef",
            "secretKeyRef",
            "fileKeyRef",
        ]),
        "PodResourceClaim" => {
            here.exactly_one(&["resourceClaimName", "resourceClaimTemplateName"]);
        }
        "EnvFromSource" => here.exactly_one(&["configMapRef", "secretRef"]),
        "Probe" => {
            here.exactly_one(HANDLERS);
            here.not_negative(&[
                "initialDelaySeconds",
                "timeoutSeconds",
                "periodSeconds",
                "successThreshold",
                "failureThreshold",
            ]);
            here.range("terminationGracePeriodSeconds", 1, i64::MAX);
        }
        "LifecycleHandler" => here.exactly_one(HANDLERS),
        "ExecAction" => {
            here.not_empty("command");
        }
        "HTTPGetAction" | "TCPSocketAction" => here.port_or_name("port"),
        "GRPCAction" => here.range("port", 1, 65535),
        "SecurityContext" => security(here),
        "PodSecurityContext" => {
            security(here);
            here.distinct("sysctls", "name");
            for group in here.node.items("supplementalGroups") {
                if Node::int(group).is_some_and(|id| !(0..=i64::from(i32::MAX)).contains(&id)) {
                    let message = "a group is a number from 0 to 2147483647".to_owned();
                    here.value(message, group.used_at(), "use another number");
                }
            }
        }
        "SeccompProfile" | "AppArmorProfile" => profile(here),
        "Toleration" => toleration(here),
        "TopologySpreadConstraint" => spread(here),
        "WeightedPodAffinityTerm" | "PreferredSchedulingTerm" => here.range("weight", 1, 100),
        "NodeSelectorRequirement" => super::selector::node_requirement(here),
        "ObjectFieldSelector" => field_path(here),
        "PodDNSConfig" => dns(here),
        "DownwardAPIVolumeFile" => here.exactly_one(&["fieldRef", "resourceFieldRef"]),
        "NodeSelector" if here.node.items("nodeSelectorTerms").is_empty() => {
            here.not_empty("nodeSelectorTerms");
        }
        "Sysctl" => here.syntax(
            "name",
            is_sysctl,
            "the name of a sysctl",
            "write it as in `net.ipv4.tcp_syncookies`",
        ),
        _ => {}
    }
}

fn pod(here: &mut Here<'_, '_, '_>) {
    if here.node.some("containers").is_some() {
        here.not_empty("containers");
    }
    here.range("activeDeadlineSeconds", 1, i64::from(i32::MAX));
    for key in ["hostname", "subdomain"] {
        here.dns_label(key);
    }
    for key in [
        "serviceAccountName",
        "nodeName",
        "priorityClassName",
        "runtimeClassName",
    ] {
        here.dns_subdomain(key);
    }
    metadata::labels(&here.node.labels("nodeSelector"), here.diagnostics);
    if here.node.str_of("dnsPolicy") == Some("None")
        && here
            .node
            .some("dnsConfig")
            .is_none_or(|config| config.items("nameservers").is_empty())
    {
        let message = "`dnsPolicy: None` needs `dnsConfig.nameservers`".to_owned();
        let span = here.node.span_of("dnsPolicy");
        here.fields(message, span, "add name servers, or choose another policy");
    }
    proc_mounts(here);
    host_ports(here);
    claims(here);
    spreads(here);
}

/// On the network of the node, a port of the container is one of the node.
fn host_ports(here: &mut Here<'_, '_, '_>) {
    if here.node.bool_of("hostNetwork") != Some(true) {
        return;
    }
    for kind in ["initContainers", "containers"] {
        let containers = here.node.items(kind).iter();
        for port in containers.flat_map(|container| container.items("ports")) {
            if let (Some(own), Some(host)) = (port.int_of("containerPort"), port.int_of("hostPort"))
                && host != 0
                && own != host
            {
                let message = format!(
                    "with `hostNetwork: true`, `hostPort` is the `containerPort` {own}, not {host}"
                );
                let span = port.span_of("hostPort");
                here.fields(
                    message,
                    span,
                    "remove `hostPort`, or give both the same number",
                );
            }
        }
    }
}

/// Claims of devices that containers use are those of the pod, each once.
fn claims(here: &mut Here<'_, '_, '_>) {
    here.distinct("resourceClaims", "name");
    let of_pod = here.node.items("resourceClaims");
    let claims: Vec<&str> = of_pod
        .iter()
        .filter_map(|claim| claim.str_of("name"))
        .collect();
    for kind in ["initContainers", "containers"] {
        for container in here.node.items(kind) {
            let used = container.at(&["resources"]);
            let mut before: Vec<(&str, &str)> = Vec::new();
            for claim in used.map_or(&[][..], |resources| resources.items("claims")) {
                let Some(name) = claim.text_of("name") else {
                    continue;
                };
                if !claims.contains(&&*name.text) {
                    let message = format!("the pod has no resource claim `{}`", name.text);
                    let near = suggest::did_you_mean(&name.text, claims.iter().copied());
                    let help = near.unwrap_or_else(|| "add it to `resourceClaims`".to_owned());
                    here.value(message, name.span, help);
                    continue;
                }
                let known = claim.str_of("name").unwrap_or("");
                let this = (known, claim.str_of("request").unwrap_or(""));
                if before.contains(&this) {
                    let message = format!("the claim `{known}` is named twice");
                    here.fields(message, name.span, "remove one of them");
                }
                before.push(this);
            }
        }
    }
}

/// One spread for each topology, hard or soft.
fn spreads(here: &mut Here<'_, '_, '_>) {
    let mut before: Vec<(&str, &str)> = Vec::new();
    for spread in here.node.items("topologySpreadConstraints") {
        let this = (
            spread.str_of("topologyKey").unwrap_or(""),
            spread.str_of("whenUnsatisfiable").unwrap_or(""),
        );
        if before.contains(&this) {
            let message = format!("two constraints spread over `{}`", this.0);
            let span = spread.span_of("topologyKey");
            here.fields(message, span, "keep one of them");
        }
        before.push(this);
    }
}

/// Before 1.33, servers drop `procMount` unless they are told not to, and so refuse nothing.
fn proc_mounts(here: &mut Here<'_, '_, '_>) {
    if here.release < 33 || here.node.bool_of("hostUsers") == Some(false) {
        return;
    }
    let kinds = ["initContainers", "containers", "ephemeralContainers"];
    let containers = kinds.iter().flat_map(|kind| here.node.items(kind));
    let unmasked: Vec<Span> = containers
        .filter_map(|container| {
            let security = container.some("securityContext")?;
            let unmasked = security.str_of("procMount") == Some("Unmasked");
            unmasked.then(|| security.span_of("procMount"))
        })
        .collect();
    for span in unmasked {
        let message = "`procMount: Unmasked` needs `hostUsers: false`".to_owned();
        here.fields(
            message,
            span,
            "add `hostUsers: false` to the pod, or remove `procMount`",
        );
    }
}

fn container(name: &str, here: &mut Here<'_, '_, '_>) {
    here.dns_label("name");
    propagation(here);
    here.word("restartPolicy", &["Always", "Never", "OnFailure"]);
    if here.node.some("image").is_some() || name == "Container" {
        here.not_empty("image");
    }
}

/// What a container mounts reaches the node only from a privileged one.
fn propagation(here: &mut Here<'_, '_, '_>) {
    let security = here.node.some("securityContext");
    let privileged = security.and_then(|security| security.bool_of("privileged"));
    if privileged == Some(true) {
        return;
    }
    let mounts = here.node.items("volumeMounts").iter();
    let both = mounts.filter(|mount| mount.str_of("mountPropagation") == Some("Bidirectional"));
    for mount in both {
        let message = "`mountPropagation: Bidirectional` needs a privileged container".to_owned();
        let span = mount.span_of("mountPropagation");
        let help = "use `HostToContainer`, or make the container privileged";
        here.fields(message, span, help);
    }
}

fn container_port(here: &mut Here<'_, '_, '_>) {
    here.syntax(
        "name",
        text::is_port_name,
        "the name of a port",
        super::PORT_NAME,
    );
    here.range("containerPort", 1, 65535);
    // A host port of 0 is none.
    here.range("hostPort", 0, 65535);
}

fn variable(here: &mut Here<'_, '_, '_>) {
    let (accepts, help): (fn(&str) -> bool, &str) = match here.release {
        32.. => (
            text::is_variable_name,
            "use printable characters without `=`",
        ),
        _ => (
            text::is_old_variable_name,
            "use letters, digits, `-`, `_` and `.`, not starting with a digit",
        ),
    };
    here.syntax("name", accepts, "the name of a variable", help);
    let value = here
        .node
        .str_of("value")
        .is_some_and(|value| !value.is_empty());
    if value && here.node.some("valueFrom").is_some() {
        here.at_most_one(&["value", "valueFrom"]);
    }
}

fn security(here: &mut Here<'_, '_, '_>) {
    for key in ["runAsUser", "runAsGroup", "fsGroup"] {
        here.range(key, 0, i64::from(i32::MAX));
    }
    let on = |key: &str| here.node.bool_of(key);
    if on("allowPrivilegeEscalation") == Some(false) {
        let span = here.node.span_of("allowPrivilegeEscalation");
        let added = here.node.at(&["capabilities"]);
        let admin = added.is_some_and(|capabilities| {
            let texts = capabilities.texts("add");
            texts
                .iter()
                .any(|text| matches!(&*text.text, "CAP_SYS_ADMIN"))
        });
        if on("privileged") == Some(true) {
            let message = "a privileged container cannot have `allowPrivilegeEscalation: false`";
            here.fields(message.to_owned(), span, "remove one of the two");
        } else if admin {
            let message =
                "a container with `CAP_SYS_ADMIN` cannot have `allowPrivilegeEscalation: false`";
            here.fields(message.to_owned(), span, "remove one of the two");
        }
    }
}

fn profile(here: &mut Here<'_, '_, '_>) {
    let local = here.node.str_of("type") == Some("Localhost");
    let given = here.node.some("localhostProfile").is_some();
    if local != given {
        let message = if given {
            "`localhostProfile` is only allowed with `type: Localhost`"
        } else {
            "`type: Localhost` needs `localhostProfile`"
        };
        let span = here.key_span(if given { "localhostProfile" } else { "type" });
        here.fields(
            message.to_owned(),
            span,
            "name the profile with `type: Localhost`, and only then",
        );
    }
}

fn toleration(here: &mut Here<'_, '_, '_>) {
    here.syntax(
        "key",
        text::is_qualified_name,
        "the key of a taint",
        "write it as in `example.com/gpu`",
    );
    let operator = here.node.str_of("operator").unwrap_or("Equal");
    let key = here.node.str_of("key").unwrap_or("");
    if key.is_empty() && operator != "Exists" {
        let message = "a toleration without `key` needs `operator: Exists`".to_owned();
        let at = here.at;
        here.fields(
            message,
            at,
            "add the `key` of the taint, or `operator: Exists`",
        );
    }
    if operator == "Exists"
        && here
            .node
            .str_of("value")
            .is_some_and(|value| !value.is_empty())
    {
        let message = "a toleration with `operator: Exists` has no `value`".to_owned();
        let span = here.key_span("value");
        here.fields(message, span, "remove `value`, or use `operator: Equal`");
    }
    let effect = here.node.str_of("effect").unwrap_or("");
    if here.node.some("tolerationSeconds").is_some() && effect != "NoExecute" {
        let message = "`tolerationSeconds` needs `effect: NoExecute`".to_owned();
        let span = here.key_span("tolerationSeconds");
        here.fields(message, span, "nothing else is evicted after a time");
    }
}

fn spread(here: &mut Here<'_, '_, '_>) {
    here.range("maxSkew", 1, i64::MAX);
    here.range("minDomains", 1, i64::MAX);
    let soft = here.node.str_of("whenUnsatisfiable") == Some("ScheduleAnyway");
    if soft && here.node.some("minDomains").is_some() {
        let message = "`minDomains` needs `whenUnsatisfiable: DoNotSchedule`".to_owned();
        let span = here.key_span("minDomains");
        here.fields(
            message,
            span,
            "remove `minDomains`, or make the constraint hard",
        );
    }
}

/// Fields of a pod that containers can be given.
fn field_path(here: &mut Here<'_, '_, '_>) {
    const FIELDS: &[&str] = &[
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "metadata.labels",
        "metadata.annotations",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let Some(path) = here.node.text_of("fieldPath") else {
        return;
    };
    let keyed = ["metadata.labels['", "metadata.annotations['"]
        .iter()
        .any(|prefix| path.text.starts_with(prefix) && path.text.ends_with("']"));
    if !keyed && !FIELDS.contains(&&*path.text) {
        let message = format!(
            "`{}` is not a field that containers can be given",
            path.text
        );
        let help = locus_core::suggest::did_you_mean(&path.text, FIELDS.iter().copied());
        let help = help.unwrap_or_else(|| format!("use one of {}", super::list(FIELDS)));
        here.value(message, path.span, help);
    }
}

fn dns(here: &mut Here<'_, '_, '_>) {
    let servers = here.node.texts("nameservers");
    if servers.len() > 3 {
        let message = format!(
            "{} name servers are given; at most 3 are allowed",
            servers.len()
        );
        let span = here.key_span("nameservers");
        here.value(message, span, "remove some");
    }
    for server in servers {
        if locus_core::values::Address::parse(&server.text).is_none() {
            let message = format!("`{}` is not an address", server.text);
            here.value(message, server.span, "name servers are given by address");
        }
    }
    for search in here.node.texts("searches") {
        let name = search.text.strip_suffix('.').unwrap_or(&search.text);
        if &*search.text != "." && !text::is_dns_subdomain(&name.replace('_', "-")) {
            let message = format!("`{}` is not a search domain", search.text);
            here.value(
                message,
                search.span,
                "write it as in `shop.svc.example.org`",
            );
        }
    }
    if here.node.items("searches").len() > 32 {
        let message = "more than 32 search domains are given".to_owned();
        let span = here.key_span("searches");
        here.value(message, span, "remove some");
    }
}

fn is_sysctl(text: &str) -> bool {
    text.len() <= 253
        && !text.is_empty()
        && text.split(['.', '/']).all(|part| {
            let edge =
                |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
            let bytes = part.as_bytes();
            edge(bytes.first())
                && edge(bytes.last())
                && bytes.iter().all(|b| {
                    b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_')
                })
        })
}
