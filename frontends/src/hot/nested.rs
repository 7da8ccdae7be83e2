//! Templates within templates.

use std::sync::Arc;

use locus_core::graph::Origin;
use locus_core::value::{Field, Item, Value, field};
use locus_core::{Diagnostic, FileId, LocationId};

use super::engine::{Engine, Stack, is_template_name};
use super::resource::Building;
use super::vocabulary::{field, sig};

/// Templates within templates beyond which something else than a configuration is going on.
const MAX_NESTING: usize = 16;

/// Whether a type is a stack whose template is a property.
pub(super) fn is_stack(ty: &str) -> bool {
    matches!(ty, "OS::Heat::Stack" | "AWS::CloudFormation::Stack")
}

impl Engine<'_> {
    /// Uses the template that a stack resource names; one that is not in a file is not checked.
    pub(super) fn expand_stack(&mut self, stack: &Stack, building: &Building<'_>) {
        let prepared = stack.prepared.clone();
        let own = prepared.template.file;
        let properties = prepared
            .by_resource
            .get(building.name)
            .and_then(|&index| prepared.template.resources.get(index))
            .and_then(|resource| resource.properties.as_ref());
        let template = properties.and_then(|node| {
            let url = node.get("TemplateURL");
            node.get("template")
                .map(|node| node.get("get_file").unwrap_or(node))
                .or(url)
        });
        let Some(node) = template else { return };
        let span = node.used_at();
        let file = match node.as_str().filter(|name| is_template_name(name)) {
            Some(name) => self.file(name, own).map_err(|why| (name.to_owned(), why)),
            None => {
                if self.said.insert((span, "stack")) {
                    let message = format!(
                        "the template of `{}` was not checked: it is not in a file",
                        building.name
                    );
                    self.unchecked
                        .push(Diagnostic::warning("unchecked", message).at(span));
                }
                return;
            }
        };
        match file {
            Ok(file) => {
                let fields = &self.graph.location(building.location).properties;
                let mut given = ["parameters", "Parameters"].iter();
                let given = given.find_map(|name| match &field(fields, name)?.value {
                    Value::Map(fields) => Some(fields.clone()),
                    _ => None,
                });
                self.expand_template(stack, building, file, given.unwrap_or_default());
            }
            Err((name, why)) => self.missing_file(&name, span, &why),
        }
    }

    /// The value of an output of a nested template, when it has been built.
    pub(super) fn nested_output(&self, target: LocationId, path: &[Arc<str>]) -> Option<Item> {
        let name = match path {
            [outputs, name] if &**outputs == "outputs" => name.clone(),
            [name] => name
                .strip_prefix("Outputs.")
                .map_or(name.clone(), Arc::from),
            _ => return None,
        };
        self.outputs.get(&(target, name)).cloned()
    }

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
                .atom(sig!("NestedInput"), field.name.clone(), field.key);
            let parameter = prepared.by_parameter.get(&field.name);
            if let Some(&parameter) = parameter.and_then(|&index| atoms.parameters.get(index)) {
                self.facts
                    .tuple(field!("NestedInput", "parameter"), &[input, parameter]);
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
