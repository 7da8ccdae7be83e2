//! Random small problems, for tests that compare the solver with trying every instance.

use proptest::prelude::*;

use crate::problem::{
    Atom, Count, Decl, Expr, Formula, Int, IntCmp, IntOp, Mult, Problem, Quant, TotalOrder,
    TupleSet, Universe, Var,
};
use crate::search::Instance;

/// Random decisions: bytes that are used up one after the other, then zeros.
pub(crate) struct Dice<'a> {
    bytes: &'a [u8],
}

impl<'a> Dice<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Dice { bytes }
    }

    fn roll(&mut self, sides: usize) -> usize {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first as usize % sides
            }
            None => 0,
        }
    }
}

/// What kinds of terms a random problem has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flavour {
    pub(crate) integers: bool,
    pub(crate) orders: bool,
    /// Whether existential variables at the top may range over sets.
    pub(crate) higher_order: bool,
}

/// Bytes for [`problem`].
pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 40..160)
}

struct Maker<'a, 'p> {
    dice: Dice<'a>,
    problem: &'p mut Problem,
    flavour: Flavour,
    vars: Vec<Var>,
}

/// At most so many bits of relations are open, so that all instances can be tried.
const MAX_OPEN: usize = 9;

/// The problem that some bytes stand for.
pub(crate) fn problem(bytes: &[u8], flavour: Flavour) -> Problem {
    let mut dice = Dice::new(bytes);
    let plain = 2 + dice.roll(2);
    let mut names: Vec<String> = (0..plain).map(|i| format!("a{i}")).collect();
    let bitwidth = if flavour.integers {
        2 + dice.roll(2) as u32
    } else {
        0
    };
    let half = if flavour.integers {
        1i64 << (bitwidth - 1)
    } else {
        0
    };
    names.extend((-half..half).map(|i| i.to_string()));
    let universe = Universe::new(names);
    let mut problem = Problem::new(universe);
    problem.bitwidth = bitwidth;
    problem.ints = (-half..half)
        .zip(plain as u32..)
        .map(|(int, atom)| (int, Atom(atom)))
        .collect();
    let n = problem.universe.len() as u64;
    let mut open = 0;
    if flavour.orders {
        open += add_order(&mut problem, &mut dice, plain as u32);
    }
    for (name, arity) in [("r", 1), ("s", 1), ("e", 2), ("f", 2), ("t", 3)] {
        if arity == 3 && dice.roll(3) > 0 {
            continue;
        }
        let size = n.pow(arity as u32);
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        let density = 2 + dice.roll(3);
        // Whole blocks of atoms are treated alike now and then, or there would be no symmetry.
        let block = dice.roll(3) == 0;
        let all = dice.roll(4);
        for index in 0..size {
            let among_plain = {
                let mut rest = index;
                (0..arity).all(|_| {
                    let inside = rest % n < plain as u64;
                    rest /= n;
                    inside
                })
            };
            let roll = match (block, among_plain) {
                (true, true) => all,
                (true, false) => 3,
                _ => dice.roll(density + 2),
            };
            match roll {
                0 => {
                    lower.push(index);
                    upper.push(index);
                }
                1 if open < MAX_OPEN => {
                    open += 1;
                    upper.push(index);
                }
                _ => {}
            }
        }
        let lower = TupleSet::from_unsorted(arity, n, lower);
        let upper = TupleSet::from_unsorted(arity, n, upper);
        problem.add_relation(name, lower, upper);
    }
    let mut maker = Maker {
        dice,
        problem: &mut problem,
        flavour,
        vars: Vec::new(),
    };
    for number in 0..1 + maker.dice.roll(3) {
        let formula = maker.formula(4, true);
        maker
            .problem
            .require(formula, format!("constraint {number}"), None);
    }
    problem
}

fn add_order(problem: &mut Problem, dice: &mut Dice, plain: u32) -> usize {
    let universe = problem.universe.clone();
    let elems = TupleSet::unary(&universe, (0..plain.min(2 + dice.roll(2) as u32)).map(Atom));
    let elem = problem.add_relation("elem", elems.clone(), elems.clone());
    let none = TupleSet::unary(&universe, []);
    let mut open = 0;
    for _ in 0..1 + dice.roll(2) {
        if open > 0 && elems.len() > 2 {
            break;
        }
        let first = problem.add_relation("first", none.clone(), elems.clone());
        let pairs = elems.product(&elems).unwrap();
        let next = problem.add_relation(
            "next",
            TupleSet::from_unsorted(2, universe.len() as u64, Vec::new()),
            pairs.clone(),
        );
        open += elems.len() + pairs.len();
        problem.orders.push(TotalOrder { elem, first, next });
    }
    open
}

impl Maker<'_, '_> {
    fn decl(&mut self, arity: usize) -> Decl {
        let bound = if self.flavour.integers && arity == 1 && self.dice.roll(2) == 0 {
            self.problem.terms.ints()
        } else {
            self.expr(arity, 1)
        };
        let name = format!("x{}", self.vars.len());
        let var = self.problem.terms.fresh_var(name, arity);
        Decl {
            var,
            mult: Mult::One,
            bound,
        }
    }

