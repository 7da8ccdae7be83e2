//! Compiled rules: relations, constants, terms and plans, the same for every configuration.

use locus_core::value::Value;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::builtin::Builtin;
use crate::doc::Rule;
use crate::logic::{Plan, QueryId, RelationId, Terms, VarId};

/// What a relation holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RelationKind {
    /// The atoms of a signature.
    Sig(String),
    /// A field of a signature.
    Field {
        /// The signature that declares it.
        sig: String,
        /// Its name.
        name: String,
    },
    /// A built-in relation over values.
    Builtin(Builtin),
}

/// A relation that rules mention.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RelationEntry {
    /// What it holds.
    pub kind: RelationKind,
    /// Number of columns.
    pub arity: usize,
}

/// A compiled rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuleProgram {
    /// The rule.
    pub rule: Rule,
    /// What breaks it; none when nothing can.
    pub query: Option<QueryId>,
    /// The variables of its outer universals: each of their tuples that fails is one finding.
    pub anchors: Vec<VarId>,
    /// Groups of anchors that were declared together as different from each other, whose order does not matter.
    pub disjoint: Vec<Vec<VarId>>,
}

/// The compiled rules of a language.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The relations that rules mention, by [`RelationId`].
    pub relations: Vec<RelationEntry>,
    /// The constants that rules mention; they are the first atoms of every database.
    pub constants: Vec<Value>,
    /// All terms.
    pub terms: Terms,
    /// The plan of each query.
    pub plans: Vec<Plan>,
    /// The rules.
    pub rules: Vec<RuleProgram>,
    /// Where each relation is.
    pub(super) places: FxHashMap<RelationEntry, RelationId>,
}

impl Program {
    /// The relation of this kind, which is added when it is new.
    pub(super) fn relation(&mut self, kind: RelationKind, arity: usize) -> RelationId {
        let entry = RelationEntry { kind, arity };
        if let Some(&id) = self.places.get(&entry) {
            return id;
        }
        let id = RelationId(u32::try_from(self.relations.len()).unwrap_or(u32::MAX));
        self.relations.push(entry.clone());
        self.places.insert(entry, id);
        id
    }

    /// The constant of a value, which is added when it is new.
    pub(super) fn constant(&mut self, value: Value) -> u32 {
        let at = self.constants.iter().position(|other| other.same(&value));
        let at = at.unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        });
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    /// The fields of a name, of whatever signature.
    pub fn fields(&self, name: &str) -> impl Iterator<Item = RelationId> {
        self.relations
            .iter()
            .enumerate()
            .filter(move |(_, entry)| {
                matches!(&entry.kind, RelationKind::Field { name: other, .. } if other == name)
            })
            .map(|(at, _)| RelationId(u32::try_from(at).unwrap_or(u32::MAX)))
    }

    /// The relation of a signature.
    pub fn sig(&self, name: &str) -> Option<RelationId> {
        let is = |entry: &RelationEntry| matches!(&entry.kind, RelationKind::Sig(other) if other == name);
        let at = self.relations.iter().position(is)?;
        Some(RelationId(u32::try_from(at).ok()?))
    }
}
