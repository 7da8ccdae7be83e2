//! What a topology stands for in others: its substitution mappings, in all their forms.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span, suggest};

use super::{Here, Topology};
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{Flat, Named, Schema, entries, find, ordered};
use crate::tosca::names::TypeId;
use crate::tosca::text::Call;
use crate::yaml::{Node, Schema as Yaml, Typed};

/// The mappings of a topology.
#[derive(Debug)]
pub struct Mapping<'a> {
    /// The type it stands for.
    pub ty: TypeId,
    /// Where the type is named.
    pub span: Span,
    /// The names of the capabilities that are mapped.
    pub capabilities: Vec<&'a Arc<str>>,
    /// The requirements that are mapped: name, node template, its requirement.
    pub requirements: Vec<(&'a Arc<str>, Option<usize>, Option<&'a str>)>,
}

impl<'a> Topology<'_, 'a> {
    pub(super) fn check_substitution(&mut self) {
        let Some(node) = self.node.get("substitution_mappings") else {
            return;
        };
        if node.as_mapping().is_none() {
            return;
        }
        let named = node.get("node_type");
        let ty = self.model.named(self.file, TypeKind::Node, named);
        let (Some(ty), Some(named)) = (ty, named) else {
            return;
        };
        let flat = self.model.flat(ty);
        let mut mapping = Mapping {
            ty,
            span: named.used_at(),
            capabilities: Vec::new(),
            requirements: Vec::new(),
        };
        let type_name = self.model.name(ty).clone();
        if let Some(filter) = node.get("substitution_filter") {
            self.check_filter(filter, Here::Nowhere);
        }
        let simple = self.version().is_simple();
        if simple {
            self.simple_values(node, &flat, &type_name);
        } else {
            self.stitch_properties(node, &flat, &mapping);
            self.stitch_attributes(node, &flat, &mapping);
        }
        self.mapped_interfaces(node.get("interfaces"), &flat, &type_name);
        for (name, entry) in entries(node.get("capabilities")) {
            mapping.capabilities.push(name);
            self.of_type(
                &flat.capabilities,
                name,
                &flat,
                entry.key.span,
                &type_name,
                "capability",
            );
            let Some((index, word)) = self.mapped(&entry.value) else {
                continue;
            };
            let Some(template) = self.nodes.get(index) else {
                continue;
            };
            let found = find(
                &template.flat.capabilities,
                word.as_str().unwrap_or_default(),
            );
            self.of_type(
                &template.flat.capabilities,
                word.as_str().unwrap_or_default(),
                &template.flat,
                word.used_at(),
                template.name,
                "capability",
            );
            let wanted = find(&flat.capabilities, name).and_then(|known| known.ty);
            if let (Some(wanted), Some(is)) = (wanted, found.and_then(|found| found.ty))
                && self.model.derives(is, wanted) == Some(false)
            {
                let message = format!(
                    "the capability `{name}` is a `{}`, and what it is mapped to is a `{}`",
                    self.model.name(wanted),
                    self.model.name(is)
                );
                self.report(Diagnostic::error("tosca-mapping", message).at(entry.value.used_at()));
            }
        }
        if simple {
            self.simple_requirements(node, &flat, &type_name, &mut mapping);
        } else {
            self.stitch_requirements(node, &flat, &mut mapping);
        }
        if let Some(form) = node.get("requirements")
            && form.as_mapping().is_some()
            && !self.version().is_simple()
        {
            let message = "`requirements` of a substitution mapping is a list in TOSCA 2.0";
            let diagnostic = Diagnostic::error("tosca-shape", message)
                .help("write each as an item: `- name: [template, requirement]`");
            self.report(diagnostic.at(form.used_at()));
        }
        self.substitution = Some(mapping);
    }

    /// Properties and attributes as 1.x maps them.
    fn simple_values(&self, node: &'a Node, flat: &Flat<'a>, type_name: &Arc<str>) {
        for (name, entry) in entries(node.get("properties")) {
            self.of_type(
                &flat.properties,
                name,
                flat,
                entry.key.span,
                type_name,
                "property",
            );
            let outer = find(&flat.properties, name).map(|property| property.schema.clone());
            self.mapped_property(&entry.value, name, outer.as_deref());
        }
        for (name, entry) in entries(node.get("attributes")) {
            self.of_type(
                &flat.attributes,
                name,
                flat,
                entry.key.span,
                type_name,
                "attribute",
            );
            let Some((index, word)) = self.mapped(&entry.value) else {
                continue;
            };
            let Some(template) = self.nodes.get(index) else {
                continue;
            };
            // With more steps it is a path into a capability.
            let steps = entry.value.as_sequence().map_or(0, <[Node]>::len);
            let inner = &template.flat;
            let all: Vec<_> = inner
                .attributes
                .iter()
                .chain(&inner.properties)
                .cloned()
                .collect();
            if steps == 2 {
                let name = word.as_str().unwrap_or_default();
                self.of_type(
                    &all,
                    name,
                    inner,
                    word.used_at(),
                    template.name,
                    "attribute",
                );
            }
        }
    }

    /// Requirements as 1.x maps them.
    fn simple_requirements(
        &self,
        node: &'a Node,
        flat: &Flat<'a>,
        type_name: &Arc<str>,
        mapping: &mut Mapping<'a>,
    ) {
        for (name, entry) in ordered(node.get("requirements")) {
            self.of_type(
                &flat.requirements,
                name,
                flat,
                entry.key.span,
                type_name,
                "requirement",
            );
            // A node that is selected stands for what is outside, and is named alone (2.0, 15.5.3).
            let alone = entry
                .value
                .as_str()
                .filter(|_| !entry.value.is_null(Yaml::Core));
            if alone.is_some() {
                let nodes = self.nodes.iter().map(|node| &**node.name);
                self.known_word(&entry.value, nodes, "node template");
                mapping.requirements.push((name, None, None));
                continue;
            }
            let mapped = self.mapped(&entry.value);
            if let Some((index, word)) = mapped
                && let Some(template) = self.nodes.get(index)
            {
                self.of_type(
                    &template.flat.requirements,
                    word.as_str().unwrap_or_default(),
                    &template.flat,
                    word.used_at(),
                    template.name,
                    "requirement",
                );
                self.same_need(flat, name, template, word);
            }
            let index = mapped.map(|(index, _)| index);
            let word = mapped.and_then(|(_, word)| word.as_str());
            mapping.requirements.push((name, index, word));
        }
    }

    /// What meets a requirement of the type must be able to meet the one that it is mapped to.
    pub(super) fn same_need(
        &self,
        flat: &Flat<'a>,
        name: &str,
        template: &super::NodeTemplate<'a>,
        word: &'a Node,
    ) {
        let outer = find(&flat.requirements, name).and_then(|known| known.capability);
        let inner = find(
            &template.flat.requirements,
            word.as_str().unwrap_or_default(),
        );
        let inner = inner.and_then(|known| known.capability);
        if let (Some(outer), Some(inner)) = (outer, inner)
            && self.model.derives(outer, inner) == Some(false)
            && self.model.derives(inner, outer) == Some(false)
        {
            let message = format!(
                "the requirement `{name}` needs a `{}`, and what it is mapped to needs a `{}`",
                self.model.name(outer),
                self.model.name(inner)
            );
            self.report(Diagnostic::error("tosca-mapping", message).at(word.used_at()));
        }
    }

    fn of_type<T: Named>(
        &self,
        list: &[Rc<T>],
        name: &str,
        flat: &Flat<'a>,
        span: Span,
        ty: &str,
        what: &str,
    ) {
        if find(list, name).is_none() && !flat.open {
            let names = list.iter().map(|known| known.name());
            let message = format!("`{ty}` has no {what} `{name}`");
            let diagnostic = Diagnostic::error("tosca-mapping", message)
                .maybe_help(suggest::did_you_mean(name, names));
            self.report(diagnostic.at(span));
        }
    }

    /// Each operation is mapped to a workflow.
    fn mapped_interfaces(&self, node: Option<&'a Node>, flat: &Flat<'a>, ty: &str) {
        let workflows = entries(self.node.get("workflows")).map(|(name, _)| &**name);
        let workflows: Vec<&str> = workflows.collect();
        for (name, entry) in entries(node) {
            let span = entry.key.span;
            self.of_type(&flat.interfaces, name, flat, span, ty, "interface");
            let Some(interface) = find(&flat.interfaces, name) else {
                continue;
            };
            for (operation, held) in entries(Some(&entry.value)) {
                let closed = interface.ty.is_some_and(|ty| self.model.is_closed(ty));
                if closed && find(&interface.operations, operation).is_none() {
                    let names = interface.operations.iter().map(|known| known.name());
                    let message = format!("the interface `{name}` has no operation `{operation}`");
                    let diagnostic = Diagnostic::error("tosca-mapping", message)
                        .maybe_help(suggest::did_you_mean(operation, names));
                    self.report(diagnostic.at(held.key.span));
                }
                if let Some(Typed::Str(_)) = held.value.typed(Yaml::Core) {
                    self.known_word(&held.value, workflows.iter().copied(), "workflow");
                }
            }
        }
    }

    /// A property is mapped to an input, or in 1.x to a value.
    pub(super) fn mapped_property(&self, node: &'a Node, name: &str, outer: Option<&Schema<'a>>) {
        let word = match node.typed(Yaml::Core) {
            Some(Typed::Str(word)) => {
                let is_input = self.inputs.iter().any(|known| known.property.name == word);
                // 1.x still takes a value that does not change (1.3, 3.8.9).
                if self.version().is_simple() && !is_input {
                    if let Some(outer) = outer {
                        let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
                        self.checker(&refer).read(node, outer, name);
                    }
                    return;
                }
                Some(node)
            }
            _ => match node.as_sequence() {
                Some([one]) => Some(one),
                Some([first, second]) if self.version().is_simple() => {
                    // `[node template, property]` of 1.2.
                    let nodes = self.nodes.iter().map(|node| &**node.name);
                    if self.known_word(first, nodes, "node template") {
                        let _ = second;
                    }
                    return;
                }
                _ => None,
            },
        };
        let Some(word) = word else {
            let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
            match outer.filter(|_| self.version().is_simple()) {
                Some(outer) => self.checker(&refer).read(node, outer, name),
                None => self.checker(&refer).literal(node),
            };
            return;
        };
        if crate::tosca::text::is_call(word, self.version()) {
            let refer = |call: &Call<'a>| self.refer(Here::Nowhere, call);
            self.checker(&refer).literal(word);
            return;
        }
        let inputs = self.inputs.iter().map(|input| &*input.property.name);
        if self.known_word(word, inputs, "input")
            && let Some(input) = self
                .inputs
                .iter()
                .find(|input| word.as_str() == Some(&*input.property.name))
        {
            input.used.set(true);
            if let Some(outer) = outer
                && !self.model.assignable(outer, &input.property.schema)
            {
                let (is, needed) = (
                    self.model.describe(outer),
                    self.model.describe(&input.property.schema),
                );
                let message = format!(
                    "the property `{name}` is {is}, and the input that it is mapped to is {needed}"
                );
                self.report(Diagnostic::error("tosca-mapping", message).at(word.used_at()));
            }
        }
    }

    /// A node template and the name of something that it has.
    pub(super) fn mapped(&self, node: &'a Node) -> Option<(usize, &'a Node)> {
        let pair = node
            .as_sequence()
            .or_else(|| node.get("mapping")?.as_sequence());
        let Some([first, second, ..]) = pair else {
            // 1.3 also lets a capability be described by `properties` and `attributes`.
            if node.as_mapping().is_some() && self.version().is_simple() {
                return None;
            }
            // Descriptors of network functions write `[]` for what is not mapped.
            if self.version().is_simple() && pair.is_some_and(<[Node]>::is_empty) {
                let message = "an empty list maps nothing";
                let diagnostic = Diagnostic::warning("tosca-mapping", message)
                    .help("leave the entry out, or name a node template and what is in it");
                self.report(diagnostic.at(node.used_at()));
                return None;
            }
            let is = node.describe(Yaml::Core);
            let message =
                format!("a mapping is a list of a node template and a name in it, not {is}");
            self.report(Diagnostic::error("tosca-mapping", message).at(node.used_at()));
            return None;
        };
        let nodes = self.nodes.iter().map(|node| &**node.name);
        if !self.known_word(first, nodes, "node template") {
            return None;
        }
        Some((self.find(first.as_str()?)?, second))
    }
}
