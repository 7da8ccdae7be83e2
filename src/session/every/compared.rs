//! What inputs are compared with: values, and each other.

use std::sync::Arc;

use locus_core::LocationGraph;
use locus_core::value::{Logic, SymbolId, SymbolKind, Value, field};
use locus_frontends::language::{Language, OpenInput};
use locus_invariants::Candidates;
use rustc_hash::FxHashMap;

use super::values::Asked;
use super::{Links, space};

/// The inputs that rules and conditions compare with each other, both ways round.
pub(super) fn links(graph: &LocationGraph, candidates: &Candidates, inputs: &[OpenInput]) -> Links {
    let positions = inputs.iter().enumerate();
    let positions: FxHashMap<SymbolId, usize> =
        positions.map(|(at, input)| (input.symbol, at)).collect();
    let mut found = Links::new();
    let mut add = |a: SymbolId, b: SymbolId| {
        if let (Some(&a), Some(&b)) = (positions.get(&a), positions.get(&b)) {
            found.extend([(a, b), (b, a)]);
        }
    };
    for &(a, b) in &candidates.linked {
        add(a, b);
    }
    for (_, symbol) in graph.symbols() {
        if let SymbolKind::Logic(logic @ Logic::Equal(..)) = &symbol.kind {
            let symbols = logic.depends();
            for (at, &a) in symbols.iter().enumerate() {
                symbols.iter().skip(at + 1).for_each(|&b| add(a, b));
            }
        }
    }
    found
}

/// What rules look at of each input.
pub(super) fn asked(
    graph: &LocationGraph,
    candidates: &Candidates,
    language: &dyn Language,
) -> FxHashMap<SymbolId, Asked> {
    let mut found: FxHashMap<SymbolId, Asked> = FxHashMap::default();
    let depends = candidates.list.iter().flat_map(|one| &one.depends);
    let mut open: Vec<(SymbolId, Asked)> = depends
        .map(|one| match one.opaque {
            true => (one.symbol, Asked::Content),
            false => (one.symbol, Asked::Equality),
        })
        .collect();
    let naming = graph.naming().iter();
    open.extend(naming.map(|&(symbol, _)| (symbol, Asked::Equality)));
    if language.judges_values() {
        open.extend(graph.symbols().map(|(id, _)| (id, Asked::Content)));
    }
    // What a property accepts is looked up when its value is known, unless it accepts anything.
    // What exists already is only named.
    for (_, location) in graph.locations().filter(|(_, one)| !one.external) {
        for property in &location.properties {
            let mut path = vec![property.name.clone()];
            leaves(&property.item.value, &mut path, &mut |symbol, path| {
                if language.looks_at(graph, symbol, &location.sort, path) {
                    open.push((symbol, Asked::Content));
                }
            });
        }
    }
    while let Some((symbol, asked)) = open.pop() {
        let known = found.get(&symbol);
        if known.is_some_and(|known| *known >= asked) {
            continue;
        }
        found.insert(symbol, asked);
        let info = graph.symbol(symbol);
        let next = space::behind(graph, symbol).into_iter();
        match &info.kind {
            // A comparison is only of what it compares.
            SymbolKind::Logic(logic) => {
                let next = logic.depends().into_iter();
                open.extend(next.map(|next| (next, Asked::Equality)));
            }
            SymbolKind::Choice { .. } => open.extend(next.map(|next| (next, asked))),
            _ => open.extend(next.map(|next| (next, Asked::Content))),
        }
    }
    found
}

/// The symbols in a value, each with the names that lead there; lists have none.
fn leaves(value: &Value, path: &mut Vec<Arc<str>>, each: &mut impl FnMut(SymbolId, &[Arc<str>])) {
    match value {
        Value::Symbolic(symbol) => each(*symbol, path),
        Value::List(items) => items
            .iter()
            .for_each(|item| leaves(&item.value, path, each)),
        Value::Map(fields) => {
            for field in fields {
                path.push(field.name.clone());
                leaves(&field.item.value, path, each);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Values that rules and conditions compare inputs with.
pub(super) fn hints(
    graph: &LocationGraph,
    candidates: &Candidates,
) -> FxHashMap<SymbolId, Vec<Value>> {
    let mut found: FxHashMap<SymbolId, Vec<Value>> = FxHashMap::default();
    let mut add = |symbol: SymbolId, value: &Value| {
        let known = found.entry(symbol).or_default();
        if !known.iter().any(|other| other.same(value)) {
            known.push(value.clone());
        }
    };
    for (symbol, value) in graph.naming() {
        add(*symbol, value);
    }
    for (_, symbol) in graph.symbols() {
        if let SymbolKind::Logic(Logic::Equal(a, b)) = &symbol.kind {
            meet(a, b, &mut add);
        }
    }
    for (symbol, value) in &candidates.compared {
        add(*symbol, value);
        // What is computed from an input may be what the input is, or a part of it.
        for &input in &graph.symbol(*symbol).depends {
            add(input, value);
            if let Value::Str(text) = value {
                let first = text.split(['/', ':']).next();
                first
                    .into_iter()
                    .for_each(|part| add(input, &Value::str(part)));
            }
        }
    }
    found
}

/// The symbols in two values, and what they must be for these to be the same.
fn meet(a: &Value, b: &Value, add: &mut impl FnMut(SymbolId, &Value)) {
    match (a, b) {
        (Value::Symbolic(_), Value::Symbolic(_)) => {}
        (Value::Symbolic(symbol), other) | (other, Value::Symbolic(symbol)) => add(*symbol, other),
        (Value::List(a), Value::List(b)) => {
            let items = a.iter().zip(b);
            items.for_each(|(a, b)| meet(&a.value, &b.value, add));
        }
        (Value::Map(a), Value::Map(b)) => {
            for one in a {
                if let Some(other) = field(b, &one.name) {
                    meet(&one.item.value, &other.value, add);
                }
            }
        }
        _ => {}
    }
}
