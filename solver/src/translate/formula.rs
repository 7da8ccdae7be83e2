//! Formulas to literals.

use super::{Result, Translator};
use crate::circuit::Lit;
use crate::matrix::Matrix;
use crate::problem::{Count, Expr, Formula, FormulaNode, IntCmp, IntNode, Quant, Var};
use crate::scope::Kind;

impl Translator<'_> {
    /// The literal of a formula under the current values of variables.
    pub(crate) fn formula(&mut self, formula: Formula) -> Result<Lit> {
        match self.terms.formula(formula) {
            FormulaNode::True => return Ok(Lit::TRUE),
            FormulaNode::False => return Ok(Lit::FALSE),
            _ => {}
        }
        let info = self.scope.formula(self.terms, formula);
        let key = self.key(Kind::Formula, formula.index(), &info);
        if let Some(key) = &key
            && let Some(done) = self.formula_memo.get(key)
        {
            return Ok(done);
        }
        self.enter()?;
        let result = self.judge(formula)?;
        self.leave();
        if let Some(key) = key {
            self.formula_memo.insert(key, result, 0);
            self.account()?;
        }
        Ok(result)
    }

    fn judge(&mut self, formula: Formula) -> Result<Lit> {
        let terms = self.terms;
        Ok(match terms.formula(formula) {
            FormulaNode::True => Lit::TRUE,
            FormulaNode::False => Lit::FALSE,
            FormulaNode::Not(inner) => {
                self.negated = !self.negated;
                let inner = self.formula(*inner);
                self.negated = !self.negated;
                !inner?
            }
            FormulaNode::And(parts) => {
                let mut lits = Vec::with_capacity(parts.len());
                for &part in parts {
                    match self.formula(part)? {
                        Lit::FALSE => return Ok(Lit::FALSE),
                        Lit::TRUE => {}
                        lit => lits.push(lit),
                    }
                }
                self.circuit.and_all(lits)
            }
            FormulaNode::Or(parts) => {
                let mut lits = Vec::with_capacity(parts.len());
                for &part in parts {
                    match self.formula(part)? {
                        Lit::TRUE => return Ok(Lit::TRUE),
                        Lit::FALSE => {}
                        lit => lits.push(lit),
                    }
                }
                self.circuit.or_all(lits)
            }
            FormulaNode::Implies(a, b) => {
                let a = self.formula(*a)?;
                if a == Lit::FALSE {
                    return Ok(Lit::TRUE);
                }
                let b = self.formula(*b)?;
                self.circuit.implies(a, b)
            }
            FormulaNode::Iff(a, b) => {
                let (a, b) = (self.formula(*a)?, self.formula(*b)?);
                self.circuit.iff(a, b)
            }
            FormulaNode::Subset(a, b) => {
                let (left, right) = (self.expr(*a)?, self.expr(*b)?);
                let value = self.ops().subset(&left, &right)?;
                self.guard_matrices(value, &[(&left, *a), (&right, *b)])
            }
            FormulaNode::Equal(a, b) => {
                let (left, right) = (self.expr(*a)?, self.expr(*b)?);
                let value = self.ops().equal(&left, &right)?;
                self.guard_matrices(value, &[(&left, *a), (&right, *b)])
            }
            FormulaNode::Count(expr, count) => {
                let matrix = self.expr(*expr)?;
                let value = self.ops().count(&matrix, *count)?;
                self.guard_matrices(value, &[(&matrix, *expr)])
            }
            FormulaNode::Quant(quant, decls, body) => {
                let (quant, body) = (*quant, *body);
                let mut lits = Vec::new();
                let finished =
                    self.ground(decls, Some(quant), Lit::TRUE, 0, &mut |this, guard, _| {
                        let body = this.formula(body)?;
                        let (lit, decided) = match quant {
                            Quant::All => (this.circuit.implies(guard, body), Lit::FALSE),
                            Quant::Some => (this.circuit.and(guard, body), Lit::TRUE),
                        };
                        if lit == decided {
                            return Ok(false);
                        }
                        if !lit.is_const() {
                            lits.push(lit);
                        }
                        Ok(true)
                    })?;
                match quant {
                    Quant::All if finished => self.circuit.and_all(lits),
                    Quant::All => Lit::FALSE,
                    Quant::Some if finished => self.circuit.or_all(lits),
                    Quant::Some => Lit::TRUE,
                }
            }
            FormulaNode::IntCmp(cmp, a, b) => self.compare(*cmp, *a, *b)?,
            FormulaNode::TotalOrder { elem, first, next } => {
                self.total_order(*elem, *first, *next)?
            }
        })
    }

    fn guard_matrices(&mut self, value: Lit, operands: &[(&Matrix, Expr)]) -> Lit {
        if !self.forbid_overflow || operands.iter().all(|m| m.0.overflow == Lit::FALSE) {
            return value;
        }
        let operands: Vec<(Lit, Vec<Var>)> = operands
            .iter()
            .map(|(matrix, expr)| {
                let mut vars = Vec::new();
                self.overflow_vars(*expr, &mut vars);
                (matrix.overflow, vars)
            })
            .collect();
        self.guard(value, &operands)
    }

    fn compare(
        &mut self,
        cmp: IntCmp,
        a: crate::problem::Int,
        b: crate::problem::Int,
    ) -> Result<Lit> {
        if let Some(lit) = self.compare_size(cmp, a, b)? {
            return Ok(lit);
        }
        let (left, right) = (self.int(a)?, self.int(b)?);
        let value = match cmp {
            IntCmp::Eq => self.int_equal(&left, &right),
            IntCmp::Lt => !self.int_at_most(&right, &left),
            IntCmp::Lte => self.int_at_most(&left, &right),
        };
        let mut operands = Vec::new();
        if self.forbid_overflow && (left.overflow != Lit::FALSE || right.overflow != Lit::FALSE) {
            for (bits, int) in [(&left, a), (&right, b)] {
                let mut vars = Vec::new();
                self.int_overflow_vars(int, &mut vars);
                operands.push((bits.overflow, vars));
            }
        }
        Ok(self.guard(value, &operands))
    }

    /// A size compared with a constant is counted, when neither can overflow.
    fn compare_size(
        &mut self,
        cmp: IntCmp,
        a: crate::problem::Int,
        b: crate::problem::Int,
    ) -> Result<Option<Lit>> {
        let (expr, k, size_first) = match (self.terms.int(a), self.terms.int(b)) {
            (IntNode::Card(expr), IntNode::Const(k)) => (*expr, *k, true),
            (IntNode::Const(k), IntNode::Card(expr)) => (*expr, *k, false),
            _ => return Ok(None),
        };
        let max = (1i64 << (self.bitwidth - 1)) - 1;
        let matrix = self.expr(expr)?;
        if matrix.overflow != Lit::FALSE
            || i64::try_from(matrix.cells.len()).is_ok_and(|size| size > max)
            || !(-max - 1..=max).contains(&k)
        {
            return Ok(None);
        }
        let count = |k: i64| u32::try_from(k).ok();
        let never = Lit::FALSE;
        let always = Lit::TRUE;
        let result = match (cmp, size_first) {
            (IntCmp::Eq, _) => match count(k) {
                Some(k) => self.ops().count(&matrix, Count::Exactly(k))?,
                None => never,
            },
            // size < k
            (IntCmp::Lt, true) => match count(k - 1) {
                Some(k) => self.ops().count(&matrix, Count::AtMost(k))?,
                None => never,
            },
            // size <= k
            (IntCmp::Lte, true) => match count(k) {
                Some(k) => self.ops().count(&matrix, Count::AtMost(k))?,
                None => never,
            },
            // k < size
            (IntCmp::Lt, false) => match count(k + 1) {
                Some(k) => self.ops().count(&matrix, Count::AtLeast(k))?,
                None => always,
            },
            // k <= size
            (IntCmp::Lte, false) => match count(k) {
                Some(k) => self.ops().count(&matrix, Count::AtLeast(k))?,
                None => always,
            },
        };
        Ok(Some(result))
    }

    /// `first` is one atom from which `next` leads without repeat through exactly `elem`.
    fn total_order(&mut self, elem: Expr, first: Expr, next: Expr) -> Result<Lit> {
        let (elem, first, next) = (self.expr(elem)?, self.expr(first)?, self.expr(next)?);
        let one_first = self.ops().count(&first, Count::Exactly(1))?;
        let closed = self.ops().closure(&next)?;
        let iden = Matrix::constant(self.space.iden(self.atoms));
        let reach = self.ops().union(&[&closed, &iden])?;
        let reached = self.ops().join(&first, &reach, 2)?;
        let exact = self.ops().equal(&elem, &reached)?;
        let before_first = self.ops().join(&next, &first, 1)?;
        let no_before = self.ops().count(&before_first, Count::AtMost(0))?;
        // With one successor at most for each and an element without any, the path has no loop.
        let univ = Matrix::constant(0..self.atoms as u64);
        let with_next = self.ops().join(&next, &univ, 1)?;
        let ends = self.ops().difference(&elem, &with_next)?;
        let some_end = self.ops().count(&ends, Count::AtLeast(1))?;
        let mut all = vec![one_first, exact, no_before, some_end];
        for &(atom, lit) in &elem.cells {
            let single = Matrix::constant([atom]);
            let after = self.ops().join(&single, &next, 2)?;
            let lone = self.ops().count(&after, Count::AtMost(1))?;
            all.push(self.circuit.implies(lit, lone));
        }
        Ok(self.circuit.and_all(all))
    }
}
