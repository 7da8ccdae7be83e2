//! Requirements of node templates: what they are of, what they lead to.

use std::rc::Rc;

use locus_core::{Diagnostic, suggest};

use super::{Assignment, Target, Topology, whole};
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{Capability, find, ordered};
use crate::tosca::names::{Meaning, TypeId};
use crate::yaml::{Node, Schema as Yaml, Typed};

impl<'a> Topology<'_, 'a> {
    /// The requirements that a node template assigns.
    pub(super) fn assignments(&self, index: usize) -> Vec<Assignment<'a>> {
        let Some(template) = self.nodes.get(index) else {
            return Vec::new();
        };
        let own = template.node.get("requirements");
        let node = own.or_else(|| template.copied?.get("requirements"));
        let written = ordered(node).into_iter();
        let mut all: Vec<_> = written
            .map(|(name, entry)| self.assignment(index, name, entry))
            .collect();
        let implied = self.implied(index, &all);
        all.extend(implied);
        all
    }

    fn assignment(
        &self,
        index: usize,
        name: &'a std::sync::Arc<str>,
        entry: &'a crate::yaml::Entry,
    ) -> Assignment<'a> {
        let node = &entry.value;
        let mut assignment = Assignment {
            name,
            span: entry.key.span,
            node: Some(node),
            definition: None,
            target: Target::Unknown,
            target_span: node.used_at(),
            capability: None,
            capability_type: None,
            relationship: None,
            template: None,
            count: Some(1),
            optional: false,
            internal: false,
        };
        let Some(template) = self.nodes.get(index) else {
            return assignment;
        };
        assignment.definition = find(&template.flat.requirements, name).cloned();
        if assignment.definition.is_none() && !template.flat.open {
            let names = template.flat.requirements.iter().map(|known| &*known.name);
            let ty = template
                .ty
                .map(|ty| self.model.name(ty).to_string())
                .unwrap_or_default();
            let message = format!("`{ty}` has no requirement `{name}`");
            let diagnostic = Diagnostic::error("tosca-unknown-requirement", message)
                .maybe_help(suggest::did_you_mean(name, names));
            self.report(diagnostic.at(entry.key.span));
        }
        if let Some(span) = node.span.is_empty().then_some(entry.key.span) {
            assignment.target_span = span;
        }
        let short = matches!(node.typed(Yaml::Core), Some(Typed::Str(_)));
        let named = if short { Some(node) } else { node.get("node") };
        let definition = assignment.definition.clone();
        assignment.target = match named {
            Some(named) => {
                assignment.target_span = named.used_at();
                self.target(named, short)
            }
            None => Target::Open(definition.as_ref().and_then(|definition| definition.node)),
        };
        self.read_capability(&mut assignment, node);
        self.read_relationship(&mut assignment, node);
        if let Some(count) = node.get("count") {
            assignment.count = whole(count);
        }
        if let Some(range) = node.get("occurrences") {
            // 1.3 lets an assignment stand for several relationships.
            let range = crate::tosca::text::range(range);
            assignment.count = range
                .filter(|range| range.most == Some(range.least))
                .map(|range| range.least);
        }
        if let Some(Typed::Bool(true)) = node.get("optional").and_then(|n| n.typed(Yaml::Core)) {
            assignment.optional = true;
        }
        let directives: Vec<&str> = Self::words(node.get("directives")).collect();
        assignment.internal = directives == ["internal"];
        self.check_allocation(&assignment, node);
        self.check_narrowed(&assignment, node);
        assignment
    }

    /// The assignments that 2.0 makes of requirements that a template leaves out and that must be met (8.5.4).
    fn implied(&self, index: usize, own: &[Assignment<'a>]) -> Vec<Assignment<'a>> {
        let Some(template) = self.nodes.get(index) else {
            return Vec::new();
        };
        if self.version().is_simple() || self.is_selected(index) {
            return Vec::new();
        }
        let requirements = template.flat.requirements.iter();
        let left_out = requirements.filter(|requirement| {
            requirement.count.least > 0 && !own.iter().any(|one| *one.name == requirement.name)
        });
        left_out
            .map(|requirement| Assignment {
                name: requirement.key,
                span: template.span,
                node: None,
                target: Target::Open(requirement.node),
                target_span: template.span,
                capability: None,
                capability_type: requirement.capability,
                relationship: requirement.relationship,
                template: None,
                count: Some(requirement.count.least),
                optional: false,
                internal: false,
                definition: Some(requirement.clone()),
            })
            .collect()
    }

    /// What an assignment names instead of what the requirement of the type has must derive from that (8.5.2).
    fn check_narrowed(&self, assignment: &Assignment<'a>, node: &'a Node) {
        let Some(definition) = &assignment.definition else {
            return;
        };
        let told = |named: TypeId, wanted: TypeId, at: Option<&Node>| {
            let derives = |a, b| self.model.derives(a, b) == Some(false);
            // 1.x leaves open whether a type above the one of the definition may be named.
            let above = self.version().is_simple() && !derives(wanted, named);
            let Some(at) = at.filter(|_| derives(named, wanted) && !above) else {
                return;
            };
            let message = format!(
                "the requirement `{}` needs a `{}`, and `{}` does not derive from that",
                assignment.name,
                self.model.name(wanted),
                self.model.name(named)
            );
            let diagnostic = Diagnostic::error("tosca-requirement", message)
                .related(definition.span, "the requirement of the type");
            self.report(diagnostic.at(at.used_at()));
        };
        if let (Target::Open(Some(named)), Some(wanted)) = (assignment.target, definition.node) {
            told(named, wanted, node.get("node"));
        }
        let named = node.get("capability");
        if let (Some(kept), Some(named), false) = (
            definition.capability_name,
            named.filter(|named| named.as_str().is_some()),
            self.version().is_simple(),
        ) && named.as_str() != Some(kept)
        {
            let message = format!(
                "the requirement `{}` names the capability `{kept}`, which an assignment cannot change",
                assignment.name
            );
            let diagnostic = Diagnostic::error("tosca-requirement", message)
                .related(definition.span, "the requirement of the type");
            self.report(diagnostic.at(named.used_at()));
            return;
        }
        if let (Some(named), Some(wanted)) = (assignment.capability_type, definition.capability) {
            told(named, wanted, node.get("capability"));
        }
        let by_name = assignment
            .capability
            .as_ref()
            .filter(|known| named.and_then(Node::as_str) == Some(&*known.name));
        if let (Some(is), Some(wanted)) =
            (by_name.and_then(|known| known.ty), definition.capability)
            && assignment.capability_type == definition.capability
        {
            told(is, wanted, named);
        }
    }

    /// What the name of a target means.
    fn target(&self, named: &'a Node, short: bool) -> Target {
        let version = self.version();
        // `[template, index]` of 2.0.
        let word = match named.as_sequence() {
            Some([first, ..]) if !version.is_simple() => first,
            _ => named,
        };
        let Some(Typed::Str(name)) = word.typed(Yaml::Core) else {
            if crate::tosca::text::is_call(named, version) {
                return Target::Unknown;
            }
            let is = named.describe(Yaml::Core);
            let message = format!("a target is the name of a node template, not {is}");
            self.report(Diagnostic::error("tosca-shape", message).at(named.used_at()));
            return Target::Unknown;
        };
        if let Some(index) = self.find(&name) {
            if let Some([_, at, ..]) = named.as_sequence() {
                self.check_index(index, at);
            }
            return Target::Node(index);
        }
        match self.model.names.lookup(self.file, TypeKind::Node, &name) {
            Meaning::Type(id) => {
                if short && !version.is_simple() {
                    let message =
                        format!("`{name}` is a node type, and a node template is needed here");
                    let diagnostic = Diagnostic::error("tosca-reference", message).help(format!(
                        "to let one of that type be found, write `node: {name}` below"
                    ));
                    self.report(diagnostic.at(word.used_at()));
                    return Target::Unknown;
                }
                Target::Open(Some(id))
            }
            Meaning::Unknown => Target::Unknown,
            Meaning::Nothing => {
                let names = self.nodes.iter().map(|node| &**node.name);
                let message = format!("there is no node template `{name}`");
                let diagnostic = Diagnostic::error("tosca-reference", message)
                    .maybe_help(suggest::did_you_mean(&name, names));
                self.report(diagnostic.at(word.used_at()));
                Target::Unknown
            }
        }
    }

    /// The index of one of the nodes that are made of a template (2.0, 8.5.2).
    fn check_index(&self, node: usize, at: &Node) {
        let Some(Typed::Int(number)) = at.typed(Yaml::Core) else {
            return;
        };
        let Some(template) = self.nodes.get(node) else {
            return;
        };
        let count = match template.node.get("count") {
            Some(count) => whole(count),
            None => Some(1),
        };
        let number = number
            .to_i64()
            .and_then(|number| u64::try_from(number).ok());
        let outside = match (number, count) {
            (None, _) => true,
            (Some(number), Some(count)) => number >= count,
            (Some(_), None) => false,
        };
        if outside {
            let made = count.map_or(String::new(), |count| format!(" of {count}"));
            let message = format!("there is no such node{made} that `{}` makes", template.name);
            let diagnostic =
                Diagnostic::error("tosca-reference", message).help("the first one has the index 0");
            self.report(diagnostic.at(at.used_at()));
        }
    }

    /// The capability that a requirement asks for, and the one of its target that meets it.
    fn read_capability(&self, assignment: &mut Assignment<'a>, node: &'a Node) {
        let definition = assignment.definition.clone();
        let named = node.get("capability");
        let mut wanted_name = definition
            .as_ref()
            .and_then(|definition| definition.capability_name);
        assignment.capability_type = definition
            .as_ref()
            .and_then(|definition| definition.capability);
        let target = match assignment.target {
            Target::Node(index) => self.nodes.get(index),
            _ => None,
        };
        if let Some(named) = named
            && let Some(word) = named.as_str()
        {
            let of_target = target.and_then(|target| find(&target.flat.capabilities, word));
            match (
                of_target,
                self.model
                    .names
                    .lookup(self.file, TypeKind::Capability, word),
            ) {
                (Some(_), _) => wanted_name = Some(word),
                (None, Meaning::Type(id)) => assignment.capability_type = Some(id),
                (None, Meaning::Unknown) => assignment.capability_type = None,
                (None, Meaning::Nothing) => {
                    let known = match assignment.target {
                        Target::Node(_) => target.is_some_and(|target| !target.flat.open),
                        Target::Open(Some(ty)) => {
                            let flat = self.model.flat(ty);
                            !flat.open && find(&flat.capabilities, word).is_none()
                        }
                        _ => false,
                    };
                    if known {
                        let flat = target.map(|target| target.flat.clone());
                        let names = flat.iter().flat_map(|flat| &flat.capabilities);
                        let message = format!("the target has no capability `{word}`");
                        let diagnostic = Diagnostic::error("tosca-reference", message).maybe_help(
                            suggest::did_you_mean(word, names.map(|known| &*known.name)),
                        );
                        self.report(diagnostic.at(named.used_at()));
                    }
                }
            }
        }
        let Some(target) = target else { return };
        assignment.capability = match wanted_name {
            Some(name) => find(&target.flat.capabilities, name).cloned(),
            None => self.fitting(&target.flat.capabilities, assignment.capability_type),
        };
    }

    /// The capability that meets a type: the one with that type itself before those that derive from it.
    pub fn fitting(
        &self,
        capabilities: &[Rc<Capability<'a>>],
        wanted: Option<TypeId>,
    ) -> Option<Rc<Capability<'a>>> {
        let wanted = wanted?;
        let exact = capabilities.iter().find(|known| known.ty == Some(wanted));
        let derived = || {
            let mut known = capabilities.iter();
            known.find(|known| {
                known
                    .ty
                    .is_some_and(|ty| self.model.derives(ty, wanted) == Some(true))
            })
        };
        exact.or_else(derived).cloned()
    }

    fn read_relationship(&self, assignment: &mut Assignment<'a>, node: &'a Node) {
        let definition = assignment.definition.clone();
        assignment.relationship = definition
            .as_ref()
            .and_then(|definition| definition.relationship);
        let Some(written) = node.get("relationship") else {
            return;
        };
        let named = match written.typed(Yaml::Core) {
            Some(Typed::Str(_)) => Some(written),
            _ => written.get("type"),
        };
        let Some(named) = named else { return };
        let Some(word) = named.as_str() else { return };
        let template = self
            .relationships
            .iter()
            .position(|known| &**known.name == word);
        // 2.0 looks for a type of that name first (8.5.2).
        let kind = TypeKind::Relationship;
        let is_type = || {
            self.model
                .names
                .lookup(self.file, kind, word)
                .id()
                .is_some()
        };
        let template = template.filter(|_| self.version().is_simple() || !is_type());
        if let Some(template) = template {
            assignment.template = Some(template);
            let ty = self.relationships.get(template).and_then(|known| known.ty);
            assignment.relationship = ty;
        } else {
            match self
                .model
                .names
                .lookup(self.file, TypeKind::Relationship, word)
            {
                Meaning::Type(id) => assignment.relationship = Some(id),
                Meaning::Unknown => assignment.relationship = None,
                Meaning::Nothing => {
                    assignment.relationship = None;
                    let told = self.model.names.unknown(
                        self.file,
                        TypeKind::Relationship,
                        word,
                        named.used_at(),
                    );
                    self.report(told);
                }
            }
        }
    }

    /// An allocation takes from properties of the capability.
    fn check_allocation(&self, assignment: &Assignment<'a>, node: &'a Node) {
        let Some(map) = node.get("allocation").and_then(Node::as_mapping) else {
            return;
        };
        let flat;
        let (properties, closed) = match (&assignment.capability, assignment.capability_type) {
            (Some(capability), _) => (
                &capability.properties,
                capability.ty.is_some_and(|ty| self.model.is_closed(ty)),
            ),
            (None, Some(ty)) => {
                flat = self.model.flat(ty);
                (&flat.properties, self.model.is_closed(ty))
            }
            (None, None) => return,
        };
        for (name, entry) in map.named() {
            match find(properties, name) {
                None if closed => {
                    let names = properties.iter().map(|known| &*known.name);
                    let message =
                        format!("the capability has no property `{name}` to allocate from");
                    let diagnostic = Diagnostic::error("tosca-unknown-property", message)
                        .maybe_help(suggest::did_you_mean(name, names));
                    self.report(diagnostic.at(entry.key.span));
                }
                None => {}
                Some(property) => {
                    let refer = |call: &crate::tosca::text::Call<'a>| {
                        self.refer(super::Here::Nowhere, call)
                    };
                    let bare = crate::tosca::model::Schema {
                        clauses: Vec::new(),
                        ..(*property.schema).clone()
                    };
                    self.checker(&refer).read(&entry.value, &bare, name);
                }
            }
        }
    }
}
