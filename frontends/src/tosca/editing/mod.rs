//! What editors ask about service templates: names and types, and what can be written.

mod change;
mod inside;
mod lead;
mod names;
mod suggest;
mod types;

use super::grammar::tables::FILE;
use super::grammar::{Entity, Shape, TypeKind};
use super::version::{Named, Version};
use crate::language::{NameSort, Names, Place};
use crate::yaml::Node;

pub(super) use change::{constrain, create, hints};
pub(super) use lead::leads;
pub(super) use names::{find, names_defined, names_for};
pub(super) use suggest::{about, suggest};

const fn a_type(what: &'static str, defined: &'static [&'static str]) -> Names {
    Names {
        defined,
        body: " {}",
        ..kind(what, NameSort::Type)
    }
}

const fn kind(what: &'static str, sort: NameSort) -> Names {
    Names {
        what,
        sort,
        defined: &[],
        used: &[],
        body: "",
    }
}

/// The kinds of names: the first are those of types, in the order of [`TypeKind::ALL`].
pub(super) static NAMES: &[Names] = &[
    a_type("artifact type", &["artifact_types", "*"]),
    a_type("data type", &["data_types", "*"]),
    a_type("capability type", &["capability_types", "*"]),
    a_type("interface type", &["interface_types", "*"]),
    a_type("relationship type", &["relationship_types", "*"]),
    a_type("node type", &["node_types", "*"]),
    a_type("group type", &["group_types", "*"]),
    a_type("policy type", &["policy_types", "*"]),
    kind("input", NameSort::Input),
    kind("node template", NameSort::Location),
    kind("relationship template", NameSort::Location),
    kind("group", NameSort::Part),
    kind("workflow", NameSort::Part),
    kind("workflow step", NameSort::Part),
];

const INPUT: usize = 8;
const NODE: usize = 9;
const RELATIONSHIP: usize = 10;
const GROUP: usize = 11;
const WORKFLOW: usize = 12;
const STEP: usize = 13;

fn type_kind(kind: TypeKind) -> usize {
    let mut all = TypeKind::ALL.iter();
    all.position(|&one| one == kind).unwrap_or(0)
}

fn version(root: &Node) -> Version {
    let name = root.get("tosca_definitions_version").and_then(Node::as_str);
    match name.map(Version::named) {
        Some(Named::Version(version)) => version,
        _ => Version::V1_3,
    }
}

/// What the path of a place holds.
#[derive(Clone, Copy, Debug)]
enum Held {
    /// The keys of an entity.
    Entity(&'static Entity),
    /// Something of a shape.
    Shape(&'static Shape),
    /// Nothing that the grammar says more of.
    Open,
}

/// What a value of a shape holds under a key; an empty key is an item of a list.
fn below(held: Held, key: &str, version: Version) -> Held {
    let entity = |entity: &'static Entity| match entity.keys.iter().find(|one| one.name == key) {
        Some(one) if one.from <= version && version <= one.to => Held::Shape(&one.shape),
        _ => match &entity.rest {
            Some((shape, last)) if version <= *last => Held::Shape(shape),
            _ => Held::Open,
        },
    };
    match held {
        Held::Entity(one) => entity(one),
        Held::Shape(shape) => match shape {
            Shape::Entity(one)
            | Shape::Short(one)
            | Shape::ShortType(_, one)
            | Shape::Loose(one) => entity(one),
            Shape::Map(value) => Held::Shape(value),
            Shape::List(item) if key.is_empty() => Held::Shape(item),
            Shape::Ordered(_) | Shape::Either(_) if key.is_empty() => held,
            Shape::Ordered(value) | Shape::Either(value) => Held::Shape(value),
            Shape::Types(_) | Shape::Texts | Shape::Words(_) if key.is_empty() => held,
            _ => Held::Open,
        },
        Held::Open => Held::Open,
    }
}

/// Words that stand for a node template.
const WORDS: &[&str] = &["SELF", "SOURCE", "TARGET", "HOST", "ORCHESTRATOR"];

/// The functions, with and without the sign of 2.0.
const FUNCTIONS: &[&str] = &[
    "get_input",
    "get_property",
    "get_attribute",
    "get_artifact",
    "get_operation_output",
    "concat",
    "join",
    "token",
];

pub(super) fn is_function(key: &str) -> bool {
    FUNCTIONS.contains(&key.strip_prefix('$').unwrap_or(key))
}

fn held_at(place: &Place<'_>) -> Held {
    let version = version(place.root);
    let keys = place.path.iter();
    keys.fold(Held::Entity(&FILE), |held, key| below(held, key, version))
}
