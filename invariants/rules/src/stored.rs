//! Programs as bytes, so that a process does not have to compile its rules.

use serde::{Deserialize, Serialize};

use crate::logic::{Plan, Terms};
use crate::program::{Constant, Program, RelationEntry, RuleProgram, Things};

#[derive(Serialize, Deserialize)]
struct Stored {
    relations: Vec<RelationEntry>,
    constants: Vec<Constant>,
    terms: Terms,
    plans: Vec<Plan>,
    rules: Vec<RuleProgram>,
    things: Vec<Things>,
}

impl Program {
    /// The program in some bytes that [`store`](Self::store) gave.
    pub fn stored(bytes: &[u8]) -> Option<Program> {
        let stored: Stored = postcard::from_bytes(bytes).ok()?;
        Some(Program {
            constants: stored.constants.iter().map(Constant::value).collect(),
            relations: stored.relations,
            terms: stored.terms,
            plans: stored.plans,
            rules: stored.rules,
            things: stored.things,
            ..Program::default()
        })
    }

    /// The bytes to store; none when a rule has a literal that cannot be stored.
    pub fn store(&self) -> Option<Vec<u8>> {
        let stored = Stored {
            relations: self.relations.clone(),
            constants: self
                .constants
                .iter()
                .map(Constant::of)
                .collect::<Option<_>>()?,
            terms: self.terms.clone(),
            plans: self.plans.clone(),
            rules: self.rules.clone(),
            things: self.things.clone(),
        };
        postcard::to_stdvec(&stored).ok()
    }
}
