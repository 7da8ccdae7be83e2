//! A problem made ready for the solver: bounds, skolems, circuit, symmetry.

use super::{Error, Instance, Options, Overflow, Skolem};
use crate::circuit::{Circuit, Lit};
use crate::cnf::Root;
use crate::limits::Budget;
use crate::matrix::Matrix;
use crate::miniscope::Miniscoper;
use crate::problem::{
    Atom, Expr, ExprNode, Formula, FormulaNode, Int, IntNode, Problem, RelationId, Terms, TupleSet,
};
use crate::sets;
use crate::skolem::{self, Skolemizer};
use crate::symmetry::{self, Open};
use crate::tighten::{Bounds, tighten};
use crate::translate::{Failure, Input, Translator};

/// What the constraints mention.
struct Mentioned {
    relations: Vec<bool>,
    atoms: Vec<Atom>,
}

/// A problem on its way to the solver.
pub(crate) struct Preparation<'p> {
    problem: &'p Problem,
    options: &'p Options,
}

/// A problem as a circuit.
pub(crate) struct Prepared {
    pub(crate) circuit: Circuit,
    /// The bits that are not known, in the order of their variables.
    pub(crate) inputs: Vec<Lit>,
    /// What must hold.
    pub(crate) roots: Vec<Root>,
    /// The matrices of the relations, then those of the skolems.
    matrices: Vec<Matrix>,
    skolems: Vec<skolem::Skolem>,
    names: Vec<String>,
    /// Whether some arithmetic may overflow.
    pub(crate) may_overflow: bool,
}

impl<'p> Preparation<'p> {
    pub(crate) fn new(problem: &'p Problem, options: &'p Options) -> Self {
        Preparation { problem, options }
    }

    /// Translates; with `selectors`, each constraint holds only when its selector does.
    pub(crate) fn run(&self, selectors: bool) -> Result<Prepared, Error> {
        let problem = self.problem;
        let mentioned = self.mentioned();
        let mut classes = if self.options.symmetry > 0 || self.options.fix_orders {
            self.classes(&mentioned)
        } else {
            Vec::new()
        };
        let (fixed, open_orders) = self.fix_orders(&mut classes);

        let bounds = self.bounds(&mentioned, &fixed, !selectors);
        let mut skolemizer = Skolemizer::new(problem, bounds);
        let mut formulas: Vec<(Formula, Option<usize>)> = Vec::new();
        for order in open_orders {
            let order = &order;
            let [elem, first, next] = [order.elem, order.first, order.next].map(|id| {
                let arity = problem.relation(id).upper.arity();
                skolemizer.terms.relation(id, arity)
            });
            let formula = skolemizer.terms.total_order(elem, first, next);
            formulas.push((formula, None));
        }
        for (at, constraint) in problem.constraints.iter().enumerate() {
            let formula = skolemizer.skolemize(constraint.formula, self.options.skolem_depth);
            formulas.push((formula, selectors.then_some(at)));
        }
        let Skolemizer {
            mut terms,
            mut scope,
            skolems,
            bounds,
            ..
        } = skolemizer;
        let mut miniscoper = Miniscoper {
            terms: &mut terms,
            scope: &mut scope,
            overflow_matters: self.options.overflow == Overflow::Forbid,
        };
        for (formula, _) in &mut formulas {
            *formula = miniscoper.formula(*formula);
        }
        for (formula, _) in &formulas {
            scope.count_uses(&terms, *formula);
        }

        let mut circuit = Circuit::new();
        let mut inputs = Vec::new();
        let matrices: Vec<Matrix> = bounds
            .iter()
            .map(|bounds| bits(&mut circuit, &mut inputs, bounds))
            .collect();

        let mut translator = Translator::new(Input {
            terms: &terms,
            atoms: problem.universe.len(),
            bitwidth: problem.bitwidth,
            ints: &problem.ints,
            relations: matrices.clone(),
            circuit,
            budget: Budget::new(self.options.limits.clone()),
            overflow: self.options.overflow,
            scope,
        });
        let mut roots = Vec::new();
        let mut refused = None;
        // The goal comes last and often settles everything: what follows from nothing needs no facts.
        for (formula, selector) in formulas.into_iter().rev() {
            let lit = match translator.formula(formula) {
                // What cannot be translated does not matter where the rest cannot hold. Without its
                // selector the verdict was found, so the core does not need it.
                Err(failure @ Failure::HigherOrder(_)) => {
                    translator.reset();
                    if !selectors {
                        refused.get_or_insert(failure);
                    }
                    continue;
                }
                result => result.map_err(|failure| self.error(failure, &terms))?,
            };
            if lit != Lit::TRUE {
                roots.push(Root { lit, selector });
            }
            if lit == Lit::FALSE && !selectors {
                refused = None;
                break;
            }
        }
        if let Some(failure) = refused {
            return Err(self.error(failure, &terms));
        }
        let may_overflow = translator.may_overflow;
        let mut circuit = translator.circuit;
        let names: Vec<String> = skolems
            .iter()
            .map(|skolem| terms.var_name(skolem.var).to_string())
            .collect();
        self.break_symmetry(
            &mut circuit,
            &classes,
            &matrices,
            &skolems,
            &names,
            &mut roots,
        );
        Ok(Prepared {
            circuit,
            inputs,
            roots,
            matrices,
            skolems,
            names,
            may_overflow,
        })
    }

