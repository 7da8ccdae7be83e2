//! What types say for the templates that are made of them, whether there are any or not: filters, artifacts, triggers.

use super::{Here, Topology};
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{entries, ordered};
use crate::tosca::names::TypeId;
use crate::tosca::text::Call;
use crate::yaml::Node;

impl<'a> Topology<'_, 'a> {
    /// Checks the types of all files of the version of this one.
    pub(super) fn check_types(&self) {
        for id in self.model.names.ids() {
            let ty = self.model.names.get(id);
            let file = self.model.file(ty.file);
            if file.builtin || file.version != self.version() {
                continue;
            }
            match ty.kind {
                TypeKind::Node => self.check_node_type(id, ty.file),
                TypeKind::Policy => self.check_policy_type(ty.node),
                _ => {}
            }
        }
    }

    fn check_node_type(&self, id: TypeId, file: usize) {
        let flat = self.model.flat(id);
        let ty = self.model.names.get(id);
        for (name, entry) in ordered(ty.node.get("requirements")) {
            let Some(filter) = entry.value.get("node_filter") else {
                continue;
            };
            let mut known = flat.requirements.iter();
            if let Some(known) = known.find(|known| known.name == *name) {
                let here = Here::Relationship(known.relationship, known.capability, known.node);
                self.check_filter(filter, here);
            }
        }
        let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
        let checker = crate::tosca::value::Checker {
            file,
            ..self.checker(&refer)
        };
        for (name, entry) in entries(ty.node.get("artifacts")) {
            self.check_artifact_of(&entry.value, name, &checker);
        }
    }

    /// Triggers of a type; which workflows there are is for the templates that use it.
    fn check_policy_type(&self, ty: &'a Node) {
        for (_, entry) in entries(ty.get("triggers")) {
            if self.version().is_simple() {
                self.check_times(&entry.value);
            }
            let activities = entry.value.get("action").and_then(Node::as_sequence);
            for activity in activities.unwrap_or_default() {
                self.activity(activity);
            }
        }
    }
}
