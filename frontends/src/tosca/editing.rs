//! What editors ask about service templates: names, and what can be written.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use locus_core::Sources;

use super::builtin;
use super::grammar::tables::FILE;
use super::grammar::{Entity, Shape, TypeKind};
use super::version::{Named, Version};
use crate::language::editing::push;
use crate::language::{FileText, Follows, NameAt, Names, Place, Suggestion};
use crate::yaml::{self, Kind, Node};

const fn kind(what: &'static str, defined: &'static [&'static str], body: &'static str) -> Names {
    Names {
        what,
        defined,
        used: &[],
        body,
    }
}

/// The kinds of names: the first are those of types, in the order of [`TypeKind::ALL`].
pub(super) static NAMES: &[Names] = &[
    kind("artifact type", &["artifact_types", "*"], " {}"),
    kind("data type", &["data_types", "*"], " {}"),
    kind("capability type", &["capability_types", "*"], " {}"),
    kind("interface type", &["interface_types", "*"], " {}"),
    kind("relationship type", &["relationship_types", "*"], " {}"),
    kind("node type", &["node_types", "*"], " {}"),
    kind("group type", &["group_types", "*"], " {}"),
    kind("policy type", &["policy_types", "*"], " {}"),
    kind("input", &[], ""),
    kind("node template", &[], ""),
    kind("relationship template", &[], ""),
    kind("group", &[], ""),
];

const INPUT: usize = 8;
const NODE: usize = 9;
const RELATIONSHIP: usize = 10;
const GROUP: usize = 11;

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
            Shape::Types(_) | Shape::Texts if key.is_empty() => held,
            _ => Held::Open,
        },
        Held::Open => Held::Open,
    }
}

/// The functions whose first argument is a node template.
const OF_NODES: &[&str] = &[
    "get_property",
    "get_attribute",
    "get_artifact",
    "get_operation_output",
    "get_nodes_of_type",
];

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

/// All names of some files; templates and inputs are those of one file.
pub(super) fn find(files: &[FileText<'_>]) -> Vec<Vec<NameAt>> {
    let mut all = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let mut found = Vec::new();
        for root in &file.roots {
            let mut finder = Finder {
                version: version(root),
                text: file.text,
                scope: format!("file {number}"),
                found: &mut found,
            };
            finder.walk(root, Held::Entity(&FILE), &mut Vec::new());
        }
        found.sort_by_key(|name: &NameAt| (name.span.start, name.kind, !name.is_definition));
        found.dedup();
        all.push(found);
    }
    all
}

struct Finder<'f> {
    version: Version,
    text: &'f str,
    scope: String,
    found: &'f mut Vec<NameAt>,
}

/// The kind of names that keys under a path define.
fn defines(path: &[&str]) -> Option<usize> {
    Some(match path {
        ["topology_template" | "service_template", section, _] => match *section {
            "inputs" => INPUT,
            "node_templates" => NODE,
            "relationship_templates" => RELATIONSHIP,
            "groups" => GROUP,
            _ => return None,
        },
        [section, _] => {
            let mut kinds = TypeKind::ALL.into_iter();
            type_kind(kinds.find(|kind| kind.section() == *section)?)
        }
        _ => return None,
    })
}

/// The kind of name that the text at a path is, as far as the path tells it.
fn uses(path: &[&str]) -> Option<usize> {
    let path = match path {
        ["topology_template" | "service_template", rest @ ..] => rest,
        all => all,
    };
    Some(match path {
        [.., "get_input" | "$get_input"] => INPUT,
        [.., function, ""]
            if OF_NODES.contains(&function.strip_prefix('$').unwrap_or(function)) =>
        {
            NODE
        }
        ["node_templates", _, "requirements", "", _] => NODE,
        ["node_templates", _, "requirements", "", _, "node"] => NODE,
        ["node_templates", _, "requirements", "", _, "relationship"] => RELATIONSHIP,
        ["node_templates", _, "copy"] => NODE,
        ["relationship_templates", _, "copy"] => RELATIONSHIP,
        ["groups", _, "members", ""] => NODE,
        ["policies", .., "targets", ""] => NODE,
        ["workflows", _, "steps", _, "target"] => NODE,
        [
            "substitution_mappings",
            "capabilities" | "requirements",
            _,
            "",
        ] => NODE,
        _ => return None,
    })
}

