//! The smallest assignment that shows a finding.

use std::collections::BTreeSet;

use locus_core::diagnostic::Verdict;
use locus_core::{Diagnostic, Severity, Sources};
use locus_frontends::language::Chosen;

use super::super::Cancelled;
use super::inputs;
use super::space::{Factor, Literal, Space};
use super::trial::{Key, Trials};
use rustc_hash::FxHashSet;

/// A finding, and the smallest assignment that was seen to show it.
pub(super) struct Shown {
    pub(super) finding: Diagnostic,
    pub(super) sources: Sources,
    pub(super) chosen: Vec<Chosen>,
    /// The inputs that are given, by their positions.
    pub(super) given: Vec<usize>,
    /// Whether it is found in a value that is given, not where that is used.
    pub(super) in_value: bool,
}

/// Assignments that are looked at for a smaller one.
const LOOKED_AT: usize = 6;

/// How large an assignment is: inputs that are given, then how simple their values are.
fn size(row: &[usize]) -> (usize, usize, Vec<usize>) {
    let given = row.iter().filter(|&&value| value > 0).count();
    (given, row.iter().sum(), row.to_vec())
}

/// The smallest assignment that shows a finding, given some that do and what decides it.
pub(super) fn smallest(
    key: &Key,
    rows: &[&[usize]],
    others: &[&[usize]],
    factors: Option<&BTreeSet<Factor>>,
    space: &mut Space<'_>,
    trials: &Trials<'_>,
) -> Result<Option<Shown>, Cancelled> {
    for row in causes(rows, others) {
        if trials.run(&row)?.get(key).is_some() {
            let row = simplest(key, row, rows, space, trials)?;
            return shown(key, &row, space, trials).map(Some);
        }
    }
    let mut candidates: Vec<Vec<usize>> = Vec::new();
    if let Some(factors) = factors {
        let inputs = space.inputs_of(factors);
        let gated = factors
            .iter()
            .any(|factor| matches!(factor, Factor::Gate(_)));
        let mut rows: Vec<&[usize]> = rows.to_vec();
        rows.sort_by_key(|row| size(row));
        for row in rows {
            // What does not decide it stays as it is.
            let projected: Vec<usize> = row
                .iter()
                .enumerate()
                .map(|(at, &value)| if inputs.contains(&at) { value } else { 0 })
                .collect();
            if gated && candidates.len() < LOOKED_AT {
                candidates.extend(fewest(row, factors, &inputs, space));
            }
            candidates.push(projected);
        }
        candidates.sort_by_key(|row| size(row));
        candidates.dedup();
    }
    let mut whole: Vec<Vec<usize>> = rows.iter().map(|row| row.to_vec()).collect();
    whole.sort_by_key(|row| size(row));
    candidates.extend(whole);
    let inputs = match factors {
        Some(factors) => space.inputs_of(factors),
        None => (0..space.tried.len()).collect(),
    };
    for candidate in candidates {
        if trials.run(&candidate)?.get(key).is_some() {
            let mut row = without(key, candidate, trials)?;
            // Of one input, all values were tried.
            if inputs.len() == 1 {
                return shown(key, &row, space, trials).map(Some);
            }
            if let Some(smaller) = smaller(key, &row, rows, &inputs, space, trials)? {
                row = smaller;
            }
            let row = simplest(key, row, rows, space, trials)?;
            return shown(key, &row, space, trials).map(Some);
        }
    }
    Ok(None)
}

/// Single values that may be all that it takes.
const CAUSES: usize = 3;

/// Assignments of one input, with a value that was tried only where something is shown: the simplest ones.
fn causes(rows: &[&[usize]], others: &[&[usize]]) -> Vec<Vec<usize>> {
    let given = |rows: &[&[usize]]| -> FxHashSet<(usize, usize)> {
        let values = rows.iter().flat_map(|row| row.iter().copied().enumerate());
        values.filter(|(_, value)| *value > 0).collect()
    };
    let (here, elsewhere) = (given(rows), given(others));
    let length = rows.first().map_or(0, |row| row.len());
    let alone = |&(at, value): &(usize, usize)| {
        let mut row = vec![0; length];
        if let Some(slot) = row.get_mut(at) {
            *slot = value;
        }
        row
    };
    let mut found: Vec<Vec<usize>> = here.difference(&elsewhere).map(alone).collect();
    found.sort_by_key(|row| size(row));
    found.truncate(CAUSES);
    found
}

/// Assignments that are tried for fewer inputs.
const FEWER: usize = 512;

/// The same, where not all values of inputs are known, so that the least is not certain to be found.
const FEWER_OF_SOME: usize = 96;

