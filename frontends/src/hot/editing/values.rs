//! What can be the value of a key: words, and functions that refer to what the template has.

use locus_core::value::Constraint;

use super::{attributes, plain, property_at, resource};
use crate::hot::data::{PropertySchema, PropertyType, catalogue, language};
use crate::language::{Place, Suggestion};
use crate::yaml::Node;

const PARAMETER_TYPES: &[&str] = &[
    "string",
    "number",
    "comma_delimited_list",
    "json",
    "boolean",
];

/// What can be written as a value.
pub(super) fn values(place: &Place<'_>) -> Vec<Suggestion> {
    let booleans = || {
        ["true", "false"]
            .map(|word| plain(word, "boolean"))
            .to_vec()
    };
    match place.path {
        ["heat_template_version"] => {
            let names = language().version_names();
            names.map(|name| text(name, "template version")).collect()
        }
        ["resources", _, "type"] | [.., "resource_def" | "resource", "type"] => {
            catalogue().names().map(resource).collect()
        }
        ["parameters", _, "type"] => {
            let types = PARAMETER_TYPES.iter();
            types.map(|ty| plain(ty, "parameter type")).collect()
        }
        ["parameters", _, "hidden" | "immutable"] => booleans(),
        ["parameters", name, "default"] => defaults(place, name),
        ["parameters", _, "constraints", "", "custom_constraint"] => {
            let mut names: Vec<&str> = language()
                .custom_constraints
                .keys()
                .map(String::as_str)
                .collect();
            names.sort_unstable();
            names.iter().map(|name| plain(name, "constraint")).collect()
        }
        ["resources", _, "deletion_policy"] => {
            let all = ["delete", "retain", "snapshot"].iter();
            all.map(|word| plain(word, "deletion policy")).collect()
        }
        ["resource_registry", _] => catalogue()
            .names()
            .map(|name| plain(name, "resource type"))
            .collect(),
        [.., "get_param"] | [.., "get_param", ""] => {
            let names = language().pseudo_parameters(false).iter();
            names.map(|name| plain(name, "pseudo parameter")).collect()
        }
        [.., "get_attr", ""] => attributes(place),
        [.., "resource_facade"] => ["metadata", "deletion_policy", "update_policy"]
            .map(|word| plain(word, "allowed value"))
            .to_vec(),
        [.., "repeat", "permutations"] => booleans(),
        // The name of the algorithm is the first.
        [.., "digest", ""] => ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
            .map(|word| plain(word, "algorithm"))
            .to_vec(),
        // Within a function, its arguments are written.
        [.., function] | [.., function, ""] if super::is_function(function) => Vec::new(),
        ["outputs", _, "value"] => {
            let mut all = of_parameters(place, |_| true);
            all.extend(of_resources(place, |_| true));
            all
        }
        ["resources", ..] => match property_at(place) {
            Some(schema) => {
                let mut all = choices(&schema);
                let fits = |ty: &str| takes(schema.ty, ty);
                all.extend(of_parameters(place, fits));
                let wanted = referred(&schema);
                all.extend(of_resources(place, |ty| wanted.contains(&ty)));
                all
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn text(text: &str, detail: &str) -> Suggestion {
    Suggestion {
        is_text: true,
        ..plain(text, detail)
    }
}

/// The values that a parameter may have, as far as they are listed.
fn defaults(place: &Place<'_>, name: &str) -> Vec<Suggestion> {
    let Some(parameter) = place.get(&["parameters", name]) else {
        return Vec::new();
    };
    let constraints = parameter.get("constraints").and_then(Node::as_sequence);
    let constraints = constraints.unwrap_or_default().iter();
    let listed = constraints.filter_map(|one| one.get("allowed_values")?.as_sequence());
    let values = listed.flatten().filter_map(Node::as_str);
    let mut all: Vec<Suggestion> = values.map(|value| plain(value, "allowed value")).collect();
    if all.is_empty() && parameter.get("type").and_then(Node::as_str) == Some("boolean") {
        all = ["true", "false"]
            .map(|word| plain(word, "boolean"))
            .to_vec();
    }
    all
}

/// Whether a property can be given by a parameter of a type.
fn takes(property: PropertyType, parameter: &str) -> bool {
    match property {
        PropertyType::String => matches!(parameter, "string" | "number"),
        PropertyType::Integer | PropertyType::Number => matches!(parameter, "number" | "string"),
        PropertyType::Boolean => matches!(parameter, "boolean" | "string"),
        PropertyType::List => matches!(parameter, "comma_delimited_list" | "json"),
        PropertyType::Map => parameter == "json",
        PropertyType::Any => true,
    }
}

/// The parameters whose type fits, as a function that gives them.
fn of_parameters(place: &Place<'_>, fits: impl Fn(&str) -> bool) -> Vec<Suggestion> {
    let parameters = place.get(&["parameters"]).and_then(Node::as_mapping);
    let all = parameters.into_iter().flat_map(|all| all.named());
    let fitting = all.filter(|(_, entry)| {
        let ty = entry.value.get("type").and_then(Node::as_str);
        ty.is_some_and(|ty| fits(&ty.to_lowercase()))
    });
    fitting
        .map(|(name, _)| plain(&format!("{{ get_param: {name} }}"), "parameter"))
        .collect()
}

/// The other resources whose type fits, as a function that gives them.
fn of_resources(place: &Place<'_>, fits: impl Fn(&str) -> bool) -> Vec<Suggestion> {
    let own = match place.path {
        ["resources", own, ..] => own,
        _ => "",
    };
    let resources = place.get(&["resources"]).and_then(Node::as_mapping);
    let all = resources.into_iter().flat_map(|all| all.named());
    let fitting = all.filter(|(name, entry)| {
        let ty = entry.value.get("type").and_then(Node::as_str);
        &***name != own && ty.is_some_and(&fits)
    });
    fitting
        .map(|(name, entry)| {
            let ty = entry.value.get("type").and_then(Node::as_str);
            let text = format!("{{ get_resource: {name} }}");
            plain(&text, ty.unwrap_or("resource"))
        })
        .collect()
}

/// The types of the resources that a property can refer to.
fn referred(schema: &PropertySchema) -> Vec<&'static str> {
    let limits = schema.limits().iter();
    let named = limits.filter_map(|limit| match limit {
        Constraint::Named(name) => language().custom_constraints.get(&**name),
        _ => None,
    });
    named
        .flat_map(|custom| custom.resource_types.iter().map(|ty| &**ty))
        .collect()
}

/// The values that a property lists, and the one that it has by itself.
fn choices(schema: &PropertySchema) -> Vec<Suggestion> {
    if schema.ty == PropertyType::Boolean {
        return vec![plain("true", "boolean"), plain("false", "boolean")];
    }
    let is_text = schema.ty == PropertyType::String;
    let limits = schema.limits().iter();
    let listed = limits.filter_map(|limit| match limit {
        Constraint::OneOf(values) => Some(values),
        _ => None,
    });
    let values = listed.flatten();
    let mut all: Vec<Suggestion> = values
        .map(|value| Suggestion {
            is_text,
            ..plain(&value.to_string(), "allowed value")
        })
        .collect();
    if let Some(default) = &schema.default {
        let default = default.to_string();
        if all.is_empty() && !default.is_empty() && !default.contains('\n') {
            all.push(Suggestion {
                is_text,
                ..plain(&default, "default")
            });
        }
    }
    all
}