impl Finder<'_> {
    fn walk<'n>(&mut self, node: &'n Node, held: Held, path: &mut Vec<&'n str>) {
        if node.alias().is_some() {
            return;
        }
        match &node.kind {
            Kind::Mapping(mapping) => {
                for (name, entry) in mapping.named() {
                    path.push(name);
                    if let Some(kind) = defines(path) {
                        self.push(&entry.key, name, kind, true);
                    }
                    self.walk(&entry.value, below(held, name, self.version), path);
                    path.pop();
                }
            }
            Kind::Sequence(items) => {
                path.push("");
                let inner = below(held, "", self.version);
                // Of the arguments of a function, only the first names a template.
                let is_function = path.len() > 1
                    && path.get(path.len() - 2).is_some_and(|key| {
                        is_function(key)
                            || matches!(
                                path.as_slice(),
                                [.., "capabilities" | "requirements", _, ""]
                            )
                    });
                for (at, item) in items.iter().enumerate() {
                    if at > 0 && is_function && item.as_str().is_some() {
                        continue;
                    }
                    self.walk(item, inner, path);
                }
                path.pop();
            }
            Kind::Scalar(_) => {
                let Some(value) = node.as_str() else { return };
                if let Held::Shape(
                    Shape::Type(kind) | Shape::Types(kind) | Shape::ShortType(kind, _),
                ) = held
                {
                    // Of a name with a prefix, what follows it is the type's own.
                    let name = value.rsplit(':').next().unwrap_or(value);
                    self.push(node, name, type_kind(*kind), false);
                }
                if let Some(kind) = uses(path)
                    && !WORDS.contains(&value)
                {
                    self.push(node, value, kind, false);
                }
            }
        }
    }

    fn push(&mut self, node: &Node, name: &str, kind: usize, is_definition: bool) {
        let before = self.found.len();
        push(self.text, node, name, kind, is_definition, self.found);
        if kind >= INPUT
            && let Some(new) = self.found.get_mut(before)
        {
            new.scope.clone_from(&self.scope);
        }
    }
}

/// The kinds of names that can be written at a place.
pub(super) fn names_for(place: &Place<'_>) -> Vec<(usize, Option<String>)> {
    if place.is_key {
        return Vec::new();
    }
    let mut all: Vec<usize> = uses(place.path).into_iter().collect();
    // Only the first argument of a function names a template.
    if let [.., _, ""] = place.path
        && all.first() == Some(&NODE)
        && place.list().is_some_and(|items| items.len() > 1)
        && place
            .path
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|key| is_function(key))
    {
        all.clear();
    }
    if let Held::Shape(Shape::Type(kind) | Shape::Types(kind) | Shape::ShortType(kind, _)) =
        held_at(place)
    {
        all.push(type_kind(*kind));
    }
    // Templates and inputs are those of the own file, which comes first.
    let scope = |kind: usize| (kind >= INPUT).then(|| "file 0".to_owned());
    all.into_iter().map(|kind| (kind, scope(kind))).collect()
}

fn held_at(place: &Place<'_>) -> Held {
    let version = version(place.root);
    let keys = place.path.iter();
    keys.fold(Held::Entity(&FILE), |held, key| below(held, key, version))
}

/// The types that come with a version.
fn builtin(version: Version) -> &'static Node {
    static PARSED: OnceLock<BTreeMap<&'static str, Node>> = OnceLock::new();
    static NOTHING: OnceLock<Node> = OnceLock::new();
    let all = PARSED.get_or_init(|| {
        let mut all = BTreeMap::new();
        for version in [
            Version::V1_0,
            Version::V1_1,
            Version::V1_2,
            Version::V1_3,
            Version::V2_0,
        ] {
            let text = match version {
                Version::V2_0 => builtin::profile("org.oasis-open.simple:2.0").map(|one| one.text),
                other => Some(builtin::normative(other).text),
            };
            let mut sources = Sources::new();
            let file = sources.add("", text.unwrap_or_default());
            let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
            if let Some(document) = parsed.documents.into_iter().next() {
                all.insert(version.number(), document.root);
            }
        }
        all
    });
    all.get(version.number()).unwrap_or_else(|| {
        NOTHING.get_or_init(|| {
            let mut sources = Sources::new();
            let file = sources.add("", "");
            Node::new(
                Kind::Mapping(yaml::Mapping::default()),
                locus_core::Span::start_of(file),
            )
        })
    })
}

/// The documents that types are looked for in: the own one first.
fn documents<'a>(place: &Place<'a>) -> Vec<&'a Node> {
    let mut all = vec![place.root];
    all.extend(place.others);
    all.push(builtin(version(place.root)));
    all
}

