//! Skolemization: existential variables become relations.
//!
//! As in Kodkod, an existential variable is replaced where it certainly is existential: under
//! conjunctions and at most `depth` universal variables, never inside a disjunction, an equivalence
//! or an expression. This is the only way in which a variable may range over sets.

use rustc_hash::FxHashMap;

use crate::approximate::Approximator;
use crate::problem::{
    Decl, Expr, ExprNode, Formula, FormulaNode, Mult, Problem, Quant, RelationId, Terms, Var,
};
use crate::rewrite::Rewriter;
use crate::scope::Scope;
use crate::sets::Space;
use crate::tighten::Bounds;

/// The relation that stands for an existential variable.
#[derive(Clone, Debug)]
pub(crate) struct Skolem {
    /// The variable replaced.
    pub(crate) var: Var,
    /// The universal variables around it, whose values are the first columns of the relation.
    pub(crate) outer: Vec<Var>,
    /// Columns of the relation.
    pub(crate) arity: usize,
    /// Whether it is exactly one atom.
    pub(crate) constant: bool,
}

/// More cells than this are not spent on the skolem function of a first-order variable: it is grounded.
const MAX_FUNCTION: u64 = 1 << 20;

/// Skolemizes formulas of one problem.
pub(crate) struct Skolemizer<'p> {
    problem: &'p Problem,
    pub(crate) terms: Terms,
    pub(crate) scope: Scope,
    pub(crate) skolems: Vec<Skolem>,
    /// The bounds of the relations, those of skolems last.
    pub(crate) bounds: Vec<Bounds>,
    space: Space,
    rewriter: Rewriter,
    /// Universals around the current formula, as they are declared after rewriting.
    outer: Vec<Decl>,
    /// How many universals may be around a skolemized variable; none when negative.
    depth: i64,
    negated: bool,
    /// What keeps skolem functions empty outside their domains.
    domains: Vec<Formula>,
    /// Whether overflow is judged by the integer variables that a comparison speaks of.
    overflow_matters: bool,
}

impl<'p> Skolemizer<'p> {
    pub(crate) fn new(problem: &'p Problem, bounds: Vec<Bounds>, overflow_matters: bool) -> Self {
        Skolemizer {
            problem,
            terms: problem.terms.clone(),
            scope: Scope::default(),
            skolems: Vec::new(),
            bounds,
            space: Space::new(problem.universe.len()),
            rewriter: Rewriter::default(),
            outer: Vec::new(),
            depth: 0,
            negated: false,
            domains: Vec::new(),
            overflow_matters,
        }
    }

    /// A formula that holds for some skolems exactly when `formula` holds.
    pub(crate) fn skolemize(&mut self, formula: Formula, depth: u32) -> Formula {
        self.depth = i64::from(depth);
        self.negated = false;
        let result = self.formula(formula);
        if self.domains.is_empty() {
            return result;
        }
        let mut all = std::mem::take(&mut self.domains);
        all.push(result);
        self.terms.and(all)
    }

    fn rewrite(&mut self, formula: Formula) -> Formula {
        self.rewriter
            .formula(&mut self.terms, &mut self.scope, formula)
    }

    fn frozen(&mut self, formula: Formula) -> Formula {
        let depth = std::mem::replace(&mut self.depth, -1);
        let result = self.formula(formula);
        self.depth = depth;
        result
    }

    fn formula(&mut self, formula: Formula) -> Formula {
        if self.depth < 0 {
            return self.rewrite(formula);
        }
        match self.terms.formula(formula).clone() {
            FormulaNode::Not(inner) => {
                self.negated = !self.negated;
                let inner = self.formula(inner);
                self.negated = !self.negated;
                self.terms.not(inner)
            }
            FormulaNode::And(parts) if !self.negated => {
                let parts: Vec<_> = parts.into_iter().map(|part| self.formula(part)).collect();
                self.terms.and(parts)
            }
            FormulaNode::Or(parts) if self.negated => {
                let parts: Vec<_> = parts.into_iter().map(|part| self.formula(part)).collect();
                self.terms.or(parts)
            }
            // not (a implies b) is a and not b.
            FormulaNode::Implies(a, b) if self.negated => {
                self.negated = false;
                let a = self.formula(a);
                self.negated = true;
                let b = self.formula(b);
                self.terms.implies(a, b)
            }
            FormulaNode::Quant(quant, decls, body) => self.quantified(quant, decls, body),
            _ => self.frozen(formula),
        }
    }

    fn quantified(&mut self, quant: Quant, decls: Vec<Decl>, body: Formula) -> Formula {
        let replaced = self.rewriter.len();
        let existential = (quant == Quant::Some) != self.negated;
        let grounded = self.is_better_grounded(&decls, body);
        let result = if existential
            && !grounded
            && let Some(ranges) = self.replace_all(&decls)
        {
            let ranges = self.terms.and(ranges);
            let body = self.formula(body);
            if self.negated {
                self.terms.implies(ranges, body)
            } else {
                self.terms.and([ranges, body])
            }
        } else {
            self.rewriter.truncate(replaced);
            let decls = self.rewriter.decls(&mut self.terms, &mut self.scope, decls);
            let universals = (self.outer.len() + decls.len()) as i64;
            let plain = decls
                .iter()
                .all(|decl| decl.mult == Mult::One && self.terms.var_arity(decl.var) == 1);
            let body = if !existential && plain && self.depth >= universals {
                let outside = self.outer.len();
                self.outer.extend_from_slice(&decls);
                let body = self.formula(body);
                self.outer.truncate(outside);
                body
            } else {
                self.frozen(body)
            };
            self.terms.quant(quant, decls, body)
        };
        self.rewriter.truncate(replaced);
        result
    }

