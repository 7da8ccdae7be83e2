//! Decides with the solver what three values leave open: whether a violation happens for every input, for some
//! or for none.

use std::time::{Duration, Instant};

use locus_solver::limits::Limits;
use locus_solver::problem::{Formula, Problem};
use locus_solver::search::{Instance, Options, Outcome, Proof, Search};

use super::problem::{Translation, Unsolved, translate};
use crate::engine::{Atom, Database};
use crate::logic::{QueryId, Terms, VarId};

/// What the solver says of one possible violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It happens for every input.
    Always,
    /// It happens for some inputs, and not for others.
    Sometimes,
    /// It happens for no input.
    Never,
    /// It depends on something that may be anything.
    Open,
    /// A limit was reached before it was decided.
    Undecided,
}

/// How large the problems were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effort {
    pub(super) variables: usize,
    pub(super) clauses: usize,
}

/// The time for one possible violation.
const TIME: Duration = Duration::from_millis(500);

/// Decides a possible violation.
pub(super) fn decide(
    terms: &Terms,
    database: &Database,
    query: QueryId,
    binding: &[(VarId, Atom)],
    effort: &mut Effort,
    mut proofs: Option<&mut Vec<(&'static str, Proof)>>,
) -> Decision {
    let translation = match translate(terms, database, query, binding) {
        Ok(translation) => translation,
        Err(Unsolved::Unlimited) => return Decision::Open,
        Err(Unsolved::TooHard) => return Decision::Undecided,
    };
    let deadline = Instant::now() + TIME;
    let Translation {
        mut problem,
        broken,
        ..
    } = translation;
    let kept = problem.terms.not(broken);
    let proving = proofs.is_some();
    let mut keep = |claim: &'static str, proof: Option<Proof>| {
        if let (Some(proofs), Some(proof)) = (proofs.as_mut(), proof) {
            proofs.push((claim, proof));
        }
    };
    let (avoidable, always) = solve(&problem, kept, deadline, effort, proving);
    let (possible, never) = solve(&problem, broken, deadline, effort, proving);
    match (&possible, &avoidable) {
        (Some(None), _) => keep("no value that is not known breaks it", never),
        (Some(Some(_)), Some(None)) => keep("every value that is not known breaks it", always),
        _ => {}
    }
    match (possible, avoidable) {
        (Some(None), _) => Decision::Never,
        (Some(Some(_)), Some(None)) => Decision::Always,
        (Some(Some(_)), Some(Some(_))) => Decision::Sometimes,
        _ => Decision::Undecided,
    }
}

/// An instance in which a formula holds; `Some(None)` when there is none, with a proof where there is one, `None` when that
/// is not known.
fn solve(
    problem: &Problem,
    formula: Formula,
    deadline: Instant,
    effort: &mut Effort,
    proving: bool,
) -> (Option<Option<Instance>>, Option<Proof>) {
    let mut problem = problem.clone();
    problem.require(formula, "the rule", None);
    let options = Options {
        symmetry: 0,
        limits: Limits {
            deadline: Some(deadline),
            ..Limits::default()
        },
        ..Options::default()
    };
    let Ok(mut search) = Search::new(&problem, &options) else {
        return (None, None);
    };
    let Ok(outcome) = search.next() else {
        return (None, None);
    };
    let stats = search.stats();
    effort.variables += stats.vars;
    effort.clauses += stats.clauses;
    match outcome {
        Outcome::Sat(instance) => (Some(Some(instance)), None),
        Outcome::Unsat if proving => (Some(None), search.proof().ok()),
        Outcome::Unsat => (Some(None), None),
        Outcome::Unknown(_) => (None, None),
    }
}
