//! Terms of rules are those of the solver; what is added is how the things that break a rule are found.

pub use locus_terms::{
    Atom, Count, Decl, Expr as ExprId, ExprNode, Formula as FormulaId, FormulaNode, Int as IntId,
    IntCmp, IntNode, IntOp, Mult, Quant, RelationId, Var as VarId,
};
use serde::{Deserialize, Serialize};

/// A query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QueryId(pub u32);

impl QueryId {
    /// The position in its list.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id at a position.
    pub fn at(index: usize) -> Self {
        QueryId(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// Variables, what they range over, and what must hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Query {
    /// The variables and their bounds; a bound may mention earlier variables.
    pub decls: Vec<(VarId, ExprId)>,
    /// How many of the declarations, from the first, are its own and not joined from within.
    pub own: usize,
    /// The conjuncts.
    pub body: Vec<FormulaId>,
}
