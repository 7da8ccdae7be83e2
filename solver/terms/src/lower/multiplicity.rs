//! Membership in a bound that carries multiplicities: `r in A one -> some B`.

use locus_grammar::model::{BinaryOp, Expr as Source, ExprKind, Mult as Keyword, UnaryOp};

use super::{Lowering, Refusal, Vocabulary};
use crate::{Decl, Expr, Formula, Mult, Quant};

/// Whether a bound says more than "a subset of this".
fn has_multiplicity(bound: &Source) -> bool {
    match &bound.kind {
        ExprKind::Unary(
            UnaryOp::OneOf | UnaryOp::LoneOf | UnaryOp::SomeOf | UnaryOp::ExactlyOf,
            _,
        )
        | ExprKind::Binary(BinaryOp::SeqArrow, _, _) => true,
        ExprKind::Binary(BinaryOp::Arrow(left_mult, right_mult), left, right) => {
            *left_mult != Keyword::Set
                || *right_mult != Keyword::Set
                || has_multiplicity(left)
                || has_multiplicity(right)
        }
        _ => false,
    }
}

impl<V: Vocabulary> Lowering<'_, V> {
    /// `set in bound`, multiplicities included.
    ///
    /// # Errors
    /// When the bound has no term.
    pub fn is_in(&mut self, set: Expr, bound: &Source) -> Result<Formula, Refusal> {
        match &bound.kind {
            ExprKind::Unary(UnaryOp::ExactlyOf, _) => {
                let bound = self.set(bound)?;
                Ok(self.terms().equal(set, bound))
            }
            ExprKind::Unary(
                op @ (UnaryOp::OneOf | UnaryOp::LoneOf | UnaryOp::SomeOf | UnaryOp::SetOf),
                inner,
            ) => {
                let subset = self.is_in(set, inner)?;
                let terms = self.terms();
                let count = match op {
                    UnaryOp::OneOf => terms.one(set),
                    UnaryOp::LoneOf => terms.lone(set),
                    UnaryOp::SomeOf => terms.some(set),
                    _ => terms.truth(),
                };
                Ok(terms.and([count, subset]))
            }
            ExprKind::Binary(BinaryOp::SeqArrow, left, right) => {
                let arrow = self.is_in_arrow(set, left, right, (Keyword::Set, Keyword::Lone))?;
                let Some(order) = self.vocabulary.int_order() else {
                    return Err(super::misfit(
                        bound,
                        "free of sequences: there is no order of integers",
                    ));
                };
                let gapless = self.starts_at_zero_without_gaps(set, order);
                Ok(self.terms().and([arrow, gapless]))
            }
            ExprKind::Binary(BinaryOp::Arrow(left_mult, right_mult), left, right)
                if has_multiplicity(bound) =>
            {
                self.is_in_arrow(set, left, right, (*left_mult, *right_mult))
            }
            _ => {
                let bound = self.set(bound)?;
                Ok(self.terms().subset(set, bound))
            }
        }
    }

    /// Every index but zero has its predecessor.
    fn starts_at_zero_without_gaps(
        &mut self,
        sequence: Expr,
        (next, zero): (Expr, Expr),
    ) -> Formula {
        let terms = self.terms();
        let univ = terms.univ();
        let mut indices = sequence;
        while terms.arity(indices) > 1 {
            indices = terms.join(indices, univ);
        }
        let successors = terms.join(indices, next);
        let starts = terms.difference(indices, successors);
        terms.subset(starts, zero)
    }

    /// For each tuple of `left` as many as `mults.1` says in `right`, and the other way round.
    fn is_in_arrow(
        &mut self,
        set: Expr,
        left: &Source,
        right: &Source,
        mults: (Keyword, Keyword),
    ) -> Result<Formula, Refusal> {
        let (a, b) = (self.set(left)?, self.set(right)?);
        let product = self.terms().product(a, b);
        let mut parts = vec![self.terms().subset(set, product)];
        if mults.1 != Keyword::Set || has_multiplicity(right) {
            parts.push(self.each_side(set, (left, a), right, mults.1, true)?);
        }
        if mults.0 != Keyword::Set || has_multiplicity(left) {
            parts.push(self.each_side(set, (right, b), left, mults.0, false)?);
        }
        Ok(self.terms().and(parts))
    }

    /// For each tuple of one side: what `set` has on the other side of it fits that side's bound and
    /// multiplicity.
    fn each_side(
        &mut self,
        set: Expr,
        (side, side_set): (&Source, Expr),
        other: &Source,
        mult: Keyword,
        forwards: bool,
    ) -> Result<Formula, Refusal> {
        let arity = self.terms().arity(side_set);
        let mut decls = Vec::new();
        let mut image = set;
        let mut tuple: Option<Expr> = None;
        for _ in 0..arity {
            let terms = self.terms();
            let var = terms.fresh_var("v", 1);
            let expr = terms.var(var);
            let bound = if arity == 1 { side_set } else { terms.univ() };
            decls.push(Decl {
                var,
                mult: Mult::One,
                bound,
            });
            // From the left the first variable is the first column; from the right, the last.
            (image, tuple) = if forwards {
                let tuple = match tuple {
                    None => expr,
                    Some(before) => terms.product(before, expr),
                };
                (terms.join(expr, image), Some(tuple))
            } else {
                let tuple = match tuple {
                    None => expr,
                    Some(before) => terms.product(expr, before),
                };
                (terms.join(image, expr), Some(tuple))
            };
        }
        let mut body = self.is_in(image, other)?;
        let terms = self.terms();
        let count = match mult {
            Keyword::One => terms.one(image),
            Keyword::Lone => terms.lone(image),
            Keyword::Some => terms.some(image),
            Keyword::Set => terms.truth(),
        };
        body = terms.and([count, body]);
        if arity > 1
            && let Some(tuple) = tuple
        {
            let guard = self.is_in(tuple, side)?;
            body = self.terms().implies(guard, body);
        }
        Ok(self.terms().quant(Quant::All, decls, body))
    }
}
