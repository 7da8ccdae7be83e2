//! Objects as they are written, with the places of all that later analyses read.
//!
//! An [`Object`] owns the part of the file that it is. What network policies, roles or a scheduler need of it is read from
//! [`Object::node`] with the functions of [`super::access`], or from the pods of [`super::model`], never from the text again.

use std::sync::Arc;

use locus_core::Span;

use super::access::Access as _;
use crate::yaml::Node;

/// A text and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text.
    pub text: Arc<str>,
    /// Where it is written.
    pub span: Span,
}

/// A label or an annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its key.
    pub key: Text,
    /// Its value.
    pub value: Text,
}

/// Whether objects of a kind are in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// They are.
    Namespaced,
    /// They are of the whole cluster.
    Cluster,
    /// It is not known, as the kind is not.
    Unknown,
}

/// An object of Kubernetes.
#[derive(Clone, Debug)]
pub struct Object {
    /// `apiVersion`, as in `apps/v1`.
    pub api_version: Text,
    /// `kind`.
    pub kind: Text,
    /// `metadata.name`; none when it is missing, or generated.
    pub name: Option<Text>,
    /// The namespace it is in: the one it names, or the one that holds for all; none when it is of the whole cluster.
    pub namespace: Option<Arc<str>>,
    /// Its labels.
    pub labels: Vec<Label>,
    /// Its annotations.
    pub annotations: Vec<Label>,
    /// Whether objects of its kind are in namespaces.
    pub scope: Scope,
    /// The whole of it.
    pub node: Node,
}

impl Object {
    /// Reads what all objects have; none when it is no map with `apiVersion` and `kind`.
    pub fn read(node: Node) -> Option<Object> {
        let text = |key: &str| node.get(key).and_then(Node::text_at);
        let (api_version, kind) = (text("apiVersion")?, text("kind")?);
        let metadata = node.get("metadata");
        let name = metadata
            .and_then(|metadata| metadata.text_of("name"))
            .filter(|name| !name.text.is_empty());
        let labels = metadata.map_or_else(Vec::new, |metadata| metadata.labels("labels"));
        let annotations = metadata.map_or_else(Vec::new, |metadata| metadata.labels("annotations"));
        Some(Object {
            api_version,
            kind,
            name,
            namespace: None,
            labels,
            annotations,
            scope: Scope::Unknown,
            node,
        })
    }

    /// The group of its kind: `apps` of `apps/v1`, and nothing of `v1`.
    pub fn group(&self) -> &str {
        group(&self.api_version.text)
    }

    /// Its name, or what it is called without one.
    pub fn called(&self) -> &str {
        match &self.name {
            Some(name) => &name.text,
            None => self
                .node
                .get("metadata")
                .and_then(|metadata| metadata.str_of("generateName"))
                .unwrap_or("(unnamed)"),
        }
    }

    /// What tells it from all others: group, kind, namespace and name.
    pub fn identity(&self) -> String {
        let namespace = self.namespace.as_deref().unwrap_or("");
        let (group, kind) = (self.group(), &self.kind.text);
        format!("{group}/{kind}/{namespace}/{}", self.called())
    }

    /// Where a finding about the whole object points: its name, or its kind.
    pub fn span(&self) -> Span {
        self.name.as_ref().map_or(self.kind.span, |name| name.span)
    }

    /// Whether it is of a kind in a group, whatever the version.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        &*self.kind.text == kind && self.group() == group
    }

    /// Its `spec`.
    pub fn spec(&self) -> Option<&Node> {
        self.node.get("spec")
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        find(&self.labels, key)
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        find(&self.annotations, key)
    }
}

/// The value of a label among some.
pub fn find<'l>(labels: &'l [Label], key: &str) -> Option<&'l str> {
    let found = labels.iter().rev().find(|label| &*label.key.text == key);
    found.map(|label| &*label.value.text)
}

/// The group of an `apiVersion`.
pub fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}
