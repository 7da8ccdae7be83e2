//! Negation normal form and miniscoping: each quantifier is pushed to where its variable occurs.
//!
//! Grounding a block of quantifiers costs the product of their domains. A body that splits is
//! therefore split first: `all x, y | p[x] or q[y]` becomes `(all x | p[x]) or (all y | q[y])`. Within
//! a block the variable that shares a part with the fewest others goes innermost.

use crate::problem::{Count, Decl, Expr, ExprNode, Formula, FormulaNode, Mult, Quant, Terms, Var};
use crate::scope::Scope;

/// Rewrites formulas for grounding.
pub(crate) struct Miniscoper<'t> {
    pub(crate) terms: &'t mut Terms,
    pub(crate) scope: &'t mut Scope,
    /// Whether the sides of an implication with arithmetic must stay as they are, because overflow
    /// is judged by the negations around a comparison.
    pub(crate) overflow_matters: bool,
}

impl Miniscoper<'_> {
    /// An equivalent formula that is cheaper to ground.
    pub(crate) fn formula(&mut self, formula: Formula) -> Formula {
        self.normal(formula, false)
    }

    fn opaque(&mut self, formula: Formula) -> bool {
        self.overflow_matters && self.scope.formula(self.terms, formula).arithmetic
    }

    fn is_opaque_bound(&mut self, decls: &[Decl]) -> bool {
        let mut bounds = decls.iter().map(|decl| decl.bound);
        self.overflow_matters && bounds.any(|bound| self.scope.expr(self.terms, bound).arithmetic)
    }

    /// Conjunction or disjunction with the cheap parts first.
    fn connect(&mut self, conjunction: bool, mut parts: Vec<Formula>) -> Formula {
        parts.sort_by_cached_key(|&part| self.scope.formula(self.terms, part).size);
        if conjunction {
            self.terms.and(parts)
        } else {
            self.terms.or(parts)
        }
    }

    fn normal(&mut self, formula: Formula, negated: bool) -> Formula {
        match self.terms.formula(formula).clone() {
            FormulaNode::True | FormulaNode::False => self.signed(formula, negated),
            FormulaNode::Not(inner) => self.normal(inner, !negated),
            FormulaNode::And(parts) => {
                let parts = parts.iter().map(|&p| self.normal(p, negated)).collect();
                self.connect(!negated, parts)
            }
            FormulaNode::Or(parts) => {
                let parts = parts.iter().map(|&p| self.normal(p, negated)).collect();
                self.connect(negated, parts)
            }
            FormulaNode::Implies(a, b) if self.opaque(formula) => {
                let a = self.normal(a, false);
                let b = self.normal(b, false);
                let implication = self.terms.implies(a, b);
                self.signed(implication, negated)
            }
            FormulaNode::Implies(a, b) => {
                let parts = vec![self.normal(a, !negated), self.normal(b, negated)];
                self.connect(negated, parts)
            }
            FormulaNode::Iff(a, b) => {
                let a = self.normal(a, false);
                let b = self.normal(b, false);
                let iff = self.terms.iff(a, b);
                self.signed(iff, negated)
            }
            // A condition within the expression is judged by the negations around it, and overflow may
            // make even `AtLeast(0)` fail.
            FormulaNode::Count(..) if self.opaque(formula) => self.signed(formula, negated),
            FormulaNode::Count(expr, count) => match (count, negated) {
                (Count::AtMost(k), true) => self.terms.count(expr, Count::AtLeast(k + 1)),
                (Count::AtLeast(0), false) => self.terms.truth(),
                (Count::AtLeast(0), true) => self.terms.falsity(),
                (Count::AtLeast(k), true) => self.terms.count(expr, Count::AtMost(k - 1)),
                _ => self.signed(formula, negated),
            },
            // So is one within a bound.
            FormulaNode::Quant(quant, decls, body) if self.is_opaque_bound(&decls) => {
                let body = self.normal(body, false);
                let quantified = self.terms.quant(quant, decls, body);
                self.signed(quantified, negated)
            }
            FormulaNode::Quant(quant, decls, body) => {
                let body = self.normal(body, negated);
                let quant = match (quant, negated) {
                    (Quant::All, false) | (Quant::Some, true) => Quant::All,
                    (Quant::Some, false) | (Quant::All, true) => Quant::Some,
                };
                self.quantify(quant, decls, body)
            }
            FormulaNode::Subset(..)
            | FormulaNode::Equal(..)
            | FormulaNode::IntCmp(..)
            | FormulaNode::TotalOrder { .. } => self.signed(formula, negated),
        }
    }

    fn signed(&mut self, formula: Formula, negated: bool) -> Formula {
        if negated {
            self.terms.not(formula)
        } else {
            formula
        }
    }

    fn mentions(&mut self, formula: Formula, var: Var) -> bool {
        let info = self.scope.formula(self.terms, formula);
        info.free.binary_search(&var).is_ok()
    }

    fn expr_mentions(&mut self, expr: Expr, var: Var) -> bool {
        let info = self.scope.expr(self.terms, expr);
        info.free.binary_search(&var).is_ok()
    }

    /// Quantifies a body that is normal already.
    fn quantify(&mut self, quant: Quant, mut decls: Vec<Decl>, mut body: Formula) -> Formula {
        if decls.iter().any(|decl| decl.mult != Mult::One) {
            return self.terms.quant(quant, decls, body);
        }
        loop {
            match self.terms.formula(body).clone() {
                FormulaNode::Quant(inner, more, rest)
                    if inner == quant && more.iter().all(|decl| decl.mult == Mult::One) =>
                {
                    decls.extend(more);
                    body = rest;
                }
                FormulaNode::And(parts) if quant == Quant::All => {
                    return self.distribute(quant, &decls, parts);
                }
                FormulaNode::Or(parts) if quant == Quant::Some => {
                    return self.distribute(quant, &decls, parts);
                }
                FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                    return self.eliminate(quant, decls, parts);
                }
                FormulaNode::True if quant == Quant::All => return body,
                FormulaNode::False if quant == Quant::Some => return body,
                _ => return self.eliminate(quant, decls, vec![body]),
            }
        }
    }

    /// `all x | p and q` is `(all x | p) and (all x | q)`; dually for some.
    fn distribute(&mut self, quant: Quant, decls: &[Decl], parts: Vec<Formula>) -> Formula {
        let parts = parts
            .into_iter()
            .map(|part| self.quantify(quant, decls.to_vec(), part))
            .collect();
        self.connect(quant == Quant::All, parts)
    }

    /// Quantifies parts connected by `or` under all, by `and` under some, one variable at a time.
    fn eliminate(
        &mut self,
        quant: Quant,
        mut decls: Vec<Decl>,
        mut parts: Vec<Formula>,
    ) -> Formula {
        let conjunction = quant == Quant::Some;
        while !decls.is_empty() {
            let at = self.cheapest(&decls, &parts);
            let mut decl = decls.remove(at);
            let (with, rest): (Vec<_>, Vec<_>) = parts
                .into_iter()
                .partition(|&part| self.mentions(part, decl.var));
            parts = rest;
            let with = self.restrict(quant, &mut decl, with);
            let inner = match with.as_slice() {
                [one] => match (quant, self.terms.formula(*one).clone()) {
                    (Quant::All, FormulaNode::And(inner))
                    | (Quant::Some, FormulaNode::Or(inner)) => {
                        self.distribute(quant, &[decl], inner)
                    }
                    _ => self.terms.quant(quant, vec![decl], *one),
                },
                _ => {
                    let body = self.connect(conjunction, with);
                    self.terms.quant(quant, vec![decl], body)
                }
            };
            parts.push(inner);
        }
        self.connect(conjunction, parts)
    }

    /// The declaration to go innermost: no other bound depends on it, and few other variables share
    /// a part with it.
    fn cheapest(&mut self, decls: &[Decl], parts: &[Formula]) -> usize {
        let mut best = (usize::MAX, 0);
        for (at, decl) in decls.iter().enumerate() {
            if decls
                .iter()
                .any(|other| other.var != decl.var && self.expr_mentions(other.bound, decl.var))
            {
                continue;
            }
            let mut neighbours: Vec<Var> = Vec::new();
            let mut add = |free: &[Var]| {
                for other in decls {
                    if other.var != decl.var
                        && !neighbours.contains(&other.var)
                        && free.binary_search(&other.var).is_ok()
                    {
                        neighbours.push(other.var);
                    }
                }
            };
            add(&self.scope.expr(self.terms, decl.bound).free);
            for &part in parts {
                let free = self.scope.formula(self.terms, part).free;
                if free.binary_search(&decl.var).is_ok() {
                    add(&free);
                }
            }
            // The later declaration wins a tie, which keeps the order as it was written.
            if neighbours.len() <= best.0 {
                best = (neighbours.len(), at);
            }
        }
        best.1
    }

    /// Narrows the bound of a variable by parts that say where it must be for the rest to matter.
    fn restrict(&mut self, quant: Quant, decl: &mut Decl, parts: Vec<Formula>) -> Vec<Formula> {
        if self.overflow_matters && matches!(self.terms.expr(decl.bound), ExprNode::Ints) {
            return parts;
        }
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            let atom = match (quant, self.terms.formula(part)) {
                (Quant::All, FormulaNode::Not(atom)) => *atom,
                (Quant::Some, _) => part,
                _ => {
                    kept.push(part);
                    continue;
                }
            };
            match *self.terms.formula(atom) {
                FormulaNode::Subset(left, right) => {
                    if let Some(range) = self.membership(decl.var, left, right) {
                        decl.bound = self.terms.intersection(decl.bound, range);
                    } else {
                        kept.push(part);
                    }
                }
                FormulaNode::Equal(left, right) => {
                    // Equal to something is within it; the rest of the equation stays.
                    let range = self
                        .membership(decl.var, left, right)
                        .or_else(|| self.membership(decl.var, right, left));
                    if let Some(range) = range {
                        decl.bound = self.terms.intersection(decl.bound, range);
                    }
                    kept.push(part);
                }
                _ => kept.push(part),
            }
        }
        kept
    }

    /// The set that `var` is in exactly when `left in right`.
    fn membership(&mut self, var: Var, left: Expr, right: Expr) -> Option<Expr> {
        let right_info = self.scope.expr(self.terms, right);
        if right_info.free.binary_search(&var).is_ok()
            || (self.overflow_matters && right_info.arithmetic)
            || self.terms.var_arity(var) != 1
        {
            return None;
        }
        match *self.terms.expr(left) {
            ExprNode::Var(v) if v == var => Some(right),
            ExprNode::Product(a, b) => match (self.terms.expr(a), self.terms.expr(b)) {
                (&ExprNode::Var(x), &ExprNode::Var(v))
                    if v == var && x != var && self.terms.var_arity(x) == 1 =>
                {
                    Some(self.terms.join(a, right))
                }
                (&ExprNode::Var(v), &ExprNode::Var(x))
                    if v == var && x != var && self.terms.var_arity(x) == 1 =>
                {
                    Some(self.terms.join(right, b))
                }
                _ => None,
            },
            _ => None,
        }
    }
}
