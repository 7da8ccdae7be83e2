//! What can be written in a manifest: kinds, fields by their definition, words.

mod access;
mod around;
mod custom;
mod words;

use std::collections::BTreeSet;

use crate::kubernetes::release::NEWEST;
use crate::kubernetes::schema::types::{Definition, Field, Served, Shape};
use crate::kubernetes::schema::{metadata, schema};
use crate::language::{Follows, Place, Suggestion};
use crate::yaml::Node;

/// What can be written at a place of a manifest.
pub(in crate::kubernetes) fn suggest(place: &Place<'_>) -> Vec<Suggestion> {
    let (path, root) = object_of(place);
    let text = |key: &str| root.get(key).and_then(Node::as_str);
    match (path, place.is_key) {
        (["apiVersion"], false) => return versions(place, text("kind")),
        (["kind"], false) => return kinds(place, text("apiVersion"), root),
        _ => {}
    }
    let Some(way) = Way::to(place, path, root) else {
        return match (path, place.is_key, text("kind")) {
            ([], true, _) => ["apiVersion", "kind", "metadata"].map(head).to_vec(),
            _ => Vec::new(),
        };
    };
    let mut all = match place.is_key {
        true => way.keys(place, text("kind")),
        false => way.values(place),
    };
    // The order of labels is how often they are used, and that of words is that of the standard.
    if place.is_key && !matches!(way.at, At::Shape(Shape::Map(_))) {
        all.sort_by(|a, b| {
            b.required
                .cmp(&a.required)
                .then_with(|| a.text.cmp(&b.text))
        });
    }
    all
}

/// What there is to know about a key or value that is written.
pub(in crate::kubernetes) fn about(place: &Place<'_>, written: &str) -> Option<Suggestion> {
    let mut all = suggest(place).into_iter();
    if let Some(found) = all.find(|one| one.text == written) {
        return Some(found);
    }
    let (path, root) = object_of(place);
    let way = Way::to(place, path, root)?;
    match way.at {
        // What the server writes is not suggested.
        At::Object(definition) if place.is_key => field_of(definition.field(written)?),
        At::Shape(Shape::Map(value)) if place.is_key => Some(Suggestion {
            text: written.to_owned(),
            detail: shown(value),
            ..Suggestion::default()
        }),
        At::Custom { schema, .. } if place.is_key => {
            let own = custom::below(schema, written)?;
            Some(custom::field(written, own, false))
        }
        _ => None,
    }
}

/// The object that a place is in, and the keys that lead to the place from there.
fn object_of<'a>(place: &Place<'a>) -> (&'a [&'a str], &'a Node) {
    let kind = place.root.get("kind").and_then(Node::as_str);
    // In a list of objects, each item is an object of its own.
    if let (["items", "", rest @ ..], Some(kind)) = (place.path, kind)
        && kind.ends_with("List")
        && let Some(item) = place.around.get(2)
    {
        return (rest, item);
    }
    (place.path, place.root)
}

