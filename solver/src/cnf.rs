//! Circuit to clauses, each gate only in the directions in which it is used.
#![expect(
    clippy::indexing_slicing,
    reason = "tables are as long as the circuit they are made for"
)]

use crate::circuit::{Circuit, Gate, Lit};
use crate::limits::{Budget, Reason};

/// Receives clauses.
pub(crate) trait ClauseSink {
    fn clause(&mut self, clause: &[i32]);
}

impl ClauseSink for Vec<Vec<i32>> {
    fn clause(&mut self, clause: &[i32]) {
        self.push(clause.to_vec());
    }
}

/// Something that must hold: a literal, when its selector does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub(crate) lit: Lit,
    /// The number of the selector, if it is not demanded always.
    pub(crate) selector: Option<usize>,
}

const POSITIVE: u8 = 1;
const NEGATIVE: u8 = 2;

/// The variables given to the nodes of a circuit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering {
    /// By node; 0 when it has none.
    vars: Vec<i32>,
    last: i32,
}

impl Numbering {
    /// The variable of a node, if it has one.
    pub(crate) fn var(&self, node: usize) -> Option<i32> {
        self.vars.get(node).copied().filter(|&var| var != 0)
    }

    /// Number of variables.
    pub(crate) fn count(&self) -> usize {
        usize::try_from(self.last).unwrap_or(0)
    }

    /// A variable for no node.
    pub(crate) fn fresh(&mut self) -> i32 {
        self.last += 1;
        self.last
    }
}

/// Writes the clauses of a circuit.
struct Writer<'a, S> {
    circuit: &'a Circuit,
    numbering: Numbering,
    /// How often a node is an operand or a root.
    uses: Vec<u32>,
    /// The directions written or waiting to be.
    wanted: Vec<u8>,
    waiting: Vec<(usize, u8)>,
    sink: &'a mut S,
    clauses: usize,
}

/// What was written.
pub(crate) struct Written {
    pub(crate) numbering: Numbering,
    pub(crate) clauses: usize,
    /// The variables of the selectors.
    pub(crate) selectors: Vec<i32>,
}

/// Demands `roots`. The inputs get the first variables, in order; then come `selectors` of them.
pub(crate) fn write(
    circuit: &Circuit,
    inputs: &[Lit],
    roots: &[Root],
    selectors: usize,
    budget: &mut Budget,
    sink: &mut impl ClauseSink,
) -> Result<Written, Reason> {
    let mut numbering = Numbering {
        vars: vec![0; circuit.len()],
        last: 0,
    };
    for input in inputs {
        numbering.vars[input.node()] = numbering.fresh();
    }
    let selectors: Vec<i32> = (0..selectors).map(|_| numbering.fresh()).collect();
    let mut writer = Writer {
        circuit,
        numbering,
        uses: count_uses(circuit, roots),
        wanted: vec![0; circuit.len()],
        waiting: Vec::new(),
        sink,
        clauses: 0,
    };
    for root in roots {
        let guard = root.selector.and_then(|at| selectors.get(at).copied());
        writer.demand(root.lit, guard);
        writer.drain(budget)?;
    }
    Ok(Written {
        numbering: writer.numbering,
        clauses: writer.clauses,
        selectors,
    })
}

fn count_uses(circuit: &Circuit, roots: &[Root]) -> Vec<u32> {
    let mut uses = vec![0u32; circuit.len()];
    let mut stack = Vec::new();
    let visit = |lit: Lit, uses: &mut Vec<u32>, stack: &mut Vec<usize>| {
        let count = &mut uses[lit.node()];
        *count += 1;
        if *count == 1 {
            stack.push(lit.node());
        }
    };
    for root in roots {
        visit(root.lit, &mut uses, &mut stack);
    }
    while let Some(node) = stack.pop() {
        match circuit.gate(node) {
            Gate::True | Gate::Input => {}
            Gate::And(operands) => {
                for &operand in operands {
                    visit(operand, &mut uses, &mut stack);
                }
            }
            Gate::Ite(c, t, e) => {
                for operand in [c, t, e] {
                    visit(operand, &mut uses, &mut stack);
                }
            }
        }
    }
    uses
}

