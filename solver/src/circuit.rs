//! Boolean circuits: hash-consed gates over literals.
//!
//! A gate is made only when nothing simpler says the same, and never twice. Disjunction is the
//! negation of a conjunction, so there are two kinds of gates: conjunctions of any width and choices.
#![expect(
    clippy::indexing_slicing,
    reason = "indices of nodes and operands are made by this module only"
)]

use std::hash::Hasher;
use std::ops::Not;

use rustc_hash::FxHasher;

/// A node of the circuit or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lit(u32);

impl Lit {
    pub(crate) const TRUE: Lit = Lit(0);
    pub(crate) const FALSE: Lit = Lit(1);

    /// The literal of a node.
    pub(crate) fn new(node: usize, negated: bool) -> Self {
        Lit((u32::try_from(node).unwrap_or(u32::MAX >> 1) << 1) | u32::from(negated))
    }

    pub(crate) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn is_const(self) -> bool {
        self.0 < 2
    }

    /// The negation when `condition` holds.
    pub(crate) fn negate_if(self, condition: bool) -> Self {
        Lit(self.0 ^ u32::from(condition))
    }

    pub(crate) fn constant(value: bool) -> Self {
        if value { Lit::TRUE } else { Lit::FALSE }
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

#[derive(Clone, Copy, Debug)]
enum Node {
    /// The constant, node 0.
    True,
    /// A variable.
    Input,
    And {
        start: u32,
        len: u32,
    },
    Ite {
        start: u32,
    },
}

/// What a node computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate<'c> {
    True,
    Input,
    And(&'c [Lit]),
    /// Condition, then, else.
    Ite(Lit, Lit, Lit),
}

/// Conjunctions up to this width are compared with the operands of their operands.
const LOOK_INSIDE_WIDTH: usize = 8;

/// A circuit.
#[derive(Clone, Debug)]
pub(crate) struct Circuit {
    nodes: Vec<Node>,
    operands: Vec<Lit>,
    /// Open-addressing table of gate nodes; 0 is a free slot.
    table: Vec<u32>,
    gates: usize,
    scratch: Vec<Lit>,
}

impl Circuit {
    pub(crate) fn new() -> Self {
        Circuit {
            nodes: vec![Node::True],
            operands: Vec::new(),
            table: vec![0; 1024],
            gates: 0,
            scratch: Vec::new(),
        }
    }

    /// A new variable.
    pub(crate) fn input(&mut self) -> Lit {
        self.nodes.push(Node::Input);
        Lit::new(self.nodes.len() - 1, false)
    }

    /// Number of nodes, the constant included.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        (self.nodes.len() * size_of::<Node>() + self.operands.len() * 4 + self.table.len() * 4)
            as u64
    }

    pub(crate) fn gate(&self, node: usize) -> Gate<'_> {
        match self.nodes[node] {
            Node::True => Gate::True,
            Node::Input => Gate::Input,
            Node::And { start, len } => {
                Gate::And(&self.operands[start as usize..(start + len) as usize])
            }
            Node::Ite { start } => {
                let start = start as usize;
                Gate::Ite(
                    self.operands[start],
                    self.operands[start + 1],
                    self.operands[start + 2],
                )
            }
        }
    }