    /// A skolem function of a universal integer speaks of that integer, which the variable it stands
    /// for did not: overflow would be judged otherwise. So it would in the bound of a universal, of
    /// which the domain of the function speaks outside all negations.
    fn is_better_grounded(&mut self, decls: &[Decl], body: Formula) -> bool {
        if !self.overflow_matters || decls.iter().any(|decl| decl.mult != Mult::One) {
            return false;
        }
        let mut bounds = self.outer.iter().map(|outer| outer.bound);
        let Skolemizer { terms, scope, .. } = self;
        bounds
            .clone()
            .any(|bound| scope.expr(terms, bound).arithmetic)
            || scope.formula(terms, body).arithmetic
                && bounds.any(|bound| matches!(terms.expr(bound), ExprNode::Ints))
    }

    /// Replaces all declared variables by skolems and returns what must hold of these; `None` when
    /// one of them is better grounded.
    fn replace_all(&mut self, decls: &[Decl]) -> Option<Vec<Formula>> {
        let skolems_before = self.skolems.len();
        let domains_before = self.domains.len();
        let mut ranges = Vec::new();
        for &decl in decls {
            let decl = self.rewriter.decl(&mut self.terms, &mut self.scope, decl);
            let Some((relation, applied)) = self.skolem(decl) else {
                self.skolems.truncate(skolems_before);
                self.bounds
                    .truncate(self.problem.relations.len() + skolems_before);
                self.domains.truncate(domains_before);
                return None;
            };
            let range = self.range(decl);
            ranges.push(self.terms.subset(applied, range));
            match decl.mult {
                Mult::Set => {}
                Mult::Some => ranges.push(self.terms.some(applied)),
                Mult::Lone => ranges.push(self.terms.lone(applied)),
                Mult::One => ranges.push(self.terms.one(applied)),
            }
            if !self.outer.is_empty() {
                let domain = self.domain(decl, relation);
                self.domains.push(domain);
            }
            self.rewriter.push(decl.var, applied);
        }
        Some(ranges)
    }

    /// The values that a variable may have. Overflow in a bound is of no account when the variable
    /// is grounded; a comprehension makes it so for its skolem too.
    fn range(&mut self, decl: Decl) -> Expr {
        if !self.scope.expr(&self.terms, decl.bound).arithmetic {
            return decl.bound;
        }
        let arity = self.terms.var_arity(decl.var);
        let name = self.terms.var_name(decl.var).to_string();
        let var = self.terms.fresh_var(name, arity);
        let any = Decl {
            var,
            mult: Mult::One,
            bound: decl.bound,
        };
        let truth = self.terms.truth();
        self.terms.comprehension(vec![any], truth)
    }

    /// Adds the relation of a variable; returns it and its value for the universals around it.
    fn skolem(&mut self, decl: Decl) -> Option<(Expr, Expr)> {
        let arity = self.outer.len() + self.terms.var_arity(decl.var);
        if !self.space.fits(arity) {
            return None;
        }
        let approximator = Approximator {
            problem: self.problem,
            terms: &self.terms,
            bounds: &self.bounds,
            space: self.space,
        };
        let mut env = FxHashMap::default();
        let mut upper = vec![0];
        for outer in &self.outer {
            let bound = approximator.expr(outer.bound, &mut env);
            if (upper.len() as u64).saturating_mul(bound.len() as u64) > MAX_FUNCTION {
                return None;
            }
            upper = self.space.product(&upper, &bound, 1);
            env.insert(outer.var, bound);
        }
        let bound = approximator.expr(decl.bound, &mut env);
        let cells = (upper.len() as u64).saturating_mul(bound.len() as u64);
        if decl.mult == Mult::One && !self.outer.is_empty() && cells > MAX_FUNCTION {
            return None;
        }
        upper = self
            .space
            .product(&upper, &bound, self.terms.var_arity(decl.var));
        let place = self.problem.relations.len() + self.skolems.len();
        let id = RelationId(u32::try_from(place).ok()?);
        let relation = self.terms.relation(id, arity);
        let mut applied = relation;
        for outer in &self.outer {
            let var = self.terms.var(outer.var);
            applied = self.terms.join(var, applied);
        }
        self.skolems.push(Skolem {
            var: decl.var,
            outer: self.outer.iter().map(|outer| outer.var).collect(),
            arity,
            constant: decl.mult == Mult::One && arity == 1,
        });
        self.bounds.push((Vec::new(), upper));
        Some((relation, applied))
    }

    /// A skolem function is empty outside the values that the universals around it have.
    fn domain(&mut self, decl: Decl, relation: Expr) -> Formula {
        let mut domain = relation;
        let univ = self.terms.univ();
        for _ in 0..self.terms.var_arity(decl.var) {
            domain = self.terms.join(domain, univ);
        }
        let truth = self.terms.truth();
        let values = match self.outer.as_slice() {
            &[one] => self.range(one),
            all => self.terms.comprehension(all.to_vec(), truth),
        };
        self.terms.subset(domain, values)
    }
}