    /// What each relation has at least and at most: fixed orders, nothing more than it must where
    /// nobody asks, and what the constraints say outright.
    fn bounds(
        &self,
        mentioned: &Mentioned,
        fixed: &[(RelationId, Vec<u64>)],
        tightened: bool,
    ) -> Vec<Bounds> {
        let relations = self.problem.relations.iter().enumerate();
        let mut bounds: Vec<Bounds> = relations
            .map(|(at, relation)| {
                let lower = relation.lower.indices();
                match fixed.iter().find(|entry| entry.0.0 as usize == at) {
                    Some((_, value)) => (value.clone(), value.clone()),
                    None if mentioned.relations.get(at) == Some(&true) => {
                        (lower.to_vec(), relation.upper.indices().to_vec())
                    }
                    None => (lower.to_vec(), lower.to_vec()),
                }
            })
            .collect();
        if tightened {
            tighten(self.problem, &mut bounds);
        }
        bounds
    }

    fn error(&self, failure: Failure, terms: &Terms) -> Error {
        match failure {
            Failure::Limit(reason) => Error::Limit(reason),
            Failure::HigherOrder(var) => Error::HigherOrder {
                var,
                name: terms.var_name(var).to_string(),
            },
            Failure::Capacity(arity) => Error::Capacity {
                arity,
                atoms: self.problem.universe.len(),
            },
            Failure::Depth => Error::Depth,
        }
    }

    #[cfg(test)]
    pub(crate) fn mentioned_relations(&self) -> Vec<bool> {
        self.mentioned().relations
    }

    fn mentioned(&self) -> Mentioned {
        let mut walk = Walk {
            terms: &self.problem.terms,
            exprs: Vec::new(),
            formulas: Vec::new(),
            ints: Vec::new(),
            mentioned: Mentioned {
                relations: vec![self.options.every_relation; self.problem.relations.len()],
                atoms: self.problem.ints.iter().map(|int| int.1).collect(),
            },
        };
        for constraint in &self.problem.constraints {
            walk.formula(constraint.formula);
        }
        for order in &self.problem.orders {
            for id in [order.elem, order.first, order.next] {
                walk.relation(id);
            }
        }
        walk.mentioned
    }

    fn classes(&self, mentioned: &Mentioned) -> Vec<Vec<u32>> {
        let mut bounds = Vec::new();
        for (relation, mentioned) in self.problem.relations.iter().zip(&mentioned.relations) {
            if !mentioned {
                continue;
            }
            if !relation.upper.is_empty() {
                bounds.push(&relation.upper);
            }
            if !relation.lower.is_empty() && relation.lower.len() != relation.upper.len() {
                bounds.push(&relation.lower);
            }
        }
        symmetry::classes(self.problem.universe.len(), &bounds, &mentioned.atoms)
    }

