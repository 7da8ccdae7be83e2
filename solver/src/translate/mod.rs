//! Translation of formulas to a circuit: quantifiers are grounded, expressions become matrices.

mod expr;
mod formula;
mod int;

use std::rc::Rc;

use crate::circuit::{Circuit, Lit};
use crate::limits::{Budget, Reason};
use crate::matrix::{Matrix, Ops};
use crate::problem::{Atom, Decl, Expr, ExprNode, Int, IntNode, Mult, Quant, Terms, Var};
use crate::scope::{Info, Kind, Scope};
use crate::search::Overflow;
use crate::sets::Space;

use crate::memo::{self, Memo};
use int::Bits;

/// Why a translation ended without a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A limit was reached.
    Limit(Reason),
    /// A variable ranges over sets and could not be skolemized.
    HigherOrder(Var),
    /// Tuples of this many columns cannot be numbered.
    Capacity(usize),
    /// Formulas are nested too deeply.
    Depth,
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Failure::Limit(reason)
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// Nesting of terms beyond which translation refuses, before the stack is used up.
const MAX_DEPTH: usize = 20_000;

/// Translates the terms of one problem, remembering what it did.
pub(crate) struct Translator<'p> {
    terms: &'p Terms,
    scope: Scope,
    space: Space,
    atoms: usize,
    bitwidth: usize,
    ints: &'p [(i64, Atom)],
    /// The matrices of the relations, those of skolems last.
    relations: Vec<Rc<Matrix>>,
    pub(crate) circuit: Circuit,
    pub(crate) budget: Budget,
    /// Whether overflow is to be found out.
    forbid_overflow: bool,
    /// Whether some overflow is possible at all.
    pub(crate) may_overflow: bool,
    env: Vec<Option<(u64, Rc<Matrix>)>>,
    /// Number of variables with a value.
    bound: usize,
    /// The variables that range over all integers, innermost last, and whether universally.
    int_binders: Vec<(Var, bool)>,
    /// Whether an odd number of negations is around.
    negated: bool,
    depth: usize,
    expr_memo: Memo<Rc<Matrix>>,
    formula_memo: Memo<Lit>,
    int_memo: Memo<Rc<Bits>>,
}

/// What a translator needs to know of a problem.
pub(crate) struct Input<'p> {
    pub(crate) terms: &'p Terms,
    pub(crate) atoms: usize,
    pub(crate) bitwidth: u32,
    pub(crate) ints: &'p [(i64, Atom)],
    pub(crate) relations: Vec<Matrix>,
    pub(crate) circuit: Circuit,
    pub(crate) budget: Budget,
    pub(crate) overflow: Overflow,
    pub(crate) scope: Scope,
}

impl<'p> Translator<'p> {
    pub(crate) fn new(input: Input<'p>) -> Self {
        Translator {
            terms: input.terms,
            scope: input.scope,
            space: Space::new(input.atoms),
            atoms: input.atoms,
            bitwidth: input.bitwidth.clamp(1, 62) as usize,
            ints: input.ints,
            relations: input.relations.into_iter().map(Rc::new).collect(),
            circuit: input.circuit,
            budget: input.budget,
            forbid_overflow: input.overflow == Overflow::Forbid,
            may_overflow: false,
            env: vec![None; input.terms.var_count()],
            bound: 0,
            int_binders: Vec::new(),
            negated: false,
            depth: 0,
            expr_memo: Memo::default(),
            formula_memo: Memo::default(),
            int_memo: Memo::default(),
        }
    }

    /// Forgets where it was when a translation failed.
    pub(crate) fn reset(&mut self) {
        self.env.fill(None);
        self.bound = 0;
        self.int_binders.clear();
        self.negated = false;
        self.depth = 0;
    }

