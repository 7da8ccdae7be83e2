//! Where in the files of a kustomization the parts of an object are written.

use std::ops::Range;
use std::sync::Arc;

use crate::language::render::Origin;
use crate::yaml::{Kind, Node};

/// A document of a file.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) path: Arc<str>,
    pub(super) root: Arc<Node>,
}

fn text<'a>(node: &'a Node, path: &[&str]) -> Option<&'a str> {
    let mut node = node;
    for key in path {
        node = node.get(key)?;
    }
    node.as_str()
}

/// Whether a document is an object, or changes it: of the same kind, with a name that the object's is made of.
pub(super) fn may_be(source: &Node, object: &Node, is_own: bool) -> bool {
    let same = |key: &str| text(source, &[key]) == text(object, &[key]);
    if !same("kind") || !same("apiVersion") {
        return false;
    }
    let name = |node| text(node, &["metadata", "name"]);
    match (name(source), name(object)) {
        (Some(a), Some(b)) if a == b => true,
        // Prefixes, suffixes and digests are added to names.
        (Some(a), Some(b)) => !a.is_empty() && b.contains(a),
        _ => is_own,
    }
}

/// Finds each part of an object in documents, of which the first that says the same counts; what none says is where the
/// document that is its own would say it.
pub(super) fn align(
    object: &Node,
    documents: &[Source],
    own: Option<&str>,
    origins: &mut Vec<Origin>,
) {
    let exact = exact(object, documents);
    let is_own = |source: &&Source| own.is_none_or(|own| &*source.path == own);
    let Some(base) = exact.iter().rev().find(is_own).or(exact.last()) else {
        return;
    };
    push(object, base, &base.root, origins);
    let at: Vec<(&Source, &Node)> = exact.iter().map(|source| (source, &*source.root)).collect();
    walk(object, &at, (base, &base.root), origins);
}

/// The documents with the very name of the object, if there are any: one name may be a part of another.
fn exact(object: &Node, documents: &[Source]) -> Vec<Source> {
    let name = |node: &Node| text(node, &["metadata", "name"]).map(str::len);
    let wanted = name(object);
    let longest = documents.iter().filter_map(|source| name(&source.root));
    let longest = longest.max();
    let of = |source: &&Source| {
        let found = name(&source.root);
        found == wanted || found == longest || found.is_none()
    };
    documents.iter().filter(of).cloned().collect()
}

fn push(part: &Node, source: &Source, place: &Node, origins: &mut Vec<Origin>) {
    origins.push(Origin {
        part: range(part),
        path: source.path.clone(),
        place: range(place),
    });
}

fn range(node: &Node) -> Range<usize> {
    node.span.start as usize..node.span.end as usize
}

/// The parts of a node, given where it may be written, and where it is when they do not say it.
fn walk(node: &Node, at: &[(&Source, &Node)], base: (&Source, &Node), origins: &mut Vec<Origin>) {
    match &node.kind {
        Kind::Scalar(_) => {}
        Kind::Mapping(mapping) => {
            for entry in &mapping.entries {
                let Some(name) = entry.name() else {
                    continue;
                };
                let entries = at.iter().filter_map(|(source, place)| {
                    let entry = place.as_mapping()?.entry(name)?;
                    Some((*source, entry))
                });
                let entries: Vec<_> = entries.collect();
                let values = entries
                    .iter()
                    .map(|(source, entry)| (*source, &entry.value));
                let values: Vec<(&Source, &Node)> = values.collect();
                let chosen = choose(&entry.value, &values);
                let written = chosen.and_then(|chosen| entries.get(chosen));
                match written {
                    Some((source, there)) => {
                        push(&entry.key, source, &there.key, origins);
                        push(&entry.value, source, &there.value, origins);
                        walk(&entry.value, &values, (source, &there.value), origins);
                    }
                    None => {
                        push(&entry.key, base.0, base.1, origins);
                        push(&entry.value, base.0, base.1, origins);
                        walk(&entry.value, &[], base, origins);
                    }
                }
            }
        }
        Kind::Sequence(items) => {
            for (number, item) in items.iter().enumerate() {
                let found = at.iter().filter_map(|(source, place)| {
                    let items = place.as_sequence()?;
                    Some((*source, same_item(item, number, items)?))
                });
                let found: Vec<(&Source, &Node)> = found.collect();
                match choose(item, &found).and_then(|chosen| found.get(chosen)) {
                    Some((source, there)) => {
                        push(item, source, there, origins);
                        walk(item, &found, (source, there), origins);
                    }
                    None => {
                        push(item, base.0, base.1, origins);
                        walk(item, &[], base, origins);
                    }
                }
            }
        }
    }
}

/// The place that says what a node says, or else the last, which is the object that others change.
fn choose(node: &Node, places: &[(&Source, &Node)]) -> Option<usize> {
    let same = places
        .iter()
        .position(|(_, place)| node.as_str().is_some() && node.as_str() == place.as_str());
    same.or_else(|| places.len().checked_sub(1))
}

/// The item of a list that is the same one: of its name, or equal, or at the same place.
fn same_item<'n>(item: &Node, number: usize, items: &'n [Node]) -> Option<&'n Node> {
    for key in ["name", "mountPath", "containerPort", "port", "key"] {
        if let Some(wanted) = text(item, &[key]) {
            let mut named = items.iter().filter(|other| text(other, &[key]).is_some());
            if named.clone().next().is_some() {
                return named.find(|other| text(other, &[key]) == Some(wanted));
            }
        }
    }
    let mut equal = items.iter();
    if let Some(wanted) = item.as_str() {
        return equal.find(|other| other.as_str() == Some(wanted));
    }
    items.get(number)
}

/// The place of the generator in a kustomization that makes an object: its name is the start of the object's.
pub(super) fn generator(documents: &[Source], object: &Node) -> Range<usize> {
    let key = match text(object, &["kind"]) {
        Some("Secret") => "secretGenerator",
        _ => "configMapGenerator",
    };
    let name = text(object, &["metadata", "name"]).unwrap_or("");
    let generators = documents.iter().filter_map(|source| {
        let generators = source.root.get(key)?.as_sequence()?;
        Some(generators.iter())
    });
    let own = generators.flatten().find(|generator| {
        text(generator, &["name"]).is_some_and(|own| !own.is_empty() && name.contains(own))
    });
    own.map_or(0..0, range)
}
