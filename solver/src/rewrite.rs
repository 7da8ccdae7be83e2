//! Replaces variables by expressions in terms.

use rustc_hash::FxHashMap;

use crate::problem::{Decl, Expr, ExprNode, Formula, FormulaNode, Int, IntNode, Terms, Var};
use crate::scope::Scope;

/// A growing list of replacements, and the terms already rewritten with it.
#[derive(Debug, Default)]
pub(crate) struct Rewriter {
    replacements: Vec<(Var, Expr)>,
    exprs: FxHashMap<Expr, Expr>,
    formulas: FxHashMap<Formula, Formula>,
    ints: FxHashMap<Int, Int>,
}

impl Rewriter {
    /// Replaces `var` by `expr` from now on.
    pub(crate) fn push(&mut self, var: Var, expr: Expr) {
        self.replacements.push((var, expr));
        self.forget();
    }

    /// How many replacements there are, to return to with [`Rewriter::truncate`].
    pub(crate) fn len(&self) -> usize {
        self.replacements.len()
    }

    /// Drops the replacements after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        if self.replacements.len() != len {
            self.replacements.truncate(len);
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.exprs.clear();
        self.formulas.clear();
        self.ints.clear();
    }

    fn replacement(&self, var: Var) -> Option<Expr> {
        self.replacements
            .iter()
            .rev()
            .find(|entry| entry.0 == var)
            .map(|entry| entry.1)
    }

    fn concerns(&self, free: &[Var]) -> bool {
        self.replacements
            .iter()
            .any(|entry| free.binary_search(&entry.0).is_ok())
    }

    pub(crate) fn expr(&mut self, terms: &mut Terms, scope: &mut Scope, expr: Expr) -> Expr {
        if self.replacements.is_empty() || !self.concerns(&scope.expr(terms, expr).free) {
            return expr;
        }
        if let Some(&done) = self.exprs.get(&expr) {
            return done;
        }
        let arity = terms.arity(expr);
        let done = match terms.expr(expr).clone() {
            ExprNode::Var(var) => self.replacement(var).unwrap_or(expr),
            ExprNode::Union(parts) => {
                let parts: Vec<_> = parts
                    .into_iter()
                    .map(|part| self.expr(terms, scope, part))
                    .collect();
                terms.union_all(arity, parts)
            }
            ExprNode::Intersection(parts) => {
                let parts: Vec<_> = parts
                    .into_iter()
                    .map(|part| self.expr(terms, scope, part))
                    .collect();
                parts
                    .into_iter()
                    .reduce(|a, b| terms.intersection(a, b))
                    .unwrap_or(expr)
            }
            ExprNode::Difference(a, b) => {
                let (a, b) = self.pair(terms, scope, a, b);
                terms.difference(a, b)
            }
            ExprNode::Override(a, b) => {
                let (a, b) = self.pair(terms, scope, a, b);
                terms.override_with(a, b)
            }
            ExprNode::Join(a, b) => {
                let (a, b) = self.pair(terms, scope, a, b);
                terms.join(a, b)
            }
            ExprNode::Product(a, b) => {
                let (a, b) = self.pair(terms, scope, a, b);
                terms.product(a, b)
            }
            ExprNode::Transpose(a) => {
                let a = self.expr(terms, scope, a);
                terms.transpose(a)
            }
            ExprNode::Closure(a) => {
                let a = self.expr(terms, scope, a);
                terms.closure(a)
            }
            ExprNode::ReflexiveClosure(a) => {
                let a = self.expr(terms, scope, a);
                terms.reflexive_closure(a)
            }
            ExprNode::Ite(c, a, b) => {
                let c = self.formula(terms, scope, c);
                let (a, b) = self.pair(terms, scope, a, b);
                terms.ite(c, a, b)
            }
            ExprNode::Comprehension(decls, body) => {
                let decls = self.decls(terms, scope, decls);
                let body = self.formula(terms, scope, body);
                terms.comprehension(decls, body)
            }
            ExprNode::IntAtom(int) => {
                let int = self.int(terms, scope, int);
                terms.int_atom(int)
            }
            ExprNode::Relation(_)
            | ExprNode::Tuple(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden
            | ExprNode::Ints => expr,
        };
        self.exprs.insert(expr, done);
        done
    }

    fn pair(&mut self, terms: &mut Terms, scope: &mut Scope, a: Expr, b: Expr) -> (Expr, Expr) {
        (self.expr(terms, scope, a), self.expr(terms, scope, b))
    }

    pub(crate) fn decl(&mut self, terms: &mut Terms, scope: &mut Scope, decl: Decl) -> Decl {
        Decl {
            bound: self.expr(terms, scope, decl.bound),
            ..decl
        }
    }

    pub(crate) fn decls(
        &mut self,
        terms: &mut Terms,
        scope: &mut Scope,
        decls: Vec<Decl>,
    ) -> Vec<Decl> {
        decls
            .into_iter()
            .map(|decl| self.decl(terms, scope, decl))
            .collect()
    }

    pub(crate) fn formula(
        &mut self,
        terms: &mut Terms,
        scope: &mut Scope,
        formula: Formula,
    ) -> Formula {
        if self.replacements.is_empty() || !self.concerns(&scope.formula(terms, formula).free) {
            return formula;
        }
        if let Some(&done) = self.formulas.get(&formula) {
            return done;
        }
        let done = match terms.formula(formula).clone() {
            FormulaNode::True | FormulaNode::False => formula,
            FormulaNode::Not(a) => {
                let a = self.formula(terms, scope, a);
                terms.not(a)
            }
            FormulaNode::And(parts) => {
                let parts: Vec<_> = parts
                    .into_iter()
                    .map(|part| self.formula(terms, scope, part))
                    .collect();
                terms.and(parts)
            }
            FormulaNode::Or(parts) => {
                let parts: Vec<_> = parts
                    .into_iter()
                    .map(|part| self.formula(terms, scope, part))
                    .collect();
                terms.or(parts)
            }
            FormulaNode::Implies(a, b) => {
                let a = self.formula(terms, scope, a);
                let b = self.formula(terms, scope, b);
                terms.implies(a, b)
            }
            FormulaNode::Iff(a, b) => {
                let a = self.formula(terms, scope, a);
                let b = self.formula(terms, scope, b);
                terms.iff(a, b)
            }
            FormulaNode::Subset(a, b) => {
                let (a, b) = self.pair(terms, scope, a, b);
                terms.subset(a, b)
            }
            FormulaNode::Equal(a, b) => {
                let (a, b) = self.pair(terms, scope, a, b);
                terms.equal(a, b)
            }
            FormulaNode::Count(a, count) => {
                let a = self.expr(terms, scope, a);
                terms.count(a, count)
            }
            FormulaNode::Quant(quant, decls, body) => {
                let decls = self.decls(terms, scope, decls);
                let body = self.formula(terms, scope, body);
                terms.quant(quant, decls, body)
            }
            FormulaNode::IntCmp(cmp, a, b) => {
                let a = self.int(terms, scope, a);
                let b = self.int(terms, scope, b);
                terms.int_cmp(cmp, a, b)
            }
            FormulaNode::TotalOrder { elem, first, next } => {
                let elem = self.expr(terms, scope, elem);
                let (first, next) = self.pair(terms, scope, first, next);
                terms.total_order(elem, first, next)
            }
        };
        self.formulas.insert(formula, done);
        done
    }

    pub(crate) fn int(&mut self, terms: &mut Terms, scope: &mut Scope, int: Int) -> Int {
        if self.replacements.is_empty() || !self.concerns(&scope.int(terms, int).free) {
            return int;
        }
        if let Some(&done) = self.ints.get(&int) {
            return done;
        }
        let done = match terms.int(int).clone() {
            IntNode::Const(_) => int,
            IntNode::Card(a) => {
                let a = self.expr(terms, scope, a);
                terms.card(a)
            }
            IntNode::SumOf(a) => {
                let a = self.expr(terms, scope, a);
                terms.sum_of(a)
            }
            IntNode::Sum(decls, body) => {
                let decls = self.decls(terms, scope, decls);
                let body = self.int(terms, scope, body);
                terms.sum(decls, body)
            }
            IntNode::Neg(a) => {
                let a = self.int(terms, scope, a);
                terms.neg(a)
            }
            IntNode::Op(op, a, b) => {
                let a = self.int(terms, scope, a);
                let b = self.int(terms, scope, b);
                terms.int_op(op, a, b)
            }
            IntNode::Ite(c, a, b) => {
                let c = self.formula(terms, scope, c);
                let a = self.int(terms, scope, a);
                let b = self.int(terms, scope, b);
                terms.int_ite(c, a, b)
            }
        };
        self.ints.insert(int, done);
        done
    }
}
