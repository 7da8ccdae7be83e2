//! A command of a typed model as a relational problem.
//!
//! Scopes become atoms ([`scope`]), signatures and fields become relations between bounds
//! ([`bounds`]), what declarations imply and facts state become constraints ([`constraints`]), and
//! expressions become terms ([`locus_terms::lower`]). What the user sees of an instance is read back through
//! [`Translation`].

mod bounds;
mod constraints;
mod scope;
mod temporal;

use locus_grammar::model::{Command, FieldId, Model, SigId};
pub use locus_terms::lower::Refusal;

use crate::problem::{Expr, Problem};

/// A command as a problem, and how to read an instance of it.
#[derive(Clone, Debug)]
pub struct Translation {
    /// What the solver is asked.
    pub problem: Problem,
    /// The value of each signature, by [`SigId::index`].
    pub sigs: Vec<Expr>,
    /// The value of each field, by [`FieldId::index`].
    pub fields: Vec<Expr>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "both lists have an entry for every id of the model that was translated"
)]
impl Translation {
    /// The expression of a signature.
    pub fn sig(&self, id: SigId) -> Expr {
        self.sigs[id.index()]
    }

    /// The expression of a field, first column included.
    pub fn field(&self, id: FieldId) -> Expr {
        self.fields[id.index()]
    }
}

/// Translates a command of a model.
pub fn translate(model: &Model, command: &Command) -> Result<Translation, Refusal> {
    temporal::refuse(model, command)?;
    let scope = scope::Scope::compute(model, command)?;
    let vocabulary = bounds::Vocabulary::build(model, &scope)?;
    constraints::state(model, command, &scope, vocabulary)
}
