//! Comparing a file with the tables of the grammar.

use locus_core::{Diagnostic, Span, suggest};

use super::{Entity, Key, Shape, TypeKind};
use crate::tosca::text;
use crate::tosca::version::Version;
use crate::yaml::{Entry, Kind, Mapping, Node, Schema, Style, Typed};

/// A comparison of one file.
pub struct Walk<'w> {
    /// The version of the file.
    pub version: Version,
    /// Told of every name of a type.
    pub types: &'w mut dyn FnMut(TypeKind, &Node),
    /// What does not fit.
    pub diagnostics: &'w mut Vec<Diagnostic>,
}

impl Walk<'_> {
    /// Compares a node with what it must be; `what` names the key or entry that holds it.
    pub fn node(&mut self, node: &Node, shape: &Shape, what: &str, key: Span) {
        match *shape {
            Shape::Any => {}
            Shape::Text => self.text(node, what, key),
            Shape::Name => {
                if node.as_str().is_none() {
                    self.wrong(node, what, "a name");
                } else if node.is_null(Schema::Core) {
                    self.empty(node, what, key, "a name");
                }
            }
            Shape::Version => self.version(node, what),
            Shape::Flag => {
                if is_boolean(node, self.version) || text::is_call(node, self.version) {
                } else if let Some(truth) = old_boolean(node, self.version) {
                    let word = node.as_str().unwrap_or_default();
                    let message = format!("`{what}` is `{word}`, which is a string in YAML 1.2");
                    let diagnostic = Diagnostic::warning("tosca-shape", message)
                        .help(format!("write `{truth}`"));
                    self.diagnostics.push(diagnostic.at(node.used_at()));
                } else if let (Some(Typed::Bool(truth)), Some(word)) =
                    (node.typed(Schema::Core), node.as_str())
                {
                    let message = format!("`{what}` must be `true` or `false`, not `{word}`");
                    let diagnostic =
                        Diagnostic::error("tosca-shape", message).help(format!("write `{truth}`"));
                    self.diagnostics.push(diagnostic.at(node.used_at()));
                } else {
                    self.wrong(node, what, "`true` or `false`");
                }
            }
            Shape::Count => {
                let fits = match node.typed(Schema::Core) {
                    Some(Typed::Int(n)) => n.to_i64().is_none_or(|n| n >= 0),
                    _ => text::is_call(node, self.version),
                };
                if !fits {
                    self.wrong(node, what, "a whole number that is not negative");
                }
            }
            Shape::Range => {
                if text::range(node).is_none() && !text::is_call(node, self.version) {
                    self.wrong(
                        node,
                        what,
                        "a list of a lower bound and an upper bound, such as `[0, UNBOUNDED]`",
                    );
                }
            }
            Shape::Words(words) => self.words(node, words(self.version), what),
            Shape::Type(kind) => match node.typed(Schema::Core) {
                Some(Typed::Str(name)) if !name.is_empty() => (self.types)(kind, node),
                Some(Typed::Null) => self.empty(node, what, key, kind.a()),
                _ => self.wrong(node, what, &format!("the name of {}", kind.a())),
            },
            Shape::Types(kind) => match node.as_sequence() {
                Some(items) => {
                    for item in items {
                        self.node(item, &Shape::Type(kind), what, item.span);
                    }
                }
                None => self.wrong(node, what, &format!("a list of {}s", kind.word())),
            },
            Shape::Texts => match node.as_sequence() {
                // The grammar of a step shows one name, its table a list (2.0, 13.2.2).
                None if !self.version.is_simple()
                    && matches!(what, "on_success" | "on_failure")
                    && matches!(node.typed(Schema::Core), Some(Typed::Str(_))) => {}
                Some(items) => {
                    for item in items {
                        self.text(item, what, item.span);
                    }
                }
                None => self.wrong(node, what, "a list of strings"),
            },
            Shape::Map(inner) => self.map(node, inner, what, key),
            Shape::Ordered(inner) => self.ordered(node, inner, what, key),
            Shape::Either(inner) => match node.as_mapping() {
                // 1.x shows policies both ways; 2.0 has a list.
                Some(_) if self.version.is_simple() => self.map(node, inner, what, key),
                _ => self.ordered(node, inner, what, key),
            },
            Shape::List(inner) => match node.as_sequence() {
                Some(items) => {
                    for item in items {
                        self.node(item, inner, what, item.span);
                    }
                }
                None if node.is_null(Schema::Core) => self.empty(node, what, key, "a list"),
                None => self.wrong(node, what, "a list"),
            },
            Shape::Entity(entity) => self.entity(node, entity, what, key),
            Shape::Short(entity) => {
                let short = matches!(node.typed(Schema::Core), Some(Typed::Str(_)));
                if !short {
                    self.entity(node, entity, what, key);
                }
            }
            Shape::ShortType(kind, entity) => match node.typed(Schema::Core) {
                Some(Typed::Str(_)) => self.node(node, &Shape::Type(kind), what, key),
                _ => self.entity(node, entity, what, key),
            },
            Shape::Loose(entity) => {
                if let Some(map) = node.as_mapping()
                    && (map.is_empty() || is_of(map, entity))
                    && !text::is_call(node, self.version)
                {
                    self.entity(node, entity, what, key);
                }
            }
            Shape::Values => match node.as_mapping() {
                Some(_) => {}
                None if node.is_null(Schema::Core) => self.empty(node, what, key, "a map"),
                None => self.wrong(node, what, "a map"),
            },
            Shape::Metadata => self.metadata(node, what, key),
        }
    }

    fn text(&mut self, node: &Node, what: &str, key: Span) {
        match node.typed(Schema::Core) {
            Some(Typed::Str(_)) => {}
            Some(Typed::Null) => self.empty(node, what, key, "a string"),
            // In 1.x, numbers are written without quotes in many places where the text is meant.
            Some(_) if self.version.is_simple() && what != "description" => {}
            _ => self.wrong(node, what, "a string"),
        }
    }

    fn version(&mut self, node: &Node, what: &str) {
        let fits = match node.typed(Schema::Core) {
            Some(Typed::Str(text)) => text::Version::parse(&text).is_some(),
            // `1.0` without quotes is what the examples of the standard say.
            Some(Typed::Float(_) | Typed::Int(_)) => {
                node.as_str().and_then(text::Version::parse).is_some()
                    || matches!(node.typed(Schema::Core), Some(Typed::Int(_)))
            }
            _ => false,
        };
        if !fits {
            self.wrong(node, what, "a version, such as `1.2.0`");
        }
    }

    fn words(&mut self, node: &Node, words: &[&str], what: &str) {
        let single = node.as_str().map(|_| std::slice::from_ref(node));
        let items = match (node.as_sequence(), single) {
            (Some(items), _) => items,
            (None, Some(item)) if what == "status" => item,
            _ => {
                self.wrong(node, what, "a list of words");
                return;
            }
        };
        for item in items {
            let word = item.as_str().unwrap_or_default();
            if words.contains(&word) || what == "status" && words.contains(&&*word.to_lowercase()) {
                continue;
            }
            let known: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let help = suggest::did_you_mean(word, words.iter().copied());
            let help = help.unwrap_or_else(|| format!("use {}", known.join(" or ")));
            let message = format!(
                "`{what}` does not have the word `{word}` in {}",
                self.version
            );
            let diagnostic = Diagnostic::error("tosca-value", message).help(help);
            self.diagnostics.push(diagnostic.at(item.used_at()));
        }
    }

    fn metadata(&mut self, node: &Node, what: &str, key: Span) {
        let Some(map) = node.as_mapping() else {
            if node.is_null(Schema::Core) {
                self.empty(node, what, key, "a map");
            } else {
                self.wrong(node, what, "a map");
            }
            return;
        };
        if !self.version.is_simple() {
            return;
        }
        for (name, entry) in map.named() {
            if entry.value.as_str().is_none() {
                self.wrong(&entry.value, name, "a string");
            } else if &**name == "template_version" {
                self.version(&entry.value, name);
            }
        }
    }

    fn map(&mut self, node: &Node, inner: &Shape, what: &str, key: Span) {
        let Some(map) = node.as_mapping() else {
            if node.is_null(Schema::Core) {
                self.empty(node, what, key, "a map");
            } else {
                self.wrong(node, what, "a map");
            }
            return;
        };
        for entry in &map.entries {
            self.named(entry, inner, what);
        }
    }

    fn ordered(&mut self, node: &Node, inner: &Shape, what: &str, key: Span) {
        let Some(items) = node.as_sequence() else {
            if node.is_null(Schema::Core) {
                self.empty(node, what, key, "a list");
            } else {
                let form =
                    format!("a list, each item of the form `- name: ...`; `{what}` has an order");
                self.wrong(node, what, &form);
            }
            return;
        };
        for item in items {
            match item.as_mapping().map(|map| map.entries.as_slice()) {
                Some([entry]) => self.named(entry, inner, what),
                // 1.x lets a requirement be a map whose other keys are those of the assignment.
                Some([first, ..]) => {
                    let message =
                        format!("an item of `{what}` has one name, with the rest below it");
                    let diagnostic = Diagnostic::error("tosca-shape", message)
                        .help("indent the other keys further than the name");
                    self.diagnostics.push(diagnostic.at(first.key.span));
                }
                _ => self.wrong(item, what, "a list of maps with one name each"),
            }
        }
    }

    /// An entry that somebody gave a name.
    fn named(&mut self, entry: &Entry, inner: &Shape, what: &str) {
        match entry.key.typed(Schema::Core) {
            Some(Typed::Str(name)) if !name.is_empty() => {
                self.node(&entry.value, inner, &name, entry.key.span);
            }
            Some(Typed::Str(_)) => {
                let message = format!("a name in `{what}` is empty");
                let diagnostic = Diagnostic::error("tosca-name", message).help("give it a name");
                self.diagnostics.push(diagnostic.at(entry.key.span));
            }
            found => {
                let word = entry.key.as_str().unwrap_or_default();
                let is = found.map_or("a collection", |typed| typed.describe());
                let message = format!("a name in `{what}` must be a string, and `{word}` is {is}");
                let diagnostic = Diagnostic::error("tosca-name", message).help("put it in quotes");
                self.diagnostics.push(diagnostic.at(entry.key.span));
            }
        }
    }

    fn entity(&mut self, node: &Node, entity: &Entity, what: &str, key: Span) {
        let empty = Mapping::default();
        let map = match node.as_mapping() {
            Some(map) => map,
            None if node.is_null(Schema::Core) => &empty,
            // Packages for network functions write `[]` for an operation about which there is nothing to say.
            None if self.version.is_simple()
                && node.as_sequence().is_some_and(<[Node]>::is_empty) =>
            {
                let message = format!("`{what}` is an empty list, and {} is a map", entity.name);
                let diagnostic = Diagnostic::warning("tosca-shape", message)
                    .help("leave out the brackets, or write `{}`");
                self.diagnostics.push(diagnostic.at(node.used_at()));
                &empty
            }
            None => {
                self.wrong(node, what, &format!("a map: {}", entity.name));
                return;
            }
        };
        for entry in &map.entries {
            self.key(entry, entity);
        }
        if let (Some(checksum), None) = (map.entry("checksum"), map.get("checksum_algorithm")) {
            let message = format!("`{what}` has a `checksum` and no `checksum_algorithm`");
            let diagnostic = Diagnostic::error("tosca-missing-key", message)
                .help("name the algorithm, such as `SHA-256`");
            self.diagnostics.push(diagnostic.at(checksum.key.span));
        }
        for must in entity.keys {
            let due = must.must.is_some_and(|from| from <= self.version);
            // A copy has what it copies.
            let copies =
                map.get("copy").is_some() && entity.keys.iter().any(|key| key.name == "copy");
            if due && must.is_in(self.version) && map.get(must.name).is_none() && !copies {
                let message = format!("`{what}` has no `{}`", must.name);
                let help = format!("{} must have the key `{}`", entity.name, must.name);
                let diagnostic = Diagnostic::error("tosca-missing-key", message).help(help);
                self.diagnostics.push(diagnostic.at(key));
            }
        }
    }

    fn key(&mut self, entry: &Entry, entity: &Entity) {
        let Some(Typed::Str(name)) = entry.key.typed(Schema::Core) else {
            self.unknown(entry, entity, entry.key.as_str().unwrap_or_default());
            return;
        };
        let listed = entity.keys.iter().find(|key| key.name == &*name);
        if let Some(key) = listed
            && key.is_in(self.version)
        {
            self.node(&entry.value, &key.shape, &name, entry.key.span);
            return;
        }
        if let Some((rest, until)) = &entity.rest
            && self.version <= *until
            && listed.is_none()
        {
            self.named(entry, rest, entity.name);
            return;
        }
        self.unknown(entry, entity, &name);
    }

    fn unknown(&mut self, entry: &Entry, entity: &Entity, name: &str) {
        let elsewhere = entity.keys.iter().find(|key| key.name == name);
        let help = match elsewhere {
            Some(key) => Some(self.versions(key, entity)),
            None => {
                let keys = entity.keys.iter().filter(|key| key.is_in(self.version));
                let names: Vec<&str> = keys.map(|key| key.name).collect();
                let near = suggest::did_you_mean(name, names.iter().copied());
                near.or_else(|| Some(format!("its keys are: {}", names.join(", "))))
            }
        };
        let message = format!("{} has no key `{name}` in {}", entity.name, self.version);
        let diagnostic = Diagnostic::error("tosca-unknown-key", message).maybe_help(help);
        self.diagnostics.push(diagnostic.at(entry.key.span));
    }

    /// Which versions have a key that this one has not.
    fn versions(&self, key: &Key, entity: &Entity) -> String {
        if key.from > self.version {
            return format!("`{}` came with {}", key.name, key.from);
        }
        let same = |other: &&Key| {
            other.is_in(self.version)
                && !key.is_in(self.version)
                && other.from > key.to
                && std::mem::discriminant(&other.shape) == std::mem::discriminant(&key.shape)
        };
        let renamed = |name: &str| match name {
            "topology_template" => Some("service_template"),
            "constraints" => Some("validation"),
            "occurrences" => Some("count_range"),
            "valid_target_types" => Some("valid_capability_types"),
            "valid_source_types" => Some("valid_source_node_types"),
            "preconditions" => Some("precondition"),
            "event_type" => Some("event"),
            "namespace_prefix" => Some("namespace"),
            "file" => Some("url"),
            _ => None,
        };
        let has = |name: &&str| {
            let mut keys = entity.keys.iter();
            keys.any(|other| other.name == *name && other.is_in(self.version))
        };
        match renamed(key.name).filter(has) {
            Some(name) => format!("since {} it is `{name}`", Version::V2_0),
            None if entity
                .keys
                .iter()
                .any(|other| same(&other) && other.name == key.name) =>
            {
                format!("`{}` has another form in {}", key.name, self.version)
            }
            None => format!("`{}` was removed after {}", key.name, key.to),
        }
    }

    /// Something that has a form, but not this one.
    pub fn wrong(&mut self, node: &Node, what: &str, form: &str) {
        let is = node.describe(Schema::Core);
        let message = format!("`{what}` must be {form}, not {is}");
        let diagnostic = Diagnostic::error("tosca-shape", message);
        self.diagnostics.push(diagnostic.at(node.used_at()));
    }

    /// Nothing where something must be. 1.x does not say whether a section may be empty, and files have such.
    fn empty(&mut self, node: &Node, what: &str, key: Span, form: &str) {
        let at = if node.span.is_empty() { key } else { node.span };
        let message = format!("`{what}` is empty and must be {form}");
        let diagnostic = if self.version.is_simple() {
            Diagnostic::warning("tosca-empty", message)
        } else {
            Diagnostic::error("tosca-empty", message)
        };
        let help = "leave the key out, or fill it";
        self.diagnostics.push(diagnostic.help(help).at(at));
    }
}

/// Whether a map has keys of an entity, whatever else it has.
pub fn is_of(map: &Mapping, entity: &Entity) -> bool {
    let mut named = map.named();
    named.any(|(name, _)| entity.keys.iter().any(|key| key.name == &**name))
}

/// The truth value that a word was in YAML 1.1, which many parsers of TOSCA 1.x still read, unless the word is in quotes.
pub fn old_boolean(node: &Node, version: Version) -> Option<bool> {
    let plain = matches!(&node.kind, Kind::Scalar(scalar) if scalar.style == Style::Plain);
    if !version.is_simple() || !plain {
        return None;
    }
    match &*node.as_str()?.to_lowercase() {
        "yes" | "on" => Some(true),
        "no" | "off" => Some(false),
        _ => None,
    }
}

/// Whether a node is a boolean: 2.0 takes `true` and `false` alone, 1.x what YAML takes.
pub fn is_boolean(node: &Node, version: Version) -> bool {
    match node.typed(Schema::Core) {
        Some(Typed::Bool(_)) if version.is_simple() => true,
        Some(Typed::Bool(_)) => matches!(node.as_str(), Some("true" | "false")),
        _ => false,
    }
}
