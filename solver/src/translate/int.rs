//! Integers to bits, in two's complement.

use std::rc::Rc;

use super::{Result, Translator};
use crate::circuit::{Circuit, Lit};
use crate::matrix::Matrix;
use crate::problem::{Decl, Int, IntNode, IntOp};
use crate::scope::Kind;

/// An integer: its bits, lowest first, the last one the sign and repeated above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    bits: Vec<Lit>,
    /// Whether the value is wrong because something did not fit.
    pub(crate) overflow: Lit,
}

impl Bits {
    fn new(mut bits: Vec<Lit>) -> Self {
        while let [.., a, b] = bits.as_slice()
            && a == b
        {
            bits.pop();
        }
        if bits.is_empty() {
            bits.push(Lit::FALSE);
        }
        Bits {
            bits,
            overflow: Lit::FALSE,
        }
    }

    /// The number in as few bits as it takes.
    fn constant(value: i64) -> Self {
        Bits::new(
            (0..64)
                .map(|i| Lit::constant(value >> i & 1 == 1))
                .collect(),
        )
    }

    fn width(&self) -> usize {
        self.bits.len()
    }

    /// Bit `i`, the sign above the width.
    fn bit(&self, i: usize) -> Lit {
        self.bits.get(i).copied().unwrap_or_else(|| self.sign())
    }

    fn sign(&self) -> Lit {
        self.bits.last().copied().unwrap_or(Lit::FALSE)
    }

    fn extended(&self, width: usize) -> Vec<Lit> {
        (0..width).map(|i| self.bit(i)).collect()
    }
}

/// Arithmetic on bits without regard to the width that integers have.
impl Circuit {
    /// `a + b + carry` on `width` bits, and the carries into and out of the last.
    fn ripple(&mut self, a: &Bits, b: &Bits, flip: bool, width: usize) -> (Vec<Lit>, Lit, Lit) {
        let mut carry = Lit::constant(flip);
        let mut before = carry;
        let mut sums = Vec::with_capacity(width);
        for i in 0..width {
            before = carry;
            let (sum, next) = self.full_adder(a.bit(i), b.bit(i).negate_if(flip), carry);
            sums.push(sum);
            carry = next;
        }
        (sums, before, carry)
    }

    /// The exact sum or, with `flip`, difference.
    fn exact_sum(&mut self, a: &Bits, b: &Bits, flip: bool) -> Bits {
        let width = a.width().max(b.width()) + 1;
        Bits::new(self.ripple(a, b, flip, width).0)
    }

    /// The number of literals that hold, exactly: three bits of a weight make one of it and one of
    /// the next until no weight has more than one.
    fn population(&mut self, cells: &[Lit]) -> Vec<Lit> {
        let sure = cells.iter().filter(|&&lit| lit == Lit::TRUE).count();
        let mut column: Vec<Lit> = cells
            .iter()
            .copied()
            .filter(|&lit| lit != Lit::TRUE)
            .collect();
        let mut sums = Vec::new();
        let mut weight = 0;
        while !column.is_empty() || sure >> weight != 0 {
            if sure >> weight & 1 == 1 {
                column.push(Lit::TRUE);
            }
            let mut carries = Vec::new();
            let mut queue = std::collections::VecDeque::from(column);
            while queue.len() > 1 {
                let a = queue.pop_front().unwrap_or(Lit::FALSE);
                let b = queue.pop_front().unwrap_or(Lit::FALSE);
                let c = queue.pop_front().unwrap_or(Lit::FALSE);
                let (sum, carry) = self.full_adder(a, b, c);
                queue.push_back(sum);
                if carry != Lit::FALSE {
                    carries.push(carry);
                }
            }
            sums.push(queue.pop_front().unwrap_or(Lit::FALSE));
            column = carries;
            weight += 1;
        }
        sums
    }
}

