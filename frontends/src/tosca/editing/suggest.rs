//! What can be written at a place of a service template.

use super::super::builtin::PROFILES;
use super::super::grammar::{Entity, Shape, TypeKind};
use super::super::value::COMPUTED;
use super::super::version::{NAMES as VERSIONS, Version};
use super::inside;
use super::types::{documents, members};
use super::{FUNCTIONS, Held, WORDS, held_at, version};
use crate::language::{Follows, Place, Suggestion};
use crate::yaml::Node;

/// What can be written at a place of a service template.
pub(in crate::tosca) fn suggest(place: &Place<'_>) -> Vec<Suggestion> {
    let version = version(place.root);
    let documents = documents(place);
    let mut all = match place.is_key {
        true => keys(place, version, &documents),
        false => values(place, version, &documents),
    };
    all.sort_by(|a, b| {
        b.required
            .cmp(&a.required)
            .then_with(|| a.text.cmp(&b.text))
    });
    all.dedup_by(|a, b| a.text == b.text);
    all
}

/// What there is to know about a key or value that is written.
pub(in crate::tosca) fn about(place: &Place<'_>, written: &str) -> Option<Suggestion> {
    let mut all = suggest(place).into_iter();
    if let Some(found) = all.find(|one| one.text == written) {
        return Some(found);
    }
    if !place.is_key {
        return None;
    }
    let Held::Shape(Shape::Map(shape) | Shape::Ordered(shape) | Shape::Either(shape)) =
        held_at(place)
    else {
        return None;
    };
    // What is defined under this name: what it is, its type and what is said of it.
    let own = place.map().and_then(|map| map.get(written));
    let text = |key: &str| own.and_then(|own| own.get(key)?.as_str());
    let ty = own.and_then(Node::as_str).or_else(|| text("type"));
    let what = shown(shape);
    Some(Suggestion {
        detail: match ty
            .or_else(|| text("capability"))
            .or_else(|| text("derived_from"))
        {
            Some(ty) => format!("{what}: {ty}"),
            None => what,
        },
        documentation: text("description").unwrap_or_default().trim().to_owned(),
        ..plain(written, "")
    })
}

/// The type that a template at a path is of, and what kind of type it is.
fn template_type<'a>(place: &Place<'a>, path: &[&str]) -> Option<(TypeKind, &'a str)> {
    let [top, section, name, ..] = path else {
        return None;
    };
    let kind = match *section {
        "node_templates" => TypeKind::Node,
        "relationship_templates" => TypeKind::Relationship,
        "groups" => TypeKind::Group,
        _ => return None,
    };
    let ty = place.get(&[top, section, name, "type"])?.as_str()?;
    Some((kind, ty))
}

fn keys(place: &Place<'_>, version: Version, documents: &[&Node]) -> Vec<Suggestion> {
    let of = template_type(place, place.path);
    let rest = place.path.get(3..).unwrap_or_default();
    if let Some((kind, ty)) = of {
        match rest {
            ["properties"] | ["attributes"] => {
                let section = rest.first().copied().unwrap_or_default();
                let all = members(documents, kind, ty, section).into_iter();
                return all.map(|(name, node)| property(name, node)).collect();
            }
            ["capabilities"] => {
                let all = members(documents, kind, ty, "capabilities").into_iter();
                return all
                    .map(|(name, node)| member(name, node, "capability"))
                    .collect();
            }
            ["capabilities", capability, "properties"] => {
                let all = members(documents, kind, ty, "capabilities");
                let own = all.iter().find(|(name, _)| name == capability);
                let own =
                    own.and_then(|(_, node)| node.as_str().or_else(|| node.get("type")?.as_str()));
                let all =
                    own.map(|own| members(documents, TypeKind::Capability, own, "properties"));
                let all = all.unwrap_or_default().into_iter();
                return all.map(|(name, node)| property(name, node)).collect();
            }
            ["requirements", ""] | ["requirements"] => {
                // An item has one name.
                let items = place.map().and_then(Node::as_mapping);
                if rest.len() == 2 && items.is_some_and(|item| item.len() > 1) {
                    return Vec::new();
                }
                let all = members(documents, kind, ty, "requirements").into_iter();
                return all
                    .map(|(name, node)| member(name, node, "requirement"))
                    .collect();
            }
            _ => {}
        }
    }
    if let Some(found) = inside::keys(place, version, documents) {
        return found;
    }
    if of.is_some()
        && matches!(
            rest,
            ["properties", ..] | ["capabilities", _, "properties", ..]
        )
    {
        return functions(version);
    }
    if matches!(place.path, [.., "outputs", _, "value"]) {
        return functions(version);
    }
    let entity: &'static Entity = match held_at(place) {
        Held::Entity(entity) => entity,
        Held::Shape(
            &(Shape::Entity(entity)
            | Shape::Short(entity)
            | Shape::ShortType(_, entity)
            | Shape::Loose(entity)),
        ) => entity,
        _ => return Vec::new(),
    };
    let keys = entity.keys.iter();
    let keys = keys.filter(|key| key.from <= version && version <= key.to);
    keys.map(|key| {
        let required = key.must.is_some_and(|since| since <= version);
        Suggestion {
            text: key.name.to_owned(),
            detail: shown(&key.shape),
            documentation: if required {
                "Required.".to_owned()
            } else {
                String::new()
            },
            required,
            follows: match key.shape {
                Shape::Map(_) | Shape::Entity(_) | Shape::Values | Shape::Metadata => Follows::Map,
                Shape::List(_)
                | Shape::Ordered(_)
                | Shape::Either(_)
                | Shape::Types(_)
                | Shape::Texts => Follows::List,
                _ => Follows::Value,
            },
            ..Suggestion::default()
        }
    })
    .collect()
}

