//! What the server refuses and no schema says: ranges, syntax, fields that exclude or need each other.
//!
//! Each check is about one definition of the schema, wherever it is used: a container in a Pod, a Deployment or the template
//! of a custom kind alike. What relates several parts of a configuration to each other is not checked here but by rules.

mod access_control;
mod amounts;
mod cluster;
mod config;
mod devices;
mod expressions;
mod flow;
pub(super) mod needed;
mod network;
mod pod;
mod scale;
mod schemas;
mod selector;
mod storage;
mod workload;

use locus_core::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use super::access::Access as _;
use super::object::Text;
use super::schema::{Definition, Steps, list};
use super::text;
use crate::yaml::Node;

/// A map of an object, and where it is.
pub(crate) struct Here<'n, 's, 'd> {
    /// The map.
    pub(crate) node: &'n Node,
    /// Its key, or itself.
    pub(crate) at: Span,
    /// The way to it.
    pub(crate) steps: &'s Steps<'n>,
    /// The release that is deployed to.
    pub(crate) release: u8,
    /// What is wrong.
    pub(crate) diagnostics: &'d mut Vec<Diagnostic>,
}

/// Checks a map that is described by a definition.
pub(crate) fn check(definition: &Definition, here: &mut Here<'_, '_, '_>) {
    let name = definition.name;
    needed::check(definition.group, name, here);
    cluster::check(definition.group, name, here);
    expressions::check(definition.group, name, here);
    match definition.group {
        "core" => {
            pod::check(name, here);
            network::service(name, here);
            config::check(name, here);
            storage::check(name, here);
        }
        "apps" | "batch" => workload::check(name, here),
        "networking" => network::policy(name, here),
        "policy" | "autoscaling" => scale::check(name, here),
        "rbac" => access_control::check(name, here),
        "meta" => selector::check(name, here),
        "flowcontrol" => flow::check(name, here),
        "resource" => devices::check(name, here),
        "apiextensions" => config::definition(name, here),
        _ => {}
    }
}

