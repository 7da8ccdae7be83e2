//! What a check says, stated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use locus_core::vocabulary::lg;
use locus_core::{Diagnostic, Sources};
use locus_frontends::language::InputValue;
use locus_invariants::library;
use locus_invariants::rules::Rule;

use super::sha256;
use super::statement::{
    Evidence, Finding, InputGiven, Listing, PREDICATE, Predicate, ProjectChecked, RuleChecked,
    STATEMENT, Statement, Subject, Tool, Verdict,
};
use crate::session::{Batch, Given, Seen, Snapshot};

/// A claim that needed a solver: clauses that contradict each other, and the proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// The rule that needed it.
    pub rule: String,
    /// What is proved, in words.
    pub claim: String,
    /// The clauses, in DIMACS form.
    pub cnf: Vec<u8>,
    /// The proof, in the text form of DRAT.
    pub drat: Vec<u8>,
}

impl Statement {
    /// States what a check came to. Paths are told from a folder, which is the current one as a rule.
    pub fn of(
        snapshot: &Snapshot,
        batch: &Batch,
        given: &Given,
        obligations: &[Obligation],
        folder: &Path,
    ) -> Statement {
        let mut subjects: BTreeMap<String, String> = BTreeMap::new();
        let (mut absent, mut present) = (BTreeSet::new(), BTreeSet::new());
        let mut listings: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut words: BTreeSet<String> = BTreeSet::new();
        for checked in &batch.checked {
            for seen in &checked.report.seen {
                let name = relative(folder, seen.path());
                match seen {
                    Seen::Content(_, bytes) => {
                        subjects.insert(name, sha256(bytes));
                        let text = String::from_utf8_lossy(bytes);
                        let is_part = |c: char| c.is_alphanumeric() || c == '_';
                        words.extend(text.split(|c| !is_part(c)).map(str::to_owned));
                    }
                    Seen::Present(_) => {
                        present.insert(name);
                    }
                    Seen::Listed(_, files) => {
                        listings.insert(name, files.clone());
                    }
                    Seen::Absent(_) => {
                        absent.insert(name);
                    }
                }
            }
        }
        present.retain(|name| !subjects.contains_key(name));
        let variables = given.variables.iter().map(|(name, _)| name);
        let variables = variables.filter(|name| words.contains(*name)).cloned();
        let mut rules: BTreeSet<RuleChecked> = BTreeSet::new();
        let mut projects = Vec::new();
        for checked in &batch.checked {
            let language = checked.report.language;
            let own = snapshot.rules_of(&checked.project, given);
            let builtin = library::builtin().rules().iter();
            let asked = |rule: &&Rule| rule.language == language || rule.language == lg::NAME;
            let builtin = builtin.filter(asked).cloned();
            let all: Vec<Rule> = builtin.chain(own).collect();
            rules.extend(digests(&all));
            let mut verdicts: BTreeMap<String, Verdict> = BTreeMap::new();
            for rule in &all {
                let off = checked.report.off.iter().any(|name| rule.is_called(name));
                let verdict = if off { Verdict::Off } else { Verdict::Holds };
                verdicts.insert(rule.id.clone(), verdict);
            }
            let report = &checked.report;
            let ignored = report.ignored.iter().map(|ignored| &ignored.0);
            let found = report.findings.iter().chain(&report.unchecked);
            let found = found.chain(&report.everything.undecided);
            for found in found.chain(ignored) {
                let verdict = match found.verdict.as_str() {
                    "violated" => Verdict::Violated,
                    "violable" => Verdict::Violable,
                    _ => Verdict::Undecided,
                };
                let known = verdicts.entry(found.code.clone()).or_insert(verdict);
                *known = verdict.max(*known);
            }
            let files = report.files.iter().map(|path| relative(folder, path));
            projects.push(ProjectChecked {
                language: language.to_owned(),
                files: files.collect(),
                deployable: report.is_deployable(),
                verdicts,
            });
        }
        let errors = batch.count(locus_core::Severity::Error);
        let inputs = snapshot.registry().inputs().into_iter().flat_map(|input| {
            let values = given.inputs.given(input.name).iter();
            values.map(move |given| InputGiven {
                name: input.name.to_owned(),
                value: match &given.value {
                    InputValue::Text(text) => text.clone(),
                    InputValue::Pair(name, value) => format!("{name}={value}"),
                    InputValue::Number(number) => number.to_string(),
                    InputValue::On => "true".to_owned(),
                },
            })
        });
        let time = given
            .now
            .and_then(|now| now.duration_since(UNIX_EPOCH).ok());
        let proved = batch.checked.iter().flat_map(|one| &one.report.proofs);
        let proved = proved.map(|proved| {
            evidence(&Obligation {
                rule: proved.rule.clone(),
                claim: proved.claim.clone(),
                cnf: proved.proof.dimacs.clone(),
                drat: proved.proof.drat.clone(),
            })
        });
        let found = |all: &[Diagnostic]| {
            let stated = all.iter().map(|one| finding(one, &batch.sources));
            stated.collect()
        };
        Statement {
            kind: STATEMENT.to_owned(),
            subject: subjects
                .into_iter()
                .map(|(name, digest)| Subject {
                    name,
                    digest: BTreeMap::from([("sha256".to_owned(), digest)]),
                })
                .collect(),
            predicate_type: PREDICATE.to_owned(),
            predicate: Predicate {
                tool: tool(),
                time: time.map(|time| time.as_secs()),
                deployable: errors == 0
                    && batch.unchecked.is_empty()
                    && !projects.is_empty()
                    && projects.iter().all(|project| project.deployable),
                all_inputs: given.all_inputs,
                inputs: inputs.collect(),
                variables: variables.collect(),
                absent: absent.into_iter().collect(),
                present: present.into_iter().collect(),
                listings: listings
                    .into_iter()
                    .map(|(folder, files)| Listing { folder, files })
                    .collect(),
                searched: batch
                    .searched
                    .iter()
                    .map(|(searched, files)| Listing {
                        folder: relative(folder, searched),
                        files: files.iter().map(|file| relative(folder, file)).collect(),
                    })
                    .collect(),
                rules: rules.into_iter().collect(),
                projects,
                findings: found(&batch.findings),
                ignored: batch
                    .ignored
                    .iter()
                    .map(|(one, _)| finding(one, &batch.sources))
                    .collect(),
                unchecked: found(&batch.unchecked),
                evidence: obligations.iter().map(evidence).chain(proved).collect(),
                signer: None,
            },
        }
    }
}

