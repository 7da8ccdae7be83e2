//! How long things may take, and what quotas and ranges allow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use locus_core::Span;
use locus_core::facts::AtomId;
use locus_core::value::SymbolId;

use super::Builder;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{ContainerRole, Workload};
use crate::kubernetes::object::Object;
use crate::kubernetes::placement::demand::{self, Defaults};
use crate::kubernetes::placement::nodes::thousandths;
use crate::kubernetes::scale::Scaled;
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

/// What the objects of a namespace take of each thing that quotas are about, in thousandths.
#[derive(Debug, Default)]
struct Used {
    now: BTreeMap<Arc<str>, u64>,
    most: BTreeMap<Arc<str>, u64>,
    scaled: bool,
    /// What depends on numbers of pods that are open: the number, its limits, and how much each pod takes.
    open: BTreeMap<Arc<str>, Vec<(SymbolId, Scaled, u64)>>,
}

/// How many pods there are.
#[derive(Clone, Copy, Debug)]
struct Pods {
    now: usize,
    most: usize,
    open: Option<(SymbolId, Scaled)>,
}

impl Pods {
    const ONE: Pods = Pods {
        now: 1,
        most: 1,
        open: None,
    };
}

impl Used {
    fn add(&mut self, name: &str, each: u64, pods: Pods) {
        let all = self.most.entry(name.into()).or_default();
        *all = all.saturating_add(times(each, pods.most));
        let now = self.now.entry(name.into()).or_default();
        match pods.open {
            Some((symbol, scaled)) if each > 0 => {
                let open = self.open.entry(name.into()).or_default();
                open.push((symbol, scaled, each));
            }
            _ => *now = now.saturating_add(times(each, pods.now)),
        }
    }

    /// All amounts that there may be of something; none when they are too many.
    fn values(&self, name: &str) -> Option<BTreeSet<u64>> {
        let mut all = BTreeSet::from([self.now.get(name).copied().unwrap_or(0)]);
        // A workload may take of the same thing in several ways, always for as many pods.
        let mut by_symbol: BTreeMap<SymbolId, (Scaled, u64)> = BTreeMap::new();
        for (symbol, scaled, each) in self.open.get(name).map_or(&[][..], Vec::as_slice) {
            let (_, sum) = by_symbol.entry(*symbol).or_insert((*scaled, 0));
            *sum = sum.saturating_add(*each);
        }
        for (scaled, each) in by_symbol.values() {
            let mut longer = BTreeSet::new();
            for sum in &all {
                for count in scaled.least..=scaled.most {
                    longer.insert(sum.saturating_add(times(*each, count)));
                    if longer.len() > AMOUNTS {
                        return None;
                    }
                }
            }
            all = longer;
        }
        Some(all)
    }
}

/// Amounts that are listed where numbers of pods are open.
const AMOUNTS: usize = 256;

fn times(each: u64, count: usize) -> u64 {
    each.saturating_mul(u64::try_from(count).unwrap_or(u64::MAX))
}

impl Builder<'_, '_> {
    /// States how long things may take, and what quotas and ranges allow.
    pub(super) fn rollout(&mut self) {
        let model = self.model;
        for workload in &model.workloads {
            let (Some(object), Some(atom)) =
                (model.object(workload.object), self.atom_of(workload.object))
            else {
                continue;
            };
            self.start_windows(workload, atom);
            if &*object.kind.text == "Deployment" {
                self.clock(workload, object, atom);
            }
        }
        let mut used: BTreeMap<Arc<str>, Used> = BTreeMap::new();
        for (at, object) in model.objects.iter().enumerate() {
            if object.is("", "ResourceQuota") {
                self.quota(at, object, &mut used);
            } else if object.is("", "LimitRange") {
                self.range(at, object);
            }
        }
    }

