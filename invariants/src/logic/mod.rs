//! Rules as relational logic: terms, and queries with a plan for finding what breaks a rule.

mod plan;
mod term;

pub use plan::{Hop, Plan, Source, Step};
pub use term::{
    Count, ExprId, ExprNode, FormulaId, FormulaNode, IntCmp, IntId, IntNode, IntOp, Query, QueryId,
    RelationId, Terms, VarId,
};