impl Here<'_, '_, '_> {
    /// The way to a field.
    fn path(&self, key: &str) -> String {
        match self.steps.path() {
            path if path.is_empty() => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Says that a value is not allowed.
    fn value(&mut self, message: String, span: Span, help: impl Into<String>) {
        self.push(Diagnostic::error("k8s-value", message).at(span).help(help));
    }

    /// Says that fields do not go together.
    fn fields(&mut self, message: String, span: Span, help: impl Into<String>) {
        self.push(Diagnostic::error("k8s-fields", message).at(span).help(help));
    }

    /// Where the key of a field is, or the map.
    fn key_span(&self, key: &str) -> Span {
        self.node
            .some_entry(key)
            .map_or(self.at, |entry| entry.key.span)
    }

    /// The given ones of some fields.
    fn given<'k>(&self, keys: &[&'k str]) -> Vec<&'k str> {
        let keys = keys.iter().copied();
        keys.filter(|key| self.node.some(key).is_some()).collect()
    }

    /// Says that a required field is missing.
    fn missing(&mut self, key: &str) {
        let message = format!("{} lacks the required field `{key}`", self.steps.subject());
        let at = self.at;
        self.push(Diagnostic::error("k8s-missing-field", message).at(at));
    }

    /// Requires a list, map or text to be there and not empty.
    fn not_empty(&mut self, key: &str) -> bool {
        let Some(node) = self.node.some(key) else {
            self.missing(key);
            return false;
        };
        let empty = match (node.as_sequence(), node.as_mapping()) {
            (Some(items), _) => items.is_empty(),
            (_, Some(map)) => map.is_empty(),
            _ => node.as_str() == Some(""),
        };
        if empty {
            let message = format!("`{}` must not be empty", self.path(key));
            let span = self.key_span(key);
            self.value(message, span, format!("give `{key}` a value"));
        }
        !empty
    }

    /// Requires a number to be in a range, when it is given.
    fn range(&mut self, key: &str, low: i64, high: i64) {
        let Some(number) = self.node.int_of(key) else {
            return;
        };
        if (low..=high).contains(&number) {
            return;
        }
        let path = self.path(key);
        let (message, help) = if high == i64::MAX {
            let help = format!("use a number of at least {low}");
            (format!("`{path}` is {number}, below {low}"), help)
        } else {
            let help = format!("use a number from {low} to {high}");
            (
                format!("`{path}` is {number}, outside {low} to {high}"),
                help,
            )
        };
        let span = self.node.span_of(key);
        self.value(message, span, help);
    }

    /// Requires a number not to be below zero, when it is given.
    fn not_negative(&mut self, keys: &[&str]) {
        for key in keys {
            self.range(key, 0, i64::MAX);
        }
    }

    /// Requires at most one of some fields.
    fn at_most_one(&mut self, keys: &[&str]) {
        if let [first, second, ..] = self.given(keys).as_slice() {
            let place = self.steps.subject();
            let message = format!("{place} has both `{first}` and `{second}`; only one is allowed");
            let span = self.key_span(second);
            self.fields(message, span, format!("remove `{first}` or `{second}`"));
        }
    }

    /// Requires the items of a list to have different texts in a field.
    fn distinct(&mut self, list: &str, field: &str) {
        let mut before: FxHashSet<&str> = FxHashSet::default();
        for item in self.node.items(list) {
            if let Some(text) = item.str_of(field).filter(|text| !text.is_empty())
                && !before.insert(text)
            {
                let message = format!("`{text}` is in `{}` twice", self.path(list));
                self.fields(message, item.span_of(field), "remove or rename one of them");
            }
        }
    }

    /// Requires exactly one of some fields.
    fn exactly_one(&mut self, keys: &[&str]) {
        if self.given(keys).is_empty() {
            let message = format!("{} needs one of {}", self.steps.subject(), list(keys));
            let at = self.at;
            self.push(Diagnostic::error("k8s-missing-field", message).at(at));
        } else {
            self.at_most_one(keys);
        }
    }

    /// Requires a text to be of a syntax, when it is given and not empty.
    fn syntax(&mut self, key: &str, accepts: fn(&str) -> bool, what: &str, help: &str) {
        if let Some(text) = self.node.text_of(key).filter(|text| !text.text.is_empty()) {
            self.text_syntax(key, &text, accepts, what, help);
        }
    }

    fn text_syntax(
        &mut self,
        key: &str,
        text: &Text,
        accepts: fn(&str) -> bool,
        what: &str,
        help: &str,
    ) {
        if !accepts(&text.text) {
            let shown: String = text.text.chars().take(80).collect();
            let message = format!("`{shown}` is not {what}, as `{}` must be", self.path(key));
            self.value(message, text.span, help);
        }
    }

    /// Requires one of some words, when it is given and not empty.
    fn word(&mut self, key: &str, words: &[&str]) {
        let Some(word) = self.node.text_of(key) else {
            return;
        };
        if !word.text.is_empty() && !words.contains(&&*word.text) {
            let message = format!("`{}` is not allowed for `{}`", word.text, self.path(key));
            let near = locus_core::suggest::did_you_mean(&word.text, words.iter().copied());
            let help = near.unwrap_or_else(|| format!("use {}", list(words)));
            self.value(message, word.span, help);
        }
    }

    /// Requires a label of DNS, when it is given.
    fn dns_label(&mut self, key: &str) {
        self.syntax(key, text::is_dns_label, "a DNS label", DNS_LABEL);
    }

    /// Requires a name of DNS, when it is given.
    fn dns_subdomain(&mut self, key: &str) {
        self.syntax(key, text::is_dns_subdomain, "a DNS name", DNS_SUBDOMAIN);
    }

    /// Requires a number from 1 to 65535 or the name of a port, when it is given.
    fn port_or_name(&mut self, key: &str) {
        let Some(node) = self.node.some(key) else {
            return;
        };
        match node.text_at() {
            Some(name) => self.text_syntax(
                key,
                &name,
                text::is_port_name,
                "the name of a port",
                PORT_NAME,
            ),
            None => self.range(key, 1, 65535),
        }
    }
}

const DNS_LABEL: &str =
    "use at most 63 lower-case letters, digits and `-`, starting and ending with a letter or digit";
const DNS_SUBDOMAIN: &str = "use at most 253 lower-case letters, digits, `-` and `.`, starting and ending with a letter or digit";
const PORT_NAME: &str =
    "use at most 15 lower-case letters, digits and `-`, with a letter among them";
