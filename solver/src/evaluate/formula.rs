//! Formulas on an instance.

use super::{Evaluator, Result, Set};
use crate::problem::{Count, Expr, Formula, FormulaNode, IntCmp, Quant, Var};
use crate::sets;

impl Evaluator<'_> {
    pub(super) fn holds(&mut self, formula: Formula) -> Result<bool> {
        match self.terms.formula(formula) {
            FormulaNode::True => return Ok(true),
            FormulaNode::False => return Ok(false),
            _ => {}
        }
        let info = self.scope.formula(self.terms, formula);
        let key = self.key(formula.index(), &info);
        if let Some(key) = &key
            && let Some(done) = self.formula_memo.get(key)
        {
            return Ok(done);
        }
        self.enter()?;
        let result = self.judge(formula);
        self.leave();
        let result = result?;
        if let Some(key) = key {
            self.formula_memo.insert(key, result, 0);
        }
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
                Ok(self.guard_sets(value, &[(&left, *a), (&right, *b)]))
            }
            FormulaNode::Equal(a, b) => {
                let (left, right) = (self.set(*a)?, self.set(*b)?);
                let value = left.tuples == right.tuples;
                Ok(self.guard_sets(value, &[(&left, *a), (&right, *b)]))
            }
            FormulaNode::Count(expr, count) => {
                let set = self.set(*expr)?;
                let size = set.tuples.len() as u64;
                let value = match *count {
                    Count::AtMost(k) => size <= u64::from(k),
                    Count::AtLeast(k) => size >= u64::from(k),
                    Count::Exactly(k) => size == u64::from(k),
                };
                Ok(self.guard_sets(value, &[(&set, *expr)]))
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
                if !left.overflow && !right.overflow {
                    return Ok(value);
                }
                let mut operands = Vec::new();
                for (number, int) in [(left, *a), (right, *b)] {
                    let mut vars = Vec::new();
                    self.int_overflow_vars(int, &mut vars);
                    operands.push((number.overflow, vars));
                }
                Ok(self.guard(value, &operands))
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

    fn guard_sets(&mut self, value: bool, operands: &[(&Set, Expr)]) -> bool {
        if operands.iter().all(|operand| !operand.0.overflow) {
            return value;
        }
        let operands: Vec<(bool, Vec<Var>)> = operands
            .iter()
            .map(|(set, expr)| {
                let mut vars = Vec::new();
                self.overflow_vars(*expr, &mut vars);
                (set.overflow, vars)
            })
            .collect();
        self.guard(value, &operands)
    }

    /// Walks from the only first element; the walk must pass each element once and end.
    pub(super) fn is_total_order(&self, elem: &[u64], first: &[u64], next: &[u64]) -> bool {
        let &[first] = first else {
            return false;
        };
        let atoms = self.space.atoms();
        if next.iter().any(|pair| pair % atoms == first) {
            return false;
        }
        let mut seen = vec![first];
        let mut at = first;
        loop {
            match sets::range(next, at * atoms, atoms) {
                [] => break,
                &[pair] => {
                    at = pair % atoms;
                    if seen.len() > elem.len() {
                        return false;
                    }
                    seen.push(at);
                }
                _ => return false,
            }
        }
        let steps = seen.len();
        sets::sort(&mut seen);
        seen.len() == steps && seen == elem
    }
}
