//! What types define: properties, capabilities, requirements, interfaces, each refining what is inherited.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span};

use super::{
    Allowed, Capability, Flat, Interface, Model, Operation, Parent, Property, Requirement, entries,
    find, ordered,
};
use crate::tosca::grammar::walk::{is_of, old_boolean};
use crate::tosca::grammar::{Entity, TypeKind, tables};
use crate::tosca::model::Schema;
use crate::tosca::names::TypeId;
use crate::tosca::text::{self, Count};
use crate::tosca::version::Version;
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
    file: usize,
    /// Whether it is in a type that derives from one that is not known, so that what looks new may be inherited.
    open: bool,
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

    fn capability(
        &self,
        list: &mut Vec<Rc<Capability<'a>>>,
        name: &Arc<str>,
        span: Span,
        node: &'a Node,
        Within { file, open }: Within,
    ) {
        let position = list.iter().position(|known| known.name == *name);
        let parent = position.and_then(|at| list.get(at)).cloned();
        let named = match node.typed(Yaml::Core) {
            Some(Typed::Str(_)) => Some(node),
            _ => node.get("type"),
        };
        if named.is_none() && parent.is_none() && !open {
            let message = format!("the capability `{name}` has no `type`");
            let diagnostic = Diagnostic::error("tosca-missing-key", message);
            self.report(file, diagnostic.at(span));
        }
        let ty = match named {
            Some(_) => self.named(file, TypeKind::Capability, named),
            None => parent.as_ref().and_then(|parent| parent.ty),
        };
        if let (Some(parent), Some(ty)) = (&parent, ty)
            && let Some(old) = parent.ty
            && named.is_some()
        {
            self.must_derive(ty, old, named, file, &format!("the capability `{name}`"));
        }
        let flat = ty.map(|ty| self.flat(ty));
        let (mut properties, mut attributes, sources, relationships) = match (&parent, &flat) {
            (Some(parent), Some(flat)) if parent.ty != ty => {
                // Another type, with what the parent's definition refined where it still applies.
                let mut properties = flat.properties.clone();
                for property in &mut properties {
                    if let Some(refined) = find(&parent.properties, &property.name) {
                        *property = refined.clone();
                    }
                }
                (
                    properties,
                    flat.attributes.clone(),
                    parent.sources.clone(),
                    parent.relationships.clone(),
                )
            }
            (Some(parent), _) => (
                parent.properties.clone(),
                parent.attributes.clone(),
                parent.sources.clone(),
                parent.relationships.clone(),
            ),
            (None, Some(flat)) => (
                flat.properties.clone(),
                flat.attributes.clone(),
                flat.valid_sources.clone(),
                flat.valid_relationships.clone(),
            ),
            (None, None) => Default::default(),
        };
        let closed = ty.is_some_and(|ty| self.is_closed(ty));
        if !self.version(file).is_simple() && closed {
            for (key, known) in [("properties", &properties), ("attributes", &attributes)] {
                self.only_refined(known, node.get(key), file);
            }
        }
        let open = flat.as_ref().is_none_or(|flat| flat.open);
        let within = Within { file, open };
        self.define(
            &mut properties,
            node.get("properties"),
            within,
            Role::Property,
        );
        self.define(
            &mut attributes,
            node.get("attributes"),
            within,
            Role::Attribute,
        );
        let mut capability = Capability {
            name: name.clone(),
            span,
            ty,
            properties,
            attributes,
            sources,
            relationships,
            occurrences: parent
                .as_ref()
                .map_or(Count::new(1, None), |parent| parent.occurrences),
        };
        let sources = node
            .get("valid_source_types")
            .or_else(|| node.get("valid_source_node_types"));
        if sources.is_some() {
            let now = self.allowed(file, TypeKind::Node, sources);
            self.narrower(&capability.sources, &now, sources, file);
            capability.sources = now;
        }
        let relationships = node.get("valid_relationship_types");
        if relationships.is_some() {
            let now = self.allowed(file, TypeKind::Relationship, relationships);
            self.narrower(&capability.relationships, &now, relationships, file);
            capability.relationships = now;
        }
        if let Some(range) = node.get("occurrences").and_then(text::range) {
            capability.occurrences = range;
        }
        let capability = Rc::new(capability);
        match position.and_then(|at| list.get_mut(at)) {
            Some(slot) => *slot = capability,
            None => list.push(capability),
        }
    }

    /// The type of a capability that a node type declares or inherits. The node type is not put together for that: types may
    /// require each other, and themselves.
    fn capability_of(&self, node_type: TypeId, name: &str) -> Option<Option<TypeId>> {
        let mut is_declared = false;
        for id in self.ancestors(node_type) {
            let ty = self.names.get(id);
            let capabilities = ty.node.get("capabilities");
            let Some(node) = capabilities.and_then(|all| all.get(name)) else {
                continue;
            };
            is_declared = true;
            let named = match node.typed(Yaml::Core) {
                Some(Typed::Str(_)) => Some(node),
                // What refines a capability need not say its type again.
                _ => node.get("type"),
            };
            if named.is_some() {
                return Some(self.named(ty.file, TypeKind::Capability, named));
            }
        }
        is_declared.then_some(None)
    }

    fn requirement(
        &self,
        list: &mut Vec<Rc<Requirement<'a>>>,
        name: &'a Arc<str>,
        span: Span,
        node: &'a Node,
        Within { file, open }: Within,
    ) {
        let version = self.version(file);
        let position = list.iter().position(|known| known.name == *name);
        let parent = position.and_then(|at| list.get(at)).cloned();
        let simple = version.is_simple();
        let short = matches!(node.typed(Yaml::Core), Some(Typed::Str(_)));
        if short && !simple && !self.file(file).builtin {
            let message = format!("the requirement `{name}` names its capability type alone");
            let diagnostic = Diagnostic::warning("tosca-requirement", message)
                .help("TOSCA 2.0 has `capability` and `relationship`, both mandatory");
            self.report(file, diagnostic.at(node.used_at()));
        }
        if !short && node.as_mapping().is_none() && !node.is_null(Yaml::Core) {
            let is = node.describe(Yaml::Core);
            let message = format!("the requirement `{name}` must be a map, not {is}");
            self.report(
                file,
                Diagnostic::error("tosca-shape", message).at(node.used_at()),
            );
        }
        let wanted = if short {
            Some(node)
        } else {
            node.get("capability")
        };
        let inherited = parent.as_deref();
        let node_type = match node.get("node") {
            Some(named) => self.named(file, TypeKind::Node, Some(named)),
            None => inherited.and_then(|parent| parent.node),
        };
        let mut capability = inherited.and_then(|parent| parent.capability);
        let mut capability_name = inherited.and_then(|parent| parent.capability_name);
        if let Some(wanted) = wanted
            && let Some(word) = wanted.as_str()
        {
            use crate::tosca::names::Meaning;
            let meaning = self.names.lookup(file, TypeKind::Capability, word);
            let of_node = || self.capability_of(node_type?, word);
            (capability, capability_name) = match meaning {
                Meaning::Type(id) => (Some(id), None),
                Meaning::Unknown => (None, None),
                Meaning::Nothing => match of_node() {
                    Some(ty) => (ty, Some(word)),
                    None => {
                        let kind = TypeKind::Capability;
                        let told = self.names.unknown(file, kind, word, wanted.used_at());
                        self.report(file, told);
                        (None, None)
                    }
                },
            };
        } else if inherited.is_none() && !open && !short {
            let message = format!("the requirement `{name}` has no `capability`");
            let diagnostic = Diagnostic::error("tosca-missing-key", message);
            self.report(file, diagnostic.at(span));
        }
        let relationship_node = node.get("relationship");
        let relationship = match relationship_node {
            Some(named) => {
                let named = named.get("type").unwrap_or(named);
                self.named(file, TypeKind::Relationship, Some(named))
            }
            None => inherited.and_then(|parent| parent.relationship),
        };
        let inherits = inherited.is_some() || open;
        if relationship_node.is_none() && !inherits && !short && !simple {
            let message = format!("the requirement `{name}` has no `relationship`");
            let diagnostic = Diagnostic::warning("tosca-requirement", message)
                .help("TOSCA 2.0 has `capability` and `relationship`, both mandatory");
            self.report(file, diagnostic.at(span));
        }
        let key = if simple { "occurrences" } else { "count_range" };
        let count = node.get(key).and_then(text::range);
        if let (Some(parent), Some(now)) = (inherited, count) {
            let wider = now.least < parent.count.least
                || parent
                    .count
                    .most
                    .is_some_and(|most| now.most.is_none_or(|now| now > most));
            if wider {
                let at = node.get(key).map_or(span, Node::used_at);
                let message =
                    format!("`{key}` of `{name}` allows more than in the type it refines");
                let diagnostic = self.refining(file, message);
                let old = parent.span;
                let diagnostic = diagnostic.related(old, "the requirement it refines");
                self.report(file, diagnostic.at(at));
            }
        }
        if let Some(parent) = inherited {
            let word = format!("the requirement `{name}`");
            if let (Some(new), Some(old)) = (capability, parent.capability) {
                self.must_derive(new, old, wanted, file, &word);
            }
            if let (Some(new), Some(old)) = (node_type, parent.node) {
                self.must_derive(new, old, node.get("node"), file, &word);
            }
            if let (Some(new), Some(old)) = (relationship, parent.relationship) {
                self.must_derive(new, old, relationship_node, file, &word);
            }
        }
        let default = match version {
            Version::V2_0 => Count::new(0, None),
            _ => Count::new(1, Some(1)),
        };
        let requirement = Rc::new(Requirement {
            name: name.clone(),
            key: name,
            span,
            capability,
            capability_name,
            node: node_type,
            relationship,
            count: count.unwrap_or(inherited.map_or(default, |parent| parent.count)),
            filters: inherited
                .into_iter()
                .flat_map(|parent| parent.filters.iter().copied())
                .chain(node.get("node_filter").map(|filter| (filter, file)))
                .collect(),
            refined: self.refined_relationship(relationship, relationship_node, inherited, file),
        });
        match position.and_then(|at| list.get_mut(at)) {
            Some(slot) => *slot = requirement,
            None => list.push(requirement),
        }
    }

    /// Adds the inputs, operations and notifications of an interface type.
    fn interface_type(&self, flat: &mut Flat<'a>, node: &'a Node, file: usize) {
        for (name, entry) in entries(node.get("inputs")) {
            let definition = entry.value.as_mapping().is_some();
            let refines = find(&flat.inputs, name).is_some();
            if !definition && !refines {
                let is = entry.value.describe(Yaml::Core);
                let message = format!("the input `{name}` must be a map with its `type`, not {is}");
                let diagnostic = Diagnostic::error("tosca-shape", message);
                self.report(file, diagnostic.at(entry.key.span));
            }
        }
        self.define(&mut flat.inputs, node.get("inputs"), file, Role::Parameter);
        for (name, key, operation) in operations(node, self.version(file)) {
            if operation.get("implementation").is_some() {
                let at = operation.get("implementation").map_or(key, Node::used_at);
                let message =
                    format!("the operation `{name}` of an interface type has an implementation");
                let diagnostic = Diagnostic::error("tosca-operation", message)
                    .help("implement it in a node type or template");
                self.report(file, diagnostic.at(at));
            }
            self.operation(&mut flat.operations, name, operation, file);
        }
        let notifications = entries(node.get("notifications")).map(|(name, _)| name.clone());
        flat.notifications.extend(notifications);
    }

    fn operation(
        &self,
        list: &mut Vec<Rc<Operation<'a>>>,
        name: &Arc<str>,
        node: &'a Node,
        file: usize,
    ) {
        let position = list.iter().position(|known| known.name == *name);
        let mut inputs = position
            .and_then(|at| list.get(at))
            .map(|known| known.inputs.clone())
            .unwrap_or_default();
        self.define(&mut inputs, node.get("inputs"), file, Role::Parameter);
        let operation = Rc::new(Operation {
            name: name.clone(),
            inputs,
        });
        match position.and_then(|at| list.get_mut(at)) {
            Some(slot) => *slot = operation,
            None => list.push(operation),
        }
    }

    fn interface(
        &self,
        list: &mut Vec<Rc<Interface<'a>>>,
        name: &Arc<str>,
        span: Span,
        node: &'a Node,
        Within { file, open }: Within,
    ) {
        let position = list.iter().position(|known| known.name == *name);
        let parent = position.and_then(|at| list.get(at)).cloned();
        let named = match node.typed(Yaml::Core) {
            Some(Typed::Str(_)) => Some(node),
            _ => node.get("type"),
        };
        let ty = match named {
            Some(_) => self.named(file, TypeKind::Interface, named),
            None => parent.as_ref().and_then(|parent| parent.ty),
        };
        let version = self.version(file);
        if named.is_none() && parent.is_none() && !open && !version.is_simple() {
            let message = format!("the interface `{name}` has no `type`");
            let diagnostic = Diagnostic::error("tosca-missing-key", message);
            self.report(file, diagnostic.at(span));
        }
        if let (Some(parent), Some(ty)) = (&parent, ty)
            && let Some(old) = parent.ty
            && named.is_some()
        {
            self.must_derive(ty, old, named, file, &format!("the interface `{name}`"));
        }
        let mut interface = match (&parent, ty) {
            (Some(parent), _) => Interface::clone(parent),
            (None, Some(ty)) => {
                let flat = self.flat(ty);
                Interface {
                    name: name.clone(),
                    ty: Some(ty),
                    inputs: flat.inputs.clone(),
                    operations: flat.operations.clone(),
                    notifications: flat.notifications.clone(),
                }
            }
            (None, None) => Interface {
                name: name.clone(),
                ty: None,
                inputs: Vec::new(),
                operations: Vec::new(),
                notifications: Vec::new(),
            },
        };
        interface.ty = ty;
        self.define(
            &mut interface.inputs,
            node.get("inputs"),
            file,
            Role::Parameter,
        );
        let closed = ty.is_some_and(|ty| self.is_closed(ty));
        for (operation, key, value) in operations(node, version) {
            let known = find(&interface.operations, operation).is_some();
            if !known && closed && !version.is_simple() {
                let names = interface.operations.iter().map(|known| &*known.name);
                let message = format!("the interface `{name}` has no operation `{operation}`");
                let diagnostic = Diagnostic::error("tosca-operation", message)
                    .maybe_help(locus_core::suggest::did_you_mean(operation, names));
                self.report(file, diagnostic.at(key));
            }
            self.operation(&mut interface.operations, operation, value, file);
        }
        let interface = Rc::new(interface);
        match position.and_then(|at| list.get_mut(at)) {
            Some(slot) => *slot = interface,
            None => list.push(interface),
        }
    }
}

/// The operations that an interface writes: below `operations`, and in 1.x also beside its other keys.
pub fn operations(node: &Node, version: Version) -> Vec<(&Arc<str>, Span, &Node)> {
    let listed = entries(node.get("operations"));
    let listed = listed.map(|(name, entry)| (name, entry.key.span, &entry.value));
    let mut all: Vec<_> = listed.collect();
    if version.is_simple() {
        let known = [
            "type",
            "description",
            "metadata",
            "version",
            "derived_from",
            "inputs",
            "operations",
            "notifications",
        ];
        let bare = entries(Some(node)).filter(|(name, _)| !known.contains(&&***name));
        all.extend(bare.map(|(name, entry)| (name, entry.key.span, &entry.value)));
    }
    all
}