/// An assignment of fewer inputs than one from which none can be left out.
fn smaller(
    key: &Key,
    row: &[usize],
    seen: &[&[usize]],
    inputs: &BTreeSet<usize>,
    space: &Space<'_>,
    trials: &Trials<'_>,
) -> Result<Option<Vec<usize>>, Cancelled> {
    let (given, ..) = size(row);
    let all = space.tried.iter().all(|tried| tried.exact);
    let most = if all { FEWER } else { FEWER_OF_SOME };
    // All assignments of so many inputs, one more each time.
    let mut last: Vec<Vec<usize>> = vec![vec![0; row.len()]];
    let mut tried = 0;
    for _ in 1..given {
        let mut next = Vec::new();
        for row in &last {
            let free = row.iter().rposition(|&value| value > 0);
            for &at in inputs.range(free.map_or(0, |last| last + 1)..) {
                let Some(tried_with) = space.tried.get(at) else {
                    continue;
                };
                for value in 1..tried_with.values.len() {
                    // Each value was tried somewhere: one of too many that was never seen to show it is not looked at again.
                    let shows = |row: &&[usize]| row.get(at) == Some(&value);
                    if !tried_with.exact && !seen.iter().any(shows) {
                        continue;
                    }
                    let mut longer = row.clone();
                    if let Some(slot) = longer.get_mut(at) {
                        *slot = value;
                    }
                    tried += 1;
                    if tried > most {
                        return Ok(None);
                    }
                    next.push(longer);
                }
            }
        }
        for row in &next {
            if trials.run(row)?.get(key).is_some() {
                return Ok(Some(row.clone()));
            }
        }
        last = next;
    }
    Ok(None)
}

/// The same inputs, each with the first value that will do.
fn simplest(
    key: &Key,
    mut row: Vec<usize>,
    seen: &[&[usize]],
    space: &Space<'_>,
    trials: &Trials<'_>,
) -> Result<Vec<usize>, Cancelled> {
    for at in 0..row.len() {
        let value = row.get(at).copied().unwrap_or(0);
        let exact = space.tried.get(at).is_some_and(|tried| tried.exact);
        for simpler in 1..value {
            let shows = |row: &&[usize]| row.get(at) == Some(&simpler);
            if !exact && !seen.iter().any(shows) {
                continue;
            }
            let mut other = row.clone();
            if let Some(slot) = other.get_mut(at) {
                *slot = simpler;
            }
            if trials.run(&other)?.get(key).is_some() {
                row = other;
                break;
            }
        }
    }
    Ok(row)
}

/// The assignment with the fewest inputs given that decides the conditions as a row does.
fn fewest(
    row: &[usize],
    factors: &BTreeSet<Factor>,
    inputs: &BTreeSet<usize>,
    space: &mut Space<'_>,
) -> Option<Vec<usize>> {
    if !space.settle(row) {
        return None;
    }
    let mut choices: Vec<Literal> = Vec::new();
    for &factor in factors {
        let value = match factor {
            Factor::Input(at) => row.get(at).copied(),
            Factor::Gate(symbol) => space.gate_value(symbol),
        };
        choices.push((factor, value?));
    }
    let mut least = space.least(&choices)?;
    for (at, value) in least.iter_mut().enumerate() {
        if !inputs.contains(&at) {
            *value = 0;
        }
    }
    Some(least)
}

/// An assignment of which nothing can be left out.
fn without(key: &Key, mut row: Vec<usize>, trials: &Trials<'_>) -> Result<Vec<usize>, Cancelled> {
    for at in 0..row.len() {
        let Some(&value) = row.get(at).filter(|&&value| value > 0) else {
            continue;
        };
        // An assignment of one input is as small as it gets: none is the plain check.
        if size(&row).0 == 1 {
            break;
        }
        if let Some(slot) = row.get_mut(at) {
            *slot = 0;
        }
        if trials.run(&row)?.get(key).is_none()
            && let Some(slot) = row.get_mut(at)
        {
            *slot = value;
        }
    }
    Ok(row)
}

/// A finding with the assignment that shows it.
fn shown(
    key: &Key,
    row: &[usize],
    space: &Space<'_>,
    trials: &Trials<'_>,
) -> Result<Shown, Cancelled> {
    let said = trials.run(row)?;
    let chosen = trials.chosen(row);
    let mut finding = said
        .get(key)
        .cloned()
        .unwrap_or_else(|| Diagnostic::warning(key.0.clone(), String::new()));
    // It holds for other inputs, so it is not an error.
    finding.severity = finding.severity.min(Severity::Warning);
    let inputs = inputs(&chosen);
    let shown: Vec<String> = inputs.iter().map(ToString::to_string).collect();
    finding.message = format!("with {}, {}", super::listed(&shown), finding.message);
    finding.verdict = Verdict::Violable { inputs };
    finding.fixes.clear();
    let given = row.iter().enumerate().filter(|(_, value)| **value > 0);
    // What is found in a value itself is shown where the input is declared; the files of a template come first, and in
    // the same order each time.
    let in_value = finding.primary().is_none();
    if in_value {
        let first = given.clone().find_map(|(at, _)| space.tried.get(at));
        if let Some(tried) = first {
            finding = finding.at(tried.input.span);
        }
    }
    Ok(Shown {
        finding,
        sources: said.sources.clone(),
        chosen,
        given: given.map(|(at, _)| at).collect(),
        in_value,
    })
}
