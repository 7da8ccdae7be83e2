//! Schemas of custom resources: the server takes those that say the type of every field, and nothing that contradicts it.

use locus_core::Diagnostic;

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::cel::compile::{self, Type};
use crate::kubernetes::cel::signatures::Kind as Wanted;
use crate::kubernetes::{custom, regular};
use crate::yaml::{Kind, Node};

/// Schemas deeper than this are not looked at.
const DEPTH: usize = 64;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Checks the schema of a version.
pub(super) fn check(here: &mut Here<'_, '_, '_>) {
    if let Some(schema) = here.node.at(&["schema", "openAPIV3Schema"]) {
        structure(here, schema, Level::Root, 0);
    }
}

fn structure(here: &mut Here<'_, '_, '_>, schema: &Node, level: Level, depth: usize) {
    if depth > DEPTH || schema.as_mapping().is_none() {
        return;
    }
    let yes = |key: &str| schema.bool_of(key) == Some(true);
    let int_or_text = yes("x-kubernetes-int-or-string");
    let open = yes("x-kubernetes-preserve-unknown-fields");
    let embedded = yes("x-kubernetes-embedded-resource");
    let kind = schema.text_of("type").filter(|kind| !kind.text.is_empty());
    let name = kind.as_ref().map_or("", |kind| &*kind.text);
    types(here, schema, level);
    if schema.some("$ref").is_some() {
        forbid(
            here,
            schema,
            "$ref",
            "references are not allowed: write the schema where it is used",
        );
    }
    for key in [
        "definitions",
        "dependencies",
        "id",
        "patternProperties",
        "additionalItems",
    ] {
        if schema
            .some(key)
            .is_some_and(|given| !given.entries().is_empty() || given.as_str().is_some())
        {
            forbid(here, schema, key, "the server takes no such field");
        }
    }
    if yes("uniqueItems") {
        forbid(
            here,
            schema,
            "uniqueItems",
            "use `x-kubernetes-list-type: set`",
        );
    }
    if let Some(pattern) = schema.text_of("pattern")
        && regular::is_broken(&pattern.text)
    {
        let message = format!("`{}` is not a regular expression", pattern.text);
        here.value(
            message,
            pattern.span,
            "close what is open, and escape what is meant as it is",
        );
    }
    if int_or_text && open {
        forbid(
            here,
            schema,
            "x-kubernetes-preserve-unknown-fields",
            "a number or a text has no fields",
        );
    }
    if int_or_text && embedded {
        forbid(
            here,
            schema,
            "x-kubernetes-embedded-resource",
            "a number or a text is not an object",
        );
    }
    if schema.bool_of("x-kubernetes-preserve-unknown-fields") == Some(false) {
        forbid(
            here,
            schema,
            "x-kubernetes-preserve-unknown-fields",
            "it must be `true`, or be left out",
        );
    }
    if embedded
        && name == "object"
        && !open
        && schema
            .some("properties")
            .is_none_or(|all| all.entries().is_empty())
    {
        let message = "an embedded object needs `properties`, or `x-kubernetes-preserve-unknown-fields: true`";
        let span = schema.span_of("x-kubernetes-embedded-resource");
        here.fields(message.to_owned(), span, "add what the object holds");
    }
    match schema.some("items") {
        None if name == "array" => {
            lacks(here, schema, "items", "say what the items of the list are")
        }
        Some(items) if matches!(items.kind, Kind::Sequence(_)) => {
            forbid(
                here,
                schema,
                "items",
                "it must be one schema, not a list of them",
            );
        }
        Some(items) => structure(here, items, Level::Item, depth + 1),
        None => {}
    }
    let more = schema.some("additionalProperties");
    let properties = schema.some("properties").map_or(&[][..], Node::entries);
    if let Some(more) = more {
        if level == Level::Root {
            forbid(
                here,
                schema,
                "additionalProperties",
                "it is not allowed at the root",
            );
        } else if !properties.is_empty() && more.as_str() != Some("true") {
            forbid(
                here,
                schema,
                "additionalProperties",
                "it does not go with `properties`: fields that are not listed are dropped anyway",
            );
        }
        structure(here, more, Level::Field, depth + 1);
    }
    for entry in properties {
        // The server knows what metadata is.
        if level == Level::Root && entry.name().is_some_and(|name| &**name == "metadata") {
            continue;
        }
        structure(here, &entry.value, Level::Field, depth + 1);
    }
    lists(here, schema, name);
    let two = |parts: &[Node]| {
        let types: Vec<&str> = parts
            .iter()
            .filter_map(|part| part.str_of("type"))
            .collect();
        types == ["integer", "string"] && parts.iter().all(|part| part.entries().len() == 1)
    };
    for key in ["allOf", "anyOf", "oneOf"] {
        let parts = schema.items(key);
        // The way in which a number or a text was said before there was a field for it.
        if int_or_text && key == "anyOf" && two(parts) {
            continue;
        }
        for (at, part) in parts.iter().enumerate() {
            let nested = part.items("anyOf");
            let skip = int_or_text && key == "allOf" && at == 0 && two(nested);
            if !skip {
                condition(here, part, depth + 1);
            }
        }
    }
    if let Some(not) = schema.some("not") {
        condition(here, not, depth + 1);
    }
    default(here, schema);
    rules(here, schema, level == Level::Root);
}

