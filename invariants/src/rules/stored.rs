//! Compiled rules as bytes, so that a process does not have to compile them.
//!
//! `library/compiled/` holds the compiled rules of a language; `cargo run -p locus-invariants --example compile-rules`
//! writes them, and a test compares them with what compiling gives now. When the texts of the rules are not those
//! that were compiled, the stored form is not used: rules that are out of date are never checked.

use locus_core::value::Value;
use serde::{Deserialize, Serialize};

use super::library::Library;
use super::program::{Program, RelationEntry, RuleProgram};
use crate::logic::{Plan, RelationId, Terms};

#[derive(Serialize, Deserialize)]
struct Stored {
    /// Of the texts that were compiled.
    fingerprint: u64,
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
    /// The compiled rules of a language, when they are stored and current.
    pub(crate) fn stored(language: &str) -> Option<Program> {
        let bytes = Library::compiled(language)?;
        // What is stored starts with the fingerprint, and what follows may be of another form when that is not ours.
        let (fingerprint, _) = postcard::take_from_bytes::<u64>(bytes).ok()?;
        if fingerprint != Library::fingerprint(language)? {
            return None;
        }
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
    pub(crate) fn store(&self, language: &str) -> Option<Vec<u8>> {
        let constant = |value: &Value| match value {
            Value::Bool(value) => Some(Constant::Bool(*value)),
            Value::Int(value) => Some(Constant::Int(value.to_i64()?)),
            Value::Str(text) => Some(Constant::Str(text.to_string())),
            _ => None,
        };
        let stored = Stored {
            fingerprint: Library::fingerprint(language)?,
            relations: self.relations.clone(),
            constants: self.constants.iter().map(constant).collect::<Option<_>>()?,
            terms: self.terms.clone(),
            plans: self.plans.clone(),
            rules: self.rules.clone(),
        };
        postcard::to_stdvec(&stored).ok()
    }
}
