//! The tuples an expression may have at most, from the upper bounds of its relations.

use rustc_hash::FxHashMap;

use crate::problem::{Expr, ExprNode, Problem, Terms, Var};
use crate::sets::{self, Space};
use crate::tighten::Bounds;

/// What is needed to bound an expression from above.
pub(crate) struct Approximator<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) terms: &'a Terms,
    /// The bounds of the relations, those of skolems last.
    pub(crate) bounds: &'a [Bounds],
    pub(crate) space: Space,
}

impl Approximator<'_> {
    /// A superset of the tuples of `expr` in every instance, for values of variables within `env`.
    pub(crate) fn expr(&self, expr: Expr, env: &mut FxHashMap<Var, Vec<u64>>) -> Vec<u64> {
        let atoms = self.problem.universe.len();
        match self.terms.expr(expr) {
            ExprNode::Relation(id) => self
                .bounds
                .get(id.0 as usize)
                .map(|bounds| bounds.1.clone())
                .unwrap_or_default(),
            ExprNode::Var(var) => env.get(var).cloned().unwrap_or_else(|| {
                // Nothing is known of a variable from outside: any tuple.
                (0..self.space.size(self.terms.var_arity(*var))).collect()
            }),
            ExprNode::Tuple(tuple) => vec![
                tuple
                    .iter()
                    .fold(0, |n, a| n * self.space.atoms() + u64::from(a.0)),
            ],
            ExprNode::None(_) => Vec::new(),
            ExprNode::Univ => (0..atoms as u64).collect(),
            ExprNode::Iden => self.space.iden(atoms),
            ExprNode::Ints | ExprNode::IntAtom(_) => {
                let mut ints = self
                    .problem
                    .ints
                    .iter()
                    .map(|int| u64::from(int.1.0))
                    .collect();
                sets::sort(&mut ints);
                ints
            }
            ExprNode::Union(parts) => parts.iter().fold(Vec::new(), |all, &part| {
                sets::union(&all, &self.expr(part, env))
            }),
            ExprNode::Intersection(parts) => {
                let mut sets = parts.iter().map(|&part| self.expr(part, env));
                let first = sets.next().unwrap_or_default();
                sets.fold(first, |all, part| sets::intersection(&all, &part))
            }
            ExprNode::Difference(a, b) => {
                let left = self.expr(*a, env);
                match self.terms.expr(*b) {
                    ExprNode::Relation(id) => match self.bounds.get(id.0 as usize) {
                        Some(bounds) => sets::difference(&left, &bounds.0),
                        None => left,
                    },
                    _ => left,
                }
            }
            ExprNode::Override(a, b) => sets::union(&self.expr(*a, env), &self.expr(*b, env)),
            ExprNode::Join(a, b) => self.space.join(
                &self.expr(*a, env),
                &self.expr(*b, env),
                self.terms.arity(*b),
            ),
            ExprNode::Product(a, b) => self.space.product(
                &self.expr(*a, env),
                &self.expr(*b, env),
                self.terms.arity(*b),
            ),
            ExprNode::Transpose(a) => self.space.transpose(&self.expr(*a, env)),
            ExprNode::Closure(a) => self.space.closure(&self.expr(*a, env)),
            ExprNode::ReflexiveClosure(a) => {
                let closed = self.space.closure(&self.expr(*a, env));
                sets::union(&closed, &self.space.iden(atoms))
            }
            ExprNode::Ite(_, a, b) => sets::union(&self.expr(*a, env), &self.expr(*b, env)),
            ExprNode::Comprehension(decls, _) => {
                let mut tuples = vec![0];
                let mut bound = Vec::new();
                for decl in decls {
                    let upper = self.expr(decl.bound, env);
                    let arity = self.terms.arity(decl.bound);
                    tuples = self.space.product(&tuples, &upper, arity);
                    bound.push((decl.var, env.insert(decl.var, upper)));
                }
                for (var, old) in bound.into_iter().rev() {
                    match old {
                        Some(old) => env.insert(var, old),
                        None => env.remove(&var),
                    };
                }
                tuples
            }
        }
    }
}
