//! Which choices must be tried together, and few assignments that try them all.
//!
//! A verdict that depends on three inputs is known once all values of these three were tried, whatever the others are
//! meanwhile. So one assignment tries something for every verdict at once, and a handful covers all: a covering array,
//! with the conditions of the configuration as constraints.

use std::collections::{BTreeMap, BTreeSet};

use super::space::{Factor, Literal, Space};

/// Combinations of one goal that are all tried.
pub(super) const COMPLETE: usize = 600;

/// Choices that must be tried together.
#[derive(Clone, Debug)]
pub(super) struct Goal {
    /// What is chosen.
    pub(super) factors: BTreeSet<Factor>,
    /// Whether all combinations are tried; otherwise each choice by itself, and pairs of them.
    pub(super) complete: bool,
}

/// Goals, each set of factors once.
#[derive(Debug, Default)]
pub(super) struct Goals {
    known: BTreeMap<BTreeSet<Factor>, bool>,
}

impl Goals {
    /// Adds what decides something; the inputs behind its conditions are taken where they have fewer combinations.
    /// Returns whether all combinations will be tried.
    pub(super) fn add(&mut self, space: &mut Space<'_>, factors: &BTreeSet<Factor>) -> bool {
        if factors.is_empty() {
            return true;
        }
        if let Some(&complete) = self.known.get(factors) {
            return complete;
        }
        let inputs = space.inputs_of(factors);
        let inputs: BTreeSet<Factor> = inputs.into_iter().map(Factor::Input).collect();
        let (own, behind) = (combinations(space, factors), combinations(space, &inputs));
        let (taken, count) = match behind <= own {
            true => (inputs, behind),
            false => (factors.clone(), own),
        };
        let complete = count <= COMPLETE;
        self.known.insert(factors.clone(), complete);
        self.known.insert(taken, complete);
        complete
    }

    /// The goals, without those that others include.
    fn list(&self) -> Vec<Goal> {
        let all: Vec<Goal> = self
            .known
            .iter()
            .map(|(factors, &complete)| Goal {
                factors: factors.clone(),
                complete,
            })
            .collect();
        let mut kept: Vec<Goal> = Vec::new();
        let mut by_size = all;
        by_size.sort_by_key(|goal| std::cmp::Reverse(goal.factors.len()));
        for goal in by_size {
            let included = |other: &Goal| other.complete && goal.factors.is_subset(&other.factors);
            if !kept.iter().any(included) {
                kept.push(goal);
            }
        }
        kept
    }
}

/// How many combinations factors have.
pub(super) fn combinations(space: &Space<'_>, factors: &BTreeSet<Factor>) -> usize {
    let mut total: usize = 1;
    for &factor in factors {
        let (first, end) = space.width(factor);
        total = total.saturating_mul(end.saturating_sub(first).max(1));
    }
    total
}

/// Choices that are tried together in one assignment.
type Combination = Vec<Literal>;

/// All combinations of a goal, or where it has too many, each pair of choices.
fn all(space: &Space<'_>, goal: &Goal) -> Vec<Combination> {
    let factors: Vec<Factor> = goal.factors.iter().copied().collect();
    if goal.complete {
        return product(space, &factors);
    }
    let mut found = Vec::new();
    if factors.len() > 24 {
        for &factor in &factors {
            found.extend(product(space, &[factor]));
        }
        return found;
    }
    for (at, &a) in factors.iter().enumerate() {
        for &b in factors.iter().skip(at + 1) {
            let pair = product(space, &[a, b]);
            // Of two inputs with many values, each by itself and those at the same place.
            match pair.len() > 64 {
                true => found.extend(pair.into_iter().filter(|pair| match pair.as_slice() {
                    [(_, x), (_, y)] => *x <= 1 || *y <= 1 || x == y,
                    _ => true,
                })),
                false => found.extend(pair),
            }
        }
    }
    found
}

fn product(space: &Space<'_>, factors: &[Factor]) -> Vec<Combination> {
    let mut found: Vec<Combination> = vec![Vec::new()];
    for &factor in factors {
        let (first, end) = space.width(factor);
        let mut longer = Vec::with_capacity(found.len() * (end - first.min(end)));
        for combination in &found {
            for value in first..end {
                let mut next = combination.clone();
                next.push((factor, value));
                longer.push(next);
            }
        }
        found = longer;
    }
    found
}

/// Assignments that try everything that the goals ask for; whether that took more than allowed.
pub(super) fn cover(space: &mut Space<'_>, goals: &Goals, most: usize) -> (Vec<Vec<usize>>, bool) {
    let mut open: Vec<Combination> = Vec::new();
    for goal in goals.list() {
        open.extend(all(space, &goal));
    }
    // The largest first: what is small fits in anywhere.
    open.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    open.dedup();
    let mut rows: Vec<Vec<usize>> = Vec::new();
    while !open.is_empty() {
        if rows.len() >= most {
            return (rows, false);
        }
        let mut taken: BTreeMap<Factor, usize> = BTreeMap::new();
        let mut row: Vec<Literal> = Vec::new();
        let mut impossible: Vec<usize> = Vec::new();
        let mut asked = 0;
        let mut solved = false;
        for (at, combination) in open.iter().enumerate() {
            let clashes = combination
                .iter()
                .any(|(factor, value)| taken.get(factor).is_some_and(|known| known != value));
            if clashes {
                continue;
            }
            let decided = combination.iter().any(|&one| space.literal(one).is_some());
            let fits = if !decided || (solved && space.is_so(combination)) {
                true
            } else if asked >= TRIES {
                continue;
            } else {
                let mut longer = row.clone();
                longer.extend(combination.iter().copied());
                asked += 1;
                let fits = space.possible(&longer);
                // After a refusal the solver's last answer is none.
                solved = fits || space.possible(&row);
                fits
            };
            match (fits, row.is_empty()) {
                (true, _) => {
                    taken.extend(combination.iter().copied());
                    row = taken
                        .iter()
                        .map(|(&factor, &value)| (factor, value))
                        .collect();
                }
                (false, true) => impossible.push(at),
                (false, false) => {}
            }
        }
        if row.is_empty() {
            // Nothing of what is left can happen.
            break;
        }
        space.possible(&row);
        let chosen = space.assignment(&row);
        space.settle(&chosen);
        let covers = |&(factor, value): &Literal| match factor {
            Factor::Input(at) => chosen.get(at) == Some(&value),
            Factor::Gate(symbol) => space.gate_value(symbol) == Some(value),
        };
        let mut at = 0;
        open.retain(|combination| {
            let keep = !impossible.contains(&at) && !combination.iter().all(covers);
            at += 1;
            keep
        });
        rows.push(chosen);
    }
    (rows, true)
}

/// How often the solver is asked for one assignment before it is taken as it is.
const TRIES: usize = 200;
