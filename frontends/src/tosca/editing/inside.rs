//! What can be written where types say what stands: in interfaces, filters, workflows, policies and mappings.

use super::super::grammar::TypeKind;
use super::super::grammar::tables::ACTIVITIES;
use super::super::value::{CLAUSES, COMPUTED};
use super::super::version::Version;
use super::suggest::{member, plain, property};
use super::types::members;
use crate::language::{Follows, Place, Suggestion};
use crate::yaml::Node;

/// The states of a node that the standard names.
const STATES: &[&str] = &[
    "initial",
    "creating",
    "created",
    "configuring",
    "configured",
    "starting",
    "started",
    "stopping",
    "stopped",
    "deleting",
    "deleted",
    "error",
];

/// The path from the topology on, of what is in one.
fn in_topology<'p, 'a>(path: &'p [&'a str]) -> Option<&'p [&'a str]> {
    match path {
        ["topology_template" | "service_template", rest @ ..] => Some(rest),
        _ => None,
    }
}

/// The topology of a file.
fn topology<'a>(place: &Place<'a>) -> Option<&'a Node> {
    let all = ["topology_template", "service_template"];
    all.iter().find_map(|key| place.root.get(key))
}

pub(super) fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key).and_then(Node::as_str)
}

/// The type of a node template.
fn type_of<'a>(place: &Place<'a>, template: &str) -> Option<&'a str> {
    text(
        topology(place)?.get("node_templates")?.get(template)?,
        "type",
    )
}

/// The type that the definition of a capability says.
fn capability_type(node: &Node) -> Option<&str> {
    node.as_str().or_else(|| text(node, "type"))
}

/// The type of the nodes that a requirement of a template is for: what it names, or what its definition says; and the
/// capability that it asks for.
fn target<'a>(
    place: &Place<'a>,
    documents: &[&'a Node],
    template: &str,
    requirement: &str,
) -> (Option<&'a str>, Option<&'a str>) {
    let Some(own) = type_of(place, template) else {
        return (None, None);
    };
    let all = members(documents, TypeKind::Node, own, "requirements");
    let definition = all.iter().find(|(name, _)| *name == requirement);
    let definition = definition.map(|(_, node)| *node);
    // The requirement is the one map around the place that has a filter or names a node.
    let around = place.around.iter().rev();
    let assigned =
        around.filter(|node| node.get("node_filter").is_some() || node.get("node").is_some());
    let named = assigned.filter_map(|node| text(node, "node")).next();
    let named = named.map(|name| type_of(place, name).unwrap_or(name));
    let node = named.or_else(|| text(definition?, "node"));
    (node, definition.and_then(|one| text(one, "capability")))
}

