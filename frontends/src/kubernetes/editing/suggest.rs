//! What can be written in a manifest: kinds, fields by their definition, words.

use std::collections::BTreeMap;

use crate::kubernetes::release::NEWEST;
use crate::kubernetes::schema::schema;
use crate::kubernetes::schema::types::{Definition, Field, Served, Shape};
use crate::language::{Follows, Place, Suggestion};
use crate::yaml::Node;

/// What can be written at a place of a manifest.
pub(in crate::kubernetes) fn suggest(place: &Place<'_>) -> Vec<Suggestion> {
    let text = |key: &str| place.root.get(key).and_then(Node::as_str);
    let mut path = place.path;
    let mut root = place.root;
    // In a list of objects, each item is an object of its own.
    if let (["items", "", rest @ ..], Some(kind)) = (path, text("kind"))
        && kind.ends_with("List")
        && let Some(item) = place.around.get(2)
    {
        path = rest;
        root = item;
    }
    let text = |key: &str| root.get(key).and_then(Node::as_str);
    match (path, place.is_key) {
        (["apiVersion"], false) => return versions(text("kind")),
        (["kind"], false) => return kinds(text("apiVersion"), root),
        _ => {}
    }
    let definition = definition(text("apiVersion"), text("kind"));
    let Some(definition) = definition else {
        return match (path, place.is_key) {
            ([], true) => ["apiVersion", "kind", "metadata"].map(head).to_vec(),
            _ => Vec::new(),
        };
    };
    if place.is_key && labels_at(path) {
        return seen(place, None);
    }
    if let (false, [before @ .., key]) = (place.is_key, path)
        && labels_at(before)
    {
        return seen(place, Some(key));
    }
    let mut shape: Option<&Shape> = None;
    let mut fields = Some(definition);
    for key in path {
        let next = match (fields, shape) {
            (Some(definition), _) => definition.field(key).map(|field| &field.shape),
            (None, Some(Shape::List(item))) if key.is_empty() => Some(&**item),
            (None, Some(Shape::Map(value))) => Some(&**value),
            _ => None,
        };
        let Some(next) = next else { return Vec::new() };
        shape = Some(next);
        fields = match next {
            Shape::Object(id) => schema().definition(*id),
            _ => None,
        };
    }
    let mut all: Vec<Suggestion> = match (place.is_key, fields, shape) {
        (true, Some(definition), _) => definition.fields.iter().filter_map(field).collect(),
        // The first key of the first item of a list.
        (true, None, Some(Shape::List(item))) | (false, None, Some(Shape::List(item))) => {
            match &**item {
                Shape::Object(id) if place.is_key => {
                    let definition = schema().definition(*id);
                    let fields = definition.into_iter().flat_map(|one| &one.fields);
                    fields.filter_map(field).collect()
                }
                shape => values(shape),
            }
        }
        (false, None, Some(shape)) => values(shape),
        _ => Vec::new(),
    };
    all.sort_by(|a, b| {
        b.required
            .cmp(&a.required)
            .then_with(|| a.text.cmp(&b.text))
    });
    all
}

/// The definition of a kind; of one that is written without its version, the newest.
fn definition(api_version: Option<&str>, kind: Option<&str>) -> Option<&'static Definition> {
    let kind = kind?;
    let own = api_version.and_then(|version| schema().kind(version, kind));
    let served = own.or_else(|| {
        let mut all = schema().kinds.iter().filter(|served| is_current(served));
        all.rfind(|served| served.kind == kind)
    })?;
    schema().definition(served.definition?)
}

fn is_current(served: &Served) -> bool {
    served.last >= NEWEST && served.definition.is_some()
}

fn head(key: &str) -> Suggestion {
    Suggestion {
        text: key.to_owned(),
        required: true,
        follows: match key {
            "metadata" => Follows::Map,
            _ => Follows::Value,
        },
        block: match key {
            "metadata" => vec!["name".to_owned()],
            _ => Vec::new(),
        },
        ..Suggestion::default()
    }
}

/// The versions that serve a kind, or all.
fn versions(kind: Option<&str>) -> Vec<Suggestion> {
    let mut all: BTreeMap<&str, bool> = BTreeMap::new();
    let served = schema().kinds.iter().filter(|served| is_current(served));
    for one in served.filter(|one| kind.is_none_or(|kind| kind == one.kind || kind.is_empty())) {
        all.insert(one.api_version, true);
    }
    let texts = all.into_keys().map(|version| Suggestion {
        text: version.to_owned(),
        detail: "API version".to_owned(),
        ..Suggestion::default()
    });
    texts.collect()
}

/// The kinds of a version, or all, each with what its objects cannot be without.
fn kinds(api_version: Option<&str>, root: &Node) -> Vec<Suggestion> {
    let known = api_version.filter(|version| schema().kinds_of(version).next().is_some());
    let all = schema().kinds.iter().filter(|served| is_current(served));
    let mut all: Vec<Suggestion> = all
        .filter(|served| known.is_none_or(|version| version == served.api_version))
        .map(|served| {
            let mut block = Vec::new();
            if root.get("metadata").is_none() {
                block.extend(["metadata:".to_owned(), "  name".to_owned()]);
            }
            let definition = served.definition.and_then(|id| schema().definition(id));
            if let Some(spec) = definition.and_then(|one| one.field("spec"))
                && root.get("spec").is_none()
                && !required(&spec.shape, 1).is_empty()
            {
                block.push("spec:".to_owned());
                block.extend(required(&spec.shape, 1));
            }
            Suggestion {
                text: served.kind.to_owned(),
                detail: format!("{} object type", served.api_version),
                block,
                ..Suggestion::default()
            }
        })
        .collect();
    all.sort_by(|a, b| a.text.cmp(&b.text));
    all.dedup_by(|a, b| a.text == b.text);
    all
}

