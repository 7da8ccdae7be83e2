//! Evaluates terms on an instance with plain sets.
//!
//! It knows nothing of circuits or SAT, and shares with the translation nothing but the terms: neither
//! its sets, nor what it finds out about terms, nor how it judges overflow. So it can judge what the
//! solver found.

mod arithmetic;
mod blame;
mod expr;
mod formula;
mod recall;
mod sets;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::limits::{Budget, Limits, Reason};
use crate::problem::{
    Decl, Expr, ExprNode, Formula, Int, Mult, Problem, Quant, Terms, TupleSet, Var,
};
use crate::search::{Instance, Overflow};
use recall::{Mark, Recall, Trace};
use sets::Numbering;

/// Why a term could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvaluateError {
    /// A variable ranges over more sets than can be tried.
    HigherOrder(Var),
    /// Tuples of this many columns cannot be numbered.
    Capacity(usize),
    /// A limit was reached.
    Limit(Reason),
    /// Terms are nested too deeply.
    Depth,
}

impl std::fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EvaluateError::HigherOrder(_) => {
                f.write_str("a variable ranges over more sets than can be tried")
            }
            EvaluateError::Capacity(columns) => {
                write!(f, "tuples of {columns} columns cannot be numbered")
            }
            EvaluateError::Limit(reason) => reason.fmt(f),
            EvaluateError::Depth => f.write_str("it is nested too deeply"),
        }
    }
}

impl std::error::Error for EvaluateError {}

impl From<Reason> for EvaluateError {
    fn from(reason: Reason) -> Self {
        EvaluateError::Limit(reason)
    }
}

type Result<T> = std::result::Result<T, EvaluateError>;

/// A set of tuples, and whether arithmetic in it overflowed.
#[derive(Clone, Debug)]
struct Set {
    tuples: Rc<Vec<u64>>,
    overflow: bool,
}

impl Set {
    fn new(tuples: Vec<u64>) -> Self {
        Set {
            tuples: Rc::new(tuples),
            overflow: false,
        }
    }
}

/// An integer in two's complement, and whether it does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number {
    value: i64,
    overflow: bool,
}

/// The value that a skolem gave to a variable.
#[derive(Clone, Debug)]
struct Witness {
    outer: Vec<Var>,
    tuples: Rc<Vec<u64>>,
}

/// The value of a variable.
#[derive(Clone, Debug)]
struct Binding {
    tuples: Rc<Vec<u64>>,
    /// What tells it from other values: its only tuple, or a number given to no other set.
    identity: u64,
}

/// Sets of up to this many tuples have all their subsets tried for a higher-order variable.
const MAX_SUBSETS: usize = 16;

/// Nesting of terms beyond which evaluation refuses.
const MAX_DEPTH: usize = 20_000;

/// Evaluates terms on an instance.
pub struct Evaluator<'p> {
    problem: &'p Problem,
    terms: &'p Terms,
    numbering: Numbering,
    bitwidth: u32,
    relations: Vec<Rc<Vec<u64>>>,
    witnesses: FxHashMap<Var, Vec<Witness>>,
    forbid_overflow: bool,
    env: Vec<Option<Binding>>,
    bound: usize,
    sets_tried: u64,
    int_binders: Vec<(Var, bool)>,
    negated: bool,
    depth: usize,
    budget: Budget,
    trace: Trace,
    sets: Recall<Set>,
    truths: Recall<bool>,
    numbers: Recall<Number>,
}

impl<'p> Evaluator<'p> {
    /// An evaluator for an instance of a problem in which integers wrap around.
    pub fn new(problem: &'p Problem, instance: &Instance) -> Self {
        let mut witnesses: FxHashMap<Var, Vec<Witness>> = FxHashMap::default();
        for skolem in &instance.skolems {
            witnesses.entry(skolem.var).or_default().push(Witness {
                outer: skolem.outer.clone(),
                tuples: Rc::new(skolem.value.indices().to_vec()),
            });
        }
        Evaluator {
            problem,
            terms: &problem.terms,
            numbering: Numbering::new(problem.universe.len()),
            bitwidth: problem.bitwidth.clamp(1, 62),
            relations: instance
                .relations
                .iter()
                .map(|set| Rc::new(set.indices().to_vec()))
                .collect(),
            witnesses,
            forbid_overflow: false,
            env: vec![None; problem.terms.var_count()],
            bound: 0,
            sets_tried: 0,
            int_binders: Vec::new(),
            negated: false,
            depth: 0,
            budget: Budget::default(),
            trace: Trace::default(),
            sets: Recall::default(),
            truths: Recall::default(),
            numbers: Recall::default(),
        }
    }

