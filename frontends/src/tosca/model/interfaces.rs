//! Interfaces that types define, each refining what is inherited.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span};

use super::members::{Role, Within};
use super::{Flat, Interface, Model, Operation, entries, find};
use crate::tosca::grammar::TypeKind;
use crate::tosca::version::Version;
use crate::yaml::{Node, Schema as Yaml, Typed};

impl<'a> Model<'a> {
    /// Adds the inputs, operations and notifications of an interface type.
    pub(super) fn interface_type(&self, flat: &mut Flat<'a>, node: &'a Node, file: usize) {
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

    /// Adds an operation, or refines the one that is inherited.
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

    /// Adds an interface, or refines the one that is inherited.
    pub(super) fn interface(
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
