//! A problem made ready for the solver: bounds, skolems, circuit, symmetry.

use super::mentioned::Mentioned;
use super::{Error, Instance, Options, Overflow, Skolem};
use crate::circuit::{Circuit, Lit};
use crate::cnf::Root;
use crate::least_number;
use crate::limits::Budget;
use crate::matrix::Matrix;
use crate::miniscope::Miniscoper;
use crate::narrow;
use crate::problem::{Formula, Problem, RelationId, Terms, TupleSet};
use crate::sets;
use crate::skolem::{self, Skolemizer};
use crate::symmetry::{self, Open};
use crate::tighten::{Bounds, Tightener};
use crate::translate::{Failure, Input, Translator};

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
    /// Whether possible tuples were left out.
    pub(crate) small: bool,
}

/// What is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Whole,
    /// All, and each constraint holds only when its selector does.
    Selected,
    /// Few of the atoms that nothing tells apart, or all where that makes no difference.
    Small,
}

impl<'p> Preparation<'p> {
    pub(crate) fn new(problem: &'p Problem, options: &'p Options) -> Self {
        Preparation { problem, options }
    }

    /// Translates.
    pub(crate) fn run(&self, extent: Extent) -> Result<Prepared, Error> {
        let selectors = extent == Extent::Selected;
        let problem = self.problem;
        let mentioned = Mentioned::new(problem, self.options.every_relation);
        let options = self.options;
        let symmetric = options.symmetry > 0 || options.fix_orders || self.chooses_constants();
        let mut classes = if symmetric {
            self.classes(&mentioned)
        } else {
            Vec::new()
        };
        let (fixed, open_orders) = self.fix_orders(&mut classes);

        let bounds = self.bounds(&mentioned, &fixed, !selectors);
        let overflow_matters = self.options.overflow == Overflow::Forbid;
        let mut skolemizer = Skolemizer::new(problem, bounds, overflow_matters);
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
            overflow_matters,
        };
        for (formula, _) in &mut formulas {
            *formula = miniscoper.formula(*formula);
        }
        for (formula, _) in &formulas {
            scope.count_uses(&terms, *formula);
        }
        let bounds = if self.chooses_constants() {
            self.choose_constants(
                &terms,
                bounds,
                &formulas,
                &skolems,
                &mut classes,
                !selectors,
            )
        } else {
            bounds
        };

        let relations = problem
            .relations
            .iter()
            .map(|relation| relation.upper.arity());
        let arities = relations.chain(skolems.iter().map(|skolem| skolem.arity));
        let arities: Vec<usize> = arities.collect();
        let smaller = if extent == Extent::Small {
            narrow::narrow(
                problem.universe.len(),
                problem.relations.len(),
                &arities,
                &bounds,
                &classes,
            )
        } else {
            None
        };
        let small = smaller.is_some();
        let bounds = smaller.unwrap_or(bounds);

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
            small,
        })
    }

    /// What is known of the relations before anything is translated, and whether that alone rules
    /// out every instance.
    pub(crate) fn known(&self) -> (Vec<Bounds>, bool) {
        let mentioned = Mentioned::new(self.problem, self.options.every_relation);
        let mut classes = match self.problem.orders.is_empty() {
            true => Vec::new(),
            false => self.classes(&mentioned),
        };
        let (fixed, _) = self.fix_orders(&mut classes);
        let bounds = self.bounds(&mentioned, &fixed, true);
        let formulas: Vec<Formula> = self.problem.constraints.iter().map(|c| c.formula).collect();
        let mut tightener = Tightener::new(self.problem, &self.problem.terms, bounds);
        let refuted = tightener.refutes(&formulas);
        (tightener.finish(), refuted)
    }

    fn chooses_constants(&self) -> bool {
        let options = self.options;
        options.choose_constants && (options.symmetry > 0 || !options.every_relation)
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
        let bounds: Vec<Bounds> = relations
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
        if !tightened {
            return bounds;
        }
        let mut tightener = Tightener::new(self.problem, &self.problem.terms, bounds);
        let constraints = self.problem.constraints.iter();
        let formulas: Vec<Formula> = constraints.map(|constraint| constraint.formula).collect();
        tightener.read(&formulas);
        tightener.finish()
    }

    /// Decides for the constants of existential variables which of the interchangeable atoms they
    /// are.
    fn choose_constants(
        &self,
        terms: &Terms,
        bounds: Vec<Bounds>,
        formulas: &[(Formula, Option<usize>)],
        skolems: &[skolem::Skolem],
        classes: &mut Vec<Vec<u32>>,
        tightened: bool,
    ) -> Vec<Bounds> {
        let mut tightener = Tightener::new(self.problem, terms, bounds);
        let known = formulas.iter().map(|entry| entry.0);
        let known: Vec<Formula> = known.filter(|_| tightened).collect();
        let relations = self.problem.relations.len();
        least_number::choose(&mut tightener, &known, relations, skolems, classes);
        tightener.finish()
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
        Mentioned::new(self.problem, self.options.every_relation).relations
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
    /// The values of the inputs in an instance.
    pub(crate) fn values(&self, instance: &Instance) -> Vec<bool> {
        let skolems = instance.skolems.iter().map(|skolem| &skolem.value);
        let sets = instance.relations.iter().chain(skolems);
        let cells = self.matrices.iter().zip(sets).flat_map(|(matrix, set)| {
            let open = matrix.cells.iter().filter(|cell| cell.1 != Lit::TRUE);
            open.map(|cell| set.contains_index(cell.0))
        });
        cells.collect()
    }

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
