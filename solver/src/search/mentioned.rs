//! What the constraints of a problem speak of.

use crate::problem::{
    Atom, Expr, ExprNode, Formula, FormulaNode, Int, IntNode, Problem, RelationId, Terms,
};

/// What the constraints mention.
pub(super) struct Mentioned {
    pub(super) relations: Vec<bool>,
    pub(super) atoms: Vec<Atom>,
}

impl Mentioned {
    /// With `all`, every relation counts as mentioned.
    pub(super) fn new(problem: &Problem, all: bool) -> Self {
        let mut walk = Walk {
            terms: &problem.terms,
            exprs: Vec::new(),
            formulas: Vec::new(),
            ints: Vec::new(),
            mentioned: Mentioned {
                relations: vec![all; problem.relations.len()],
                atoms: problem.ints.iter().map(|int| int.1).collect(),
            },
        };
        for constraint in &problem.constraints {
            walk.formula(constraint.formula);
        }
        for order in &problem.orders {
            for id in [order.elem, order.first, order.next] {
                walk.relation(id);
            }
        }
        walk.mentioned
    }
}

/// Finds what terms mention, each term once.
struct Walk<'a> {
    terms: &'a Terms,
    exprs: Vec<bool>,
    formulas: Vec<bool>,
    ints: Vec<bool>,
    mentioned: Mentioned,
}

/// Marks a place; returns whether it was marked before.
fn mark(marks: &mut Vec<bool>, at: usize) -> bool {
    if marks.len() <= at {
        marks.resize(at + 1, false);
    }
    marks
        .get_mut(at)
        .is_some_and(|mark| std::mem::replace(mark, true))
}

impl Walk<'_> {
    fn relation(&mut self, id: RelationId) {
        if let Some(slot) = self.mentioned.relations.get_mut(id.0 as usize) {
            *slot = true;
        }
    }

    fn expr(&mut self, expr: Expr) {
        if mark(&mut self.exprs, expr.index()) {
            return;
        }
        let terms = self.terms;
        match terms.expr(expr) {
            ExprNode::Relation(id) => self.relation(*id),
            ExprNode::Tuple(tuple) => self.mentioned.atoms.extend_from_slice(tuple),
            ExprNode::Var(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden
            | ExprNode::Ints => {}
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                for &part in parts {
                    self.expr(part);
                }
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => {
                self.expr(*a);
                self.expr(*b);
            }
            ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
                self.expr(*a);
            }
            ExprNode::Ite(c, a, b) => {
                self.formula(*c);
                self.expr(*a);
                self.expr(*b);
            }
            ExprNode::Comprehension(decls, body) => {
                for decl in decls {
                    self.expr(decl.bound);
                }
                self.formula(*body);
            }
            ExprNode::IntAtom(int) => self.int(*int),
        }
    }

    fn formula(&mut self, formula: Formula) {
        if mark(&mut self.formulas, formula.index()) {
            return;
        }
        let terms = self.terms;
        match terms.formula(formula) {
            FormulaNode::True | FormulaNode::False => {}
            FormulaNode::Not(a) => self.formula(*a),
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                for &part in parts {
                    self.formula(part);
                }
            }
            FormulaNode::Implies(a, b) | FormulaNode::Iff(a, b) => {
                self.formula(*a);
                self.formula(*b);
            }
            FormulaNode::Subset(a, b) | FormulaNode::Equal(a, b) => {
                self.expr(*a);
                self.expr(*b);
            }
            FormulaNode::Count(a, _) => self.expr(*a),
            FormulaNode::Quant(_, decls, body) => {
                for decl in decls {
                    self.expr(decl.bound);
                }
                self.formula(*body);
            }
            FormulaNode::IntCmp(_, a, b) => {
                self.int(*a);
                self.int(*b);
            }
            FormulaNode::TotalOrder { elem, first, next } => {
                for &part in [elem, first, next] {
                    self.expr(part);
                }
            }
        }
    }

    fn int(&mut self, int: Int) {
        if mark(&mut self.ints, int.index()) {
            return;
        }
        let terms = self.terms;
        match terms.int(int) {
            IntNode::Const(_) => {}
            IntNode::Card(a) | IntNode::SumOf(a) => self.expr(*a),
            IntNode::Sum(decls, body) => {
                for decl in decls {
                    self.expr(decl.bound);
                }
                self.int(*body);
            }
            IntNode::Neg(a) => self.int(*a),
            IntNode::Op(_, a, b) => {
                self.int(*a);
                self.int(*b);
            }
            IntNode::Ite(c, a, b) => {
                self.formula(*c);
                self.int(*a);
                self.int(*b);
            }
        }
    }
}
