//! Which constraints cannot hold together.
//!
//! Two ways lead there. Where the constraints state a configuration fact by fact, reading them as
//! bounds shows the contradiction, and reading fewer of them is cheap: so they are left out in large
//! portions first, then one by one. Otherwise each constraint gets a selector, and one solver is asked
//! again and again under assumptions. That needs a translation in which no constraint may be used to
//! simplify another, so where it becomes too large every question is a search of its own.

use std::time::Instant;

use super::prepare::{Extent, Preparation};
use super::{Core, Error, Feed, Instance, Options, Outcome, Search, new_solver, with_deep_stack};
use crate::cnf;
use crate::evaluate::Evaluator;
use crate::limits::{Budget, Reason};
use crate::problem::{Problem, TupleSet};
use crate::sat::{Answer, SatSolver};

/// Bytes that the translation with selectors may take.
const SELECTED_BYTES: u64 = 1 << 28;

impl Search<'_> {
    /// The constraints of a minimal set without instance, after [`Outcome::Unsat`] was the first
    /// answer. At a limit the set is the smallest found so far.
    ///
    /// [`Outcome::Unsat`]: super::Outcome::Unsat
    pub fn core(&mut self) -> Result<Core, Error> {
        self.require_unsat()?;
        find(self.problem, &self.options)
    }

    /// As [`core`](Self::core), but not beyond a moment.
    pub fn core_until(&mut self, moment: Instant) -> Result<Core, Error> {
        self.require_unsat()?;
        let mut options = self.options.clone();
        let deadline = options
            .limits
            .deadline
            .map_or(moment, |end| end.min(moment));
        options.limits.deadline = Some(deadline);
        find(self.problem, &options)
    }
}

fn find(problem: &Problem, options: &Options) -> Result<Core, Error> {
    let all: Vec<usize> = (0..problem.constraints.len()).collect();
    let mut part = Part {
        whole: problem,
        problem: problem.clone(),
        options,
    };
    let concrete = part.is_refuted(&all);
    let kept = if concrete {
        shrink(all, |kept| {
            let out_of_time = options.limits.exceeded().is_some();
            Ok(!out_of_time && part.is_refuted(kept))
        })?
    } else {
        all
    };
    part.select(&kept);
    let core = if concrete {
        by_searches(&part.problem, options)?
    } else {
        match by_selectors(&part.problem, options) {
            Err(Error::Limit(Reason::Memory)) => by_searches(&part.problem, options)?,
            core => core?,
        }
    };
    let constraints = core.constraints.into_iter();
    Ok(Core {
        constraints: constraints.filter_map(|at| kept.get(at).copied()).collect(),
        minimal: core.minimal,
    })
}

/// Leaves out what `refuted` does not need, half of it at a time, then less and less. Each question
/// about a set takes the rest as left out for good.
fn shrink(
    mut kept: Vec<usize>,
    mut refuted: impl FnMut(&[usize]) -> Result<bool, Error>,
) -> Result<Vec<usize>, Error> {
    let mut portion = kept.len().div_ceil(2);
    loop {
        let mut start = 0;
        while start < kept.len() {
            let end = (start + portion).min(kept.len());
            let mut rest = kept.clone();
            rest.drain(start..end);
            if refuted(&rest)? {
                kept = rest;
            } else {
                start = end;
            }
        }
        if portion <= 1 {
            return Ok(kept);
        }
        portion = portion.min(kept.len()).div_ceil(2);
    }
}

/// A problem with some of its constraints.
struct Part<'p> {
    whole: &'p Problem,
    problem: Problem,
    options: &'p Options,
}