/// How deep the block of what is required goes.
const DEEPEST: usize = 6;

/// The lines that a value cannot be without, indented by a number of steps.
fn required(shape: &Shape, depth: usize) -> Vec<String> {
    let (definition, is_item) = match shape {
        Shape::Object(id) => (schema().definition(*id), false),
        Shape::List(item) => match &**item {
            Shape::Object(id) => (schema().definition(*id), true),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let mut lines = Vec::new();
    if depth > DEEPEST {
        return lines;
    }
    let fields = definition.into_iter().flat_map(|one| &one.fields);
    for field in fields.filter(|field| field.required || is_wanted(field.name)) {
        let below = required(&field.shape, depth + 1 + usize::from(is_item));
        if is_wanted(field.name) && !field.required && below.is_empty() {
            continue;
        }
        let pad = "  ".repeat(depth);
        let dash = match (is_item, lines.is_empty()) {
            (false, _) => "",
            (true, true) => "- ",
            (true, false) => "  ",
        };
        let colon = if below.is_empty() { "" } else { ":" };
        lines.push(format!("{pad}{dash}{}{colon}", field.name));
        lines.extend(below);
    }
    lines
}

/// A field that the schema does not require although nothing works without what it requires.
fn is_wanted(name: &str) -> bool {
    name == "spec"
}

fn field(field: &Field) -> Option<Suggestion> {
    // What the server writes is not written by people.
    if field.name == "status" || field.name == "managedFields" {
        return None;
    }
    let block = required(&field.shape, 0);
    Some(Suggestion {
        text: field.name.to_owned(),
        detail: shown(&field.shape),
        documentation: match field.required {
            true => "Required.".to_owned(),
            false => String::new(),
        },
        required: field.required || matches!(field.name, "apiVersion" | "kind" | "metadata"),
        follows: match &field.shape {
            Shape::Object(_) | Shape::Map(_) | Shape::Open => Follows::Map,
            Shape::List(_) => Follows::List,
            _ => Follows::Value,
        },
        block,
        ..Suggestion::default()
    })
}

/// A shape in words.
fn shown(shape: &Shape) -> String {
    match shape {
        Shape::Any => "anything".to_owned(),
        Shape::Open => "map".to_owned(),
        Shape::Object(id) => schema()
            .definition(*id)
            .map_or("map", |one| one.name)
            .to_owned(),
        Shape::Text => "string".to_owned(),
        Shape::Word(words) => match words.len() {
            0..=5 => words.join(" | "),
            _ => "word".to_owned(),
        },
        Shape::Int32 | Shape::Int64 => "integer".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Bool => "boolean".to_owned(),
        Shape::Bytes => "base64".to_owned(),
        Shape::IntOrText => "integer or string".to_owned(),
        Shape::Quantity => "quantity".to_owned(),
        Shape::Time => "time".to_owned(),
        Shape::List(item) => format!("list of {}", shown(item)),
        Shape::Map(value) => format!("map of {}", shown(value)),
    }
}

fn values(shape: &Shape) -> Vec<Suggestion> {
    let words = match shape {
        Shape::Word(words) => words.clone(),
        Shape::Bool => vec!["true", "false"],
        _ => return Vec::new(),
    };
    let words = words.into_iter().map(|word| Suggestion {
        text: word.to_owned(),
        detail: "allowed value".to_owned(),
        ..Suggestion::default()
    });
    words.collect()
}

/// Whether labels are written at a place.
fn labels_at(path: &[&str]) -> bool {
    matches!(
        path,
        [.., "metadata", "labels"] | [.., "matchLabels"] | ["spec", "selector"]
    ) && !matches!(path, ["spec", "selector"] if path.len() != 2)
}

/// The labels that the project has: their keys, or the values of one.
fn seen(place: &Place<'_>, key: Option<&str>) -> Vec<Suggestion> {
    let mut all: BTreeMap<String, usize> = BTreeMap::new();
    let roots = std::iter::once(&place.root).chain(place.others);
    for root in roots {
        collect(root, key, &mut all);
    }
    let mut all: Vec<(String, usize)> = all.into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut labels: Vec<Suggestion> = all
        .into_iter()
        .map(|(text, _)| Suggestion {
            text,
            detail: "label".to_owned(),
            ..Suggestion::default()
        })
        .collect();
    // A selector of most kinds is a map of requirements, that of a service one of labels.
    if key.is_none() && place.path == ["spec", "selector"] {
        let kind = place.root.get("kind").and_then(Node::as_str);
        if kind.is_some_and(|kind| !matches!(kind, "Service" | "ReplicationController")) {
            labels = ["matchLabels", "matchExpressions"]
                .map(|text| Suggestion {
                    text: text.to_owned(),
                    follows: match text {
                        "matchLabels" => Follows::Map,
                        _ => Follows::List,
                    },
                    ..Suggestion::default()
                })
                .to_vec();
        }
    }
    labels
}

fn collect(node: &Node, key: Option<&str>, all: &mut BTreeMap<String, usize>) {
    if let Some(mapping) = node.as_mapping() {
        for (name, entry) in mapping.named() {
            if &**name == "labels" {
                let labels = entry.value.as_mapping().into_iter();
                for (label, value) in labels.flat_map(|labels| labels.named()) {
                    let text = match key {
                        None => Some(&**label),
                        Some(key) if key == &**label => value.value.as_str(),
                        Some(_) => None,
                    };
                    if let Some(text) = text.filter(|text| !text.is_empty()) {
                        *all.entry(text.to_owned()).or_default() += 1;
                    }
                }
            }
            collect(&entry.value, key, all);
        }
    }
    for item in node.as_sequence().unwrap_or_default() {
        collect(item, key, all);
    }
}