    /// Fixes each order over a class of interchangeable atoms, which then are so no longer. Returns
    /// the values of relations fixed, and the orders that must be demanded.
    fn fix_orders(
        &self,
        classes: &mut Vec<Vec<u32>>,
    ) -> (Vec<(RelationId, Vec<u64>)>, Vec<crate::problem::TotalOrder>) {
        let atoms = self.problem.universe.len() as u64;
        let mut fixed: Vec<(RelationId, Vec<u64>)> = Vec::new();
        let mut open = Vec::new();
        for order in &self.problem.orders {
            let elem = self.problem.relation(order.elem);
            let (first, next) = (
                self.problem.relation(order.first),
                self.problem.relation(order.next),
            );
            let ascending = elem.upper.indices();
            let first_value: Vec<u64> = ascending.iter().copied().take(1).collect();
            let next_value: Vec<u64> = ascending
                .iter()
                .zip(ascending.iter().skip(1))
                .map(|(a, b)| a * atoms + b)
                .collect();
            let allowed = |relation: &crate::problem::Relation, value: &[u64]| {
                value.iter().all(|&t| relation.upper.contains_index(t))
                    && relation.lower.indices().iter().all(|t| value.contains(t))
            };
            let class = classes.iter().position(|class| {
                class.len() == ascending.len()
                    && class
                        .iter()
                        .zip(ascending)
                        .all(|(&a, &b)| u64::from(a) == b)
            });
            let free = |id: RelationId| fixed.iter().all(|entry| entry.0 != id);
            let fixable = self.options.fix_orders
                && elem.lower == elem.upper
                && !ascending.is_empty()
                && (class.is_some() || ascending.len() == 1)
                && free(order.first)
                && free(order.next)
                && allowed(first, &first_value)
                && allowed(next, &next_value);
            if fixable {
                if let Some(class) = class {
                    classes.remove(class);
                }
                fixed.push((order.first, first_value));
                fixed.push((order.next, next_value));
            } else {
                open.push(order.clone());
            }
        }
        (fixed, open)
    }

    fn break_symmetry(
        &self,
        circuit: &mut Circuit,
        classes: &[Vec<u32>],
        matrices: &[Matrix],
        skolems: &[skolem::Skolem],
        names: &[String],
        roots: &mut Vec<Root>,
    ) {
        if self.options.symmetry == 0 || classes.is_empty() {
            return;
        }
        let relations = self.problem.relations.iter();
        // As in Kodkod, relations of few columns come first, and of these the skolem constants:
        // they are small, and what refutes a claim is mostly said of them.
        let mut open: Vec<((usize, bool, &str), &Matrix)> = relations
            .map(|relation| (relation.upper.arity(), true, relation.name.as_str()))
            .chain(
                skolems
                    .iter()
                    .zip(names)
                    .map(|(skolem, name)| (skolem.arity, false, name.as_str())),
            )
            .zip(matrices)
            .filter(|(_, matrix)| !matrix.is_constant())
            .collect();
        open.sort_by_key(|entry| entry.0);
        let open: Vec<Open> = open
            .into_iter()
            .map(|((arity, ..), matrix)| Open { arity, matrix })
            .collect();
        let predicate = symmetry::predicate(
            circuit,
            self.problem.universe.len(),
            classes,
            &open,
            self.options.symmetry as usize,
        );
        roots.extend(predicate.into_iter().map(|lit| Root {
            lit,
            selector: None,
        }));
    }
}

/// Gives a variable to each tuple between two bounds.
fn bits(circuit: &mut Circuit, inputs: &mut Vec<Lit>, (lower, upper): &Bounds) -> Matrix {
    let cells = upper
        .iter()
        .map(|&tuple| {
            if sets::contains(lower, tuple) {
                (tuple, Lit::TRUE)
            } else {
                let input = circuit.input();
                inputs.push(input);
                (tuple, input)
            }
        })
        .collect();
    Matrix::new(cells)
}

