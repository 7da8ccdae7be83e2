//! Plain checks of one project with chosen inputs, each made once.

use std::sync::{Arc, Mutex, PoisonError};

use locus_core::memory::Memory;
use locus_core::{Diagnostic, Sources, Span};
use locus_frontends::language::Chosen;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::check::{Given, Report};
use super::super::discover::Project;
use super::super::files::Trace;
use super::super::settings::Settings;
use super::super::{Cancel, Cancelled, Snapshot};
use super::goals::Row;
use super::values::Tried;

/// What tells one finding from another: its code, and where it is.
pub(super) type Key = (String, String, u32, u32);

/// What a plain check said.
#[derive(Debug)]
pub(super) struct Said {
    findings: FxHashMap<Key, Diagnostic>,
    /// What could not be checked.
    pub(super) unchecked: Vec<Diagnostic>,
    pub(super) sources: Sources,
}

impl Said {
    pub(super) fn of(
        findings: Vec<Diagnostic>,
        unchecked: Vec<Diagnostic>,
        sources: Sources,
    ) -> Self {
        let keyed = findings.into_iter();
        let keyed = keyed.map(|finding| (key(&finding, &sources), finding));
        Said {
            findings: keyed.collect(),
            unchecked,
            sources,
        }
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Diagnostic> {
        self.findings.get(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.findings.keys()
    }
}

/// The key of a finding.
pub(super) fn key(finding: &Diagnostic, sources: &Sources) -> Key {
    let code = finding.code.clone();
    match finding.primary() {
        Some(span) => place_of(code, span, sources),
        None => (code, String::new(), 0, 0),
    }
}

/// The key of what is found at a place.
pub(super) fn place_of(code: String, span: Span, sources: &Sources) -> Key {
    let name = sources.name(span.file).to_owned();
    (code, name, span.start, span.end)
}

/// Makes plain checks.
pub(super) struct Trials<'a> {
    snapshot: &'a Snapshot,
    project: &'a Project,
    given: Given,
    tried: &'a [Tried],
    cancel: &'a Cancel,
    /// The settings, which no input changes.
    settings: (Arc<Settings>, Arc<Trace>),
    /// What was made of the files.
    memory: Arc<Memory>,
    /// The files of the plain check.
    files: FxHashSet<String>,
    known: Mutex<FxHashMap<Vec<usize>, Arc<Said>>>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        project: &'a Project,
        given: &Given,
        tried: &'a [Tried],
        base: Arc<Said>,
        memory: Arc<Memory>,
        cancel: &'a Cancel,
    ) -> Self {
        let names = base.sources.files().map(|file| base.sources.name(file));
        let files = names.map(str::to_owned).collect();
        let known = FxHashMap::from_iter([(vec![0; tried.len()], base)]);
        Trials {
            settings: snapshot.settings(project, given),
            snapshot,
            project,
            given: Given {
                all_inputs: false,
                as_instance: false,
                proofs: false,
                ..given.clone()
            },
            tried,
            cancel,
            memory,
            files,
            known: Mutex::new(known),
        }
    }

    /// The values that an assignment gives to inputs.
    pub(super) fn chosen(&self, row: &[usize]) -> Vec<Chosen> {
        let mut chosen = Vec::new();
        for (tried, &at) in self.tried.iter().zip(row) {
            if let Some(Some(value)) = tried.values.get(at) {
                chosen.push(Chosen {
                    name: tried.input.name.clone(),
                    value: value.clone(),
                });
            }
        }
        chosen
    }

    /// What a plain check says with these values.
    pub(super) fn run(&self, row: &[usize]) -> Result<Arc<Said>, Cancelled> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(said) = known().get(row) {
            return Ok(said.clone());
        }
        self.cancel.check()?;
        let sources = Sources::remembering(self.memory.clone());
        let chosen = self.chosen(row);
        let loading = self.snapshot.load_with(
            self.project,
            &self.given,
            false,
            &chosen,
            sources,
            self.settings.clone(),
        );
        let given = &self.given;
        let (_, report) = self
            .snapshot
            .judge_and_mend(loading, given, false, self.cancel)?;
        let Report {
            findings,
            unchecked,
            sources,
            ..
        } = report;
        // What is found in a chosen value itself, as if it were a file, is one finding wherever it is.
        let is_own = |finding: &Diagnostic| {
            let name = finding.primary().map(|span| sources.name(span.file));
            name.is_none_or(|name| self.files.contains(name))
        };
        let (mut findings, elsewhere): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_own);
        findings.extend(elsewhere.into_iter().map(|mut finding| {
            finding.labels.clear();
            finding
        }));
        let said = Arc::new(Said::of(findings, unchecked, sources));
        known().insert(row.to_vec(), said.clone());
        Ok(said)
    }

    /// The same for many.
    pub(super) fn run_all(&self, rows: &[Row]) -> Result<Vec<Arc<Said>>, Cancelled> {
        rows.par_iter().map(|row| self.run(&row.chosen)).collect()
    }
}
