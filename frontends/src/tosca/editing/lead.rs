//! Where the keys of a template lead: to what its type says of them.

use super::super::grammar::TypeKind;
use super::inside::text;
use crate::language::FileText;
use crate::yaml::{Entry, Node};
use locus_core::Span;

/// The definitions in types of what is written at a place: a property, attribute, capability, requirement or interface of a
/// template, or one of a type that says anew what the one before it said.
pub(in crate::tosca) fn leads(
    files: &[FileText<'_>],
    file: usize,
    offset: usize,
) -> Vec<(usize, Span)> {
    let Some(roots) = files.get(file).map(|file| &file.roots) else {
        return Vec::new();
    };
    let mut way = Vec::new();
    let found = roots.iter().any(|root| {
        way.clear();
        descend(root, offset, &mut way)
    });
    if !found {
        return Vec::new();
    }
    let found = defined(files, &way).map(|(at, entry)| (at, entry.key.span));
    found.into_iter().collect()
}

/// The entry of a type that the last of some keys is said by: the number of the file with it.
fn defined<'n>(files: &[FileText<'n>], way: &[(&'n str, &'n Node)]) -> Option<(usize, &'n Entry)> {
    let keys: Vec<&str> = way.iter().map(|(key, _)| *key).collect();
    let said = |at: usize, key: &str| way.get(at).and_then(|(_, node)| text(node, key));
    match keys.as_slice() {
        [
            "topology_template" | "service_template",
            of @ ("node_templates" | "relationship_templates" | "groups"),
            _,
            section,
            rest @ ..,
        ] => {
            let kind = match *of {
                "node_templates" => TypeKind::Node,
                "groups" => TypeKind::Group,
                _ => TypeKind::Relationship,
            };
            let ty = said(2, "type")?;
            match rest {
                [name] | ["", name] => find(files, kind, ty, section, name),
                // A property of a capability is said by the type of that.
                [capability, "properties", name] if *section == "capabilities" => {
                    let (_, own) = find(files, kind, ty, section, capability)?;
                    let ty = own.value.as_str().or_else(|| text(&own.value, "type"))?;
                    find(files, TypeKind::Capability, ty, "properties", name)
                }
                _ => None,
            }
        }
        [of, _, section, name] | [of, _, section, "", name] => {
            let mut kinds = TypeKind::ALL.into_iter();
            let kind = kinds.find(|kind| kind.section() == *of)?;
            find(files, kind, said(1, "derived_from")?, section, name)
        }
        _ => None,
    }
}

/// Goes down to the key that a place is in: the keys that lead there, with their values. An item of a list has no key.
fn descend<'n>(node: &'n Node, offset: usize, way: &mut Vec<(&'n str, &'n Node)>) -> bool {
    let holds = |span: Span| span.start as usize <= offset && offset <= span.end as usize;
    if node.alias().is_some() {
        return false;
    }
    if let Some(mapping) = node.as_mapping() {
        for (name, entry) in mapping.named() {
            way.push((name, &entry.value));
            let is_here = holds(entry.key.span);
            if is_here || (holds(entry.value.span) && descend(&entry.value, offset, way)) {
                return true;
            }
            way.pop();
        }
    }
    for item in node.as_sequence().unwrap_or_default() {
        way.push(("", item));
        if holds(item.span) && descend(item, offset, way) {
            return true;
        }
        way.pop();
    }
    false
}

/// What a type among the files, or one that it derives from, says of a member.
fn find<'n>(
    files: &[FileText<'n>],
    kind: TypeKind,
    ty: &str,
    section: &str,
    name: &str,
) -> Option<(usize, &'n Entry)> {
    let mut ty = ty.rsplit(':').next()?.to_owned();
    // A type that derives from itself ends nowhere.
    for _ in 0..50 {
        let (at, node) = files.iter().enumerate().find_map(|(at, file)| {
            let mut roots = file.roots.iter();
            let own = roots.find_map(|root| root.get(kind.section())?.get(&ty))?;
            Some((at, own))
        })?;
        let own = node.get(section);
        let items = own.and_then(Node::as_sequence).unwrap_or_default();
        let mut held = own.into_iter().chain(items).filter_map(Node::as_mapping);
        if let Some(entry) = held.find_map(|map| map.entry(name)) {
            return Some((at, entry));
        }
        ty = text(node, "derived_from")?.rsplit(':').next()?.to_owned();
    }
    None
}
