//! What pods are to each other: apart, together, spread, and sharing ports or volumes of a node.

use std::sync::Arc;

use locus_core::Span;
use locus_core::placement::{Area, Relation};

use super::nodes::NodeShape;
use super::{Builder, selection};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Labels, Selector, Workload};
use crate::yaml::Node;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// A port of the node that pods take.
struct Taken {
    group: usize,
    protocol: Arc<str>,
    port: i64,
    address: Arc<str>,
    span: Span,
}

impl Taken {
    fn clashes(&self, other: &Taken) -> bool {
        let any = |address: &str| address.is_empty() || address == "0.0.0.0" || address == "::";
        self.protocol == other.protocol
            && self.port == other.port
            && (self.address == other.address || any(&self.address) || any(&other.address))
    }
}

impl Builder<'_, '_> {
    /// States what pods are to each other.
    pub(super) fn relations(&mut self) {
        let model = self.model;
        let mut taken = Vec::new();
        for (id, workload) in model.workloads.iter().enumerate() {
            let Some(&group) = self.groups.get(&id) else {
                continue;
            };
            let spec = workload.spec;
            for (kind, together) in [("podAntiAffinity", false), ("podAffinity", true)] {
                let terms = spec.at(&["affinity", kind]);
                for term in terms.map_or(&[][..], |terms| terms.items(REQUIRED)) {
                    self.affinity(group, workload, term, together);
                }
            }
            for constraint in spec.items("topologySpreadConstraints") {
                self.spread(group, workload, constraint);
            }
            taken.extend(ports(group, workload));
        }
        self.host_ports(&taken);
        self.shared_claims();
    }

    /// The groups of the namespaces that a term means whose pods a selector matches.
    fn matched(&self, workload: &Workload<'_>, term: &Node) -> Vec<usize> {
        let model = self.model;
        let Some(selector) = term.some("labelSelector").map(Selector::of) else {
            return Vec::new();
        };
        let named = term.texts("namespaces");
        let by_labels = term.some("namespaceSelector").map(Selector::of);
        let own = model.namespace(workload.object);
        let meant = |namespace: &str| match (&named[..], &by_labels) {
            ([], None) => namespace == own,
            (named, by_labels) => {
                named.iter().any(|name| *name.text == *namespace)
                    || by_labels
                        .as_ref()
                        .is_some_and(|selector| selector.matches(&self.namespace_labels(namespace)))
            }
        };
        let mut found: Vec<usize> = model
            .workloads
            .iter()
            .enumerate()
            .filter(|(_, other)| selector.matches(&other.labels))
            .filter(|(_, other)| meant(model.namespace(other.object)))
            .filter_map(|(id, _)| self.groups.get(&id).copied())
            .collect();
        found.sort_unstable();
        found
    }

    fn namespace_labels(&self, namespace: &str) -> Labels {
        let object = self.model.find("Namespace", None, namespace);
        let object = object.and_then(|at| self.model.object(at));
        let labels = object.map_or(&[][..], |object| &object.labels).iter();
        let mut labels: Labels = labels
            .map(|label| (label.key.text.clone(), label.value.text.clone()))
            .collect();
        labels.insert("kubernetes.io/metadata.name".into(), namespace.into());
        labels
    }

    fn affinity(&mut self, group: usize, workload: &Workload<'_>, term: &Node, together: bool) {
        let Some(key) = term
            .text_of("topologyKey")
            .filter(|key| !key.text.is_empty())
        else {
            return;
        };
        let others = self.matched(workload, term);
        let area = self.area(&key.text);
        let (relation, text) = match together {
            true => {
                let relation = Relation::Together {
                    group,
                    others,
                    area,
                };
                (relation, "must be together with pods that this selects")
            }
            false if others.is_empty() => return,
            false => {
                let relation = Relation::Apart {
                    group,
                    others,
                    area,
                };
                (relation, "must be apart from pods that this selects")
            }
        };
        self.rule(relation, key.span, text);
    }

