//! Bounds tightened by what the constraints say outright.
//!
//! A partial instance is often given as facts (`A.f = B + C`) over signatures of one atom. Read as
//! bounds, they make relations known before anything is translated. What is concluded here follows
//! from the constraints, so the instances stay the same.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::problem::{
    Count, Decl, Expr, ExprNode, Formula, FormulaNode, IntNode, Mult, Problem, Quant, Terms, Var,
};
use crate::scope::Scope;
use crate::sets::{self, Space};

/// What an expression has at least and at most.
#[derive(Clone, Debug)]
struct Range {
    lower: Rc<Vec<u64>>,
    upper: Rc<Vec<u64>>,
}

impl Range {
    fn exact(tuples: Vec<u64>) -> Self {
        let lower = Rc::new(tuples);
        Range {
            upper: lower.clone(),
            lower,
        }
    }

    fn new(lower: Vec<u64>, upper: Vec<u64>) -> Self {
        Range {
            lower: Rc::new(lower),
            upper: Rc::new(upper),
        }
    }

    /// The only tuple, when it is known to be the only one.
    fn single(&self) -> Option<u64> {
        match (self.lower.as_slice(), self.upper.as_slice()) {
            (&[a], &[_]) => Some(a),
            _ => None,
        }
    }
}

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

struct Tightener<'p> {
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
}