    fn ops(&mut self) -> Ops<'_> {
        Ops {
            circuit: &mut self.circuit,
            budget: &mut self.budget,
            space: self.space,
        }
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Failure::Depth);
        }
        self.budget.spend(1)?;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// The key under which the value of a term is remembered: the values of its free variables, and
    /// for arithmetic how overflow is judged here. `None` when it will not be asked for again.
    fn key(&self, kind: Kind, index: usize, info: &Info) -> Option<memo::Key> {
        // What depends on all variables with a value is asked for once for each of their values,
        // unless several terms ask.
        let again = self.bound > info.free.len() || self.scope.is_shared(kind, index);
        if info.size <= 1 || !again {
            return None;
        }
        let mut context = 0;
        if self.forbid_overflow && info.arithmetic {
            context = u32::from(self.negated) + 1;
            for (at, binder) in self
                .int_binders
                .iter()
                .rev()
                .filter(|binder| info.free.binary_search(&binder.0).is_ok())
                .enumerate()
            {
                if at >= 14 {
                    return None;
                }
                context |= (2 + u32::from(binder.1)) << (2 * at + 2);
            }
        }
        memo::Key::new(index, context, &info.free, |var| {
            self.env
                .get(var.index())
                .and_then(|slot| slot.as_ref().map(|value| value.0))
        })
    }

    /// Gives a variable the value of one tuple; returns what it had.
    fn bind(&mut self, var: Var, tuple: u64) -> Option<(u64, Rc<Matrix>)> {
        let value = Some((tuple, Rc::new(Matrix::constant([tuple]))));
        match self.env.get_mut(var.index()) {
            Some(slot) => {
                self.bound += 1;
                std::mem::replace(slot, value)
            }
            None => None,
        }
    }

    fn unbind(&mut self, var: Var, old: Option<(u64, Rc<Matrix>)>) {
        if let Some(slot) = self.env.get_mut(var.index()) {
            self.bound -= 1;
            *slot = old;
        }
    }

    /// Visits every combination of values of first-order declarations that may be, with the literal
    /// of its being. `visit` returns whether to go on, and so does this.
    fn ground(
        &mut self,
        decls: &[Decl],
        quant: Option<Quant>,
        guard: Lit,
        tuple: u64,
        visit: &mut dyn FnMut(&mut Self, Lit, u64) -> Result<bool>,
    ) -> Result<bool> {
        let Some((decl, rest)) = decls.split_first() else {
            return visit(self, guard, tuple);
        };
        if decl.mult != Mult::One {
            return Err(Failure::HigherOrder(decl.var));
        }
        let range = self.expr(decl.bound)?;
        let shift = self.space.size(self.terms.var_arity(decl.var));
        let outside = self.negated;
        let int_typed = matches!(self.terms.expr(decl.bound), ExprNode::Ints);
        let universal = match quant {
            Some(quant) => (quant == Quant::All) != outside,
            None => {
                // Inside an expression, overflow is judged afresh.
                self.negated = false;
                false
            }
        };
        if int_typed {
            self.int_binders.push((decl.var, universal));
        }
        let mut go_on = true;
        let mut failure = None;
        for &(value, lit) in &range.cells {
            let guard = self.circuit.and(guard, lit);
            if guard == Lit::FALSE {
                continue;
            }
            let old = self.bind(decl.var, value);
            // Nobody asks which tuple the values of a quantifier make, and they may be too many.
            let next = match quant {
                None => tuple * shift + value,
                Some(_) => 0,
            };
            let result = self.ground(rest, quant, guard, next, visit);
            self.unbind(decl.var, old);
            match result {
                Ok(true) => {}
                Ok(false) => {
                    go_on = false;
                    break;
                }
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        if int_typed {
            self.int_binders.pop();
        }
        self.negated = outside;
        failure.map_or(Ok(go_on), Err)
    }

    /// Guards a comparison against overflow of its operands: an operand that depends on an integer
    /// variable which is universal here makes it hold, any other makes it fail; under a negation
    /// the other way round.
    fn guard(&mut self, value: Lit, operands: &[(Lit, Vec<Var>)]) -> Lit {
        if !self.forbid_overflow || operands.iter().all(|operand| operand.0 == Lit::FALSE) {
            return value;
        }
        self.may_overflow = true;
        let (mut saving, mut spoiling) = (Vec::new(), Vec::new());
        for (overflow, vars) in operands {
            let universal = self
                .int_binders
                .iter()
                .rev()
                .find(|binder| vars.contains(&binder.0))
                .is_some_and(|binder| binder.1);
            if universal != self.negated {
                saving.push(*overflow);
            } else {
                spoiling.push(!*overflow);
            }
        }
        saving.push(value);
        let saved = self.circuit.or_all(saving);
        spoiling.push(saved);
        self.circuit.and_all(spoiling)
    }

    /// The variables that the overflow of an expression is attributed to.
    fn overflow_vars(&mut self, expr: Expr, vars: &mut Vec<Var>) {
        match self.terms.expr(expr) {
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                for &part in parts {
                    self.overflow_vars(part, vars);
                }
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => {
                self.overflow_vars(*a, vars);
                self.overflow_vars(*b, vars);
            }
            ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
                self.overflow_vars(*a, vars);
            }
            ExprNode::IntAtom(int) => self.int_overflow_vars(*int, vars),
            _ => {}
        }
    }

    /// The variables that the overflow of an integer is attributed to.
    fn int_overflow_vars(&mut self, int: Int, vars: &mut Vec<Var>) {
        match self.terms.int(int) {
            IntNode::Const(_) => {}
            IntNode::Card(expr) | IntNode::SumOf(expr) => {
                vars.extend_from_slice(&self.scope.expr(self.terms, *expr).free);
            }
            IntNode::Neg(a) | IntNode::Sum(_, a) => self.int_overflow_vars(*a, vars),
            IntNode::Op(_, a, b) | IntNode::Ite(_, a, b) => {
                self.int_overflow_vars(*a, vars);
                self.int_overflow_vars(*b, vars);
            }
        }
    }

    /// Keeps the account of memory and drops remembered values when they take too much.
    fn account(&mut self) -> Result<()> {
        let remembered =
            self.expr_memo.weight() + self.formula_memo.weight() + self.int_memo.weight();
        if remembered > MAX_REMEMBERED {
            self.expr_memo.clear();
            self.formula_memo.clear();
            self.int_memo.clear();
        }
        self.budget
            .hold(self.circuit.bytes() + remembered * REMEMBERED_BYTES)?;
        Ok(())
    }
}

/// Units of memory (entries and matrix cells) that memo tables may hold.
const MAX_REMEMBERED: u64 = 40_000_000;

/// Bytes of such a unit, about.
const REMEMBERED_BYTES: u64 = 24;
