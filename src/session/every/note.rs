//! Inputs that accept anything: one note for each, not a warning for each rule.

use std::collections::BTreeMap;

use locus_core::diagnostic::Verdict;
use locus_core::value::{Value, ValueType};
use locus_core::{Diagnostic, Severity, Sources};
use locus_frontends::language::Language;

use super::inputs;
use super::shrink::Shown;
use super::trial::key;
use super::values::Tried;
use super::witness::Violable;

/// A finding to report, and what it is made of.
pub(super) struct Noted {
    pub(super) finding: Diagnostic,
    pub(super) sources: Sources,
    pub(super) violable: Vec<Violable>,
}

/// Rules that a note names.
const NAMED: usize = 4;

/// Folds what a single input without limits breaks into one note on that input.
pub(super) fn fold(shown: Vec<Shown>, tried: &[Tried], language: &dyn Language) -> Vec<Noted> {
    let mut found = Vec::new();
    let mut by_input: BTreeMap<usize, Vec<Shown>> = BTreeMap::new();
    for one in shown {
        match one.given.as_slice() {
            [at] if tried.get(*at).is_some_and(|tried| !tried.exact) => {
                by_input.entry(*at).or_default().push(one);
            }
            _ => found.push(warning(one)),
        }
    }
    for (at, shown) in by_input {
        // One place that it breaks is shown there; several, in whatever rule, are one question to whoever declares it.
        match tried.get(at).filter(|_| shown.len() > 1) {
            Some(tried) => found.extend(note(tried, shown, language)),
            None => found.extend(shown.into_iter().map(warning)),
        }
    }
    found
}

/// A finding of its own.
fn warning(shown: Shown) -> Noted {
    Noted {
        violable: vec![violable(&shown)],
        finding: shown.finding,
        sources: shown.sources,
    }
}

fn violable(shown: &Shown) -> Violable {
    let (code, file, start, _) = key(&shown.finding, &shown.sources);
    let place = shown.finding.primary();
    let line = place.map_or(0, |span| shown.sources.start(span).line);
    Violable {
        code,
        file,
        start,
        line,
        chosen: shown.chosen.clone(),
        in_value: shown.in_value,
    }
}

/// The value of the one input that shows it.
fn value(shown: &Shown) -> Option<&Value> {
    shown.chosen.first().map(|chosen| &chosen.value)
}

/// The note on one input.
fn note(tried: &Tried, mut shown: Vec<Shown>, language: &dyn Language) -> Option<Noted> {
    shown.sort_by(|a, b| a.finding.code.cmp(&b.finding.code));
    let first = shown.first()?;
    let mut said: Vec<(String, Value)> = Vec::new();
    for one in &shown {
        if let Some(value) = value(one).cloned()
            && !said.iter().any(|(code, _)| *code == one.finding.code)
        {
            said.push((one.finding.code.clone(), value));
        }
    }
    let breaks = |(code, value): &(String, Value)| {
        let same = |one: &&Shown| {
            one.finding.code == *code && self::value(one).is_some_and(|own| own.same(value))
        };
        match shown.iter().filter(same).count() {
            0 | 1 => format!("`{value}` breaks {code}"),
            places => format!("`{value}` breaks {code} in {places} places"),
        }
    };
    let mut words: Vec<String> = said.iter().take(NAMED).map(breaks).collect();
    if said.len() > NAMED {
        words.push(format!("{} more", said.len() - NAMED));
    }
    let name = &tried.input.name;
    let domain = &tried.input.domain;
    let accepts = match (domain.constraints.is_empty(), domain.ty) {
        (true, ValueType::Int | ValueType::Number) => "accepts any number",
        (true, _) => "accepts anything",
        (false, _) => "accepts too much",
    };
    let message = format!("`{name}` {accepts}: {}", words.join(", "));
    let mut finding = Diagnostic::new(Severity::Info, "free-input", message);
    finding = finding.at(tried.input.span);
    let bad: Vec<&Value> = said.iter().map(|(_, value)| value).collect();
    if let Some(limit) = language.tighten(&bad, tried.input.default.as_ref()) {
        finding = finding.help(limit);
    }
    let mut sources = Sources::new();
    let files = sources.merge(shown.iter().map(|one| one.sources.clone()).collect());
    // The first file of a load is the same in each of them.
    finding.move_to(files.first().map_or(&[], Vec::as_slice));
    for (one, files) in shown.iter().zip(&files) {
        let mut moved = one.finding.clone();
        moved.move_to(files);
        if let Some(span) = moved.primary() {
            finding = finding.related(span, format!("{}: {}", moved.code, moved.message));
        }
    }
    finding.verdict = Verdict::Violable {
        inputs: inputs(&first.chosen),
    };
    Some(Noted {
        finding,
        sources,
        violable: shown.iter().map(violable).collect(),
    })
}
