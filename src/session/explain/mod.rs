//! Why something is wrong: a smallest set of entries of the files that cannot all stay.
//!
//! Entries are left out for as long as the finding stays. What is left is minimal: without any one of its entries, the
//! finding is gone. Nothing is asked of languages or rules but whether the finding is still made, so this works for
//! whatever a check can find.

mod inputs;
mod tree;
mod words;

use std::sync::Arc;

use locus_core::diagnostic::Verdict;
use locus_core::{Diagnostic, FileId, Label, Severity, Sources, Span};
use locus_frontends::language::Chosen;

use super::check::{Given, Report};
use super::discover::Project;
use super::{Cancel, Cancelled, Snapshot};
use tree::{Entries, Written};

/// Checks after which a finding stays unexplained.
const CHECKS: usize = 3000;

/// Why a finding is made.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The inputs with which it is made, where it is not made without any, each with what is given for it.
    pub inputs: Vec<(Chosen, Label)>,
    /// The entries that cannot all stay, each with what it says, in the order of the text.
    pub reasons: Vec<Label>,
    /// The files with nothing in them but those entries and what they need to be read: path and text.
    pub reduced: Vec<(String, String)>,
    /// For each reason, the same without it.
    pub without: Vec<Vec<(String, String)>>,
}

impl Explanation {
    /// All of it: what is given, and the entries.
    pub fn told(self) -> Vec<Label> {
        let given = self.inputs.into_iter().map(|(_, label)| label);
        given.chain(self.reasons).collect()
    }
}

impl Snapshot {
    /// Explains a finding of a report of the project; none when its files cannot be read well enough, or it would take
    /// too long.
    ///
    /// # Errors
    /// When the check was called off.
    pub fn explain(
        &self,
        project: &Project,
        given: &Given,
        report: &Report,
        finding: &Diagnostic,
        cancel: &Cancel,
    ) -> Result<Option<Explanation>, Cancelled> {
        if let Verdict::Violable { .. } = finding.verdict {
            return self.explain_violable(project, given, report, finding, cancel);
        }
        self.explain_with(project, given, &[], report, finding, cancel)
    }

    /// Explains what is found for some inputs: the plain finding that these inputs make.
    fn explain_violable(
        &self,
        project: &Project,
        given: &Given,
        report: &Report,
        finding: &Diagnostic,
        cancel: &Cancel,
    ) -> Result<Option<Explanation>, Cancelled> {
        let shown = inputs::of(report, finding);
        let Some(violable) = shown else {
            return Ok(None);
        };
        let chosen = violable.chosen.as_slice();
        let plain = Given {
            all_inputs: false,
            ..given.clone()
        };
        let loading = self.load_chosen(project, &plain, false, chosen, Sources::new());
        let (_, with) = self.judge(loading, &plain, cancel)?;
        let Some(made) = violable.made(&with) else {
            return Ok(None);
        };
        let explained = self.explain_with(project, &plain, chosen, &with, made, cancel)?;
        let Some(mut explanation) = explained else {
            return Ok(None);
        };
        // What is read of inputs that are given is no part of the files.
        let files: Vec<Option<FileId>> = with
            .sources
            .files()
            .map(|file| inputs::file(&report.sources, with.sources.name(file)))
            .collect();
        let both = explanation.reasons.into_iter().zip(explanation.without);
        let moved = both.filter_map(|(mut reason, without)| {
            let at = with
                .sources
                .files()
                .position(|file| file == reason.span.file)?;
            let file = files.get(at).copied().flatten()?;
            let (start, end) = (reason.span.start as usize, reason.span.end as usize);
            reason.span = Span::new(file, start, end);
            Some((reason, without))
        });
        (explanation.reasons, explanation.without) = moved.unzip();
        let declared = self.load_chosen(project, &plain, true, &[], Sources::new());
        let open = project.language.open_inputs(&declared.loaded);
        // The assignment is the smallest: without any one of them, the files as they are do not make it.
        for one in chosen {
            let input = open.iter().find(|input| input.name == one.name);
            let at = input.and_then(|input| {
                let name = declared.sources.name(input.span.file);
                let file = inputs::file(&report.sources, name)?;
                let (start, end) = (input.span.start as usize, input.span.end as usize);
                Some(Span::new(file, start, end))
            });
            let message = format!("`{}` is given as `{}`", one.name, one.text());
            if let Some(span) = at.or_else(|| finding.primary()) {
                explanation
                    .inputs
                    .push((one.clone(), Label { span, message }));
            }
        }
        Ok(Some(explanation))
    }