/// Keys that are not those of an entity; none where the grammar says more.
pub(super) fn keys<'a>(
    place: &Place<'a>,
    version: Version,
    documents: &[&'a Node],
) -> Option<Vec<Suggestion>> {
    let of = |kind: TypeKind, ty: &str, section: &str| {
        members(documents, kind, ty, section)
            .into_iter()
            .map(|(name, node)| match section {
                "properties" | "attributes" => property(name, node),
                "capabilities" => member(name, node, "capability"),
                "requirements" => member(name, node, "requirement"),
                _ => member(name, node, "interface"),
            })
            .collect::<Vec<_>>()
    };
    match place.path {
        [.., "constraints" | "constraint"] | [.., "constraints", ""] if version.is_simple() => {
            return Some(clauses());
        }
        [.., "validation"] if !version.is_simple() => return Some(computed()),
        [
            section,
            name,
            part @ ("properties" | "attributes" | "capabilities" | "requirements" | "interfaces"),
        ]
        | [
            section,
            name,
            part @ ("properties" | "attributes" | "capabilities" | "requirements" | "interfaces"),
            "",
        ] if in_topology(place.path).is_none() => {
            // What a type has from the one that it derives from can be said anew.
            let kind = TypeKind::ALL
                .into_iter()
                .find(|kind| kind.section() == *section)?;
            let parent = text(place.get(&[section, name])?, "derived_from")?;
            return Some(of(kind, parent, part));
        }
        [
            "node_types" | "relationship_types",
            _,
            "interfaces",
            _,
            "operations",
        ] => {
            return Some(operations(place, documents));
        }
        _ => {}
    }
    let path = in_topology(place.path)?;
    Some(match path {
        ["policies", "", name, part @ "properties"] | ["policies", name, part @ "properties"] => {
            let policies = topology(place)?.get("policies")?;
            let own = match policies.as_sequence() {
                Some(items) => items.iter().find_map(|item| item.get(name)),
                None => policies.get(name),
            };
            of(TypeKind::Policy, text(own?, "type")?, part)
        }
        ["node_templates", template, "interfaces"] => {
            of(TypeKind::Node, type_of(place, template)?, "interfaces")
        }
        ["node_templates", _, "interfaces", _, "operations"] => operations(place, documents),
        [
            "node_templates",
            template,
            "requirements",
            "",
            requirement,
            "allocation",
        ] => {
            let (node, capability) = target(place, documents, template, requirement);
            let capability = capability.map(|name| asked(documents, node, name))?;
            of(TypeKind::Capability, capability?, "properties")
        }
        [
            "node_templates",
            template,
            "requirements",
            "",
            requirement,
            "node_filter",
            rest @ ..,
        ] => {
            let (node, asks) = target(place, documents, template, requirement);
            return filter(documents, version, node, asks, rest);
        }
        ["node_templates", template, "node_filter", rest @ ..] => {
            let own = type_of(place, template);
            return filter(documents, version, own, None, rest);
        }
        [
            "substitution_mappings",
            part @ ("capabilities" | "requirements" | "properties" | "attributes"),
        ]
        | [
            "substitution_mappings",
            part @ ("capabilities" | "requirements" | "properties" | "attributes"),
            "",
        ] => {
            let ty = text(topology(place)?.get("substitution_mappings")?, "node_type")?;
            of(TypeKind::Node, ty, part)
        }
        ["workflows", _, "steps", _, "activities"]
        | ["workflows", _, "steps", _, "activities", ""] => {
            let all = ACTIVITIES.iter().map(|word| plain(word, "activity"));
            all.collect()
        }
        [
            "node_templates" | "relationship_templates" | "groups",
            ..,
            "properties",
            name,
        ] => {
            // A property of a type with properties of its own.
            let ty = property_type(place, documents, path, name)?;
            let own = of(TypeKind::Data, ty, "properties");
            return (!own.is_empty()).then_some(own);
        }
        _ => return None,
    })
}

/// The type of a property of a template, or of one of its capabilities.
fn property_type<'a>(
    place: &Place<'a>,
    documents: &[&'a Node],
    path: &[&str],
    name: &str,
) -> Option<&'a str> {
    let all = held(place, documents, path)?;
    let (_, node) = all.into_iter().find(|(own, _)| *own == name)?;
    text(node, "type")
}

/// The definitions of the properties that a path of the topology ends among, with the name of one.
pub(super) fn held<'a>(
    place: &Place<'a>,
    documents: &[&'a Node],
    path: &[&str],
) -> Option<Vec<(&'a str, &'a Node)>> {
    let [section, name, rest @ ..] = path else {
        return None;
    };
    let kind = match *section {
        "node_templates" => TypeKind::Node,
        "relationship_templates" => TypeKind::Relationship,
        "groups" => TypeKind::Group,
        _ => return None,
    };
    let ty = text(topology(place)?.get(section)?.get(name)?, "type")?;
    match rest {
        ["properties", _] => Some(members(documents, kind, ty, "properties")),
        ["capabilities", capability, "properties", _] => {
            let all = members(documents, kind, ty, "capabilities");
            let (_, own) = all.into_iter().find(|(own, _)| own == capability)?;
            let ty = capability_type(own)?;
            Some(members(documents, TypeKind::Capability, ty, "properties"))
        }
        _ => None,
    }
}

/// The capability type that a requirement means by a name: of a capability of the node, or of the type itself.
fn asked<'a>(documents: &[&'a Node], node: Option<&'a str>, name: &'a str) -> Option<&'a str> {
    let own = node.map(|node| members(documents, TypeKind::Node, node, "capabilities"));
    let own = own.unwrap_or_default();
    let (_, own) = match own.into_iter().find(|(own, _)| *own == name) {
        Some(found) => found,
        None => return Some(name),
    };
    capability_type(own)
}

