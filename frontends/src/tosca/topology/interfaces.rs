//! Interfaces of templates: operations, their inputs and outputs, notifications.

use std::rc::Rc;

use locus_core::{Diagnostic, suggest};

use super::Topology;
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::members_role::operations;
use crate::tosca::model::{Flat, Interface, Property, entries, find};
use crate::tosca::text::Call;
use crate::tosca::value::Checker;
use crate::yaml::Node;

impl<'a> Topology<'_, 'a> {
    /// Interfaces of a template: those of its type, with operations and inputs that these have.
    pub(super) fn check_interfaces(
        &self,
        checker: &Checker<'_, 'a>,
        node: Option<&'a Node>,
        flat: &Flat<'a>,
        what: &str,
    ) {
        let simple = self.version().is_simple();
        for (name, entry) in entries(node) {
            let known = find(&flat.interfaces, name).cloned();
            let typed = entry.value.get("type");
            // 1.x also takes the name of an interface type.
            let known = known.or_else(|| {
                let named = self.model.named(self.file, TypeKind::Interface, typed);
                let by_name = self
                    .model
                    .names
                    .lookup(self.file, TypeKind::Interface, name)
                    .id();
                let ty = named.or(by_name.filter(|_| simple))?;
                let flat = self.model.flat(ty);
                Some(Rc::new(Interface {
                    name: name.clone(),
                    ty: Some(ty),
                    inputs: flat.inputs.clone(),
                    operations: flat.operations.clone(),
                    notifications: flat.notifications.clone(),
                }))
            });
            let Some(interface) = known else {
                if !flat.open {
                    let names = flat.interfaces.iter().map(|known| &*known.name);
                    let message = format!("`{what}` has no interface `{name}`");
                    let diagnostic = Diagnostic::error("tosca-unknown-interface", message)
                        .maybe_help(suggest::did_you_mean(name, names));
                    self.report(diagnostic.at(entry.key.span));
                }
                continue;
            };
            self.check_inputs(
                checker,
                entry.value.get("inputs"),
                &interface.inputs,
                &[],
                name,
            );
            for (operation, key, value) in operations(&entry.value, self.version()) {
                let defined = find(&interface.operations, operation);
                let closed = interface.ty.is_some_and(|ty| self.model.is_closed(ty));
                if defined.is_none() && closed {
                    let names = interface.operations.iter().map(|known| &*known.name);
                    let message = format!("the interface `{name}` has no operation `{operation}`");
                    let diagnostic = Diagnostic::error("tosca-operation", message)
                        .maybe_help(suggest::did_you_mean(operation, names));
                    self.report(diagnostic.at(key));
                }
                let inputs = defined
                    .map(|defined| defined.inputs.as_slice())
                    .unwrap_or_default();
                self.check_inputs(
                    checker,
                    value.get("inputs"),
                    inputs,
                    &interface.inputs,
                    operation,
                );
                self.check_implementation(value, checker);
                self.check_mapped(value, checker);
            }
            for (notification, held) in entries(entry.value.get("notifications")) {
                let closed = interface.ty.is_some_and(|ty| self.model.is_closed(ty));
                if closed && !interface.notifications.contains(notification) {
                    let names = interface.notifications.iter().map(|known| &**known);
                    let message =
                        format!("the interface `{name}` has no notification `{notification}`");
                    let diagnostic = Diagnostic::error("tosca-operation", message)
                        .maybe_help(suggest::did_you_mean(notification, names));
                    self.report(diagnostic.at(held.key.span));
                }
                self.check_mapped(&held.value, checker);
            }
        }
    }

    /// Outputs of an operation or notification that are put into attributes, which must be there.
    fn check_mapped(&self, node: &'a Node, checker: &Checker<'_, 'a>) {
        for (_, entry) in entries(node.get("outputs")) {
            if entry.value.as_sequence().is_none() {
                continue;
            }
            let call = Call {
                name: "get_attribute",
                arguments: Some(&entry.value),
                node: &entry.value,
            };
            if let Some(error) = (checker.refer)(&call).error {
                self.report(*error);
            }
        }
    }

    /// Inputs of operations: what is declared must fit; more may be given.
    fn check_inputs(
        &self,
        checker: &Checker<'_, 'a>,
        node: Option<&'a Node>,
        own: &[Rc<Property<'a>>],
        shared: &[Rc<Property<'a>>],
        what: &str,
    ) {
        for (name, entry) in entries(node) {
            match find(own, name).or_else(|| find(shared, name)) {
                Some(property) => {
                    checker.assigned(&entry.value, property, &format!("{what}.{name}"));
                }
                None => {
                    // A definition of an input, which 1.x allows in a template too.
                    let definition = entry
                        .value
                        .as_mapping()
                        .is_some_and(|map| map.get("type").is_some());
                    if !definition {
                        checker.literal(&entry.value);
                    }
                }
            }
        }
    }

    fn check_implementation(&self, operation: &'a Node, checker: &Checker<'_, 'a>) {
        let Some(implementation) = operation.get("implementation") else {
            return;
        };
        if let Some(primary) = implementation.get("primary") {
            self.check_artifact(primary, "primary", checker);
        }
    }
}