    fn hash(is_ite: bool, operands: &[Lit]) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write_u32(u32::from(is_ite));
        for lit in operands {
            hasher.write_u32(lit.0);
        }
        hasher.finish()
    }

    fn slot_of(hash: u64, mask: usize) -> usize {
        // The upper bits of a multiplicative hash are the good ones.
        usize::try_from(hash >> 20).unwrap_or(0) & mask
    }

    fn matches(&self, node: u32, is_ite: bool, operands: &[Lit]) -> bool {
        match self.gate(node as usize) {
            Gate::And(found) => !is_ite && found == operands,
            Gate::Ite(c, t, e) => is_ite && operands == [c, t, e],
            Gate::True | Gate::Input => false,
        }
    }

    fn intern(&mut self, is_ite: bool, operands: &[Lit]) -> Lit {
        let mask = self.table.len() - 1;
        let mut slot = Self::slot_of(Self::hash(is_ite, operands), mask);
        loop {
            match self.table[slot] {
                0 => break,
                node if self.matches(node, is_ite, operands) => {
                    return Lit::new(node as usize, false);
                }
                _ => slot = (slot + 1) & mask,
            }
        }
        let start = u32::try_from(self.operands.len()).unwrap_or(u32::MAX);
        self.operands.extend_from_slice(operands);
        let node = self.nodes.len();
        self.nodes.push(if is_ite {
            Node::Ite { start }
        } else {
            Node::And {
                start,
                len: u32::try_from(operands.len()).unwrap_or(u32::MAX),
            }
        });
        self.table[slot] = u32::try_from(node).unwrap_or(u32::MAX);
        self.gates += 1;
        if self.gates * 2 > self.table.len() {
            self.grow();
        }
        Lit::new(node, false)
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        let mask = size - 1;
        let mut table = vec![0; size];
        for node in 1..self.nodes.len() {
            let hash = match self.gate(node) {
                Gate::And(operands) => Self::hash(false, operands),
                Gate::Ite(c, t, e) => Self::hash(true, &[c, t, e]),
                Gate::True | Gate::Input => continue,
            };
            let mut slot = Self::slot_of(hash, mask);
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = u32::try_from(node).unwrap_or(u32::MAX);
        }
        self.table = table;
    }

    /// Conjunction of two.
    pub(crate) fn and(&mut self, left: Lit, right: Lit) -> Lit {
        if left == Lit::TRUE || left == right {
            return right;
        }
        if right == Lit::TRUE {
            return left;
        }
        if left == Lit::FALSE || right == Lit::FALSE || left == !right {
            return Lit::FALSE;
        }
        self.and_all([left, right])
    }

    /// Disjunction of two.
    pub(crate) fn or(&mut self, left: Lit, right: Lit) -> Lit {
        !self.and(!left, !right)
    }

    /// Implication.
    pub(crate) fn implies(&mut self, left: Lit, right: Lit) -> Lit {
        !self.and(left, !right)
    }

    /// Conjunction of any number.
    pub(crate) fn and_all(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        let mut set = std::mem::take(&mut self.scratch);
        set.clear();
        set.extend(lits);
        let result = self.and_set(&mut set);
        self.scratch = set;
        result
    }

    /// Disjunction of any number.
    pub(crate) fn or_all(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        !self.and_all(lits.into_iter().map(Not::not))
    }

    fn and_set(&mut self, set: &mut Vec<Lit>) -> Lit {
        loop {
            set.sort_unstable();
            set.dedup();
            if set.first() == Some(&Lit::TRUE) {
                set.remove(0);
            }
            // A literal and its negation are neighbours in the order.
            if set.first() == Some(&Lit::FALSE) || set.windows(2).any(|pair| pair[0] == !pair[1]) {
                return Lit::FALSE;
            }
            match set.as_slice() {
                [] => return Lit::TRUE,
                [one] => return *one,
                _ => {}
            }
            if set.len() > LOOK_INSIDE_WIDTH {
                break;
            }
            match self.look_inside(set) {
                Inside::Same => break,
                Inside::False => return Lit::FALSE,
                Inside::Changed => {}
            }
        }
        self.intern(false, set)
    }

    /// Simplifies a small conjunction by what its operands are.
    fn look_inside(&self, set: &mut Vec<Lit>) -> Inside {
        for i in 0..set.len() {
            let lit = set[i];
            let Gate::And(inner) = self.gate(lit.node()) else {
                continue;
            };
            if inner.len() > LOOK_INSIDE_WIDTH {
                continue;
            }
            if lit.is_negated() {
                // not (c and d) with c false says nothing; with c true it says not d.
                if inner.iter().any(|c| set.contains(&!*c)) {
                    set.remove(i);
                    return Inside::Changed;
                }
                if let [a, b] = *inner {
                    let rest = if set.contains(&a) {
                        b
                    } else if set.contains(&b) {
                        a
                    } else {
                        continue;
                    };
                    set[i] = !rest;
                    return Inside::Changed;
                }
            } else {
                if inner.iter().any(|c| set.contains(&!*c)) {
                    return Inside::False;
                }
                // What a conjunction implies need not be said again.
                let before = set.len();
                let inner = inner.to_vec();
                set.retain(|other| !inner.contains(other));
                if set.len() != before {
                    return Inside::Changed;
                }
            }
        }
        Inside::Same
    }

    /// Equivalence.
    pub(crate) fn iff(&mut self, left: Lit, right: Lit) -> Lit {
        if left == right {
            return Lit::TRUE;
        }
        if left == !right {
            return Lit::FALSE;
        }
        if left.is_const() {
            return right.negate_if(left == Lit::FALSE);
        }
        if right.is_const() {
            return left.negate_if(right == Lit::FALSE);
        }
        let negated = left.is_negated() != right.is_negated();
        let (a, b) = (
            left.negate_if(left.is_negated()),
            right.negate_if(right.is_negated()),
        );
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.intern(true, &[a, b, !b]).negate_if(negated)
    }

    /// Exclusive or.
    pub(crate) fn xor(&mut self, left: Lit, right: Lit) -> Lit {
        !self.iff(left, right)
    }

    /// `condition ? then : otherwise`.
    pub(crate) fn ite(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if condition.is_negated() && !condition.is_const() {
            return self.ite(!condition, otherwise, then);
        }
        if condition == Lit::TRUE || then == otherwise {
            return then;
        }
        if condition == Lit::FALSE {
            return otherwise;
        }
        if then == Lit::TRUE || then == condition {
            return self.or(condition, otherwise);
        }
        if then == Lit::FALSE || then == !condition {
            return self.and(!condition, otherwise);
        }
        if otherwise == Lit::TRUE || otherwise == !condition {
            return self.or(!condition, then);
        }
        if otherwise == Lit::FALSE || otherwise == condition {
            return self.and(condition, then);
        }
        if then == !otherwise {
            return self.iff(condition, then);
        }
        let negated = then.is_negated();
        self.intern(
            true,
            &[
                condition,
                then.negate_if(negated),
                otherwise.negate_if(negated),
            ],
        )
        .negate_if(negated)
    }

    /// The sum and the carry of three bits.
    pub(crate) fn full_adder(&mut self, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
        let half = self.xor(a, b);
        let sum = self.xor(half, c);
        let both = self.and(a, b);
        let third = self.and(c, half);
        let carry = self.or(both, third);
        (sum, carry)
    }

    /// The value of every node under values of the inputs.
    #[cfg(test)]
    pub(crate) fn simulate(&self, mut input: impl FnMut(usize) -> bool) -> Vec<bool> {
        let mut values: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let value = |lit: Lit| values[lit.node()] != lit.is_negated();
            let result = match self.gate(node) {
                Gate::True => true,
                Gate::Input => input(node),
                Gate::And(operands) => operands.iter().all(|&lit| value(lit)),
                Gate::Ite(c, t, e) => {
                    if value(c) {
                        value(t)
                    } else {
                        value(e)
                    }
                }
            };
            values.push(result);
        }
        values
    }
}