/// The keys in a filter of nodes of a type.
fn filter<'a>(
    documents: &[&'a Node],
    version: Version,
    node: Option<&'a str>,
    asks: Option<&'a str>,
    path: &[&str],
) -> Option<Vec<Suggestion>> {
    if !version.is_simple() {
        return Some(computed());
    }
    let capabilities = node.map_or_else(Vec::new, |node| {
        members(documents, TypeKind::Node, node, "capabilities")
    });
    let filtered = |all: Vec<(&'a str, &'a Node)>| {
        // A filter gives a constraint for what it names.
        all.into_iter()
            .map(|(name, node)| Suggestion {
                required: false,
                follows: Follows::Map,
                ..property(name, node)
            })
            .collect::<Vec<_>>()
    };
    Some(match path {
        [] => ["properties", "capabilities"]
            .map(|key| Suggestion {
                follows: Follows::List,
                ..plain(key, "filter")
            })
            .to_vec(),
        ["properties"] | ["properties", ""] => filtered(node.map_or_else(Vec::new, |node| {
            members(documents, TypeKind::Node, node, "properties")
        })),
        ["capabilities"] | ["capabilities", ""] => {
            let mut all: Vec<Suggestion> = capabilities
                .into_iter()
                .map(|(name, node)| Suggestion {
                    block: Vec::new(),
                    ..member(name, node, "capability")
                })
                .collect();
            if all.is_empty() {
                all.extend(asks.map(|asks| plain(asks, "capability type")));
            }
            all
        }
        ["capabilities", "", _] => vec![Suggestion {
            follows: Follows::List,
            ..plain("properties", "filter")
        }],
        ["capabilities", "", name, "properties"] | ["capabilities", "", name, "properties", ""] => {
            let own = capabilities.iter().find(|(own, _)| own == name);
            let ty = own.and_then(|(_, node)| capability_type(node));
            // A capability may also be named by its type.
            let ty = ty.or(asks).unwrap_or_default();
            filtered(members(documents, TypeKind::Capability, ty, "properties"))
        }
        [.., "properties", "", _] | [.., "properties", "", _, ""] => clauses(),
        _ => return None,
    })
}

/// The operations of the interface that a place is in.
fn operations<'a>(place: &Place<'a>, documents: &[&'a Node]) -> Vec<Suggestion> {
    let (kind, ty, interface) = match place.path {
        [
            section @ ("node_types" | "relationship_types"),
            ty,
            "interfaces",
            interface,
            ..,
        ] => {
            let kind = match *section {
                "node_types" => TypeKind::Node,
                _ => TypeKind::Relationship,
            };
            (kind, Some(*ty), *interface)
        }
        [_, "node_templates", template, "interfaces", interface, ..] => {
            (TypeKind::Node, type_of(place, template), *interface)
        }
        _ => return Vec::new(),
    };
    let own = ty.map(|ty| members(documents, kind, ty, "interfaces"));
    let own = own.unwrap_or_default();
    let definition = own.into_iter().find(|(name, _)| *name == interface);
    let all = definition.map(|(_, node)| operations_of(documents, node));
    let all = all.unwrap_or_default().into_iter();
    all.map(|(name, _)| plain(name, "operation")).collect()
}

/// The operations of an interface, its own and those of its type.
fn operations_of<'a>(documents: &[&'a Node], node: &'a Node) -> Vec<(&'a str, &'a Node)> {
    const OTHERS: &[&str] = &[
        "type",
        "derived_from",
        "description",
        "version",
        "metadata",
        "inputs",
        "operations",
        "notifications",
    ];
    let mut all: Vec<(&str, &Node)> = Vec::new();
    let mut add = |held: Option<&'a Node>| {
        let held = held.and_then(Node::as_mapping);
        for (name, entry) in held.into_iter().flat_map(|held| held.named()) {
            let known = all.iter().any(|(known, _)| *known == &**name);
            if !known && !OTHERS.contains(&&**name) {
                all.push((name, &entry.value));
            }
        }
    };
    add(node.get("operations"));
    add(Some(node));
    if let Some(ty) = capability_type(node) {
        for (name, operation) in members(documents, TypeKind::Interface, ty, "operations") {
            if !all.iter().any(|(known, _)| *known == name) {
                all.push((name, operation));
            }
        }
        // Before 1.3, operations stand beside the other keys of the type.
        for section in ["create", "configure", "start", "stop", "delete"] {
            let has = documents.iter().any(|root| {
                let own = root.get("interface_types").and_then(|all| all.get(ty));
                own.is_some_and(|own| own.get(section).is_some())
            });
            if has && !all.iter().any(|(known, _)| *known == section) {
                all.push((section, node));
            }
        }
    }
    all
}

