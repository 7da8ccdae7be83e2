//! What would mend a project: few small edits after which no rule is broken.
//!
//! Edits come from a fixed vocabulary ([`candidates`]) and are tried on the text itself: an edit helps when a finding is gone,
//! nothing new is found and nothing stays unchecked that was checked before. Of those that help, a solver chooses the
//! fewest that mend everything together ([`choose`]). What is left then is mended one by one, with what explains it and
//! with pairs of edits.

mod candidates;
mod choose;
mod every;
mod tighten;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use locus_core::diagnostic::{Applicability, Edit};
use locus_core::{Diagnostic, Sources};

use super::check::{Given, Report};
use super::discover::Project;
use super::{Cancel, Cancelled, Snapshot};
use candidates::{Candidate, candidates};
use choose::Choice;

/// The most edits that one suggestion has.
const EDITS: usize = 40;

/// Edits for one finding that are tried alone before the solver chooses.
const ALONE: usize = 24;

/// Edits that the solver chooses from.
const TOGETHER: usize = 240;

/// How often the solver proposes edits.
const PROPOSALS: usize = 24;

/// The edits that are tried in pairs when none helps alone.
const PAIRED: usize = 10;

/// Edits that mend a project, verified by checking it with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// What is done, one line for each edit.
    pub titles: Vec<String>,
    /// How safely all of it can be applied.
    pub applicability: Option<Applicability>,
    /// The files that change: path, text before and text after.
    pub files: Vec<Changed>,
    /// How many findings are gone.
    pub mended: usize,
    /// How many findings no edit was found for.
    pub left: usize,
}

/// A file that a suggestion changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its path.
    pub path: String,
    /// Its text as it is.
    pub before: String,
    /// Its text with the edits.
    pub after: String,
}

impl Suggestion {
    /// The edits as a unified diff that `patch -p1` and `git apply` read.
    pub fn diff(&self) -> String {
        let files = self.files.iter().map(|file| {
            let path = file.path.trim_start_matches("./");
            let (before, after) = (file.before.as_str(), file.after.as_str());
            let diff = similar::TextDiff::from_lines(before, after);
            let (old, new) = (format!("a/{path}"), format!("b/{path}"));
            diff.unified_diff().header(&old, &new).to_string()
        });
        files.collect()
    }
}

impl Snapshot {
    /// Looks for edits after which a project breaks no rule; none when nothing is wrong with it, or nothing helps. With
    /// `safe_only`, edits are those that rules call safe.
    ///
    /// # Errors
    /// When it was called off.
    pub fn suggest(
        &self,
        project: &Project,
        given: &Given,
        safe_only: bool,
        cancel: &Cancel,
    ) -> Result<Option<Suggestion>, Cancelled> {
        let mut snapshot = self.clone();
        snapshot.memo = None;
        let mut search = Search {
            snapshot,
            project,
            given,
            safe_only,
            cancel,
            texts: BTreeMap::new(),
        };
        search.run()
    }
}

/// Edits that help, the texts they change and what is found in them.
type Mended = (Candidate, BTreeMap<String, String>, Report);

/// The texts with edits, and what is found in them.
type Edited = (BTreeMap<String, String>, Report);

struct Search<'a> {
    snapshot: Snapshot,
    project: &'a Project,
    given: &'a Given,
    safe_only: bool,
    cancel: &'a Cancel,
    /// The texts of the files that were changed, before and after.
    texts: BTreeMap<String, (String, String)>,
}

/// The findings of a report, each as often as it is made.
fn counted(report: &Report) -> BTreeMap<(String, String), usize> {
    let mut counts = BTreeMap::new();
    for found in &report.findings {
        let key = (found.code.clone(), found.message.clone());
        *counts.entry(key).or_default() += 1;
    }
    counts
}

