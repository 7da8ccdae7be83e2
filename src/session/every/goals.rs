//! Which choices must be tried together, and few assignments that try them all.
//!
//! A verdict that depends on three inputs is known once all values of these three were tried, whatever the others are
//! meanwhile. So one assignment tries something for every verdict at once, and a handful covers all: a covering array,
//! with the conditions of the configuration as constraints. What is seen to break early needs no more of them, so first
//! each choice is tried, then one at a time, then pairs, then all combinations of what is still open.

use std::collections::{BTreeMap, BTreeSet};

use locus_core::value::ValueType;
use rustc_hash::FxHashMap;

use super::space::{Factor, Literal, Space};
use super::values::Tried;

/// Combinations of one goal that are all tried.
pub(super) const COMPLETE: usize = 4096;

/// How much is tried together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// Each choice, whatever the others are.
    Each,
    /// Each of the first choices, which are well-formed, while the others are as they are by default.
    Early,
    /// Each choice, while the others are as they are by default.
    Singles,
    /// Each two choices.
    Pairs,
    /// All combinations.
    All,
}

/// In the order in which they are tried.
pub(super) const STRENGTHS: [Strength; 5] = [
    Strength::Each,
    Strength::Early,
    Strength::Singles,
    Strength::Pairs,
    Strength::All,
];

/// How choices are tried together.
#[derive(Clone, Debug)]
struct Goal {
    strength: Strength,
    /// The inputs behind them.
    inputs: BTreeSet<usize>,
    /// The findings that they decide, by their numbers; none that of the front-end.
    decides: BTreeSet<usize>,
    /// Whether the front-end may find something that only these decide.
    local: bool,
}

/// Goals, each set of factors once for each set of choices that they are tried with.
#[derive(Debug, Default)]
pub(super) struct Goals {
    known: BTreeMap<(BTreeSet<Factor>, Vec<Literal>), Goal>,
}

impl Goals {
    /// Adds what decides a finding where inputs are pinned; the inputs behind its conditions are taken where they have
    /// fewer combinations. Returns whether all combinations will be tried.
    pub(super) fn add(
        &mut self,
        space: &mut Space<'_>,
        factors: &BTreeSet<Factor>,
        pinned: &[Literal],
        decides: usize,
        provable: bool,
    ) -> bool {
        if factors.is_empty() {
            return true;
        }
        let (taken, count) = fewest(space, factors);
        // What it depends on by itself is tried with all values.
        let free = |(factor, _): &&Literal| !taken.contains(factor);
        let pinned: Vec<Literal> = pinned.iter().filter(free).copied().collect();
        // Nothing is proved by all combinations of some of the values.
        let complete = provable && count <= COMPLETE;
        let strength = match complete {
            true => Strength::All,
            false => Strength::Pairs,
        };
        let goal = self.want(space, taken, pinned, strength);
        goal.decides.insert(decides);
        complete
    }

    /// Adds choices that are to be tried together, whatever they decide.
    pub(super) fn add_choices(&mut self, space: &mut Space<'_>, choices: &[Literal]) {
        if !choices.is_empty() {
            let choices = choices.to_vec();
            let goal = self.want(space, BTreeSet::new(), choices, Strength::All);
            goal.local = true;
        }
    }

    /// Adds what the front-end itself may look at together.
    pub(super) fn add_local(
        &mut self,
        space: &mut Space<'_>,
        factors: &BTreeSet<Factor>,
        judged: bool,
    ) {
        if factors.is_empty() {
            return;
        }
        let (taken, count) = fewest(space, factors);
        let tried = space.tried;
        let exact = |at: &usize| tried.get(*at).is_some_and(|tried| tried.exact);
        let strength = match space.inputs_of(&taken).iter().all(exact) {
            true if count <= COMPLETE => Strength::All,
            true => Strength::Pairs,
            // Nothing is proved by trying some values together.
            false if judged => Strength::Singles,
            false => Strength::Each,
        };
        self.want(space, taken, Vec::new(), strength).local = true;
    }

    /// Adds what is tried together, each two of it, as one decides whether there is anything that the other is for.
    pub(super) fn add_pairs(&mut self, space: &mut Space<'_>, factors: BTreeSet<Factor>) {
        if factors.len() > 1 {
            let goal = self.want(space, factors, Vec::new(), Strength::Pairs);
            goal.local = true;
        }
    }

