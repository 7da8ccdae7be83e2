//! The solver against the evaluator that tries every instance.

use std::collections::HashSet;

use proptest::prelude::*;

use crate::evaluate::{EvaluateError, Evaluator};
use crate::problem::Problem;
use crate::random::{self, Flavour};
use crate::search::{Error, Instance, Options, Outcome, Overflow, Search, SolverKind};
use crate::show;

/// The instances of a problem by trying all; `None` when something cannot be evaluated.
fn brute_force(problem: &Problem, overflow: Overflow) -> Option<Vec<Instance>> {
    let mut found = Vec::new();
    for candidate in random::candidates(problem) {
        let mut evaluator = Evaluator::new(problem, &candidate).with_overflow(overflow);
        match evaluator.is_instance() {
            Ok(true) => found.push(candidate),
            Ok(false) => {}
            Err(EvaluateError::HigherOrder(_)) => return None,
            Err(error) => panic!("{error:?}"),
        }
    }
    Some(found)
}

/// The first instances that the solver finds; all when there are not more.
fn search_for(problem: &Problem, options: &Options, most: usize) -> Result<Vec<Instance>, Error> {
    let mut search = Search::new(problem, options)?;
    let mut found = Vec::new();
    while found.len() < most {
        match search.next()? {
            Outcome::Sat(instance) => found.push(instance),
            Outcome::Unsat => break,
            Outcome::Unknown(reason) => panic!("{reason}"),
        }
    }
    Ok(found)
}

/// The values of the relations that constraints mention, by which instances are told apart.
fn values(problem: &Problem, instances: &[Instance]) -> HashSet<Vec<Vec<u64>>> {
    // The solver leaves what nobody mentions at its lower bound.
    let mentioned = crate::search::mentioned_relations(problem);
    instances
        .iter()
        .map(|instance| {
            instance
                .relations
                .iter()
                .zip(&mentioned)
                .filter(|(_, mentioned)| **mentioned)
                .map(|(value, _)| value.indices().to_vec())
                .collect()
        })
        .collect()
}

fn agrees(bytes: &[u8], flavour: Flavour, overflow: Overflow) {
    agrees_on(&random::problem(bytes, flavour), flavour, overflow);
}

