//! Where pods fit: a problem of placement, stated for whoever can solve it.
//!
//! Nodes are shapes, and pods of one workload are a group, so that equal ones need no names. Whatever keeps pods off nodes,
//! or is too much for them, has the line that says so: when there is no placement, the lines that conflict can be told.

mod attach;
pub(crate) mod demand;
pub mod nodes;
mod priority;
mod relations;
pub(crate) mod selection;

use std::collections::BTreeMap;
use std::sync::Arc;

use locus_core::Span;
use locus_core::placement::{Area, Group, Limit, LineId, Problem, Rule, Shape};
use rustc_hash::FxHashMap;

use super::access::Access as _;
use super::model::{Model, Workload, WorkloadId};
use super::object::Object;
use super::scale::Scales;
use demand::Defaults;
use nodes::NodeShape;
use priority::Priority;
use selection::Selection;

/// The label by which each node is a region of its own.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// The label by which nodes are in zones.
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";

/// A line that a problem rests on.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) span: Span,
    pub(crate) text: String,
}

/// The problem of placing all pods of a project.
#[derive(Debug, Default)]
pub(crate) struct Stated {
    pub(crate) problem: Problem,
    pub(crate) lines: Vec<Line>,
    /// The workload of each group.
    pub(crate) workloads: Vec<WorkloadId>,
    /// The zone of each shape.
    pub(crate) zones: Vec<Option<Arc<str>>>,
    /// The groups of jobs that run now and then, which are not placed with the others.
    pub(crate) rare: Vec<usize>,
}

/// States the problem; none when no nodes are known.
pub(crate) fn state(model: &Model<'_>, scales: &Scales, given: &[NodeShape]) -> Option<Stated> {
    let mut shapes: Vec<NodeShape> = given.to_vec();
    let nodes = model.objects.iter().filter(|object| object.is("", "Node"));
    shapes.extend(nodes.map(|node| {
        let mut shape = NodeShape::of(node);
        attach::limit(model, &mut shape);
        shape
    }));
    if shapes.is_empty() {
        return None;
    }
    let mut builder = Builder {
        model,
        scales,
        shapes,
        stated: Stated::default(),
        known: FxHashMap::default(),
        ways: Vec::new(),
        groups: FxHashMap::default(),
        defaults: FxHashMap::default(),
    };
    builder.resources();
    for (id, workload) in model.workloads.iter().enumerate() {
        builder.group(id, workload);
    }
    builder.relations();
    builder.nodes();
    let mut stated = builder.stated;
    stated.problem.lines = stated.lines.len();
    Some(stated)
}

struct Builder<'b, 'o> {
    model: &'b Model<'o>,
    scales: &'b Scales,
    shapes: Vec<NodeShape>,
    stated: Stated,
    /// Lines by their places and texts.
    known: FxHashMap<(Span, String), LineId>,
    /// Labels that divide nodes into regions.
    ways: Vec<Arc<str>>,
    /// The group of each workload.
    groups: FxHashMap<WorkloadId, usize>,
    defaults: FxHashMap<Arc<str>, Defaults>,
}

impl Builder<'_, '_> {
    fn line(&mut self, span: Span, text: impl Into<String>) -> LineId {
        let text = text.into();
        let key = (span, text.clone());
        if let Some(&line) = self.known.get(&key) {
            return line;
        }
        let line = self.stated.lines.len();
        self.stated.lines.push(Line { span, text });
        self.known.insert(key, line);
        line
    }

    /// The resources that nodes have, and those that pods ask for.
    fn resources(&mut self) {
        let mut names: Vec<Arc<str>> = vec!["pods".into()];
        for shape in &self.shapes {
            names.extend(shape.capacity.keys().cloned());
        }
        for workload in &self.model.workloads {
            let defaults = Defaults::default();
            let demand = demand::of(self.model, workload, &defaults);
            names.extend(demand.into_keys().filter(|name| is_extended(name)));
        }
        names.sort_unstable();
        names.dedup();
        self.stated.problem.resources = names;
    }

    fn area(&mut self, key: &str) -> Area {
        if key == HOSTNAME {
            return Area::Place;
        }
        let known = self.ways.iter().position(|way| &**way == key);
        Area::Region(known.unwrap_or_else(|| {
            self.ways.push(key.into());
            self.ways.len() - 1
        }))
    }