    fn decls(&mut self, count: usize) -> Vec<Decl> {
        (0..count)
            .map(|_| {
                let arity = if self.dice.roll(8) == 0 { 2 } else { 1 };
                let decl = self.decl(arity);
                self.vars.push(decl.var);
                decl
            })
            .collect()
    }

    fn formula(&mut self, depth: usize, top: bool) -> Formula {
        let integers = self.flavour.integers;
        if depth == 0 {
            return self.atom(1);
        }
        match self.dice.roll(if integers { 13 } else { 11 }) {
            0 => {
                let a = self.formula(depth - 1, top);
                let b = self.formula(depth - 1, top);
                self.problem.terms.and([a, b])
            }
            1 => {
                let a = self.formula(depth - 1, false);
                let b = self.formula(depth - 1, false);
                self.problem.terms.or([a, b])
            }
            2 => {
                let a = self.formula(depth - 1, false);
                let b = self.formula(depth - 1, false);
                self.problem.terms.implies(a, b)
            }
            3 => {
                let a = self.formula(depth - 1, false);
                let b = self.formula(depth - 1, false);
                self.problem.terms.iff(a, b)
            }
            4 => {
                let a = self.formula(depth - 1, false);
                self.problem.terms.not(a)
            }
            5..=8 => {
                let quant = if self.dice.roll(2) == 0 {
                    Quant::All
                } else {
                    Quant::Some
                };
                let outside = self.vars.len();
                let count = 1 + self.dice.roll(2);
                let mut decls = self.decls(count);
                if self.flavour.higher_order && top && quant == Quant::Some {
                    for decl in &mut decls {
                        decl.mult =
                            [Mult::Set, Mult::Some, Mult::Lone, Mult::One][self.dice.roll(4)];
                    }
                }
                let stays_top = top && (quant == Quant::Some || count == 1);
                let body = self.formula(
                    depth - 1,
                    stays_top && self.problem.terms.var_arity(decls[0].var) == 1,
                );
                self.vars.truncate(outside);
                self.problem.terms.quant(quant, decls, body)
            }
            _ => self.atom(depth),
        }
    }

    fn atom(&mut self, depth: usize) -> Formula {
        let depth = depth.min(3);
        let arity = 1 + usize::from(self.dice.roll(3) == 0);
        match self.dice.roll(if self.flavour.integers { 12 } else { 7 }) {
            0 | 1 => {
                let a = self.expr(arity, depth);
                let b = self.expr(arity, depth);
                self.problem.terms.subset(a, b)
            }
            2 => {
                let a = self.expr(arity, depth);
                let b = self.expr(arity, depth);
                self.problem.terms.equal(a, b)
            }
            3..=5 => {
                let a = self.expr(arity, depth);
                let k = self.dice.roll(4) as u32;
                let count = match self.dice.roll(3) {
                    0 => Count::AtLeast(k),
                    1 => Count::AtMost(k),
                    _ => Count::Exactly(k),
                };
                self.problem.terms.count(a, count)
            }
            6 => {
                let elem = self.expr(1, 1);
                let first = self.expr(1, 1);
                let next = self.expr(2, 1);
                self.problem.terms.total_order(elem, first, next)
            }
            _ => {
                let cmp = [IntCmp::Eq, IntCmp::Lt, IntCmp::Lte][self.dice.roll(3)];
                let a = self.int(depth);
                let b = self.int(depth - 1);
                self.problem.terms.int_cmp(cmp, a, b)
            }
        }
    }

    fn leaf(&mut self, arity: usize) -> Expr {
        let vars: Vec<Var> = self
            .vars
            .iter()
            .copied()
            .filter(|&var| self.problem.terms.var_arity(var) == arity)
            .collect();
        if !vars.is_empty() && self.dice.roll(2) == 0 {
            let var = vars[self.dice.roll(vars.len())];
            return self.problem.terms.var(var);
        }
        match self.dice.roll(10) {
            0 if arity == 1 => self.problem.terms.univ(),
            0 if arity == 2 => self.problem.terms.iden(),
            1 => self.problem.terms.none(arity),
            2 => {
                let n = self.problem.universe.len();
                let tuple = (0..arity).map(|_| Atom(self.dice.roll(n) as u32)).collect();
                self.problem.terms.tuple(tuple)
            }
            3 if arity == 1 && self.flavour.integers => self.problem.terms.ints(),
            _ => {
                let fitting: Vec<_> = self
                    .problem
                    .relations
                    .iter()
                    .enumerate()
                    .filter(|(_, relation)| relation.upper.arity() == arity)
                    .map(|(at, _)| crate::problem::RelationId(at as u32))
                    .collect();
                if fitting.is_empty() {
                    return self.problem.terms.none(arity);
                }
                let id = fitting[self.dice.roll(fitting.len())];
                self.problem.relation_expr(id)
            }
        }
    }

