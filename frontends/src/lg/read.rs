//! The document of a location graph.

use std::sync::Arc;

use locus_core::graph::{Location, LocationGraph, LocationId, Process, RoleId, RoleKind};
use locus_core::value::{Field, Item, Value};
use locus_core::{Diagnostic, Span, suggest};
use rustc_hash::FxHashMap;

use super::KEY;
use crate::yaml::{Entry, Kind, Mapping, Node, Schema, Typed};

const SCHEMA: Schema = Schema::Core;

const KINDS: [RoleKind; 5] = [
    RoleKind::Reference,
    RoleKind::Attribute,
    RoleKind::Dependency,
    RoleKind::Containment,
    RoleKind::Connection,
];

struct Reader<'a> {
    graph: &'a mut LocationGraph,
    diagnostics: &'a mut Vec<Diagnostic>,
    roles: FxHashMap<Arc<str>, RoleId>,
    /// Locations that name the one they are in.
    inside: Vec<(LocationId, Arc<str>, Span)>,
}

/// Adds what a document says to a graph.
pub(super) fn read(root: &Node, graph: &mut LocationGraph, diagnostics: &mut Vec<Diagnostic>) {
    let mut reader = Reader {
        graph,
        diagnostics,
        roles: FxHashMap::default(),
        inside: Vec::new(),
    };
    let Some(document) = root.as_mapping() else {
        reader.misshapen(root, "a location graph is a map");
        return;
    };
    reader.keys(document, "a location graph", &[KEY, "locations", "roles"]);
    match document.get(KEY) {
        Some(version) if version.as_str() != Some("1") => {
            let message = format!("`{KEY}` is the version of the format, which is 1");
            reader.error(version.used_at(), message, None);
        }
        _ => {}
    }
    if let Some(roles) = document.get("roles") {
        reader.described(roles);
    }
    match document
        .get("locations")
        .map(|node| (node, node.as_sequence()))
    {
        Some((_, Some(locations))) => {
            for location in locations {
                reader.location(location);
            }
        }
        Some((node, None)) => reader.misshapen(node, "`locations` is a list"),
        None => {}
    }
    reader.nest();
}

