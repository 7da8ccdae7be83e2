//! Workflows: steps, activities, the operations they call.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span, suggest};

use super::{Here, Member, Topology};
use crate::tosca::grammar::walk::Walk;
use crate::tosca::grammar::{Shape, tables};
use crate::tosca::model::members_role::Role;
use crate::tosca::model::{Interface, Property, entries, find};
use crate::tosca::text::Call;
use crate::tosca::value::Val;
use crate::yaml::{Node, Schema as Yaml, Typed};

/// A step of a workflow.
#[derive(Debug)]
pub struct Step<'a> {
    /// The workflow.
    pub workflow: &'a Arc<str>,
    /// Its name.
    pub name: &'a Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// The steps that follow it, by position.
    pub next: Vec<usize>,
    /// The node template it is about.
    pub target: Option<usize>,
}

impl<'a> Topology<'_, 'a> {
    pub(super) fn check_workflows(&mut self) {
        let workflows = self.node.get("workflows");
        let mut steps: Vec<Step<'a>> = Vec::new();
        for (workflow, entry) in entries(workflows) {
            let mut inputs: Vec<Rc<Property<'a>>> = Vec::new();
            let written = entry.value.get("inputs");
            self.model
                .define(&mut inputs, written, self.file, Role::Parameter);
            self.check_preconditions(&entry.value);
            if let (Some(condition), false) =
                (entry.value.get("precondition"), self.version().is_simple())
            {
                let what = "the `precondition` of a workflow";
                self.check_boolean(condition, Here::Workflow(&inputs), what);
            }
            let all: Vec<_> = entries(entry.value.get("steps")).collect();
            let first = steps.len();
            for (name, held) in &all {
                let step = &held.value;
                let mut next = Vec::new();
                for key in ["on_success", "on_failure"] {
                    // 2.0 shows a name alone too (13.2.2).
                    let items = step.get(key).map_or(&[][..], |node| {
                        let alone = matches!(node.typed(Yaml::Core), Some(Typed::Str(_)));
                        let alone = alone.then(|| std::slice::from_ref(node));
                        node.as_sequence().or(alone).unwrap_or_default()
                    });
                    for item in items {
                        let names = all.iter().map(|(name, _)| &***name);
                        if self.known_word(item, names, "step") {
                            let word = item.as_str().unwrap_or_default();
                            let at = all.iter().position(|(name, _)| &***name == word);
                            next.extend(at.map(|at| first + at));
                        }
                    }
                }
                let target = step.get("target").and_then(|node| {
                    let nodes = self.nodes.iter().map(|node| &**node.name);
                    let groups = self.groups.iter().map(|group| &**group.name);
                    self.known_word(node, nodes.chain(groups), "node template or group");
                    self.find(node.as_str()?)
                });
                let of_target = target.and_then(|at| self.nodes.get(at));
                let related = step.get("target_relationship");
                if let (Some(template), Some(named)) = (of_target, related)
                    && !template.flat.open
                {
                    let names = template.flat.requirements.iter().map(|known| &*known.name);
                    self.known_part(named, names, "requirement", template.name);
                }
                if let (Some(template), Some(filter), true) =
                    (of_target, step.get("filter"), self.version().is_simple())
                {
                    self.check_condition(filter, &template.flat, template.name);
                }
                if let (Some(filter), Some(target), false) =
                    (step.get("filter"), target, self.version().is_simple())
                {
                    let items = filter.as_sequence();
                    for clause in items.unwrap_or(std::slice::from_ref(filter)) {
                        let what = "a `filter` of a step";
                        self.check_boolean(clause, Here::Node(target), what);
                    }
                }
                let activities = step.get("activities").and_then(Node::as_sequence);
                for activity in activities.unwrap_or_default() {
                    self.check_activity(activity, target, related, &inputs);
                }
                steps.push(Step {
                    workflow,
                    name,
                    span: held.key.span,
                    next,
                    target,
                });
            }
        }
        self.steps = steps;
        self.check_inlined();
    }

    /// A condition of 2.0.
    pub(super) fn check_boolean(&self, node: &'a Node, here: Here<'_, 'a>, what: &str) {
        let refer = |call: &Call<'a>| self.refer(here, call);
        let value = self.checker(&refer).literal(node);
        if !matches!(value, Val::Bool(_) | Val::Unknown) {
            let message = format!("{what} is a call of a function that gives a boolean");
            let diagnostic = Diagnostic::error("tosca-value", message);
            self.report(diagnostic.at(node.used_at()));
        }
    }

    /// What must hold before a workflow of 1.x starts.
    fn check_preconditions(&self, workflow: &'a Node) {
        let conditions = workflow.get("preconditions").and_then(Node::as_sequence);
        for condition in conditions.unwrap_or_default() {
            let Some(target) = condition.get("target") else {
                continue;
            };
            let nodes = self.nodes.iter().map(|node| &**node.name);
            let groups = self.groups.iter().map(|group| &**group.name);
            self.known_word(target, nodes.chain(groups), "node template or group");
            let template = target
                .as_str()
                .and_then(|word| self.nodes.get(self.find(word)?));
            let Some(template) = template.filter(|template| !template.flat.open) else {
                continue;
            };
            if let Some(named) = condition.get("target_relationship") {
                let names = template.flat.requirements.iter().map(|known| &*known.name);
                self.known_part(named, names, "requirement", template.name);
            } else if let Some(node) = condition.get("condition") {
                self.check_condition(node, &template.flat, template.name);
            }
        }
    }

    /// The one key of an activity, when it is one.
    pub(super) fn activity(&self, node: &'a Node) -> Option<&'a crate::yaml::Entry> {
        let entry = match node.as_mapping().map(|map| map.entries.as_slice()) {
            Some([entry]) => entry,
            Some([]) | None => {
                let is = node.describe(Yaml::Core);
                let message = format!(
                    "an activity is a map with one of {}, not {is}",
                    tables::ACTIVITIES.join(", ")
                );
                self.report(Diagnostic::error("tosca-shape", message).at(node.used_at()));
                return None;
            }
            Some([first, ..]) => {
                let message = "an activity has one key; write further ones as items of their own";
                self.report(Diagnostic::error("tosca-shape", message).at(first.key.span));
                return None;
            }
        };
        let name = entry.key.as_str().unwrap_or_default();
        if !tables::ACTIVITIES.contains(&name) {
            let message = format!("there is no activity `{name}`");
            let diagnostic = Diagnostic::error("tosca-unknown-key", message).maybe_help(
                suggest::did_you_mean(name, tables::ACTIVITIES.iter().copied()),
            );
            self.report(diagnostic.at(entry.key.span));
            return None;
        }
        Some(entry)
    }

    /// One activity of a step or trigger.
    pub(super) fn check_activity(
        &self,
        node: &'a Node,
        target: Option<usize>,
        relationship: Option<&'a Node>,
        inputs: &[Rc<Property<'a>>],
    ) {
        let Some(entry) = self.activity(node) else {
            return;
        };
        let name = entry.key.as_str().unwrap_or_default();
        let value = &entry.value;
        let (key, shape) = match name {
            "call_operation" => ("operation", Shape::Short(&tables::CALL)),
            "set_state" => return,
            _ => ("workflow", Shape::Short(&tables::DELEGATION)),
        };
        let mut ignore = |_, _: &Node| {};
        Walk {
            version: self.version(),
            types: &mut ignore,
            diagnostics: &mut self.diagnostics.borrow_mut(),
        }
        .node(value, &shape, name, entry.key.span);
        let short = matches!(value.typed(Yaml::Core), Some(Typed::Str(_)));
        let named = if short { Some(value) } else { value.get(key) };
        let Some(named) = named else { return };
        let given = value.get("inputs");
        if name == "call_operation" {
            match relationship {
                None => self.check_call(named, target, given, inputs),
                Some(relationship) => self.check_related_call(named, target, relationship),
            }
            return;
        }
        let workflows = entries(self.node.get("workflows")).map(|(name, _)| &**name);
        let workflows: Vec<&str> = workflows.collect();
        // What is delegated may be a workflow that the orchestrator brings.
        let declarative = ["deploy", "undeploy"];
        if !declarative.contains(&named.as_str().unwrap_or_default()) && name == "inline" {
            self.known_word(named, workflows.into_iter(), "workflow");
        }
    }

    /// An operation of a relationship that is called: the type of the relationship must have it.
    fn check_related_call(&self, named: &'a Node, target: Option<usize>, relationship: &Node) {
        let word = relationship.as_str().unwrap_or_default();
        let template = target.and_then(|target| self.nodes.get(target));
        let Some(template) = template.filter(|_| !relationship.is_null(Yaml::Core)) else {
            return;
        };
        let mut assigned = template
            .assignments
            .iter()
            .filter(|one| &**one.name == word);
        let own = assigned.next().and_then(|one| one.relationship);
        let defined = find(&template.flat.requirements, word).and_then(|one| one.relationship);
        let (None, Some(ty)) = (assigned.next(), own.or(defined)) else {
            return;
        };
        let flat = self.model.flat(ty);
        let Some((interface, operation)) = named.as_str().and_then(|word| word.rsplit_once('.'))
        else {
            return;
        };
        let is = |known: &&Rc<Interface<'a>>| {
            let by_type = known
                .ty
                .is_some_and(|ty| **self.model.name(ty) == *interface);
            *known.name == *interface || by_type
        };
        let found = flat.interfaces.iter().find(is);
        let message = match found {
            None if flat.open => return,
            // A template may add interfaces of its own.
            None if own.is_some() => return,
            None => format!("`{}` has no interface `{interface}`", self.model.name(ty)),
            Some(found) => {
                let closed = found.ty.is_some_and(|ty| self.model.is_closed(ty));
                if !closed || find(&found.operations, operation).is_some() {
                    return;
                }
                format!("the interface `{interface}` has no operation `{operation}`")
            }
        };
        self.report(Diagnostic::error("tosca-reference", message).at(named.used_at()));
    }

    /// An operation that is called: it must be one of the target, and have the inputs that it needs.
    fn check_call(
        &self,
        named: &'a Node,
        target: Option<usize>,
        given: Option<&'a Node>,
        inputs: &[Rc<Property<'a>>],
    ) {
        let Some(template) = target.and_then(|target| self.nodes.get(target)) else {
            return;
        };
        let Some((interface, operation)) = named.as_str().and_then(|word| word.rsplit_once('.'))
        else {
            let message =
                "an operation is named by its interface and itself: `interface.operation`";
            self.report(Diagnostic::error("tosca-reference", message).at(named.used_at()));
            return;
        };
        let flat = &template.flat;
        let known = |interface: &Rc<Interface<'a>>| {
            let ty = interface.ty.map(|ty| self.model.name(ty).to_string());
            (interface.clone(), ty)
        };
        let found = find(&flat.interfaces, interface).map(known).or_else(|| {
            // 1.x names interfaces by their type too.
            let mut all = flat.interfaces.iter().map(known);
            all.find(|(_, ty)| ty.as_deref() == Some(interface))
        });
        let Some((interface_found, _)) = found else {
            if !flat.open {
                let names = flat.interfaces.iter().map(|known| &*known.name);
                let message = format!("`{}` has no interface `{interface}`", template.name);
                let diagnostic = Diagnostic::error("tosca-reference", message)
                    .maybe_help(suggest::did_you_mean(interface, names));
                self.report(diagnostic.at(named.used_at()));
            }
            return;
        };
        let Some(defined) = find(&interface_found.operations, operation) else {
            let closed = interface_found
                .ty
                .is_some_and(|ty| self.model.is_closed(ty));
            if closed {
                let names = interface_found.operations.iter().map(|known| &*known.name);
                let message = format!("the interface `{interface}` has no operation `{operation}`");
                let diagnostic = Diagnostic::error("tosca-reference", message)
                    .maybe_help(suggest::did_you_mean(operation, names));
                self.report(diagnostic.at(named.used_at()));
            }
            return;
        };
        let refer = |call: &Call<'a>| self.refer(Here::Workflow(inputs), call);
        let checker = self.checker(&refer);
        let assigned = template
            .node
            .get("interfaces")
            .and_then(|node| node.get(interface));
        let has_value = |property: &Property<'a>| {
            let of_operation = assigned.and_then(|node| {
                let operations = node.get("operations").unwrap_or(node);
                operations
                    .get(operation)?
                    .get("inputs")?
                    .get(&property.name)
            });
            let of_interface = assigned.and_then(|node| node.get("inputs")?.get(&property.name));
            property
                .value
                .or(property.default)
                .or(of_operation)
                .or(of_interface)
                .is_some()
        };
        let declared = || defined.inputs.iter().chain(&interface_found.inputs);
        for (name, entry) in entries(given) {
            let Some(property) = declared().find(|known| known.name == *name) else {
                let names = declared().map(|known| &*known.name);
                let message = format!("the operation `{operation}` has no input `{name}`");
                let diagnostic = Diagnostic::error("tosca-reference", message)
                    .maybe_help(suggest::did_you_mean(name, names));
                self.report(diagnostic.at(entry.key.span));
                continue;
            };
            checker.assigned(&entry.value, property, name);
            if let Some(call) = crate::tosca::text::call(&entry.value, self.version())
                && property.required
                && !has_value(property)
                && matches!(call.name, "get_input" | "get_property")
                && self.refer(Here::Workflow(inputs), &call).optional
            {
                let message = format!(
                    "the input `{name}` of `{operation}` is required, and this may have no value"
                );
                let diagnostic = Diagnostic::error("tosca-missing-property", message);
                self.report(diagnostic.at(entry.value.used_at()));
            }
        }
        if self.version().is_simple() {
            return;
        }
        for property in declared() {
            let is_given = given.and_then(|given| given.get(&property.name)).is_some();
            if property.required && !is_given && !has_value(property) {
                let message = format!(
                    "the call of `{operation}` has no value for its input `{}`",
                    property.name
                );
                let diagnostic = Diagnostic::error("tosca-missing-property", message)
                    .related(property.span, "it is required here");
                self.report(diagnostic.at(named.used_at()));
            }
        }
    }

    /// A workflow that inlines itself, also by way of others, may never end.
    fn check_inlined(&self) {
        let workflows: Vec<_> = entries(self.node.get("workflows")).collect();
        let inlined = |entry: &'a crate::yaml::Entry| {
            let steps = entries(entry.value.get("steps"));
            let activities =
                steps.filter_map(|(_, step)| step.value.get("activities")?.as_sequence());
            let inline = activities
                .flatten()
                .filter_map(|activity| activity.get("inline"));
            let named = inline.map(|node| node.get("workflow").unwrap_or(node));
            named.filter_map(|node| {
                let word = node.as_str()?;
                let at = workflows.iter().position(|(name, _)| &***name == word)?;
                Some((at, node.used_at()))
            })
        };
        let next: Vec<Vec<(usize, Span)>> = workflows
            .iter()
            .map(|(_, entry)| inlined(entry).collect())
            .collect();
        for (at, (name, _)) in workflows.iter().enumerate() {
            let mut seen = vec![false; next.len()];
            for &(first, span) in next.get(at).into_iter().flatten() {
                let mut due = vec![first];
                while let Some(reached) = due.pop() {
                    if let Some(seen) = seen.get_mut(reached)
                        && !std::mem::replace(seen, true)
                    {
                        let after = next.get(reached).into_iter().flatten();
                        due.extend(after.map(|(to, _)| *to));
                    }
                }
                if seen.get(at) == Some(&true) {
                    let message =
                        format!("the workflow `{name}` inlines itself, so it may never end");
                    // The standard's own example of an inlined workflow does so (2.0, 13.2.4), and a condition may end it.
                    self.report(Diagnostic::warning("tosca-reference", message).at(span));
                    break;
                }
            }
        }
    }

    /// The types of what a group or policy names.
    pub fn member_type(&self, member: Member) -> Option<crate::tosca::names::TypeId> {
        match member {
            Member::Node(index) => self.nodes.get(index)?.ty,
            Member::Group(index) => self.groups.get(index)?.ty,
        }
    }
}