impl Prepared {
    /// The instance under values of the inputs, by node.
    pub(crate) fn decode(&self, problem: &Problem, values: &[bool]) -> Instance {
        let atoms = problem.universe.len() as u64;
        let holds = |lit: Lit| match lit {
            Lit::TRUE => true,
            lit => values.get(lit.node()).copied().unwrap_or(false),
        };
        let set = |arity: usize, matrix: &Matrix| {
            let indices = matrix
                .cells
                .iter()
                .filter(|cell| holds(cell.1))
                .map(|cell| cell.0)
                .collect();
            TupleSet::from_unsorted(arity, atoms, indices)
        };
        let known = problem.relations.len();
        let relations = problem
            .relations
            .iter()
            .zip(&self.matrices)
            .map(|(relation, matrix)| set(relation.upper.arity(), matrix))
            .collect();
        let skolems = self
            .skolems
            .iter()
            .zip(&self.names)
            .zip(self.matrices.iter().skip(known))
            .map(|((skolem, name), matrix)| Skolem {
                name: name.clone(),
                var: skolem.var,
                outer: skolem.outer.clone(),
                value: set(skolem.arity, matrix),
            })
            .collect();
        Instance { relations, skolems }
    }
}

/// Finds what terms mention, each term once.
struct Walk<'a> {
    terms: &'a Terms,
    exprs: Vec<bool>,
    formulas: Vec<bool>,
    ints: Vec<bool>,
    mentioned: Mentioned,
}

/// Marks a place; returns whether it was marked before.
fn mark(marks: &mut Vec<bool>, at: usize) -> bool {
    if marks.len() <= at {
        marks.resize(at + 1, false);
    }
    marks
        .get_mut(at)
        .is_some_and(|mark| std::mem::replace(mark, true))
}

impl Walk<'_> {
    fn relation(&mut self, id: RelationId) {
        if let Some(slot) = self.mentioned.relations.get_mut(id.0 as usize) {
            *slot = true;
        }
    }

    fn expr(&mut self, expr: Expr) {
        if mark(&mut self.exprs, expr.index()) {
            return;
        }
        let terms = self.terms;
        match terms.expr(expr) {
            ExprNode::Relation(id) => self.relation(*id),
            ExprNode::Tuple(tuple) => self.mentioned.atoms.extend_from_slice(tuple),
            ExprNode::Var(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden
            | ExprNode::Ints => {}
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                for &part in parts {
                    self.expr(part);
                }
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => {
                self.expr(*a);
                self.expr(*b);
            }
            ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
                self.expr(*a);
            }
            ExprNode::Ite(c, a, b) => {
                self.formula(*c);
                self.expr(*a);
                self.expr(*b);
            }
            ExprNode::Comprehension(decls, body) => {
                for decl in decls {
                    self.expr(decl.bound);
                }
                self.formula(*body);
            }
            ExprNode::IntAtom(int) => self.int(*int),
        }
    }

    fn formula(&mut self, formula: Formula) {
        if mark(&mut self.formulas, formula.index()) {
            return;
        }
        let terms = self.terms;
        match terms.formula(formula) {
            FormulaNode::True | FormulaNode::False => {}
            FormulaNode::Not(a) => self.formula(*a),
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                for &part in parts {
                    self.formula(part);
                }
            }
            FormulaNode::Implies(a, b) | FormulaNode::Iff(a, b) => {
                self.formula(*a);
                self.formula(*b);
            }
            FormulaNode::Subset(a, b) | FormulaNode::Equal(a, b) => {
                self.expr(*a);
                self.expr(*b);
            }
            FormulaNode::Count(a, _) => self.expr(*a),
            FormulaNode::Quant(_, decls, body) => {
                for decl in decls {
                    self.expr(decl.bound);
                }
                self.formula(*body);
            }
            FormulaNode::IntCmp(_, a, b) => {
                self.int(*a);
                self.int(*b);
            }
            FormulaNode::TotalOrder { elem, first, next } => {
                for &part in [elem, first, next] {
                    self.expr(part);
                }
            }
        }
    }

    fn int(&mut self, int: Int) {
        if mark(&mut self.ints, int.index()) {
            return;
        }
        let terms = self.terms;
        match terms.int(int) {
            IntNode::Const(_) => {}
            IntNode::Card(a) | IntNode::SumOf(a) => self.expr(*a),
            IntNode::Sum(decls, body) => {
                for decl in decls {
                    self.expr(decl.bound);
                }
                self.int(*body);
            }
            IntNode::Neg(a) => self.int(*a),
            IntNode::Op(_, a, b) => {
                self.int(*a);
                self.int(*b);
            }
            IntNode::Ite(c, a, b) => {
                self.formula(*c);
                self.int(*a);
                self.int(*b);
            }
        }
    }
}
