//! Amounts of resources: of containers, in limits and in quotas.

use locus_core::values::Quantity;

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::text;
use crate::yaml::{Entry, Node};

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

/// The amount that an entry of a map of resources says.
fn amount(entry: &Entry) -> Option<Quantity> {
    Quantity::parse(entry.value.as_str()?.trim())
}

/// Whether a resource comes from elsewhere, so that its name has a domain.
fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.starts_with("kubernetes.io/")
}

/// Amounts of resources are not negative, and resources beyond the known ones are whole.
pub(super) fn check(here: &mut Here<'_, '_, '_>) {
    let zero = Quantity::parse("0");
    for kind in ["limits", "requests"] {
        for entry in here.node.some(kind).map_or(&[][..], Node::entries) {
            let text = entry.value.as_str().unwrap_or_default();
            let name = entry.name().map_or("", |name| name);
            let Some(amount) = amount(entry) else {
                continue;
            };
            if Some(amount) < zero {
                let message = format!("`{text}` of {name} is below zero");
                here.value(
                    message,
                    entry.value.used_at(),
                    "use an amount of at least 0",
                );
            }
            let extended = is_extended(name);
            let pages = name.starts_with("hugepages-");
            if extended && amount.whole().is_none() {
                let message = format!("`{text}` of {name} is not a whole number");
                here.value(
                    message,
                    entry.value.used_at(),
                    "only cpu and memory can be divided",
                );
            }
            let known = extended
                || pages
                || matches!(name, "cpu" | "memory" | "ephemeral-storage" | "storage")
                || name.starts_with("kubernetes.io/");
            if !known {
                let message = format!("`{name}` is not a resource of containers");
                let near = ["cpu", "memory", "ephemeral-storage"];
                let help = locus_core::suggest::did_you_mean(name, near);
                let help = help.unwrap_or_else(|| {
                    "use `cpu`, `memory`, `ephemeral-storage`, `hugepages-...`, or a name with a domain".to_owned()
                });
                here.value(message, entry.key.span, help);
            }
        }
    }
}

/// What cannot be shared is asked for as much as it is limited to.
pub(super) fn taken_whole(here: &mut Here<'_, '_, '_>) {
    for entry in here.node.some("requests").map_or(&[][..], Node::entries) {
        let name = entry.name().map_or("", |name| name);
        let huge = name.starts_with("hugepages-");
        if !huge && !is_extended(name) {
            continue;
        }
        let limit = here
            .node
            .some("limits")
            .and_then(|limits| limits.some_entry(name));
        let Some(limit) = limit else {
            let message = format!("`{name}` is asked for without a limit");
            let help = "add it to `limits`: it cannot be shared";
            here.fields(message, entry.key.span, help);
            continue;
        };
        // A limit below the request is what a rule tells.
        if let (Some(asked), Some(most)) = (amount(entry), amount(limit))
            && asked < most
        {
            let message = format!("the limit of `{name}` is not what is asked for");
            let help = "give both the same amount: it cannot be shared";
            here.fields(message, limit.value.used_at(), help);
        }
    }
}

/// Huge pages are given only with some of what containers run on.
pub(super) fn huge_pages(here: &mut Here<'_, '_, '_>) {
    let node = here.node;
    let entries = || {
        let kinds = ["limits", "requests"].into_iter();
        kinds.flat_map(|kind| node.some(kind).map_or(&[][..], Node::entries))
    };
    let named =
        |entry: &Entry, wanted: &[&str]| entry.name().is_some_and(|n| wanted.contains(&&**n));
    let mut pages = entries().filter(|entry| {
        entry
            .name()
            .is_some_and(|name| name.starts_with("hugepages-"))
    });
    let Some(first) = pages.next() else { return };
    if !entries().any(|entry| named(entry, &["cpu", "memory"])) {
        let message = "huge pages are asked for without cpu or memory".to_owned();
        let span = first.key.used_at();
        here.fields(message, span, "ask for one of them too");
    }
}

pub(super) fn quota(here: &mut Here<'_, '_, '_>) {
    for limit in here.node.some("hard").map_or(&[][..], Node::entries) {
        let name = limit.name().map_or("", |name| name);
        let zero = Quantity::parse("0");
        if let Some(amount) = amount(limit)
            && (Some(amount) < zero || (is_counted(name) && amount.whole().is_none()))
        {
            let text = limit.value.as_str().unwrap_or_default();
            let message = format!("`{text}` is not an amount of `{name}`");
            let help = match is_counted(name) {
                true => "use a whole number of at least 0",
                false => "use an amount of at least 0",
            };
            here.value(message, limit.value.used_at(), help);
        }
        let huge = name.strip_prefix("requests.").unwrap_or(name);
        let known = QUOTAS.contains(&name) || huge.starts_with("hugepages-");
        let known = known || (name.contains('/') && text::is_qualified_name(name));
        if !known {
            let message = format!("`{name}` is not a resource that a quota limits");
            let near = locus_core::suggest::did_you_mean(name, QUOTAS.iter().copied());
            let help = "a resource that is no standard one has a domain, as in `example.org/gpu` or `count/pods`";
            here.value(
                message,
                limit.key.used_at(),
                near.unwrap_or_else(|| help.to_owned()),
            );
        }
    }
}

/// Whether a quota counts objects.
fn is_counted(name: &str) -> bool {
    name.starts_with("count/")
        || matches!(
            name,
            "pods"
                | "resourcequotas"
                | "services"
                | "replicationcontrollers"
                | "secrets"
                | "persistentvolumeclaims"
                | "configmaps"
                | "services.nodeports"
                | "services.loadbalancers"
        )
}

/// The amounts of a limit, the least first: each must be at least those before it.
const ORDER: [&str; 4] = ["min", "defaultRequest", "default", "max"];

pub(super) fn limit(here: &mut Here<'_, '_, '_>) {
    let pods = matches!(here.node.str_of("type"), Some("Container" | "Pod"));
    for (at, key) in ORDER.iter().enumerate() {
        for entry in here.node.some(key).map_or(&[][..], Node::entries) {
            let name = entry.name().map_or("", |name| name);
            let known = name.contains('/')
                || name.starts_with("hugepages-")
                || matches!(name, "cpu" | "memory" | "ephemeral-storage");
            if pods && !known {
                let message = format!("`{name}` is not a resource of containers");
                let near = ["cpu", "memory", "ephemeral-storage"];
                let help = locus_core::suggest::did_you_mean(name, near);
                let help = help.unwrap_or_else(|| {
                    "a resource that is no standard one has a domain, as in `example.org/gpu`"
                        .to_owned()
                });
                here.value(message, entry.key.used_at(), help);
            }
            let Some(more) = amount(entry) else { continue };
            let less = ORDER.iter().take(at).rev().find_map(|less| {
                let entry = here.node.some(less)?.some_entry(name)?;
                amount(entry).filter(|amount| *amount > more).map(|_| *less)
            });
            if let Some(less) = less {
                let message = format!("`{key}` of {name} is below `{less}`");
                let help = "`min`, `defaultRequest`, `default` and `max` grow in this order";
                here.fields(message, entry.value.used_at(), help);
            }
        }
    }
    let ratios = here.node.some("maxLimitRequestRatio");
    for entry in ratios.map_or(&[][..], Node::entries) {
        let amount = amount(entry);
        if amount.is_some() && amount < Quantity::parse("1") {
            let message = "a ratio of limit to request is at least 1".to_owned();
            here.value(message, entry.value.used_at(), "use a larger number");
        }
    }
}
