//! Integers on an instance.

use super::sets;
use super::{Evaluator, Number, Result};
use crate::problem::{Atom, Int, IntNode, IntOp};

impl Evaluator<'_> {
    pub(super) fn number(&mut self, int: Int) -> Result<Number> {
        if let IntNode::Const(value) = self.terms.int(int) {
            return Ok(self.fit(i128::from(*value), false));
        }
        if let Some(found) = self.recall(|this| &this.numbers, int.index()) {
            return Ok(found);
        }
        let mark = self.trace.mark();
        self.enter()?;
        let result = self.calculate(int)?;
        self.leave();
        self.keep(|this| &mut this.numbers, int.index(), mark, &result);
        Ok(result)
    }

    /// The exact value in two's complement of the width of integers.
    fn fit(&self, exact: i128, overflow: bool) -> Number {
        let width = self.bitwidth;
        let modulus = 1i128 << width;
        let mut value = exact.rem_euclid(modulus);
        if value >= modulus / 2 {
            value -= modulus;
        }
        Number {
            value: i64::try_from(value).unwrap_or_default(),
            overflow: overflow || value != exact,
        }
    }

    fn calculate(&mut self, int: Int) -> Result<Number> {
        let terms = self.terms;
        Ok(match terms.int(int) {
            IntNode::Const(value) => self.fit(i128::from(*value), false),
            IntNode::Card(expr) => {
                let set = self.set(*expr)?;
                self.fit(set.tuples.len() as i128, set.overflow)
            }
            IntNode::SumOf(expr) => {
                let set = self.set(*expr)?;
                self.sum_of(&set.tuples, &self.problem.ints)
            }
            IntNode::Sum(decls, body) => {
                let mut total = 0i128;
                let mut overflow = false;
                self.each(decls, None, 0, &mut |this, _| {
                    let number = this.number(*body)?;
                    total += i128::from(number.value);
                    overflow |= number.overflow;
                    Ok(true)
                })?;
                self.fit(total, overflow)
            }
            IntNode::Neg(a) => {
                let a = self.number(*a)?;
                self.fit(-i128::from(a.value), a.overflow)
            }
            IntNode::Op(op, a, b) => {
                let (a, b) = (self.number(*a)?, self.number(*b)?);
                self.operation(*op, a, b)
            }
            IntNode::Ite(condition, then, otherwise) => {
                let chosen = if self.holds(*condition)? {
                    then
                } else {
                    otherwise
                };
                self.number(*chosen)?
            }
        })
    }

    /// The sum of a set of integers, added in halves of all integers: where they do not fit together,
    /// that decides which partial sum overflows.
    fn sum_of(&self, set: &[u64], ints: &[(i64, Atom)]) -> Number {
        match ints {
            [] => self.fit(0, false),
            [(value, atom)] => {
                if sets::contains(set, u64::from(atom.0)) {
                    Number {
                        overflow: false,
                        ..self.fit(i128::from(*value), false)
                    }
                } else {
                    self.fit(0, false)
                }
            }
            _ => {
                let (low, high) = ints.split_at(ints.len().div_ceil(2));
                let low = self.sum_of(set, low);
                let high = self.sum_of(set, high);
                self.fit(
                    i128::from(low.value) + i128::from(high.value),
                    low.overflow | high.overflow,
                )
            }
        }
    }

    fn operation(&self, op: IntOp, a: Number, b: Number) -> Number {
        let overflow = a.overflow | b.overflow;
        let (x, y) = (i128::from(a.value), i128::from(b.value));
        match op {
            IntOp::Add => self.fit(x + y, overflow),
            IntOp::Sub => self.fit(x - y, overflow),
            IntOp::Mul => self.fit(x * y, overflow),
            // By zero the quotient is the negated sign of the dividend, the remainder the dividend.
            IntOp::Div if y == 0 => self.fit(-x.signum(), true),
            IntOp::Rem if y == 0 => self.fit(x, true),
            IntOp::Div => self.fit(x / y, overflow),
            IntOp::Rem => self.fit(x % y, overflow),
            IntOp::Shl => self.shift_left(a, b),
            IntOp::Sha => {
                let by = self.distance(b.value);
                self.fit(x >> by, overflow)
            }
            IntOp::Shr => {
                let by = self.distance(b.value);
                let unsigned = x & ((1i128 << self.bitwidth) - 1);
                Number {
                    overflow,
                    ..self.fit(unsigned >> by, false)
                }
            }
        }
    }

    /// Only as many bits of a shift distance count as it takes to say the width less one.
    fn distance(&self, by: i64) -> u32 {
        let bits = u32::BITS - (self.bitwidth - 1).leading_zeros();
        u32::try_from(by & ((1 << bits) - 1)).unwrap_or(0)
    }

    /// The bits of the distance act one after the other. Each loses something when it pushes out a
    /// bit that differs from the one below it; a bit too high to move anything would push out all.
    fn shift_left(&self, a: Number, b: Number) -> Number {
        let width = self.bitwidth;
        let mask = (1u64 << width) - 1;
        let counted = u32::BITS - (width - 1).leading_zeros();
        let mut bits = a.value.cast_unsigned() & mask;
        let mut overflow = a.overflow | b.overflow;
        for i in 0..width {
            if b.value >> i & 1 == 0 {
                continue;
            }
            let by = if i < 32 { 1u64 << i } else { u64::MAX };
            // Bit j differs from the one below it, below the lowest is zero.
            let differs = (bits ^ (bits << 1)) & mask;
            let kept = u64::from(width).saturating_sub(by);
            if differs >> kept != 0 {
                overflow = true;
            }
            if i < counted {
                bits = if by < 64 { bits << by & mask } else { 0 };
            }
        }
        Number {
            overflow,
            ..self.fit(i128::from(bits), false)
        }
    }
}