/// The conditions of 1.x.
fn clauses() -> Vec<Suggestion> {
    let all = CLAUSES.iter().map(|name| Suggestion {
        follows: match *name {
            "valid_values" | "in_range" => Follows::List,
            _ => Follows::Value,
        },
        ..plain(name, "constraint")
    });
    all.collect()
}

/// The functions of 2.0 that compare.
fn computed() -> Vec<Suggestion> {
    let all = COMPUTED.iter().map(|name| Suggestion {
        follows: Follows::List,
        ..plain(&format!("${name}"), "function")
    });
    all.collect()
}

/// Values that the grammar lists nowhere.
pub(super) fn values<'a>(place: &Place<'a>, documents: &[&'a Node]) -> Option<Vec<Suggestion>> {
    let each =
        |names: Vec<&str>, detail: &str| names.iter().map(|name| plain(name, detail)).collect();
    if let [.., "occurrences" | "count_range", ""] = place.path {
        return Some(vec![plain("UNBOUNDED", "bound")]);
    }
    let path = in_topology(place.path)?;
    Some(match path {
        ["inputs", name, "default"] => {
            let input = topology(place)?.get("inputs")?.get(name)?;
            listed(input)
        }
        ["workflows", _, "steps", _, "activities", "", "set_state"] => {
            each(STATES.to_vec(), "state")
        }
        ["workflows", _, "steps", _, "activities", "", "delegate"] => {
            each(vec!["deploy", "undeploy"], "workflow")
        }
        [
            "workflows",
            workflow,
            "steps",
            step,
            "activities",
            "",
            "call_operation",
        ]
        | [
            "workflows",
            workflow,
            "steps",
            step,
            "activities",
            "",
            "call_operation",
            "operation",
        ] => {
            let steps = topology(place)?
                .get("workflows")?
                .get(workflow)?
                .get("steps")?;
            let target = text(steps.get(step)?, "target")?;
            let ty = type_of(place, target)?;
            let mut all = Vec::new();
            for (interface, node) in members(documents, TypeKind::Node, ty, "interfaces") {
                for (operation, _) in operations_of(documents, node) {
                    all.push(plain(&format!("{interface}.{operation}"), "operation"));
                }
            }
            all
        }
        [
            "node_templates",
            template,
            "requirements",
            "",
            requirement,
            "capability",
        ] => {
            let (node, _) = target(place, documents, template, requirement);
            let all = members(documents, TypeKind::Node, node?, "capabilities");
            each(
                all.into_iter().map(|(name, _)| name).collect(),
                "capability",
            )
        }
        [
            "substitution_mappings",
            part @ ("capabilities" | "requirements"),
            _,
            "",
        ] => {
            // The template is the first, and what it has the second.
            let items = place.list()?;
            let first = items.first()?;
            if place
                .around
                .last()
                .is_some_and(|last| std::ptr::eq(*last, first))
            {
                return None;
            }
            let ty = type_of(place, first.as_str()?)?;
            let all = members(documents, TypeKind::Node, ty, part);
            each(all.into_iter().map(|(name, _)| name).collect(), "name")
        }
        _ => return None,
    })
}

/// The values that a definition lists.
pub(super) fn listed(node: &Node) -> Vec<Suggestion> {
    if text(node, "type") == Some("boolean") {
        return ["true", "false"]
            .map(|word| plain(word, "boolean"))
            .to_vec();
    }
    let clauses = node.get("constraints").and_then(Node::as_sequence);
    let clauses = clauses.unwrap_or_default().iter();
    let mut valid: Vec<&Node> = clauses
        .filter_map(|clause| clause.get("valid_values"))
        .collect();
    // Of 2.0: `$valid_values: [ $value, [ ... ] ]`.
    let validation = node
        .get("validation")
        .and_then(|one| one.get("$valid_values"));
    valid.extend(validation.and_then(|one| one.as_sequence()?.get(1)));
    let all = valid.into_iter().filter_map(Node::as_sequence).flatten();
    let texts = all.filter_map(Node::as_str);
    texts.map(|text| plain(text, "allowed value")).collect()
}