/// Tightens the bounds of the relations of a problem by its constraints.
pub(crate) fn tighten(problem: &Problem, bounds: &mut [Bounds]) {
    let mut tightener = Tightener {
        problem,
        terms: &problem.terms,
        scope: Scope::default(),
        space: Space::new(problem.universe.len()),
        bounds: bounds
            .iter_mut()
            .map(|bounds| Range::new(std::mem::take(&mut bounds.0), std::mem::take(&mut bounds.1)))
            .collect(),
        learnt: FxHashMap::default(),
        env: FxHashMap::default(),
        memo: FxHashMap::default(),
        changed: true,
        work: 0,
    };
    for _ in 0..MAX_ROUNDS {
        if !std::mem::take(&mut tightener.changed) {
            break;
        }
        for constraint in &problem.constraints {
            tightener.formula(constraint.formula);
        }
        tightener.apply_learnt();
    }
    for (slot, range) in bounds.iter_mut().zip(tightener.bounds) {
        *slot = (range.lower.to_vec(), range.upper.to_vec());
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
            let old = self.env.insert(decl.var, Range::exact(vec![value]));
            self.all(rest, body);
            match old {
                Some(old) => self.env.insert(decl.var, old),
                None => self.env.remove(&decl.var),
            };
        }
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
        if range.lower.len() == most {
            self.exclude(expr, &open);
        } else if range.upper.len() == least {
            self.include(expr, &open);
        }
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
            // A contradiction is left for the solver, which can say why.
            let disputed = sets::intersection(&learnt.included, &learnt.excluded);
            let included = sets::difference(&learnt.included, &disputed);
            let excluded = sets::difference(&learnt.excluded, &disputed);
            let range = Range::new(
                sets::union(&range.lower, &included),
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

    fn range(&mut self, expr: Expr) -> Range {
        match self.terms.expr(expr) {
            ExprNode::Relation(id) => {
                if let Some(range) = self.bounds.get(id.0 as usize) {
                    return range.clone();
                }
            }
            ExprNode::Var(var) => {
                if let Some(range) = self.env.get(var) {
                    return range.clone();
                }
            }
            _ => {}
        }
        let closed = self.scope.expr(self.terms, expr).free.is_empty();
        if closed && let Some(range) = self.memo.get(&expr) {
            return range.clone();
        }
        let range = self.compute(expr);
        self.work += 1 + range.upper.len();
        if closed {
            self.memo.insert(expr, range.clone());
        }
        range
    }

    /// Nothing at least and anything at most, as far as that can be listed.
    fn unknown(&mut self, arity: usize) -> Range {
        let size = self.space.size(arity);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.work = self.work.saturating_add(size);
        if self.exhausted() {
            // What is asked of it from now on is not used.
            return Range::new(Vec::new(), Vec::new());
        }
        Range::new(Vec::new(), (0..size as u64).collect())
    }

    fn compute(&mut self, expr: Expr) -> Range {
        let terms = self.terms;
        let space = self.space;
        let arity = terms.arity(expr);
        let atoms = self.problem.universe.len();
        if self.exhausted() || !space.fits(arity) {
            self.work = MAX_WORK + 1;
            return Range::new(Vec::new(), Vec::new());
        }
        match terms.expr(expr) {
            ExprNode::Relation(_) | ExprNode::Var(_) => self.unknown(arity),
            ExprNode::Tuple(tuple) => Range::exact(vec![
                tuple
                    .iter()
                    .fold(0, |n, a| n * space.atoms() + u64::from(a.0)),
            ]),
            ExprNode::None(_) => Range::exact(Vec::new()),
            ExprNode::Univ => Range::exact((0..atoms as u64).collect()),
            ExprNode::Iden => Range::exact(space.iden(atoms)),
            ExprNode::Ints => Range::exact(self.ints(|_| true)),
            ExprNode::IntAtom(int) => match terms.int(*int) {
                IntNode::Const(value) => Range::exact(self.ints(|int| int == *value)),
                _ => Range::new(Vec::new(), self.ints(|_| true)),
            },
            ExprNode::Union(parts) => {
                let (mut lower, mut upper) = (Vec::new(), Vec::new());
                for &part in parts {
                    let part = self.range(part);
                    lower.extend_from_slice(&part.lower);
                    upper.extend_from_slice(&part.upper);
                }
                sets::sort(&mut lower);
                sets::sort(&mut upper);
                Range::new(lower, upper)
            }
            ExprNode::Intersection(parts) => parts
                .iter()
                .map(|&part| self.range(part))
                .reduce(|a, b| {
                    Range::new(
                        sets::intersection(&a.lower, &b.lower),
                        sets::intersection(&a.upper, &b.upper),
                    )
                })
                .unwrap_or_else(|| Range::exact(Vec::new())),
            ExprNode::Difference(a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                Range::new(
                    sets::difference(&a.lower, &b.upper),
                    sets::difference(&a.upper, &b.lower),
                )
            }
            ExprNode::Override(a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                // A row surely kept has no possible replacement, one surely replaced has a sure one.
                let kept = space.override_with(&a.lower, &b.upper, arity);
                let kept = sets::difference(&kept, &sets::difference(&b.upper, &b.lower));
                let possible = space.override_with(&a.upper, &b.lower, arity);
                Range::new(kept, sets::union(&possible, &b.upper))
            }
            ExprNode::Join(a, b) => {
                let right = terms.arity(*b);
                let (a, b) = (self.range(*a), self.range(*b));
                Range::new(
                    space.join(&a.lower, &b.lower, right),
                    space.join(&a.upper, &b.upper, right),
                )
            }
            ExprNode::Product(a, b) => {
                let right = terms.arity(*b);
                let (a, b) = (self.range(*a), self.range(*b));
                self.work = self
                    .work
                    .saturating_add(a.upper.len().saturating_mul(b.upper.len()));
                if self.exhausted() {
                    return Range::new(Vec::new(), Vec::new());
                }
                Range::new(
                    space.product(&a.lower, &b.lower, right),
                    space.product(&a.upper, &b.upper, right),
                )
            }
            ExprNode::Transpose(a) => {
                let a = self.range(*a);
                Range::new(space.transpose(&a.lower), space.transpose(&a.upper))
            }
            ExprNode::Closure(a) => {
                let a = self.range(*a);
                Range::new(space.closure(&a.lower), space.closure(&a.upper))
            }
            ExprNode::ReflexiveClosure(a) => {
                let a = self.range(*a);
                let iden = space.iden(atoms);
                Range::new(
                    sets::union(&space.closure(&a.lower), &iden),
                    sets::union(&space.closure(&a.upper), &iden),
                )
            }
            ExprNode::Ite(_, a, b) => {
                let (a, b) = (self.range(*a), self.range(*b));
                Range::new(
                    sets::intersection(&a.lower, &b.lower),
                    sets::union(&a.upper, &b.upper),
                )
            }
            ExprNode::Comprehension(..) => self.unknown(arity),
        }
    }

    fn ints(&self, wanted: impl Fn(i64) -> bool) -> Vec<u64> {
        let ints = self.problem.ints.iter();
        let mut ints = ints
            .filter(|int| wanted(int.0))
            .map(|int| u64::from(int.1.0))
            .collect();
        sets::sort(&mut ints);
        ints
    }
}