/// The type, which every schema needs.
fn types(here: &mut Here<'_, '_, '_>, schema: &Node, level: Level) {
    let yes = |key: &str| schema.bool_of(key) == Some(true);
    let (int_or_text, embedded) = (
        yes("x-kubernetes-int-or-string"),
        yes("x-kubernetes-embedded-resource"),
    );
    let Some(kind) = schema.text_of("type").filter(|kind| !kind.text.is_empty()) else {
        if embedded || (!int_or_text && !yes("x-kubernetes-preserve-unknown-fields")) {
            lacks(
                here,
                schema,
                "type",
                "every field of a schema needs its type",
            );
        }
        return;
    };
    if !TYPES.contains(&&*kind.text) {
        let near = locus_core::suggest::did_you_mean(&kind.text, TYPES);
        let help = near.unwrap_or_else(|| {
            "use `array`, `boolean`, `integer`, `number`, `object` or `string`".to_owned()
        });
        here.value(
            format!("`{}` is not a type of a schema", kind.text),
            kind.span,
            help,
        );
    } else if level == Level::Root && *kind.text != *"object" {
        here.value(
            "a custom resource is an `object`".to_owned(),
            kind.span,
            "use `type: object`",
        );
    } else if embedded && *kind.text != *"object" {
        here.value(
            "an embedded resource is an `object`".to_owned(),
            kind.span,
            "use `type: object`",
        );
    }
}

/// What Kubernetes adds about lists and maps.
fn lists(here: &mut Here<'_, '_, '_>, schema: &Node, name: &str) {
    let keys = schema.texts("x-kubernetes-list-map-keys");
    let list = schema.text_of("x-kubernetes-list-type");
    if let Some(list) = &list {
        if !matches!(&*list.text, "atomic" | "set" | "map") {
            let help = "use `atomic`, `set` or `map`";
            here.value(
                format!("`{}` is not a type of a list", list.text),
                list.span,
                help,
            );
        } else if name != "array" {
            let message = "`x-kubernetes-list-type` is for lists".to_owned();
            here.fields(
                message,
                list.span,
                "use it with `type: array`, or remove it",
            );
        } else if *list.text == *"map" && keys.is_empty() {
            let message = "a list that is a map needs `x-kubernetes-list-map-keys`".to_owned();
            here.fields(
                message,
                list.span,
                "name the fields that tell its items from each other",
            );
        }
    }
    let is_map = list.as_ref().is_some_and(|list| *list.text == *"map");
    let items = schema.some("items");
    if let Some((list, items)) = list.as_ref().zip(items)
        && name == "array"
        && *list.text != *"atomic"
    {
        items_of(here, &list.text, items);
    }
    if !keys.is_empty() && !is_map {
        let span = schema.span_of("x-kubernetes-list-map-keys");
        let message = "`x-kubernetes-list-map-keys` needs `x-kubernetes-list-type: map`".to_owned();
        here.fields(
            message,
            span,
            "add the type of the list, or remove the keys",
        );
    }
    if is_map && name == "array" {
        let items = schema.some("items");
        let properties = items.and_then(|items| items.some("properties"));
        for key in &keys {
            let field = properties.and_then(|properties| properties.get(&key.text));
            let scalar = field.and_then(|field| field.str_of("type"));
            if field.is_none() {
                let message = format!("the items of the list have no field `{}`", key.text);
                here.value(message, key.span, "name a field of the items");
            } else if matches!(scalar, Some("array" | "object")) {
                let message = format!("`{}` cannot be a key, as it is not one value", key.text);
                here.value(message, key.span, "name a field with one value");
            } else if let Some(items) = items {
                let required = items.texts("required");
                let default = field.is_some_and(|field| field.some("default").is_some());
                if !default && !required.iter().any(|one| one.text == key.text) {
                    let message = format!("`{}` is a key, and may be missing", key.text);
                    here.value(
                        message,
                        key.span,
                        "make it `required`, or give it a default",
                    );
                }
            }
        }
    }
    if let Some(map) = schema.text_of("x-kubernetes-map-type") {
        if !matches!(&*map.text, "atomic" | "granular") {
            let help = "use `atomic` or `granular`";
            here.value(
                format!("`{}` is not a type of a map", map.text),
                map.span,
                help,
            );
        } else if name != "object" {
            let message = "`x-kubernetes-map-type` is for objects".to_owned();
            here.fields(
                message,
                map.span,
                "use it with `type: object`, or remove it",
            );
        }
    }
}

