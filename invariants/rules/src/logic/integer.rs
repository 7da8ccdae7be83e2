//! Building integers.

use super::node::{ExprId, ExprNode, FormulaId, IntId, IntNode, IntOp, VarId};
use super::term::Terms;

impl Terms {
    /// A literal.
    pub fn int_const(&mut self, value: i64) -> IntId {
        self.add_int(IntNode::Const(value))
    }

    /// `#a`.
    pub fn card(&mut self, expr: ExprId) -> IntId {
        self.add_int(IntNode::Card(expr))
    }

    /// The sum of the numbers of a set.
    pub fn sum_of(&mut self, expr: ExprId) -> IntId {
        match *self.expr(expr) {
            ExprNode::IntAtom(int) => int,
            _ => self.add_int(IntNode::SumOf(expr)),
        }
    }

    /// `sum decls | body`.
    pub fn sum(&mut self, decls: Vec<(VarId, ExprId)>, body: IntId) -> IntId {
        let truth = self.truth();
        match self.make_query(decls, truth) {
            Some(query) => self.add_sum(query, body),
            None => self.int_const(0),
        }
    }

    /// An operation.
    pub fn int_op(&mut self, op: IntOp, a: IntId, b: IntId) -> IntId {
        self.add_int(IntNode::Op(op, a, b))
    }

    /// One or the other.
    pub fn int_ite(&mut self, c: FormulaId, a: IntId, b: IntId) -> IntId {
        if a == b {
            a
        } else {
            self.add_int(IntNode::Ite(c, a, b))
        }
    }
}
