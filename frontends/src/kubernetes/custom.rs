//! A custom resource held against the schema of its definition.
//!
//! The schema is walked as it is written, with what Kubernetes adds to OpenAPI: values that may be a number or text, parts whose
//! unknown fields are kept, embedded objects, and lists that are sets or maps.

use locus_core::values::Number;
use locus_core::{Diagnostic, Span, Value, suggest};
use rustc_hash::FxHashSet;

use super::access::Access as _;
use super::cel::{self, Outcome};
use super::schema::{Steps, list, wrong_kind};
use super::text;
use crate::yaml::{Kind, Mapping, Node, Schema, Typed};

/// Walks a custom resource along its schema.
pub(crate) struct Walker<'n, 'd> {
    steps: Steps<'n>,
    diagnostics: &'d mut Vec<Diagnostic>,
    /// Whether the schema has rules that were not evaluated.
    pub(crate) skipped_rules: bool,
}

impl<'n, 'd> Walker<'n, 'd> {
    pub(crate) fn new(diagnostics: &'d mut Vec<Diagnostic>) -> Self {
        Walker {
            steps: Steps::default(),
            diagnostics,
            skipped_rules: false,
        }
    }

    fn push(&mut self, code: &str, message: String, span: Span, help: Option<String>) {
        let diagnostic = Diagnostic::error(code, message).at(span);
        self.diagnostics.push(diagnostic.maybe_help(help));
    }

    /// Checks a value; `at` is its key, or itself.
    pub(crate) fn value(&mut self, schema: &'n Node, node: &'n Node, at: Span, root: bool) {
        if node.is_null(Schema::GoYaml2) {
            // What is null is not given, unless it may be null.
            return;
        }
        let known = self.diagnostics.len();
        if !self.typed(schema, node, at) {
            return;
        }
        self.limits(schema, node);
        match &node.kind {
            Kind::Mapping(mapping) => self.map(schema, mapping, at, root),
            Kind::Sequence(items) => self.items(schema, items),
            Kind::Scalar(_) => {}
        }
        self.combined(schema, node, at);
        self.rules(schema, node, at, known);
    }

    /// The rules in CEL. What is wrong with the value already is not told again by them.
    fn rules(&mut self, schema: &'n Node, node: &'n Node, at: Span, known: usize) {
        let rules = schema.items("x-kubernetes-validations");
        if rules.is_empty() || self.diagnostics.len() > known {
            return;
        }
        for rule in rules {
            match cel::evaluate(rule, schema, node) {
                Outcome::Holds => {}
                Outcome::Unknown => self.skipped_rules = true,
                Outcome::Broken(message) => {
                    let message = format!("{}: {message}", self.steps.subject());
                    let help = rule.str_of("rule");
                    let help = help.map(|rule| format!("the rule is `{}`", rule.trim()));
                    self.push("k8s-value", message, at, help);
                }
            }
        }
    }

    /// Whether a value is of the type that its schema says; if not, that is reported.
    fn typed(&mut self, schema: &Node, node: &Node, at: Span) -> bool {
        let int_or_text = schema.bool_of("x-kubernetes-int-or-string") == Some(true);
        let wanted = match (schema.str_of("type"), int_or_text) {
            (_, true) => "an integer or a string",
            (Some("object"), _) => "a map",
            (Some("array"), _) => "a list",
            (Some("string"), _) => "a string",
            (Some("integer"), _) => "an integer",
            (Some("number"), _) => "a number",
            (Some("boolean"), _) => "a boolean",
            _ => return true,
        };
        let found = match node.typed(Schema::GoYaml2) {
            None => node.describe(Schema::GoYaml2),
            Some(Typed::Float(n)) if n.fract() == 0.0 => "an integer",
            Some(typed) => typed.describe(),
        };
        let fits = found == wanted
            || (wanted == "a number" && found == "an integer")
            || (int_or_text && matches!(found, "an integer" | "a string"));
        if !fits {
            let wrong = wrong_kind(&self.steps, node, wanted, at, wanted == "a string");
            self.diagnostics.push(wrong);
        }
        fits
    }