    fn spread(&mut self, group: usize, workload: &Workload<'_>, constraint: &Node) {
        let hard = constraint.str_of("whenUnsatisfiable") != Some("ScheduleAnyway");
        let Some(key) = constraint.text_of("topologyKey").filter(|_| hard) else {
            return;
        };
        let Some(selector) = constraint.some("labelSelector").map(Selector::of) else {
            return;
        };
        let model = self.model;
        let namespace = model.namespace(workload.object);
        let mut others: Vec<usize> = model
            .select(namespace, &selector)
            .into_iter()
            .filter_map(|id| self.groups.get(&id).copied())
            .collect();
        others.sort_unstable();
        let skew = constraint.int_of("maxSkew").unwrap_or(1);
        let least = constraint.int_of("minDomains").unwrap_or(1);
        let area = self.area(&key.text);
        // Nodes that the pods do not select do not count; nodes that they do not tolerate do, unless it says otherwise.
        let selected = selection::of(workload.spec, &self.shapes);
        let tainted = selection::taints(workload.spec, &self.shapes, false);
        let honours =
            |policy: &str, default: &str| constraint.str_of(policy).unwrap_or(default) == "Honor";
        let (by_affinity, by_taint) = (
            honours("nodeAffinityPolicy", "Honor"),
            honours("nodeTaintsPolicy", "Ignore"),
        );
        let counted = |at: usize, shape: &NodeShape| {
            let allows = |one: &selection::Selection| one.shapes.get(at) == Some(&true);
            shape.count > 0
                && (!by_affinity || selected.iter().all(allows))
                && (!by_taint || tainted.iter().all(allows))
        };
        let shapes = self.shapes.iter().enumerate();
        let relation = Relation::Spread {
            group,
            others,
            area,
            skew: usize::try_from(skew).unwrap_or(1).max(1),
            least_areas: usize::try_from(least).unwrap_or(1),
            counted: shapes.map(|(at, shape)| counted(at, shape)).collect(),
        };
        self.rule(relation, key.span, "must be spread");
    }

    fn host_ports(&mut self, taken: &[Taken]) {
        for (at, one) in taken.iter().enumerate() {
            let mut others: Vec<usize> = taken
                .iter()
                .skip(at)
                .filter(|other| one.clashes(other))
                .map(|other| other.group)
                .collect();
            others.sort_unstable();
            others.dedup();
            let relation = Relation::Apart {
                group: one.group,
                others,
                area: Area::Place,
            };
            let text = format!("takes port {} of its node", one.port);
            self.rule(relation, one.span, &text);
        }
    }

    /// Pods that share a volume which one node can use at a time.
    fn shared_claims(&mut self) {
        let model = self.model;
        let mut users: Vec<(usize, Vec<(usize, Span)>)> = Vec::new();
        for (id, workload) in model.workloads.iter().enumerate() {
            let Some(&group) = self.groups.get(&id) else {
                continue;
            };
            let namespace = model.namespace(workload.object);
            for (claim, span) in self.claims(workload, namespace) {
                match users.iter_mut().find(|(other, _)| *other == claim) {
                    Some((_, all)) => all.push((group, span)),
                    None => users.push((claim, vec![(group, span)])),
                }
            }
        }
        for (claim, users) in users {
            let Some(spec) = model.object(claim).and_then(|claim| claim.spec()) else {
                continue;
            };
            let modes = spec.texts("accessModes");
            let one_node = modes.iter().any(|mode| &*mode.text == "ReadWriteOnce")
                && !modes.iter().any(|mode| mode.text.ends_with("Many"));
            let Some(&(_, span)) = users.first().filter(|_| one_node) else {
                continue;
            };
            let mut groups: Vec<usize> = users.iter().map(|(group, _)| *group).collect();
            groups.sort_unstable();
            groups.dedup();
            let relation = Relation::Shared { groups };
            self.rule(relation, span, "one node at a time can use this volume");
        }
    }
}

/// The ports of the node that the pods of a workload take.
fn ports(group: usize, workload: &Workload<'_>) -> Vec<Taken> {
    let on_host = workload.spec.bool_of("hostNetwork") == Some(true);
    let mut taken = Vec::new();
    for container in &workload.containers {
        for port in container.node.items("ports") {
            let key = match on_host {
                true if port.int_of("hostPort").is_none() => "containerPort",
                _ => "hostPort",
            };
            let Some(number) = port.int_of(key).filter(|number| *number > 0) else {
                continue;
            };
            let text = |key: &str| port.text_of(key).map(|text| text.text);
            taken.push(Taken {
                group,
                protocol: text("protocol").unwrap_or_else(|| "TCP".into()),
                port: number,
                address: text("hostIP").unwrap_or_default(),
                span: port.span_of(key),
            });
        }
    }
    taken
}
