//! Kinds that definitions among the files declare, and the fields of their schemas.

use std::fmt::Write as _;

use crate::kubernetes::access::Access as _;
use crate::kubernetes::editing::documents::items;
use crate::language::{Follows, Place, Suggestion};
use crate::yaml::{Kind, Mapping, Node};

/// A definition of custom resources.
pub(super) struct Definition<'n> {
    pub(super) group: &'n str,
    pub(super) kind: &'n str,
    pub(super) plural: Option<&'n str>,
    spec: &'n Node,
}

impl<'n> Definition<'n> {
    fn of(node: &'n Node) -> Option<Self> {
        if node.str_of("kind") != Some("CustomResourceDefinition") {
            return None;
        }
        let spec = node.some("spec")?;
        let names = spec.some("names")?;
        Some(Definition {
            group: spec.str_of("group")?,
            kind: names.str_of("kind")?,
            plural: names.str_of("plural"),
            spec,
        })
    }

    /// Its versions, as an `apiVersion` names them, each with its schema; the newest first, as the files have them.
    pub(super) fn versions(&self) -> Vec<(String, Option<&'n Node>)> {
        // Before `v1`, all versions could share one schema.
        let shared = self.spec.at(&["validation", "openAPIV3Schema"]);
        let mut all = Vec::new();
        for version in self.spec.items("versions") {
            if let Some(name) = version.str_of("name") {
                let own = version.at(&["schema", "openAPIV3Schema"]);
                all.push((format!("{}/{name}", self.group), own.or(shared)));
            }
        }
        if let (true, Some(name)) = (all.is_empty(), self.spec.str_of("version")) {
            all.push((format!("{}/{name}", self.group), shared));
        }
        all
    }

    /// Whether its objects can be scaled.
    pub(super) fn scales(&self) -> bool {
        let mut versions = self.spec.items("versions").iter();
        versions.any(|one| one.at(&["subresources", "scale"]).is_some())
    }
}

/// The definitions among the files of a place.
pub(super) fn definitions<'a>(place: &Place<'a>) -> impl Iterator<Item = Definition<'a>> {
    let roots = std::iter::once(place.root).chain(place.others.iter().copied());
    let all = roots.flat_map(|root| {
        let listed = root
            .str_of("kind")
            .is_some_and(|kind| kind.ends_with("List"));
        let own = items(root.get("items").filter(|_| listed)).iter();
        std::iter::once(root).chain(own)
    });
    all.filter_map(Definition::of)
}

/// The schema of a kind; of one whose version is not written or not known, that of any version.
pub(super) fn schema<'a>(
    place: &Place<'a>,
    api_version: Option<&str>,
    kind: &str,
) -> Option<&'a Node> {
    let mut any = None;
    for one in definitions(place).filter(|one| one.kind == kind) {
        for (version, schema) in one.versions() {
            if api_version == Some(version.as_str()) {
                return schema;
            }
            let is_group =
                api_version.is_none_or(|wanted| wanted.split('/').next() == Some(one.group));
            any = any.or(schema.filter(|_| is_group || api_version == Some("")));
        }
    }
    any
}

/// What a schema says of a key, or of the items when the key is empty.
pub(super) fn below<'n>(schema: &'n Node, key: &str) -> Option<&'n Node> {
    if key.is_empty() {
        return schema.some("items");
    }
    let own = schema.some("properties").and_then(|all| all.get(key));
    let more = schema.some("additionalProperties");
    own.or_else(|| more.filter(|more| more.as_mapping().is_some()))
}

/// Whether a part of an object is an object by itself, with metadata.
pub(super) fn is_embedded(schema: &Node) -> bool {
    schema.bool_of("x-kubernetes-embedded-resource") == Some(true)
}

/// The fields that a schema lists.
pub(super) fn fields(schema: &Node) -> Vec<Suggestion> {
    let properties = schema.some("properties").and_then(Node::as_mapping);
    let required: Vec<&str> = schema
        .items("required")
        .iter()
        .filter_map(Node::as_str)
        .collect();
    let all = properties.into_iter().flat_map(Mapping::named);
    all.map(|(name, entry)| field(name, &entry.value, required.contains(&&**name)))
        .collect()
}

