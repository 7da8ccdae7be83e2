//! What can be written in a template, for editors.

mod names;
mod values;

pub(super) use names::find;

use std::fmt::Write as _;

use locus_core::value::Constraint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::hot::data::{
    PropertySchema, PropertyType, ResourceType, StatusKind, catalogue, language,
};
use crate::language::editing::shown_value;
use crate::language::{Follows, NamePart, NameSort, NameUse, Names, Place, Suggestion};
use crate::yaml::Node;

/// A place where names are used.
const fn used(path: &'static [&'static str], part: NamePart) -> NameUse {
    NameUse { path, part }
}

/// The names of a template.
pub(super) static NAMES: &[Names] = &[
    Names {
        what: "parameter",
        sort: NameSort::Input,
        body: " { type: string }",
        defined: &["parameters", "*"],
        used: &[
            used(&["**", "get_param"], NamePart::First),
            used(&["parameter_groups", "*", "parameters"], NamePart::Each),
        ],
    },
    Names {
        what: "resource",
        sort: NameSort::Location,
        body: "\n    type: OS::Heat::None",
        defined: &["resources", "*"],
        used: &[
            used(&["**", "get_resource"], NamePart::Each),
            used(&["**", "get_attr"], NamePart::First),
            used(&["resources", "*", "depends_on"], NamePart::Each),
        ],
    },
    Names {
        what: "condition",
        sort: NameSort::Part,
        body: " true",
        defined: &["conditions", "*"],
        used: &[
            used(&["resources", "*", "condition"], NamePart::Each),
            used(&["outputs", "*", "condition"], NamePart::Each),
            used(&["**", "if"], NamePart::First),
            used(&["**", "not"], NamePart::Each),
            used(&["**", "and"], NamePart::Each),
            used(&["**", "or"], NamePart::Each),
        ],
    },
    // What an environment gives a parameter.
    Names {
        what: "value of a parameter",
        sort: NameSort::Part,
        body: "",
        defined: &[],
        used: &[],
    },
];

const SECTIONS: &[(&str, &str)] = &[
    (
        "heat_template_version",
        "The version of the template's language",
    ),
    ("description", "What the template is for"),
    ("parameter_groups", "How parameters are shown together"),
    ("parameters", "What a stack is created with"),
    ("conditions", "When resources and outputs exist"),
    ("resources", "What is created"),
    ("outputs", "What a stack tells when it is there"),
];

const RESOURCE: &[(&str, &str)] = &[
    ("type", "What is created"),
    ("properties", "How it is created"),
    ("metadata", "Data for whoever runs in it"),
    ("depends_on", "Resources that come first"),
    ("update_policy", "How it is updated"),
    ("deletion_policy", "What happens when the stack is deleted"),
    (
        "external_id",
        "An existing resource that this one stands for",
    ),
    ("condition", "When it exists"),
];

const PARAMETER: &[(&str, &str)] = &[
    ("type", "What values it takes"),
    ("label", "Its name for people"),
    ("description", "What it is for"),
    ("default", "Its value when none is given"),
    ("hidden", "Whether its value is shown"),
    ("constraints", "What its values must be"),
    ("immutable", "Whether it can be changed later"),
    ("tags", "Words about it"),
];

const OUTPUT: &[(&str, &str)] = &[
    ("value", "The value of the output"),
    ("description", "What it means"),
    ("condition", "Whether the output exists"),
];

const GROUP: &[(&str, &str)] = &[
    ("label", "The name of the group for people"),
    ("description", "What the parameters have in common"),
    ("parameters", "The parameters of the group, in order"),
];

const CONSTRAINTS: &[(&str, &str)] = &[
    ("length", "How long the value is: `min`, `max`"),
    ("range", "How large the value is: `min`, `max`"),
    ("modulo", "What remains of the value: `step`, `offset`"),
    ("allowed_values", "The values that are allowed"),
    (
        "allowed_pattern",
        "A regular expression that the whole value matches",
    ),
    (
        "custom_constraint",
        "Something that the value is the name of",
    ),
    ("description", "What is said when the value breaks it"),
];

