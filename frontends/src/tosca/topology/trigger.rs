//! Triggers of policies, and conditions on attributes in triggers and workflows of 1.x.

use std::rc::Rc;

use locus_core::{Diagnostic, Span, suggest};

use super::{Here, Topology};
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{DataType, Flat, Primitive, Schema, entries, find};
use crate::tosca::names::Meaning;
use crate::tosca::text::Call;
use crate::yaml::{Node, Schema as Yaml};

/// Conditions that are deeper in others are not looked at.
const DEPTH: usize = 32;

impl<'a> Topology<'_, 'a> {
    /// What a trigger does.
    pub(super) fn check_trigger(&self, name: &str, span: Span, node: &'a Node) {
        let Some(action) = node.get("action") else {
            let message = format!("the trigger `{name}` has no `action`");
            self.report(Diagnostic::error("tosca-missing-key", message).at(span));
            return;
        };
        let target = self.check_target_filter(node);
        if self.version().is_simple() {
            self.check_times(node);
        } else if let Some(condition) = node.get("condition") {
            self.check_boolean(condition, Here::Nowhere, "the `condition` of a trigger");
        }
        match action.as_sequence() {
            Some(activities) => {
                for activity in activities {
                    self.check_activity(activity, target, None, &[]);
                }
            }
            None if self.version().is_simple() => {}
            None => {
                let is = action.describe(Yaml::Core);
                let message = format!("`action` must be a list of activities, not {is}");
                self.report(Diagnostic::error("tosca-shape", message).at(action.used_at()));
            }
        }
    }

    /// The node that an event filter of 1.x names is a node template or a node type, and has what else it names. The template, when it is
    /// one.
    fn check_target_filter(&self, node: &'a Node) -> Option<usize> {
        let filter = node.get("target_filter")?;
        let named = filter.get("node")?;
        let word = named.as_str().unwrap_or_default();
        let template = self.find(word);
        let meaning = self.model.names.lookup(self.file, TypeKind::Node, word);
        let flat: Rc<Flat<'a>> = match (template.and_then(|at| self.nodes.get(at)), meaning) {
            (Some(template), _) => template.flat.clone(),
            (None, Meaning::Type(id)) => self.model.flat(id),
            (None, Meaning::Unknown) => return None,
            (None, Meaning::Nothing) => {
                let nodes = self.nodes.iter().map(|node| &**node.name);
                self.known_word(named, nodes, "node template or node type");
                return None;
            }
        };
        if !flat.open {
            if let Some(requirement) = filter.get("requirement") {
                let names = flat.requirements.iter().map(|known| &*known.name);
                self.known_part(requirement, names, "requirement", word);
            }
            // Of a requirement, the capability is one of its target.
            if let (Some(capability), None) = (filter.get("capability"), filter.get("requirement"))
            {
                let names = flat.capabilities.iter().map(|known| &*known.name);
                self.known_part(capability, names, "capability", word);
            }
        }
        let whole = filter.get("requirement").is_none() && filter.get("capability").is_none();
        if let Some(condition) = node.get("condition")
            && whole
            && self.version().is_simple()
        {
            self.check_condition(
                condition.get("constraint").unwrap_or(condition),
                &flat,
                word,
            );
        }
        template
    }

    /// The name of a part of a node, which must have it.
    pub(super) fn known_part<'n>(
        &self,
        node: &Node,
        names: impl Iterator<Item = &'n str> + Clone,
        what: &str,
        of: &str,
    ) {
        let Some(word) = node.as_str().filter(|_| !node.is_null(Yaml::Core)) else {
            return;
        };
        if !names.clone().any(|name| name == word) {
            let message = format!("`{of}` has no {what} `{word}`");
            let diagnostic = Diagnostic::error("tosca-reference", message)
                .maybe_help(suggest::did_you_mean(word, names));
            self.report(diagnostic.at(node.used_at()));
        }
    }

    /// When a trigger of 1.x looks: a schedule and a period.
    pub(super) fn check_times(&self, node: &'a Node) {
        let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
        let checker = self.checker(&refer);
        if let Some(schedule) = node.get("schedule")
            && let Meaning::Type(id) =
                self.model
                    .names
                    .lookup(self.file, TypeKind::Data, "tosca.datatypes.TimeInterval")
        {
            let schema = Schema::of(DataType::Type(id), self.file);
            checker.read(schedule, &schema, "schedule");
        }
        let condition = node.get("condition");
        for holder in [Some(node), condition].into_iter().flatten() {
            if let Some(period) = holder.get("period") {
                let schema = Schema::of(DataType::Primitive(Primitive::Time), self.file);
                checker.read(period, &schema, "period");
            }
        }
        if let Some(count) = condition.and_then(|condition| condition.get("evaluations")) {
            let schema = Schema::of(DataType::Primitive(Primitive::Integer), self.file);
            checker.read(count, &schema, "evaluations");
        }
    }

    /// A condition of 1.x on a node: what it is about are attributes or properties of it.
    pub(super) fn check_condition(&self, condition: &'a Node, flat: &Flat<'a>, of: &str) {
        if flat.open {
            return;
        }
        let mut due = vec![(condition, DEPTH)];
        while let Some((node, depth)) = due.pop() {
            let items = node.as_sequence().unwrap_or(std::slice::from_ref(node));
            for (name, entry) in items.iter().flat_map(|item| entries(Some(item))) {
                if matches!(&**name, "and" | "or" | "not" | "assert" | "approve") {
                    if depth > 0 {
                        due.push((&entry.value, depth - 1));
                    }
                    continue;
                }
                let known = flat.attributes.iter().chain(&flat.properties);
                let is_there = find(&flat.attributes, name).is_some()
                    || find(&flat.properties, name).is_some();
                // A list of conditions is what tells a name of an attribute from other keys.
                if is_there || entry.value.as_sequence().is_none() {
                    continue;
                }
                let near = suggest::did_you_mean(name, known.map(|known| &*known.name));
                let message = format!("`{of}` has no attribute or property `{name}`");
                let diagnostic = Diagnostic::error("tosca-reference", message).maybe_help(near);
                self.report(diagnostic.at(entry.key.span));
            }
        }
    }
}
