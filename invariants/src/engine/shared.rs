//! What all rules over one database share.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;

use super::closure::Reach;
use super::table::Table;
use super::trail::Touched;
use crate::logic::{ExprId, ExprNode, Terms};

/// A place for each expression of a program whose tuples are the same for all rules over one database: those
/// without variables that are more than a relation, and those of which the closure is taken.
#[derive(Debug)]
pub(crate) struct Slots {
    /// By expression.
    places: Vec<u32>,
    count: usize,
}

impl Slots {
    pub(crate) fn new(terms: &Terms) -> Self {
        let all = || (0..terms.expr_count()).map(ExprId::at);
        let mut shared = vec![false; terms.expr_count()];
        for expr in all() {
            let node = terms.expr(expr);
            let compound = !matches!(node, ExprNode::Relation(_));
            if let Some(shared) = shared.get_mut(expr.index()) {
                *shared |= compound && terms.expr_vars(expr).is_empty();
            }
            if let ExprNode::Closure(operand) = node
                && let Some(shared) = shared.get_mut(operand.index())
            {
                *shared = true;
            }
        }
        let mut count = 0;
        let places = shared.into_iter().map(|shared| {
            let place = count;
            count += u32::from(shared);
            if shared { place } else { u32::MAX }
        });
        Slots {
            places: places.collect(),
            count: count as usize,
        }
    }
}

/// Results that all rules over one database share.
#[derive(Debug)]
pub(crate) struct Shared<'s> {
    slots: &'s Slots,
    pub(super) closed: Vec<OnceLock<Box<Table>>>,
    /// What decides each of those, where somebody asked.
    reasons: Vec<OnceLock<Vec<Touched>>>,
    pub(super) reach: Vec<OnceLock<Box<Reach>>>,
    /// One more than how hard each expression is to list, or zero when nobody asked.
    pub(super) costs: Vec<AtomicU8>,
}

impl<'s> Shared<'s> {
    pub(crate) fn new(slots: &'s Slots) -> Self {
        let Slots { places, count } = slots;
        Shared {
            slots,
            closed: std::iter::repeat_with(OnceLock::new).take(*count).collect(),
            reasons: std::iter::repeat_with(OnceLock::new).take(*count).collect(),
            reach: std::iter::repeat_with(OnceLock::new).take(*count).collect(),
            costs: std::iter::repeat_with(AtomicU8::default)
                .take(places.len())
                .collect(),
        }
    }

    /// The symbols that decide an expression without variables; none when nobody asked.
    pub(super) fn reasons(&self, expr: ExprId) -> Option<&[Touched]> {
        let slot = self.reasons.get(self.place(expr))?;
        slot.get().map(Vec::as_slice)
    }

    /// Remembers the symbols that decide an expression without variables.
    pub(super) fn remember(&self, expr: ExprId, touched: Vec<Touched>) {
        if let Some(slot) = self.reasons.get(self.place(expr)) {
            let _ = slot.set(touched);
        }
    }

    /// The place of an expression without variables, or of which the closure is taken.
    #[expect(
        clippy::indexing_slicing,
        reason = "there is a place for every expression of the terms"
    )]
    pub(super) fn place(&self, expr: ExprId) -> usize {
        self.slots.places[expr.index()] as usize
    }
}
