//! Claims of devices, and classes of them.

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::text;
use crate::yaml::Node;

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "DeviceClaim" => {
            here.distinct("requests", "name");
            at_most(here, "requests", 32);
            at_most(here, "constraints", 32);
            at_most(here, "config", 32);
            names(here);
        }
        "DeviceRequest" => {
            here.not_empty("name");
            here.dns_label("name");
            // Versions before `v1` have the fields of a request in itself.
            let early = here.node.some("deviceClassName").is_some();
            if !early {
                here.exactly_one(&["exactly", "firstAvailable"]);
            }
            here.distinct("firstAvailable", "name");
            at_most(here, "firstAvailable", 8);
        }
        "DeviceSubRequest" => {
            here.not_empty("name");
            here.dns_label("name");
            count(here);
        }
        "ExactDeviceRequest" => count(here),
        "DeviceConstraint" => {
            if here
                .given(&["matchAttribute", "distinctAttribute"])
                .is_empty()
            {
                here.missing("matchAttribute");
            }
            let help = "write it as in `dra.example.org/model`";
            for key in ["matchAttribute", "distinctAttribute"] {
                here.syntax(
                    key,
                    is_attribute,
                    "a domain with the name of an attribute",
                    help,
                );
            }
        }
        "OpaqueDeviceConfiguration" => {
            here.not_empty("driver");
            here.dns_subdomain("driver");
            if let Some(parameters) = here.node.some("parameters")
                && parameters.as_mapping().is_none()
            {
                let message = "`parameters` must be an object".to_owned();
                here.value(message, parameters.used_at(), "write it as a map");
            } else if here.node.some("parameters").is_none() {
                here.missing("parameters");
            }
        }
        "DeviceClaimConfiguration" | "DeviceClassConfiguration"
            if here.node.some("opaque").is_none() =>
        {
            here.missing("opaque");
        }
        "DeviceSelector" if here.node.some("cel").is_none() => here.missing("cel"),
        "DeviceToleration" => {
            here.syntax(
                "key",
                text::is_qualified_name,
                "the key of a label",
                "write it as in `example.org/taint`",
            );
            here.word("operator", &["Equal", "Exists"]);
            here.word("effect", &["NoExecute", "NoSchedule", "None"]);
            if here.node.str_of("operator") == Some("Exists")
                && here
                    .node
                    .str_of("value")
                    .is_some_and(|value| !value.is_empty())
            {
                let message = "`value` does not go with `operator: Exists`".to_owned();
                let span = here.key_span("value");
                here.fields(message, span, "remove it, or use `operator: Equal`");
            }
        }
        _ => {}
    }
}

fn at_most(here: &mut Here<'_, '_, '_>, key: &str, most: usize) {
    let count = here.node.items(key).len();
    if count > most {
        let message = format!("`{}` has {count} items, more than {most}", here.path(key));
        let span = here.key_span(key);
        here.value(message, span, format!("use at most {most}"));
    }
}

/// What is asked for: a class, and how many devices of it.
fn count(here: &mut Here<'_, '_, '_>) {
    here.not_empty("deviceClassName");
    here.dns_subdomain("deviceClassName");
    at_most(here, "selectors", 32);
    here.word("allocationMode", &["All", "ExactCount"]);
    match here.node.str_of("allocationMode") {
        Some("All") if here.node.int_of("count").is_some_and(|count| count != 0) => {
            let message = "`count` does not go with `allocationMode: All`".to_owned();
            let span = here.key_span("count");
            here.fields(
                message,
                span,
                "remove it, or use `allocationMode: ExactCount`",
            );
        }
        // Without a number, or with 0, the server fills in 1.
        None | Some("" | "ExactCount") => here.range("count", 0, i64::MAX),
        _ => {}
    }
}

/// Constraints and configurations are about requests of the claim.
fn names(here: &mut Here<'_, '_, '_>) {
    let requests = here.node.items("requests");
    let known = |name: &str| {
        let (first, second) = match name.split_once('/') {
            Some((first, second)) => (first, Some(second)),
            None => (name, None),
        };
        let mut named = requests
            .iter()
            .filter(|request| request.str_of("name") == Some(first));
        named.any(|request: &Node| match second {
            None => true,
            Some(second) => {
                let mut parts = request.items("firstAvailable").iter();
                parts.any(|part| part.str_of("name") == Some(second))
            }
        })
    };
    let mut unknown = Vec::new();
    for key in ["constraints", "config"] {
        for part in here.node.items(key) {
            let names = part.texts("requests");
            unknown.extend(names.into_iter().filter(|name| !known(&name.text)));
        }
    }
    for name in unknown {
        let message = format!("the claim has no request `{}`", name.text);
        let all = requests.iter().filter_map(|request| request.str_of("name"));
        let near = locus_core::suggest::did_you_mean(&name.text, all);
        let help =
            near.unwrap_or_else(|| "name one of `requests`, or `request/subrequest`".to_owned());
        here.value(message, name.span, help);
    }
}

/// Whether a text is a domain and the name of an attribute, as in `dra.example.org/model`.
fn is_attribute(name: &str) -> bool {
    let Some((domain, name)) = name.split_once('/') else {
        return false;
    };
    text::is_dns_subdomain(domain)
        && name.len() <= 32
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