impl Statement {
    /// Leaves a file out of the folders that were listed: the certificate itself, which was not there or was another.
    pub fn leave_out(&mut self, folder: &Path, path: &Path) {
        for listing in &mut self.predicate.listings {
            let inside = folder.join(&listing.folder);
            listing
                .files
                .retain(|name| !is_same(&inside.join(name), path));
        }
        for searched in &mut self.predicate.searched {
            searched
                .files
                .retain(|name| !is_same(&folder.join(name), path));
        }
    }
}

/// Whether two paths are of one place, as far as they say.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    let absolute = |path: &Path| std::path::absolute(path).map(|path| tidy(&path)).ok();
    absolute(a) == absolute(b)
}

/// This program and the rules that come with it.
pub(super) fn tool() -> Tool {
    let mut all = String::new();
    for source in library::builtin().sources() {
        all.push_str(&format!(
            "{} {}\n",
            source.module,
            sha256(source.text.as_bytes())
        ));
    }
    Tool {
        name: "locus".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        library: sha256(all.as_bytes()),
    }
}

/// The digest of each rule; one that is stated in parts has one digest of all.
pub(super) fn digests(rules: &[Rule]) -> Vec<RuleChecked> {
    let mut texts: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for rule in rules {
        let text = texts.entry((&rule.id, &rule.language)).or_default();
        text.push_str(&rule.text);
        text.push('\n');
    }
    let stated = texts.into_iter().map(|((id, language), text)| RuleChecked {
        id: id.to_owned(),
        language: language.to_owned(),
        sha256: sha256(text.as_bytes()),
    });
    stated.collect()
}

fn evidence(obligation: &Obligation) -> Evidence {
    Evidence {
        rule: obligation.rule.clone(),
        claim: obligation.claim.clone(),
        cnf: String::from_utf8_lossy(&obligation.cnf).into_owned(),
        drat: String::from_utf8_lossy(&obligation.drat).into_owned(),
    }
}

fn finding(found: &Diagnostic, sources: &Sources) -> Finding {
    Finding {
        rule: found.code.clone(),
        severity: found.severity.to_string(),
        verdict: found.verdict.as_str().to_owned(),
        message: found.message.clone(),
        place: found.primary().map(|span| {
            let at = sources.start(span);
            format!("{}:{}:{}", sources.name(span.file), at.line, at.column)
        }),
    }
}

/// A path as it is told from a folder.
pub(super) fn relative(folder: &Path, path: &str) -> String {
    if path == "-" {
        return path.to_owned();
    }
    let absolute = |path: &Path| std::path::absolute(path).map(|path| tidy(&path));
    let (Ok(folder), Ok(full)) = (absolute(folder), absolute(Path::new(path))) else {
        return path.to_owned();
    };
    let mut from = folder.components().peekable();
    let mut to = full.components().peekable();
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let mut told = PathBuf::new();
    from.for_each(|_| told.push(".."));
    told.extend(to);
    told.display().to_string()
}

fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                tidy.pop();
            }
            other => tidy.push(other),
        }
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_the_folder() {
        let folder = Path::new("/a/b");
        assert_eq!(relative(folder, "/a/b/c.yaml"), "c.yaml");
        assert_eq!(relative(folder, "/a/x/../b/./d/c.yaml"), "d/c.yaml");
        assert_eq!(relative(folder, "/a/locus.toml"), "../locus.toml");
        assert_eq!(relative(folder, "/x/y"), "../../x/y");
    }
}
