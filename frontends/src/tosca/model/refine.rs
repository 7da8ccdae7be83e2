//! The rules of refinement: what a derived type may change of what it inherits.

use std::rc::Rc;

use locus_core::{Diagnostic, Span, suggest};

use super::members::{Role, Within};
use super::{Allowed, DataType, Flat, Model, Property, Requirement, Schema, entries, find};
use crate::tosca::grammar::TypeKind;
use crate::tosca::names::TypeId;
use crate::yaml::{Mapping, Node};

impl<'a> Model<'a> {
    /// A type that replaces another must derive from it.
    pub(super) fn must_derive(
        &self,
        new: TypeId,
        old: TypeId,
        at: Option<&Node>,
        file: usize,
        what: &str,
    ) {
        let Some(at) = at else { return };
        if self.derives(new, old) == Some(false) {
            let (new_name, old_name) = (self.name(new), self.name(old));
            let message = format!(
                "{what} is refined to `{new_name}`, which does not derive from `{old_name}`"
            );
            self.report(file, self.refining(file, message).at(at.used_at()));
        }
    }

    /// What is said of a refinement that 2.0 forbids; 1.x has rules for properties alone, and real types do otherwise.
    pub(super) fn refining(&self, file: usize, message: String) -> Diagnostic {
        if self.version(file).is_simple() {
            Diagnostic::warning("tosca-refinement", message)
        } else {
            Diagnostic::error("tosca-refinement", message)
        }
    }

    /// A list of types that replaces another must not allow more.
    pub(super) fn narrower(&self, old: &Allowed, new: &Allowed, node: Option<&Node>, file: usize) {
        let (Some(types), Some(node)) = (&new.types, node) else {
            return;
        };
        for &ty in types {
            if self.is_allowed(ty, old) == Some(false) {
                let message = format!(
                    "`{}` is not among the types that are inherited here",
                    self.name(ty)
                );
                let items = node.as_sequence().unwrap_or_default();
                let item = items.iter().find(|item| {
                    item.as_str()
                        .is_some_and(|text| text.ends_with(&**self.name(ty)))
                });
                let at = item.map_or(node.used_at(), Node::used_at);
                // 1.x does not say that a list may only become narrower; its own types do otherwise.
                let diagnostic = if self.version(file).is_simple() {
                    Diagnostic::warning("tosca-refinement", message)
                } else {
                    Diagnostic::error("tosca-refinement", message)
                };
                let help = "a refinement allows the same types or ones that derive from them";
                self.report(file, diagnostic.help(help).at(at));
            }
        }
    }