    /// What is found in some texts with chosen inputs.
    fn made_of(
        &self,
        project: &Project,
        given: &Given,
        chosen: &[Chosen],
        texts: &[(String, String)],
        cancel: &Cancel,
    ) -> Result<Report, Cancelled> {
        let mut snapshot = self.clone();
        snapshot.memo = None;
        for (path, text) in texts {
            let text: Arc<[u8]> = text.as_bytes().into();
            snapshot.files.overlay(path, Some(text));
        }
        let loading = snapshot.load_chosen(project, given, false, chosen, Sources::new());
        Ok(snapshot.judge(loading, given, cancel)?.1)
    }

    fn explain_with(
        &self,
        project: &Project,
        given: &Given,
        chosen: &[Chosen],
        report: &Report,
        finding: &Diagnostic,
        cancel: &Cancel,
    ) -> Result<Option<Explanation>, Cancelled> {
        let entries = Entries::of(&report.sources);
        let mut snapshot = self.clone();
        snapshot.memo = None;
        let mut search = Search {
            snapshot,
            project,
            given: Given {
                as_instance: false,
                proofs: false,
                ..given.clone()
            },
            chosen,
            report,
            finding,
            entries,
            cancel,
            checks: 0,
            kept: Vec::new(),
            place: None,
            alone: report
                .findings
                .iter()
                .filter(|one| is_alike(finding, one))
                .count()
                < 2,
            forwards: false,
        };
        let last_first = search.explain()?;
        // Which of several minimal sets is found depends on what is left out first: the smaller one is told.
        search.forwards = true;
        let first_first = match &last_first {
            Some(found) if found.reasons.len() > 1 => search.explain()?,
            _ => None,
        };
        Ok(match (last_first, first_first) {
            (Some(a), Some(b)) if b.reasons.len() < a.reasons.len() => Some(b),
            (a, _) => a,
        })
    }
}

struct Search<'a> {
    snapshot: Snapshot,
    project: &'a Project,
    given: Given,
    /// The inputs that it is made with.
    chosen: &'a [Chosen],
    report: &'a Report,
    finding: &'a Diagnostic,
    entries: Entries,
    cancel: &'a Cancel,
    checks: usize,
    kept: Vec<bool>,
    /// The node that the finding points at.
    place: Option<(Span, Span)>,
    /// Whether no other finding says the same.
    alone: bool,
    /// Whether what comes first in the text is left out first.
    forwards: bool,
}

/// Whether two findings say the same, wherever they are.
fn is_alike(one: &Diagnostic, other: &Diagnostic) -> bool {
    let plain = |found: &Diagnostic| found.verdict == Verdict::Violated;
    plain(one) && plain(other) && one.message == other.message && one.code == other.code
}