    fn expr(&mut self, arity: usize, depth: usize) -> Expr {
        if depth == 0 || arity > 3 {
            return self.leaf(arity);
        }
        let d = depth - 1;
        match self.dice.roll(18) {
            0 => {
                let (a, b) = (self.expr(arity, d), self.expr(arity, d));
                self.problem.terms.union(a, b)
            }
            1 => {
                let (a, b) = (self.expr(arity, d), self.expr(arity, d));
                self.problem.terms.intersection(a, b)
            }
            2 => {
                let (a, b) = (self.expr(arity, d), self.expr(arity, d));
                self.problem.terms.difference(a, b)
            }
            3 if arity > 1 => {
                let (a, b) = (self.expr(arity, d), self.expr(arity, d));
                self.problem.terms.override_with(a, b)
            }
            4..=7 => {
                let (a, b) = if self.dice.roll(2) == 0 {
                    (self.expr(1, d), self.expr(arity + 1, d))
                } else {
                    (self.expr(2, d), self.expr(arity, d))
                };
                self.problem.terms.join(a, b)
            }
            8 if arity > 1 => {
                let (a, b) = (self.expr(1, d), self.expr(arity - 1, d));
                self.problem.terms.product(a, b)
            }
            9 if arity == 2 => {
                let a = self.expr(2, d);
                self.problem.terms.transpose(a)
            }
            10 if arity == 2 => {
                let a = self.expr(2, d);
                self.problem.terms.closure(a)
            }
            11 if arity == 2 => {
                let a = self.expr(2, d);
                self.problem.terms.reflexive_closure(a)
            }
            12 => {
                let condition = self.formula(d.min(1), false);
                let (a, b) = (self.expr(arity, d), self.expr(arity, d));
                self.problem.terms.ite(condition, a, b)
            }
            13 => {
                let outside = self.vars.len();
                let mut decls = Vec::new();
                for _ in 0..arity {
                    let decl = self.decl(1);
                    self.vars.push(decl.var);
                    decls.push(decl);
                }
                let body = self.formula(d.min(2), false);
                self.vars.truncate(outside);
                self.problem.terms.comprehension(decls, body)
            }
            14 if arity == 1 && self.flavour.integers => {
                let int = self.int(d);
                self.problem.terms.int_atom(int)
            }
            _ => self.leaf(arity),
        }
    }

    fn int(&mut self, depth: usize) -> Int {
        if depth == 0 {
            let value = self.dice.roll(12) as i64 - 6;
            return self.problem.terms.int_const(value);
        }
        let d = depth - 1;
        match self.dice.roll(12) {
            0 => {
                let value = self.dice.roll(12) as i64 - 6;
                self.problem.terms.int_const(value)
            }
            1 | 2 => {
                let arity = 1 + self.dice.roll(2);
                let a = self.expr(arity, d);
                self.problem.terms.card(a)
            }
            3..=5 => {
                let a = self.expr(1, d);
                self.problem.terms.sum_of(a)
            }
            6 => {
                let outside = self.vars.len();
                let count = 1 + self.dice.roll(2);
                let decls = self.decls(count);
                let body = self.int(d);
                self.vars.truncate(outside);
                self.problem.terms.sum(decls, body)
            }
            7 => {
                let a = self.int(d);
                self.problem.terms.neg(a)
            }
            8 => {
                let condition = self.formula(d.min(1), false);
                let (a, b) = (self.int(d), self.int(d));
                self.problem.terms.int_ite(condition, a, b)
            }
            _ => {
                let op = [
                    IntOp::Add,
                    IntOp::Sub,
                    IntOp::Mul,
                    IntOp::Div,
                    IntOp::Rem,
                    IntOp::Shl,
                    IntOp::Sha,
                    IntOp::Shr,
                ][self.dice.roll(8)];
                let (a, b) = (self.int(d), self.int(d));
                self.problem.terms.int_op(op, a, b)
            }
        }
    }
}

/// All values of the relations within their bounds.
pub(crate) fn candidates(problem: &Problem) -> Vec<Instance> {
    let n = problem.universe.len() as u64;
    let open: Vec<(usize, u64)> = problem
        .relations
        .iter()
        .enumerate()
        .flat_map(|(at, relation)| {
            let open = relation.upper.difference(&relation.lower);
            open.indices()
                .iter()
                .map(|&index| (at, index))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(open.len() <= 20, "too many instances to try");
    (0u32..1 << open.len())
        .map(|bits| {
            let mut values: Vec<Vec<u64>> = problem
                .relations
                .iter()
                .map(|relation| relation.lower.indices().to_vec())
                .collect();
            for (at, &(relation, index)) in open.iter().enumerate() {
                if bits >> at & 1 == 1 {
                    values[relation].push(index);
                }
            }
            let relations = values
                .into_iter()
                .zip(&problem.relations)
                .map(|(value, relation)| TupleSet::from_unsorted(relation.upper.arity(), n, value))
                .collect();
            Instance {
                relations,
                skolems: Vec::new(),
            }
        })
        .collect()
}