const BOUNDS: &[(&str, &str)] = &[("min", "At least"), ("max", "At most")];

const MODULO: &[(&str, &str)] = &[("step", "The divisor"), ("offset", "The remainder")];

const INNER: &[(&str, &str)] = &[
    ("type", "What each member is"),
    ("properties", "How each member is created"),
    ("metadata", "Data for whoever runs in it"),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("parameters", "Values of the parameters of the template"),
    (
        "parameter_defaults",
        "Values of parameters of all templates that have them",
    ),
    ("resource_registry", "What types of resources stand for"),
    (
        "encrypted_param_names",
        "Parameters that are stored encrypted",
    ),
    ("event_sinks", "Where events are sent to"),
    (
        "parameter_merge_strategies",
        "How values of several environments become one",
    ),
];

/// The defaults of parameters, where they are used.
pub(super) fn hints(root: &Node) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    uses(root, &mut |used| {
        let Some(name) = used.as_str() else { return };
        let parameter = root.get("parameters").and_then(|all| all.get(name));
        let default = parameter.and_then(|one| one.get("default"));
        if let Some(text) = default.and_then(Node::as_str).and_then(shown_value) {
            all.push((used.span.end as usize, text));
        }
    });
    all
}

/// Calls a function for the name of each parameter that is used.
fn uses<'n>(node: &'n Node, call: &mut impl FnMut(&'n Node)) {
    if node.alias().is_some() {
        return;
    }
    if let Some(mapping) = node.as_mapping() {
        for (name, entry) in mapping.named() {
            if &**name == "get_param" {
                call(match entry.value.as_sequence().and_then(<[Node]>::first) {
                    // Of a list, the first is the parameter and the rest a way into its value.
                    Some(_) => continue,
                    None => &entry.value,
                });
            }
            uses(&entry.value, call);
        }
    }
    for item in node.as_sequence().unwrap_or_default() {
        uses(item, call);
    }
}

/// What can be written at a place of a template.
pub(super) fn suggest(place: &Place<'_>) -> Vec<Suggestion> {
    let mut all = if place.is_key {
        keys(place)
    } else {
        values::values(place)
    };
    all.sort_by(|a, b| {
        b.required
            .cmp(&a.required)
            .then_with(|| a.deprecated.cmp(&b.deprecated))
            .then_with(|| a.text.cmp(&b.text))
    });
    all
}

/// What there is to know about a key or value that is written.
pub(super) fn about(place: &Place<'_>, written: &str) -> Option<Suggestion> {
    if let (["outputs"], true) = (place.path, place.is_key) {
        return Some(plain(written, "output"));
    }
    let mut all = suggest(place).into_iter();
    let found = all.find(|one| one.text == written);
    // Of a map that takes any key, the types of its values are known.
    found.or_else(|| match (place.is_key, property_at(place)) {
        (true, Some(schema)) if schema.ty == PropertyType::Map => {
            let map = place.path.iter().rfind(|key| !key.is_empty())?;
            Some(plain(written, &format!("a key of `{map}`")))
        }
        _ => None,
    })
}

/// Whether a file sets what templates take, and is none itself.
fn is_environment(root: &Node) -> bool {
    let has = |key: &str| root.get(key).is_some();
    let mut marks = ENVIRONMENT.iter().skip(1);
    let is_given = || {
        let given = root.get("parameters").and_then(Node::as_mapping);
        // A template defines its parameters, and an environment gives them values.
        let mut given = given.into_iter().flat_map(|given| given.named());
        given
            .next()
            .is_some_and(|(_, entry)| entry.value.get("type").is_none())
    };
    !has("heat_template_version")
        && !has("resources")
        && (marks.any(|(key, _)| has(key)) || is_given())
}

/// The constraints that a parameter of its type can have.
fn constraints(place: &Place<'_>, name: &str) -> Vec<Suggestion> {
    let ty = place
        .get(&["parameters", name, "type"])
        .and_then(Node::as_str);
    let known = ty.and_then(|ty| language().newest().parameter_constraints.get(ty));
    let mut all = listed(CONSTRAINTS, &[]);
    let fits = |one: &Suggestion| {
        one.text == "description" || known.is_none_or(|known| known.contains(&one.text))
    };
    all.retain(fits);
    all
}