fn agrees_on(problem: &Problem, flavour: Flavour, overflow: Overflow) {
    let Some(expected) = brute_force(problem, overflow) else {
        return;
    };
    let expected = values(problem, &expected);
    for &solver in SolverKind::ALL {
        for skolem_depth in [0, 1, 3] {
            let options = Options {
                solver,
                symmetry: 0,
                fix_orders: false,
                choose_constants: false,
                skolem_depth,
                overflow,
                ..Options::default()
            };
            let most = 300.max(expected.len() + 2);
            let found = match search_for(problem, &options, most) {
                Err(Error::HigherOrder { .. }) if flavour.higher_order => continue,
                found => found.unwrap_or_else(|error| {
                    panic!("{error}\n{}", show::problem(problem));
                }),
            };
            let skolemized = found.iter().any(|instance| !instance.skolems.is_empty());
            if !skolemized {
                assert_eq!(
                    found.len(),
                    expected.len(),
                    "number of instances\n{}",
                    show::problem(problem)
                );
            }
            let complete = found.len() < most;
            let found = values(problem, &found);
            assert!(found.is_subset(&expected));
            if complete {
                assert_eq!(found, expected, "instances");
            }
            assert_eq!(found.is_empty(), expected.is_empty(), "verdict");

            let options = Options {
                symmetry: 20,
                fix_orders: true,
                choose_constants: true,
                ..options
            };
            for small_first in [false, true] {
                let options = Options {
                    small_first,
                    ..options.clone()
                };
                let found = search_for(problem, &options, most).unwrap();
                let count = found.len();
                let found = values(problem, &found);
                assert!(found.is_subset(&expected));
                assert!(skolemized || found.len() == count, "an instance came twice");
                assert_eq!(
                    found.is_empty(),
                    expected.is_empty(),
                    "verdict with symmetry, small first: {small_first}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 3000, ..ProptestConfig::default() })]

    #[test]
    fn relational_problems(bytes in random::bytes()) {
        agrees(&bytes, Flavour::default(), Overflow::Forbid);
    }

    #[test]
    fn higher_order_problems(bytes in random::bytes()) {
        agrees(&bytes, Flavour { higher_order: true, ..Flavour::default() }, Overflow::Forbid);
    }

    #[test]
    fn orders(bytes in random::bytes()) {
        agrees(&bytes, Flavour { orders: true, ..Flavour::default() }, Overflow::Forbid);
    }

    #[test]
    fn integers_that_wrap(bytes in random::bytes()) {
        agrees(&bytes, Flavour { integers: true, ..Flavour::default() }, Overflow::Wrap);
    }

    #[test]
    fn integers_that_must_not_overflow(bytes in random::bytes()) {
        agrees(&bytes, Flavour { integers: true, ..Flavour::default() }, Overflow::Forbid);
    }
}

/// A condition that overflows chooses the set of which a negated count speaks: the negation must not
/// be drawn into the count.
#[test]
fn overflow_in_a_condition_under_a_negated_count() {
    use crate::problem::{Atom, Count, IntCmp, IntOp, Universe};
    let universe = Universe::new((-2..2).map(|value: i64| value.to_string()).collect());
    for count in [Count::AtLeast(2), Count::AtMost(1), Count::AtMost(4)] {
        let mut problem = Problem::new(universe.clone());
        problem.bitwidth = 2;
        problem.ints = (0..4).map(|at| (i64::from(at) - 2, Atom(at))).collect();
        let terms = &mut problem.terms;
        let [least, most] = [-2, 1].map(|value| terms.int_const(value));
        let overflowing = terms.int_op(IntOp::Sub, least, most);
        let condition = terms.int_cmp(IntCmp::Lte, overflowing, most);
        let (ints, none) = (terms.ints(), terms.none(1));
        let chosen = terms.ite(condition, ints, none);
        let counted = terms.count(chosen, count);
        let refused = terms.not(counted);
        problem.require(refused, "refused", None);
        agrees_on(&problem, Flavour::default(), Overflow::Forbid);
    }
}

/// The constraints of a problem, those at `kept` only.
fn restricted(problem: &Problem, kept: &[usize]) -> Problem {
    let mut problem = problem.clone();
    problem.constraints = kept
        .iter()
        .map(|&at| problem.constraints[at].clone())
        .collect();
    problem
}

fn core_is_minimal(bytes: &[u8]) {
    let mut problem = random::problem(bytes, Flavour::default());
    // Single conjuncts, so that there is something to leave out.
    let parts: Vec<_> = problem
        .constraints
        .iter()
        .flat_map(
            |constraint| match problem.terms.formula(constraint.formula) {
                crate::problem::FormulaNode::And(parts) => parts.clone(),
                _ => vec![constraint.formula],
            },
        )
        .collect();
    problem.constraints.clear();
    for part in parts {
        problem.require(part, "part", None);
    }
    for &solver in SolverKind::ALL {
        let options = Options {
            solver,
            ..Options::default()
        };
        let mut search = Search::new(&problem, &options).unwrap();
        if search.next().unwrap() != Outcome::Unsat {
            assert!(matches!(search.core(), Err(Error::Misuse(_))));
            continue;
        }
        let core = search.core().unwrap();
        assert!(core.minimal);
        let core = core.constraints;
        assert!(
            brute_force(&restricted(&problem, &core), Overflow::Forbid)
                .unwrap()
                .is_empty(),
            "the core has an instance"
        );
        for left_out in &core {
            let rest: Vec<usize> = core.iter().copied().filter(|at| at != left_out).collect();
            assert!(
                !brute_force(&restricted(&problem, &rest), Overflow::Forbid)
                    .unwrap()
                    .is_empty(),
                "the core is not minimal"
            );
        }
    }
}

fn smallest_is_smallest(bytes: &[u8]) {
    let problem = random::problem(bytes, Flavour::default());
    let size =
        |instance: &Instance| -> usize { instance.relations.iter().map(|value| value.len()).sum() };
    let expected = brute_force(&problem, Overflow::Forbid)
        .unwrap()
        .iter()
        .map(size)
        .min();
    for &solver in SolverKind::ALL {
        let options = Options {
            solver,
            symmetry: 0,
            skolem_depth: 0,
            ..Options::default()
        };
        let mut search = Search::new(&problem, &options).unwrap();
        match search.smallest().unwrap() {
            Outcome::Sat(instance) if instance.skolems.is_empty() => {
                assert_eq!(Some(size(&instance)), expected);
                let again = search.next().unwrap();
                assert_ne!(again, Outcome::Sat(instance));
            }
            Outcome::Sat(_) => assert!(expected.is_some()),
            outcome => {
                assert_eq!(outcome, Outcome::Unsat);
                assert_eq!(expected, None);
            }
        }
    }
}

proptest! {
    #[test]
    fn cores(bytes in random::bytes()) {
        core_is_minimal(&bytes);
    }

    #[test]
    fn smallest_instances(bytes in random::bytes()) {
        smallest_is_smallest(&bytes);
    }
}

/// `pigeons` each in one of `holes`, no two in the same.
pub(crate) fn pigeonhole(pigeons: u32, holes: u32) -> Problem {
    use crate::problem::{Atom, Decl, Mult, Quant, TupleSet, Universe};
    let names = (0..pigeons)
        .map(|i| format!("pigeon{i}"))
        .chain((0..holes).map(|i| format!("hole{i}")));
    let universe = Universe::new(names.collect());
    let pigeon = TupleSet::unary(&universe, (0..pigeons).map(Atom));
    let hole = TupleSet::unary(&universe, (pigeons..pigeons + holes).map(Atom));
    let pairs = pigeon.product(&hole).unwrap();
    let none = TupleSet::empty(2, &universe).unwrap();
    let mut problem = Problem::new(universe);
    let pigeon = problem.add_relation("Pigeon", pigeon.clone(), pigeon);
    let hole = problem.add_relation("Hole", hole.clone(), hole);
    let nest = problem.add_relation("nest", none, pairs);
    let [pigeon, hole, nest] = [pigeon, hole, nest].map(|id| problem.relation_expr(id));
    let terms = &mut problem.terms;
    let var = terms.fresh_var("p", 1);
    let p = terms.var(var);
    let of_p = terms.join(p, nest);
    let housed = terms.one(of_p);
    let decl = Decl {
        var,
        mult: Mult::One,
        bound: pigeon,
    };
    let all_housed = terms.quant(Quant::All, vec![decl], housed);
    let var = terms.fresh_var("h", 1);
    let h = terms.var(var);
    let in_h = terms.join(nest, h);
    let alone = terms.lone(in_h);
    let decl = Decl {
        var,
        mult: Mult::One,
        bound: hole,
    };
    let all_alone = terms.quant(Quant::All, vec![decl], alone);
    problem.require(all_housed, "each pigeon has a hole", None);
    problem.require(all_alone, "no hole has two", None);
    problem
}

#[test]
fn pigeons_need_holes() {
    for &solver in SolverKind::ALL {
        let options = Options {
            solver,
            ..Options::default()
        };
        let problem = pigeonhole(6, 5);
        let mut search = Search::new(&problem, &options).unwrap();
        assert_eq!(search.next().unwrap(), Outcome::Unsat);
        assert_eq!(search.core().unwrap().constraints, vec![0, 1]);
        let problem = pigeonhole(5, 5);
        let mut search = Search::new(&problem, &options).unwrap();
        assert!(matches!(search.next().unwrap(), Outcome::Sat(_)));
    }
}

/// With as many holes as pigeons each has its own: there is no other tuple to be had or to be missed.
#[test]
fn a_corrupted_instance_is_refused() {
    let problem = pigeonhole(4, 4);
    let mut search = Search::new(&problem, &Options::default()).unwrap();
    let Ok(Outcome::Sat(instance)) = search.next() else {
        panic!("each pigeon fits");
    };
    assert_eq!(search.check(&instance), Ok(()));
    for (at, relation) in problem.relations.iter().enumerate() {
        for &tuple in relation.upper.indices() {
            let mut corrupted = instance.clone();
            let value = &mut corrupted.relations[at];
            let mut tuples = value.indices().to_vec();
            match tuples.binary_search(&tuple) {
                Ok(place) => drop(tuples.remove(place)),
                Err(place) => tuples.insert(place, tuple),
            }
            let atoms = problem.universe.len() as u64;
            *value = crate::problem::TupleSet::from_unsorted(value.arity(), atoms, tuples);
            assert!(
                matches!(search.check(&corrupted), Err(Error::Internal(_))),
                "{} {tuple}",
                relation.name
            );
        }
    }
}

#[test]
fn a_deadline_gives_unknown() {
    use std::time::{Duration, Instant};
    for &solver in SolverKind::ALL {
        let mut options = Options {
            solver,
            symmetry: 0,
            ..Options::default()
        };
        options.limits.deadline = Some(Instant::now() + Duration::from_millis(300));
        let problem = pigeonhole(14, 13);
        let outcome = Search::new(&problem, &options).and_then(|mut search| search.next());
        assert_eq!(
            outcome,
            Ok(Outcome::Unknown(crate::limits::Reason::Time)),
            "{}",
            solver.name()
        );
    }
}

#[test]
fn a_memory_limit_is_an_error_of_its_own() {
    let mut options = Options::default();
    options.limits.memory = Some(10_000);
    let problem = pigeonhole(30, 30);
    let outcome = Search::new(&problem, &options).and_then(|mut search| search.next());
    assert_eq!(outcome, Err(Error::Limit(crate::limits::Reason::Memory)));
}
