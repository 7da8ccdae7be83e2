//! What is relevant of the operands, given what is relevant of the result.

use std::rc::Rc;

use super::expr::{Rx, same};
use super::make::Checker;
use super::product::{self, Product, Type, Union};
use crate::model::{BinaryOp, SigId, builtin};

impl Checker {
    /// The pairs of `child` that lie on a path from a pair that `parent` wants.
    pub(super) fn closure_relevance(&self, parent: &Type, child: &Type) -> Type {
        let h = &self.hierarchy;
        let pairs = |ty: &Type| -> Vec<(SigId, SigId)> {
            ty.products()
                .filter_map(|product| match product.as_ref() {
                    [a, b] => Some((*a, *b)),
                    _ => None,
                })
                .collect()
        };
        let (edges, wanted) = (pairs(child), pairs(parent));
        let mut nodes: Vec<SigId> = Vec::new();
        for (a, b) in edges.iter().chain(&wanted) {
            for sig in [a, b] {
                if !nodes.contains(sig) {
                    nodes.push(*sig);
                }
            }
        }
        // Two signatures are linked by an edge of the child, or by sharing atoms.
        let reach = |from: SigId| -> Vec<SigId> {
            let mut seen = vec![from];
            let mut at = 0;
            while let Some(sig) = seen.get(at).copied() {
                at += 1;
                for node in &nodes {
                    let linked = h.intersects(sig, *node) || edges.contains(&(sig, *node));
                    if linked && !seen.contains(node) {
                        seen.push(*node);
                    }
                }
            }
            seen
        };
        let mut union = Union::default();
        let starts: Vec<(Vec<SigId>, SigId)> =
            wanted.iter().map(|(a, b)| (reach(*a), *b)).collect();
        for (a, b) in edges.iter().copied() {
            let after = reach(b);
            let on_path = starts
                .iter()
                .any(|(before, end)| before.contains(&a) && after.contains(end));
            if on_path {
                union.add(h, Rc::from([a, b]));
            }
        }
        union.finish()
    }