fn shown(shape: &Shape) -> String {
    match shape {
        Shape::Text | Shape::Texts => "text".to_owned(),
        Shape::Flag => "boolean".to_owned(),
        Shape::Type(kind) | Shape::Types(kind) | Shape::ShortType(kind, _) => {
            kind.word().to_owned()
        }
        Shape::Entity(one) | Shape::Short(one) | Shape::Loose(one) => one.name.to_owned(),
        Shape::Map(value) => format!("map of {}", shown(value)),
        Shape::List(value) | Shape::Ordered(value) | Shape::Either(value) => {
            format!("list of {}", shown(value))
        }
        _ => "value".to_owned(),
    }
}

/// Whether a property must be given: it says so, or says nothing and has no default.
fn is_required(node: &Node) -> bool {
    let says = node.get("required").and_then(Node::as_str);
    says.is_none_or(|says| says == "true") && node.get("default").is_none()
}

pub(super) fn property(name: &str, node: &Node) -> Suggestion {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let mut about = String::new();
    if is_required(node) {
        about.push_str("Required. ");
    }
    if let Some(default) = text("default") {
        about.push_str(&format!("Default: `{default}`. "));
    }
    about.push_str(text("description").unwrap_or_default().trim());
    Suggestion {
        text: name.to_owned(),
        detail: text("type").unwrap_or("value").to_owned(),
        documentation: about.trim_end().to_owned(),
        required: is_required(node),
        deprecated: text("status") == Some("deprecated"),
        follows: match text("type") {
            Some("list") => Follows::List,
            Some("map") => Follows::Map,
            _ => Follows::Value,
        },
        ..Suggestion::default()
    }
}

pub(super) fn member(name: &str, node: &Node, what: &str) -> Suggestion {
    let text = |key: &str| node.get(key).and_then(Node::as_str);
    let ty = node
        .as_str()
        .or_else(|| text("type"))
        .or_else(|| text("capability"));
    let about = match text("node") {
        Some(node) => format!("To a node of type `{node}`."),
        None => String::new(),
    };
    Suggestion {
        text: name.to_owned(),
        detail: match ty {
            Some(ty) => format!("{what}: {ty}"),
            None => what.to_owned(),
        },
        documentation: about,
        follows: match what {
            "capability" => Follows::Map,
            _ => Follows::Value,
        },
        block: match what {
            "capability" => vec!["properties:".to_owned()],
            _ => Vec::new(),
        },
        ..Suggestion::default()
    }
}

fn functions(version: Version) -> Vec<Suggestion> {
    let (sign, names) = match version.is_simple() {
        true => ("", FUNCTIONS),
        false => ("$", COMPUTED),
    };
    let all = names.iter().map(|name| Suggestion {
        text: format!("{sign}{name}"),
        detail: "function".to_owned(),
        ..Suggestion::default()
    });
    all.collect()
}

pub(super) fn plain(text: &str, detail: &str) -> Suggestion {
    Suggestion {
        text: text.to_owned(),
        detail: detail.to_owned(),
        ..Suggestion::default()
    }
}

