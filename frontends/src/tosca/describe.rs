//! What rules see of a type: a page for those who write rules.
//!
//! A node type is a signature ([`signature`](super::build::signature)); capabilities, relationships, groups and policies are
//! atoms that know their types by name. Of other types, rules see what nodes have of them.

mod example;
mod page;

use locus_core::Sources;

use super::builtin::{self, Text};
use super::files::Reader;
use super::grammar::TypeKind;
use super::model::Model;
use super::names::TypeId;
use super::version::Version;
use crate::language::Described;
use crate::loader::MemoryLoader;

/// The kinds in the order in which types of one name are shown.
const KINDS: [TypeKind; 8] = [
    TypeKind::Node,
    TypeKind::Capability,
    TypeKind::Relationship,
    TypeKind::Data,
    TypeKind::Interface,
    TypeKind::Artifact,
    TypeKind::Group,
    TypeKind::Policy,
];

/// Describes types that come with the program: of the newest version of 1.x that has the name, or else of 2.0. Without a name, those
/// of 1.3 are listed.
pub(super) fn builtin(name: Option<&str>, out: &mut Described) {
    let newest = [builtin::normative(Version::V1_3), builtin::lifecycle()];
    of_texts(&newest, name, out);
    let name = match name {
        Some(name) if out.pages.is_empty() => name,
        _ => return,
    };
    let profile = builtin::PROFILES
        .iter()
        .find_map(|one| builtin::profile(one));
    let older = [Version::V1_2, Version::V1_1, Version::V1_0].map(builtin::normative);
    for text in profile.into_iter().chain(older) {
        of_texts(&[text], Some(name), out);
        if !out.pages.is_empty() {
            break;
        }
    }
}

fn of_texts(texts: &[Text], name: Option<&str>, out: &mut Described) {
    let mut sources = Sources::new();
    let nothing = MemoryLoader::new();
    let mut reader = Reader::new(&mut sources, &nothing);
    for text in texts {
        reader.builtin(*text);
    }
    let files = std::mem::take(&mut reader.files);
    types(&Model::new(&files), name, out);
}

/// Describes the types of a model that have a name, and lists all.
pub(super) fn types(model: &Model<'_>, name: Option<&str>, out: &mut Described) {
    for kind in KINDS {
        let ids = model
            .names
            .ids()
            .filter(|&id| model.names.get(id).kind == kind);
        for id in ids {
            let mut what = kind.word().to_owned();
            if let Some(sig) = page::nameable(model, id) {
                what = format!("{what}, the signature `{sig}`");
            }
            let known = out.names.entry(model.name(id).to_string()).or_default();
            if !known.is_empty() && *known != what {
                what = format!("{known}; {what}");
            }
            *known = what;
        }
    }
    let Some(name) = name else { return };
    let ways: [fn(&str, &str) -> bool; 3] = [is, is_after_namespace, is_last];
    let found = ways
        .into_iter()
        .map(|way| meant(model, |full| way(full, name)));
    for id in found
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
    {
        out.page(page::page(model, id));
    }
}

fn meant(model: &Model<'_>, is: impl Fn(&str) -> bool) -> Vec<TypeId> {
    let mut ids: Vec<TypeId> = model.names.ids().filter(|&id| is(model.name(id))).collect();
    let kind = |id: &TypeId| {
        let kind = model.names.get(*id).kind;
        KINDS.iter().position(|one| *one == kind)
    };
    ids.sort_by_key(kind);
    ids
}

/// A name in full, or as a signature.
fn is(full: &str, name: &str) -> bool {
    full == name || locus_core::vocabulary::identifier(full) == name
}

/// `tosca.nodes.Container.Runtime` is `Container.Runtime` for short.
fn is_after_namespace(full: &str, name: &str) -> bool {
    let short = name.strip_prefix("tosca:").unwrap_or(name);
    full.splitn(3, '.').nth(2) == Some(short)
}

fn is_last(full: &str, name: &str) -> bool {
    full.rsplit('.').next() == Some(name)
}