    /// Why an operator on relations does nothing.
    pub(super) fn irrelevance(
        &self,
        x: &Rx,
        op: BinaryOp,
        left: &Rx,
        right: &Rx,
        p: &Type,
    ) -> Option<&'static str> {
        let h = &self.hierarchy;
        let (a, b) = (&left.ty, &right.ty);
        match op {
            BinaryOp::Eq | BinaryOp::NotEq => {
                if a.has_tuple() && b.has_tuple() && !a.intersects(h, b) {
                    Some("these are never equal unless both are empty")
                } else {
                    same(left, right).then_some("both sides are the same")
                }
            }
            BinaryOp::In | BinaryOp::NotIn => {
                let common = b.intersect(h, &a.pick_common_arity(b));
                if !a.has_tuple() {
                    Some("the left side is always empty")
                } else if !b.has_tuple() {
                    Some("the right side is always empty")
                } else if !common.has_tuple() {
                    Some("the two sides share nothing")
                } else {
                    same(left, right).then_some("both sides are the same")
                }
            }
            BinaryOp::Intersect => (!x.ty.has_tuple()).then_some("the two sides share nothing"),
            BinaryOp::Union | BinaryOp::Override => {
                let (useful_a, useful_b) = (a.intersect(h, p), b.intersect(h, p));
                let no_override = op == BinaryOp::Override && !b.can_override(h, a);
                match (useful_a.is_nothing(), useful_b.is_nothing() || no_override) {
                    (true, true) => Some("neither side contributes to the result"),
                    (true, false) => Some("the left side contributes nothing to the result"),
                    (false, true) => Some("the right side contributes nothing to the result"),
                    (false, false) => None,
                }
            }
            BinaryOp::Difference => {
                let useful = p.intersect(h, b);
                (!x.ty.has_tuple() || !useful.has_tuple())
                    .then_some("the right side takes nothing away")
            }
            BinaryOp::Join => (!x.ty.has_tuple()).then_some("this join is always empty"),
            BinaryOp::Domain | BinaryOp::Range => {
                (!x.ty.has_tuple()).then_some("this restriction is always empty")
            }
            BinaryOp::Arrow(..) | BinaryOp::SeqArrow => match (a.has_tuple(), b.has_tuple()) {
                (true, false) => Some("the right side is always empty, so the product is too"),
                (false, true) => Some("the left side is always empty, so the product is too"),
                _ => None,
            },
            _ => None,
        }
    }

    /// What is relevant of either side of an operator on relations.
    pub(super) fn operand_relevance(
        &self,
        op: BinaryOp,
        a: &Type,
        b: &Type,
        p: &Type,
    ) -> (Type, Type) {
        let h = &self.hierarchy;
        match op {
            BinaryOp::Eq | BinaryOp::NotEq => {
                let common = a.intersect(h, b);
                if common.has_tuple() {
                    (common.clone(), common)
                } else {
                    let left = a.pick_common_arity(b);
                    let right = b.pick_common_arity(&left);
                    (left, right)
                }
            }
            BinaryOp::In | BinaryOp::NotIn => {
                let left = a.pick_common_arity(b);
                let right = b.intersect(h, &left);
                (left, right)
            }
            BinaryOp::Difference => (p.clone(), p.intersect(h, b)),
            BinaryOp::Join => self.join_relevance(a, b, p),
            BinaryOp::Domain => self.restriction_relevance(a, b, p, true),
            BinaryOp::Range => {
                let (set, relation) = self.restriction_relevance(b, a, p, false);
                (relation, set)
            }
            BinaryOp::Arrow(..) | BinaryOp::SeqArrow => self.arrow_relevance(a, b, p),
            _ => (a.intersect(h, p), b.intersect(h, p)),
        }
    }

    fn join_relevance(&self, a: &Type, b: &Type, p: &Type) -> (Type, Type) {
        let h = &self.hierarchy;
        let fitting = |test: &dyn Fn(&Product, &Product) -> bool| {
            let (mut left, mut right) = (Union::default(), Union::default());
            for x in a.products() {
                for y in b.products() {
                    let arity = (x.len() + y.len()).saturating_sub(2);
                    if p.has_arity(arity) && test(x, y) {
                        left.add(h, x.clone());
                        right.add(h, y.clone());
                    }
                }
            }
            (left.finish(), right.finish())
        };
        let (mut left, mut right) = (Union::default(), Union::default());
        for x in a.products() {
            for y in b.products() {
                let (Some(last), Some(first)) = (x.last(), y.first()) else {
                    continue;
                };
                let middle = h.intersect(*last, *first);
                let Some(joined) = product::join(h, x, y) else {
                    continue;
                };
                if middle == builtin::NONE || !p.has_arity(joined.len()) {
                    continue;
                }
                let split = x.len() - 1;
                for useful in p.intersect_product(h, &joined).products() {
                    if useful.first().is_none_or(|sig| *sig == builtin::NONE) {
                        continue;
                    }
                    let columns = |from: usize, to: usize| useful.get(from..to).unwrap_or(&[]);
                    let before: Product =
                        columns(0, split).iter().copied().chain([middle]).collect();
                    let after: Product = std::iter::once(middle)
                        .chain(columns(split, useful.len()).iter().copied())
                        .collect();
                    left.add(h, before);
                    right.add(h, after);
                }
            }
        }
        let (left, right) = (left.finish(), right.finish());
        if !left.is_nothing() && !right.is_nothing() {
            return (left, right);
        }
        // Nothing is relevant, which has been said; the best that can be done.
        let (left, right) = fitting(&|x, y| match (x.last(), y.first()) {
            (Some(x), Some(y)) => h.intersects(*x, *y),
            _ => false,
        });
        if !left.is_nothing() && !right.is_nothing() {
            return (left, right);
        }
        fitting(&|_, _| true)
    }

    /// Of `set <: relation` (or `relation :> set`), what is relevant of the set and of the relation.
    fn restriction_relevance(
        &self,
        set: &Type,
        relation: &Type,
        p: &Type,
        first: bool,
    ) -> (Type, Type) {
        let h = &self.hierarchy;
        let (mut sets, mut relations) = (Union::default(), Union::default());
        for s in set.products() {
            let [sig] = s.as_ref() else { continue };
            for r in relation.products().filter(|r| p.has_arity(r.len())) {
                let column = if first { 0 } else { r.len().saturating_sub(1) };
                let restricted = product::restrict(h, r, column, *sig);
                for useful in p.intersect_product(h, &restricted).products() {
                    match useful.get(column) {
                        Some(sig) if *sig != builtin::NONE => {
                            sets.add(h, Rc::from([*sig]));
                            relations.add(h, useful.clone());
                        }
                        _ => {}
                    }
                }
            }
        }
        let (sets, relations) = (sets.finish(), relations.finish());
        if sets.is_nothing() || relations.is_nothing() {
            (set.extract(1), relation.pick_common_arity(p))
        } else {
            (sets, relations)
        }
    }

    fn arrow_relevance(&self, a: &Type, b: &Type, p: &Type) -> (Type, Type) {
        let h = &self.hierarchy;
        let (mut left, mut right) = (Union::default(), Union::default());
        for x in a.products() {
            for y in b.products() {
                let whole = product::product(x, y);
                for useful in p.intersect_product(h, &whole).products() {
                    if useful.first().is_none_or(|sig| *sig == builtin::NONE) {
                        continue;
                    }
                    let (Some(before), Some(after)) =
                        (useful.get(..x.len()), useful.get(x.len()..))
                    else {
                        continue;
                    };
                    left.add(h, before.into());
                    right.add(h, after.into());
                }
            }
        }
        let (left, right) = (left.finish(), right.finish());
        if left.is_nothing() || right.is_nothing() {
            (a.clone(), b.clone())
        } else {
            (left, right)
        }
    }
}
