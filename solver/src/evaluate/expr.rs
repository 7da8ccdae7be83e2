//! Expressions on an instance.

use super::sets::{self, Numbering};
use super::{Evaluator, Result, Set};
use crate::problem::{Expr, ExprNode};

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
                self.trace.see(*var);
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
        if let Some(found) = self.recall(|this| &this.sets, expr.index()) {
            return Ok(found);
        }
        let mark = self.trace.mark();
        self.enter()?;
        let result = self.compute(expr)?;
        self.leave();
        self.budget.spend(result.tuples.len())?;
        self.keep(|this| &mut this.sets, expr.index(), mark, &result);
        Ok(result)
    }

    fn compute(&mut self, expr: Expr) -> Result<Set> {
        let terms = self.terms;
        let arity = terms.arity(expr);
        self.width(arity)?;
        let numbering = self.numbering;
        let atoms = self.problem.universe.len();
        Ok(match terms.expr(expr) {
            ExprNode::Relation(_) | ExprNode::Var(_) => self.set(expr)?,
            ExprNode::Tuple(tuple) => Set::new(vec![tuple.iter().fold(0, |number, atom| {
                Numbering::followed(number, numbering.atoms(), u64::from(atom.0))
            })]),
            ExprNode::None(_) => Set::new(Vec::new()),
            ExprNode::Univ => Set::new((0..atoms as u64).collect()),
            ExprNode::Iden => Set::new(numbering.iden(atoms)),
            ExprNode::Ints => {
                let ints = self.problem.ints.iter();
                Set::new(sets::sorted(ints.map(|int| u64::from(int.1.0)).collect()))
            }
            ExprNode::Union(parts) => {
                let mut all = Vec::new();
                let mut overflow = false;
                for &part in parts {
                    let part = self.set(part)?;
                    all.extend_from_slice(&part.tuples);
                    overflow |= part.overflow;
                }
                Set {
                    overflow,
                    ..Set::new(sets::sorted(all))
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
                let width = self.width(arity.saturating_sub(1))?;
                self.binary(*a, *b, |a, b| Numbering::override_with(a, b, width))?
            }
            ExprNode::Join(a, b) => {
                let width = self.width(terms.arity(*b).saturating_sub(1))?;
                self.binary(*a, *b, |a, b| numbering.join(a, b, width))?
            }
            ExprNode::Product(a, b) => {
                let width = self.width(terms.arity(*b))?;
                self.binary(*a, *b, |a, b| Numbering::product(a, b, width))?
            }
            ExprNode::Transpose(a) => self.unary(*a, |a| numbering.transpose(a))?,
            ExprNode::Closure(a) => self.unary(*a, |a| numbering.closure(a))?,
            ExprNode::ReflexiveClosure(a) => self.unary(*a, |a| {
                sets::union(&numbering.closure(a), &numbering.iden(atoms))
            })?,
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
                Set::new(sets::sorted(tuples))
            }
            ExprNode::IntAtom(int) => {
                let number = self.number(*int)?;
                let ints = self.problem.ints.iter();
                let tuples = ints
                    .filter(|int| int.0 == number.value)
                    .map(|int| u64::from(int.1.0));
                Set {
                    overflow: number.overflow,
                    ..Set::new(sets::sorted(tuples.collect()))
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