/// What is at the end of a way into an object.
#[derive(Clone, Copy, Debug)]
enum At<'a> {
    /// The fields of a definition.
    Object(&'static Definition),
    /// Something of a shape.
    Shape(&'static Shape),
    /// Something of the schema of a custom resource; a whole object has metadata.
    Custom { schema: &'a Node, is_object: bool },
}

impl<'a> At<'a> {
    fn of(shape: &'static Shape) -> Option<At<'a>> {
        match shape {
            Shape::Object(id) => schema().definition(*id).map(At::Object),
            other => Some(At::Shape(other)),
        }
    }

    /// What a key leads to; an empty one to the items of a list.
    fn below(self, key: &str) -> Option<At<'a>> {
        match self {
            At::Object(definition) => At::of(&definition.field(key)?.shape),
            At::Shape(Shape::List(item)) if key.is_empty() => At::of(item),
            At::Shape(Shape::Map(value)) => At::of(value),
            At::Shape(_) => None,
            At::Custom {
                is_object: true, ..
            } if key == "metadata" => metadata()
                .and_then(|id| schema().definition(id))
                .map(At::Object),
            At::Custom { schema, .. } => {
                let schema = custom::below(schema, key)?;
                Some(At::Custom {
                    schema,
                    is_object: custom::is_embedded(schema),
                })
            }
        }
    }
}

/// A way into an object.
struct Way<'a> {
    at: At<'a>,
    /// The definition and the field that were met last, also of items and entries of the field.
    field: (&'static str, &'static str),
    /// The key of an entry of a map.
    entry: Option<&'a str>,
}

impl<'a> Way<'a> {
    fn to(place: &Place<'a>, path: &[&'a str], root: &'a Node) -> Option<Self> {
        let text = |key: &str| root.get(key).and_then(Node::as_str);
        let schema_of = || custom::schema(place, text("apiVersion"), text("kind")?);
        let start = match (definition(text("apiVersion"), text("kind")), path) {
            (Some(definition), _) => At::Object(definition),
            // Of a kind that nothing is known of, the metadata are.
            (None, ["metadata", rest @ ..]) if schema_of().is_none() => {
                let metadata = metadata().and_then(|id| schema().definition(id))?;
                return Way::from(At::Object(metadata), rest);
            }
            (None, _) => At::Custom {
                schema: schema_of()?,
                is_object: true,
            },
        };
        Way::from(start, path)
    }

    /// A way on from what is known.
    fn from(start: At<'a>, path: &[&'a str]) -> Option<Self> {
        let mut way = Way {
            at: start,
            field: ("", ""),
            entry: None,
        };
        for key in path {
            way.entry = None;
            match way.at {
                At::Object(definition) => {
                    way.field = (definition.name, definition.field(key)?.name);
                }
                At::Shape(Shape::Map(_)) => way.entry = Some(key),
                At::Shape(_) => {}
                At::Custom { .. } => way.field = ("", ""),
            }
            way.at = way.at.below(key)?;
        }
        Some(way)
    }

    fn keys(&self, place: &Place<'_>, kind: Option<&str>) -> Vec<Suggestion> {
        match self.at {
            At::Object(definition) => listed(definition),
            At::Shape(Shape::Map(value)) => {
                let (definition, field) = self.field;
                let known = match field {
                    "labels" | "matchLabels" | "selector" => around::seen(place, "labels", None),
                    "annotations" => around::seen(place, "annotations", None),
                    "nodeSelector" => around::node_labels(place, None),
                    _ => Vec::new(),
                };
                let words = match (definition, field) {
                    ("ObjectMeta", "labels") => words::labels(kind),
                    (definition, field) => words::keys(definition, field),
                };
                let detail = match field {
                    "labels" | "matchLabels" | "selector" | "nodeSelector" => "label".to_owned(),
                    _ => shown(value),
                };
                texts(known, words, &detail)
            }
            // The first key of the first item of a list.
            At::Shape(Shape::List(item)) => match At::of(item) {
                Some(At::Object(definition)) => listed(definition),
                _ => Vec::new(),
            },
            At::Shape(_) => Vec::new(),
            At::Custom { schema, is_object } => {
                let items = schema
                    .get("items")
                    .filter(|_| custom::below(schema, "").is_some());
                let mut all = custom::fields(items.unwrap_or(schema));
                if is_object {
                    all.retain(|one| one.text != "status");
                    for key in ["apiVersion", "kind", "metadata"] {
                        all.retain(|one| one.text != key);
                        all.push(head(key));
                    }
                }
                all
            }
        }
    }

    fn values(&self, place: &Place<'_>) -> Vec<Suggestion> {
        let (definition, field) = self.field;
        let shape = match self.at {
            At::Custom { schema, .. } => {
                // The first item of a list.
                let schema = custom::below(schema, "").unwrap_or(schema);
                let all = custom::values(schema).into_iter();
                let is_text = schema.get("type").and_then(Node::as_str) == Some("string");
                let all = all.map(|(text, detail)| Suggestion {
                    is_text,
                    ..plain(text, detail)
                });
                return all.collect();
            }
            At::Object(_) => return Vec::new(),
            At::Shape(Shape::List(item)) => item,
            At::Shape(shape) => shape,
        };
        if let Some(key) = self.entry {
            let (known, words) = match field {
                "labels" | "matchLabels" | "selector" => (
                    around::seen(place, "labels", Some(key)),
                    words::label_values(key),
                ),
                "annotations" => (around::seen(place, "annotations", Some(key)), &[][..]),
                "nodeSelector" => (
                    around::node_labels(place, Some(key)),
                    words::node_label_values(key),
                ),
                _ => (Vec::new(), &[][..]),
            };
            return texts(known, words, "label");
        }
        let listed = values(shape);
        if !listed.is_empty() {
            return listed;
        }
        let beside = |key: &str| place.map().and_then(|node| node.get(key)?.as_str());
        let detail = match field {
            "port" | "targetPort" | "number" | "endPort" => "port",
            "namespace" => "Namespace",
            "key" | "topologyKey" => "label",
            "apiGroup" | "apiGroups" => "API group",
            _ => "allowed value",
        };
        let known = match (definition, field) {
            (_, "namespace") => around::namespaces(place),
            ("LabelSelectorRequirement", "key") => around::seen(place, "labels", None),
            ("NodeSelectorRequirement", "key") => around::node_labels(place, None),
            (_, "kind") if is_reference(definition) => {
                return referred(place, definition, beside("apiVersion"), beside("apiGroup"));
            }
            (_, "apiVersion") if is_reference(definition) => {
                return versions(place, beside("kind"));
            }
            ("TypedLocalObjectReference" | "TypedObjectReference", "apiGroup") => {
                let versions = versions(place, beside("kind")).into_iter();
                let groups = versions.map(|one| access::group(&one.text).to_owned());
                groups.filter(|group| !group.is_empty()).collect()
            }
            _ => {
                let mut all = access::words(place, definition, field);
                all.extend(around::ports(place, definition, field));
                all
            }
        };
        texts(known, words::words(definition, field), detail)
    }
}

