//! Rules as relational logic: terms, and queries with a plan for finding what breaks a rule.

mod expression;
mod formula;
mod integer;
mod node;
mod plan;
mod term;

pub use node::{
    Atom, Count, Decl, ExprId, ExprNode, FormulaId, FormulaNode, IntCmp, IntId, IntNode, IntOp,
    Mult, Quant, Query, QueryId, RelationId, VarId,
};
pub use plan::{Hop, Plan, Source, Step};
pub use term::Terms;
