//! Capabilities that types define, each refining what is inherited.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span};

use super::members::{Role, Within};
use super::{Capability, Model, find};
use crate::tosca::grammar::TypeKind;
use crate::tosca::names::TypeId;
use crate::tosca::text::{self, Count};
use crate::yaml::{Node, Schema as Yaml, Typed};

impl<'a> Model<'a> {
    /// Adds the definition of a capability, or refines the one that is inherited.
    pub(super) fn capability(
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
        // What is added in 2.0 is told here, and need not be told to have no type.
        let checked = !self.version(file).is_simple() && ty.is_some_and(|ty| self.is_closed(ty));
        if checked {
            for (key, known) in [("properties", &properties), ("attributes", &attributes)] {
                self.only_refined(known, node.get(key), file);
            }
        }
        let open = checked || flat.as_ref().is_none_or(|flat| flat.open);
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
    pub(super) fn capability_of(&self, node_type: TypeId, name: &str) -> Option<Option<TypeId>> {
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
}
