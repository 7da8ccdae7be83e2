//! Checking templates against their types.

use std::rc::Rc;

use locus_core::{Diagnostic, Span, suggest};

use super::{Group, Here, Member, Target, Topology};
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{Primitive, Property, entries, find, ordered};
use crate::tosca::text::Call;
use crate::tosca::value::{Checker, Refer, Val};
use crate::yaml::{Kind, Mapping, Node, Schema as Yaml};

impl<'a> Topology<'_, 'a> {
    /// A checker of values.
    pub(super) fn checker<'s>(&'s self, refer: Refer<'s, 'a>) -> Checker<'s, 'a> {
        Checker {
            model: self.model,
            file: self.file,
            refer,
            value: None,
            diagnostics: &self.diagnostics,
        }
    }

    /// Checks everything in the topology.
    pub fn check(&mut self) {
        self.read_groups();
        for index in 0..self.nodes.len() {
            self.check_node(index);
        }
        self.check_relationships();
        self.check_policies();
        self.check_outputs();
        self.check_workflows();
        self.check_substitution();
        self.check_types();
    }

    fn check_node(&self, index: usize) {
        let Some(template) = self.nodes.get(index) else {
            return;
        };
        let refer = |call: &Call<'a>| self.refer(Here::Node(index), call);
        let checker = self.checker(&refer);
        let name = template.name;
        let selected = self.is_selected(index);
        let properties = self.section(index, "properties");
        self.values(
            &checker,
            &properties,
            &template.flat.properties,
            template.flat.open,
            name,
            template.span,
            selected,
            |name, span, value| {
                template
                    .values
                    .borrow_mut()
                    .push((name.clone(), span, value));
            },
        );
        let mut attributes = self.section(index, "attributes");
        let all: Vec<Rc<Property<'a>>> = template
            .flat
            .attributes
            .iter()
            .chain(&template.flat.properties)
            .cloned()
            .collect();
        self.unfold(&mut attributes, &all);
        self.values(
            &checker,
            &attributes,
            &all,
            template.flat.open,
            name,
            template.span,
            true,
            |_, _, _| {},
        );
        self.check_capabilities(index, &checker, selected);
        self.check_interfaces(
            &checker,
            template.node.get("interfaces"),
            &template.flat,
            name,
        );
        for (name, entry) in entries(template.node.get("artifacts")) {
            self.check_artifact(&entry.value, name, &checker);
        }
        if let Some(filter) = template.node.get("node_filter") {
            if !selected && !self.version().is_simple() {
                let message = format!(
                    "`node_filter` of `{name}` has no effect without the directive `select`"
                );
                self.report(Diagnostic::warning("tosca-filter", message).at(filter.used_at()));
            }
            self.check_filter(filter, Here::Node(index));
        }
        if let Some(count) = template.node.get("count") {
            checker.literal(count);
        }
        for assignment in &template.assignments {
            self.check_assignment(index, assignment);
        }
    }

    /// Takes the values out of attributes of 1.x that are assigned with a description (1.3, 3.6.13.2.2).
    fn unfold(
        &self,
        assigned: &mut [(&'a std::sync::Arc<str>, &'a crate::yaml::Entry)],
        attributes: &[Rc<Property<'a>>],
    ) {
        if !self.version().is_simple() {
            return;
        }
        for (name, entry) in assigned {
            let Some(map) = entry.value.as_mapping() else {
                continue;
            };
            let primitive = find(attributes, name)
                .and_then(|attribute| self.model.primitive(attribute.schema.ty));
            // A map, or a type with fields, may have these keys itself.
            let plain = primitive.is_some_and(|primitive| primitive != Primitive::Map);
            let known =
                |(key, _): (&std::sync::Arc<str>, _)| matches!(&**key, "description" | "value");
            if let Some(value) = map.entry("value")
                && plain
                && map.named().all(known)
            {
                *entry = value;
            }
        }
    }

    /// Values of properties or attributes: each must be one, and those that are required must be there.
    #[expect(
        clippy::too_many_arguments,
        reason = "what is assigned, what is defined, and where"
    )]
    fn values(
        &self,
        checker: &Checker<'_, 'a>,
        assigned: &[(&'a std::sync::Arc<str>, &'a crate::yaml::Entry)],
        properties: &[Rc<Property<'a>>],
        open: bool,
        what: &str,
        span: Span,
        optional: bool,
        mut keep: impl FnMut(&std::sync::Arc<str>, Span, Val),
    ) {
        for (name, entry) in assigned {
            match find(properties, name) {
                Some(property) => {
                    let value = checker.assigned(&entry.value, property, &format!("{what}.{name}"));
                    keep(name, entry.value.used_at(), value);
                }
                None if open => {
                    let value = checker.literal(&entry.value);
                    keep(name, entry.value.used_at(), value);
                }
                None => {
                    let names = properties.iter().map(|known| &*known.name);
                    let message = format!("`{what}` has no property `{name}`");
                    let diagnostic = Diagnostic::error("tosca-unknown-property", message)
                        .maybe_help(suggest::did_you_mean(name, names));
                    self.report(diagnostic.at(entry.key.span));
                }
            }
        }
        for property in properties {
            if assigned.iter().any(|(name, _)| **name == property.name) {
                continue;
            }
            match property.value.or(property.default) {
                Some(node) => {
                    let inner = Checker {
                        file: property.file,
                        value: None,
                        ..*checker
                    };
                    let value = inner.quietly().read(node, &property.schema, &property.name);
                    keep(&property.name, span, value);
                }
                None if property.required && !optional => {
                    let message =
                        format!("`{what}` has no value for the property `{}`", property.name);
                    let diagnostic = Diagnostic::error("tosca-missing-property", message)
                        .related(property.span, "it is required here");
                    self.report(diagnostic.at(span));
                }
                None => {}
            }
        }
    }

    fn check_capabilities(&self, index: usize, checker: &Checker<'_, 'a>, selected: bool) {
        let Some(template) = self.nodes.get(index) else {
            return;
        };
        let assigned = self.section(index, "capabilities");
        for (name, entry) in &assigned {
            if find(&template.flat.capabilities, name).is_none() && !template.flat.open {
                let names = template.flat.capabilities.iter().map(|known| &*known.name);
                let message = format!("`{}` has no capability `{name}`", template.name);
                let diagnostic = Diagnostic::error("tosca-unknown-capability", message)
                    .maybe_help(suggest::did_you_mean(name, names));
                self.report(diagnostic.at(entry.key.span));
            }
        }
        for capability in &template.flat.capabilities {
            let own = assigned.iter().find(|(name, _)| **name == capability.name);
            let span = own.map_or(template.span, |(_, entry)| entry.key.span);
            let open = capability.ty.is_none_or(|ty| !self.model.is_closed(ty));
            let what = format!("{}.{}", template.name, capability.name);
            let properties = self.of_capability(index, &capability.name, "properties");
            self.values(
                checker,
                &properties,
                &capability.properties,
                open,
                &what,
                span,
                selected,
                |_, _, _| {},
            );
            let mut attributes = self.of_capability(index, &capability.name, "attributes");
            let all: Vec<_> = capability
                .attributes
                .iter()
                .chain(&capability.properties)
                .cloned()
                .collect();
            self.unfold(&mut attributes, &all);
            self.values(
                checker,
                &attributes,
                &all,
                open,
                &what,
                span,
                true,
                |_, _, _| {},
            );
        }
    }

    /// An artifact of a template: its repository and its properties.
    pub(super) fn check_artifact(&self, node: &'a Node, name: &str, checker: &Checker<'_, 'a>) {
        let artifact = self.check_artifact_of(node, name, checker);
        let properties = artifact.as_ref().map_or(&[][..], |flat| &flat.properties);
        for property in properties.iter().filter(|known| known.required) {
            let given = node
                .get("properties")
                .and_then(|held| held.get(&property.name));
            if given.is_none() && property.default.is_none() && property.value.is_none() {
                let message = format!("`{name}` has no value for the property `{}`", property.name);
                let diagnostic = Diagnostic::warning("tosca-missing-property", message)
                    .related(property.span, "it is required here");
                self.report(diagnostic.at(node.used_at()));
            }
        }
    }

    /// The same of a type, which may leave values to templates; what the type of the artifact has.
    pub(super) fn check_artifact_of(
        &self,
        node: &'a Node,
        name: &str,
        checker: &Checker<'_, 'a>,
    ) -> Option<Rc<crate::tosca::model::Flat<'a>>> {
        node.as_mapping()?;
        if let Some(repository) = node.get("repository")
            && let Some(word) = repository.as_str()
        {
            let all = self.model.file(checker.file).root.get("repositories");
            if all.and_then(|all| all.get(word)).is_none() {
                let names = entries(all).map(|(name, _)| &**name);
                let message = format!("there is no repository `{word}`");
                let diagnostic = Diagnostic::error("tosca-reference", message)
                    .maybe_help(suggest::did_you_mean(word, names));
                self.report(diagnostic.at(repository.used_at()));
            }
        }
        let named = node.get("type");
        let ty = self.model.named(checker.file, TypeKind::Artifact, named)?;
        let flat = self.model.flat(ty);
        for (property, entry) in entries(node.get("properties")) {
            match find(&flat.properties, property) {
                Some(defined) => {
                    checker.assigned(&entry.value, defined, &format!("{name}.{property}"));
                }
                None if flat.open => {}
                None => {
                    let names = flat.properties.iter().map(|known| &*known.name);
                    let message = format!("`{}` has no property `{property}`", self.model.name(ty));
                    let diagnostic = Diagnostic::warning("tosca-unknown-property", message)
                        .maybe_help(suggest::did_you_mean(property, names));
                    self.report(diagnostic.at(entry.key.span));
                }
            }
        }
        Some(flat)
    }

    fn check_assignment(&self, index: usize, assignment: &super::Assignment<'a>) {
        let node_type = match assignment.target {
            Target::Node(target) => self.nodes.get(target).and_then(|node| node.ty),
            Target::Open(ty) => ty,
            Target::Unknown => None,
        };
        let capability = assignment.capability.as_ref().and_then(|known| known.ty);
        let capability = capability.or(assignment.capability_type);
        let here = Here::Relationship(assignment.relationship, capability, node_type);
        if let Some(filter) = assignment.get("node_filter") {
            self.check_filter(filter, here);
        }
        let flat = self.flat_relationship(assignment);
        let relationship = assignment.get("relationship");
        let Some(relationship) = relationship.filter(|node| node.as_mapping().is_some()) else {
            if assignment.template.is_none() && assignment.node.is_some() {
                self.check_bare(index, assignment, &flat);
            }
            return;
        };
        let refer = |call: &Call<'a>| self.refer(here, call);
        let checker = self.checker(&refer);
        let what = format!(
            "{}.{}",
            self.nodes.get(index).map_or("", |node| node.name),
            assignment.name
        );
        let properties: Vec<_> = entries(relationship.get("properties")).collect();
        self.values(
            &checker,
            &properties,
            &flat.properties,
            flat.open,
            &what,
            assignment.span,
            false,
            |_, _, _| {},
        );
        let mut attributes: Vec<_> = entries(relationship.get("attributes")).collect();
        let all: Vec<_> = flat
            .attributes
            .iter()
            .chain(&flat.properties)
            .cloned()
            .collect();
        self.unfold(&mut attributes, &all);
        self.values(
            &checker,
            &attributes,
            &all,
            flat.open,
            &what,
            assignment.span,
            true,
            |_, _, _| {},
        );
        self.check_interfaces(&checker, relationship.get("interfaces"), &flat, &what);
    }

    /// A relationship that is given no values needs none: what it requires has a default.
    fn check_bare(
        &self,
        index: usize,
        assignment: &super::Assignment<'a>,
        flat: &crate::tosca::model::Flat<'a>,
    ) {
        let mut required = flat.properties.iter().filter(|known| known.required);
        let missing = required.find(|known| known.default.is_none() && known.value.is_none());
        let (Some(property), Some(template)) = (missing, self.nodes.get(index)) else {
            return;
        };
        let message = format!(
            "the relationship of `{}.{}` has no value for the property `{}`",
            template.name, assignment.name, property.name
        );
        // 1.x shows such requirements in its own examples.
        let diagnostic = if self.version().is_simple() {
            Diagnostic::warning("tosca-missing-property", message)
        } else {
            Diagnostic::error("tosca-missing-property", message)
        };
        let help = "write `relationship:` with its `type` and `properties`";
        let diagnostic = diagnostic
            .help(help)
            .related(property.span, "it is required here");
        self.report(diagnostic.at(assignment.span));
    }

    /// What the relationship of an assignment has: that of its type, as the definition of the requirement refines it.
    fn flat_relationship(
        &self,
        assignment: &super::Assignment<'a>,
    ) -> Rc<crate::tosca::model::Flat<'a>> {
        let definition = assignment.definition.as_ref();
        let same = |definition: &&Rc<crate::tosca::model::Requirement<'a>>| {
            definition.relationship == assignment.relationship
        };
        let refined = definition
            .filter(same)
            .and_then(|known| known.refined.clone());
        refined.unwrap_or_else(|| self.flat(assignment.relationship))
    }

    /// The form of a filter, and what it refers to.
    pub(super) fn check_filter(&self, filter: &'a Node, here: Here<'_, 'a>) {
        if self.version().is_simple() {
            let Some(map) = filter.as_mapping() else {
                let message = "a `node_filter` is a map of `properties` and `capabilities`";
                self.report(Diagnostic::error("tosca-shape", message).at(filter.used_at()));
                return;
            };
            for (name, entry) in map.named() {
                if !matches!(&**name, "properties" | "capabilities") {
                    let message = format!("a node filter has no key `{name}`");
                    let diagnostic = Diagnostic::error("tosca-unknown-key", message)
                        .maybe_help(suggest::did_you_mean(name, ["properties", "capabilities"]));
                    self.report(diagnostic.at(entry.key.span));
                }
            }
            self.filter_items(filter, "properties");
            let capabilities = filter.get("capabilities").and_then(Node::as_sequence);
            for (_, entry) in ordered(filter.get("capabilities")) {
                self.filter_items(&entry.value, "properties");
            }
            if capabilities.is_some() {
                self.filter_items(filter, "capabilities");
            }
            return;
        }
        let refer = |call: &Call<'a>| self.refer(here, call);
        let checker = self.checker(&refer);
        match checker.literal(filter) {
            Val::Bool(_) | Val::Unknown => {}
            _ => {
                let message = "a `node_filter` is a call of a function that gives a boolean";
                self.report(Diagnostic::error("tosca-filter", message).at(filter.used_at()));
            }
        }
    }

    /// The conditions of a filter of 1.x: each a name and what it must be.
    fn filter_items(&self, filter: &'a Node, key: &str) {
        let Some(held) = filter.get(key) else { return };
        let wrong = |message: String, at: &Node, help: &str| {
            let diagnostic = Diagnostic::error("tosca-shape", message).help(help.to_owned());
            self.report(diagnostic.at(at.used_at()));
        };
        let Some(items) = held.as_sequence() else {
            if held.as_mapping().is_none() {
                let message = format!("`{key}` of a node filter must be a list");
                wrong(message, held, "write `- name: condition` for each");
            }
            return;
        };
        for item in items.iter().filter(|item| item.as_mapping().is_none()) {
            let message = format!("an item of `{key}` of a node filter is a name with a condition");
            wrong(message, item, "write `- name: condition`");
        }
    }

    fn check_relationships(&self) {
        for relationship in &self.relationships {
            let here = Here::Relationship(relationship.ty, None, None);
            let refer = |call: &Call<'a>| self.refer(here, call);
            let checker = self.checker(&refer);
            let flat = &relationship.flat;
            let properties: Vec<_> = entries(relationship.node.get("properties")).collect();
            let copied = relationship.node.get("copy").is_some();
            self.values(
                &checker,
                &properties,
                &flat.properties,
                flat.open,
                relationship.name,
                relationship.span,
                copied,
                |_, _, _| {},
            );
            let mut attributes: Vec<_> = entries(relationship.node.get("attributes")).collect();
            let all: Vec<_> = flat
                .attributes
                .iter()
                .chain(&flat.properties)
                .cloned()
                .collect();
            self.unfold(&mut attributes, &all);
            self.values(
                &checker,
                &attributes,
                &all,
                flat.open,
                relationship.name,
                relationship.span,
                true,
                |_, _, _| {},
            );
            self.check_interfaces(
                &checker,
                relationship.node.get("interfaces"),
                flat,
                relationship.name,
            );
        }
    }

    fn member(&self, node: &Node, what: &str) -> Option<(Member, Span)> {
        let word = node.as_str()?;
        if let Some(index) = self.find(word) {
            return Some((Member::Node(index), node.used_at()));
        }
        let group = self.groups.iter().position(|group| &**group.name == word);
        if let Some(group) = group {
            return Some((Member::Group(group), node.used_at()));
        }
        let nodes = self.nodes.iter().map(|node| &**node.name);
        let groups = self.groups.iter().map(|group| &**group.name);
        let message = format!("{what} names `{word}`, and there is no such template");
        let diagnostic = Diagnostic::error("tosca-reference", message)
            .maybe_help(suggest::did_you_mean(word, nodes.chain(groups)));
        self.report(diagnostic.at(node.used_at()));
        None
    }

    fn read_groups(&mut self) {
        for (name, entry) in entries(self.node.get("groups")) {
            let ty = self
                .model
                .named(self.file, TypeKind::Group, entry.value.get("type"));
            self.groups.push(Group {
                name,
                span: entry.key.span,
                ty,
                members: Vec::new(),
            });
        }
        for (at, (name, entry)) in entries(self.node.get("groups")).enumerate() {
            let items = entry.value.get("members").and_then(Node::as_sequence);
            let items = items.unwrap_or_default().iter();
            let what = format!("the group `{name}`");
            let members: Vec<_> = items.filter_map(|item| self.member(item, &what)).collect();
            let ty = self.groups.get(at).and_then(|group| group.ty);
            let flat = self.flat(ty);
            let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
            let properties: Vec<_> = entries(entry.value.get("properties")).collect();
            self.values(
                &self.checker(&refer),
                &properties,
                &flat.properties,
                flat.open,
                name,
                entry.key.span,
                false,
                |_, _, _| {},
            );
            let attributes: Vec<_> = entries(entry.value.get("attributes")).collect();
            let all: Vec<_> = flat
                .attributes
                .iter()
                .chain(&flat.properties)
                .cloned()
                .collect();
            self.values(
                &self.checker(&refer),
                &attributes,
                &all,
                flat.open,
                name,
                entry.key.span,
                true,
                |_, _, _| {},
            );
            if let Some(group) = self.groups.get_mut(at) {
                group.members = members;
            }
        }
    }

    fn check_policies(&mut self) {
        let mut policies = Vec::new();
        for (name, entry) in ordered(self.node.get("policies")) {
            let ty = self
                .model
                .named(self.file, TypeKind::Policy, entry.value.get("type"));
            let items = entry.value.get("targets").and_then(Node::as_sequence);
            let items = items.unwrap_or_default().iter();
            let what = format!("the policy `{name}`");
            let members = items.filter_map(|item| self.member(item, &what)).collect();
            let flat = self.flat(ty);
            let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
            let checker = self.checker(&refer);
            let properties: Vec<_> = entries(entry.value.get("properties")).collect();
            self.values(
                &checker,
                &properties,
                &flat.properties,
                flat.open,
                name,
                entry.key.span,
                false,
                |_, _, _| {},
            );
            for (trigger, held) in entries(entry.value.get("triggers")) {
                self.check_trigger(trigger, held.key.span, &held.value);
            }
            policies.push(Group {
                name,
                span: entry.key.span,
                ty,
                members,
            });
        }
        self.policies = policies;
    }

    fn check_outputs(&self) {
        let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
        let checker = self.checker(&refer);
        let mut outputs = Vec::new();
        let role = crate::tosca::model::members_role::Role::Parameter;
        self.model
            .define(&mut outputs, self.node.get("outputs"), self.file, role);
        for output in outputs {
            match output.value.or(output.default) {
                Some(node) => {
                    checker.read(node, &output.schema, &output.name);
                }
                None if self.version().is_simple() => {
                    let message = format!("the output `{}` has no `value`", output.name);
                    let diagnostic = Diagnostic::warning("tosca-missing-key", message);
                    self.report(diagnostic.at(output.span));
                }
                None => {}
            }
        }
    }

    /// Whether anything in a text calls for an input, so that it counts as used.
    pub fn mark_used(&self, node: &'a Node) {
        if let Some(call) = crate::tosca::text::call(node, self.version())
            && call.name == "get_input"
            && let Some(name) = call.list().first().and_then(Node::as_str)
        {
            let mut inputs = self.inputs.iter();
            if let Some(input) = inputs.find(|input| &*input.property.name == name) {
                input.used.set(true);
            }
        }
        match &node.kind {
            Kind::Sequence(items) => items.iter().for_each(|item| self.mark_used(item)),
            Kind::Mapping(Mapping { entries }) => {
                entries
                    .iter()
                    .for_each(|entry| self.mark_used(&entry.value));
            }
            Kind::Scalar(_) => {}
        }
    }

    /// A name among the words that are known; what is not one is told.
    pub(super) fn known_word<'n>(
        &self,
        node: &Node,
        names: impl Iterator<Item = &'n str> + Clone,
        what: &str,
    ) -> bool {
        let Some(word) = node.as_str().filter(|_| !node.is_null(Yaml::Core)) else {
            return false;
        };
        if names.clone().any(|name| name == word) {
            return true;
        }
        let message = format!("there is no {what} `{word}`");
        let diagnostic = Diagnostic::error("tosca-reference", message)
            .maybe_help(suggest::did_you_mean(word, names));
        self.report(diagnostic.at(node.used_at()));
        false
    }
}
