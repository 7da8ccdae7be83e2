//! What all objects have: names, namespaces, labels and annotations.

use locus_core::{Diagnostic, suggest};

use super::access::Access as _;
use super::object::{Label, Object, Scope};
use super::{release, text};
use crate::yaml::{Node, Schema};

/// What the name of an object must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// A name of DNS.
    Subdomain,
    /// A label of DNS.
    Label,
    /// A label of DNS that starts with a letter.
    Rfc1035,
    /// A part of a path.
    Path,
}

/// The rule for the names of a kind.
fn rule(object: &Object, release: u8) -> Name {
    match (object.group(), &*object.kind.text) {
        ("", "Namespace") | ("apps", "StatefulSet") => Name::Label,
        // Since 1.36, the name of a service may start with a digit.
        ("", "Service") if release < 36 => Name::Rfc1035,
        ("", "Service") => Name::Label,
        ("rbac.authorization.k8s.io" | "certificates.k8s.io", _) => Name::Path,
        // The server looks at nothing else of their names.
        ("policy", "PodDisruptionBudget") => Name::Path,
        ("networking.k8s.io", "IPAddress") | ("internal.apiserver.k8s.io", _) => Name::Path,
        _ => Name::Subdomain,
    }
}

const SUBDOMAIN: &str = "use lower-case letters, digits, `-` and `.`, starting and ending with a letter or digit, at most 253 characters";
const LABEL: &str = "use lower-case letters, digits and `-`, starting and ending with a letter or digit, at most 63 characters";
const RFC1035: &str =
    "use lower-case letters, digits and `-`, starting with a letter, at most 63 characters";
const PATH: &str = "leave out `/` and `%`";

impl Name {
    fn accepts(self, name: &str) -> bool {
        match self {
            Name::Subdomain => text::is_dns_subdomain(name),
            Name::Label => text::is_dns_label(name),
            Name::Rfc1035 => text::is_rfc1035_label(name),
            Name::Path => text::is_path_segment(name),
        }
    }

    fn help(self) -> &'static str {
        match self {
            Name::Subdomain => SUBDOMAIN,
            Name::Label => LABEL,
            Name::Rfc1035 => RFC1035,
            Name::Path => PATH,
        }
    }
}

/// Checks the metadata of an object.
pub(crate) fn check(object: &Object, release: u8, diagnostics: &mut Vec<Diagnostic>) {
    let Some(metadata) = object.node.some("metadata") else {
        nameless(object, object.kind.span, diagnostics);
        return;
    };
    let rule = rule(object, release);
    let kind = &object.kind.text;
    match (&object.name, metadata.text_of("generateName")) {
        (Some(name), _) => {
            if !rule.accepts(&name.text) {
                let message = format!("`{}` is not a valid name of a {kind}", name.text);
                let diagnostic = Diagnostic::error("k8s-name", message).at(name.span);
                diagnostics.push(diagnostic.help(rule.help()));
            } else if let Some(most) = longest(object)
                && name.text.len() > most
            {
                let message = format!(
                    "the name `{}` has {} characters; that of a {kind} has at most {most}",
                    name.text,
                    name.text.len()
                );
                diagnostics.push(Diagnostic::error("k8s-name", message).at(name.span));
            }
        }
        (None, Some(prefix)) if !prefix.text.is_empty() => {
            // Letters and digits are added to it.
            if !rule.accepts(&format!("{}x", prefix.text)) {
                let message = format!("no valid name of a {kind} starts with `{}`", prefix.text);
                let diagnostic = Diagnostic::error("k8s-name", message).at(prefix.span);
                diagnostics.push(diagnostic.help(rule.help()));
            }
        }
        (None, _) => {
            let given = metadata.get("name");
            let at = given.map_or(object.kind.span, Node::used_at);
            // A name of another type was reported as that.
            let nothing = |name: &Node| {
                name.is_null(Schema::GoYaml2)
                    || name.text_at().is_some_and(|text| text.text.is_empty())
            };
            if given.is_none_or(nothing) {
                nameless(object, at, diagnostics);
            }
        }
    }
    if let Some(namespace) = metadata.text_of("namespace") {
        if object.scope == Scope::Cluster && !namespace.text.is_empty() {
            let message = format!("a {kind} is not in a namespace");
            let diagnostic = Diagnostic::warning("k8s-namespace", message).at(namespace.span);
            diagnostics.push(diagnostic.help("remove `namespace`: it has no effect"));
        } else if !namespace.text.is_empty() && !text::is_dns_label(&namespace.text) {
            let message = format!("`{}` is not a valid name of a namespace", namespace.text);
            let diagnostic = Diagnostic::error("k8s-name", message).at(namespace.span);
            diagnostics.push(diagnostic.help(LABEL));
        }
    }
    labels(&object.labels, diagnostics);
    if object.is("", "Namespace") {
        standards(&object.labels, diagnostics);
    }
    annotations(&object.annotations, diagnostics);
}

