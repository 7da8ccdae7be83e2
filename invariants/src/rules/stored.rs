//! Compiled rules as text, so that a process does not have to compile them.
//!
//! `library/compiled/` holds the compiled rules of a language; `cargo run -p locus-invariants --example compile-rules`
//! writes them, and a test compares them with what compiling gives now. When the texts of the rules are not those
//! that were compiled, the stored form is not used: rules that are out of date are never checked.

use locus_core::value::Value;
use serde::{Deserialize, Serialize};

use super::library::Library;
use super::program::{Program, RelationEntry, RuleProgram};
use crate::logic::{Plan, QueryId, RelationId, Terms, VarId};

#[derive(Serialize, Deserialize)]
struct Stored {
    /// Of the texts that were compiled.
    fingerprint: u64,
    relations: Vec<RelationEntry>,
    constants: Vec<Constant>,
    terms: Terms,
    plans: Vec<Plan>,
    rules: Vec<StoredRule>,
}

/// A literal of a rule.
#[derive(Serialize, Deserialize)]
enum Constant {
    Bool(bool),
    Int(i64),
    Str(String),
}

/// A rule without what its doc comment says.
#[derive(Serialize, Deserialize)]
struct StoredRule {
    module: String,
    assertion: String,
    query: Option<QueryId>,
    anchors: Vec<VarId>,
    disjoint: Vec<Vec<VarId>>,
}

impl Program {
    /// The compiled rules of a language, when they are stored and current.
    pub(crate) fn stored(library: &Library, language: &str) -> Option<Program> {
        let text = Library::compiled(language)?;
        let stored: Stored = serde_json::from_str(text).ok()?;
        if stored.fingerprint != library.fingerprint(language) {
            return None;
        }
        let mut rules = Vec::with_capacity(stored.rules.len());
        for StoredRule {
            module,
            assertion,
            query,
            anchors,
            disjoint,
        } in stored.rules
        {
            let same = |rule: &&super::Rule| rule.module == module && rule.assertion == assertion;
            rules.push(RuleProgram {
                rule: library.rules().iter().find(same)?.clone(),
                query,
                anchors,
                disjoint,
            });
        }
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
            rules,
        })
    }

    /// The text to store; none when a rule has a literal that cannot be stored.
    pub(crate) fn store(&self, library: &Library, language: &str) -> Option<String> {
        let constant = |value: &Value| match value {
            Value::Bool(value) => Some(Constant::Bool(*value)),
            Value::Int(value) => Some(Constant::Int(value.to_i64()?)),
            Value::Str(text) => Some(Constant::Str(text.to_string())),
            _ => None,
        };
        let rule = |program: &RuleProgram| StoredRule {
            module: program.rule.module.clone(),
            assertion: program.rule.assertion.clone(),
            query: program.query,
            anchors: program.anchors.clone(),
            disjoint: program.disjoint.clone(),
        };
        let stored = Stored {
            fingerprint: library.fingerprint(language),
            relations: self.relations.clone(),
            constants: self.constants.iter().map(constant).collect::<Option<_>>()?,
            terms: self.terms.clone(),
            plans: self.plans.clone(),
            rules: self.rules.iter().map(rule).collect(),
        };
        let mut text = serde_json::to_string(&stored).ok()?;
        text.push('\n');
        Some(text)
    }
}

impl Library {
    /// The texts that the rules of a language are compiled from, as one number (FNV-1a).
    fn fingerprint(&self, language: &str) -> u64 {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for source in self.relevant(language) {
            for byte in source.module.bytes().chain([0]).chain(source.text.bytes()) {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        hash
    }
}