impl Search<'_> {
    fn run(&mut self) -> Result<Option<Suggestion>, Cancelled> {
        let mut report = self.check(&BTreeMap::new())?;
        let first = report.findings.len();
        let mut suggestion = Suggestion::default();
        let mut hopeless: Vec<(String, String)> = Vec::new();
        if let Some(mended) = self.together(&report)? {
            report = self.take(&mut suggestion, &report, mended);
        }
        while suggestion.titles.len() < EDITS {
            let mut open = report.findings.iter();
            let key = |found: &Diagnostic| (found.code.clone(), found.message.clone());
            let Some(target) = open.find(|found| !hopeless.contains(&key(found))).cloned() else {
                break;
            };
            match self.mend(&report, &target)? {
                Some(mended) => report = self.take(&mut suggestion, &report, mended),
                None => hopeless.push(key(&target)),
            }
        }
        suggestion.mended = first.saturating_sub(report.findings.len());
        suggestion.left = report.findings.len();
        if self.given.all_inputs && !self.safe_only {
            self.every(&mut suggestion)?;
        }
        let changed = self
            .texts
            .iter()
            .filter(|(_, (before, after))| before != after);
        suggestion.files = changed
            .map(|(path, (before, after))| Changed {
                path: path.clone(),
                before: before.clone(),
                after: after.clone(),
            })
            .collect();
        Ok((!suggestion.files.is_empty()).then_some(suggestion))
    }

    /// Adds edits to a suggestion; what is found with them.
    fn take(&mut self, suggestion: &mut Suggestion, report: &Report, mended: Mended) -> Report {
        let (candidate, texts, after) = mended;
        suggestion.titles.extend(candidate.titles);
        let known = suggestion.applicability.unwrap_or(Applicability::Safe);
        suggestion.applicability = Some(known.min(candidate.applicability));
        for (path, text) in texts {
            let before = || original(&report.sources, &path);
            let entry = self.texts.entry(path.clone());
            entry.or_insert_with(|| (before(), String::new())).1 = text;
        }
        after
    }

    /// The fewest edits that mend all findings which an edit mends alone.
    fn together(&self, report: &Report) -> Result<Option<Mended>, Cancelled> {
        let before = counted(report);
        let keys: Vec<&(String, String)> = before.keys().collect();
        let mut all: Vec<Candidate> = Vec::new();
        let mut helps: Vec<Vec<usize>> = vec![Vec::new(); keys.len()];
        let mut known: Vec<Candidate> = Vec::new();
        for target in &report.findings {
            let own = candidates(self.project.language, report, target, &[], self.safe_only);
            for candidate in own.into_iter().take(ALONE) {
                if known.iter().any(|other| other.edits == candidate.edits) {
                    continue;
                }
                if known.len() >= TOGETHER {
                    break;
                }
                known.push(candidate.clone());
                let Some((_, after)) = self.with(report, &candidate)? else {
                    continue;
                };
                let now = counted(&after);
                for (at, key) in keys.iter().enumerate() {
                    if now.get(*key) < before.get(*key)
                        && let Some(helpers) = helps.get_mut(at)
                    {
                        helpers.push(all.len());
                    }
                }
                all.push(candidate);
            }
        }
        let mut clashes = Vec::new();
        for (at, a) in all.iter().enumerate() {
            for (to, b) in all.iter().enumerate().skip(at + 1) {
                if a.with(b).is_none() {
                    clashes.push((at, to));
                }
            }
        }
        let helped: Vec<bool> = helps.iter().map(|helpers| !helpers.is_empty()).collect();
        if !helped.contains(&true) {
            return Ok(None);
        }
        let mut choice = Choice::new(all.len(), helps, &clashes);
        for _ in 0..PROPOSALS {
            let Some(chosen) = choice.propose() else {
                return Ok(None);
            };
            let edits = chosen.iter().filter_map(|&at| all.get(at).cloned());
            let joined = edits.reduce(|a, b| a.with(&b).unwrap_or(a));
            let Some(joined) = joined else {
                return Ok(None);
            };
            let Some((texts, after)) = self.with(report, &joined)? else {
                choice.refuse(&chosen);
                continue;
            };
            let now = counted(&after);
            let left = keys
                .iter()
                .zip(&helped)
                .position(|(key, helped)| *helped && now.contains_key(*key));
            match left {
                None => return Ok(Some((joined, texts, after))),
                Some(finding) => choice.leaves(&chosen, finding),
            }
        }
        Ok(None)
    }

    /// The texts with an edit, and what is found in them; none when something is worse.
    fn with(&self, report: &Report, candidate: &Candidate) -> Result<Option<Edited>, Cancelled> {
        let Some(texts) = apply(&report.sources, &candidate.edits) else {
            return Ok(None);
        };
        let after = self.check(&texts)?;
        let (before, now) = (counted(report), counted(&after));
        let none_new = now
            .iter()
            .all(|(key, count)| before.get(key) >= Some(count));
        let checked = after.unchecked.len() <= report.unchecked.len() && !after.graph.is_empty();
        Ok((none_new && checked).then_some((texts, after)))
    }

    /// An edit that mends a finding, the texts it changes and what is found in them.
    fn mend(&self, report: &Report, target: &Diagnostic) -> Result<Option<Mended>, Cancelled> {
        let mut all = candidates(self.project.language, report, target, &[], self.safe_only);
        if let Some(mended) = self.first(report, target, all.iter().cloned())? {
            return Ok(Some(mended));
        }
        if self.safe_only {
            return Ok(None);
        }
        // What the finding does not speak of may be what to change.
        let snapshot = self.snapshot_with(&BTreeMap::new());
        let explained = snapshot.explain(self.project, self.given, report, target, self.cancel)?;
        if let Some(explained) = explained {
            let places: Vec<_> = explained.reasons.iter().map(|reason| reason.span).collect();
            let more = candidates(self.project.language, report, target, &places, false);
            let more: Vec<Candidate> = more.into_iter().filter(|one| !all.contains(one)).collect();
            if let Some(mended) = self.first(report, target, more.iter().cloned())? {
                return Ok(Some(mended));
            }
            all.extend(more);
        }
        let few: Vec<&Candidate> = all.iter().take(PAIRED).collect();
        let mut pairs = Vec::new();
        for (at, a) in few.iter().enumerate() {
            for b in few.iter().skip(at + 1) {
                pairs.extend(a.with(b));
            }
        }
        self.first(report, target, pairs.into_iter())
    }

    /// The first edit that helps.
    fn first(
        &self,
        report: &Report,
        target: &Diagnostic,
        all: impl Iterator<Item = Candidate>,
    ) -> Result<Option<Mended>, Cancelled> {
        let before = counted(report);
        let key = (target.code.clone(), target.message.clone());
        for candidate in all {
            let Some((texts, after)) = self.with(report, &candidate)? else {
                continue;
            };
            if counted(&after).get(&key) < before.get(&key) {
                return Ok(Some((candidate, texts, after)));
            }
        }
        Ok(None)
    }

    fn snapshot_with(&self, texts: &BTreeMap<String, String>) -> Snapshot {
        let mut snapshot = self.snapshot.clone();
        let known = self.texts.iter().map(|(path, (_, after))| (path, after));
        for (path, text) in known.chain(texts) {
            let bytes: Arc<[u8]> = text.as_bytes().into();
            snapshot.files.overlay(path, Some(bytes));
        }
        snapshot
    }

    fn check(&self, texts: &BTreeMap<String, String>) -> Result<Report, Cancelled> {
        self.cancel.check()?;
        let snapshot = self.snapshot_with(texts);
        let loading = snapshot.load(self.project, self.given);
        Ok(snapshot.judge(loading, self.given, self.cancel)?.1)
    }
}

fn original(sources: &Sources, path: &str) -> String {
    let mut files = sources.files();
    let file = files.find(|&file| sources.name(file) == path);
    file.map(|file| sources.text(file).to_owned())
        .unwrap_or_default()
}

/// The texts of the files that edits change; none when edits overlap.
pub(super) fn apply(sources: &Sources, edits: &[Edit]) -> Option<BTreeMap<String, String>> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.span.file, edit.span.start)));
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    let mut last: Option<&Edit> = None;
    for edit in edits {
        let span = edit.span;
        if last.is_some_and(|last| last.span.file == span.file && span.end > last.span.start) {
            return None;
        }
        last = Some(edit);
        let name = sources.name(span.file).to_owned();
        let text = texts
            .entry(name)
            .or_insert_with(|| sources.text(span.file).to_owned());
        let range = span.start as usize..span.end as usize;
        text.get(range.clone())?;
        text.replace_range(range, &edit.text);
    }
    Some(texts)
}