impl Part<'_> {
    fn select(&mut self, kept: &[usize]) {
        let constraints = kept.iter().filter_map(|&at| self.whole.constraints.get(at));
        self.problem.constraints = constraints.cloned().collect();
    }

    /// Whether reading these constraints as bounds shows that they contradict each other.
    fn is_refuted(&mut self, kept: &[usize]) -> bool {
        self.select(kept);
        let (problem, options) = (&self.problem, self.options);
        with_deep_stack(problem, || Preparation::new(problem, options).known().1)
    }

    /// Whether these constraints have an instance; none when that is not known.
    fn has_instance(&mut self, kept: &[usize]) -> Result<Option<bool>, Error> {
        self.select(kept);
        let (problem, options) = (&self.problem, self.options);
        if with_deep_stack(problem, || least_instance(problem, options)) {
            return Ok(Some(true));
        }
        match Search::new(problem, options).and_then(|mut search| search.next()) {
            Ok(Outcome::Sat(_)) => Ok(Some(true)),
            Ok(Outcome::Unsat) => Ok(Some(false)),
            Ok(Outcome::Unknown(_)) | Err(Error::Limit(_) | Error::HigherOrder { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether what the relations have at least is an instance.
fn least_instance(problem: &Problem, options: &Options) -> bool {
    let (bounds, _) = Preparation::new(problem, options).known();
    let relations = problem.relations.iter().zip(bounds);
    let atoms = problem.universe.len() as u64;
    let relations = relations.map(|(relation, (lower, _))| {
        TupleSet::from_unsorted(relation.upper.arity(), atoms, lower)
    });
    let instance = Instance {
        relations: relations.collect(),
        skolems: Vec::new(),
    };
    let evaluator = Evaluator::new(problem, &instance).with_overflow(options.overflow);
    let mut evaluator = evaluator.with_limits(options.limits.clone());
    evaluator.is_instance() == Ok(true)
}

/// A minimal set, found by a search for every question.
fn by_searches(problem: &Problem, options: &Options) -> Result<Core, Error> {
    let mut part = Part {
        whole: problem,
        problem: problem.clone(),
        options,
    };
    let mut minimal = true;
    let all = (0..problem.constraints.len()).collect();
    let constraints = shrink(all, |kept| {
        let answer = part.has_instance(kept)?;
        minimal &= answer.is_some();
        Ok(answer == Some(false))
    })?;
    Ok(Core {
        constraints,
        minimal,
    })
}

/// A minimal set, found by one solver under assumptions.
fn by_selectors(problem: &Problem, options: &Options) -> Result<Core, Error> {
    let mut limited = options.clone();
    let memory = limited.limits.memory;
    limited.limits.memory = Some(memory.map_or(SELECTED_BYTES, |bytes| bytes.min(SELECTED_BYTES)));
    let prepared = with_deep_stack(problem, || {
        Preparation::new(problem, &limited).run(Extent::Selected)
    })?;
    let mut solver = new_solver(options);
    let mut budget = Budget::new(options.limits.clone());
    let constraints = problem.constraints.len();
    let written = cnf::write(
        &prepared.circuit,
        &prepared.inputs,
        &prepared.roots,
        constraints,
        &mut budget,
        &mut Feed {
            solver: solver.as_mut(),
        },
    )
    .map_err(Error::Limit)?;
    // A constraint that is always true has no root and cannot be needed.
    let mut needed: Vec<bool> = vec![false; constraints];
    for root in &prepared.roots {
        if let Some(slot) = root.selector.and_then(|at| needed.get_mut(at)) {
            *slot = true;
        }
    }
    let candidates: Vec<(usize, i32)> = written
        .selectors
        .iter()
        .copied()
        .enumerate()
        .filter(|(at, _)| needed.get(*at) == Some(&true))
        .collect();
    minimise(options, solver.as_mut(), candidates)
}

/// Leaves out one constraint after the other, and with each all that were not needed then.
fn minimise(
    options: &Options,
    solver: &mut dyn SatSolver,
    candidates: Vec<(usize, i32)>,
) -> Result<Core, Error> {
    let limits = &options.limits;
    let all: Vec<i32> = candidates.iter().map(|entry| entry.1).collect();
    let mut open = match solver.solve(&all, limits) {
        Answer::Unsat => keep_failed(solver, candidates),
        Answer::Sat => {
            return Err(Error::Internal(
                "the constraints have an instance when asked for their core".into(),
            ));
        }
        Answer::Unknown(reason) => return Err(Error::Limit(reason)),
    };
    let mut core: Vec<(usize, i32)> = Vec::new();
    let mut minimal = true;
    while let Some(candidate) = open.pop() {
        let rest: Vec<i32> = core.iter().chain(&open).map(|entry| entry.1).collect();
        match solver.solve(&rest, limits) {
            Answer::Unsat => {
                core = keep_failed(solver, core);
                open = keep_failed(solver, open);
            }
            Answer::Sat => core.push(candidate),
            Answer::Unknown(_) => {
                minimal = false;
                core.push(candidate);
            }
        }
    }
    let mut constraints: Vec<usize> = core.into_iter().map(|entry| entry.0).collect();
    constraints.sort_unstable();
    Ok(Core {
        constraints,
        minimal,
    })
}

fn keep_failed(solver: &dyn SatSolver, entries: Vec<(usize, i32)>) -> Vec<(usize, i32)> {
    entries
        .into_iter()
        .filter(|entry| solver.failed(entry.1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Atom, Count, Universe};

    /// A graph of nodes of which each has one successor, stated node by node, without loops; the last
    /// few close one.
    fn ring(nodes: u32, from: u32) -> Problem {
        let universe = Universe::new((0..nodes).map(|i| format!("n{i}")).collect());
        let all = TupleSet::unary(&universe, (0..nodes).map(Atom));
        let pairs = all.product(&all).unwrap();
        let none = TupleSet::empty(2, &universe).unwrap();
        let mut problem = Problem::new(universe);
        let edge = problem.add_relation("edge", none, pairs);
        let edge = problem.relation_expr(edge);
        for node in 0..nodes {
            let next = if node + 1 == nodes { from } else { node + 1 };
            let terms = &mut problem.terms;
            let (here, there) = (terms.tuple(vec![Atom(node)]), terms.tuple(vec![Atom(next)]));
            let row = terms.join(here, edge);
            let stated = terms.equal(row, there);
            problem.require(stated, "an edge", None);
        }
        let terms = &mut problem.terms;
        let (closed, iden) = (terms.closure(edge), terms.iden());
        let loops = terms.intersection(closed, iden);
        let acyclic = terms.count(loops, Count::AtMost(0));
        problem.require(acyclic, "no loop", None);
        problem
    }

    #[test]
    fn a_contradiction_among_hundreds_of_facts_is_found() {
        let problem = ring(400, 397);
        let mut search = Search::new(&problem, &Options::default()).unwrap();
        assert_eq!(search.next(), Ok(Outcome::Unsat));
        let core = search.core().unwrap();
        assert_eq!(core.constraints, [397, 398, 399, 400]);
        assert!(core.minimal);
    }

    #[test]
    fn two_facts_about_the_same_row_contradict_each_other() {
        let mut problem = ring(300, 0);
        problem.constraints.pop();
        let (edge, terms) = (crate::problem::RelationId(0), &mut problem.terms);
        let edge = terms.relation(edge, 2);
        let (here, there) = (terms.tuple(vec![Atom(120)]), terms.tuple(vec![Atom(7)]));
        let row = terms.join(here, edge);
        let stated = terms.equal(row, there);
        problem.require(stated, "another edge", None);
        let mut search = Search::new(&problem, &Options::default()).unwrap();
        assert_eq!(search.next(), Ok(Outcome::Unsat));
        let core = search.core().unwrap();
        assert_eq!(core.constraints, [120, 300]);
        assert!(core.minimal);
    }
}
