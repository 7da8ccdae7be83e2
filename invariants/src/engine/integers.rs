//! Integers over a database: intervals, as what is counted may not be known.

use locus_core::value::Value;

use super::evaluate::{Evaluator, Stopped};
use super::set::{Atom, Set, Tri};
use crate::logic::{IntCmp, IntId, IntNode, IntOp};

/// The least and the greatest value that an integer may have.
pub(super) type Interval = (i128, i128);

const UNBOUNDED: Interval = (i128::MIN, i128::MAX);

impl Evaluator<'_> {
    /// The fewest and the most tuples that a set may have.
    pub(super) fn size(&self, set: &Set) -> Interval {
        let vague = |row: &&[Atom]| row.iter().any(|&atom| self.database.is_vague(atom));
        let symbols = match self.database.has_vague() {
            true => set.sure().filter(vague).count(),
            false => 0,
        };
        if self.trail.is_on() && symbols > 0 {
            for atom in set.sure.iter().chain(&set.maybe) {
                self.trail.note_atom(self.database, *atom, false);
            }
        }
        let certain = set.sure().len();
        // Symbols may turn out to be one value, or one that is there already.
        let least = match (certain - symbols, symbols) {
            (0, 0) => 0,
            (0, _) => 1,
            (known, _) => known,
        };
        let most = if set.open {
            i128::MAX
        } else {
            i128::try_from(certain + set.maybe().len()).unwrap_or(i128::MAX)
        };
        (i128::try_from(least).unwrap_or(i128::MAX), most)
    }

    /// An integer.
    pub(super) fn int(&mut self, int: IntId) -> Result<Interval, Stopped> {
        let terms = self.terms;
        match terms.int(int) {
            IntNode::Const(value) => Ok((i128::from(*value), i128::from(*value))),
            IntNode::Card(expr) => {
                let set = self.expr(*expr)?;
                Ok(self.size(&set))
            }
            IntNode::SumOf(expr) => {
                let set = self.expr(*expr)?;
                Ok(self.sum(&set))
            }
            IntNode::Sum(_, body) => match terms.int_query(int) {
                Some(query) => self.sum_over(query, *body),
                None => Ok(UNBOUNDED),
            },
            IntNode::Neg(a) => {
                let (low, high) = self.int(*a)?;
                Ok((high.saturating_neg(), low.saturating_neg()))
            }
            IntNode::Op(op, a, b) => {
                let (a, b) = (self.int(*a)?, self.int(*b)?);
                Ok(operate(*op, a, b))
            }
            IntNode::Ite(condition, a, b) => match self.formula(*condition)? {
                Tri::True => self.int(*a),
                Tri::False => self.int(*b),
                Tri::Unknown => {
                    let (a, b) = (self.int(*a)?, self.int(*b)?);
                    Ok((a.0.min(b.0), a.1.max(b.1)))
                }
            },
        }
    }

    fn sum(&self, set: &Set) -> Interval {
        if set.open || !set.maybe.is_empty() {
            for atom in set.sure.iter().chain(&set.maybe) {
                self.trail.note_atom(self.database, *atom, true);
            }
            return UNBOUNDED;
        }
        let mut total: i128 = 0;
        for row in set.sure() {
            let value = row.first().map(|&atom| self.database.atom(atom));
            match value.and_then(|info| info.value.as_ref()) {
                Some(Value::Int(n)) => match n.to_i64() {
                    Some(n) => total += i128::from(n),
                    None => return UNBOUNDED,
                },
                _ => {
                    for atom in row {
                        self.trail.note_atom(self.database, *atom, true);
                    }
                    return UNBOUNDED;
                }
            }
        }
        (total, total)
    }
}

pub(super) fn compare(cmp: IntCmp, a: Interval, b: Interval) -> Tri {
    let exact = a.0 == a.1 && b.0 == b.1;
    match cmp {
        IntCmp::Eq if exact => Tri::from(a.0 == b.0),
        IntCmp::Eq if a.1 < b.0 || b.1 < a.0 => Tri::False,
        IntCmp::Lt if a.1 < b.0 => Tri::True,
        IntCmp::Lt if a.0 >= b.1 => Tri::False,
        IntCmp::Lte if a.1 <= b.0 => Tri::True,
        IntCmp::Lte if a.0 > b.1 => Tri::False,
        _ => Tri::Unknown,
    }
}

fn operate(op: IntOp, a: Interval, b: Interval) -> Interval {
    let exact = a.0 == a.1 && b.0 == b.1;
    let ends = |f: fn(i128, i128) -> Option<i128>| match (f(a.0, b.0), f(a.1, b.1)) {
        (Some(low), Some(high)) => (low, high),
        _ => UNBOUNDED,
    };
    let at = |value: Option<i128>| value.map_or(UNBOUNDED, |value| (value, value));
    match op {
        IntOp::Add => ends(i128::checked_add),
        IntOp::Sub => match (a.0.checked_sub(b.1), a.1.checked_sub(b.0)) {
            (Some(low), Some(high)) => (low, high),
            _ => UNBOUNDED,
        },
        IntOp::Mul if exact => at(a.0.checked_mul(b.0)),
        IntOp::Div if exact => at(a.0.checked_div(b.0)),
        IntOp::Rem if exact => at(a.0.checked_rem(b.0)),
        _ => UNBOUNDED,
    }
}