/// Whether a definition names another object by its kind.
fn is_reference(definition: &str) -> bool {
    matches!(
        definition,
        "CrossVersionObjectReference"
            | "ObjectReference"
            | "TypedLocalObjectReference"
            | "TypedObjectReference"
            | "OwnerReference"
            | "ParamKind"
            | "IngressClassParametersReference"
    )
}

/// The kinds that a reference can have.
fn referred(
    place: &Place<'_>,
    definition: &str,
    api_version: Option<&str>,
    group: Option<&str>,
) -> Vec<Suggestion> {
    let customs: Vec<_> = custom::definitions(place).collect();
    let mut all: Vec<String> = Vec::new();
    if definition == "CrossVersionObjectReference" {
        // What can be scaled.
        let own = [
            "Deployment",
            "StatefulSet",
            "ReplicaSet",
            "ReplicationController",
        ];
        let fits =
            |kind: &&str| api_version.is_none_or(|version| schema().kind(version, kind).is_some());
        all.extend(
            own.iter()
                .filter(|kind| fits(kind))
                .map(|kind| (*kind).to_owned()),
        );
        let customs = customs.iter().filter(|one| one.scales());
        all.extend(customs.map(|one| one.kind.to_owned()));
    } else {
        let fits = |version: &str| {
            api_version.is_none_or(|wanted| wanted == version)
                && group.is_none_or(|wanted| wanted == access::group(version))
        };
        all.extend(
            words::kept()
                .filter(|served| fits(served.api_version))
                .map(|served| served.kind.to_owned()),
        );
        let known = customs.iter().filter(|one| {
            let mut versions = one.versions().into_iter();
            versions.any(|(version, _)| fits(&version))
        });
        all.extend(known.map(|one| one.kind.to_owned()));
        all.sort_unstable();
        all.dedup();
    }
    texts(all, &[], "object type")
}

/// Texts and words, each once.
fn texts(known: Vec<String>, words: &[&str], detail: &str) -> Vec<Suggestion> {
    let mut all: Vec<Suggestion> = Vec::new();
    let words = words.iter().map(|&word| word.to_owned());
    for text in known.into_iter().chain(words) {
        if !all.iter().any(|one| one.text == text) {
            all.push(plain(text, detail));
        }
    }
    all
}

fn plain(text: String, detail: &str) -> Suggestion {
    Suggestion {
        text,
        detail: detail.to_owned(),
        is_text: !matches!(detail, "port" | "boolean"),
        ..Suggestion::default()
    }
}

/// The fields of a definition, but for those that the server writes.
fn listed(definition: &'static Definition) -> Vec<Suggestion> {
    let fields = definition.fields.iter();
    let own = fields.filter(|field| field.name != "status" && field.name != "managedFields");
    own.filter_map(field_of).collect()
}

/// The definition of a kind; of one that is written without its version, the newest.
fn definition(api_version: Option<&str>, kind: Option<&str>) -> Option<&'static Definition> {
    let kind = kind?;
    let own = api_version.and_then(|version| schema().kind(version, kind));
    // The kind of a group that is not known is another, of whatever name.
    let is_own = |served: &&Served| {
        api_version
            .is_none_or(|version| access::group(version) == access::group(served.api_version))
    };
    let served = own.or_else(|| {
        let mut all = schema().kinds.iter().filter(|served| is_current(served));
        all.rfind(|served| served.kind == kind && is_own(served))
    })?;
    schema().definition(served.definition?)
}

