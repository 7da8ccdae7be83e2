//! Formulas over a database.

use super::evaluate::{Evaluator, Stopped};
use super::integers::compare;
use super::set::{Set, Tri};
use crate::logic::{Count, ExprId, ExprNode, FormulaId, FormulaNode, IntCmp};

impl Evaluator<'_> {
    /// A formula.
    pub fn formula(&mut self, formula: FormulaId) -> Result<Tri, Stopped> {
        if !self.trail.is_on() {
            return self.judge(formula);
        }
        let mark = self.trail.mark();
        let tri = self.judge(formula)?;
        if tri != Tri::Unknown {
            self.trail.forget(mark);
        }
        Ok(tri)
    }

    fn judge(&mut self, formula: FormulaId) -> Result<Tri, Stopped> {
        self.step()?;
        let terms = self.terms;
        match terms.formula(formula) {
            FormulaNode::True => Ok(Tri::True),
            FormulaNode::False => Ok(Tri::False),
            FormulaNode::Not(inner) => Ok(!self.formula(*inner)?),
            FormulaNode::And(parts) => {
                let mut all = Tri::True;
                for &part in parts {
                    all = all.and(self.formula(part)?);
                    if all == Tri::False {
                        break;
                    }
                }
                Ok(all)
            }
            FormulaNode::Or(parts) => {
                let mut any = Tri::False;
                for &part in parts {
                    any = any.or(self.formula(part)?);
                    if any == Tri::True {
                        break;
                    }
                }
                Ok(any)
            }
            FormulaNode::Subset(a, b) => self.subset(*a, *b),
            FormulaNode::Equal(a, b) => {
                if let (Some(left), Some(right)) = (self.scalar(*a), self.scalar(*b)) {
                    return Ok(match (left, right) {
                        (Some(left), Some(right)) => self.equal(left, right),
                        (left, right) => Tri::from(left == right),
                    });
                }
                let (left, right) = (self.expr(*a)?, self.expr(*b)?);
                Ok(self.covered(&left, &right).and(self.covered(&right, &left)))
            }
            FormulaNode::Count(expr, count) => {
                match count {
                    Count::AtLeast(1) => {
                        if let Some(some) = self.some(*expr)? {
                            return Ok(some);
                        }
                    }
                    Count::AtMost(0) => {
                        if let Some(some) = self.some(*expr)? {
                            return Ok(!some);
                        }
                    }
                    _ => {}
                }
                let set = self.expr(*expr)?;
                let (least, most) = self.size(&set);
                Ok(match count {
                    Count::AtLeast(n) if least >= i128::from(*n) => Tri::True,
                    Count::AtLeast(n) if most < i128::from(*n) => Tri::False,
                    Count::AtMost(n) if most <= i128::from(*n) => Tri::True,
                    Count::AtMost(n) if least > i128::from(*n) => Tri::False,
                    Count::Exactly(n) => {
                        let n = i128::from(*n);
                        compare(IntCmp::Eq, (least, most), (n, n))
                    }
                    _ => Tri::Unknown,
                })
            }
            FormulaNode::Quant(..) => match terms.formula_query(formula) {
                Some(query) => self.exists(query),
                None => Ok(Tri::Unknown),
            },
            // Not made when rules are compiled.
            FormulaNode::Implies(..) | FormulaNode::Iff(..) | FormulaNode::TotalOrder { .. } => {
                Ok(Tri::Unknown)
            }
            FormulaNode::IntCmp(cmp, a, b) => {
                let (a, b) = (self.int(*a)?, self.int(*b)?);
                Ok(compare(*cmp, a, b))
            }
        }
    }

    fn subset(&mut self, a: ExprId, b: ExprId) -> Result<Tri, Stopped> {
        match self.terms.expr(a) {
            ExprNode::Product(x, y) => match (self.scalar(*x), self.scalar(*y)) {
                (Some(Some(x)), Some(Some(y))) => return self.contains(b, &[x, y]),
                (Some(None), _) | (_, Some(None)) => return Ok(Tri::True),
                _ => {}
            },
            _ => match self.scalar(a) {
                Some(Some(atom)) => return self.contains(b, &[atom]),
                Some(None) => return Ok(Tri::True),
                None => {}
            },
        }
        let set = self.expr(a)?;
        let mut all = if set.open { Tri::Unknown } else { Tri::True };
        for (row, tri) in set.rows() {
            let inside = self.contains(b, row)?;
            all = all.and((!tri).or(inside));
            if all == Tri::False {
                break;
            }
        }
        Ok(all)
    }

    /// Whether every tuple of one set is in another.
    fn covered(&self, part: &Set, whole: &Set) -> Tri {
        let mut all = if part.open { Tri::Unknown } else { Tri::True };
        for (row, tri) in part.rows() {
            all = all.and((!tri).or(self.member(whole, row)));
        }
        all
    }
}