    fn group(&mut self, id: WorkloadId, workload: &Workload<'_>) {
        let Some(object) = self.model.object(workload.object) else {
            return;
        };
        let kind = &*object.kind.text;
        let metadata = object.node.some("metadata");
        let owned = metadata.is_some_and(|metadata| !metadata.items("ownerReferences").is_empty());
        if kind == "PodTemplate" || owned {
            return;
        }
        let namespace: Arc<str> = self.model.namespace(workload.object).into();
        let defaults = self
            .defaults
            .entry(namespace.clone())
            .or_insert_with(|| Defaults::of(self.model, &namespace))
            .clone();
        let asked = demand::of(self.model, workload, &defaults);
        let mut demand = Vec::new();
        for resource in self.stated.problem.resources.clone() {
            if &*resource == "pods" {
                demand.push(vec![vec![(1000, None)]]);
                continue;
            }
            if attach::is_limit(&resource) {
                let one = self.scales.count(workload.object, object) == 1;
                let volumes = attach::volumes(self.model, workload, object, one, &resource);
                let own = volumes.into_iter().map(|span| {
                    let line = self.line(span, "has a volume that is attached to the node");
                    (1000, Some(line))
                });
                demand.push(vec![own.collect()]);
                continue;
            }
            let sums = asked.get(&resource).cloned().unwrap_or_default();
            let mut parts = Vec::new();
            for sum in sums {
                let mut own = Vec::new();
                for (amount, span) in sum {
                    let line = self.line(span, format!("asks for this much `{resource}`"));
                    own.push((amount, Some(line)));
                }
                parts.push(own);
            }
            demand.push(parts);
        }
        let everywhere = kind == "DaemonSet";
        let mut selections = selection::of(workload.spec, &self.shapes);
        selections.extend(selection::taints(workload.spec, &self.shapes, everywhere));
        selections.extend(self.volumes(workload, object, &namespace));
        let mut limits = Vec::new();
        for Selection { span, text, shapes } in selections {
            // Where a DaemonSet may not be, it has no pods.
            let line = self.line(span, text);
            limits.push(Limit {
                line: (!everywhere).then_some(line),
                shapes,
            });
        }
        let count = self.scales.count(workload.object, object);
        let span = self.scales.place(workload.object, object);
        let count_line = match span {
            Some(span) if count > 1 || self.scales.scaled(workload.object).is_some() => {
                let pods = if count == 1 { "pod" } else { "pods" };
                Some(self.line(span, format!("{count} {pods}")))
            }
            _ => None,
        };
        let priority = Priority::of(self.model, workload);
        let at = self.stated.problem.groups.len();
        if kind == "CronJob" {
            self.stated.rare.push(at);
        }
        self.groups.insert(id, at);
        self.stated.workloads.push(id);
        self.stated.problem.groups.push(Group {
            name: format!("{namespace}/{}", object.called()).into(),
            count,
            count_line,
            demand,
            limits,
            everywhere,
            priority: priority.value,
            preempts: priority.preempts,
        });
    }

    /// The claims that pods mount, with where they are named.
    fn claims(&self, workload: &Workload<'_>, namespace: &str) -> Vec<(usize, Span)> {
        let volumes = workload.spec.items("volumes").iter();
        let claims = volumes.filter_map(|volume| {
            let name = volume.some("persistentVolumeClaim")?.text_of("claimName")?;
            let claim = self
                .model
                .find("PersistentVolumeClaim", Some(namespace), &name.text)?;
            Some((claim, name.span))
        });
        claims.collect()
    }