enum Inside {
    Same,
    False,
    Changed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_gates_are_one_gate() {
        let mut c = Circuit::new();
        let (a, b, d) = (c.input(), c.input(), c.input());
        assert_eq!(c.and_all([a, b, d]), c.and_all([d, a, b, a]));
        assert_eq!(c.or(a, b), !c.and(!b, !a));
        assert_eq!(c.ite(!a, b, d), c.ite(a, d, b));
        assert_eq!(c.xor(a, b), !c.xor(!b, a));
    }

    #[test]
    fn constants_fold() {
        let mut c = Circuit::new();
        let (a, b) = (c.input(), c.input());
        assert_eq!(c.and_all([a, b, !a]), Lit::FALSE);
        assert_eq!(c.and_all([]), Lit::TRUE);
        assert_eq!(c.or_all([]), Lit::FALSE);
        assert_eq!(c.ite(a, Lit::TRUE, Lit::FALSE), a);
        assert_eq!(c.ite(a, b, b), b);
        let ab = c.and(a, b);
        assert_eq!(c.and(ab, a), ab);
        assert_eq!(c.and(ab, !b), Lit::FALSE);
        assert_eq!(c.and(!ab, !a), !a);
        let a_not_b = c.and(a, !b);
        assert_eq!(c.and(!ab, a), a_not_b);
    }

    #[derive(Clone, Debug)]
    enum Op {
        And(Vec<(usize, bool)>),
        Ite([(usize, bool); 3]),
        Iff([(usize, bool); 2]),
    }

    fn op() -> impl Strategy<Value = Op> {
        let lit = || (0usize..64, any::<bool>());
        prop_oneof![
            prop::collection::vec(lit(), 0..5).prop_map(Op::And),
            [lit(), lit(), lit()].prop_map(Op::Ite),
            [lit(), lit()].prop_map(Op::Iff),
        ]
    }

    proptest! {
        #[test]
        fn gates_mean_what_they_say(ops in prop::collection::vec(op(), 1..40), bits in any::<u8>()) {
            let mut c = Circuit::new();
            let mut lits = vec![Lit::TRUE];
            let mut expected = vec![true];
            for i in 0..4 {
                lits.push(c.input());
                expected.push(bits >> i & 1 == 1);
            }
            let input_count = lits.len();
            for op in &ops {
                let pick = |(i, n): (usize, bool)| {
                    let i = i % lits.len();
                    (lits[i].negate_if(n), expected[i] != n)
                };
                let (lit, value) = match op {
                    Op::And(parts) => {
                        let parts: Vec<_> = parts.iter().map(|&p| pick(p)).collect();
                        (c.and_all(parts.iter().map(|p| p.0)), parts.iter().all(|p| p.1))
                    }
                    Op::Ite(parts) => {
                        let [i, t, e] = parts.map(pick);
                        (c.ite(i.0, t.0, e.0), if i.1 { t.1 } else { e.1 })
                    }
                    Op::Iff(parts) => {
                        let [a, b] = parts.map(pick);
                        (c.iff(a.0, b.0), a.1 == b.1)
                    }
                };
                lits.push(lit);
                expected.push(value);
            }
            let values = c.simulate(|node| expected[..input_count][node]);
            for (lit, expected) in lits.iter().zip(&expected) {
                prop_assert_eq!(values[lit.node()] != lit.is_negated(), *expected);
            }
        }
    }
}
