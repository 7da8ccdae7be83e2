//! The order in which a query's variables are bound.
//!
//! Going through all pairs of two variables is what makes checking slow. So a variable is bound, where
//! possible, from what is bound already: `q` in `p.mac = q.mac` is found by looking `p`'s address up
//! backwards in `mac`. The conjunct is tested afterwards all the same: finding candidates may be
//! generous, never too narrow.

use serde::{Deserialize, Serialize};

use super::node::{Count, ExprId, ExprNode, FormulaId, FormulaNode, Query, RelationId, VarId};
use super::term::Terms;

/// One relation to walk backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// A binary expression without variables.
    pub relation: ExprId,
    /// Whether the walk goes from the first column to the second.
    pub forward: bool,
}

/// Where the values of a variable come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// All of its bound.
    Bound,
    /// What reaches some value of an expression by one of these paths.
    Reverse {
        /// The expression, over variables bound before.
        value: ExprId,
        /// Each a way from a value back to the variable.
        paths: Vec<Vec<Hop>>,
        /// Whether the conjunct holds for an empty value too, so that the bound must be gone through then.
        vacuous: bool,
    },
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Test a conjunct.
    Test(FormulaId),
    /// Test that a variable is in its bound.
    Within {
        /// The variable.
        var: VarId,
        /// What it ranges over.
        bound: ExprId,
    },
    /// Bind a variable.
    Bind {
        /// The variable.
        var: VarId,
        /// What it ranges over; none when that depends on variables bound later.
        bound: Option<ExprId>,
        /// Where its values come from.
        source: Source,
    },
}

/// The steps that find the answers of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// In order.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Plans a query whose free variables are bound. `listed` says which relations are stored and not computed.
    pub fn new(terms: &Terms, query: &Query, listed: &dyn Fn(RelationId) -> bool) -> Plan {
        let own: Vec<VarId> = query.decls.iter().map(|decl| decl.0).collect();
        let mut planner = Planner {
            terms,
            listed,
            pending: query.body.clone(),
            unbound: query.decls.clone(),
            within: Vec::new(),
            own,
            steps: Vec::new(),
        };
        planner.run();
        Plan {
            steps: planner.steps,
        }
    }
}

struct Planner<'a> {
    terms: &'a Terms,
    listed: &'a dyn Fn(RelationId) -> bool,
    pending: Vec<FormulaId>,
    unbound: Vec<(VarId, ExprId)>,
    /// Variables that were bound before what their bounds mention.
    within: Vec<(VarId, ExprId)>,
    own: Vec<VarId>,
    steps: Vec<Step>,
}