impl Search<'_> {
    fn explain(&mut self) -> Result<Option<Explanation>, Cancelled> {
        self.kept = vec![true; self.entries.units.len()];
        self.checks = 0;
        // Written anew without leaving anything out, the finding must be the same.
        let written = self.written();
        let primary = self.finding.primary();
        self.place = primary.and_then(|at| self.node_of(at));
        let unmoved = primary.is_none() || self.place.is_some();
        if self.entries.units.is_empty() || !unmoved || !self.is_found(&written)? {
            return Ok(None);
        }
        let roots = self.children(None);
        self.reduce_level(roots)?;
        self.settle()?;
        if self.checks > CHECKS {
            return Ok(None);
        }
        let before = self.outcome(&self.written())?;
        let mut reasons = Vec::new();
        let (mut formal, mut vital) = (Vec::new(), Vec::new());
        for unit in self.leaves() {
            let texts = self.without(unit);
            let after = self.outcome(&texts)?;
            // Without it, nothing is left that anything could be wrong with.
            if after.graph.is_empty() && !before.graph.is_empty() {
                vital.push((unit, texts));
            } else if self.is_formal(unit, &before, &after) {
                formal.push((unit, texts));
            } else {
                reasons.push((unit, texts));
            }
        }
        for others in [formal, vital] {
            if reasons.is_empty() {
                reasons = others;
            }
        }
        let mut explanation = Explanation {
            reduced: self.named(&self.written()),
            ..Explanation::default()
        };
        for (unit, texts) in reasons {
            let Some(span) = self.entries.units.get(unit) else {
                continue;
            };
            let span = span.span(&self.report.sources);
            explanation.reasons.push(Label {
                span,
                message: words::sentence(self.report, &self.entries.units, unit),
            });
            explanation.without.push(self.named(&texts));
        }
        Ok(Some(explanation))
    }

    fn written(&self) -> Vec<Written> {
        self.entries.written(&self.kept, &self.report.sources)
    }

    fn named(&self, written: &[Written]) -> Vec<(String, String)> {
        let name = |one: &Written| self.report.sources.name(one.file).to_owned();
        let texts = written.iter().map(|one| (name(one), one.text.clone()));
        texts.collect()
    }

    /// The texts without one unit more.
    fn without(&mut self, unit: usize) -> Vec<Written> {
        let before = self.kept.clone();
        self.drop_unit(unit);
        let texts = self.written();
        self.kept = before;
        texts
    }

    fn drop_unit(&mut self, unit: usize) {
        let end = self.entries.units.get(unit).map_or(unit, |unit| unit.end);
        if let Some(dropped) = self.kept.get_mut(unit..end) {
            dropped.fill(false);
        }
    }

    fn is_kept(&self, unit: usize) -> bool {
        self.kept.get(unit).copied().unwrap_or(false)
    }

    /// The units that are part of another one, or of none.
    fn children(&self, parent: Option<usize>) -> Vec<usize> {
        let units = self.entries.units.iter().enumerate();
        let own = units.filter(|(at, unit)| unit.parent == parent && self.is_kept(*at));
        own.map(|(at, _)| at).collect()
    }

    /// Units that are kept and have no part that is.
    fn leaves(&self) -> Vec<usize> {
        let units = (0..self.entries.units.len()).filter(|&at| self.is_kept(at));
        units
            .filter(|&at| self.children(Some(at)).is_empty())
            .collect()
    }

    /// Leaves out what can be left out among units, then among the parts of those that stay.
    fn reduce_level(&mut self, mut level: Vec<usize>) -> Result<(), Cancelled> {
        while !level.is_empty() {
            self.reduce(&level)?;
            let staying: Vec<usize> = level.into_iter().filter(|&at| self.is_kept(at)).collect();
            level = staying
                .into_iter()
                .flat_map(|at| self.children(Some(at)))
                .collect();
        }
        Ok(())
    }

    /// Leaves out as many of some units as possible: all at once, or else each half.
    fn reduce(&mut self, units: &[usize]) -> Result<(), Cancelled> {
        if units.is_empty() || self.checks > CHECKS {
            return Ok(());
        }
        let before = self.kept.clone();
        for &unit in units {
            self.drop_unit(unit);
        }
        let written = self.written();
        if self.is_found(&written)? {
            return Ok(());
        }
        self.kept = before;
        if units.len() > 1 {
            let (first, second) = units.split_at(units.len() / 2);
            let halves = match self.forwards {
                true => [first, second],
                false => [second, first],
            };
            for half in halves {
                self.reduce(half)?;
            }
        }
        Ok(())
    }

    /// Leaves out single units until none can be left out any more.
    fn settle(&mut self) -> Result<(), Cancelled> {
        loop {
            let before = self.kept.clone();
            let count = self.entries.units.len();
            for at in 0..count {
                let unit = if self.forwards { at } else { count - 1 - at };
                if self.is_kept(unit) {
                    self.reduce(&[unit])?;
                }
            }
            if self.kept == before || self.checks > CHECKS {
                return Ok(());
            }
        }
    }

    fn outcome(&self, written: &[Written]) -> Result<Report, Cancelled> {
        self.cancel.check()?;
        let texts = self.named(written);
        let Search {
            project,
            given,
            chosen,
            ..
        } = self;
        self.snapshot
            .made_of(project, given, chosen, &texts, self.cancel)
    }

    /// Whether the finding is made about some texts.
    fn is_found(&mut self, written: &[Written]) -> Result<bool, Cancelled> {
        self.checks += 1;
        let report = self.outcome(written)?;
        let mut found = report.findings.iter();
        Ok(found.any(|other| self.is_same(other, &report, written)))
    }

    /// Whether a finding about other texts is the one to explain.
    fn is_same(&self, other: &Diagnostic, report: &Report, written: &[Written]) -> bool {
        let wanted = self.finding;
        if !is_alike(wanted, other) {
            return false;
        }
        if self.alone {
            return true;
        }
        let (Some(place), Some(at)) = (self.place, other.primary()) else {
            return self.place.is_none() && other.primary().is_none();
        };
        let name = report.sources.name(at.file);
        let text = written
            .iter()
            .find(|one| self.report.sources.name(one.file) == name);
        match text {
            Some(text) => text
                .node_at(at)
                .is_some_and(|node| node.0 == place.0 || node.1 == place.1),
            // A file that stays as it is.
            None => wanted.primary().is_some_and(|primary| {
                (primary.start, primary.end) == (at.start, at.end)
                    && self.report.sources.name(primary.file) == name
            }),
        }
    }

    /// The node of the files as they are that holds a place.
    fn node_of(&self, at: Span) -> Option<(Span, Span)> {
        let mut least: Option<(Span, Span)> = None;
        let mut consider = |old: Span, used: Span| {
            for span in [old, used] {
                let holds = span.file == at.file && span.start <= at.start && at.end <= span.end;
                if holds && least.is_none_or(|(one, _)| span.len() < one.len()) {
                    least = Some((old, used));
                }
            }
        };
        for one in self.written() {
            one.each(&mut consider);
        }
        // A file without entries stays as it is.
        least.or(Some((at, at)))
    }

    /// Whether a unit is there only so that the rest can be read: leaving it out is a mistake of its own, and the finding
    /// speaks neither of its place nor of its value, nor does it refer to anything.
    fn is_formal(&self, unit: usize, before: &Report, after: &Report) -> bool {
        let Some(one) = self.entries.units.get(unit) else {
            return true;
        };
        // What is left of other objects may lack the same.
        let times = |report: &Report, found: &Diagnostic| {
            let all = report.findings.iter();
            all.filter(|other| other.code == found.code && other.message == found.message)
                .count()
        };
        let is_new = |found: &Diagnostic| {
            found.severity == Severity::Error && times(after, found) > times(before, found)
        };
        if !after.findings.iter().any(is_new) {
            return false;
        }
        let touches = |span: Span| {
            let own = |part: Span| {
                part.file == span.file
                    && part.start < span.end.max(span.start + 1)
                    && span.start < part.end
            };
            own(one.value) || one.key.is_some_and(own)
        };
        let finding = self.finding;
        let spoken = finding.labels.iter().chain(&finding.related);
        if spoken.map(|label| label.span).any(touches) {
            return false;
        }
        let value = self.report.sources.snippet(one.value);
        let value = value.trim().trim_matches(['"', '\'']);
        if value.len() > 1 && finding.message.contains(&format!("`{value}`")) {
            return false;
        }
        !words::is_reference(self.report, one)
    }
}
