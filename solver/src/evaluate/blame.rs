//! Who is to blame for an overflow.
//!
//! A comparison of which an operand overflowed says nothing. Where the operand speaks of an integer
//! that a quantifier lets range over all integers, the innermost such quantifier decides: the values
//! of a universal one that lead to overflow are left out, so the comparison holds; for those of any
//! other it fails. Under a negation it is the other way round.

use super::Evaluator;
use crate::problem::{Decl, Expr, ExprNode, Formula, FormulaNode, Int, IntNode, Terms, Var};

/// An operand of a comparison.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    Expr(Expr),
    Int(Int),
}

impl Evaluator<'_> {
    /// What a comparison says, given for each of its operands whether it overflowed.
    pub(super) fn despite_overflow(&mut self, value: bool, operands: &[(bool, Operand)]) -> bool {
        let overflowed = operands.iter().filter(|operand| operand.0);
        let mut overflowed = overflowed.map(|operand| operand.1).peekable();
        if !self.forbid_overflow || overflowed.peek().is_none() {
            return value;
        }
        self.trace.judge();
        let mut excused = value;
        for operand in overflowed {
            if self.over_all_integers(operand) == self.negated {
                return false;
            }
            excused = true;
        }
        excused
    }

    /// Whether the innermost quantifier over integers that an operand speaks of is universal.
    fn over_all_integers(&self, operand: Operand) -> bool {
        let blame = Blame { terms: self.terms };
        let binders = self.int_binders.iter().rev();
        let mut spoken_of = binders.filter(|binder| match operand {
            Operand::Expr(expr) => blame.set(expr, binder.0),
            Operand::Int(int) => blame.number(int, binder.0),
        });
        spoken_of.next().is_some_and(|binder| binder.1)
    }
}

/// Looks for a variable in terms.
struct Blame<'p> {
    terms: &'p Terms,
}

impl Blame<'_> {
    /// Whether the integers that a set is made of speak of a variable.
    fn set(&self, expr: Expr, var: Var) -> bool {
        match self.terms.expr(expr) {
            ExprNode::IntAtom(int) => self.number(*int, var),
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                parts.iter().any(|&part| self.set(part, var))
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => self.set(*a, var) || self.set(*b, var),
            ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
                self.set(*a, var)
            }
            // These have values of their own, whatever was calculated for them.
            ExprNode::Relation(_)
            | ExprNode::Var(_)
            | ExprNode::Tuple(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden
            | ExprNode::Ints
            | ExprNode::Ite(..)
            | ExprNode::Comprehension(..) => false,
        }
    }

    /// Whether an integer speaks of a variable; a condition that chooses between two does not count.
    fn number(&self, int: Int, var: Var) -> bool {
        match self.terms.int(int) {
            IntNode::Const(_) => false,
            IntNode::Card(expr) | IntNode::SumOf(expr) => self.in_expr(*expr, var),
            IntNode::Neg(a) | IntNode::Sum(_, a) => self.number(*a, var),
            IntNode::Op(_, a, b) | IntNode::Ite(_, a, b) => {
                self.number(*a, var) || self.number(*b, var)
            }
        }
    }

    /// Whether a variable occurs free in an expression.
    fn in_expr(&self, expr: Expr, var: Var) -> bool {
        match self.terms.expr(expr) {
            ExprNode::Var(other) => *other == var,
            ExprNode::Relation(_)
            | ExprNode::Tuple(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden
            | ExprNode::Ints => false,
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                parts.iter().any(|&part| self.in_expr(part, var))
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => self.in_expr(*a, var) || self.in_expr(*b, var),
            ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
                self.in_expr(*a, var)
            }
            ExprNode::Ite(c, a, b) => {
                self.in_formula(*c, var) || self.in_expr(*a, var) || self.in_expr(*b, var)
            }
            ExprNode::Comprehension(decls, body) => {
                self.in_decls(decls, var, |blame| blame.in_formula(*body, var))
            }
            ExprNode::IntAtom(int) => self.in_int(*int, var),
        }
    }

    fn in_formula(&self, formula: Formula, var: Var) -> bool {
        match self.terms.formula(formula) {
            FormulaNode::True | FormulaNode::False => false,
            FormulaNode::Not(a) => self.in_formula(*a, var),
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                parts.iter().any(|&part| self.in_formula(part, var))
            }
            FormulaNode::Implies(a, b) | FormulaNode::Iff(a, b) => {
                self.in_formula(*a, var) || self.in_formula(*b, var)
            }
            FormulaNode::Subset(a, b) | FormulaNode::Equal(a, b) => {
                self.in_expr(*a, var) || self.in_expr(*b, var)
            }
            FormulaNode::Count(a, _) => self.in_expr(*a, var),
            FormulaNode::Quant(_, decls, body) => {
                self.in_decls(decls, var, |blame| blame.in_formula(*body, var))
            }
            FormulaNode::IntCmp(_, a, b) => self.in_int(*a, var) || self.in_int(*b, var),
            FormulaNode::TotalOrder { elem, first, next } => [elem, first, next]
                .into_iter()
                .any(|&part| self.in_expr(part, var)),
        }
    }

    fn in_int(&self, int: Int, var: Var) -> bool {
        match self.terms.int(int) {
            IntNode::Const(_) => false,
            IntNode::Card(expr) | IntNode::SumOf(expr) => self.in_expr(*expr, var),
            IntNode::Neg(a) => self.in_int(*a, var),
            IntNode::Sum(decls, body) => {
                self.in_decls(decls, var, |blame| blame.in_int(*body, var))
            }
            IntNode::Op(_, a, b) => self.in_int(*a, var) || self.in_int(*b, var),
            IntNode::Ite(c, a, b) => {
                self.in_formula(*c, var) || self.in_int(*a, var) || self.in_int(*b, var)
            }
        }
    }

    /// A declaration hides a variable from those after it and from the body.
    fn in_decls(&self, decls: &[Decl], var: Var, body: impl Fn(&Self) -> bool) -> bool {
        for decl in decls {
            if self.in_expr(decl.bound, var) {
                return true;
            }
            if decl.var == var {
                return false;
            }
        }
        body(self)
    }
}
