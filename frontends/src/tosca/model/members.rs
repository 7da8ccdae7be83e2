//! What types define: properties, capabilities, requirements, interfaces, each refining what is inherited.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span};

use super::{Allowed, Flat, Model, Parent, Property, entries, ordered};
use crate::tosca::grammar::walk::{is_of, old_boolean};
use crate::tosca::grammar::{Entity, TypeKind, tables};
use crate::tosca::model::Schema;
use crate::tosca::names::TypeId;
use crate::tosca::text;
use crate::yaml::{Node, Schema as Yaml, Typed};

/// What a definition is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A property.
    Property,
    /// An attribute.
    Attribute,
    /// A parameter of an operation, an interface, a workflow or a topology.
    Parameter,
}

impl Role {
    fn entity(self) -> &'static Entity {
        match self {
            Role::Property => &tables::PROPERTY,
            Role::Attribute => &tables::ATTRIBUTE,
            Role::Parameter => &tables::PARAMETER,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Role::Property => "property",
            Role::Attribute => "attribute",
            Role::Parameter => "parameter",
        }
    }
}

/// Where members are defined.
#[derive(Clone, Copy, Debug)]
pub struct Within {
    /// The file.
    pub(super) file: usize,
    /// Whether it is in a type that derives from one that is not known, so that what looks new may be inherited.
    pub(super) open: bool,
}

impl Within {
    /// Where what is inherited is checked by whoever defines.
    pub(super) fn checked(file: usize) -> Self {
        Self { file, open: true }
    }
}

impl From<usize> for Within {
    fn from(file: usize) -> Self {
        Self { file, open: false }
    }
}

