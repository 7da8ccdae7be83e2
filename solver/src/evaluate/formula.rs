//! Formulas on an instance.

use super::blame::Operand;
use super::sets;
use super::{Evaluator, Result};
use crate::problem::{Count, Formula, FormulaNode, IntCmp, Quant};

impl Evaluator<'_> {
    pub(super) fn holds(&mut self, formula: Formula) -> Result<bool> {
        match self.terms.formula(formula) {
            FormulaNode::True => return Ok(true),
            FormulaNode::False => return Ok(false),
            _ => {}
        }
        if let Some(found) = self.recall(|this| &this.truths, formula.index()) {
            return Ok(found);
        }
        let mark = self.trace.mark();
        self.enter()?;
        let result = self.judge(formula);
        self.leave();
        let result = result?;
        self.keep(|this| &mut this.truths, formula.index(), mark, &result);
        Ok(result)
    }

    fn judge(&mut self, formula: Formula) -> Result<bool> {
        let terms = self.terms;
        match terms.formula(formula) {
            FormulaNode::True => Ok(true),
            FormulaNode::False => Ok(false),
            FormulaNode::Not(inner) => {
                self.negated = !self.negated;
                let inner = self.holds(*inner);
                self.negated = !self.negated;
                Ok(!inner?)
            }
            FormulaNode::And(parts) => self.any(parts, false).map(|found| !found),
            FormulaNode::Or(parts) => self.any(parts, true),
            FormulaNode::Implies(a, b) => {
                let left = self.holds(*a);
                if left == Ok(false) {
                    return Ok(true);
                }
                let right = self.holds(*b)?;
                Ok(right || !left?)
            }
            FormulaNode::Iff(a, b) => Ok(self.holds(*a)? == self.holds(*b)?),
            FormulaNode::Subset(a, b) => {
                let (left, right) = (self.set(*a)?, self.set(*b)?);
                let value = sets::is_subset(&left.tuples, &right.tuples);
                let operands = [(left.overflow, *a), (right.overflow, *b)];
                Ok(self.despite_overflow(value, &operands.map(|(o, e)| (o, Operand::Expr(e)))))
            }
            FormulaNode::Equal(a, b) => {
                let (left, right) = (self.set(*a)?, self.set(*b)?);
                let value = left.tuples == right.tuples;
                let operands = [(left.overflow, *a), (right.overflow, *b)];
                Ok(self.despite_overflow(value, &operands.map(|(o, e)| (o, Operand::Expr(e)))))
            }
            FormulaNode::Count(expr, count) => {
                let set = self.set(*expr)?;
                let size = set.tuples.len() as u64;
                let value = match *count {
                    Count::AtMost(k) => size <= u64::from(k),
                    Count::AtLeast(k) => size >= u64::from(k),
                    Count::Exactly(k) => size == u64::from(k),
                };
                Ok(self.despite_overflow(value, &[(set.overflow, Operand::Expr(*expr))]))
            }
            FormulaNode::Quant(quant, decls, body) => {
                let deciding = *quant == Quant::Some;
                let undecided = self.each(decls, Some(*quant), 0, &mut |this, _| {
                    Ok(this.holds(*body)? != deciding)
                })?;
                Ok(undecided != deciding)
            }
            FormulaNode::IntCmp(cmp, a, b) => {
                let (left, right) = (self.number(*a)?, self.number(*b)?);
                let value = match cmp {
                    IntCmp::Eq => left.value == right.value,
                    IntCmp::Lt => left.value < right.value,
                    IntCmp::Lte => left.value <= right.value,
                };
                let operands = [(left.overflow, *a), (right.overflow, *b)];
                Ok(self.despite_overflow(value, &operands.map(|(o, i)| (o, Operand::Int(i)))))
            }
            FormulaNode::TotalOrder { elem, first, next } => {
                let (elem, first, next) = (self.set(*elem)?, self.set(*first)?, self.set(*next)?);
                Ok(self.is_total_order(&elem.tuples, &first.tuples, &next.tuples))
            }
        }
    }

    /// Whether some part has this value. One that cannot be evaluated does not matter when another
    /// one has it.
    fn any(&mut self, parts: &[Formula], value: bool) -> Result<bool> {
        let mut failure = None;
        for &part in parts {
            match self.holds(part) {
                Ok(found) if found == value => return Ok(true),
                Ok(_) => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(false), Err)
    }

    /// Walks from the only first element; the walk must pass each element once and end.
    pub(super) fn is_total_order(&self, elem: &[u64], first: &[u64], next: &[u64]) -> bool {
        let &[first] = first else {
            return false;
        };
        let atoms = self.numbering.atoms();
        if next.iter().any(|pair| pair % atoms == first) {
            return false;
        }
        let mut path = vec![first];
        let mut at = first;
        loop {
            let mut pairs = next.iter().filter(|&pair| pair / atoms == at);
            match (pairs.next(), pairs.next()) {
                (None, _) => break,
                (Some(pair), None) if path.len() <= elem.len() => {
                    at = pair % atoms;
                    path.push(at);
                }
                _ => return false,
            }
        }
        let steps = path.len();
        let passed = sets::sorted(path);
        passed.len() == steps && passed == elem
    }
}