    fn want(
        &mut self,
        space: &mut Space<'_>,
        factors: BTreeSet<Factor>,
        pinned: Vec<Literal>,
        strength: Strength,
    ) -> &mut Goal {
        let inputs = space.inputs_of(&factors);
        let goal = self.known.entry((factors, pinned)).or_insert(Goal {
            strength,
            inputs,
            decides: BTreeSet::new(),
            local: false,
        });
        goal.strength = goal.strength.max(strength);
        goal
    }

    /// What is to be tried together for findings that are still open.
    pub(super) fn combinations(
        &self,
        space: &Space<'_>,
        strength: Strength,
        is_open: impl Fn(usize) -> bool,
    ) -> Vec<Combination> {
        let wanted = |(_, goal): &(&(BTreeSet<Factor>, Vec<Literal>), &Goal)| {
            // All combinations have the others in them.
            let asks = match strength {
                Strength::Each => true,
                Strength::Early | Strength::Singles => {
                    matches!(goal.strength, Strength::Singles | Strength::Pairs)
                }
                other => goal.strength == other,
            };
            asks && (goal.local || goal.decides.iter().any(|&finding| is_open(finding)))
        };
        let goals = self.known.iter().filter(wanted);
        // Those with the same choices beside them are one question.
        let mut by_pinned: BTreeMap<&[Literal], Vec<(&BTreeSet<Factor>, &Goal)>> = BTreeMap::new();
        for ((factors, pinned), goal) in goals {
            by_pinned.entry(pinned).or_default().push((factors, goal));
        }
        let mut found: Vec<Combination> = Vec::new();
        for (pinned, goals) in by_pinned {
            let own = of_goals(space, strength, &goals).into_iter();
            found.extend(own.map(|mut combination| {
                combination.extend_from_slice(pinned);
                combination
            }));
        }
        found
    }
}

/// What is to be tried together for some goals.
fn of_goals(
    space: &Space<'_>,
    strength: Strength,
    goals: &[(&BTreeSet<Factor>, &Goal)],
) -> Vec<Combination> {
    let wanted: Vec<&BTreeSet<Factor>> = goals.iter().map(|(factors, _)| *factors).collect();
    let mut found: Vec<Combination> = Vec::new();
    match strength {
        Strength::Each => {
            let factors: BTreeSet<Factor> = wanted.into_iter().flatten().copied().collect();
            for factor in factors {
                found.extend(product(space, &[factor]));
            }
        }
        Strength::Early | Strength::Singles => {
            for (_, goal) in goals {
                if goal.inputs.len() > CROWD {
                    continue;
                }
                let first = |at: &usize| space.width(Factor::Input(*at)).0;
                for &at in &goal.inputs {
                    let (_, end) = space.width(Factor::Input(at));
                    let end = match strength {
                        Strength::Early => end.min(first(&at) + 1 + EARLY),
                        _ => end,
                    };
                    for value in first(&at)..end {
                        let others = goal.inputs.iter().map(|other| {
                            let value = if *other == at { value } else { first(other) };
                            (Factor::Input(*other), value)
                        });
                        found.push(others.collect());
                    }
                }
            }
        }
        Strength::Pairs => {
            let mut pairs: BTreeSet<(Factor, Factor)> = BTreeSet::new();
            for factors in wanted {
                let factors: Vec<Factor> = factors.iter().copied().collect();
                if factors.len() > CROWD {
                    continue;
                }
                for (at, &a) in factors.iter().enumerate() {
                    pairs.extend(factors.iter().skip(at + 1).map(|&b| (a, b)));
                }
            }
            for (a, b) in pairs {
                let pair = product(space, &[a, b]);
                // Of two inputs with many values, the first of each: those that are well-formed are among them.
                let few = |pair: &Combination| {
                    let early =
                        |(factor, value): &Literal| *value <= space.width(*factor).0 + EARLY;
                    pair.iter().all(early)
                };
                let many = pair.len() > 64;
                found.extend(pair.into_iter().filter(|pair| !many || few(pair)));
            }
        }
        Strength::All => {
            // Those that others include are tried with them.
            let mut by_size = wanted;
            by_size.sort_by_key(|factors| std::cmp::Reverse(factors.len()));
            let mut kept: Vec<&BTreeSet<Factor>> = Vec::new();
            for factors in by_size {
                if !kept.iter().any(|other| factors.is_subset(other)) {
                    kept.push(factors);
                    let factors: Vec<Factor> = factors.iter().copied().collect();
                    found.extend(product(space, &factors));
                }
            }
        }
    }
    found
}

