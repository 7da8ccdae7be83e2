//! What an expression has at least and at most, from the bounds of its relations.

use std::rc::Rc;

use super::{MAX_WORK, Tightener};
use crate::problem::{Expr, ExprNode, IntNode};
use crate::sets;

/// Steps that a closure may take.
const MAX_CLOSURE: usize = 200_000;

/// What an expression has at least and at most.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) lower: Rc<Vec<u64>>,
    pub(super) upper: Rc<Vec<u64>>,
}

impl Range {
    pub(super) fn exact(tuples: Vec<u64>) -> Self {
        let lower = Rc::new(tuples);
        Range {
            upper: lower.clone(),
            lower,
        }
    }

    pub(super) fn new(lower: Vec<u64>, upper: Vec<u64>) -> Self {
        Range {
            lower: Rc::new(lower),
            upper: Rc::new(upper),
        }
    }

    /// The only tuple, when it is known to be the only one.
    pub(super) fn single(&self) -> Option<u64> {
        match (self.lower.as_slice(), self.upper.as_slice()) {
            (&[a], &[_]) => Some(a),
            _ => None,
        }
    }
}

impl Tightener<'_> {
    pub(super) fn range(&mut self, expr: Expr) -> Range {
        match self.terms.expr(expr) {
            ExprNode::Relation(id) => {
                if let Some(range) = self.bounds.get(id.0 as usize) {
                    return range.clone();
                }
            }
            ExprNode::Var(var) => {
                if let Some(range) = self.env.get(var) {
                    return range.clone();
                }
            }
            _ => {}
        }
        let closed = self.scope.expr(self.terms, expr).free.is_empty();
        if closed && let Some(range) = self.memo.get(&expr) {
            return range.clone();
        }
        let range = self.compute(expr);
        self.work += 1 + range.upper.len();
        if closed {
            self.memo.insert(expr, range.clone());
        }
        range
    }

    /// Nothing at least and anything at most, as far as that can be listed.
    fn unknown(&mut self, arity: usize) -> Range {
        let size = self.space.size(arity);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.work = self.work.saturating_add(size);
        if self.exhausted() {
            // What is asked of it from now on is not used.
            return Range::new(Vec::new(), Vec::new());
        }
        Range::new(Vec::new(), (0..size as u64).collect())
    }

    fn compute(&mut self, expr: Expr) -> Range {
        let terms = self.terms;
        let space = self.space;
        let arity = terms.arity(expr);
        let atoms = self.problem.universe.len();
        if self.exhausted() || !space.fits(arity) {
            self.work = MAX_WORK + 1;
            return Range::new(Vec::new(), Vec::new());
        }
        match terms.expr(expr) {
            ExprNode::Relation(_) | ExprNode::Var(_) => self.unknown(arity),
            ExprNode::Tuple(tuple) => Range::exact(vec![
                tuple
                    .iter()
                    .fold(0, |n, a| n * space.atoms() + u64::from(a.0)),
            ]),
            ExprNode::None(_) => Range::exact(Vec::new()),
            ExprNode::Univ => Range::exact((0..atoms as u64).collect()),
            ExprNode::Iden => Range::exact(space.iden(atoms)),
            ExprNode::Ints => Range::exact(self.ints(|_| true)),
            ExprNode::IntAtom(int) => match terms.int(*int) {
                IntNode::Const(value) => Range::exact(self.ints(|int| int == *value)),
                _ => Range::new(Vec::new(), self.ints(|_| true)),
            },
            ExprNode::Union(parts) => {
                let (mut lower, mut upper) = (Vec::new(), Vec::new());
                for &part in parts {
                    let part = self.range(part);
                    lower.extend_from_slice(&part.lower);
                    upper.extend_from_slice(&part.upper);
                }
                sets::sort(&mut lower);
                sets::sort(&mut upper);
                Range::new(lower, upper)
            }
            ExprNode::Intersection(parts) => parts
                .iter()
                .map(|&part| self.range(part))
                .reduce(|a, b| {
                    Range::new(
                        sets::intersection(&a.lower, &b.lower),
                        sets::intersection(&a.upper, &b.upper),
                    )
                })
                .unwrap_or_else(|| Range::exact(Vec::new())),
            ExprNode::Difference(a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                Range::new(
                    sets::difference(&a.lower, &b.upper),
                    sets::difference(&a.upper, &b.lower),
                )
            }
            ExprNode::Override(a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                // A row surely kept has no possible replacement, one surely replaced has a sure one.
                let kept = space.override_with(&a.lower, &b.upper, arity);
                let kept = sets::difference(&kept, &sets::difference(&b.upper, &b.lower));
                let possible = space.override_with(&a.upper, &b.lower, arity);
                Range::new(kept, sets::union(&possible, &b.upper))
            }
            ExprNode::Join(a, b) => {
                let right = terms.arity(*b);
                let (a, b) = (self.range(*a), self.range(*b));
                Range::new(
                    space.join(&a.lower, &b.lower, right),
                    space.join(&a.upper, &b.upper, right),
                )
            }
            ExprNode::Product(a, b) => {
                let right = terms.arity(*b);
                let (a, b) = (self.range(*a), self.range(*b));
                self.work = self
                    .work
                    .saturating_add(a.upper.len().saturating_mul(b.upper.len()));
                if self.exhausted() {
                    return Range::new(Vec::new(), Vec::new());
                }
                Range::new(
                    space.product(&a.lower, &b.lower, right),
                    space.product(&a.upper, &b.upper, right),
                )
            }
            ExprNode::Transpose(a) => {
                let a = self.range(*a);
                Range::new(space.transpose(&a.lower), space.transpose(&a.upper))
            }
            ExprNode::Closure(a) => {
                let a = self.range(*a);
                Range::new(space.closure(&a.lower), self.most_closed(&a.upper))
            }
            ExprNode::ReflexiveClosure(a) => {
                let a = self.range(*a);
                let iden = space.iden(atoms);
                Range::new(
                    sets::union(&space.closure(&a.lower), &iden),
                    sets::union(&self.most_closed(&a.upper), &iden),
                )
            }
            ExprNode::Ite(_, a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                Range::new(
                    sets::intersection(&a.lower, &b.lower),
                    sets::union(&a.upper, &b.upper),
                )
            }
            ExprNode::Comprehension(..) => self.unknown(arity),
        }
    }

    /// A superset of a transitive closure: where the closure itself would take long, every pair from
    /// an atom with a successor to one with a predecessor.
    fn most_closed(&mut self, pairs: &[u64]) -> Vec<u64> {
        let atoms = self.space.atoms();
        let mut starts: Vec<u64> = pairs.iter().map(|pair| pair / atoms).collect();
        sets::sort(&mut starts);
        let steps = starts.len().saturating_mul(pairs.len());
        self.work = self.work.saturating_add(steps.min(MAX_CLOSURE));
        if steps <= MAX_CLOSURE {
            return self.space.closure(pairs);
        }
        let mut ends: Vec<u64> = pairs.iter().map(|pair| pair % atoms).collect();
        sets::sort(&mut ends);
        self.space.product(&starts, &ends, 1)
    }

    fn ints(&self, wanted: impl Fn(i64) -> bool) -> Vec<u64> {
        let ints = self.problem.ints.iter();
        let mut ints = ints
            .filter(|int| wanted(int.0))
            .map(|int| u64::from(int.1.0))
            .collect();
        sets::sort(&mut ints);
        ints
    }
}