fn values(place: &Place<'_>, version: Version, documents: &[&Node]) -> Vec<Suggestion> {
    if place.path == ["tosca_definitions_version"] {
        let names = VERSIONS.iter();
        return names.map(|name| plain(name, "version")).collect();
    }
    if let [.., "imports", ""] = place.path {
        let names = PROFILES.iter().filter(|_| !version.is_simple());
        return names.map(|name| plain(name, "profile")).collect();
    }
    // The second argument of a function is a property of the node that the first names.
    if let [.., function, ""] = place.path
        && let Some(section) = match function.strip_prefix('$').unwrap_or(function) {
            "get_property" => Some("properties"),
            "get_attribute" => Some("attributes"),
            _ => None,
        }
        && let Some(items) = place.list()
    {
        let words = WORDS.iter().map(|word| plain(word, "node"));
        // The item that the place is in.
        let is_first = place.around.last().zip(items.first());
        let is_first = is_first.is_none_or(|(here, first)| std::ptr::eq(*here, first));
        let Some(first) = items.first().and_then(Node::as_str).filter(|_| !is_first) else {
            return words.collect();
        };
        let top = if version.is_simple() {
            "topology_template"
        } else {
            "service_template"
        };
        let own = match first {
            "SELF" => place.path.get(2).copied().unwrap_or_default(),
            name => name,
        };
        let ty = place
            .get(&[top, "node_templates", own, "type"])
            .and_then(Node::as_str);
        let all = ty.map(|ty| {
            let mut all = members(documents, TypeKind::Node, ty, section);
            if section == "attributes" {
                all.extend(members(documents, TypeKind::Node, ty, "properties"));
            }
            all
        });
        let all = all.unwrap_or_default().into_iter();
        return all.map(|(name, node)| property(name, node)).collect();
    }
    if let Some(found) = inside::values(place, documents) {
        return found;
    }
    if let Some(kind) = may_be_type(place.path) {
        return types(place, kind, documents);
    }
    match held_at(place) {
        Held::Shape(Shape::Type(kind) | Shape::Types(kind) | Shape::ShortType(kind, _)) => {
            types(place, *kind, documents)
        }
        Held::Shape(Shape::Flag) => ["true", "false"]
            .map(|word| plain(word, "boolean"))
            .to_vec(),
        Held::Shape(Shape::Words(words)) => {
            let words = words(version).iter();
            words.map(|word| plain(word, "allowed value")).collect()
        }
        _ => listed(place, documents),
    }
}

/// The kind of types that a value may name where the grammar takes any name.
fn may_be_type(path: &[&str]) -> Option<TypeKind> {
    match path {
        ["node_types", _, "requirements", "", _]
        | ["node_types", _, "requirements", "", _, "capability"] => Some(TypeKind::Capability),
        [_, "node_templates", _, "requirements", "", _, "node"] => Some(TypeKind::Node),
        _ => None,
    }
}

/// The values that the definition of a property lists.
fn listed(place: &Place<'_>, documents: &[&Node]) -> Vec<Suggestion> {
    let (Some(path), Some(name)) = (place.path.get(1..), place.path.last()) else {
        return Vec::new();
    };
    let all = inside::held(place, documents, path).unwrap_or_default();
    let own = all.iter().find(|(own, _)| own == name);
    own.map(|(_, node)| inside::listed(node))
        .unwrap_or_default()
}

/// The types of a kind, those of the file first; of node types, with what must be given.
fn types(place: &Place<'_>, kind: TypeKind, documents: &[&Node]) -> Vec<Suggestion> {
    let mut all = Vec::new();
    let is_template = template_section(place.path);
    let own = documents.len().saturating_sub(1);
    for (at, root) in documents.iter().enumerate() {
        let section = root.get(kind.section()).and_then(Node::as_mapping);
        for (name, entry) in section.into_iter().flat_map(|section| section.named()) {
            let mut block: Vec<String> = Vec::new();
            if is_template && kind == TypeKind::Node {
                let members = members(documents, kind, name, "properties").into_iter();
                block = members
                    .filter(|(_, node)| is_required(node))
                    .map(|(name, _)| format!("  {name}"))
                    .collect();
                if !block.is_empty() {
                    block.insert(0, "properties:".to_owned());
                }
            }
            let about = entry.value.get("description").and_then(Node::as_str);
            all.push(Suggestion {
                text: name.to_string(),
                detail: match at == own {
                    true => kind.word().to_owned(),
                    false => format!("own {}", kind.word()),
                },
                documentation: about.unwrap_or_default().trim().to_owned(),
                block,
                ..Suggestion::default()
            });
        }
    }
    if kind == TypeKind::Data {
        let words: &[&str] = match version(place.root).is_simple() {
            true => &[
                "string",
                "integer",
                "float",
                "boolean",
                "timestamp",
                "list",
                "map",
                "range",
                "version",
                "scalar-unit.size",
                "scalar-unit.time",
                "scalar-unit.frequency",
                "scalar-unit.bitrate",
            ],
            false => &[
                "string",
                "integer",
                "float",
                "boolean",
                "bytes",
                "nil",
                "timestamp",
                "scalar",
                "version",
                "list",
                "map",
            ],
        };
        all.extend(words.iter().map(|word| plain(word, "data type")));
    }
    all
}

fn template_section(path: &[&str]) -> bool {
    matches!(
        path,
        [
            "topology_template" | "service_template",
            "node_templates",
            _,
            "type"
        ]
    )
}
