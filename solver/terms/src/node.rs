//! What a term is made of.

use serde::{Deserialize, Serialize};

#[cfg(doc)]
use crate::Terms;

/// Number of columns of an expression.
pub type Arity = usize;

/// An atom, by its place in the universe that terms are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Atom(pub u32);

/// A relation, by its place among those that terms are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RelationId(pub u32);

/// A relational expression in a [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Expr(pub(crate) u32);

/// A formula in a [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Formula(pub(crate) u32);

/// An integer-valued term in a [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Int(pub(crate) u32);

/// A quantified variable; each is bound by at most one binder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Var(pub(crate) u32);

macro_rules! indexed {
    ($($id:ident),*) => {$(
        impl $id {
            /// Its place among its kind, for tables.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The one at a place.
            #[inline]
            pub fn at(index: usize) -> Self {
                $id(u32::try_from(index).unwrap_or(u32::MAX))
            }
        }
    )*};
}

indexed!(Expr, Formula, Int, Var, RelationId, Atom);

/// How many values a declared variable or an expression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Mult {
    /// Any number.
    Set,
    /// At least one.
    Some,
    /// At most one.
    Lone,
    /// Exactly one.
    One,
}

/// A declaration `var: mult bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Decl {
    /// The variable.
    pub var: Var,
    /// [`Mult::One`] makes it first-order: it ranges over the tuples of the bound. Any other makes it
    /// higher-order: it ranges over subsets of the bound of that size.
    pub mult: Mult,
    /// What it ranges over; may mention variables declared before it.
    pub bound: Expr,
}

/// A relational expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExprNode {
    /// A relation of the problem.
    Relation(RelationId),
    /// A bound variable.
    Var(Var),
    /// One tuple.
    Tuple(Vec<Atom>),
    /// The empty relation of this arity.
    None(Arity),
    /// All atoms.
    Univ,
    /// Every atom paired with itself.
    Iden,
    /// The atoms of the integers.
    Ints,
    /// Tuples of any.
    Union(Vec<Expr>),
    /// Tuples of all.
    Intersection(Vec<Expr>),
    /// Tuples of the first and not of the second.
    Difference(Expr, Expr),
    /// The second, and of the first what starts with an atom that the second has no tuple for.
    Override(Expr, Expr),
    /// Relational composition.
    Join(Expr, Expr),
    /// Cross product.
    Product(Expr, Expr),
    /// Columns of a binary relation swapped.
    Transpose(Expr),
    /// Transitive closure of a binary relation.
    Closure(Expr),
    /// Closure with the identity over all atoms.
    ReflexiveClosure(Expr),
    /// One or the other.
    Ite(Formula, Expr, Expr),
    /// `{ decls | formula }`; all declarations are first-order.
    Comprehension(Vec<Decl>, Formula),
    /// The atom of an integer; empty when no atom stands for it.
    IntAtom(Int),
}

/// Quantifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Quant {
    /// For all.
    All,
    /// For some.
    Some,
}

/// How many tuples an expression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Count {
    /// No more than.
    AtMost(u32),
    /// No fewer than.
    AtLeast(u32),
    /// As many as.
    Exactly(u32),
}

/// Comparisons of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// Holds always.
    True,
    /// Holds never.
    False,
    /// Negation.
    Not(Formula),
    /// All hold.
    And(Vec<Formula>),
    /// Some holds.
    Or(Vec<Formula>),
    /// The first implies the second.
    Implies(Formula, Formula),
    /// Both or neither.
    Iff(Formula, Formula),
    /// Every tuple of the first is in the second.
    Subset(Expr, Expr),
    /// The same tuples.
    Equal(Expr, Expr),
    /// The number of tuples, counted without overflow.
    Count(Expr, Count),
    /// A quantified formula.
    Quant(Quant, Vec<Decl>, Formula),
    /// Comparison of integers.
    IntCmp(IntCmp, Int, Int),
    /// `next` orders `elem` totally, starting with `first`, as Kodkod's total order does:
    /// `elem` is every atom reached, each has at most one successor, and `first` no predecessor.
    TotalOrder {
        /// The ordered set.
        elem: Expr,
        /// Its first element.
        first: Expr,
        /// The successor relation.
        next: Expr,
    },
}

/// Binary operations on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum IntOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, towards zero.
    Div,
    /// Remainder, with the sign of the dividend.
    Rem,
    /// Shift left.
    Shl,
    /// Shift right, keeping the sign.
    Sha,
    /// Shift right, filling with zeros.
    Shr,
}

/// An integer in two's complement of the problem's bit width.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntNode {
    /// A literal.
    Const(i64),
    /// Number of tuples.
    Card(Expr),
    /// Sum of the integers whose atoms are in a unary expression.
    SumOf(Expr),
    /// Sum over all values of first-order declarations.
    Sum(Vec<Decl>, Int),
    /// Negation.
    Neg(Int),
    /// An operation.
    Op(IntOp, Int, Int),
    /// One or the other.
    Ite(Formula, Int, Int),
}