/// The arguments of a function that takes a map, or the functions that can give its argument.
fn arguments(place: &Place<'_>, function: &str) -> Vec<Suggestion> {
    let variant = language().newest().functions.get(function);
    let variant = variant.or_else(|| language().newest().condition_functions.get(function));
    let shape = variant.and_then(|variant| language().shape(variant));
    let Some(shape) = shape.filter(|shape| shape.args == "map") else {
        return functions(place);
    };
    let of = |names: &[String], required: bool| -> Vec<Suggestion> {
        let all = names.iter().map(|name| Suggestion {
            required,
            documentation: if required { "Required." } else { "" }.to_owned(),
            ..plain(name, &format!("argument of `{function}`"))
        });
        all.collect()
    };
    let mut all = of(&shape.required, true);
    all.extend(of(&shape.optional, false));
    all
}

/// The type whose properties a place is among, also of the members of a group, and the keys that lead on from there.
fn inner<'a>(place: &Place<'a>) -> Option<(Arc<ResourceType>, Vec<&'a str>)> {
    for (at, key) in place.path.iter().enumerate().rev() {
        let holder = place.around.get(at).filter(|_| *key == "properties");
        let ty = holder.and_then(|holder| holder.get("type")?.as_str());
        if let Some(ty) = ty {
            let rest = place.path.get(at + 1..).unwrap_or_default();
            return Some((named_type(ty)?, rest.to_vec()));
        }
    }
    None
}

/// What is known of the property that a place is in.
fn property_at(place: &Place<'_>) -> Option<PropertySchema> {
    if let ["resources", name, "update_policy", first, rest @ ..] = place.path {
        let ty = resource_type(place, name)?;
        let first = ty.update_policy.as_ref()?.get(*first)?;
        return schema_at(first, rest).cloned();
    }
    let (ty, way) = inner(place)?;
    let [first, rest @ ..] = way.as_slice() else {
        return None;
    };
    schema_at(ty.properties.get(*first)?, rest).cloned()
}

fn keys(place: &Place<'_>) -> Vec<Suggestion> {
    match place.path {
        [] if is_environment(place.root) => listed(ENVIRONMENT, &[]),
        [] => listed(SECTIONS, &["heat_template_version"]),
        ["resources", _] => listed(RESOURCE, &["type"]),
        ["parameters", _] => listed(PARAMETER, &["type"]),
        ["parameters", name, "constraints"] | ["parameters", name, "constraints", ""] => {
            constraints(place, name)
        }
        ["parameters", _, "constraints", "", "length" | "range"] => listed(BOUNDS, &[]),
        ["parameters", _, "constraints", "", "modulo"] => listed(MODULO, &["step", "offset"]),
        ["parameter_groups"] | ["parameter_groups", ""] => listed(GROUP, &["parameters"]),
        ["outputs", _] => listed(OUTPUT, &["value"]),
        ["resources", name, "update_policy", rest @ ..] => {
            let ty = resource_type(place, name);
            let policy = ty.as_ref().and_then(|ty| ty.update_policy.as_ref());
            let own = policy.and_then(|policy| entries(policy, rest));
            let own = own.into_iter().flatten();
            own.map(|(name, schema)| property(name, schema)).collect()
        }
        [.., function] if is_function(function) => arguments(place, function),
        ["resources", .., "resource_def" | "resource"] => listed(INNER, &["type"]),
        ["resources", ..] if inner(place).is_some() => {
            let found = inner(place);
            let rest = found.as_ref().map_or(&[][..], |(_, rest)| rest);
            let own = found
                .as_ref()
                .and_then(|(ty, rest)| entries(&ty.properties, rest));
            match own {
                Some(own) => {
                    let mut all: Vec<Suggestion> = own
                        .iter()
                        .map(|(name, schema)| property(name, schema))
                        .collect();
                    if !rest.is_empty() {
                        all.extend(functions(place));
                    }
                    all
                }
                // Where a value is expected, a function may stand.
                None => functions(place),
            }
        }
        ["outputs", _, "value", ..] | ["conditions", _, ..] => functions(place),
        _ => Vec::new(),
    }
}