fn is_current(served: &Served) -> bool {
    served.last >= NEWEST && served.definition.is_some()
}

fn head(key: &str) -> Suggestion {
    Suggestion {
        text: key.to_owned(),
        detail: match key {
            "metadata" => "ObjectMeta".to_owned(),
            _ => "string".to_owned(),
        },
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
fn versions(place: &Place<'_>, kind: Option<&str>) -> Vec<Suggestion> {
    let wanted = kind.filter(|kind| !kind.is_empty());
    let mut own: BTreeSet<String> = BTreeSet::new();
    for one in custom::definitions(place) {
        if wanted.is_none_or(|kind| kind == one.kind) {
            own.extend(one.versions().into_iter().map(|(version, _)| version));
        }
    }
    let served = schema().kinds.iter().filter(|served| is_current(served));
    let served = served.filter(|one| wanted.is_none_or(|kind| kind == one.kind));
    let known: BTreeSet<&str> = served.map(|one| one.api_version).collect();
    let known = known.into_iter().map(str::to_owned).chain(own);
    texts(known.collect(), &[], "API version")
}

/// The kinds of a version, or all, each with what its objects cannot be without.
fn kinds(place: &Place<'_>, api_version: Option<&str>, root: &Node) -> Vec<Suggestion> {
    let mut own: Vec<Suggestion> = Vec::new();
    for one in custom::definitions(place) {
        for (version, schema) in one.versions() {
            let fits = api_version.is_none_or(|wanted| wanted.is_empty() || wanted == version);
            if !fits || own.iter().any(|known| known.text == one.kind) {
                continue;
            }
            let spec = schema.and_then(|schema| schema.get("properties")?.get("spec"));
            let below = spec.map(|spec| custom::required_block(spec, 1));
            own.push(Suggestion {
                text: one.kind.to_owned(),
                detail: format!("{version} object type"),
                block: block(root, below.unwrap_or_default()),
                ..Suggestion::default()
            });
        }
    }
    let is_known = |version: &str| schema().kinds_of(version).next().is_some();
    // Of a version that only the files declare, nothing else is a kind.
    let known = api_version.filter(|version| is_known(version) || !own.is_empty());
    let all = schema().kinds.iter().filter(|served| is_current(served));
    let mut all: Vec<Suggestion> = all
        .filter(|served| known.is_none_or(|version| version == served.api_version))
        .map(|served| {
            let definition = served.definition.and_then(|id| schema().definition(id));
            let spec = definition.and_then(|one| one.field("spec"));
            let below = spec.map(|spec| required(&spec.shape, 1));
            Suggestion {
                text: served.kind.to_owned(),
                detail: format!("{} object type", served.api_version),
                block: block(root, below.unwrap_or_default()),
                ..Suggestion::default()
            }
        })
        .collect();
    all.append(&mut own);
    all.sort_by(|a, b| a.text.cmp(&b.text));
    all.dedup_by(|a, b| a.text == b.text);
    all
}

/// What an object cannot be without that is not written yet.
fn block(root: &Node, spec: Vec<String>) -> Vec<String> {
    let mut block = Vec::new();
    if root.get("metadata").is_none() {
        block.extend(["metadata:".to_owned(), "  name".to_owned()]);
    }
    if root.get("spec").is_none() && !spec.is_empty() {
        block.push("spec:".to_owned());
        block.extend(spec);
    }
    block
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

/// A field, with what the schema says of it.
fn field_of(field: &'static Field) -> Option<Suggestion> {
    let block = required(&field.shape, 0);
    let mut about = String::new();
    if field.required {
        about.push_str("Required. ");
    }
    let words = match &field.shape {
        Shape::Word(words) => words.as_slice(),
        Shape::List(item) => match &**item {
            Shape::Word(words) => words.as_slice(),
            _ => &[],
        },
        _ => &[],
    };
    if !words.is_empty() {
        about.push_str(&format!("One of `{}`. ", words.join("`, `")));
    }
    Some(Suggestion {
        text: field.name.to_owned(),
        detail: shown(&field.shape),
        documentation: about.trim_end().to_owned(),
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
    let all = |words: &[&str], detail: &str| {
        let words = words.iter().map(|&word| word.to_owned());
        words.map(|word| plain(word, detail)).collect()
    };
    match shape {
        Shape::Word(words) => all(words, "allowed value"),
        Shape::Bool => all(&["true", "false"], "boolean"),
        _ => Vec::new(),
    }
}
