//! What a pod asks a node for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use locus_core::Span;

use super::nodes::thousandths;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Container, ContainerRole, Model, Workload};
use crate::yaml::Node;

/// A part of what is asked for, and where it is written.
pub(crate) type Asked = (u64, Span);

/// What a pod asks for of each resource, in thousandths: the greatest of some sums.
pub(crate) type Demand = BTreeMap<Arc<str>, Vec<Vec<Asked>>>;

/// What is filled in for containers of a namespace that ask for nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    requests: BTreeMap<Arc<str>, Asked>,
    limits: BTreeSet<Arc<str>>,
}

impl Defaults {
    /// Reads the LimitRanges of a namespace.
    pub(crate) fn of(model: &Model<'_>, namespace: &str) -> Defaults {
        let mut defaults = Defaults::default();
        for object in model.objects {
            if !object.is("", "LimitRange") || object.namespace.as_deref() != Some(namespace) {
                continue;
            }
            for limit in object.spec().map_or(&[][..], |spec| spec.items("limits")) {
                if limit.str_of("type") != Some("Container") {
                    continue;
                }
                // A default limit is the request where there is no default request.
                for key in ["defaultRequest", "default"] {
                    for (name, asked) in amounts(limit.some(key)) {
                        if key == "default" {
                            defaults.limits.insert(name.clone());
                        }
                        defaults.requests.entry(name).or_insert(asked);
                    }
                }
            }
        }
        defaults
    }
}

fn amounts(node: Option<&Node>) -> Vec<(Arc<str>, Asked)> {
    let entries = node.map_or(&[][..], Node::entries).iter();
    let amount = |entry: &crate::yaml::Entry| {
        let amount = thousandths(entry.value.text()?)?;
        Some((entry.name()?.clone(), (amount, entry.value.used_at())))
    };
    entries.filter_map(amount).collect()
}

/// What a container asks for: its requests, else its limits, else what is filled in.
fn requests(container: &Container<'_>, defaults: &Defaults) -> BTreeMap<Arc<str>, Asked> {
    let resources = container.node.some("resources");
    let part = |key: &str| resources.and_then(|resources| resources.some(key));
    let mut all: BTreeMap<Arc<str>, Asked> = defaults.requests.clone();
    all.extend(amounts(part("limits")));
    all.extend(amounts(part("requests")));
    all
}

/// What a pod asks for.
pub(crate) fn of(model: &Model<'_>, workload: &Workload<'_>, defaults: &Defaults) -> Demand {
    let mut demand = Demand::default();
    let containers: Vec<(ContainerRole, BTreeMap<Arc<str>, Asked>)> = workload
        .containers
        .iter()
        .map(|container| (container.role, requests(container, defaults)))
        .collect();
    let mut names: Vec<Arc<str>> = Vec::new();
    for (_, asked) in &containers {
        names.extend(asked.keys().cloned());
    }
    let whole = amounts(workload.spec.at(&["resources", "requests"]));
    names.extend(whole.iter().map(|(name, _)| name.clone()));
    let overhead = overhead(model, workload);
    names.extend(overhead.iter().map(|(name, _)| name.clone()));
    names.sort_unstable();
    names.dedup();
    for name in names {
        let mut sums: Vec<Vec<Asked>> = Vec::new();
        if let Some((_, asked)) = whole.iter().find(|(other, _)| *other == name) {
            // What is asked for the pod as a whole counts in place of its containers.
            sums.push(vec![*asked]);
        } else {
            let mut beside: Vec<Asked> = Vec::new();
            for (role, asked) in &containers {
                let Some(asked) = asked.get(&name) else {
                    continue;
                };
                match role {
                    ContainerRole::Sidecar => beside.push(*asked),
                    ContainerRole::Init => {
                        let mut sum = beside.clone();
                        sum.push(*asked);
                        sums.push(sum);
                    }
                    ContainerRole::Main | ContainerRole::Ephemeral => {}
                }
            }
            let main = containers
                .iter()
                .filter(|(role, _)| *role == ContainerRole::Main);
            let main = main.filter_map(|(_, asked)| asked.get(&name).copied());
            sums.push(main.chain(beside).collect());
        }
        if let Some((_, more)) = overhead.iter().find(|(other, _)| *other == name) {
            sums.iter_mut().for_each(|sum| sum.push(*more));
        }
        demand.insert(name, sums);
    }
    demand
}

fn overhead(model: &Model<'_>, workload: &Workload<'_>) -> Vec<(Arc<str>, Asked)> {
    let spec = workload.spec;
    if let Some(written) = spec.some("overhead") {
        return amounts(Some(written));
    }
    let class = spec.str_of("runtimeClassName");
    let class = class.and_then(|name| model.find("RuntimeClass", None, name));
    let class = class.and_then(|at| model.object(at));
    amounts(class.and_then(|class| class.node.at(&["overhead", "podFixed"])))
}

/// Whether a container gives an amount, or has one filled in: `requests` or `limits` of a resource.
pub(crate) fn gives(
    container: &Container<'_>,
    defaults: &Defaults,
    part: &str,
    resource: &str,
) -> bool {
    let written = |key: &str| container.node.at(&["resources", key, resource]).is_some();
    match part {
        // A limit is the request where there is none.
        "requests" => {
            written("requests") || written("limits") || defaults.requests.contains_key(resource)
        }
        _ => written("limits") || defaults.limits.contains(resource),
    }
}