/// Values of an input that are tried together with as many of another.
const EARLY: usize = 4;

/// Factors of one goal of which pairs are tried.
const CROWD: usize = 24;

/// What decides something, or the inputs behind its conditions where they have fewer combinations; and how many.
fn fewest(space: &mut Space<'_>, factors: &BTreeSet<Factor>) -> (BTreeSet<Factor>, usize) {
    let inputs = space.inputs_of(factors);
    let inputs: BTreeSet<Factor> = inputs.into_iter().map(Factor::Input).collect();
    let (own, behind) = (combinations(space, factors), combinations(space, &inputs));
    match behind <= own {
        true => (inputs, behind),
        false => (factors.clone(), own),
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

/// All whole numbers that have limits as low as they may be, and as high: what adds them up is broken there first.
pub(super) fn extremes(space: &Space<'_>) -> Vec<Vec<usize>> {
    let is_number = |tried: &Tried| tried.exact && tried.input.domain.ty == ValueType::Int;
    if space.tried.iter().filter(|tried| is_number(tried)).count() < 2 {
        return Vec::new();
    }
    let row = |high: bool| {
        let value = |tried: &Tried| match (is_number(tried), tried.values.len()) {
            (true, count) if high => count.saturating_sub(1),
            (true, count) => count.saturating_sub(1).min(1),
            (false, _) => tried.first(),
        };
        space.tried.iter().map(value).collect()
    };
    vec![row(false), row(true)]
}

/// Choices that are tried together in one assignment.
pub(super) type Combination = Vec<Literal>;

/// All combinations of the choices of factors.
pub(super) fn product(space: &Space<'_>, factors: &[Factor]) -> Vec<Combination> {
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

/// An assignment, and what the conditions are with it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) chosen: Vec<usize>,
    gates: FxHashMap<Factor, usize>,
}

impl Row {
    /// An assignment as the solver sees it; none when it excludes it.
    pub(super) fn new(space: &mut Space<'_>, chosen: Vec<usize>) -> Option<Row> {
        if !space.settle(&chosen) {
            return None;
        }
        let gates = space.gate_values();
        let gates = gates.map(|(symbol, value)| (Factor::Gate(symbol), value));
        Some(Row {
            gates: gates.collect(),
            chosen,
        })
    }

    fn covers(&self, combination: &Combination) -> bool {
        combination.iter().all(|(factor, value)| match factor {
            Factor::Input(at) => self.chosen.get(*at) == Some(value),
            Factor::Gate(_) => self.gates.get(factor) == Some(value),
        })
    }
}

/// Adds assignments that try combinations together with those that there are, up to a number; whether that was enough.
pub(super) fn cover(
    space: &mut Space<'_>,
    mut open: Vec<Combination>,
    rows: &mut Vec<Row>,
    most: usize,
) -> bool {
    open.retain(|combination| !rows.iter().any(|row| row.covers(combination)));
    // The largest first: what is small fits in anywhere.
    open.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    open.dedup();
    while !open.is_empty() {
        if rows.len() >= most {
            return false;
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
        for &at in &impossible {
            if let Some(combination) = open.get(at) {
                space.exclude(combination);
            }
        }
        if row.is_empty() {
            // Nothing of what was asked about can happen.
            let mut at = 0;
            open.retain(|_| {
                at += 1;
                !impossible.contains(&(at - 1))
            });
            if impossible.is_empty() {
                return false;
            }
            continue;
        }
        space.possible(&row);
        let chosen = space.assignment(&row);
        let Some(new) = Row::new(space, chosen) else {
            return false;
        };
        let mut at = 0;
        open.retain(|combination| {
            let keep = !impossible.contains(&at) && !new.covers(combination);
            at += 1;
            keep
        });
        rows.push(new);
    }
    true
}

/// How often the solver is asked for one assignment before it is taken as it is.
const TRIES: usize = 200;