impl<'a> Model<'a> {
    /// Puts a type together from what it inherits and what it says itself.
    pub(super) fn flatten(&self, id: TypeId) -> Flat<'a> {
        let ty = self.names.get(id);
        let file = ty.file;
        let mut flat = match self.parent(id) {
            Parent::Type(parent) => Flat::clone(&self.flat(parent)),
            Parent::Unknown => Flat {
                open: true,
                ..Flat::default()
            },
            Parent::None | Parent::Primitive(_) => Flat::default(),
        };
        let node = ty.node;
        let open = flat.open;
        let within = Within { file, open };
        self.define(
            &mut flat.properties,
            node.get("properties"),
            within,
            Role::Property,
        );
        self.define(
            &mut flat.attributes,
            node.get("attributes"),
            within,
            Role::Attribute,
        );
        let narrow = |slot: &mut Allowed, kind: TypeKind, keys: [&str; 2]| {
            let node = keys.iter().find_map(|key| node.get(key));
            if node.is_some() {
                let now = self.allowed(file, kind, node);
                self.narrower(slot, &now, node, file);
                *slot = now;
            }
        };
        match ty.kind {
            TypeKind::Relationship => {
                let keys = ["valid_target_types", "valid_capability_types"];
                narrow(&mut flat.valid_capabilities, TypeKind::Capability, keys);
                let keys = ["valid_target_node_types"; 2];
                narrow(&mut flat.valid_targets, TypeKind::Node, keys);
                let keys = ["valid_source_node_types"; 2];
                narrow(&mut flat.valid_sources, TypeKind::Node, keys);
            }
            TypeKind::Capability => {
                let keys = ["valid_source_types", "valid_source_node_types"];
                narrow(&mut flat.valid_sources, TypeKind::Node, keys);
                let keys = ["valid_relationship_types"; 2];
                narrow(&mut flat.valid_relationships, TypeKind::Relationship, keys);
            }
            TypeKind::Group => narrow(&mut flat.members, TypeKind::Node, ["members"; 2]),
            TypeKind::Policy => self.targets(&mut flat, node.get("targets"), file),
            TypeKind::Interface => self.interface_type(&mut flat, node, file),
            _ => {}
        }
        for (name, entry) in entries(node.get("capabilities")) {
            self.capability(
                &mut flat.capabilities,
                name,
                entry.key.span,
                &entry.value,
                within,
            );
        }
        for (name, entry) in ordered(node.get("requirements")) {
            self.requirement(
                &mut flat.requirements,
                name,
                entry.key.span,
                &entry.value,
                within,
            );
        }
        for (name, entry) in entries(node.get("interfaces")) {
            self.interface(
                &mut flat.interfaces,
                name,
                entry.key.span,
                &entry.value,
                within,
            );
        }
        let artifacts = entries(node.get("artifacts")).map(|(name, _)| name.clone());
        flat.artifacts.extend(artifacts);
        self.refined_artifacts(id);
        flat
    }

    /// Targets of policies are node types or group types.
    fn targets(&self, flat: &mut Flat<'a>, node: Option<&Node>, file: usize) {
        let Some(items) = node.and_then(Node::as_sequence) else {
            return;
        };
        let mut allowed = Allowed {
            types: Some(Vec::new()),
            open: false,
        };
        for item in items {
            let named = |kind| self.named(file, kind, Some(item));
            let Some(name) = item.as_str() else { continue };
            match named(TypeKind::Node).or_else(|| named(TypeKind::Group)) {
                Some(id) => allowed.types.get_or_insert_default().push(id),
                None => {
                    allowed.open = true;
                    use crate::tosca::names::Meaning;
                    let known = self.names.lookup(file, TypeKind::Node, name);
                    let groups = self.names.lookup(file, TypeKind::Group, name);
                    if known == Meaning::Nothing && groups == Meaning::Nothing {
                        let told = self
                            .names
                            .unknown(file, TypeKind::Node, name, item.used_at());
                        self.report(file, told);
                    }
                }
            }
        }
        self.narrower(&flat.members, &allowed, node, file);
        flat.members = allowed;
    }

    /// Adds definitions of properties, attributes or parameters, or refines those that are inherited.
    pub fn define(
        &self,
        list: &mut Vec<Rc<Property<'a>>>,
        node: Option<&'a Node>,
        within: impl Into<Within>,
        role: Role,
    ) {
        let within = within.into();
        for (name, entry) in entries(node) {
            let position = list.iter().position(|known| known.name == *name);
            let parent = position.and_then(|at| list.get(at)).cloned();
            let property = self.property(
                name,
                entry.key.span,
                &entry.value,
                within,
                parent.as_deref(),
                role,
            );
            let property = Rc::new(property);
            match position.and_then(|at| list.get_mut(at)) {
                Some(slot) => *slot = property,
                None => list.push(property),
            }
        }
    }

    /// Reads the definition of a property, attribute or parameter.
    pub fn property(
        &self,
        name: &Arc<str>,
        span: Span,
        node: &'a Node,
        Within { file, open }: Within,
        parent: Option<&Property<'a>>,
        role: Role,
    ) -> Property<'a> {
        let version = self.version(file);
        let definition = node.as_mapping().filter(|map| {
            !text::is_call(node, version) && (map.is_empty() || is_of(map, role.entity()))
        });
        let Some(map) = definition else {
            // A value alone: the refinement to just that, or of a parameter its value.
            let schema = match parent {
                Some(parent) => parent.schema.clone(),
                None => Rc::new(Schema::unknown(file)),
            };
            if parent.is_none() && !open && role != Role::Parameter {
                let is = node.describe(Yaml::Core);
                let message = format!(
                    "the {} `{name}` must be a map with its `type`, not {is}",
                    role.word()
                );
                self.report(file, Diagnostic::error("tosca-shape", message).at(span));
            }
            let value = (!node.is_null(Yaml::Core)).then_some(node);
            if let Some(parent) = parent {
                self.same_value(parent, value, name, span, file);
            }
            return Property {
                name: name.clone(),
                span,
                schema,
                required: true,
                default: parent.and_then(|parent| parent.default),
                value,
                file,
            };
        };
        let typed = map
            .get("type")
            .is_some_and(|node| !node.is_null(Yaml::Core));
        let inherits = parent.is_some() || open;
        if !typed && !inherits && role != Role::Parameter && map.get("type").is_none() {
            let message = format!("the {} `{name}` has no `type`", role.word());
            let diagnostic = Diagnostic::error("tosca-missing-key", message);
            self.report(file, diagnostic.at(span));
        }
        let schema = Rc::new(self.schema(node, file, parent.map(|parent| &*parent.schema)));
        let flag = |key: &str| match map.get(key)?.typed(Yaml::Core)? {
            Typed::Bool(value) => Some(value),
            _ => old_boolean(map.get(key)?, version),
        };
        let required = flag("required");
        let inherited = parent.is_none_or(|parent| parent.required);
        let default = map.get("default");
        let value = map.get("value");
        if let Some(parent) = parent {
            self.refined(parent, &schema, required, name, map, span, file);
            self.same_value(parent, value, name, span, file);
        }
        if default.is_some()
            && required == Some(false)
            && !version.is_simple()
            && role == Role::Property
        {
            let at = map.entry("default").map_or(span, |entry| entry.key.span);
            let message =
                format!("`{name}` is not required and has a default, so it always has a value");
            let diagnostic = Diagnostic::warning("tosca-default", message)
                .help("leave out `required: false`, or the default");
            self.report(file, diagnostic.at(at));
        }
        Property {
            name: name.clone(),
            span,
            schema,
            required: required.unwrap_or(inherited),
            default: default.or_else(|| parent.and_then(|parent| parent.default)),
            value: value.or_else(|| parent.and_then(|parent| parent.value)),
            file,
        }
    }
}
