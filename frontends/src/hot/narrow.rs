//! What the uses of a parameter demand of it, as constraints that its author can write.

use std::fmt::Display;

use locus_core::value::Constraint;

use super::data::{PropertySchema, catalogue};
use crate::language::FileText;
use crate::language::editing::plain_value;
use crate::yaml::{Node, edit};

/// The constraints that the properties which take a parameter have, each with the place and the text that adds it.
pub(super) fn constrain(file: &FileText<'_>, name: &str) -> Vec<(String, usize, String)> {
    let Some(root) = file.roots.first() else {
        return Vec::new();
    };
    let section = |key: &str| root.get(key).and_then(Node::as_mapping);
    let Some(parameter) = section("parameters").and_then(|all| all.entry(name)) else {
        return Vec::new();
    };
    let Some(own) = parameter.value.get("type").and_then(Node::as_str) else {
        return Vec::new();
    };
    let mut texts: Vec<String> = Vec::new();
    let resources = section("resources").into_iter();
    for (_, resource) in resources.flat_map(|all| all.named()) {
        let Some(ty) = resource.value.get("type").and_then(Node::as_str) else {
            continue;
        };
        let alias = catalogue().alias(ty);
        let Some(ty) = catalogue().get(alias.as_deref().unwrap_or(ty)) else {
            continue;
        };
        let given = resource.value.get("properties").and_then(Node::as_mapping);
        for (property, entry) in given.into_iter().flat_map(|given| given.named()) {
            if let Some(schema) = ty.properties.get(&**property) {
                let mut found = Vec::new();
                demands(schema, &entry.value, name, &mut found);
                texts.extend(found.into_iter().filter_map(|limit| written(limit, own)));
            }
        }
    }
    texts.sort_unstable();
    texts.dedup();
    let changes = texts.into_iter().filter_map(|text| {
        let entry = format!("constraints: [{{ {text} }}]");
        let change = edit::add(file.text, root, parameter.key.span, &entry)?;
        Some((text, change.span.start as usize, change.text))
    });
    changes.collect()
}

/// What a property demands of a parameter that is its value, or a part of it.
fn demands<'s>(
    schema: &'s PropertySchema,
    value: &Node,
    name: &str,
    found: &mut Vec<&'s Constraint>,
) {
    if value.get("get_param").and_then(Node::as_str) == Some(name) {
        found.extend(schema.limits());
    }
    if let (Some(mapping), Some(entries)) = (value.as_mapping(), &schema.entries) {
        for (key, entry) in mapping.named() {
            if let Some(schema) = entries.get(&**key) {
                demands(schema, &entry.value, name, found);
            }
        }
    }
    if let (Some(items), Some(schema)) = (value.as_sequence(), &schema.items) {
        items
            .iter()
            .for_each(|item| demands(schema, item, name, found));
    }
}

/// A constraint as a parameter of a type takes it.
fn written(limit: &Constraint, ty: &str) -> Option<String> {
    let takes = |types: &[&str]| types.contains(&ty);
    Some(match limit {
        Constraint::Length { min, max } if takes(&["string", "json", "comma_delimited_list"]) => {
            format!("length: {}", bounds(min.as_ref(), max.as_ref())?)
        }
        Constraint::Range { min, max } if takes(&["number"]) => {
            format!("range: {}", bounds(min.as_ref(), max.as_ref())?)
        }
        Constraint::Modulo { step, offset } if takes(&["number"]) => {
            format!("modulo: {{ step: {step}, offset: {offset} }}")
        }
        Constraint::OneOf(values) if !takes(&["json", "boolean"]) => {
            let values: Vec<String> = values
                .iter()
                .map(|value| plain_value(&value.to_string()))
                .collect();
            format!("allowed_values: [{}]", values.join(", "))
        }
        Constraint::Pattern(pattern) if takes(&["string"]) => {
            format!("allowed_pattern: {}", plain_value(pattern))
        }
        Constraint::Named(name) => format!("custom_constraint: {name}"),
        _ => return None,
    })
}

fn bounds<T: Display>(min: Option<T>, max: Option<T>) -> Option<String> {
    Some(match (min, max) {
        (Some(min), Some(max)) => format!("{{ min: {min}, max: {max} }}"),
        (Some(min), None) => format!("{{ min: {min} }}"),
        (None, Some(max)) => format!("{{ max: {max} }}"),
        (None, None) => return None,
    })
}
