//! A configuration as it is with all inputs open, but for what some of them name.

use locus_core::value::SymbolId;
use locus_frontends::language::OpenInput;
use locus_invariants::Candidates;
use rustc_hash::FxHashMap;

use super::super::check::Loading;
use super::names::Named;
use super::{Links, compared, names};

/// What is loaded, and what may break a rule there.
pub(super) struct Look {
    /// What inputs name.
    pub(super) named: Named,
    pub(super) loading: Loading,
    pub(super) candidates: Candidates,
    /// The other inputs.
    pub(super) inputs: Vec<OpenInput>,
}

impl Look {
    pub(super) fn new(
        named: Named,
        loading: Loading,
        candidates: Candidates,
        inputs: Vec<OpenInput>,
    ) -> Self {
        Look {
            named,
            loading,
            candidates,
            inputs,
        }
    }

    /// The positions of its inputs among all, by their symbols.
    pub(super) fn positions(&self, all: &[OpenInput]) -> FxHashMap<SymbolId, usize> {
        if self.named.is_empty() {
            return names::positions(all);
        }
        let own = self.inputs.iter();
        let position = |own: &OpenInput| {
            let at = all.iter().position(|input| input.name == own.name)?;
            Some((own.symbol, at))
        };
        own.filter_map(position).collect()
    }

    /// The inputs that are compared with each other here, by their positions among all.
    pub(super) fn links(&self, all: &[OpenInput]) -> Links {
        let links = compared::links(&self.loading.loaded.graph, &self.candidates, &self.inputs);
        let position = |at: usize| {
            let own = self.inputs.get(at)?;
            all.iter().position(|input| input.name == own.name)
        };
        let of = |(one, other): (usize, usize)| Some((position(one)?, position(other)?));
        links.into_iter().filter_map(of).collect()
    }
}