/// The items of a set, or of a list that is a map, must not be null, and those of a set must be whole values.
fn items_of(here: &mut Here<'_, '_, '_>, list: &str, items: &Node) {
    if items.bool_of("nullable") == Some(true) {
        forbid(
            here,
            items,
            "nullable",
            "items of such a list cannot be null",
        );
    }
    if list != "set" {
        return;
    }
    let (key, otherwise) = match items.str_of("type") {
        Some("object") => ("x-kubernetes-map-type", "granular"),
        Some("array") => ("x-kubernetes-list-type", "atomic"),
        _ => return,
    };
    if items.str_of(key).unwrap_or(otherwise) != "atomic" {
        let message = format!("the items of a set need `{key}: atomic`");
        let help = "items of a set are compared as a whole";
        let span = items.span_of(key);
        here.fields(message, span, help);
    }
}

/// A part of `allOf` and the like, which only says what values are allowed.
fn condition(here: &mut Here<'_, '_, '_>, part: &Node, depth: usize) {
    if depth > DEPTH {
        return;
    }
    let said = [
        "type",
        "default",
        "title",
        "description",
        "additionalProperties",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-validations",
    ];
    for key in said {
        let empty = part.str_of(key) == Some("");
        if part.some(key).is_some() && !empty {
            forbid(
                here,
                part,
                key,
                "say it in the schema itself: conditions only say what values are allowed",
            );
        }
    }
    for key in [
        "nullable",
        "x-kubernetes-int-or-string",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
    ] {
        if part.bool_of(key) == Some(true) {
            forbid(
                here,
                part,
                key,
                "say it in the schema itself: conditions only say what values are allowed",
            );
        }
    }
    if let Some(pattern) = part.text_of("pattern")
        && regular::is_broken(&pattern.text)
    {
        let message = format!("`{}` is not a regular expression", pattern.text);
        here.value(
            message,
            pattern.span,
            "close what is open, and escape what is meant as it is",
        );
    }
    let inner = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .flat_map(|key| part.items(key));
    let inner = inner.chain(part.some("not")).chain(part.some("items"));
    let fields = part.some("properties").map_or(&[][..], Node::entries);
    for node in inner.chain(fields.iter().map(|entry| &entry.value)) {
        condition(here, node, depth + 1);
    }
}

/// A default must be a value that the schema allows.
fn default(here: &mut Here<'_, '_, '_>, schema: &Node) {
    let Some(default) = schema.some("default") else {
        return;
    };
    if let Some(why) = custom::misfit(schema, default) {
        let message = format!("the default does not fit: {why}");
        here.value(
            message,
            default.used_at(),
            "use a value that the schema allows",
        );
    }
}

/// The rules in CEL.
fn rules(here: &mut Here<'_, '_, '_>, schema: &Node, root: bool) {
    for rule in schema.items("x-kubernetes-validations") {
        let own = Type::of_schema(schema, root);
        let old = match rule.bool_of("optionalOldSelf") {
            Some(true) => Type::Plain(Wanted::Optional),
            _ => own.clone(),
        };
        let names = vec![("self", own), ("oldSelf", old)];
        for (key, wanted) in [("rule", Wanted::Bool), ("messageExpression", Wanted::Text)] {
            let Some(text) = rule
                .text_of(key)
                .filter(|text| !text.text.trim().is_empty())
            else {
                continue;
            };
            if let Some(why) = compile::fault(&text.text, &names, wanted) {
                let message = format!("`{key}` does not compile: {why}");
                let help = "see the reference of the Common Expression Language (CEL)";
                here.value(message, text.span, help);
            }
        }
    }
}

fn forbid(here: &mut Here<'_, '_, '_>, schema: &Node, key: &str, help: &str) {
    let span = schema
        .some_entry(key)
        .map_or(schema.used_at(), |entry| entry.key.span);
    here.fields(format!("`{key}` is not allowed there"), span, help);
}

fn lacks(here: &mut Here<'_, '_, '_>, schema: &Node, key: &str, help: &str) {
    let message = format!("a schema lacks `{key}`");
    let diagnostic = Diagnostic::error("k8s-missing-field", message).at(schema.used_at());
    here.push(diagnostic.help(help));
}
