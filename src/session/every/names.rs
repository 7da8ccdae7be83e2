//! Inputs that name something: with another name, the configuration consists of something else.
//!
//! What is loaded with all inputs open knows nothing of what such an input names, so it is the configuration with names
//! of nothing. It is looked at again with each name, each two, and so on: all combinations where these are few.

use std::collections::BTreeMap;

use locus_core::diagnostic::Verdict;
use locus_core::value::{SymbolId, Value};
use locus_core::{Diagnostic, LocationGraph, Severity};
use locus_frontends::language::{Chosen, Language, OpenInput};
use rustc_hash::FxHashMap;

use super::listed;
use super::space::{Factor, Literal};
use super::values::Tried;

/// Combinations of names with which the configuration is looked at.
const VIEWS: usize = 128;

/// The names that inputs may be, by the positions of the inputs.
pub(super) type Names = BTreeMap<usize, Vec<Value>>;

/// What inputs name, by their positions; none is that the input is not given.
pub(super) type Named = Vec<(usize, Option<Value>)>;

/// The names that inputs may be.
pub(super) fn names(language: &dyn Language, graph: &LocationGraph, inputs: &[OpenInput]) -> Names {
    let positions = positions(inputs);
    let mut found = Names::new();
    for (symbol, value) in graph.naming() {
        let Some(&at) = positions.get(symbol) else {
            continue;
        };
        let input = inputs.get(at);
        let fits = input.is_some_and(|one| language.admits(&one.domain, value) != Some(false));
        let names = found.entry(at).or_default();
        if fits {
            names.push(value.clone());
        }
    }
    found
}

/// The positions of inputs, by their symbols.
pub(super) fn positions(inputs: &[OpenInput]) -> FxHashMap<SymbolId, usize> {
    let all = inputs.iter().enumerate();
    all.map(|(at, input)| (input.symbol, at)).collect()
}

/// What is looked at beyond that nothing is named, and whether these are all combinations.
pub(super) fn views(names: &Names, inputs: &[OpenInput]) -> (Vec<Named>, bool) {
    let mut found: Vec<Named> = vec![Vec::new()];
    for named in 1..=names.len() {
        let next = of_size(names, named, inputs);
        // Of more inputs there are no fewer combinations.
        let fits = next
            .as_ref()
            .is_some_and(|next| found.len() + next.len() <= VIEWS);
        match next.filter(|_| fits || named == 1) {
            Some(next) => found.extend(next),
            None => return (found.split_off(1), false),
        }
    }
    (found.split_off(1), true)
}

/// The ways in which so many inputs name something; none when they are far too many.
fn of_size(names: &Names, size: usize, inputs: &[OpenInput]) -> Option<Vec<Named>> {
    let mut found: Vec<Named> = vec![Vec::new()];
    for _ in 0..size {
        let mut longer = Vec::new();
        for one in &found {
            let from = one.last().map_or(0, |(at, _)| at + 1);
            for (&at, values) in names.range(from..) {
                // One with a default is not left out: it has that value then.
                let left_out = inputs.get(at);
                let left_out = left_out.is_some_and(|one| one.optional && one.default.is_none());
                let values = values.iter().map(|value| Some(value.clone()));
                for value in left_out.then_some(None).into_iter().chain(values) {
                    let mut next = one.clone();
                    next.push((at, value));
                    longer.push(next);
                }
            }
            if size > 1 && longer.len() > 4 * VIEWS {
                return None;
            }
        }
        found = longer;
    }
    Some(found)
}

/// What is chosen so that inputs name this; one that is not given is null.
pub(super) fn chosen(named: &Named, inputs: &[OpenInput]) -> Vec<Chosen> {
    let one = |(at, value): &(usize, Option<Value>)| {
        let input = inputs.get(*at)?;
        Some(Chosen {
            name: input.name.clone(),
            value: value.clone().unwrap_or(Value::Null),
        })
    };
    named.iter().filter_map(one).collect()
}

/// The values that inputs are tried with so that they name this, and all others nothing.
pub(super) fn pinned(named: &Named, names: &Names, tried: &[Tried]) -> Option<Vec<Literal>> {
    let mut pinned = Vec::new();
    for (&at, values) in names {
        let one = tried.get(at)?;
        let is = |value: &Value| {
            let mut all = 0..one.values.len();
            all.find(|&at| one.value(at).is_some_and(|own| own.same(value)))
        };
        let value = match named.iter().find(|(other, _)| *other == at) {
            Some((_, Some(value))) => Some(is(value)?),
            Some((_, None)) => Some(0),
            None => {
                let mut others = one.first()..one.values.len();
                let is_other = |own: &Value| !values.iter().any(|value| value.same(own));
                others.find(|&at| one.value(at).is_some_and(is_other))
            }
        };
        pinned.extend(value.map(|value| (Factor::Input(at), value)));
    }
    Some(pinned)
}

/// That not all combinations of names were looked at.
pub(super) fn undecided(names: &Names, tried: &[Tried]) -> Diagnostic {
    let inputs: Vec<&Tried> = names.keys().filter_map(|&at| tried.get(at)).collect();
    let words = inputs.iter().map(|tried| format!("`{}`", tried.input.name));
    let words: Vec<String> = words.collect();
    let why = format!("what {} name has too many combinations", listed(&words));
    let message = format!("not all that is named was looked at: {why}");
    let mut open = Diagnostic::new(Severity::Info, "unchecked", message);
    if let Some(first) = inputs.first() {
        open = open.at(first.input.span);
    }
    open.verdict = Verdict::Undecided { why };
    open
}
