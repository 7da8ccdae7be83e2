//! What the bounds alone decide.

use super::Tightener;
use crate::problem::{Count, Decl, Expr, Formula, FormulaNode, Mult, Quant};
use crate::sets;

/// What is asked of a formula: whether it certainly has this truth value.
type Truth = bool;

impl Tightener<'_> {
    /// Whether some formula certainly does not hold.
    pub(crate) fn refutes(&mut self, formulas: &[Formula]) -> bool {
        formulas.iter().any(|&formula| self.certain(formula, false))
    }

    /// Whether a formula certainly has a truth value. What may overflow is not certain.
    fn certain(&mut self, formula: Formula, truth: Truth) -> bool {
        self.work += 1;
        if self.exhausted() {
            return false;
        }
        match self.terms.formula(formula).clone() {
            FormulaNode::True => truth,
            FormulaNode::False => !truth,
            FormulaNode::Not(inner) => self.certain(inner, !truth),
            FormulaNode::And(parts) => self.connected(&parts, truth, truth),
            FormulaNode::Or(parts) => self.connected(&parts, truth, !truth),
            FormulaNode::Implies(a, b) if truth => self.certain(a, false) || self.certain(b, true),
            FormulaNode::Implies(a, b) => self.certain(a, true) && self.certain(b, false),
            FormulaNode::Iff(a, b) => [true, false]
                .into_iter()
                .any(|left| self.certain(a, left) && self.certain(b, left == truth)),
            FormulaNode::Subset(a, b) => self.within(a, b, truth),
            FormulaNode::Equal(a, b) if truth => self.within(a, b, true) && self.within(b, a, true),
            FormulaNode::Equal(a, b) => self.within(a, b, false) || self.within(b, a, false),
            FormulaNode::Count(expr, count) => self.counted(expr, count, truth),
            FormulaNode::Quant(quant, decls, body) => {
                let for_all = (quant == Quant::All) == truth;
                self.quantified(&decls, body, truth, for_all)
            }
            FormulaNode::IntCmp(..) | FormulaNode::TotalOrder { .. } => false,
        }
    }

    /// Whether all, or some, of the parts have a truth value.
    fn connected(&mut self, parts: &[Formula], truth: Truth, all: bool) -> bool {
        if all {
            parts.iter().all(|&part| self.certain(part, truth))
        } else {
            parts.iter().any(|&part| self.certain(part, truth))
        }
    }

    fn within(&mut self, a: Expr, b: Expr, truth: Truth) -> bool {
        if self.arithmetic(a) || self.arithmetic(b) {
            return false;
        }
        let (left, right) = (self.range(a), self.range(b));
        let decided = if truth {
            sets::is_subset(&left.upper, &right.lower)
        } else {
            !sets::is_subset(&left.lower, &right.upper)
        };
        decided && !self.exhausted()
    }

    fn counted(&mut self, expr: Expr, count: Count, truth: Truth) -> bool {
        if self.arithmetic(expr) {
            return false;
        }
        let range = self.range(expr);
        let (fewest, most) = (range.lower.len(), range.upper.len());
        let (least, limit) = match count {
            Count::AtMost(k) => (0, k as usize),
            Count::AtLeast(k) => (k as usize, usize::MAX),
            Count::Exactly(k) => (k as usize, k as usize),
        };
        let decided = if truth {
            least <= fewest && most <= limit
        } else {
            most < least || limit < fewest
        };
        decided && !self.exhausted()
    }

    /// Whether the body certainly has a truth value, for all values that variables may have or for
    /// some that they certainly have.
    fn quantified(&mut self, decls: &[Decl], body: Formula, truth: Truth, for_all: bool) -> bool {
        let Some((decl, rest)) = decls.split_first() else {
            return self.certain(body, truth);
        };
        if decl.mult != Mult::One || self.arithmetic(decl.bound) {
            return false;
        }
        let range = self.range(decl.bound);
        let values = if for_all { range.upper } else { range.lower };
        let mut decided = for_all;
        for &value in values.iter() {
            let certain = self.with(decl.var, value, |this| {
                this.quantified(rest, body, truth, for_all)
            });
            if certain != for_all {
                decided = !for_all;
                break;
            }
        }
        decided && !self.exhausted()
    }
}