/// Checks the labels of a namespace that ask for Pod Security Standards; with others the server refuses it.
fn standards(labels: &[Label], diagnostics: &mut Vec<Diagnostic>) {
    const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];
    for label in labels {
        let Some(key) = label.key.text.strip_prefix(super::build::STANDARDS) else {
            continue;
        };
        let value = &*label.value.text;
        match key {
            "enforce" | "audit" | "warn" if !LEVELS.contains(&value) => {
                let message = format!("`{value}` is not a Pod Security Standard");
                let help = suggest::did_you_mean(value, LEVELS);
                let help = help
                    .unwrap_or_else(|| "use `privileged`, `baseline` or `restricted`".to_owned());
                let diagnostic = Diagnostic::error("k8s-label", message).at(label.value.span);
                diagnostics.push(diagnostic.help(help));
            }
            "enforce-version" | "audit-version" | "warn-version"
                if value != "latest" && release::parse_label(value).is_none() =>
            {
                let message = format!("`{value}` is not the version of a Pod Security Standard");
                let diagnostic = Diagnostic::error("k8s-label", message).at(label.value.span);
                diagnostics.push(diagnostic.help("use `latest`, or a release as in `v1.30`"));
            }
            _ => {}
        }
    }
}

/// The longest name that an object of a kind can have beside the rule: others add to it.
fn longest(object: &Object) -> Option<usize> {
    match (object.group(), &*object.kind.text) {
        ("batch", "CronJob") => Some(52),
        ("batch", "Job") => Some(63),
        _ => None,
    }
}

fn nameless(object: &Object, at: locus_core::Span, diagnostics: &mut Vec<Diagnostic>) {
    // What is only asked of the server has no name.
    if object.kind.text.ends_with("Review") {
        return;
    }
    let message = format!("this {} has no name", object.kind.text);
    let diagnostic = Diagnostic::error("k8s-missing-field", message).at(at);
    diagnostics.push(diagnostic.help("add `metadata.name`"));
}

const VALUE: &str = "use letters, digits, `-`, `_` and `.`, starting and ending with a letter or digit, at most 63 characters";
const KEY: &str = "use a name of at most 63 letters, digits, `-`, `_` and `.`, with a domain and `/` before it if you like";

/// Checks the keys and values of labels.
pub(crate) fn labels(labels: &[Label], diagnostics: &mut Vec<Diagnostic>) {
    for label in labels {
        if !text::is_qualified_name(&label.key.text) {
            let message = format!("`{}` is not a valid key of a label", label.key.text);
            let diagnostic = Diagnostic::error("k8s-label", message).at(label.key.span);
            diagnostics.push(diagnostic.help(KEY));
        }
        if !text::is_label_value(&label.value.text) {
            let shown: String = label.value.text.chars().take(80).collect();
            let message = format!("`{shown}` is not a valid value of a label");
            let diagnostic = Diagnostic::error("k8s-label", message).at(label.value.span);
            diagnostics.push(diagnostic.help(VALUE));
        }
    }
}

/// All annotations of an object together have at most so many bytes.
const ANNOTATIONS: usize = 256 * 1024;

/// Checks the keys of annotations, and how much they hold.
pub(crate) fn annotations(annotations: &[Label], diagnostics: &mut Vec<Diagnostic>) {
    let mut bytes = 0;
    for annotation in annotations {
        bytes += annotation.key.text.len() + annotation.value.text.len();
        if !text::is_qualified_name(&annotation.key.text.to_lowercase()) {
            let message = format!(
                "`{}` is not a valid key of an annotation",
                annotation.key.text
            );
            let diagnostic = Diagnostic::error("k8s-label", message).at(annotation.key.span);
            diagnostics.push(diagnostic.help(KEY));
        }
    }
    if let Some(first) = annotations.first().filter(|_| bytes > ANNOTATIONS) {
        let message =
            format!("the annotations have {bytes} bytes; at most {ANNOTATIONS} are allowed");
        diagnostics.push(Diagnostic::error("k8s-label", message).at(first.key.span));
    }
}
