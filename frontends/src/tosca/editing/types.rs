//! The types that a file can see, and what they say of their templates.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use locus_core::Sources;

use super::super::builtin;
use super::super::grammar::TypeKind;
use super::super::version::Version;
use super::version;
use crate::language::Place;
use crate::yaml::{self, Kind, Node};

/// The types that come with a version.
pub(super) fn builtin(version: Version) -> &'static Node {
    static PARSED: OnceLock<BTreeMap<&'static str, Node>> = OnceLock::new();
    static NOTHING: OnceLock<Node> = OnceLock::new();
    let all = PARSED.get_or_init(|| {
        let mut all = BTreeMap::new();
        for version in [
            Version::V1_0,
            Version::V1_1,
            Version::V1_2,
            Version::V1_3,
            Version::V2_0,
        ] {
            let text = match version {
                Version::V2_0 => builtin::profile("org.oasis-open.simple:2.0").map(|one| one.text),
                other => Some(builtin::normative(other).text),
            };
            let mut sources = Sources::new();
            let file = sources.add("", text.unwrap_or_default());
            let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
            if let Some(document) = parsed.documents.into_iter().next() {
                all.insert(version.number(), document.root);
            }
        }
        all
    });
    all.get(version.number()).unwrap_or_else(|| {
        NOTHING.get_or_init(|| {
            let mut sources = Sources::new();
            let file = sources.add("", "");
            Node::new(
                Kind::Mapping(yaml::Mapping::default()),
                locus_core::Span::start_of(file),
            )
        })
    })
}

/// The documents that types are looked for in: the own one first.
pub(super) fn documents<'a>(place: &Place<'a>) -> Vec<&'a Node> {
    let mut all = vec![place.root];
    all.extend(place.others);
    all.push(builtin(version(place.root)));
    all
}

/// A type by its name, in full or short.
fn find_type<'a>(documents: &[&'a Node], kind: TypeKind, name: &str) -> Option<&'a Node> {
    let name = name.rsplit(':').next().unwrap_or(name);
    let sections = documents.iter().filter_map(|root| root.get(kind.section()));
    let sections: Vec<&Node> = sections.collect();
    if let Some(found) = sections.iter().find_map(|section| section.get(name)) {
        return Some(found);
    }
    let last = sections.last()?.as_mapping()?;
    let mut named = last.named();
    let short = |full: &str| {
        full.splitn(3, '.').nth(2) == Some(name) || full.rsplit('.').next() == Some(name)
    };
    named
        .find(|(full, _)| short(full))
        .map(|(_, entry)| &entry.value)
}

/// What a type and those it derives from have in a section, the nearest first.
pub(super) fn members<'a>(
    documents: &[&'a Node],
    kind: TypeKind,
    name: &str,
    section: &str,
) -> Vec<(&'a str, &'a Node)> {
    let mut all: Vec<(&str, &Node)> = Vec::new();
    let mut at = find_type(documents, kind, name);
    // A type that derives from itself ends nowhere.
    for _ in 0..50 {
        let Some(node) = at else { break };
        let own = node.get(section);
        let mut held: Vec<&Node> = own.into_iter().collect();
        // Requirements are a list of maps with one entry each.
        if let Some(items) = own.and_then(Node::as_sequence) {
            held = items.iter().collect();
        }
        for mapping in held.into_iter().filter_map(Node::as_mapping) {
            for (name, entry) in mapping.named() {
                if !all.iter().any(|(known, _)| *known == &**name) {
                    all.push((name, &entry.value));
                }
            }
        }
        let parent = node.get("derived_from").and_then(Node::as_str);
        at = parent.and_then(|parent| find_type(documents, kind, parent));
    }
    all
}