    /// Where the volumes of pods can be used.
    fn volumes(
        &mut self,
        workload: &Workload<'_>,
        object: &Object,
        namespace: &str,
    ) -> Vec<Selection> {
        let mut all = Vec::new();
        let model = self.model;
        let mut specs = Vec::new();
        for (claim, _) in self.claims(workload, namespace) {
            let Some(claim) = model.object(claim) else {
                continue;
            };
            specs.extend(claim.spec());
            let volume = bound_volume(model, claim, namespace);
            let affinity = volume.and_then(|volume| volume.node.at(&["spec", "nodeAffinity"]));
            if let Some(entry) = affinity.and_then(|affinity| affinity.some_entry("required")) {
                let meets = |shape: &NodeShape| selection::any_term(&entry.value, shape);
                all.push(Selection {
                    span: entry.key.span,
                    text: "the volume can be used on these nodes only".to_owned(),
                    shapes: self.shapes.iter().map(meets).collect(),
                });
            }
        }
        let templates = object.spec();
        let templates = templates.map_or(&[][..], |spec| spec.items("volumeClaimTemplates"));
        specs.extend(
            templates
                .iter()
                .filter_map(|template| template.some("spec")),
        );
        for spec in specs {
            let class = spec.str_of("storageClassName");
            let class = class.and_then(|name| model.find("StorageClass", None, name));
            let Some(class) = class.and_then(|at| model.object(at)) else {
                continue;
            };
            let Some(entry) = class.node.some_entry("allowedTopologies") else {
                continue;
            };
            let terms = entry.value.as_sequence().unwrap_or(&[]);
            let meets = |shape: &NodeShape| {
                terms.iter().any(|term| {
                    term.items("matchLabelExpressions").iter().all(|one| {
                        let own = one.str_of("key").and_then(|key| shape.labels.get(key));
                        let values = one.texts("values");
                        own.is_some_and(|own| values.iter().any(|value| value.text == *own))
                    })
                })
            };
            all.push(Selection {
                span: entry.key.span,
                text: "its volumes can be used in these regions only".to_owned(),
                shapes: self.shapes.iter().map(meets).collect(),
            });
        }
        all
    }

    /// The shapes, once it is known what matters about them.
    fn nodes(&mut self) {
        let shapes = std::mem::take(&mut self.shapes);
        let mut regions: Vec<BTreeMap<Arc<str>, usize>> = vec![BTreeMap::new(); self.ways.len()];
        for shape in &shapes {
            let mut capacity = Vec::new();
            for resource in self.stated.problem.resources.clone() {
                capacity.push(match shape.capacity.get(&resource) {
                    Some(&(amount, span)) => {
                        let text = format!("`{}` have this much `{resource}`", shape.name);
                        let text = match shape.node.is_some() {
                            true => text.replace(" have ", " has "),
                            false => text,
                        };
                        Some((amount, Some(self.line(span, text))))
                    }
                    None if is_extended(&resource) => {
                        let text = format!("`{}`: no `{resource}`", shape.name);
                        Some((0, Some(self.line(shape.span, text))))
                    }
                    None => None,
                });
            }
            let own = self.ways.iter().zip(&mut regions).map(|(way, known)| {
                let value = shape.labels.get(way)?;
                let next = known.len();
                Some(*known.entry(value.clone()).or_insert(next))
            });
            self.stated.problem.shapes.push(Shape {
                name: shape.name.clone(),
                count: shape.count,
                capacity,
                regions: own.collect(),
            });
            let zone = shape.labels.get(ZONE).cloned();
            self.stated.zones.push(zone);
        }
    }

    fn rule(&mut self, relation: locus_core::placement::Relation, span: Span, text: &str) {
        let line = self.line(span, text);
        self.stated.problem.rules.push(Rule {
            relation,
            line: Some(line),
        });
    }
}

/// Whether nodes have nothing of a resource that they do not list.
fn is_extended(name: &str) -> bool {
    (name.contains('/') && !name.starts_with("kubernetes.io/")) || name.starts_with("hugepages-")
}

/// The volume that a claim is bound to, as far as the files say.
fn bound_volume<'o>(model: &Model<'o>, claim: &Object, namespace: &str) -> Option<&'o Object> {
    let named = claim.spec().and_then(|spec| spec.str_of("volumeName"));
    if let Some(found) = named.and_then(|name| model.find("PersistentVolume", None, name)) {
        return model.object(found);
    }
    let mut volumes = model
        .objects
        .iter()
        .filter(|object| object.is("", "PersistentVolume"));
    volumes.find(|volume| {
        let reference = volume.node.at(&["spec", "claimRef"]);
        reference.is_some_and(|reference| {
            reference.str_of("name") == Some(claim.called())
                && reference.str_of("namespace").unwrap_or("default") == namespace
        })
    })
}
