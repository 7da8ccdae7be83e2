//! Templates within templates.

use std::sync::Arc;

use locus_core::graph::Origin;
use locus_core::value::Field;
use locus_core::{Diagnostic, FileId};

use super::engine::{Engine, Stack};
use super::resource::Building;

/// Templates within templates beyond which something else than a configuration is going on.
const MAX_NESTING: usize = 16;

impl Engine<'_> {
    /// Uses the template that a resource's type names.
    pub(super) fn expand_template(
        &mut self,
        stack: &Stack,
        building: &Building<'_>,
        file: FileId,
        given: Vec<Field>,
    ) {
        if stack.path.contains(&file) {
            if self.said.insert((building.span, "cycle")) {
                let names: Vec<String> = stack
                    .path
                    .iter()
                    .skip_while(|one| **one != file)
                    .chain([&file])
                    .map(|one| format!("`{}`", self.sources.name(*one)))
                    .collect();
                self.diagnostics.push(
                    Diagnostic::error(
                        "include-cycle",
                        format!("this template includes itself: {}", names.join(" -> ")),
                    )
                    .at(building.span)
                    .help("a nested template cannot contain the template that uses it"),
                );
            }
            return;
        }
        if stack.path.len() >= MAX_NESTING {
            if self.said.insert((building.span, "nesting")) {
                let message = format!("templates are nested more than {MAX_NESTING} deep here");
                self.unchecked
                    .push(Diagnostic::warning("unchecked", message).at(building.span));
            }
            return;
        }
        let Some(prepared) = self.prepare(file) else {
            return;
        };
        let atoms = self.template_atoms(&prepared);
        for field in &given {
            let input = self
                .facts
                .atom("NestedInput", field.name.clone(), field.key);
            let parameter = prepared.by_parameter.get(&field.name);
            if let Some(&parameter) = parameter.and_then(|&index| atoms.parameters.get(index)) {
                self.facts
                    .tuple("NestedInput", "parameter", &[input, parameter]);
            }
        }
        for (index, parameter) in prepared.parameters.iter().enumerate() {
            let set = given.iter().any(|field| field.name == parameter.name)
                || self
                    .environment
                    .defaults
                    .iter()
                    .any(|default| default.name == parameter.name);
            if parameter.default.is_none()
                && !set
                && let Some(&parameter) = atoms.parameters.get(index)
            {
                self.facts
                    .tuple("Resource", "lacksInput", &[building.atom, parameter]);
            }
        }
        let location = self.graph.location(building.location);
        let prefix = format!("{}/", location.name);
        let origin = Arc::new(Origin {
            span: building.span,
            included_by: location.origin.included_by.clone(),
        });
        let mut path = stack.path.clone();
        path.push(file);
        self.stack(
            &prepared,
            prefix,
            Some(origin),
            Some(building.location),
            given,
            path,
        );
    }
}
