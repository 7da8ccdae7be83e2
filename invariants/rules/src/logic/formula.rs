//! Building formulas and queries: negation is pushed inward, and what is certain is left out.

use super::node::{Count, ExprId, FormulaId, FormulaNode, IntCmp, IntId, Query, QueryId, VarId};
use super::term::Terms;

impl Terms {
    /// Holds.
    pub fn truth(&mut self) -> FormulaId {
        self.add_formula(FormulaNode::True)
    }

    /// Does not hold.
    pub fn falsity(&mut self) -> FormulaId {
        self.add_formula(FormulaNode::False)
    }

    /// Negation, pushed inward.
    pub fn not(&mut self, formula: FormulaId) -> FormulaId {
        match self.formula(formula).clone() {
            FormulaNode::True => self.falsity(),
            FormulaNode::False => self.truth(),
            FormulaNode::Not(inner) => inner,
            FormulaNode::And(parts) => {
                let parts: Vec<FormulaId> = parts.iter().map(|&part| self.not(part)).collect();
                self.or(parts)
            }
            FormulaNode::Or(parts) => {
                let parts: Vec<FormulaId> = parts.iter().map(|&part| self.not(part)).collect();
                self.and(parts)
            }
            FormulaNode::Count(expr, Count::AtMost(n)) => {
                self.count(expr, Count::AtLeast(n.saturating_add(1)))
            }
            FormulaNode::Count(expr, Count::AtLeast(n)) => match n.checked_sub(1) {
                Some(n) => self.count(expr, Count::AtMost(n)),
                None => self.falsity(),
            },
            FormulaNode::IntCmp(IntCmp::Lt, a, b) => self.int_cmp(IntCmp::Lte, b, a),
            FormulaNode::IntCmp(IntCmp::Lte, a, b) => self.int_cmp(IntCmp::Lt, b, a),
            _ => self.add_formula(FormulaNode::Not(formula)),
        }
    }

    /// Conjunction.
    pub fn and(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        let mut flat = Vec::new();
        for part in parts {
            match self.formula(part) {
                FormulaNode::True => {}
                FormulaNode::False => return part,
                FormulaNode::And(inner) => flat.extend(inner.iter().copied()),
                _ => flat.push(part),
            }
        }
        dedup(&mut flat);
        match flat.as_slice() {
            [] => self.truth(),
            [one] => *one,
            _ => self.add_formula(FormulaNode::And(flat)),
        }
    }

    /// Disjunction.
    pub fn or(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        let mut flat = Vec::new();
        for part in parts {
            match self.formula(part) {
                FormulaNode::False => {}
                FormulaNode::True => return part,
                FormulaNode::Or(inner) => flat.extend(inner.iter().copied()),
                _ => flat.push(part),
            }
        }
        dedup(&mut flat);
        match flat.as_slice() {
            [] => self.falsity(),
            [one] => *one,
            _ => self.add_formula(FormulaNode::Or(flat)),
        }
    }

    /// Implication.
    pub fn implies(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        let not = self.not(a);
        self.or([not, b])
    }

    /// Equivalence.
    pub fn iff(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        let (not_a, not_b) = (self.not(a), self.not(b));
        let both = self.and([a, b]);
        let neither = self.and([not_a, not_b]);
        self.or([both, neither])
    }

    /// `a in b`.
    pub fn subset(&mut self, a: ExprId, b: ExprId) -> FormulaId {
        if a == b || self.is_none(a) {
            self.truth()
        } else if self.is_none(b) {
            self.count(a, Count::AtMost(0))
        } else {
            self.add_formula(FormulaNode::Subset(a, b))
        }
    }

    /// `a = b`.
    pub fn equal(&mut self, a: ExprId, b: ExprId) -> FormulaId {
        if a == b {
            self.truth()
        } else if self.is_none(b) {
            self.count(a, Count::AtMost(0))
        } else if self.is_none(a) {
            self.count(b, Count::AtMost(0))
        } else {
            self.add_formula(FormulaNode::Equal(a, b))
        }
    }

    /// Number of tuples.
    pub fn count(&mut self, expr: ExprId, count: Count) -> FormulaId {
        match count {
            Count::AtLeast(0) => self.truth(),
            Count::AtLeast(_) if self.is_none(expr) => self.falsity(),
            Count::AtMost(_) if self.is_none(expr) => self.truth(),
            _ => self.add_formula(FormulaNode::Count(expr, count)),
        }
    }

    /// `some decls | body`.
    pub fn exists(&mut self, decls: Vec<(VarId, ExprId)>, body: FormulaId) -> FormulaId {
        match self.make_query(decls, body) {
            Some(query) => self.add_exists(query),
            None => self.falsity(),
        }
    }

    /// `all decls | body`.
    pub fn forall(&mut self, decls: Vec<(VarId, ExprId)>, body: FormulaId) -> FormulaId {
        let negated = self.not(body);
        let exists = self.exists(decls, negated);
        self.not(exists)
    }

    /// A query; none when it can have no answer.
    pub fn make_query(
        &mut self,
        mut decls: Vec<(VarId, ExprId)>,
        body: FormulaId,
    ) -> Option<QueryId> {
        let own = decls.len();
        let mut conjuncts = Vec::new();
        let mut open = vec![body];
        while let Some(formula) = open.pop() {
            match self.formula(formula) {
                FormulaNode::True => {}
                FormulaNode::False => return None,
                FormulaNode::And(parts) => open.extend(parts.iter().rev().copied()),
                FormulaNode::Quant(..) => {
                    let Some(inner) = self.formula_query(formula) else {
                        conjuncts.push(formula);
                        continue;
                    };
                    let inner = self.query(inner);
                    let known = |var: &VarId| decls.iter().any(|(other, _)| other == var);
                    if inner.decls.iter().any(|(var, _)| known(var)) {
                        conjuncts.push(formula);
                        continue;
                    }
                    let inner = inner.clone();
                    decls.extend(inner.decls);
                    open.extend(inner.body.iter().rev().copied());
                }
                _ => conjuncts.push(formula),
            }
        }
        dedup(&mut conjuncts);
        Some(self.add_query(Query {
            decls,
            own,
            body: conjuncts,
        }))
    }

    /// Comparison.
    pub fn int_cmp(&mut self, cmp: IntCmp, a: IntId, b: IntId) -> FormulaId {
        self.add_formula(FormulaNode::IntCmp(cmp, a, b))
    }
}

/// Drops repeats and keeps the order, which is the author's and cheapest first as a rule.
fn dedup(list: &mut Vec<FormulaId>) {
    let mut seen = rustc_hash::FxHashSet::default();
    list.retain(|&item| seen.insert(item));
}