impl Reader<'_> {
    fn misshapen(&mut self, node: &Node, what: &str) {
        let message = format!("{what}, not {}", node.describe(SCHEMA));
        self.error(node.used_at(), message, None);
    }

    fn error(&mut self, at: Span, message: String, help: Option<String>) {
        let diagnostic = Diagnostic::error("shape", message).at(at);
        self.diagnostics.push(diagnostic.maybe_help(help));
    }

    /// Reports keys that mean nothing.
    fn keys(&mut self, map: &Mapping, of: &str, known: &[&str]) {
        for (key, entry) in map.named() {
            if !known.contains(&&**key) {
                let help = suggest::did_you_mean(key, known.iter().copied());
                let message = format!("{of} has no key `{key}`");
                self.error(entry.key.span, message, help);
            }
        }
    }

    /// The text of a key that must be one; `None` when it is missing or something else, which is reported.
    fn text(&mut self, map: &Mapping, key: &str) -> Option<(Arc<str>, Span)> {
        let node = map.get(key)?;
        match node.text() {
            Some(text) if !node.is_null(SCHEMA) => Some((text.clone(), node.used_at())),
            _ => {
                self.misshapen(node, &format!("`{key}` is a string"));
                None
            }
        }
    }

    /// Roles that are described apart from the locations that have them.
    fn described(&mut self, node: &Node) {
        let Some(roles) = node.as_mapping() else {
            self.misshapen(node, "`roles` is a map from the names of roles");
            return;
        };
        for (name, entry) in roles.named() {
            let role = self.role(name, entry.key.span);
            let Some(described) = entry.value.as_mapping() else {
                self.misshapen(&entry.value, "a role is described by a map");
                continue;
            };
            self.keys(described, "a role", &["kind", "label"]);
            if let Some((label, _)) = self.text(described, "label") {
                self.graph.role_mut(role).label = label;
            }
            let Some((word, at)) = self.text(described, "kind") else {
                continue;
            };
            match KINDS.iter().find(|kind| kind.as_str() == &*word) {
                Some(kind) => self.graph.role_mut(role).kind = *kind,
                None => {
                    let words = KINDS.iter().map(|kind| kind.as_str());
                    let help = suggest::did_you_mean(&word, words);
                    self.error(at, format!("`{word}` is not a kind of roles"), help);
                }
            }
        }
    }

    /// The role of a name, which is made when it is new.
    fn role(&mut self, name: &Arc<str>, span: Span) -> RoleId {
        if let Some(&role) = self.roles.get(name) {
            return role;
        }
        let role = self.graph.add_role(RoleKind::Reference, name.clone(), span);
        self.roles.insert(name.clone(), role);
        role
    }

    fn location(&mut self, node: &Node) {
        let Some(map) = node.as_mapping() else {
            self.misshapen(node, "a location is a map");
            return;
        };
        let keys = [
            "name",
            "sort",
            "process",
            "provided",
            "required",
            "parent",
            "existing",
            "properties",
        ];
        self.keys(map, "a location", &keys);
        for key in ["name", "sort"] {
            if map.get(key).is_none() {
                self.error(node.span, format!("a location needs `{key}`"), None);
            }
        }
        let (Some((name, span)), Some((sort, _))) =
            (self.text(map, "name"), self.text(map, "sort"))
        else {
            return;
        };
        let mut location = Location::new(name, sort, span);
        if let Some(existing) = map.get("existing") {
            match existing.typed(SCHEMA) {
                Some(Typed::Bool(existing)) => location.external = existing,
                _ => self.misshapen(existing, "`existing` is `true` or `false`"),
            }
        }
        if location.external {
            location.process = Process::existing();
        }
        if let Some((process, _)) = self.text(map, "process") {
            location.process = process;
        }
        if let Some(properties) = map.get("properties") {
            match properties.as_mapping() {
                Some(properties) => location.properties = fields(properties),
                None => self.misshapen(properties, "`properties` is a map"),
            }
        }
        let id = self.graph.add_location(location);
        for role in self.roles_in(map, "provided") {
            self.graph.provide(id, role);
        }
        for role in self.roles_in(map, "required") {
            self.graph.require(id, role);
        }
        if let Some((parent, at)) = self.text(map, "parent") {
            self.inside.push((id, parent, at));
        }
    }

    fn roles_in(&mut self, map: &Mapping, key: &str) -> Vec<RoleId> {
        let Some(node) = map.get(key) else {
            return Vec::new();
        };
        let Some(items) = node.as_sequence() else {
            self.misshapen(node, &format!("`{key}` is a list of roles"));
            return Vec::new();
        };
        let mut roles = Vec::new();
        for item in items {
            match item.text() {
                Some(name) => roles.push(self.role(name, item.used_at())),
                None => self.misshapen(item, "a role is a string"),
            }
        }
        roles
    }

    /// Puts locations into those they name.
    fn nest(&mut self) {
        for (id, parent, at) in std::mem::take(&mut self.inside) {
            match self.graph.find(&parent) {
                Some(found) => self.graph.location_mut(id).parent = Some(found),
                None => {
                    let names: Vec<Arc<str>> = self
                        .graph
                        .locations()
                        .map(|(_, one)| one.name.clone())
                        .collect();
                    let help = suggest::did_you_mean(&parent, names.iter().map(|name| &**name));
                    self.error(at, format!("there is no location `{parent}`"), help);
                }
            }
        }
    }
}

fn fields(map: &Mapping) -> Vec<Field> {
    let field = |(name, entry): (&Arc<str>, &Entry)| Field {
        name: name.clone(),
        key: entry.key.span,
        item: Item::new(value(&entry.value), entry.value.used_at()),
    };
    map.named().map(field).collect()
}

fn value(node: &Node) -> Value {
    match &node.kind {
        Kind::Sequence(items) => {
            let item = |item: &Node| Item::new(value(item), item.used_at());
            Value::List(items.iter().map(item).collect())
        }
        Kind::Mapping(map) => Value::Map(fields(map)),
        Kind::Scalar(_) => match node.typed(SCHEMA) {
            None | Some(Typed::Null) => Value::Null,
            Some(Typed::Bool(value)) => Value::Bool(value),
            Some(Typed::Int(value)) => Value::Int(value),
            Some(Typed::Float(value)) => Value::Float(value),
            Some(Typed::Str(text)) => Value::Str(text),
        },
    }
}