    fn start_windows(&mut self, workload: &Workload<'_>, atom: AtomId) {
        for container in &workload.containers {
            let node = container.node;
            let Some(entry) = node.some_entry("livenessProbe") else {
                continue;
            };
            let probe = &entry.value;
            let number = |key: &str, default: i64| probe.int_of(key).unwrap_or(default);
            let failures = number("failureThreshold", 3).max(1) - 1;
            let delay = number("initialDelaySeconds", 0);
            let killed = delay.saturating_add(failures.saturating_mul(number("periodSeconds", 10)));
            let span = entry.key.span;
            let name = container.name.as_ref().map_or("", |name| &*name.text);
            let fact = self.facts.atom(sig!("StartWindow"), name, span);
            self.fact(field!("StartWindow", "starting"), fact, atom, span);
            self.text_fact(field!("StartWindow", "started"), fact, name, span);
            self.number_fact(field!("StartWindow", "killed_after"), fact, killed, span);
            let ready = node.some("readinessProbe");
            let field = field!("StartWindow", "asked_after");
            self.key_number(field, fact, ready, "initialDelaySeconds");
            let guarded = node.some("startupProbe").is_some();
            self.truth_fact(field!("StartWindow", "guarded"), fact, guarded, span);
        }
    }

    fn clock(&mut self, workload: &Workload<'_>, object: &Object, atom: AtomId) {
        let Some(spec) = object.spec() else {
            return;
        };
        let written = spec.int_of("progressDeadlineSeconds");
        let span = written.map_or(object.span(), |_| spec.span_of("progressDeadlineSeconds"));
        let mains = workload
            .containers
            .iter()
            .filter(|container| container.role == ContainerRole::Main);
        let delays = mains.map(|container| {
            let probe = |key: &str| container.node.some(key);
            let delay = |node: &Node| node.int_of("initialDelaySeconds").unwrap_or(0);
            let startup = probe("startupProbe").map_or(0, delay);
            startup.saturating_add(probe("readinessProbe").map_or(0, delay))
        });
        let ready = delays.max().unwrap_or(0);
        let settled = spec.int_of("minReadySeconds").unwrap_or(0);
        let fact = self.facts.atom(sig!("RolloutClock"), object.called(), span);
        self.fact(field!("RolloutClock", "clock_of"), fact, atom, span);
        let after = ready.saturating_add(settled);
        self.number_fact(field!("RolloutClock", "available_after"), fact, after, span);
        let deadline = written.unwrap_or(600);
        let field = field!("RolloutClock", "given_up_after");
        self.number_fact(field, fact, deadline, span);
    }

    fn quota(&mut self, at: usize, object: &Object, known: &mut BTreeMap<Arc<str>, Used>) {
        let Some((spec, atom)) = object.spec().zip(self.atom_of(at)) else {
            return;
        };
        // A quota with scopes is about some pods only.
        if spec.some("scopes").is_some() || spec.some("scopeSelector").is_some() {
            return;
        }
        let Some(namespace) = object.namespace.clone() else {
            return;
        };
        if !known.contains_key(&namespace) {
            let used = self.used(&namespace);
            known.insert(namespace.clone(), used);
        }
        let Some(used) = known.get(&namespace) else {
            return;
        };
        let mut demanded = Vec::new();
        for entry in spec.some("hard").map_or(&[][..], Node::entries) {
            let (Some(name), Some(hard)) = (entry.name(), entry.value.text()) else {
                continue;
            };
            let (key, span) = (canonical(name), entry.value.used_at());
            if key.starts_with("requests.") || key.starts_with("limits.") {
                demanded.push(key.to_owned());
            }
            if thousandths(hard).is_none() {
                continue;
            }
            let amount = |all: &BTreeMap<Arc<str>, u64>| shown(key, all.get(key).copied());
            let (now, most) = (amount(&used.now), amount(&used.most));
            let open = used.open.get(key).map_or(&[][..], Vec::as_slice);
            let depends: Vec<SymbolId> = open.iter().map(|(symbol, ..)| *symbol).collect();
            let fact = self.facts.atom(sig!("QuotaLine"), name.clone(), span);
            self.fact(field!("QuotaLine", "quota"), fact, atom, span);
            self.text_fact(field!("QuotaLine", "quota_resource"), fact, name, span);
            self.text_fact(field!("QuotaLine", "hard"), fact, hard, span);
            let field = field!("QuotaLine", "used");
            if depends.is_empty() {
                self.text_fact(field, fact, &now, span);
            } else {
                let values = used.values(key).map(|all| {
                    let values = all.into_iter().map(|one| shown(key, Some(one)));
                    values.collect()
                });
                let name = format!("`{name}` that is taken");
                let open = self.open_text(&name, values, &depends, span);
                self.fact(field, fact, open, span);
            }
            if used.scaled && (most != now || !depends.is_empty()) {
                self.text_fact(field!("QuotaLine", "most_used"), fact, &most, span);
            }
        }
        self.gaps(atom, &namespace, &demanded);
    }

