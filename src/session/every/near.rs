//! Values near those that rules hold an input against: of an address that must be in a block, some in it and some not.

use locus_core::LocationGraph;
use locus_core::value::{SymbolId, Value};
use locus_core::values::{Address, Cidr};
use locus_invariants::Candidates;
use rustc_hash::FxHashMap;

/// Values near others that an input is tried with, at most.
const MOST: usize = 8;

/// The values near those that decide together with each symbol.
pub(super) fn near(
    graph: &LocationGraph,
    candidates: &Candidates,
) -> FxHashMap<SymbolId, Vec<Value>> {
    let mut found: FxHashMap<SymbolId, Vec<Value>> = FxHashMap::default();
    for (symbol, value) in &candidates.met {
        let Value::Str(text) = value else { continue };
        let behind = graph.symbol(*symbol).depends.iter();
        for symbol in behind.chain([symbol]) {
            let known = found.entry(*symbol).or_default();
            for text in beside(text) {
                let value = Value::str(text);
                if known.len() < MOST && !known.iter().any(|own| own.same(&value)) {
                    known.push(value);
                }
            }
        }
    }
    found
}

/// An address itself; a block too, with its first addresses, its last, and the one after it.
fn beside(text: &str) -> Vec<String> {
    if Address::parse(text).is_some() {
        return vec![text.to_owned()];
    }
    let Some(block) = Cidr::parse(text) else {
        return Vec::new();
    };
    let after = block.last().plus(1);
    let edges = [block.network, block.first_host(), block.last()].into_iter();
    let edges = edges.chain(after).map(|address| address.to_string());
    edges.chain([text.to_owned()]).collect()
}
