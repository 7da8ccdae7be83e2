//! Programs as bytes, so that a process does not have to compile its rules.

use locus_core::value::Value;
use serde::{Deserialize, Serialize};

use crate::logic::{Plan, RelationId, Terms};
use crate::program::{Program, RelationEntry, RuleProgram};

#[derive(Serialize, Deserialize)]
struct Stored {
    relations: Vec<RelationEntry>,
    constants: Vec<Constant>,
    terms: Terms,
    plans: Vec<Plan>,
    rules: Vec<RuleProgram>,
}

/// A literal of a rule.
#[derive(Serialize, Deserialize)]
enum Constant {
    Bool(bool),
    Int(i64),
    Str(String),
}

impl Program {
    /// The program in some bytes that [`store`](Self::store) gave.
    pub fn stored(bytes: &[u8]) -> Option<Program> {
        let stored: Stored = postcard::from_bytes(bytes).ok()?;
        let constants = stored.constants.into_iter().map(|constant| match constant {
            Constant::Bool(value) => Value::Bool(value),
            Constant::Int(value) => Value::Int(value.into()),
            Constant::Str(text) => Value::str(text),
        });
        let numbered = stored.relations.iter().cloned().enumerate();
        Some(Program {
            places: numbered
                .map(|(at, entry)| (entry, RelationId::at(at)))
                .collect(),
            constants: constants.collect(),
            relations: stored.relations,
            terms: stored.terms,
            plans: stored.plans,
            rules: stored.rules,
        })
    }

    /// The bytes to store; none when a rule has a literal that cannot be stored.
    pub fn store(&self) -> Option<Vec<u8>> {
        let constant = |value: &Value| match value {
            Value::Bool(value) => Some(Constant::Bool(*value)),
            Value::Int(value) => Some(Constant::Int(value.to_i64()?)),
            Value::Str(text) => Some(Constant::Str(text.to_string())),
            _ => None,
        };
        let stored = Stored {
            relations: self.relations.clone(),
            constants: self.constants.iter().map(constant).collect::<Option<_>>()?,
            terms: self.terms.clone(),
            plans: self.plans.clone(),
            rules: self.rules.clone(),
        };
        postcard::to_stdvec(&stored).ok()
    }
}
