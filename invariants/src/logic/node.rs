//! What terms are: expressions, formulas, integers and queries.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id at a position.
            pub fn at(index: usize) -> Self {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }
        }
    };
}

id! {
    /// A relation of the program.
    RelationId
}
id! {
    /// A relational expression.
    ExprId
}
id! {
    /// A formula.
    FormulaId
}
id! {
    /// An integer.
    IntId
}
id! {
    /// A quantified variable; it ranges over single atoms.
    VarId
}
id! {
    /// A query.
    QueryId
}

/// A relational expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExprNode {
    /// A relation.
    Relation(RelationId),
    /// A variable.
    Var(VarId),
    /// A constant of the program.
    Constant(u32),
    /// The empty relation of this arity.
    None(usize),
    /// All atoms.
    Univ,
    /// Every atom with itself.
    Iden,
    /// Tuples of any.
    Union(Vec<ExprId>),
    /// Tuples of all.
    Intersection(Vec<ExprId>),
    /// Tuples of the first and not the second.
    Difference(ExprId, ExprId),
    /// The second, and of the first what the second says nothing about.
    Override(ExprId, ExprId),
    /// Relational composition.
    Join(ExprId, ExprId),
    /// Cross product.
    Product(ExprId, ExprId),
    /// Columns swapped.
    Transpose(ExprId),
    /// Transitive closure.
    Closure(ExprId),
    /// One or the other.
    Ite(FormulaId, ExprId, ExprId),
    /// The values of a query's own variables.
    Comprehension(QueryId),
    /// The atom of an integer.
    IntAtom(IntId),
}

/// How many tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Count {
    /// No more than.
    AtMost(u32),
    /// No fewer than.
    AtLeast(u32),
}

/// Comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntCmp {
    /// Equal.
    Eq,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
}

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FormulaNode {
    /// Holds.
    True,
    /// Does not hold.
    False,
    /// Negation of a formula that is neither a conjunction, a disjunction nor a negation.
    Not(FormulaId),
    /// All hold.
    And(Vec<FormulaId>),
    /// Some holds.
    Or(Vec<FormulaId>),
    /// Every tuple of the first is in the second.
    Subset(ExprId, ExprId),
    /// The same tuples.
    Equal(ExprId, ExprId),
    /// Number of tuples.
    Count(ExprId, Count),
    /// The query has an answer.
    Exists(QueryId),
    /// Comparison of integers.
    IntCmp(IntCmp, IntId, IntId),
}

/// Operations on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, towards zero.
    Div,
    /// Remainder.
    Rem,
}

/// An integer, not bounded by any width.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntNode {
    /// A literal.
    Const(i64),
    /// Number of tuples.
    Card(ExprId),
    /// Sum of the numbers among the atoms of a set.
    SumOf(ExprId),
    /// Sum over the answers of a query.
    Sum(QueryId, IntId),
    /// An operation.
    Op(IntOp, IntId, IntId),
    /// One or the other.
    Ite(FormulaId, IntId, IntId),
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