    /// Judges overflow in this way.
    #[must_use]
    pub fn with_overflow(mut self, overflow: Overflow) -> Self {
        self.forbid_overflow = overflow == Overflow::Forbid;
        self
    }

    /// Gives up at these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.budget = Budget::new(limits);
        self
    }

    /// The tuples of an expression without free variables.
    pub fn expr(&mut self, expr: Expr) -> Result<TupleSet> {
        let set = self.set(expr)?;
        Ok(TupleSet::from_unsorted(
            self.terms.arity(expr),
            self.problem.universe.len() as u64,
            set.tuples.to_vec(),
        ))
    }

    /// Whether a formula without free variables holds.
    pub fn formula(&mut self, formula: Formula) -> Result<bool> {
        self.holds(formula)
    }

    /// The value of an integer without free variables; `None` when it overflows.
    pub fn int(&mut self, int: Int) -> Result<Option<i64>> {
        let number = self.number(int)?;
        Ok((!number.overflow).then_some(number.value))
    }

    /// Whether the instance is one: within bounds, with all constraints and orders.
    pub fn is_instance(&mut self) -> Result<bool> {
        let problem = self.problem;
        for (relation, value) in problem.relations.iter().zip(&self.relations) {
            if !sets::is_subset(relation.lower.indices(), value)
                || !sets::is_subset(value, relation.upper.indices())
            {
                return Ok(false);
            }
        }
        for order in &problem.orders {
            let [elem, first, next] = [order.elem, order.first, order.next].map(|id| {
                self.relations
                    .get(id.0 as usize)
                    .cloned()
                    .unwrap_or_default()
            });
            if !self.is_total_order(&elem, &first, &next) {
                return Ok(false);
            }
        }
        for constraint in &problem.constraints {
            if !self.holds(constraint.formula)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(EvaluateError::Depth);
        }
        self.budget.spend(1)?;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// What tells the value of a variable from others.
    fn identity(env: &[Option<Binding>], var: Var) -> Option<u64> {
        let slot = env.get(var.index())?;
        slot.as_ref().map(|binding| binding.identity)
    }

    /// The value of a term, if it was found before for the same values of variables.
    fn recall<T: Clone>(&mut self, table: fn(&Self) -> &Recall<T>, term: usize) -> Option<T> {
        let (value, vars) = table(self).get(term, |var| Self::identity(&self.env, var))?;
        let vars = vars.to_vec();
        self.trace.see_all(&vars);
        Some(value)
    }

    /// Keeps the value of a term that was found since a mark. What depends on all variables with a
    /// value is not asked for again.
    fn keep<T: Clone>(
        &mut self,
        table: fn(&mut Self) -> &mut Recall<T>,
        term: usize,
        since: Mark,
        value: &T,
    ) {
        let Some(vars) = self.trace.since(since) else {
            return;
        };
        if self.bound > 0 && vars.len() >= self.bound {
            return;
        }
        let vars = vars.to_vec();
        let env = std::mem::take(&mut self.env);
        table(self).insert(term, &vars, |var| Self::identity(&env, var), value.clone());
        self.env = env;
    }

    fn bind(&mut self, var: Var, tuples: Vec<u64>) -> Option<Binding> {
        let identity = match tuples.as_slice() {
            [one] => *one,
            _ => {
                self.sets_tried += 1;
                u64::MAX - self.sets_tried
            }
        };
        self.bound += 1;
        let binding = Binding {
            tuples: Rc::new(tuples),
            identity,
        };
        match self.env.get_mut(var.index()) {
            Some(slot) => slot.replace(binding),
            None => None,
        }
    }

    fn unbind(&mut self, var: Var, old: Option<Binding>) {
        self.bound -= 1;
        if let Some(slot) = self.env.get_mut(var.index()) {
            *slot = old;
        }
    }

    /// Visits the values of declarations until `visit` says to stop; returns whether it never did.
    fn each(
        &mut self,
        decls: &[Decl],
        quant: Option<Quant>,
        tuple: u64,
        visit: &mut dyn FnMut(&mut Self, u64) -> Result<bool>,
    ) -> Result<bool> {
        let Some((decl, rest)) = decls.split_first() else {
            return visit(self, tuple);
        };
        let range = self.set(decl.bound)?.tuples;
        let outside = self.negated;
        let int_typed = matches!(self.terms.expr(decl.bound), ExprNode::Ints);
        let universal = match quant {
            Some(quant) => (quant == Quant::All) != outside,
            None => {
                self.negated = false;
                false
            }
        };
        if int_typed {
            self.int_binders.push((decl.var, universal));
        }
        let width = self.width(self.terms.var_arity(decl.var))?;
        let result = self.each_value(decl, &range, quant.is_some(), &mut |this, value| {
            // Nobody asks which tuple the values of a quantifier make, and they may be too many.
            let next = match value.as_slice() {
                [one] if quant.is_none() => Numbering::followed(tuple, width, *one),
                _ => tuple,
            };
            let mark = this.trace.mark();
            let old = this.bind(decl.var, value);
            let result = this.each(rest, quant, next, visit);
            this.unbind(decl.var, old);
            this.trace.forget(mark, decl.var);
            result
        });
        if int_typed {
            self.int_binders.pop();
        }
        self.negated = outside;
        result
    }

    /// The values of one declaration, what a skolem says first.
    fn each_value(
        &mut self,
        decl: &Decl,
        range: &[u64],
        witnessed: bool,
        visit: &mut dyn FnMut(&mut Self, Vec<u64>) -> Result<bool>,
    ) -> Result<bool> {
        let fits = |size: usize| match decl.mult {
            Mult::Set => true,
            Mult::Some => size >= 1,
            Mult::Lone => size <= 1,
            Mult::One => size == 1,
        };
        if witnessed {
            for witness in self.witnesses.get(&decl.var).cloned().unwrap_or_default() {
                let Some(value) = self.witness(&witness, decl.var) else {
                    continue;
                };
                if fits(value.len()) && sets::is_subset(&value, range) && !visit(self, value)? {
                    return Ok(false);
                }
            }
        }
        if decl.mult == Mult::One {
            for &tuple in range {
                if !visit(self, vec![tuple])? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if range.len() > MAX_SUBSETS {
            return Err(EvaluateError::HigherOrder(decl.var));
        }
        for bits in 0u32..1 << range.len() {
            let value: Vec<u64> = range
                .iter()
                .enumerate()
                .filter(|(at, _)| bits >> at & 1 == 1)
                .map(|(_, &tuple)| tuple)
                .collect();
            if fits(value.len()) && !visit(self, value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a skolem says of a variable for the current values of the variables around it.
    fn witness(&mut self, witness: &Witness, var: Var) -> Option<Vec<u64>> {
        self.trace.see_all(&witness.outer);
        let mut prefix = 0;
        for outer in &witness.outer {
            let binding = self.env.get(outer.index())?.as_ref()?;
            let &[atom] = binding.tuples.as_slice() else {
                return None;
            };
            prefix = Numbering::followed(prefix, self.numbering.atoms(), atom);
        }
        let width = self.numbering.tuples(self.terms.var_arity(var))?;
        let rows = witness.tuples.iter();
        let rows = rows.filter(|&row| row / width == prefix);
        Some(rows.map(|row| row % width).collect())
    }

    /// Number of tuples of so many columns.
    fn width(&self, columns: usize) -> Result<u64> {
        self.numbering
            .tuples(columns)
            .ok_or(EvaluateError::Capacity(columns))
    }
}