    /// What the objects of a namespace take.
    fn used(&self, namespace: &Arc<str>) -> Used {
        let model = self.model;
        let mut used = Used::default();
        let defaults = Defaults::of(model, namespace);
        for &id in model.in_namespace(namespace) {
            let Some(workload) = model.workloads.get(id) else {
                continue;
            };
            let Some(object) = model.object(workload.object) else {
                continue;
            };
            if matches!(&*object.kind.text, "PodTemplate" | "CronJob" | "DaemonSet") {
                continue;
            }
            let now = self.scales.count(workload.object, object);
            let scaled = self.scales.scaled(workload.object).copied();
            used.scaled |= scaled.is_some();
            let pods = Pods {
                now,
                most: scaled.map_or(now, |scaled| scaled.most),
                open: self.open_replicas(workload.object).zip(scaled),
            };
            used.add("pods", 1000, pods);
            for (name, sums) in demand::of(model, workload, &defaults) {
                let sum = |parts: &Vec<demand::Asked>| -> u64 {
                    parts.iter().map(|(amount, _)| amount).sum()
                };
                let each = sums.iter().map(sum).max().unwrap_or(0);
                used.add(&format!("requests.{name}"), each, pods);
            }
            for (name, each) in limits(workload) {
                used.add(&format!("limits.{name}"), each, pods);
            }
            let templates = object.spec();
            let templates = templates.map_or(&[][..], |spec| spec.items("volumeClaimTemplates"));
            for template in templates {
                used.add("persistentvolumeclaims", 1000, pods);
                if let Some(size) = storage(template.some("spec")) {
                    used.add("requests.storage", size, pods);
                }
            }
        }
        for object in model.objects {
            if object.namespace.as_ref() != Some(namespace) {
                continue;
            }
            let name = match (object.group(), &*object.kind.text) {
                ("", "Service") => "services",
                ("", "ConfigMap") => "configmaps",
                ("", "Secret") => "secrets",
                ("", "PersistentVolumeClaim") => {
                    if let Some(size) = storage(object.spec()) {
                        used.add("requests.storage", size, Pods::ONE);
                    }
                    "persistentvolumeclaims"
                }
                ("", "ReplicationController") => "replicationcontrollers",
                ("apps", "Deployment") => "count/deployments.apps",
                ("apps", "StatefulSet") => "count/statefulsets.apps",
                ("batch", "Job") => "count/jobs.batch",
                ("batch", "CronJob") => "count/cronjobs.batch",
                _ => continue,
            };
            used.add(name, 1000, Pods::ONE);
            if name == "services" {
                match object.spec().and_then(|spec| spec.str_of("type")) {
                    Some("LoadBalancer") => used.add("services.loadbalancers", 1000, Pods::ONE),
                    Some("NodePort") => used.add("services.nodeports", 1000, Pods::ONE),
                    _ => {}
                }
            }
        }
        used
    }