    fn map(&mut self, schema: &'n Node, mapping: &'n Mapping, at: Span, root: bool) {
        let embedded = root || schema.bool_of("x-kubernetes-embedded-resource") == Some(true);
        let properties = schema.some("properties").and_then(Node::as_mapping);
        let additional = schema.some("additionalProperties");
        let keeps = schema.bool_of("x-kubernetes-preserve-unknown-fields") == Some(true)
            || additional
                .is_some_and(|more| more.as_mapping().is_none() && more.as_str() == Some("true"));
        for (name, entry) in mapping.named() {
            // Metadata is checked like that of all objects.
            if embedded && matches!(&**name, "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let known = properties.and_then(|properties| properties.get(name));
            let below = known.or_else(|| additional.filter(|more| more.as_mapping().is_some()));
            if let Some(below) = below {
                self.steps.key(name);
                self.value(below, &entry.value, entry.key.span, false);
                self.steps.pop();
            } else if !keeps && (properties.is_some() || schema.str_of("type").is_some()) {
                let names = properties.into_iter().flat_map(Mapping::named);
                let names = names.map(|(name, _)| &**name);
                let help = suggest::did_you_mean(name, names);
                let place = self.steps.subject();
                let message = format!("unknown field `{name}` in {place}");
                let help = help
                    .or_else(|| Some("the definition of the kind has no such field".to_owned()));
                self.push("k8s-unknown-field", message, entry.key.span, help);
            }
        }
        for required in schema.items("required").iter().filter_map(Node::as_str) {
            let given = mapping.get(required);
            let has_default = properties
                .and_then(|properties| properties.get(required))
                .is_some_and(|field| field.get("default").is_some());
            if given.is_none_or(|node| node.is_null(Schema::GoYaml2)) && !has_default {
                let message = format!(
                    "{} lacks the required field `{required}`",
                    self.steps.subject()
                );
                self.push("k8s-missing-field", message, at, None);
            }
        }
    }

    fn items(&mut self, schema: &'n Node, items: &'n [Node]) {
        if let Some(below) = schema.some("items") {
            for (at, item) in items.iter().enumerate() {
                self.steps.item(at);
                self.value(below, item, item.used_at(), false);
                self.steps.pop();
            }
        }
        let keys: Vec<&str> = schema
            .items("x-kubernetes-list-map-keys")
            .iter()
            .filter_map(Node::as_str)
            .collect();
        let set = match schema.str_of("x-kubernetes-list-type") {
            Some("map") => false,
            Some("set") => true,
            _ if schema.bool_of("uniqueItems") == Some(true) => true,
            _ => return,
        };
        let mut seen = FxHashSet::default();
        for item in items {
            let text = if set {
                shown(item)
            } else {
                let parts = keys
                    .iter()
                    .map(|key| item.some(key).map(shown).unwrap_or_default());
                parts.collect::<Vec<_>>().join("\u{0}")
            };
            if !seen.insert(text) {
                let message = format!("an item of {} is written twice", self.steps.subject());
                let help = match keys.as_slice() {
                    [] => "remove one of them".to_owned(),
                    keys => format!("items are identified by {}", list(keys)),
                };
                self.push("k8s-value", message, item.used_at(), Some(help));
            }
        }
    }

    /// Enumerations, patterns, ranges and lengths.
    fn limits(&mut self, schema: &Node, node: &Node) {
        let span = node.used_at();
        let subject = self.steps.subject();
        if let Some(broken) = broken(schema, node) {
            let (message, help) = broken.told(&subject);
            self.push("k8s-value", message, span, help);
        }
    }

    /// `allOf`, `anyOf`, `oneOf` and `not`, which only say what values are allowed.
    fn combined(&mut self, schema: &'n Node, node: &'n Node, at: Span) {
        for part in schema.items("allOf") {
            if let Some(message) = refusal(part, node) {
                let message = format!("{}: {message}", self.steps.subject());
                self.push("k8s-value", message, at, None);
            }
        }
        let any = schema.items("anyOf");
        if !any.is_empty() && !any.iter().any(|part| refusal(part, node).is_none()) {
            let message = format!("{} is none of the things it may be", self.steps.subject());
            let why = any.iter().find_map(|part| refusal(part, node));
            self.push(
                "k8s-value",
                message,
                at,
                why.map(|why| format!("for one of them: {why}")),
            );
        }
        let one = schema.items("oneOf");
        let fit = one
            .iter()
            .filter(|part| refusal(part, node).is_none())
            .count();
        if !one.is_empty() && fit != 1 {
            let message = match fit {
                0 => format!("{} is none of the things it may be", self.steps.subject()),
                _ => format!(
                    "{} is several things of which it may be only one",
                    self.steps.subject()
                ),
            };
            let required: Vec<&str> = one
                .iter()
                .filter_map(|part| part.items("required").first()?.as_str())
                .collect();
            let help =
                (!required.is_empty()).then(|| format!("give exactly one of {}", list(&required)));
            self.push("k8s-value", message, at, help);
        }
        if let Some(not) = schema.some("not")
            && refusal(not, node).is_none()
        {
            let message = format!("{} is something it must not be", self.steps.subject());
            self.push("k8s-value", message, at, None);
        }
    }
}

/// A value as text, for comparing.
fn shown(node: &Node) -> String {
    match &node.kind {
        Kind::Scalar(scalar) => scalar.text.to_string(),
        Kind::Sequence(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(","))
        }
        Kind::Mapping(mapping) => {
            let mut pairs: Vec<String> = mapping
                .named()
                .map(|(name, entry)| format!("{name}:{}", shown(&entry.value)))
                .collect();
            pairs.sort_unstable();
            format!("{{{}}}", pairs.join(","))
        }
    }
}

