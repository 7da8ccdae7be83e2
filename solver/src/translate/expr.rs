//! Expressions to matrices.

use std::rc::Rc;

use super::{Failure, Result, Translator};
use crate::circuit::Lit;
use crate::matrix::Matrix;
use crate::problem::{Decl, Expr, ExprNode, Formula};
use crate::scope::Kind;

impl Translator<'_> {
    /// The matrix of an expression under the current values of variables.
    pub(crate) fn expr(&mut self, expr: Expr) -> Result<Rc<Matrix>> {
        match self.terms.expr(expr) {
            ExprNode::Relation(id) => {
                return Ok(self
                    .relations
                    .get(id.0 as usize)
                    .cloned()
                    .unwrap_or_else(|| Rc::new(Matrix::new(Vec::new()))));
            }
            ExprNode::Var(var) => {
                return Ok(match self.env.get(var.index()) {
                    Some(Some(value)) => value.1.clone(),
                    _ => Rc::new(Matrix::new(Vec::new())),
                });
            }
            _ => {}
        }
        let info = self.scope.expr(self.terms, expr);
        let key = self.key(Kind::Expr, expr.index(), &info);
        if let Some(key) = &key
            && let Some(done) = self.expr_memo.get(key)
        {
            return Ok(done);
        }
        self.enter()?;
        let result = Rc::new(self.compute(expr)?);
        self.leave();
        if let Some(key) = key {
            self.expr_memo
                .insert(key, result.clone(), result.cells.len());
            self.account()?;
        }
        Ok(result)
    }

    fn compute(&mut self, expr: Expr) -> Result<Matrix> {
        let terms = self.terms;
        let arity = terms.arity(expr);
        if !self.space.fits(arity) {
            return Err(Failure::Capacity(arity));
        }
        Ok(match terms.expr(expr) {
            ExprNode::Relation(_) | ExprNode::Var(_) => (*self.expr(expr)?).clone(),
            ExprNode::Tuple(tuple) => {
                let atoms = self.space.atoms();
                let index = tuple.iter().fold(0, |n, a| n * atoms + u64::from(a.0));
                Matrix::constant([index])
            }
            ExprNode::None(_) => Matrix::new(Vec::new()),
            ExprNode::Univ => Matrix::constant(0..self.atoms as u64),
            ExprNode::Iden => Matrix::constant(self.space.iden(self.atoms)),
            ExprNode::Ints => {
                let mut ints: Vec<u64> = self.ints.iter().map(|int| u64::from(int.1.0)).collect();
                ints.sort_unstable();
                ints.dedup();
                Matrix::constant(ints)
            }
            ExprNode::Union(parts) => {
                let parts = parts
                    .iter()
                    .map(|&part| self.expr(part))
                    .collect::<Result<Vec<_>>>()?;
                let refs: Vec<&Matrix> = parts.iter().map(Rc::as_ref).collect();
                let result = self.ops().union(&refs)?;
                self.inherit(result, &refs)
            }
            ExprNode::Intersection(parts) => self.intersection(parts)?,
            ExprNode::Difference(a, b) => {
                let (a, b) = (self.expr(*a)?, self.expr(*b)?);
                let result = self.ops().difference(&a, &b)?;
                self.inherit(result, &[&a, &b])
            }
            ExprNode::Override(a, b) => {
                let (a, b) = (self.expr(*a)?, self.expr(*b)?);
                let result = self.ops().override_with(&a, &b, arity)?;
                self.inherit(result, &[&a, &b])
            }
            ExprNode::Join(a, b) => {
                let right_arity = terms.arity(*b);
                let (a, b) = (self.expr(*a)?, self.expr(*b)?);
                let result = self.ops().join(&a, &b, right_arity)?;
                self.inherit(result, &[&a, &b])
            }
            ExprNode::Product(a, b) => {
                let right_arity = terms.arity(*b);
                let (a, b) = (self.expr(*a)?, self.expr(*b)?);
                let result = self.ops().product(&a, &b, right_arity)?;
                self.inherit(result, &[&a, &b])
            }
            ExprNode::Transpose(a) => {
                let a = self.expr(*a)?;
                let result = self.ops().transpose(&a)?;
                self.inherit(result, &[&a])
            }
            ExprNode::Closure(a) => {
                let a = self.expr(*a)?;
                let result = self.ops().closure(&a)?;
                self.inherit(result, &[&a])
            }
            ExprNode::ReflexiveClosure(a) => {
                let a = self.expr(*a)?;
                let closed = self.ops().closure(&a)?;
                let iden = Matrix::constant(self.space.iden(self.atoms));
                let result = self.ops().union(&[&closed, &iden])?;
                self.inherit(result, &[&a])
            }
            ExprNode::Ite(condition, then, otherwise) => {
                let condition = self.formula(*condition)?;
                match condition {
                    Lit::TRUE => (*self.expr(*then)?).clone(),
                    Lit::FALSE => (*self.expr(*otherwise)?).clone(),
                    _ => {
                        let (a, b) = (self.expr(*then)?, self.expr(*otherwise)?);
                        let mut result = self.ops().ite(condition, &a, &b)?;
                        result.overflow = self.circuit.ite(condition, a.overflow, b.overflow);
                        result
                    }
                }
            }
            ExprNode::Comprehension(decls, body) => self.comprehension(decls, *body)?,
            ExprNode::IntAtom(int) => {
                let bits = self.int(*int)?;
                let mut cells = Vec::new();
                for &(value, atom) in self.ints {
                    let lit = self.equals_constant(&bits, value);
                    if lit != Lit::FALSE {
                        cells.push((u64::from(atom.0), lit));
                    }
                }
                cells.sort_unstable();
                let mut result = Matrix::new(cells);
                result.overflow = bits.overflow;
                result
            }
        })
    }

    /// An expression overflows where an operand does.
    fn inherit(&mut self, mut result: Matrix, operands: &[&Matrix]) -> Matrix {
        if self.forbid_overflow && operands.iter().any(|m| m.overflow != Lit::FALSE) {
            result.overflow = self
                .circuit
                .or_all(operands.iter().map(|operand| operand.overflow));
        }
        result
    }

    fn intersection(&mut self, parts: &[Expr]) -> Result<Matrix> {
        let mut matrices = Vec::with_capacity(parts.len());
        for &part in parts {
            let matrix = self.expr(part)?;
            let empty = matrix.cells.is_empty() && !self.forbid_overflow;
            matrices.push(matrix);
            if empty {
                return Ok(Matrix::new(Vec::new()));
            }
        }
        // The smallest first, so that it decides what is looked at.
        matrices.sort_by_key(|matrix| matrix.cells.len());
        let refs: Vec<&Matrix> = matrices.iter().map(Rc::as_ref).collect();
        let Some((first, rest)) = refs.split_first() else {
            return Ok(Matrix::new(Vec::new()));
        };
        let mut result = (*first).clone();
        for other in rest {
            result = self.ops().intersection(&result, other)?;
        }
        Ok(self.inherit(result, &refs))
    }

    fn comprehension(&mut self, decls: &[Decl], body: Formula) -> Result<Matrix> {
        let mut cells = Vec::new();
        self.ground(decls, None, Lit::TRUE, 0, &mut |this, guard, tuple| {
            let body = this.formula(body)?;
            let lit = this.circuit.and(guard, body);
            if lit != Lit::FALSE {
                cells.push((tuple, lit));
            }
            Ok(true)
        })?;
        // Bounds are visited in order, so the tuples are sorted.
        Ok(Matrix::new(cells))
    }
}
