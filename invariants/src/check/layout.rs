//! Where the tuples of each relation of a program come from: found out once, used for every configuration.

use std::sync::{Arc, OnceLock, RwLock};

use locus_core::facts;
use locus_core::value::Value;
use rustc_hash::FxHashMap;

use super::run::Configuration;
use crate::engine::Builtin;
use crate::rules::{Program, RelationKind};
use crate::vocabulary::{EXISTING, PROPERTY, Vocabulary, mangle};

/// The origins of all relations of a program, by their numbers.
#[derive(Debug)]
pub(super) struct Layout {
    /// The language that they were found out for.
    pub(super) language: &'static str,
    pub(super) origins: Vec<Origin>,
    /// The relations about locations of each sort that was met, in order.
    of_sorts: RwLock<FxHashMap<Box<str>, Arc<[u32]>>>,
}

/// Where the tuples of a relation come from.
#[derive(Debug)]
pub(super) enum Origin {
    /// The atoms of signatures of facts, and those put into a subset.
    Atoms {
        sigs: Vec<&'static str>,
        subset: &'static str,
    },
    /// The tuples of a field of facts.
    Tuples {
        sig: &'static str,
        field: &'static str,
    },
    /// What exists already.
    Existing,
    /// The locations or maps of a signature.
    Things { sig: String },
    /// A property of the locations or maps of a signature.
    Property {
        sig: String,
        name: String,
        /// Found out when a configuration first has such a location, as types are many.
        property: OnceLock<Option<Property>>,
    },
    /// A built-in relation over values.
    Builtin(Builtin),
}

/// A property as its type declares it.
#[derive(Debug)]
pub(super) struct Property {
    /// The value that it has when it is not given.
    pub(super) default: Option<Value>,
    /// The signature of the maps in it, when they have a schema.
    pub(super) maps: Option<String>,
}

impl Property {
    /// The property of a field, when its signature stands for locations or maps.
    pub(super) fn find(vocabulary: &dyn Vocabulary, sig: &str, name: &str) -> Option<Property> {
        let members = vocabulary.members(sig)?;
        let maps = format!("{sig}_{name}");
        Some(Property {
            default: vocabulary.default(&members, name),
            maps: vocabulary.members(&maps).is_some().then_some(maps),
        })
    }
}

impl Layout {
    /// The origins of a program's relations in configurations of the same language as a given one.
    pub(super) fn new(program: &Program, configuration: Configuration<'_>) -> Layout {
        let vocabulary = configuration.vocabulary;
        let facts = configuration.facts.vocabulary();
        let origin = |kind: &RelationKind| match kind {
            RelationKind::Builtin(builtin) => Origin::Builtin(*builtin),
            RelationKind::Sig(name) => match facts.sig(name) {
                Some(decl) => Origin::Atoms {
                    sigs: extending(facts, decl.name),
                    subset: decl.name,
                },
                None if name == EXISTING => Origin::Existing,
                None => Origin::Things { sig: name.clone() },
            },
            RelationKind::Field { sig, name } => {
                let decl = facts.sig(sig);
                let field = decl.and_then(|decl| decl.fields.iter().find(|f| f.name == name));
                match (decl, field) {
                    (Some(decl), Some(field)) => Origin::Tuples {
                        sig: decl.name,
                        field: field.name,
                    },
                    _ => Origin::Property {
                        sig: sig.clone(),
                        name: name.strip_prefix(PROPERTY).unwrap_or(name).to_owned(),
                        property: OnceLock::new(),
                    },
                }
            }
        };
        let relations = program.relations.iter();
        Layout {
            language: vocabulary.language(),
            origins: relations.map(|entry| origin(&entry.kind)).collect(),
            of_sorts: RwLock::default(),
        }
    }

    /// The relations about locations of a sort and the maps within them. Their signatures start with the name of the
    /// sort, so that no type has to be looked at of which there is no location.
    pub(super) fn of_sort(&self, sort: &str) -> Arc<[u32]> {
        if let Ok(known) = self.of_sorts.read()
            && let Some(found) = known.get(sort)
        {
            return found.clone();
        }
        let prefix = mangle(sort);
        let numbered = (0..).zip(&self.origins);
        let found: Arc<[u32]> = numbered
            .filter_map(|(at, origin)| match origin {
                Origin::Things { sig } | Origin::Property { sig, .. } => {
                    sig.starts_with(&prefix).then_some(at)
                }
                _ => None,
            })
            .collect();
        if let Ok(mut known) = self.of_sorts.write()
            && known.len() < SORTS
        {
            known.insert(sort.into(), found.clone());
        }
        found
    }
}

/// Sorts beyond which what was found out about them is not kept: templates may name any number of types.
const SORTS: usize = 4096;

/// A signature and all that extend it.
fn extending(facts: &'static facts::Vocabulary, sig: &'static str) -> Vec<&'static str> {
    let mut names = vec![sig];
    let mut at = 0;
    while let Some(&parent) = names.get(at) {
        let children = facts.sigs.iter();
        let children = children.filter(|sig| sig.parent == Some(parent) && !sig.subset);
        names.extend(children.map(|sig| sig.name));
        at += 1;
    }
    names
}
