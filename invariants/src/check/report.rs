//! What breaks a rule, told to the user.

use std::collections::VecDeque;
use std::sync::Arc;

use locus_core::diagnostic::{Flow, FlowKind, Member, Verdict};
use locus_core::{Diagnostic, Severity, Span, suggest};
use rustc_hash::FxHashMap;

use super::mend::Texts;
use crate::engine::{Atom, Database};
use crate::logic::VarId;
use crate::rules::{Path, Piece, Program, RuleProgram, Template};

/// More names than this in one hole are counted instead of listed.
const NAMES: usize = 8;

/// The values of a rule's variables in one violation.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) values: Vec<(VarId, Atom)>,
}

pub(super) struct Reporter<'a> {
    pub(super) program: &'a Program,
    pub(super) database: &'a Database,
    /// What edits are made for.
    pub(super) texts: Option<&'a Texts<'a>>,
}

impl Reporter<'_> {
    /// The finding that a violation is.
    pub(super) fn finding(&self, rule: &RuleProgram, binding: &Binding) -> Diagnostic {
        let doc = &rule.rule;
        let message = self.fill(&doc.message, binding);
        let softer = doc.softer.as_ref();
        let severity = match softer.is_some_and(|path| !self.resolve(path, binding).is_empty()) {
            true => doc.severity.min(Severity::Warning),
            false => doc.severity,
        };
        let mut diagnostic = Diagnostic::new(severity, doc.id.clone(), message);
        let mut primary: Option<Span> = None;
        // What is not given has no place; when none of the places is there, the first stands for all.
        let given = |path: &&Path| self.place(path, binding, true).is_some();
        let strict = doc.places.iter().any(|place| given(&&place.path));
        for place in &doc.places {
            let Some((span, atom)) = self.place(&place.path, binding, strict) else {
                continue;
            };
            let text = self.fill(&place.text, binding);
            let same_file = primary.is_none_or(|primary| primary.file == span.file);
            let new = diagnostic.labels.iter().all(|label| label.span != span);
            if same_file && new {
                diagnostic = diagnostic.label(span, text);
            } else if !same_file {
                diagnostic = diagnostic.related(span, text);
            }
            if primary.is_none() {
                primary = Some(span);
                // A member of a group is written where the group is.
                let included = self.database.atom(atom).included_by.iter();
                for included in included.filter(|included| **included != span) {
                    diagnostic = diagnostic.related(*included, "included here");
                }
            }
        }
        for path in &doc.each {
            for (atom, span) in self.resolve(path, binding) {
                let Some(span) = span.or(self.database.atom(atom).span) else {
                    continue;
                };
                let text = self.database.atom(atom).name.to_string();
                let primary = *primary.get_or_insert(span);
                let mut said = diagnostic.labels.iter().chain(&diagnostic.related);
                if said.any(|label| label.span == span && label.message == text) {
                    continue;
                }
                diagnostic = match primary.file == span.file {
                    true => diagnostic.label(span, text),
                    false => diagnostic.related(span, text),
                };
            }
        }
        if primary.is_none() {
            let anchors = binding.values.iter();
            let span = anchors
                .filter_map(|&(_, atom)| self.database.atom(atom).span)
                .next();
            if let Some(span) = span {
                diagnostic = diagnostic.at(span);
            }
        }
        let said = |help: &&Template| {
            let mut paths = help.pieces.iter().filter_map(|piece| match piece {
                Piece::Names(path) => Some(path),
                _ => None,
            });
            paths.all(|path| !self.names(path, binding).is_empty())
                && !self.fill(help, binding).trim().is_empty()
        };
        let help = doc.help.iter().find(said);
        diagnostic.members = self.members(rule, binding);
        diagnostic.flows.extend(self.inclusion(rule, binding));
        diagnostic.flows.extend(self.cycles(&doc.message, binding));
        diagnostic.flows.extend(self.flow(rule, binding));
        diagnostic.fixes = self.fixes(&doc.fixes, binding);
        diagnostic.maybe_help(help.map(|help| self.fill(help, binding)))
    }

    fn member(&self, atom: Atom, span: Option<Span>) -> Member {
        let info = self.database.atom(atom);
        Member {
            name: info.name.to_string(),
            span: span.or(info.span),
        }
    }

    /// What the anchors of a rule are.
    fn members(&self, rule: &RuleProgram, binding: &Binding) -> Vec<Member> {
        let values = binding.values.iter();
        let anchored = values.filter(|(var, _)| rule.anchors.contains(var));
        anchored.map(|&(_, atom)| self.member(atom, None)).collect()
    }

    /// How what a finding points at first came to be part of the configuration.
    fn inclusion(&self, rule: &RuleProgram, binding: &Binding) -> Option<Flow> {
        let places = rule.rule.places.iter();
        let (_, atom) = places
            .filter_map(|place| self.place(&place.path, binding, false))
            .next()?;
        let info = self.database.atom(atom);
        if info.included_by.is_empty() {
            return None;
        }
        let by = info.included_by.iter().map(|&span| Member {
            name: String::new(),
            span: Some(span),
        });
        Some(Flow {
            kind: FlowKind::Inclusion,
            steps: std::iter::once(self.member(atom, None)).chain(by).collect(),
        })
    }

    /// The steps that a rule says lead to what is wrong.
    fn flow(&self, rule: &RuleProgram, binding: &Binding) -> Option<Flow> {
        let (start, field) = rule.rule.flow.as_ref()?;
        let (first, _) = *self.resolve(start, binding).first()?;
        let mut way = vec![first];
        while let Some(&last) = way.last()
            && let Some(&(next, _)) = self.follow(last, field).first()
            && !way.contains(&next)
        {
            way.push(next);
        }
        let steps = way.iter().map(|&atom| self.member(atom, None)).collect();
        Some(Flow {
            kind: FlowKind::Chain,
            steps,
        })
    }

    /// The cycles that a message names.
    fn cycles(&self, message: &Template, binding: &Binding) -> Vec<Flow> {
        let chains = message.pieces.iter().filter_map(|piece| match piece {
            Piece::Chain(path, field) => Some((path, field)),
            _ => None,
        });
        let starts = chains.flat_map(|(path, field)| {
            let starts = self.resolve(path, binding).into_iter();
            starts.map(move |(atom, _)| self.cycle(atom, field))
        });
        let cycles = starts.map(|way| Flow {
            kind: FlowKind::Cycle,
            steps: way.iter().map(|&atom| self.member(atom, None)).collect(),
        });
        cycles.collect()
    }

    /// That it could not be decided whether something breaks a rule.
    pub(super) fn undecided(&self, rule: &RuleProgram, binding: &Binding, why: &str) -> Diagnostic {
        let mut diagnostic = self.finding(rule, binding);
        diagnostic.severity = Severity::Warning;
        let title = &rule.rule.title;
        diagnostic.message = format!("could not decide whether {title}: {why}");
        diagnostic.help = None;
        diagnostic.fixes.clear();
        diagnostic.verdict = Verdict::Undecided {
            why: why.to_owned(),
        };
        diagnostic
    }

    fn var(&self, name: &str, binding: &Binding) -> Option<Atom> {
        let named = |&&(var, _): &&(VarId, Atom)| self.program.terms.var_name(var) == name;
        binding.values.iter().find(named).map(|&(_, atom)| atom)
    }

    /// What a field leads to from an atom, with where that is written.
    fn follow(&self, atom: Atom, field: &str) -> Vec<(Atom, Option<Span>)> {
        let mut found = Vec::new();
        for relation in self.program.fields(field) {
            let table = self.database.table(relation);
            for &at in table.starting(atom) {
                if let Some(&last) = table.row(at as usize).last() {
                    found.push((last, table.span(at as usize)));
                }
            }
        }
        found
    }

    /// What a path leads to; the place of each is that of the last field, or its own.
    fn resolve(&self, path: &Path, binding: &Binding) -> Vec<(Atom, Option<Span>)> {
        let mut found: Vec<(Atom, Option<Span>)> = match self.var(&path.start, binding) {
            Some(atom) => vec![(atom, self.database.atom(atom).span)],
            None => match self.program.sig(&path.start) {
                Some(sig) => {
                    let table = self.database.table(sig);
                    (0..table.len())
                        .filter_map(|at| table.row(at).first())
                        .map(|&atom| (atom, self.database.atom(atom).span))
                        .collect()
                }
                None => Vec::new(),
            },
        };
        for field in &path.fields {
            found = found
                .iter()
                .flat_map(|&(atom, _)| self.follow(atom, field))
                .collect();
        }
        found
    }

    /// Where a path leads; unless strict, as far as it goes.
    pub(super) fn place(
        &self,
        path: &Path,
        binding: &Binding,
        strict: bool,
    ) -> Option<(Span, Atom)> {
        let start = self.var(&path.start, binding)?;
        let mut place = self.database.atom(start).span.map(|span| (span, start));
        let mut atoms = vec![start];
        for field in &path.fields {
            let next: Vec<(Atom, Option<Span>)> = atoms
                .iter()
                .flat_map(|&atom| self.follow(atom, field))
                .collect();
            // Of several, what the rule speaks of.
            let bound = |atom: Atom| binding.values.iter().any(|&(_, value)| value == atom);
            let meant = next
                .iter()
                .find(|(atom, span)| span.is_some() && bound(*atom));
            let Some((_, Some(span))) =
                meant.or_else(|| next.iter().find(|(_, span)| span.is_some()))
            else {
                if strict {
                    return None;
                }
                break;
            };
            place = Some((*span, start));
            atoms = next.into_iter().map(|(atom, _)| atom).collect();
        }
        place
    }

    pub(super) fn names(&self, path: &Path, binding: &Binding) -> Vec<Arc<str>> {
        let mut names: Vec<Arc<str>> = Vec::new();
        for (atom, _) in self.resolve(path, binding) {
            let name = &self.database.atom(atom).name;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    pub(super) fn fill(&self, template: &Template, binding: &Binding) -> String {
        let mut out = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Names(path) => {
                    let names = self.names(path, binding);
                    let more = names.len().saturating_sub(NAMES);
                    let listed: Vec<&str> = names.iter().take(NAMES).map(|n| &**n).collect();
                    // Each name stands in the quotes that the author put around the hole.
                    let quoted = out.ends_with('`');
                    out.push_str(&listed.join(if quoted { "`, `" } else { ", " }));
                    if more > 0 {
                        let tail = format!(" and {more} more");
                        out.push_str(&tail);
                    }
                }
                Piece::Chain(path, field) => {
                    for (atom, _) in self.resolve(path, binding) {
                        let names: Vec<String> = self
                            .cycle(atom, field)
                            .into_iter()
                            .map(|atom| format!("`{}`", self.database.atom(atom).name))
                            .collect();
                        out.push_str(&names.join(" -> "));
                    }
                }
                Piece::Suggest(path, from) => {
                    let names = self.names(path, binding);
                    let candidates = self.names(from, binding);
                    let candidates = candidates.iter().map(|name| &**name);
                    if let Some(name) = names.first()
                        && let Some(hint) = suggest::did_you_mean(name, candidates)
                    {
                        out.push_str(&hint);
                    }
                }
                Piece::Nearest(path, from) => {
                    let names = self.names(path, binding);
                    let candidates = self.names(from, binding);
                    let candidates = candidates.iter().map(|name| &**name);
                    if let Some(name) = names.first()
                        && let Some(nearest) = suggest::nearest(name, candidates)
                    {
                        out.push_str(nearest);
                    }
                }
            }
        }
        out
    }

    /// The shortest way from an atom back to itself by a field.
    fn cycle(&self, start: Atom, field: &str) -> Vec<Atom> {
        let mut before: FxHashMap<Atom, Atom> = FxHashMap::default();
        let mut open = VecDeque::from([start]);
        while let Some(atom) = open.pop_front() {
            for (next, _) in self.follow(atom, field) {
                if next == start {
                    let mut way = vec![start];
                    let mut at = atom;
                    while at != start {
                        way.push(at);
                        match before.get(&at) {
                            Some(&previous) => at = previous,
                            None => break,
                        }
                    }
                    way.push(start);
                    way.reverse();
                    return way;
                }
                if next != start && !before.contains_key(&next) {
                    before.insert(next, atom);
                    open.push_back(next);
                }
            }
        }
        vec![start]
    }
}