    /// Amounts that containers leave out though a quota is about them.
    fn gaps(&mut self, quota: AtomId, namespace: &Arc<str>, demanded: &[String]) {
        let model = self.model;
        let defaults = Defaults::of(model, namespace);
        for &id in model.in_namespace(namespace) {
            let Some(workload) = model.workloads.get(id) else {
                continue;
            };
            let Some(atom) = self.atom_of(workload.object) else {
                continue;
            };
            for container in &workload.containers {
                if container.role == ContainerRole::Ephemeral {
                    continue;
                }
                for name in demanded {
                    let Some((part, resource)) = name.split_once('.') else {
                        continue;
                    };
                    if !matches!(resource, "cpu" | "memory") {
                        continue;
                    }
                    let whole = workload.spec.at(&["resources", part, resource]).is_some();
                    if whole || demand::gives(container, &defaults, part, resource) {
                        continue;
                    }
                    let span = container.span();
                    let fact = self.facts.atom(sig!("QuotaGap"), name.as_str(), span);
                    self.fact(field!("QuotaGap", "lacking"), fact, atom, span);
                    self.text_fact(field!("QuotaGap", "lacked"), fact, name, span);
                    self.fact(field!("QuotaGap", "demanded_by"), fact, quota, span);
                }
            }
        }
    }

    fn range(&mut self, at: usize, object: &Object) {
        let Some(atom) = self.atom_of(at) else {
            return;
        };
        for limit in object.spec().map_or(&[][..], |spec| spec.items("limits")) {
            if limit.str_of("type") != Some("Container") {
                continue;
            }
            for (key, field) in [
                ("min", field!("RangeLine", "range_least")),
                ("max", field!("RangeLine", "range_most")),
            ] {
                for entry in limit.some(key).map_or(&[][..], Node::entries) {
                    let (Some(name), Some(text)) = (entry.name(), entry.value.text()) else {
                        continue;
                    };
                    let span: Span = entry.value.used_at();
                    let fact = self.facts.atom(sig!("RangeLine"), name.clone(), span);
                    self.fact(field!("RangeLine", "range"), fact, atom, span);
                    self.text_fact(field!("RangeLine", "range_resource"), fact, name, span);
                    self.text_fact(field, fact, text, span);
                }
            }
        }
    }
}

/// The name that quotas have for something in one spelling.
fn canonical(name: &str) -> &str {
    match name {
        "cpu" => "requests.cpu",
        "memory" => "requests.memory",
        "ephemeral-storage" => "requests.ephemeral-storage",
        "count/pods" => "pods",
        "count/services" => "services",
        "count/configmaps" => "configmaps",
        "count/secrets" => "secrets",
        "count/persistentvolumeclaims" => "persistentvolumeclaims",
        "count/replicationcontrollers" => "replicationcontrollers",
        other => other,
    }
}

/// An amount as people write it.
fn shown(name: &str, thousandths: Option<u64>) -> String {
    let amount = thousandths.unwrap_or(0);
    let whole = amount / 1000;
    let bytes = name.ends_with("memory") || name.ends_with("storage");
    match (amount % 1000, whole) {
        (0, whole) if bytes && whole > 0 && whole % (1 << 30) == 0 => format!("{}Gi", whole >> 30),
        (0, whole) if bytes && whole > 0 && whole % (1 << 20) == 0 => format!("{}Mi", whole >> 20),
        (0, whole) => whole.to_string(),
        _ => format!("{amount}m"),
    }
}

/// What the containers of a pod may use of each resource.
fn limits(workload: &Workload<'_>) -> BTreeMap<Arc<str>, u64> {
    let mut all: BTreeMap<Arc<str>, u64> = BTreeMap::new();
    for container in &workload.containers {
        if !matches!(container.role, ContainerRole::Main | ContainerRole::Sidecar) {
            continue;
        }
        let limits = container.node.at(&["resources", "limits"]);
        for entry in limits.map_or(&[][..], Node::entries) {
            if let (Some(name), Some(amount)) = (
                entry.name(),
                entry.value.text().and_then(|text| thousandths(text)),
            ) {
                *all.entry(name.clone()).or_default() += amount;
            }
        }
    }
    all
}

/// What a claim asks for.
fn storage(spec: Option<&Node>) -> Option<u64> {
    let size = spec?.at(&["resources", "requests", "storage"])?;
    thousandths(size.text()?)
}