/// A limit that a value is beyond.
enum Broken<'n> {
    Choice(String, Vec<&'n str>),
    Pattern(String, &'n str),
    Least(&'static str, String),
    Most(&'static str, String),
    Format(String, &'static str),
}

impl Broken<'_> {
    fn told(self, subject: &str) -> (String, Option<String>) {
        match self {
            Broken::Choice(text, choices) => {
                let help = suggest::did_you_mean(&text, choices.iter().copied());
                let help = help.unwrap_or_else(|| format!("use {}", list(&choices)));
                (format!("`{text}` is not a value of {subject}"), Some(help))
            }
            Broken::Pattern(text, pattern) => (
                format!("`{text}` does not match the pattern of {subject}"),
                Some(format!("the pattern is `{pattern}`")),
            ),
            Broken::Least(what, least) => (
                format!("{subject} must have {what} of at least {least}"),
                None,
            ),
            Broken::Most(what, most) => (
                format!("{subject} must have {what} of at most {most}"),
                None,
            ),
            Broken::Format(text, what) => (
                format!("`{text}` is not {what}, as {subject} must be"),
                None,
            ),
        }
    }
}

fn number(node: &Node) -> Option<Number> {
    match node.typed(Schema::GoYaml2)? {
        Typed::Int(n) => Number::of(&Value::Int(n)),
        Typed::Float(n) => Number::of(&Value::Float(n)),
        _ => None,
    }
}

/// The first limit of a schema that a value is beyond.
fn broken<'n>(schema: &'n Node, node: &Node) -> Option<Broken<'n>> {
    let text = node.text_at().map(|text| text.text);
    if !schema.items("enum").is_empty() {
        let all = schema.items("enum").iter();
        if !all.clone().any(|choice| shown(choice) == shown(node)) {
            let choices = all.filter_map(Node::as_str).collect();
            return Some(Broken::Choice(shown(node), choices));
        }
    }
    if let (Some(text), Some(pattern)) = (&text, schema.str_of("pattern"))
        && super::regular::finds(pattern, text) == Some(false)
    {
        return Some(Broken::Pattern(text.to_string(), pattern));
    }
    let limit = |key: &str| {
        schema
            .some(key)
            .and_then(|node| Some((number(node)?, node.as_str()?)))
    };
    let exclusive = |key: &str| schema.bool_of(key) == Some(true);
    if let Some(value) = number(node) {
        use std::cmp::Ordering::{Equal, Greater, Less};
        if let Some((least, text)) = limit("minimum") {
            let order = value.compare(&least);
            if order == Less || (order == Equal && exclusive("exclusiveMinimum")) {
                return Some(Broken::Least("a value", text.to_owned()));
            }
        }
        if let Some((most, text)) = limit("maximum") {
            let order = value.compare(&most);
            if order == Greater || (order == Equal && exclusive("exclusiveMaximum")) {
                return Some(Broken::Most("a value", text.to_owned()));
            }
        }
    }
    let (length, least, most, what) = match &node.kind {
        Kind::Sequence(items) => (items.len(), "minItems", "maxItems", "a number of items"),
        Kind::Mapping(map) => (
            map.len(),
            "minProperties",
            "maxProperties",
            "a number of fields",
        ),
        Kind::Scalar(_) => {
            let length = text
                .as_ref()
                .map_or(usize::MAX, |text| text.chars().count());
            (length, "minLength", "maxLength", "a length")
        }
    };
    let bound = |key: &str| schema.int_of(key).and_then(|n| usize::try_from(n).ok());
    if text.is_some() || !matches!(node.kind, Kind::Scalar(_)) {
        if let Some(least) = bound(least).filter(|least| length < *least) {
            return Some(Broken::Least(what, least.to_string()));
        }
        if let Some(most) = bound(most).filter(|most| length > *most) {
            return Some(Broken::Most(what, most.to_string()));
        }
    }
    let text = text?;
    let known = match schema.str_of("format")? {
        "date-time" => (text.parse::<jiff::Timestamp>().is_ok(), "a time"),
        "byte" => (text::is_base64(&text), "base64"),
        "ipv4" | "ipv6" | "ip" => (
            locus_core::values::Address::parse(&text).is_some(),
            "an IP address",
        ),
        "cidr" => (
            locus_core::values::Cidr::parse(&text).is_some(),
            "a CIDR block",
        ),
        _ => return None,
    };
    (!known.0).then(|| Broken::Format(text.to_string(), known.1))
}

/// Why a value does not fit a schema; none when it does, or may be null.
pub(super) fn misfit(schema: &Node, node: &Node) -> Option<String> {
    match node.is_null(Schema::GoYaml2) {
        true => None,
        false => refusal(schema, node),
    }
}

/// Why a value is not allowed by a schema that only restricts values; none when it is.
fn refusal(schema: &Node, node: &Node) -> Option<String> {
    let wanted = schema.str_of("type");
    let found = match node.typed(Schema::GoYaml2) {
        None => node.describe(Schema::GoYaml2),
        Some(Typed::Float(n)) if n.fract() == 0.0 => "an integer",
        Some(typed) => typed.describe(),
    };
    let fits = match wanted {
        Some("object") => found == "a map",
        Some("array") => found == "a list",
        Some("string") => found == "a string",
        Some("integer") => found == "an integer",
        Some("number") => matches!(found, "a number" | "an integer"),
        Some("boolean") => found == "a boolean",
        _ => true,
    };
    if !fits {
        return Some(format!("it must be of type {}", wanted.unwrap_or_default()));
    }
    if let Some(broken) = broken(schema, node) {
        return Some(broken.told("it").0);
    }
    if let Kind::Mapping(mapping) = &node.kind {
        let required = schema.items("required").iter().filter_map(Node::as_str);
        for name in required {
            if mapping.get(name).is_none() {
                return Some(format!("`{name}` is missing"));
            }
        }
        let properties = schema.some("properties").map_or(&[][..], Node::entries);
        for property in properties {
            let value = property.name().and_then(|name| mapping.get(name));
            if let Some(why) = value.and_then(|value| refusal(&property.value, value)) {
                return Some(why);
            }
        }
    }
    if let (Some(items), Kind::Sequence(nodes)) = (schema.some("items"), &node.kind)
        && let Some(why) = nodes.iter().find_map(|node| refusal(items, node))
    {
        return Some(why);
    }
    let any = schema.items("anyOf");
    if !any.is_empty() && any.iter().all(|part| refusal(part, node).is_some()) {
        return Some("it is none of the things it may be".to_owned());
    }
    let one = schema.items("oneOf");
    if !one.is_empty()
        && one
            .iter()
            .filter(|part| refusal(part, node).is_none())
            .count()
            != 1
    {
        return Some("it is not exactly one of the things it may be".to_owned());
    }
    if let Some(why) = schema
        .items("allOf")
        .iter()
        .find_map(|part| refusal(part, node))
    {
        return Some(why);
    }
    let not = schema.some("not")?;
    refusal(not, node)
        .is_none()
        .then(|| "it must not be this".to_owned())
}
