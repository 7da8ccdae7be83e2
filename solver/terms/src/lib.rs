//! Relational terms: expressions, formulas and integers, hash-consed.
//!
//! They are the one language in which relational logic is stated here: the solver is asked in it, and rules are compiled to
//! it. [`lower`] is how expressions of a model become terms, for both. This crate has no more than that, so that a build
//! script can compile rules without a solver.

pub mod lower;
mod node;
mod term;

pub use node::{
    Arity, Atom, Count, Decl, Expr, ExprNode, Formula, FormulaNode, Int, IntCmp, IntNode, IntOp,
    Mult, Quant, RelationId, Var,
};
pub use term::{Interner, Terms};