    /// What a property may change of the one it refines.
    #[expect(
        clippy::too_many_arguments,
        reason = "what both definitions say, and where"
    )]
    pub(super) fn refined(
        &self,
        parent: &Property<'a>,
        schema: &Schema<'a>,
        required: Option<bool>,
        name: &str,
        map: &Mapping,
        span: Span,
        file: usize,
    ) {
        if let Some(node) = map.get("type") {
            let derives = match (schema.ty, parent.schema.ty) {
                (DataType::Unknown, _) | (_, DataType::Unknown) => true,
                (DataType::Type(new), DataType::Type(old)) => self.derives(new, old) != Some(false),
                (new, old @ DataType::Primitive(primitive)) => {
                    new == old
                        || matches!(new, DataType::Type(_))
                            && self.primitive(new) == Some(primitive)
                        || matches!(new, DataType::Type(id) if !self.is_closed(id))
                }
                _ => false,
            };
            if !derives {
                let old = self.describe(&parent.schema);
                let message = format!(
                    "`{name}` is {old} in the type it is inherited from, and its type cannot become another"
                );
                let diagnostic = Diagnostic::error("tosca-refinement", message)
                    .related(parent.span, "inherited from here");
                self.report(file, diagnostic.at(node.used_at()));
            }
        }
        if required == Some(false) && parent.required {
            let at = map.get("required").map_or(span, Node::used_at);
            let message =
                format!("`{name}` is required in the type it is inherited from, and must stay so");
            // 1.x leaves it open before 1.3.
            let diagnostic = if self.version(file).is_simple() {
                Diagnostic::warning("tosca-refinement", message)
            } else {
                Diagnostic::error("tosca-refinement", message)
            };
            let diagnostic = diagnostic.related(parent.span, "inherited from here");
            self.report(file, diagnostic.at(at));
        }
    }

    /// A capability of a node type refines what its type has, and adds nothing (2.0, 8.2).
    pub(super) fn only_refined(
        &self,
        known: &[Rc<Property<'a>>],
        node: Option<&'a Node>,
        file: usize,
    ) {
        for (name, entry) in entries(node) {
            if find(known, name).is_none() {
                let names = known.iter().map(|known| &*known.name);
                let message =
                    format!("the type of the capability has no `{name}`, and none is added here");
                let diagnostic = Diagnostic::error("tosca-unknown-property", message)
                    .maybe_help(suggest::did_you_mean(name, names));
                self.report(file, diagnostic.at(entry.key.span));
            }
        }
    }

    /// The relationship of a requirement whose definition refines what its type says (2.0, 8.4): nothing may be added.
    pub(super) fn refined_relationship(
        &self,
        ty: Option<TypeId>,
        node: Option<&'a Node>,
        inherited: Option<&Requirement<'a>>,
        file: usize,
    ) -> Option<Rc<Flat<'a>>> {
        let parent = inherited.and_then(|parent| parent.refined.clone());
        let Some(node) = node else { return parent };
        let refines = node.get("properties").is_some() || node.get("attributes").is_some();
        let same = inherited.is_some_and(|parent| parent.relationship == ty);
        let before = parent.filter(|_| same);
        if !refines {
            return before;
        }
        let mut flat = match before {
            Some(flat) => Flat::clone(&flat),
            None => Flat::clone(&self.flat(ty?)),
        };
        for (key, role) in [
            ("properties", Role::Property),
            ("attributes", Role::Attribute),
        ] {
            let list = match role {
                Role::Property => &flat.properties,
                _ => &flat.attributes,
            };
            for (name, entry) in entries(node.get(key)) {
                if find(list, name).is_none() && !flat.open {
                    let names = list.iter().map(|known| &*known.name);
                    let near = suggest::did_you_mean(name, names);
                    let message =
                        format!("the relationship has no `{name}`, and a requirement adds none");
                    let diagnostic = Diagnostic::error("tosca-unknown-property", message);
                    self.report(file, diagnostic.maybe_help(near).at(entry.key.span));
                }
            }
            let list = match role {
                Role::Property => &mut flat.properties,
                _ => &mut flat.attributes,
            };
            self.define(list, node.get(key), Within::checked(file), role);
        }
        Some(Rc::new(flat))
    }

    /// An artifact that is defined again has the same type, or one that derives from it (2.0, 12.2); 1.x does not say so.
    pub(super) fn refined_artifacts(&self, id: TypeId) {
        let ty = self.names.get(id);
        if self.version(ty.file).is_simple() {
            return;
        }
        for (name, entry) in entries(ty.node.get("artifacts")) {
            let at = entry.value.get("type");
            let new = self.named(ty.file, TypeKind::Artifact, at);
            let old = self.ancestors(id).skip(1).find_map(|above| {
                let above = self.names.get(above);
                let artifact = above.node.get("artifacts")?.get(name)?;
                self.named(above.file, TypeKind::Artifact, artifact.get("type"))
            });
            if let (Some(new), Some(old)) = (new, old) {
                self.must_derive(new, old, at, ty.file, &format!("the artifact `{name}`"));
            }
        }
    }

    /// A value that a type fixes stays what it is.
    pub(super) fn same_value(
        &self,
        parent: &Property<'a>,
        value: Option<&Node>,
        name: &str,
        span: Span,
        file: usize,
    ) {
        let (Some(old), Some(new)) = (parent.value, value) else {
            return;
        };
        if !same(old, new) {
            let message = format!("`{name}` has a fixed value in the type it is inherited from");
            let diagnostic = Diagnostic::error("tosca-refinement", message)
                .related(old.span, "the value is fixed here");
            self.report(
                file,
                diagnostic.at(if new.span.is_empty() {
                    span
                } else {
                    new.used_at()
                }),
            );
        }
    }
}

/// Whether two nodes are written with the same content.
pub fn same(a: &Node, b: &Node) -> bool {
    use crate::yaml::Kind;
    match (&a.kind, &b.kind) {
        (Kind::Scalar(_), Kind::Scalar(_)) => {
            a.typed(crate::yaml::Schema::Core) == b.typed(crate::yaml::Schema::Core)
        }
        (Kind::Sequence(a), Kind::Sequence(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Kind::Mapping(a), Kind::Mapping(b)) => {
            a.len() == b.len()
                && a.named()
                    .all(|(name, entry)| b.get(name).is_some_and(|b| same(&entry.value, b)))
        }
        _ => false,
    }
}