/// Whether a key is a function, of any version.
pub(super) fn is_function(key: &str) -> bool {
    let newest = language().newest();
    newest.functions.contains_key(key) || newest.condition_functions.contains_key(key)
}

/// The type of a resource, as far as the template tells it.
fn resource_type(place: &Place<'_>, name: &str) -> Option<Arc<ResourceType>> {
    named_type(place.get(&["resources", name, "type"])?.as_str()?)
}

fn named_type(ty: &str) -> Option<Arc<ResourceType>> {
    let alias = catalogue().alias(ty);
    catalogue().get(alias.as_deref().unwrap_or(ty))
}

/// The properties that a map under some keys can have.
fn entries<'s>(
    properties: &'s FxHashMap<Arc<str>, PropertySchema>,
    path: &[&str],
) -> Option<&'s FxHashMap<Arc<str>, PropertySchema>> {
    match path {
        [] => Some(properties),
        [first, rest @ ..] => schema_at(properties.get(*first)?, rest)?.entries.as_ref(),
    }
}

fn schema_at<'s>(schema: &'s PropertySchema, path: &[&str]) -> Option<&'s PropertySchema> {
    path.iter().try_fold(schema, |schema, key| match *key {
        "" => schema.items.as_deref(),
        key => schema.entries.as_ref()?.get(key),
    })
}

fn listed(keys: &[(&str, &str)], required: &[&str]) -> Vec<Suggestion> {
    let one = |&(key, about): &(&str, &str)| Suggestion {
        text: key.to_owned(),
        documentation: about.to_owned(),
        required: required.contains(&key),
        follows: match key {
            "type"
            | "default"
            | "description"
            | "label"
            | "condition"
            | "external_id"
            | "deletion_policy"
            | "heat_template_version"
            | "value"
            | "hidden"
            | "immutable"
            | "allowed_pattern"
            | "custom_constraint"
            | "min"
            | "max"
            | "step"
            | "offset" => Follows::Value,
            "depends_on"
            | "constraints"
            | "parameter_groups"
            | "tags"
            | "allowed_values"
            | "encrypted_param_names"
            | "event_sinks" => Follows::List,
            _ => Follows::Map,
        },
        ..Suggestion::default()
    };
    keys.iter().map(one).collect()
}

fn plain(text: &str, detail: &str) -> Suggestion {
    Suggestion {
        text: text.to_owned(),
        detail: detail.to_owned(),
        ..Suggestion::default()
    }
}

/// A resource type, with the properties that it cannot be without.
fn resource(name: &'static str) -> Suggestion {
    let ty = catalogue().get(name);
    let status = ty
        .as_ref()
        .map_or(StatusKind::Supported, |ty| ty.status.kind);
    let mut block: Vec<String> = ty
        .iter()
        .flat_map(|ty| &ty.properties)
        .filter(|(_, schema)| schema.required)
        .map(|(name, _)| name.to_string())
        .collect();
    block.sort_unstable();
    if !block.is_empty() {
        block = block.iter().map(|key| format!("  {key}")).collect();
        block.insert(0, "properties:".to_owned());
    }
    Suggestion {
        text: name.to_owned(),
        detail: "resource type".to_owned(),
        documentation: ty.as_deref().map(described).unwrap_or_default(),
        deprecated: status != StatusKind::Supported,
        block,
        ..Suggestion::default()
    }
}

/// What a resource type is like: its state, and the properties and attributes that it has.
fn described(ty: &ResourceType) -> String {
    let mut about = String::new();
    if ty.status.kind != StatusKind::Supported {
        let _ = write!(about, "This type is {}. ", ty.status.kind.as_str());
    }
    let listed = |names: Vec<&str>| {
        let mut names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.sort_unstable();
        names.join(", ")
    };
    let of = |wanted: bool| -> Vec<&str> {
        let all = ty.properties.iter();
        all.filter(|(_, schema)| schema.required == wanted)
            .map(|(name, _)| &**name)
            .collect()
    };
    for (what, names) in [
        ("Required", of(true)),
        ("Optional", of(false)),
        (
            "Attributes",
            ty.attributes.keys().map(|name| &**name).collect(),
        ),
    ] {
        if !names.is_empty() {
            let _ = write!(about, "{what}: {}. ", listed(names));
        }
    }
    about.trim_end().to_owned()
}

