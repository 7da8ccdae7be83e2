//! What could not be checked with some inputs, though it could with those of the plain check.

use std::collections::BTreeMap;

use locus_core::diagnostic::Verdict;
use locus_core::{Diagnostic, Severity, Sources};

use super::goals::Row;
use super::trial::{Said, Trials};
use super::{inputs, listed};

/// What could not be checked, by what is said of it.
#[derive(Default)]
pub(super) struct Gaps {
    found: BTreeMap<String, Gap>,
}

struct Gap {
    said: Diagnostic,
    sources: Sources,
    row: usize,
}

impl Gaps {
    /// Notes what a check could not decide that the plain one could, with the first inputs for which that is so.
    pub(super) fn note(&mut self, base: &Said, said: &Said, row: usize) {
        let key = |one: &Diagnostic| format!("{}: {}", one.code, one.message);
        for one in &said.unchecked {
            if !base.unchecked.iter().any(|known| key(known) == key(one)) {
                self.found.entry(key(one)).or_insert_with(|| Gap {
                    said: one.clone(),
                    sources: said.sources.clone(),
                    row,
                });
            }
        }
    }

    /// What is to be said of that.
    pub(super) fn told(
        self,
        trials: &Trials<'_>,
        rows: &[Row],
        sources: &mut Sources,
    ) -> Vec<Diagnostic> {
        let told = self.found.into_values().map(|gap| {
            let row = rows.get(gap.row).map(|row| row.chosen.as_slice());
            let chosen = trials.chosen(row.unwrap_or_default());
            let shown: Vec<String> = inputs(&chosen).iter().map(ToString::to_string).collect();
            let files = sources.merge(vec![gap.sources]);
            let mut open = gap.said;
            open.move_to(files.first().map_or(&[], Vec::as_slice));
            let why = open.message;
            open.message = format!("with {}, {why}", listed(&shown));
            open.severity = Severity::Info;
            open.verdict = Verdict::Undecided { why };
            open
        });
        told.collect()
    }
}
