//! Compiled rules: relations, constants, terms and plans, the same for every configuration.

use locus_core::value::Value;
use locus_core::vocabulary::{GraphField, GraphSet};
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RelationEntry {
    /// What it holds.
    pub kind: RelationKind,
    /// Number of columns.
    pub arity: usize,
    /// What fills it.
    pub origin: Origin,
}

/// What fills a relation from a configuration, found out when rules are compiled.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub enum Origin {
    /// Nothing does.
    #[default]
    Nothing,
    /// The atoms of the signatures of facts at some positions.
    Atoms(Vec<usize>),
    /// The atoms of facts in the subset at a position.
    Subset(usize),
    /// The tuples of the facts' field at a position.
    Tuples(usize),
    /// A set that every location graph has.
    GraphSet(GraphSet),
    /// A relation that every location graph has.
    GraphField(GraphField),
    /// Locations or maps, by their place in [`Program::things`].
    Things(u32),
    /// A property of locations or maps.
    Property {
        /// Whose, by their place in [`Program::things`].
        of: u32,
        /// The names that it has in the configuration.
        names: Vec<String>,
        /// The value when it is not given.
        default: Option<Constant>,
        /// The maps in it, when they have a schema, by their place in [`Program::things`].
        maps: Option<u32>,
    },
    /// A relation over values.
    Builtin(Builtin),
}

/// Locations, or maps within their properties, that are the atoms of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Things {
    /// The signature.
    pub sig: String,
    /// The sorts of the locations.
    pub sorts: Vec<String>,
    /// The subset of facts that locations are in instead.
    pub marked: Option<usize>,
    /// The properties that lead to maps, outermost first; none for the locations themselves.
    pub path: Vec<String>,
}

/// A literal of a rule, or the default of a property.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Constant {
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A text.
    Str(String),
}

impl Constant {
    /// The constant of a value; none of one that cannot be stored.
    pub fn of(value: &Value) -> Option<Constant> {
        Some(match value {
            Value::Bool(value) => Constant::Bool(*value),
            Value::Int(value) => Constant::Int(value.to_i64()?),
            Value::Str(text) => Constant::Str(text.to_string()),
            _ => return None,
        })
    }

    /// The value.
    pub fn value(&self) -> Value {
        match self {
            Constant::Bool(value) => Value::Bool(*value),
            Constant::Int(value) => Value::Int((*value).into()),
            Constant::Str(text) => Value::str(text.as_str()),
        }
    }
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
    /// The locations and maps that fill relations.
    pub things: Vec<Things>,
    /// Where each relation is, while rules are compiled.
    pub(super) places: FxHashMap<(RelationKind, usize), RelationId>,
}

impl Program {
    /// The relation of this kind, which is added when it is new.
    pub(super) fn relation(&mut self, kind: RelationKind, arity: usize) -> RelationId {
        let next = RelationId(u32::try_from(self.relations.len()).unwrap_or(u32::MAX));
        let id = *self.places.entry((kind.clone(), arity)).or_insert(next);
        if id == next {
            let origin = match kind {
                RelationKind::Builtin(builtin) => Origin::Builtin(builtin),
                _ => Origin::Nothing,
            };
            self.relations.push(RelationEntry {
                kind,
                arity,
                origin,
            });
        }
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

    /// Whether rules mention nothing but what every location graph has.
    pub fn is_about_graph(&self) -> bool {
        self.relations.iter().all(|entry| {
            matches!(
                entry.origin,
                Origin::GraphSet(_) | Origin::GraphField(_) | Origin::Builtin(_) | Origin::Nothing
            )
        })
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