/// A field, with what its schema says of it.
pub(super) fn field(name: &str, schema: &Node, required: bool) -> Suggestion {
    let mut about = String::new();
    if required {
        about.push_str("Required. ");
    }
    if let Some(default) = schema.some("default").and_then(shown) {
        let _ = write!(about, "Default: `{default}`. ");
    }
    let words = words(schema);
    if !words.is_empty() {
        let _ = write!(about, "One of `{}`. ", words.join("`, `"));
    }
    for (key, text) in [
        ("minimum", "At least"),
        ("maximum", "At most"),
        ("minLength", "Length at least"),
        ("maxLength", "Length at most"),
        ("minItems", "Items at least"),
        ("maxItems", "Items at most"),
        ("pattern", "Matches"),
        ("format", "Format"),
    ] {
        if let Some(limit) = schema.some(key).and_then(Node::as_str) {
            let _ = write!(about, "{text} `{limit}`. ");
        }
    }
    let mut about = about.trim_end().to_owned();
    if let Some(description) = schema.str_of("description") {
        if !about.is_empty() {
            about.push_str("\n\n");
        }
        about.push_str(description.trim());
    }
    Suggestion {
        text: name.to_owned(),
        detail: type_of(schema),
        documentation: about,
        required,
        follows: match schema.str_of("type") {
            Some("object") => Follows::Map,
            Some("array") => Follows::List,
            _ => Follows::Value,
        },
        block: required_block(schema, 0),
        ..Suggestion::default()
    }
}

/// How deep the block of what is required goes.
const DEEPEST: usize = 6;

/// The lines that a value of a schema cannot be without, indented by a number of steps.
pub(super) fn required_block(schema: &Node, depth: usize) -> Vec<String> {
    let (object, is_item) = match schema.str_of("type") {
        Some("array") => match schema.some("items") {
            Some(items) if items.str_of("type") == Some("object") => (items, true),
            _ => return Vec::new(),
        },
        _ => (schema, false),
    };
    let mut lines = Vec::new();
    if depth > DEEPEST {
        return lines;
    }
    for name in object.items("required").iter().filter_map(Node::as_str) {
        let own = object.some("properties").and_then(|all| all.get(name));
        if own.is_some_and(|own| own.get("default").is_some()) {
            continue;
        }
        let below = own.map(|own| required_block(own, depth + 1 + usize::from(is_item)));
        let below = below.unwrap_or_default();
        let pad = "  ".repeat(depth);
        let dash = match (is_item, lines.is_empty()) {
            (false, _) => "",
            (true, true) => "- ",
            (true, false) => "  ",
        };
        let colon = if below.is_empty() { "" } else { ":" };
        lines.push(format!("{pad}{dash}{name}{colon}"));
        lines.extend(below);
    }
    lines
}

/// The values that a schema lists.
pub(super) fn words(schema: &Node) -> Vec<&str> {
    let listed = schema.items("enum").iter().filter_map(Node::as_str);
    listed.collect()
}

/// The values that can be suggested.
pub(super) fn values(schema: &Node) -> Vec<(String, &'static str)> {
    let mut all: Vec<(String, &str)> = Vec::new();
    for word in words(schema) {
        all.push((word.to_owned(), "allowed value"));
    }
    if schema.str_of("type") == Some("boolean") {
        all.extend(["true", "false"].map(|word| (word.to_owned(), "boolean")));
    }
    if let Some(default) = schema.some("default").and_then(Node::as_str)
        && !all.iter().any(|(known, _)| known == default)
    {
        all.push((default.to_owned(), "default"));
    }
    all
}

/// The type of a schema, in words.
fn type_of(schema: &Node) -> String {
    if schema.bool_of("x-kubernetes-int-or-string") == Some(true) {
        return "integer or string".to_owned();
    }
    match schema.str_of("type") {
        Some("array") => match schema.some("items") {
            Some(items) => format!("list of {}", type_of(items)),
            None => "list".to_owned(),
        },
        Some("object") => match schema.some("additionalProperties") {
            Some(more) if more.as_mapping().is_some() => format!("map of {}", type_of(more)),
            _ => "map".to_owned(),
        },
        Some(known) => known.to_owned(),
        None => "anything".to_owned(),
    }
}

/// A value in a line.
fn shown(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Scalar(_) => node.as_str().map(str::to_owned),
        Kind::Sequence(items) if items.is_empty() => Some("[]".to_owned()),
        Kind::Mapping(map) if map.is_empty() => Some("{}".to_owned()),
        _ => None,
    }
}
