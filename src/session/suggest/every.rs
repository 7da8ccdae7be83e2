//! What is found for some inputs is mended by limits of these inputs.

use std::collections::{BTreeMap, BTreeSet};

use locus_core::diagnostic::Verdict;
use locus_core::{Label, Sources, Span};
use locus_frontends::language::OpenInput;

use super::super::{Cancelled, Violable};
use super::tighten::tighter;
use super::{EDITS, Mended, Search, Suggestion};
use crate::session::Report;

/// What is found for some inputs, by its code, its file and the text of its line, as edits move lines.
type Found = (String, String, String);

/// Edits that are tried for one finding.
const TRIED: usize = 12;

fn found(report: &Report, one: &Violable) -> Found {
    let mut files = report.sources.files();
    let file = files.find(|&file| *report.sources.name(file) == *one.file);
    let text = file.map_or("", |file| report.sources.text(file));
    let line = text.lines().nth(one.line.saturating_sub(1)).unwrap_or("");
    // Where a value is given, its declaration is what is edited.
    let line = if one.in_value { "" } else { line.trim() };
    (one.code.clone(), one.file.clone(), line.to_owned())
}

fn all_found(report: &Report) -> BTreeMap<Found, usize> {
    let mut all = BTreeMap::new();
    for one in &report.everything.violable {
        *all.entry(found(report, one)).or_default() += 1;
    }
    all
}

/// What is found without any input.
fn violated(report: &Report) -> BTreeSet<(&str, &str)> {
    let findings = report.findings.iter();
    let plain = findings.filter(|one| one.verdict == Verdict::Violated);
    plain
        .map(|one| (one.code.as_str(), one.message.as_str()))
        .collect()
}

/// What is said of something that is found for some inputs, by itself or in a note.
fn said(report: &Report, one: &Violable) -> String {
    let mut found = String::new();
    for finding in &report.findings {
        let here = |label: &&Label| label.span.start == one.start;
        if finding.code == one.code && finding.labels.first().as_ref().is_some_and(here) {
            found.push_str(&finding.message);
        }
        let related = finding.related.iter().filter(here);
        related
            .filter(|label| label.message.starts_with(&one.code))
            .for_each(|label| found.push_str(&label.message));
    }
    found
}

impl Search<'_> {
    /// Adds limits of inputs to a suggestion, and counts what they mend.
    pub(super) fn every(&mut self, suggestion: &mut Suggestion) -> Result<(), Cancelled> {
        let edited = std::mem::take(&mut self.texts);
        let first = self.check_every(&BTreeMap::new())?.findings.len();
        self.texts = edited;
        let mut report = self.check_every(&BTreeMap::new())?;
        let mut hopeless: BTreeSet<Found> = BTreeSet::new();
        while suggestion.titles.len() < EDITS {
            let open = report.everything.violable.iter();
            let open = open.filter(|one| !hopeless.contains(&found(&report, one)));
            let Some(target) = open.into_iter().next().cloned() else {
                break;
            };
            match self.limited(&report, &target)? {
                Some(mended) => report = self.take(suggestion, &report, mended),
                None => {
                    hopeless.insert(found(&report, &target));
                }
            }
        }
        suggestion.mended = first.saturating_sub(report.findings.len());
        suggestion.left = report.findings.len();
        Ok(())
    }

    /// A limit of an input after which something is found for none, and nothing new is found; with the texts it changes.
    fn limited(&self, report: &Report, target: &Violable) -> Result<Option<Mended>, Cancelled> {
        let key = found(report, target);
        let before = all_found(report);
        let (inputs, sources) = self.inputs();
        for chosen in &target.chosen {
            let Some(input) = inputs.iter().find(|input| input.name == chosen.name) else {
                continue;
            };
            let Some(declared) = moved(input.span, &sources, &report.sources) else {
                continue;
            };
            let language = self.project.language;
            let bad = &chosen.value;
            let said = said(report, target);
            let edits = tighter(language, &report.sources, input, declared, bad, &said);
            for candidate in edits.into_iter().take(TRIED) {
                let Some(texts) = super::apply(&report.sources, &candidate.edits) else {
                    continue;
                };
                // Most limits that do not help are seen to be refused by a plain check.
                let plain = self.check(&texts)?;
                if !violated(&plain).is_subset(&violated(report)) {
                    continue;
                }
                let after = self.check_every(&texts)?;
                let now = all_found(&after);
                let none_new = now
                    .iter()
                    .all(|(key, count)| before.get(key) >= Some(count));
                let checked = after.unchecked.len() <= report.unchecked.len();
                let plain = violated(&after).is_subset(&violated(report));
                if none_new && checked && plain && now.get(&key) < before.get(&key) {
                    return Ok(Some((candidate, texts, after)));
                }
            }
        }
        Ok(None)
    }

    /// The inputs as they are declared now.
    fn inputs(&self) -> (Vec<OpenInput>, Sources) {
        let snapshot = self.snapshot_with(&BTreeMap::new());
        let open = snapshot.load_chosen(self.project, self.given, true, &[], Sources::new());
        let inputs = self.project.language.open_inputs(&open.loaded);
        (inputs, open.sources)
    }

    fn check_every(&self, texts: &BTreeMap<String, String>) -> Result<Report, Cancelled> {
        let mut report = self.check(texts)?;
        let snapshot = self.snapshot_with(texts);
        snapshot.every_input(self.project, self.given, &mut report, self.cancel)?;
        Ok(report)
    }
}

/// A place of one load in the sources of another.
fn moved(span: Span, from: &Sources, to: &Sources) -> Option<Span> {
    let name = from.name(span.file);
    let mut files = to.files();
    let file = files.find(|&file| to.name(file) == name)?;
    Some(Span::new(file, span.start as usize, span.end as usize))
}
