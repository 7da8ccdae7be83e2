//! Bounds tightened by what the constraints say outright.
//!
//! A partial instance is often given as facts (`A.f = B + C`) over signatures of one atom. Read as
//! bounds, they make relations known before anything is translated. What is concluded here follows
//! from the constraints, so the instances stay the same.

mod range;
mod refute;

use rustc_hash::FxHashMap;

use crate::problem::{
    Count, Decl, Expr, ExprNode, Formula, FormulaNode, IntNode, Mult, Problem, Quant, Terms, Var,
};
use crate::scope::Scope;
use crate::sets::{self, Space};
use range::Range;

/// Bounds of a relation: what it has at least and at most.
pub(crate) type Bounds = (Vec<u64>, Vec<u64>);

/// Tuples that may be looked at in all, so that tightening never takes longer than it saves.
const MAX_WORK: usize = 6_000_000;

/// Relations with more tuples than this take what was learnt of them at the end of a round, all at
/// once: a thousand facts about a thousand atoms would otherwise copy a million tuples each.
const MAX_EAGER: usize = 4096;

/// How often all constraints are read again.
const MAX_ROUNDS: usize = 12;

/// Tuples that a relation has, and that it has not.
#[derive(Default)]
struct Learnt {
    included: Vec<u64>,
    excluded: Vec<u64>,
}

/// Reads bounds off formulas.
pub(crate) struct Tightener<'p> {
    problem: &'p Problem,
    terms: &'p Terms,
    scope: Scope,
    space: Space,
    bounds: Vec<Range>,
    /// What was learnt in this round of large relations.
    learnt: FxHashMap<usize, Learnt>,
    env: FxHashMap<Var, Range>,
    memo: FxHashMap<Expr, Range>,
    changed: bool,
    work: usize,
    /// The classes of interchangeable atoms, while the first of one may be chosen for what is one atom.
    classes: Option<Vec<Vec<u32>>>,
}

impl<'p> Tightener<'p> {
    /// Starts from the bounds of the relations that `terms` mention.
    pub(crate) fn new(problem: &'p Problem, terms: &'p Terms, bounds: Vec<Bounds>) -> Self {
        Tightener {
            problem,
            terms,
            scope: Scope::default(),
            space: Space::new(problem.universe.len()),
            bounds: bounds
                .into_iter()
                .map(|(lower, upper)| Range::new(lower, upper))
                .collect(),
            learnt: FxHashMap::default(),
            env: FxHashMap::default(),
            memo: FxHashMap::default(),
            changed: true,
            work: 0,
            classes: None,
        }
    }

    /// Learns from formulas that hold, until nothing new is learnt.
    pub(crate) fn read(&mut self, formulas: &[Formula]) {
        for _ in 0..MAX_ROUNDS {
            if !std::mem::take(&mut self.changed) {
                break;
            }
            for &formula in formulas {
                self.formula(formula);
            }
            self.apply_learnt();
        }
    }

    /// As [`read`](Self::read), and chooses among interchangeable atoms for what is exactly one atom.
    /// Those chosen leave their class.
    pub(crate) fn read_choosing(&mut self, formulas: &[Formula], classes: &mut Vec<Vec<u32>>) {
        self.classes = Some(std::mem::take(classes));
        self.changed = true;
        self.read(formulas);
        *classes = self.classes.take().unwrap_or_default();
    }

    /// The bounds learnt.
    pub(crate) fn finish(self) -> Vec<Bounds> {
        let ranges = self.bounds.into_iter();
        ranges
            .map(|range| (range.lower.to_vec(), range.upper.to_vec()))
            .collect()
    }

    /// What a relation has at most.
    pub(crate) fn upper(&self, relation: usize) -> &[u64] {
        self.bounds
            .get(relation)
            .map_or(&[], |range| range.upper.as_slice())
    }