/// A type by its name, in full or short.
fn find_type<'a>(documents: &[&'a Node], kind: TypeKind, name: &str) -> Option<&'a Node> {
    let name = name.rsplit(':').next().unwrap_or(name);
    let sections = documents.iter().filter_map(|root| root.get(kind.section()));
    let sections: Vec<&Node> = sections.collect();
    if let Some(found) = sections.iter().find_map(|section| section.get(name)) {
        return Some(found);
    }
    let last = sections.last()?.as_mapping()?;
    let mut named = last.named();
    let short = |full: &str| {
        full.splitn(3, '.').nth(2) == Some(name) || full.rsplit('.').next() == Some(name)
    };
    named
        .find(|(full, _)| short(full))
        .map(|(_, entry)| &entry.value)
}

/// What a type and those it derives from have in a section, the nearest first.
fn members<'a>(
    documents: &[&'a Node],
    kind: TypeKind,
    name: &str,
    section: &str,
) -> Vec<(&'a str, &'a Node)> {
    let mut all: Vec<(&str, &Node)> = Vec::new();
    let mut at = find_type(documents, kind, name);
    // A type that derives from itself ends nowhere.
    for _ in 0..50 {
        let Some(node) = at else { break };
        let own = node.get(section);
        let mut held: Vec<&Node> = own.into_iter().collect();
        // Requirements are a list of maps with one entry each.
        if let Some(items) = own.and_then(Node::as_sequence) {
            held = items.iter().collect();
        }
        for mapping in held.into_iter().filter_map(Node::as_mapping) {
            for (name, entry) in mapping.named() {
                if !all.iter().any(|(known, _)| *known == &**name) {
                    all.push((name, &entry.value));
                }
            }
        }
        let parent = node.get("derived_from").and_then(Node::as_str);
        at = parent.and_then(|parent| find_type(documents, kind, parent));
    }
    all
}

/// What can be written at a place of a service template.
pub(super) fn suggest(place: &Place<'_>) -> Vec<Suggestion> {
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
                let all = members(documents, kind, ty, "requirements").into_iter();
                return all
                    .map(|(name, node)| member(name, node, "requirement"))
                    .collect();
            }
            ["properties", ..] => return functions(version),
            _ => {}
        }
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

fn property(name: &str, node: &Node) -> Suggestion {
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

fn member(name: &str, node: &Node, what: &str) -> Suggestion {
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
    let sign = if version.is_simple() { "" } else { "$" };
    let all = FUNCTIONS.iter().map(|name| Suggestion {
        text: format!("{sign}{name}"),
        detail: "function".to_owned(),
        ..Suggestion::default()
    });
    all.collect()
}

fn plain(text: &str, detail: &str) -> Suggestion {
    Suggestion {
        text: text.to_owned(),
        detail: detail.to_owned(),
        ..Suggestion::default()
    }
}

fn values(place: &Place<'_>, version: Version, documents: &[&Node]) -> Vec<Suggestion> {
    if place.path == ["tosca_definitions_version"] {
        let names = super::version::NAMES.iter();
        return names.map(|name| plain(name, "version")).collect();
    }
    if let [.., "imports", ""] = place.path {
        let names = builtin::PROFILES.iter().filter(|_| !version.is_simple());
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
        let Some(first) = items
            .first()
            .and_then(Node::as_str)
            .filter(|_| items.len() > 1)
        else {
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

/// The values that the definition of a property lists.
fn listed(place: &Place<'_>, documents: &[&Node]) -> Vec<Suggestion> {
    let Some((kind, ty)) = template_type(place, place.path) else {
        return Vec::new();
    };
    let Some(["properties", name]) = place.path.get(3..) else {
        return Vec::new();
    };
    let all = members(documents, kind, ty, "properties");
    let Some((_, node)) = all.iter().find(|(own, _)| own == name) else {
        return Vec::new();
    };
    if node.get("type").and_then(Node::as_str) == Some("boolean") {
        return ["true", "false"]
            .map(|word| plain(word, "boolean"))
            .to_vec();
    }
    let clauses = node
        .get("constraints")
        .and_then(Node::as_sequence)
        .unwrap_or_default()
        .iter();
    let valid = clauses.filter_map(|clause| clause.get("valid_values")?.as_sequence());
    let texts = valid.flatten().filter_map(Node::as_str);
    texts.map(|text| plain(text, "allowed value")).collect()
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
        let words = [
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
        ];
        all.extend(words.map(|word| plain(word, "data type")));
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