impl Planner<'_> {
    fn is_unbound(&self, var: VarId) -> bool {
        self.own.contains(&var) && self.unbound.iter().any(|decl| decl.0 == var)
    }

    fn ready(&self, vars: &[VarId]) -> bool {
        !vars.iter().any(|&var| self.is_unbound(var))
    }

    fn run(&mut self) {
        loop {
            self.test_what_is_ready();
            let Some((at, source)) = self.choose() else {
                return;
            };
            let (var, range) = self.unbound.remove(at);
            let ready = self.ready(self.terms.expr_vars(range));
            let bound = ready.then_some(range);
            self.steps.push(Step::Bind { var, bound, source });
            if !ready {
                self.within.push((var, range));
            }
        }
    }

    /// Tests without quantifiers first: they are cheap.
    fn test_what_is_ready(&mut self) {
        let (ready, pending) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition::<Vec<_>, _>(|&formula| self.ready(self.terms.formula_vars(formula)));
        self.pending = pending;
        let mut ready: Vec<(u32, FormulaId)> = ready
            .into_iter()
            .map(|formula| (cost(self.terms, formula), formula))
            .collect();
        ready.sort_by_key(|&(cost, _)| cost);
        let (inside, later) = std::mem::take(&mut self.within)
            .into_iter()
            .partition::<Vec<_>, _>(|&(_, bound)| self.ready(self.terms.expr_vars(bound)));
        self.within = later;
        let inside = inside.into_iter();
        self.steps
            .extend(inside.map(|(var, bound)| Step::Within { var, bound }));
        let tests = ready.into_iter().map(|(_, formula)| Step::Test(formula));
        self.steps.extend(tests);
    }

    /// The next variable: one whose bound depends on what is known, one that a conjunct leads back to, else
    /// the next in order.
    fn choose(&self) -> Option<(usize, Source)> {
        let ready = |bound: ExprId| self.ready(self.terms.expr_vars(bound));
        let depends = |bound: ExprId| !self.terms.expr_vars(bound).is_empty();
        let dependent = self
            .unbound
            .iter()
            .position(|&(_, bound)| ready(bound) && depends(bound));
        if let Some(at) = dependent {
            return Some((at, Source::Bound));
        }
        // Of a common member of two sets, the set that is known.
        for (at, &(_, bound)) in self.unbound.iter().enumerate() {
            let ExprNode::Intersection(parts) = self.terms.expr(bound) else {
                continue;
            };
            let known = |part: &ExprId| ready(*part) && depends(*part) && self.enumerable(*part);
            if let Some(&value) = parts.iter().find(|part| known(part)) {
                return Some((
                    at,
                    Source::Reverse {
                        value,
                        paths: vec![Vec::new()],
                        vacuous: false,
                    },
                ));
            }
        }
        // The owner of what is bound already.
        for (at, &(var, _)) in self.unbound.iter().enumerate() {
            let owns = |&(member, range): &(VarId, ExprId)| {
                let paths = self.paths(range, var)?;
                Some(Source::Reverse {
                    value: self.terms.var_expr(member)?,
                    paths,
                    vacuous: false,
                })
            };
            if let Some(source) = self.within.iter().find_map(owns) {
                return Some((at, source));
            }
        }
        for (at, &(var, _)) in self.unbound.iter().enumerate() {
            // What does not depend on anything bound narrows little, and the bound is as good.
            let narrows = |source: &Source| match source {
                Source::Reverse { value, .. } => {
                    let constant = matches!(self.terms.expr(*value), ExprNode::Tuple(_));
                    constant || !self.terms.expr_vars(*value).is_empty()
                }
                Source::Bound => false,
            };
            let mut sources = self.pending.iter().filter_map(|&f| self.reverse(f, var));
            if let Some(source) = sources.find(narrows) {
                return Some((at, source));
            }
        }
        let first = self.unbound.iter().position(|&(_, bound)| ready(bound))?;
        Some((first, Source::Bound))
    }

    /// How a conjunct leads to a variable from what is bound.
    fn reverse(&self, formula: FormulaId, var: VarId) -> Option<Source> {
        let mentions = |expr: ExprId| self.terms.expr_vars(expr).contains(&var);
        let known = |expr: ExprId| self.ready(self.terms.expr_vars(expr));
        let via = |value: ExprId, target: ExprId, vacuous: bool| {
            let possible =
                known(value) && !mentions(value) && mentions(target) && self.enumerable(value);
            let paths = possible.then(|| self.paths(target, var)).flatten()?;
            Some(Source::Reverse {
                value,
                paths,
                vacuous,
            })
        };
        match self.terms.formula(formula) {
            FormulaNode::Equal(a, b) => via(*a, *b, true).or_else(|| via(*b, *a, true)),
            FormulaNode::Subset(a, b) => {
                // `v in e` is never vacuous; `v.r in e` is, when `v.r` is empty.
                let alone = matches!(self.terms.expr(*a), ExprNode::Var(v) if *v == var);
                let back = alone.then(|| via(*b, *a, false)).flatten();
                back.or_else(|| via(*a, *b, true))
            }
            FormulaNode::Count(expr, Count::AtLeast(_)) => {
                let ExprNode::Intersection(parts) = self.terms.expr(*expr) else {
                    return None;
                };
                let value = parts
                    .iter()
                    .copied()
                    .find(|&part| known(part) && !mentions(part) && self.enumerable(part))?;
                parts.iter().find_map(|&target| via(value, target, false))
            }
            _ => None,
        }
    }

    /// Whether listing the tuples costs no more than they are.
    fn enumerable(&self, expr: ExprId) -> bool {
        match self.terms.expr(expr) {
            ExprNode::Univ | ExprNode::Iden | ExprNode::Ints | ExprNode::ReflexiveClosure(_) => {
                false
            }
            ExprNode::Relation(relation) => (self.listed)(*relation),
            ExprNode::Union(parts) => parts.iter().all(|&part| self.enumerable(part)),
            ExprNode::Intersection(parts) => parts.iter().any(|&part| self.enumerable(part)),
            ExprNode::Join(a, b) | ExprNode::Product(a, b) | ExprNode::Override(a, b) => {
                self.enumerable(*a) && self.enumerable(*b)
            }
            ExprNode::Difference(a, _) | ExprNode::Transpose(a) | ExprNode::Closure(a) => {
                self.enumerable(*a)
            }
            ExprNode::Ite(_, a, b) => self.enumerable(*a) && self.enumerable(*b),
            ExprNode::Var(_)
            | ExprNode::Tuple(_)
            | ExprNode::None(_)
            | ExprNode::Comprehension(..)
            | ExprNode::IntAtom(_) => true,
        }
    }

    /// The ways from a tuple of a unary expression back to a variable. Each operand that narrows the
    /// expression may be left out.
    fn paths(&self, expr: ExprId, var: VarId) -> Option<Vec<Vec<Hop>>> {
        let terms = self.terms;
        let mentions = |expr: ExprId| terms.expr_vars(expr).contains(&var);
        let relation = |expr: ExprId| terms.expr_vars(expr).is_empty() && terms.arity(expr) == 2;
        match terms.expr(expr) {
            ExprNode::Var(v) if *v == var => Some(vec![Vec::new()]),
            ExprNode::Join(a, b) if mentions(*a) && relation(*b) => self.prepend(
                *a,
                var,
                Hop {
                    relation: *b,
                    forward: false,
                },
            ),
            ExprNode::Join(a, b) if mentions(*b) && relation(*a) => self.prepend(
                *b,
                var,
                Hop {
                    relation: *a,
                    forward: true,
                },
            ),
            ExprNode::Union(parts) => {
                let mut all = Vec::new();
                for &part in parts {
                    all.extend(self.paths(part, var)?);
                }
                Some(all)
            }
            ExprNode::Intersection(parts) => parts.iter().find_map(|&part| self.paths(part, var)),
            ExprNode::Difference(a, _) => self.paths(*a, var),
            ExprNode::Ite(_, a, b) => {
                let mut all = self.paths(*a, var)?;
                all.extend(self.paths(*b, var)?);
                Some(all)
            }
            _ => None,
        }
    }

    fn prepend(&self, rest: ExprId, var: VarId, hop: Hop) -> Option<Vec<Vec<Hop>>> {
        let mut paths = self.paths(rest, var)?;
        for path in &mut paths {
            path.insert(0, hop);
        }
        Some(paths)
    }
}

/// A guess at the cost of a test.
fn cost(terms: &Terms, formula: FormulaId) -> u32 {
    match terms.formula(formula) {
        FormulaNode::Quant(..) => 100,
        FormulaNode::Not(inner) => cost(terms, *inner),
        FormulaNode::And(parts) | FormulaNode::Or(parts) => parts
            .iter()
            .map(|&part| cost(terms, part))
            .fold(1, u32::saturating_add),
        _ => 1,
    }
}