fn property(name: &str, schema: &PropertySchema) -> Suggestion {
    let mut about = String::new();
    if schema.required {
        about.push_str("Required. ");
    }
    if let Some(default) = &schema.default {
        let _ = write!(about, "Default: `{default}`. ");
    }
    for limit in schema.limits() {
        about.push_str(&constraint(limit));
    }
    if schema.immutable {
        about.push_str("Cannot be changed later. ");
    } else if !schema.update_allowed {
        about.push_str("Changing it replaces the resource. ");
    }
    if schema.status.kind != StatusKind::Supported {
        let _ = write!(about, "This property is {}. ", schema.status.kind.as_str());
    }
    Suggestion {
        text: name.to_owned(),
        detail: schema.ty.as_str().to_owned(),
        documentation: about.trim_end().to_owned(),
        required: schema.required,
        deprecated: schema.status.kind != StatusKind::Supported,
        follows: match schema.ty {
            PropertyType::List => Follows::List,
            PropertyType::Map => Follows::Map,
            _ => Follows::Value,
        },
        ..Suggestion::default()
    }
}

fn constraint(constraint: &Constraint) -> String {
    let range = |min: Option<String>, max: Option<String>| match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "any".to_owned(),
    };
    match constraint {
        Constraint::Length { min, max } => {
            let (min, max) = (min.as_ref(), max.as_ref());
            let text = range(min.map(ToString::to_string), max.map(ToString::to_string));
            format!("Length: {text}. ")
        }
        Constraint::Range { min, max } => {
            let (min, max) = (min.as_ref(), max.as_ref());
            let text = range(min.map(ToString::to_string), max.map(ToString::to_string));
            format!("Range: {text}. ")
        }
        Constraint::Modulo { step, offset } => format!("A multiple of {step} plus {offset}. "),
        Constraint::OneOf(values) => {
            let values: Vec<String> = values.iter().map(|one| format!("`{one}`")).collect();
            format!("One of {}. ", values.join(", "))
        }
        Constraint::Pattern(pattern) => format!("Matches `{pattern}`. "),
        Constraint::Named(name) => format!("Must be a `{name}`. "),
    }
}

/// The functions of the version that the template is in.
fn functions(place: &Place<'_>) -> Vec<Suggestion> {
    let version = place.get(&["heat_template_version"]).and_then(Node::as_str);
    let version = version.and_then(|version| language().version(version));
    let version = version.unwrap_or_else(|| language().newest());
    let functions = match place.path {
        ["conditions", ..] => &version.condition_functions,
        _ => &version.functions,
    };
    let names = functions.keys().filter(|name| !name.contains("Fn::"));
    names
        .filter(|name| *name != "Ref")
        .map(|name| plain(name, "function"))
        .collect()
}

/// The attributes of the resource that a `get_attr` names first.
fn attributes(place: &Place<'_>) -> Vec<Suggestion> {
    let here = place
        .around
        .last()
        .zip(place.list().and_then(<[Node]>::first));
    if here.is_some_and(|(here, first)| std::ptr::eq(*here, first)) {
        return Vec::new();
    }
    let mut all = Vec::new();
    // The list that the place is in names the resource.
    let first = place.list().and_then(|items| items.first()?.as_str());
    let names: Vec<&str> = first.into_iter().collect();
    for name in names {
        all.push(plain(
            "show",
            &format!("everything that `{name}` tells of itself"),
        ));
        if let Some(ty) = resource_type(place, name) {
            for (attribute, about) in &ty.attributes {
                all.push(Suggestion {
                    text: attribute.to_string(),
                    detail: format!("attribute of `{name}`"),
                    deprecated: about.status.kind != StatusKind::Supported,
                    ..Suggestion::default()
                });
            }
        }
    }
    all
}