impl Translator<'_> {
    /// The bits of an integer under the current values of variables.
    pub(crate) fn int(&mut self, int: Int) -> Result<Rc<Bits>> {
        if let IntNode::Const(value) = self.terms.int(int) {
            return Ok(Rc::new(self.literal(*value)));
        }
        let info = self.scope.int(self.terms, int);
        let key = self.key(Kind::Int, int.index(), &info);
        if let Some(key) = &key
            && let Some(done) = self.int_memo.get(key)
        {
            return Ok(done);
        }
        self.enter()?;
        let result = Rc::new(self.calculate(int)?);
        self.leave();
        if let Some(key) = key {
            self.int_memo.insert(key, result.clone(), result.width());
            self.account()?;
        }
        Ok(result)
    }

    fn calculate(&mut self, int: Int) -> Result<Bits> {
        let terms = self.terms;
        Ok(match terms.int(int) {
            IntNode::Const(value) => self.literal(*value),
            IntNode::Card(expr) => {
                let matrix = self.expr(*expr)?;
                self.budget.spend(matrix.cells.len())?;
                let lits: Vec<Lit> = matrix.cells.iter().map(|cell| cell.1).collect();
                let mut count = self.circuit.population(&lits);
                count.push(Lit::FALSE);
                let size = Bits::new(count);
                self.fit(size, &[matrix.overflow])
            }
            IntNode::SumOf(expr) => {
                let matrix = self.expr(*expr)?;
                let ints = self.ints;
                self.sum_of(&matrix, ints)
            }
            IntNode::Sum(decls, body) => self.sum(decls, *body)?,
            IntNode::Neg(a) => {
                let a = self.int(*a)?;
                let zero = Bits::constant(0);
                let exact = self.circuit.exact_sum(&zero, &a, true);
                self.fit(exact, &[a.overflow])
            }
            IntNode::Op(op, a, b) => {
                let (a, b) = (self.int(*a)?, self.int(*b)?);
                self.operation(*op, &a, &b)
            }
            IntNode::Ite(condition, then, otherwise) => match self.formula(*condition)? {
                Lit::TRUE => (*self.int(*then)?).clone(),
                Lit::FALSE => (*self.int(*otherwise)?).clone(),
                condition => {
                    let (a, b) = (self.int(*then)?, self.int(*otherwise)?);
                    let bits = (0..a.width().max(b.width()))
                        .map(|i| self.circuit.ite(condition, a.bit(i), b.bit(i)))
                        .collect();
                    let mut result = Bits::new(bits);
                    result.overflow = self.circuit.ite(condition, a.overflow, b.overflow);
                    result
                }
            },
        })
    }

    fn literal(&mut self, value: i64) -> Bits {
        self.fit(Bits::constant(value), &[])
    }

    /// An exact result cut to the width of integers, overflowing where it does not fit or an operand
    /// did.
    fn fit(&mut self, exact: Bits, operands: &[Lit]) -> Bits {
        let width = self.bitwidth;
        let mut result = Bits::new(exact.extended(exact.width().min(width)));
        if exact.width() > width {
            self.may_overflow = true;
        }
        if self.forbid_overflow {
            let mut causes = operands.to_vec();
            let sign = exact.bit(width - 1);
            for i in width..exact.width() {
                causes.push(self.circuit.xor(sign, exact.bit(i)));
            }
            result.overflow = self.circuit.or_all(causes);
        }
        result
    }

    /// Numbers are added in pairs of halves of all integers, ascending: where several do not fit
    /// together, that decides which partial sum overflows.
    fn sum_of(&mut self, matrix: &Matrix, ints: &[(i64, crate::problem::Atom)]) -> Bits {
        match ints {
            [] => Bits::constant(0),
            [(value, atom)] => {
                let lit = matrix.get(u64::from(atom.0));
                let number = self.literal(*value);
                let bits = number
                    .bits
                    .iter()
                    .map(|&bit| self.circuit.and(bit, lit))
                    .collect();
                Bits::new(bits)
            }
            _ => {
                let (low, high) = ints.split_at(ints.len().div_ceil(2));
                let low = self.sum_of(matrix, low);
                let high = self.sum_of(matrix, high);
                let exact = self.circuit.exact_sum(&low, &high, false);
                self.fit(exact, &[low.overflow, high.overflow])
            }
        }
    }

    /// The sum over declarations, added exactly and only then cut to width.
    fn sum(&mut self, decls: &[Decl], body: Int) -> Result<Bits> {
        let mut values: Vec<Bits> = Vec::new();
        let mut overflows = Vec::new();
        self.ground(decls, None, Lit::TRUE, 0, &mut |this, guard, _| {
            let value = this.int(body)?;
            let bits = value
                .bits
                .iter()
                .map(|&bit| this.circuit.and(bit, guard))
                .collect();
            values.push(Bits::new(bits));
            overflows.push(this.circuit.and(guard, value.overflow));
            Ok(true)
        })?;
        while values.len() > 1 {
            let mut next = Vec::with_capacity(values.len().div_ceil(2));
            for pair in values.chunks(2) {
                next.push(match pair {
                    [a, b] => {
                        self.budget.spend(a.width())?;
                        self.circuit.exact_sum(a, b, false)
                    }
                    rest => rest.first().cloned().unwrap_or_else(|| Bits::constant(0)),
                });
            }
            values = next;
        }
        let total = values.pop().unwrap_or_else(|| Bits::constant(0));
        Ok(self.fit(total, &overflows))
    }

    fn operation(&mut self, op: IntOp, a: &Bits, b: &Bits) -> Bits {
        let inherited = [a.overflow, b.overflow];
        match op {
            IntOp::Add => {
                let exact = self.circuit.exact_sum(a, b, false);
                self.fit(exact, &inherited)
            }
            IntOp::Sub => {
                let exact = self.circuit.exact_sum(a, b, true);
                self.fit(exact, &inherited)
            }
            IntOp::Mul => {
                let exact = self.product(a, b);
                self.fit(exact, &inherited)
            }
            IntOp::Div => {
                let by_zero = self.equals_constant(b, 0);
                let quotient = self.division(a, b, by_zero).0;
                let min = self.equals_constant(a, -(1i64 << (self.bitwidth - 1)));
                let minus_one = self.equals_constant(b, -1);
                let too_big = self.circuit.and(min, minus_one);
                self.with_overflow(quotient, &[by_zero, too_big, a.overflow, b.overflow])
            }
            IntOp::Rem => {
                let by_zero = self.equals_constant(b, 0);
                let remainder = self.division(a, b, by_zero).1;
                self.with_overflow(remainder, &[by_zero, a.overflow, b.overflow])
            }
            IntOp::Shl => self.shift_left(a, b),
            IntOp::Sha => self.shift_right(a, b, a.sign()),
            IntOp::Shr => self.shift_right(a, b, Lit::FALSE),
        }
    }

    fn with_overflow(&mut self, mut bits: Bits, causes: &[Lit]) -> Bits {
        if causes.iter().any(|&cause| cause != Lit::FALSE) {
            self.may_overflow = true;
        }
        if self.forbid_overflow {
            bits.overflow = self.circuit.or_all(causes.iter().copied());
        }
        bits
    }

    /// The exact product: shifted additions, the row of the sign subtracted.
    fn product(&mut self, a: &Bits, b: &Bits) -> Bits {
        let width = a.width() + b.width();
        let mut total = Bits::constant(0);
        for i in 0..a.width() {
            let factor = a.bit(i);
            if factor == Lit::FALSE {
                continue;
            }
            let mut row = vec![Lit::FALSE; i];
            for j in 0..=b.width() {
                row.push(self.circuit.and(factor, b.bit(j)));
            }
            let row = Bits::new(row);
            let last = i + 1 == a.width();
            let sum = self.circuit.exact_sum(&total, &row, last);
            total = Bits::new(sum.extended(sum.width().min(width)));
        }
        total
    }

    /// The magnitude in the full width, as bits without a sign.
    fn magnitude(&mut self, a: &Bits) -> Vec<Lit> {
        let mut carry = a.sign();
        (0..self.bitwidth)
            .map(|i| {
                let flipped = self.circuit.xor(a.bit(i), a.sign());
                let bit = self.circuit.xor(flipped, carry);
                carry = self.circuit.and(flipped, carry);
                bit
            })
            .collect()
    }

    /// The bits negated where `negative` holds.
    fn negated_where(&mut self, bits: &[Lit], negative: Lit) -> Bits {
        let mut carry = negative;
        let bits = bits
            .iter()
            .map(|&bit| {
                let flipped = self.circuit.xor(bit, negative);
                let result = self.circuit.xor(flipped, carry);
                carry = self.circuit.and(flipped, carry);
                result
            })
            .collect();
        Bits::new(bits)
    }

    /// Quotient towards zero and remainder with the sign of the dividend. Division by zero gives,
    /// as in Kodkod, the quotient -1 for a positive, 1 for a negative dividend and 0 for 0, and the
    /// dividend as remainder.
    fn division(&mut self, a: &Bits, b: &Bits, by_zero: Lit) -> (Bits, Bits) {
        let dividend = self.magnitude(a);
        let mut divisor = self.magnitude(b);
        divisor.push(Lit::FALSE);
        let width = self.bitwidth;
        let mut rest = vec![Lit::FALSE; width];
        let mut quotient = vec![Lit::FALSE; width];
        for (digit, slot) in dividend.iter().zip(quotient.iter_mut()).rev() {
            rest.insert(0, *digit);
            // rest - divisor; it fits when nothing is borrowed.
            let mut fits = Lit::TRUE;
            let mut less = Vec::with_capacity(width + 1);
            for (&r, &d) in rest.iter().zip(&divisor) {
                let (difference, carry) = self.circuit.full_adder(r, !d, fits);
                less.push(difference);
                fits = carry;
            }
            *slot = fits;
            for (r, l) in rest.iter_mut().zip(less) {
                *r = self.circuit.ite(fits, l, *r);
            }
            rest.truncate(width);
        }
        let zero = self.equals_constant(a, 0);
        let nothing = self.circuit.and(zero, by_zero);
        for bit in &mut quotient {
            *bit = self.circuit.and(*bit, !nothing);
        }
        let negative = self.circuit.xor(a.sign(), b.sign());
        (
            self.negated_where(&quotient, negative),
            self.negated_where(&rest, a.sign()),
        )
    }

    /// How many bits of a shift distance count.
    fn distance_bits(&self) -> usize {
        (usize::BITS - (self.bitwidth - 1).leading_zeros()) as usize
    }

    /// Only the low bits of the distance move anything, but all of them can overflow, as in Kodkod.
    fn shift_left(&mut self, a: &Bits, b: &Bits) -> Bits {
        let width = self.bitwidth;
        let mut bits = a.extended(width);
        let mut causes = vec![a.overflow, b.overflow];
        for i in 0..width {
            let by = 1usize.checked_shl(u32::try_from(i).unwrap_or(u32::MAX));
            let by = by.unwrap_or(usize::MAX);
            let moved = b.bit(i);
            if moved == Lit::FALSE {
                continue;
            }
            if self.forbid_overflow {
                // A bit pushed out that differs from the one that follows it changes the number.
                let mut lost = Vec::new();
                for x in 0..by.min(width) {
                    let high = bits.get(width - x - 1).copied().unwrap_or(Lit::FALSE);
                    let low = (width - x)
                        .checked_sub(2)
                        .and_then(|at| bits.get(at).copied())
                        .unwrap_or(Lit::FALSE);
                    lost.push(self.circuit.xor(high, low));
                }
                let lost = self.circuit.or_all(lost);
                causes.push(self.circuit.and(moved, lost));
            }
            if i < self.distance_bits() {
                bits = (0..width)
                    .map(|j| {
                        let from = j
                            .checked_sub(by)
                            .and_then(|at| bits.get(at).copied())
                            .unwrap_or(Lit::FALSE);
                        let stay = bits.get(j).copied().unwrap_or(Lit::FALSE);
                        self.circuit.ite(moved, from, stay)
                    })
                    .collect();
            }
        }
        self.may_overflow = true;
        self.with_overflow(Bits::new(bits), &causes)
    }

    fn shift_right(&mut self, a: &Bits, b: &Bits, fill: Lit) -> Bits {
        let width = self.bitwidth;
        let mut bits = a.extended(width);
        for i in 0..self.distance_bits() {
            let by = 1usize << i;
            let moved = b.bit(i);
            bits = (0..width)
                .map(|j| {
                    let from = bits.get(j + by).copied().unwrap_or(fill);
                    let stay = bits.get(j).copied().unwrap_or(fill);
                    self.circuit.ite(moved, from, stay)
                })
                .collect();
        }
        self.with_overflow(Bits::new(bits), &[a.overflow, b.overflow])
    }

    pub(crate) fn equals_constant(&mut self, a: &Bits, value: i64) -> Lit {
        self.int_equal(a, &Bits::constant(value))
    }

    pub(crate) fn int_equal(&mut self, a: &Bits, b: &Bits) -> Lit {
        let mut all = Vec::new();
        for i in 0..a.width().max(b.width()) {
            match self.circuit.iff(a.bit(i), b.bit(i)) {
                Lit::FALSE => return Lit::FALSE,
                lit => all.push(lit),
            }
        }
        self.circuit.and_all(all)
    }

    /// `a <= b`.
    pub(crate) fn int_at_most(&mut self, a: &Bits, b: &Bits) -> Lit {
        let last = a.width().max(b.width()) - 1;
        let mut result = Lit::TRUE;
        for i in 0..=last {
            let differ = self.circuit.xor(a.bit(i), b.bit(i));
            let smaller = if i == last { a.bit(i) } else { b.bit(i) };
            result = self.circuit.ite(differ, smaller, result);
        }
        result
    }
}