impl<S: ClauseSink> Writer<'_, S> {
    /// The literal of a clause; what it stands for is written later.
    fn number(&mut self, lit: Lit) -> i32 {
        let node = lit.node();
        if self.numbering.vars[node] == 0 {
            self.numbering.vars[node] = self.numbering.fresh();
        }
        let direction = if lit.is_negated() { NEGATIVE } else { POSITIVE };
        if self.wanted[node] & direction == 0 {
            self.wanted[node] |= direction;
            if !matches!(self.circuit.gate(node), Gate::Input) {
                self.waiting.push((node, direction));
            }
        }
        let var = self.numbering.vars[node];
        if lit.is_negated() { -var } else { var }
    }

    fn emit(&mut self, clause: &[i32]) {
        self.clauses += 1;
        self.sink.clause(clause);
    }

    /// Writes `prefix or lits`, with disjunctions used only here unfolded.
    fn clause(&mut self, prefix: &[i32], lits: impl IntoIterator<Item = Lit>) {
        let mut clause = prefix.to_vec();
        let mut stack: Vec<Lit> = lits.into_iter().collect();
        while let Some(lit) = stack.pop() {
            match lit {
                Lit::TRUE => return,
                Lit::FALSE => continue,
                _ => {}
            }
            match self.circuit.gate(lit.node()) {
                Gate::And(operands) if lit.is_negated() && self.uses[lit.node()] <= 1 => {
                    stack.extend(operands.iter().map(|&operand| !operand));
                }
                _ => {
                    let number = self.number(lit);
                    clause.push(number);
                }
            }
        }
        self.emit(&clause);
    }

    /// Demands a literal, unless the guard fails.
    fn demand(&mut self, lit: Lit, guard: Option<i32>) {
        let prefix: Vec<i32> = guard.map(|guard| -guard).into_iter().collect();
        self.imply(&prefix, lit, true);
    }

    /// Writes `prefix or lit`; a conjunction becomes a clause for each operand, at the top even when
    /// it is used elsewhere too.
    fn imply(&mut self, prefix: &[i32], lit: Lit, top: bool) {
        let mut stack = vec![lit];
        while let Some(lit) = stack.pop() {
            match (lit, self.circuit.gate(lit.node())) {
                (Lit::TRUE, _) => {}
                (_, Gate::And(operands))
                    if !lit.is_negated() && (top || self.uses[lit.node()] <= 1) =>
                {
                    stack.extend_from_slice(operands);
                }
                (_, Gate::And(operands)) if top && lit.is_negated() => {
                    self.clause(prefix, operands.iter().map(|&operand| !operand));
                }
                (_, Gate::Ite(c, t, e)) if top => {
                    let (t, e) = (t.negate_if(lit.is_negated()), e.negate_if(lit.is_negated()));
                    self.clause(prefix, [!c, t]);
                    self.clause(prefix, [c, e]);
                }
                _ => self.clause(prefix, [lit]),
            }
        }
    }

    /// Writes what the gates in use mean.
    fn drain(&mut self, budget: &mut Budget) -> Result<(), Reason> {
        while let Some((node, direction)) = self.waiting.pop() {
            let var = self.numbering.vars[node];
            match self.circuit.gate(node) {
                Gate::True => {
                    let unit = if direction == POSITIVE { var } else { -var };
                    // Constants fold in the circuit, so this is asked for at the top only.
                    self.emit(&[var]);
                    debug_assert_ne!(unit, 0);
                }
                Gate::Input => {}
                Gate::And(operands) => {
                    budget.spend(operands.len())?;
                    if direction == POSITIVE {
                        for &operand in operands {
                            self.imply(&[-var], operand, false);
                        }
                    } else {
                        self.clause(&[var], operands.iter().map(|&operand| !operand));
                    }
                }
                Gate::Ite(c, t, e) => {
                    budget.spend(3)?;
                    if direction == POSITIVE {
                        self.clause(&[-var], [!c, t]);
                        self.clause(&[-var], [c, e]);
                    } else {
                        self.clause(&[var], [!c, !t]);
                        self.clause(&[var], [c, !e]);
                    }
                    // Implied by the two above, and the only one of them that propagates while the
                    // condition is open; of an equivalence it says nothing.
                    if t != !e {
                        if direction == POSITIVE {
                            self.clause(&[-var], [t, e]);
                        } else {
                            self.clause(&[var], [!t, !e]);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether values of the inputs extend to a model of the clauses, by trying all.
    fn extends(clauses: &[Vec<i32>], vars: usize, inputs: u32, count: usize) -> bool {
        (0u32..1 << (vars - count)).any(|rest| {
            let bits = inputs | rest << count;
            clauses.iter().all(|clause| {
                clause
                    .iter()
                    .any(|&lit| (bits >> (lit.abs() - 1) & 1 == 1) == (lit > 0))
            })
        })
    }

    proptest! {
        #[test]
        fn clauses_say_what_the_circuit_says(
            ops in prop::collection::vec((0u8..3, prop::collection::vec((0usize..32, any::<bool>()), 3)), 1..7),
            root_signs in any::<[bool; 2]>(),
        ) {
            let mut circuit = Circuit::new();
            let inputs: Vec<Lit> = (0..3).map(|_| circuit.input()).collect();
            let mut lits = inputs.clone();
            for (kind, operands) in &ops {
                let operands: Vec<Lit> = operands
                    .iter()
                    .map(|&(i, negated)| lits[i % lits.len()].negate_if(negated))
                    .collect();
                let lit = match kind {
                    0 => circuit.and_all(operands),
                    1 => circuit.or_all(operands),
                    _ => circuit.ite(operands[0], operands[1], operands[2]),
                };
                lits.push(lit);
            }
            let roots: Vec<Root> = lits
                .iter()
                .rev()
                .zip(root_signs)
                .map(|(lit, sign)| Root { lit: lit.negate_if(sign), selector: None })
                .collect();
            let mut clauses: Vec<Vec<i32>> = Vec::new();
            let written = write(
                &circuit,
                &inputs,
                &roots,
                0,
                &mut Budget::default(),
                &mut clauses,
            )
            .unwrap();
            for bits in 0u32..8 {
                let values = circuit.simulate(|node| bits >> (node - 1) & 1 == 1);
                let expected = roots
                    .iter()
                    .all(|root| values[root.lit.node()] != root.lit.is_negated());
                prop_assert_eq!(
                    extends(&clauses, written.numbering.count(), bits, 3),
                    expected,
                    "{:?} {:?}", clauses, roots
                );
            }
        }
    }
}
