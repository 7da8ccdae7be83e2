//! Names of templates, inputs and types, and where they are used.

use std::collections::BTreeSet;

use super::super::grammar::tables::FILE;
use super::super::grammar::{Shape, TypeKind};
use super::super::version::Version;
use super::{
    GROUP, Held, INPUT, NODE, RELATIONSHIP, STEP, WORDS, WORKFLOW, below, held_at, is_function,
    type_kind, version,
};
use locus_core::Span;

use crate::language::editing::{push, push_last};
use crate::language::{FileText, NameAt, Place};
use crate::yaml::{Kind, Node};

/// The functions whose first argument is a node template.
const OF_NODES: &[&str] = &[
    "get_property",
    "get_attribute",
    "get_artifact",
    "get_operation_output",
    "get_nodes_of_type",
];

/// All names of some files; templates and inputs are those of one file.
pub(in crate::tosca) fn find(files: &[FileText<'_>]) -> Vec<Vec<NameAt>> {
    let mut all: Vec<(Vec<NameAt>, Vec<NameAt>)> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let (mut found, mut perhaps) = (Vec::new(), Vec::new());
        for root in &file.roots {
            let mut finder = Finder {
                version: version(root),
                text: file.text,
                scope: format!("file {number}"),
                found: &mut found,
                perhaps: &mut perhaps,
            };
            finder.walk(root, Held::Entity(&FILE), &mut Vec::new());
        }
        all.push((found, perhaps));
    }
    let sure = all.iter().flat_map(|(found, _)| found);
    let defined: BTreeSet<(usize, String)> = sure
        .filter(|name| name.is_definition())
        .map(|name| (name.kind, name.name.clone()))
        .collect();
    let each = all.into_iter().map(|(mut found, mut perhaps)| {
        perhaps.retain(|name| defined.contains(&(name.kind, name.name.clone())));
        found.append(&mut perhaps);
        // Where a template or a type may be named, a template is meant first.
        found.sort_by_key(|name| {
            let is_type = name.kind < INPUT;
            (name.span.start, is_type, name.kind, !name.is_definition())
        });
        found.dedup();
        found
    });
    each.collect()
}

struct Finder<'f> {
    version: Version,
    text: &'f str,
    scope: String,
    found: &'f mut Vec<NameAt>,
    /// What is the name of a type if there is such a type, and something else if not.
    perhaps: &'f mut Vec<NameAt>,
}

/// The kind of names that keys under a path define.
fn defines(path: &[&str]) -> Option<usize> {
    Some(match path {
        ["topology_template" | "service_template", section, _] => match *section {
            "inputs" => INPUT,
            "node_templates" => NODE,
            "relationship_templates" => RELATIONSHIP,
            "groups" => GROUP,
            "workflows" => WORKFLOW,
            _ => return None,
        },
        [
            "topology_template" | "service_template",
            "workflows",
            _,
            "steps",
            _,
        ] => STEP,
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
        ["workflows", _, "steps", _, "on_success" | "on_failure", ""] => STEP,
        ["workflows", _, "steps", _, "activities", "", "inline"]
        | [
            "workflows",
            _,
            "steps",
            _,
            "activities",
            "",
            "inline",
            "workflow",
        ] => WORKFLOW,
        [
            "substitution_mappings",
            "capabilities" | "requirements",
            _,
            "",
        ] => NODE,
        _ => return None,
    })
}

/// What a name is a name in: the file, and of a step the workflow too.
fn scope(file: &str, kind: usize, path: &[&str]) -> String {
    match (kind, path) {
        (STEP, [_, "workflows", workflow, ..]) => format!("{file} {workflow}"),
        _ => file.to_owned(),
    }
}

/// The kinds of types that the text at a path may name, where something else may stand too.
fn may_name(path: &[&str]) -> &'static [TypeKind] {
    let path = match path {
        ["topology_template" | "service_template", rest @ ..] => rest,
        all => all,
    };
    match path {
        ["node_types", _, "requirements", "", _]
        | [
            "node_types" | "node_templates",
            _,
            "requirements",
            "",
            _,
            "capability",
        ] => &[TypeKind::Capability],
        ["node_templates", _, "requirements", "", _, "relationship"] => &[TypeKind::Relationship],
        ["node_templates", _, "requirements", "", _]
        | ["node_templates", _, "requirements", "", _, "node"]
        | ["group_types", _, "members", ""] => &[TypeKind::Node],
        ["policy_types", _, "targets", ""] => &[TypeKind::Node, TypeKind::Group],
        _ => &[],
    }
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
                        self.push(&entry.key, name, kind, path, Some(entry.span()));
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
                    push_last(self.text, node, name, type_kind(*kind), None, self.found);
                }
                for kind in may_name(path) {
                    let name = value.rsplit(':').next().unwrap_or(value);
                    push_last(self.text, node, name, type_kind(*kind), None, self.perhaps);
                }
                if let Some(kind) = uses(path)
                    && !WORDS.contains(&value)
                {
                    self.push(node, value, kind, path, None);
                }
            }
        }
    }

    fn push(&mut self, node: &Node, name: &str, kind: usize, path: &[&str], defines: Option<Span>) {
        let before = self.found.len();
        push(self.text, node, name, kind, defines, self.found);
        if kind >= INPUT
            && let Some(new) = self.found.get_mut(before)
        {
            new.scope = scope(&self.scope, kind, path);
        }
    }
}

/// The kinds of names that can be written at a place.
pub(in crate::tosca) fn names_for(place: &Place<'_>) -> Vec<(usize, Option<String>)> {
    if place.is_key {
        return Vec::new();
    }
    let mut all: Vec<usize> = uses(place.path).into_iter().collect();
    // Only the first argument of a function names a template.
    if let [.., _, ""] = place.path
        && all.first() == Some(&NODE)
        && place
            .list()
            .and_then(<[Node]>::first)
            .zip(place.around.last())
            .is_some_and(|(first, here)| !std::ptr::eq(first, *here))
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
    for kind in may_name(place.path) {
        all.push(type_kind(*kind));
    }
    all.sort_unstable();
    all.dedup();
    // Templates and inputs are those of the own file, which comes first.
    let own = |kind: usize| (kind >= INPUT).then(|| scope("file 0", kind, place.path));
    all.into_iter().map(|kind| (kind, own(kind))).collect()
}

/// The kinds of names that are defined by a key at a place.
pub(in crate::tosca) fn names_defined(place: &Place<'_>) -> Vec<(usize, Option<String>)> {
    let mut path = place.path.to_vec();
    // Any key will do.
    path.push("*");
    let kind = defines(&path).filter(|_| place.is_key);
    let own = |kind: usize| (kind >= INPUT).then(|| scope("file 0", kind, place.path));
    kind.into_iter().map(|kind| (kind, own(kind))).collect()
}
