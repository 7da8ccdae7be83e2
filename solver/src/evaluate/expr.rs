//! Expressions on an instance.

use super::{EvaluateError, Evaluator, Result, Set};
use crate::problem::{Expr, ExprNode};
use crate::sets;

impl Evaluator<'_> {
    pub(super) fn set(&mut self, expr: Expr) -> Result<Set> {
        match self.terms.expr(expr) {
            ExprNode::Relation(id) => {
                return Ok(Set {
                    tuples: self
                        .relations
                        .get(id.0 as usize)
                        .cloned()
                        .unwrap_or_default(),
                    overflow: false,
                });
            }
            ExprNode::Var(var) => {
                let binding = self.env.get(var.index()).and_then(Option::as_ref);
                return Ok(Set {
                    tuples: binding
                        .map(|binding| binding.tuples.clone())
                        .unwrap_or_default(),
                    overflow: false,
                });
            }
            _ => {}
        }
        let info = self.scope.expr(self.terms, expr);
        let key = self.key(expr.index(), &info);
        if let Some(key) = &key
            && let Some(done) = self.expr_memo.get(key)
        {
            return Ok(done);
        }
        self.enter()?;
        let result = self.compute(expr)?;
        self.leave();
        self.budget.spend(result.tuples.len())?;
        if let Some(key) = key {
            self.expr_memo
                .insert(key, result.clone(), result.tuples.len());
        }
        Ok(result)
    }

    fn compute(&mut self, expr: Expr) -> Result<Set> {
        let terms = self.terms;
        let arity = terms.arity(expr);
        if !self.space.fits(arity) {
            return Err(EvaluateError::Capacity(arity));
        }
        let space = self.space;
        let atoms = self.problem.universe.len();
        Ok(match terms.expr(expr) {
            ExprNode::Relation(_) | ExprNode::Var(_) => self.set(expr)?,
            ExprNode::Tuple(tuple) => Set::new(vec![
                tuple
                    .iter()
                    .fold(0, |n, a| n * space.atoms() + u64::from(a.0)),
            ]),
            ExprNode::None(_) => Set::new(Vec::new()),
            ExprNode::Univ => Set::new((0..atoms as u64).collect()),
            ExprNode::Iden => Set::new(space.iden(atoms)),
            ExprNode::Ints => {
                let ints = self.problem.ints.iter();
                let mut ints = ints.map(|int| u64::from(int.1.0)).collect();
                sets::sort(&mut ints);
                Set::new(ints)
            }
            ExprNode::Union(parts) => {
                let mut all = Vec::new();
                let mut overflow = false;
                for &part in parts {
                    let part = self.set(part)?;
                    all.extend_from_slice(&part.tuples);
                    overflow |= part.overflow;
                }
                sets::sort(&mut all);
                Set {
                    overflow,
                    ..Set::new(all)
                }
            }
            ExprNode::Intersection(parts) => {
                let mut all: Option<Set> = None;
                for &part in parts {
                    let part = self.set(part)?;
                    all = Some(match all {
                        None => part,
                        Some(all) => Set {
                            overflow: all.overflow | part.overflow,
                            ..Set::new(sets::intersection(&all.tuples, &part.tuples))
                        },
                    });
                }
                all.unwrap_or_else(|| Set::new(Vec::new()))
            }
            ExprNode::Difference(a, b) => self.binary(*a, *b, sets::difference)?,
            ExprNode::Override(a, b) => {
                self.binary(*a, *b, |a, b| space.override_with(a, b, arity))?
            }
            ExprNode::Join(a, b) => {
                let right = terms.arity(*b);
                self.binary(*a, *b, |a, b| space.join(a, b, right))?
            }
            ExprNode::Product(a, b) => {
                let right = terms.arity(*b);
                self.binary(*a, *b, |a, b| space.product(a, b, right))?
            }
            ExprNode::Transpose(a) => self.unary(*a, |a| space.transpose(a))?,
            ExprNode::Closure(a) => self.unary(*a, |a| space.closure(a))?,
            ExprNode::ReflexiveClosure(a) => {
                self.unary(*a, |a| sets::union(&space.closure(a), &space.iden(atoms)))?
            }
            ExprNode::Ite(condition, then, otherwise) => {
                let chosen = if self.holds(*condition)? {
                    then
                } else {
                    otherwise
                };
                self.set(*chosen)?
            }
            ExprNode::Comprehension(decls, body) => {
                let mut tuples = Vec::new();
                self.each(decls, None, 0, &mut |this, tuple| {
                    if this.holds(*body)? {
                        tuples.push(tuple);
                    }
                    Ok(true)
                })?;
                sets::sort(&mut tuples);
                Set::new(tuples)
            }
            ExprNode::IntAtom(int) => {
                let number = self.number(*int)?;
                let ints = self.problem.ints.iter();
                let mut tuples = ints
                    .filter(|int| int.0 == number.value)
                    .map(|int| u64::from(int.1.0))
                    .collect();
                sets::sort(&mut tuples);
                Set {
                    overflow: number.overflow,
                    ..Set::new(tuples)
                }
            }
        })
    }

    fn unary(&mut self, a: Expr, op: impl Fn(&[u64]) -> Vec<u64>) -> Result<Set> {
        let a = self.set(a)?;
        Ok(Set {
            overflow: a.overflow,
            ..Set::new(op(&a.tuples))
        })
    }

    fn binary(&mut self, a: Expr, b: Expr, op: impl Fn(&[u64], &[u64]) -> Vec<u64>) -> Result<Set> {
        let a = self.set(a)?;
        let b = self.set(b)?;
        Ok(Set {
            overflow: a.overflow | b.overflow,
            ..Set::new(op(&a.tuples, &b.tuples))
        })
    }
}