    /// Leaves a relation only those of its tuples that are wanted, and those it has anyway.
    pub(crate) fn restrict(&mut self, relation: usize, wanted: impl Fn(u64) -> bool) {
        let Some(range) = self.bounds.get(relation) else {
            return;
        };
        let upper = range.upper.iter().copied();
        let upper = upper.filter(|&tuple| wanted(tuple) || sets::contains(&range.lower, tuple));
        let range = Range::new(range.lower.to_vec(), upper.collect());
        self.set(relation, range);
    }
}

impl Tightener<'_> {
    fn exhausted(&self) -> bool {
        self.work > MAX_WORK
    }

    fn formula(&mut self, formula: Formula) {
        self.work += 1;
        if self.exhausted() {
            return;
        }
        let terms = self.terms;
        match terms.formula(formula) {
            FormulaNode::And(parts) => {
                for &part in parts {
                    self.formula(part);
                }
            }
            FormulaNode::Not(inner) => {
                if let FormulaNode::Count(expr, Count::AtLeast(1)) = terms.formula(*inner) {
                    self.count(*expr, Count::AtMost(0));
                }
            }
            FormulaNode::Subset(a, b) => self.subset(*a, *b),
            FormulaNode::Equal(a, b) => {
                self.subset(*a, *b);
                self.subset(*b, *a);
            }
            FormulaNode::Count(expr, count) => self.count(*expr, *count),
            FormulaNode::Quant(Quant::All, decls, body) => self.all(decls, *body),
            _ => {}
        }
    }

    fn arithmetic(&mut self, expr: Expr) -> bool {
        // A constant is harmless; anything else may overflow and then says nothing.
        if let ExprNode::IntAtom(int) = self.terms.expr(expr)
            && let IntNode::Const(value) = self.terms.int(*int)
        {
            return !self.problem.ints.iter().any(|int| int.0 == *value);
        }
        self.scope.expr(self.terms, expr).arithmetic
    }

    /// The body holds for all values that the variables certainly have among others.
    fn all(&mut self, decls: &[Decl], body: Formula) {
        let Some((decl, rest)) = decls.split_first() else {
            self.formula(body);
            return;
        };
        if decl.mult != Mult::One || self.arithmetic(decl.bound) {
            return;
        }
        let values = self.range(decl.bound).lower;
        for &value in values.iter() {
            if self.exhausted() {
                return;
            }
            self.with(decl.var, value, |this| this.all(rest, body));
        }
    }

    /// Does something while a variable has a value.
    fn with<T>(&mut self, var: Var, value: u64, work: impl FnOnce(&mut Self) -> T) -> T {
        let old = self.env.insert(var, Range::exact(vec![value]));
        let result = work(self);
        match old {
            Some(old) => self.env.insert(var, old),
            None => self.env.remove(&var),
        };
        result
    }

    fn subset(&mut self, a: Expr, b: Expr) {
        if self.arithmetic(a) || self.arithmetic(b) {
            return;
        }
        let (left, right) = (self.range(a), self.range(b));
        let extra = sets::difference(&left.upper, &right.upper);
        self.exclude(a, &extra);
        let missing = sets::difference(&left.lower, &right.lower);
        self.include(b, &missing);
    }

    fn count(&mut self, expr: Expr, count: Count) {
        if self.arithmetic(expr) {
            return;
        }
        let range = self.range(expr);
        let (least, most) = match count {
            Count::AtMost(k) => (0, k as usize),
            Count::AtLeast(k) => (k as usize, usize::MAX),
            Count::Exactly(k) => (k as usize, k as usize),
        };
        let open = sets::difference(&range.upper, &range.lower);
        if open.is_empty() {
            return;
        }
        if count == Count::Exactly(1) && range.lower.is_empty() && self.terms.arity(expr) == 1 {
            self.choose(expr, &range.upper);
        }
        if range.lower.len() == most {
            self.exclude(expr, &open);
        } else if range.upper.len() == least {
            self.include(expr, &open);
        }
    }

    /// What is one atom may be one that was chosen before, or the first of those that nothing tells
    /// apart: an instance in which it is another one has an equal with this one.
    fn choose(&mut self, expr: Expr, upper: &[u64]) {
        let Some(mut classes) = self.classes.take() else {
            return;
        };
        let of_class = |atom: &u64| classes.iter().flatten().any(|&a| u64::from(a) == *atom);
        let mut around = self.env.values().flat_map(|range| range.upper.iter());
        // Of an atom that may be exchanged for others, exchanging them does not leave this one.
        if around.any(of_class) {
            self.classes = Some(classes);
            return;
        }
        let mut others = Vec::new();
        for class in &mut classes {
            let possible = class.iter().any(|&a| sets::contains(upper, u64::from(a)));
            if possible {
                class.remove(0);
                others.extend(class.iter().map(|&atom| u64::from(atom)));
            }
        }
        self.classes = Some(classes);
        sets::sort(&mut others);
        self.exclude(expr, &sets::intersection(&others, upper));
    }

    /// None of the tuples is in the expression.
    fn exclude(&mut self, expr: Expr, tuples: &[u64]) {
        if tuples.is_empty() || self.exhausted() {
            return;
        }
        self.work += tuples.len();
        let terms = self.terms;
        let atoms = self.space.atoms();
        match terms.expr(expr) {
            ExprNode::Relation(id) => {
                let Some(range) = self.bounds.get(id.0 as usize) else {
                    return;
                };
                // A contradiction is left for the solver, which can say why.
                if tuples.iter().any(|&t| sets::contains(&range.lower, t)) {
                    return;
                }
                if range.upper.len() > MAX_EAGER {
                    let learnt = self.learnt.entry(id.0 as usize).or_default();
                    learnt.excluded.extend_from_slice(tuples);
                    return;
                }
                let upper = sets::difference(&range.upper, tuples);
                let range = Range::new(range.lower.to_vec(), upper);
                self.set(id.0 as usize, range);
            }
            ExprNode::Union(parts) => {
                for &part in parts {
                    self.exclude(part, tuples);
                }
            }
            ExprNode::Intersection(parts) => {
                // Out of the one part that is not known to have it.
                for &tuple in tuples {
                    let mut unsure = Vec::new();
                    for &part in parts {
                        if !sets::contains(&self.range(part).lower, tuple) {
                            unsure.push(part);
                        }
                    }
                    if let [one] = unsure.as_slice() {
                        self.exclude(*one, &[tuple]);
                    }
                }
            }
            ExprNode::Difference(a, b) => {
                let removed = self.range(*b).upper;
                let rest = sets::difference(tuples, &removed);
                self.exclude(*a, &rest);
            }
            ExprNode::Join(a, b) => self.joined(*a, *b, tuples, Self::exclude),
            ExprNode::Product(a, b) => {
                let shift = self.space.size(terms.arity(*b));
                let (left, right) = (self.range(*a).lower, self.range(*b).lower);
                let mut from_left = Vec::new();
                let mut from_right = Vec::new();
                for &tuple in tuples {
                    if sets::contains(&left, tuple / shift) {
                        from_right.push(tuple % shift);
                    } else if sets::contains(&right, tuple % shift) {
                        from_left.push(tuple / shift);
                    }
                }
                sets::sort(&mut from_left);
                sets::sort(&mut from_right);
                self.exclude(*a, &from_left);
                self.exclude(*b, &from_right);
            }
            ExprNode::Transpose(a) => {
                let swapped = self.space.transpose(tuples);
                self.exclude(*a, &swapped);
            }
            ExprNode::Closure(a) => self.exclude(*a, tuples),
            ExprNode::ReflexiveClosure(a) => {
                let proper: Vec<u64> = tuples
                    .iter()
                    .copied()
                    .filter(|t| t / atoms != t % atoms)
                    .collect();
                self.exclude(*a, &proper);
            }
            _ => {}
        }
    }

    /// All of the tuples are in the expression.
    fn include(&mut self, expr: Expr, tuples: &[u64]) {
        if tuples.is_empty() || self.exhausted() {
            return;
        }
        self.work += tuples.len();
        let terms = self.terms;
        match terms.expr(expr) {
            ExprNode::Relation(id) => {
                let Some(range) = self.bounds.get(id.0 as usize) else {
                    return;
                };
                if !sets::is_subset(tuples, &range.upper) {
                    return;
                }
                if range.upper.len() > MAX_EAGER {
                    let learnt = self.learnt.entry(id.0 as usize).or_default();
                    learnt.included.extend_from_slice(tuples);
                    return;
                }
                let lower = sets::union(&range.lower, tuples);
                let range = Range::new(lower, range.upper.to_vec());
                self.set(id.0 as usize, range);
            }
            ExprNode::Union(parts) => {
                for &tuple in tuples {
                    let mut possible = Vec::new();
                    for &part in parts {
                        if sets::contains(&self.range(part).upper, tuple) {
                            possible.push(part);
                        }
                    }
                    if let [one] = possible.as_slice() {
                        self.include(*one, &[tuple]);
                    }
                }
            }
            ExprNode::Intersection(parts) => {
                for &part in parts {
                    self.include(part, tuples);
                }
            }
            ExprNode::Difference(a, b) => {
                self.include(*a, tuples);
                self.exclude(*b, tuples);
            }
            ExprNode::Join(a, b) => self.joined(*a, *b, tuples, Self::include),
            ExprNode::Product(a, b) => {
                let shift = self.space.size(terms.arity(*b));
                let mut left: Vec<u64> = tuples.iter().map(|t| t / shift).collect();
                let mut right: Vec<u64> = tuples.iter().map(|t| t % shift).collect();
                sets::sort(&mut left);
                sets::sort(&mut right);
                self.include(*a, &left);
                self.include(*b, &right);
            }
            ExprNode::Transpose(a) => {
                let swapped = self.space.transpose(tuples);
                self.include(*a, &swapped);
            }
            _ => {}
        }
    }

    /// Tuples of a join with one known atom are rows of the other side.
    fn joined(&mut self, a: Expr, b: Expr, tuples: &[u64], then: fn(&mut Self, Expr, &[u64])) {
        let atoms = self.space.atoms();
        let (arity_a, arity_b) = (self.terms.arity(a), self.terms.arity(b));
        if arity_a == 1
            && let Some(atom) = self.range(a).single()
        {
            let shift = self.space.size(arity_b.saturating_sub(1));
            let rows: Vec<u64> = tuples.iter().map(|t| atom * shift + t).collect();
            then(self, b, &rows);
        } else if arity_b == 1
            && let Some(atom) = self.range(b).single()
        {
            let rows: Vec<u64> = tuples.iter().map(|t| t * atoms + atom).collect();
            then(self, a, &rows);
        }
    }

    /// Applies what was learnt of large relations.
    fn apply_learnt(&mut self) {
        for (at, mut learnt) in std::mem::take(&mut self.learnt) {
            let Some(range) = self.bounds.get(at) else {
                continue;
            };
            sets::sort(&mut learnt.included);
            sets::sort(&mut learnt.excluded);
            // What is both is a contradiction: it stays, against whoever says that it does not.
            let excluded = sets::difference(&learnt.excluded, &learnt.included);
            let range = Range::new(
                sets::union(&range.lower, &learnt.included),
                sets::difference(&range.upper, &excluded),
            );
            self.set(at, range);
        }
    }

    fn set(&mut self, at: usize, range: Range) {
        if let Some(slot) = self.bounds.get_mut(at)
            && (slot.lower.len() != range.lower.len() || slot.upper.len() != range.upper.len())
        {
            *slot = range;
            self.changed = true;
            self.memo.clear();
        }
    }
}
