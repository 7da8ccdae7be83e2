//! What the objects of a project are to each other: pods, selectors and what they match, objects by name.
//!
//! This is what analyses read that need more than facts. Everything borrows from the objects, so every part knows the place
//! where it is written; selectors are matched through an index of labels, so that no analysis walks all pods for each policy.

pub mod pod;
pub mod selector;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::object::Object;

pub use pod::{Container, ContainerRole, Workload};
pub use selector::{Requirement, Selector};

/// The position of a workload in its model.
pub type WorkloadId = usize;

/// The objects of a project, and what they are to each other.
#[derive(Debug)]
pub struct Model<'o> {
    /// The objects.
    pub objects: &'o [Object],
    /// Everything that has pods: bare pods, and whatever has a template of them.
    pub workloads: Vec<Workload<'o>>,
    by_name: FxHashMap<(&'o str, Option<&'o str>, &'o str), usize>,
    kinds: FxHashSet<&'o str>,
    by_label: FxHashMap<(&'o str, &'o str, &'o str), Vec<WorkloadId>>,
    by_namespace: FxHashMap<&'o str, Vec<WorkloadId>>,
    /// The workload that an object is, by the position of the object.
    of_object: FxHashMap<usize, WorkloadId>,
}

impl<'o> Model<'o> {
    /// Reads what objects are to each other.
    pub fn of(objects: &'o [Object]) -> Self {
        let mut by_name = FxHashMap::default();
        for (at, object) in objects.iter().enumerate() {
            if let Some(name) = &object.name {
                let key = (&*object.kind.text, object.namespace.as_deref(), &*name.text);
                by_name.entry(key).or_insert(at);
            }
        }
        let numbered = objects.iter().enumerate();
        let workloads: Vec<Workload<'o>> = numbered
            .filter_map(|(at, object)| Workload::of(at, object))
            .collect();
        let mut model = Model {
            objects,
            workloads: Vec::new(),
            by_name,
            kinds: objects.iter().map(|object| &*object.kind.text).collect(),
            by_label: FxHashMap::default(),
            by_namespace: FxHashMap::default(),
            of_object: FxHashMap::default(),
        };
        for (id, workload) in workloads.iter().enumerate() {
            model.of_object.insert(workload.object, id);
            let namespace = namespace(objects, workload.object);
            model.by_namespace.entry(namespace).or_default().push(id);
            let template = workload.template;
            for (key, value) in pod::label_pairs(template) {
                let key = (namespace, key, value);
                model.by_label.entry(key).or_default().push(id);
            }
        }
        model.workloads = workloads;
        model
    }

    /// The object of a kind with a name, in a namespace or in none.
    pub fn find(&self, kind: &str, namespace: Option<&str>, name: &str) -> Option<usize> {
        self.by_name.get(&(kind, namespace, name)).copied()
    }

    /// Whether objects of a kind are among the files.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.kinds.contains(kind)
    }

    /// The workload that an object is.
    pub fn workload_of(&self, object: usize) -> Option<WorkloadId> {
        self.of_object.get(&object).copied()
    }

    /// The workloads of a namespace.
    pub fn in_namespace(&self, namespace: &str) -> &[WorkloadId] {
        self.by_namespace.get(namespace).map_or(&[], Vec::as_slice)
    }

    /// The workloads of a namespace whose pods a selector matches; an empty selector matches all.
    pub fn select(&self, namespace: &str, selector: &Selector) -> Vec<WorkloadId> {
        let first = selector.requirements.iter().find_map(|requirement| {
            let value = requirement.only_value()?;
            let key = (namespace, &*requirement.key.text, value);
            Some(self.by_label.get(&key).map_or(&[][..], Vec::as_slice))
        });
        let candidates = first.unwrap_or_else(|| self.in_namespace(namespace));
        let matches = |id: &&WorkloadId| {
            self.workloads
                .get(**id)
                .is_some_and(|workload| selector.matches(&workload.labels))
        };
        candidates.iter().filter(matches).copied().collect()
    }

    /// The namespace of an object; that of an object of the whole cluster is empty.
    pub fn namespace(&self, object: usize) -> &'o str {
        namespace(self.objects, object)
    }

    /// The object at a position.
    pub fn object(&self, at: usize) -> Option<&'o Object> {
        self.objects.get(at)
    }
}

fn namespace(objects: &[Object], at: usize) -> &str {
    let object = objects.get(at);
    object
        .and_then(|object| object.namespace.as_deref())
        .unwrap_or("")
}

/// Labels by key, for matching.
pub type Labels = FxHashMap<Arc<str>, Arc<str>>;
