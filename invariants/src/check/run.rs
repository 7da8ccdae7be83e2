//! Running all rules over one configuration.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::{LazyLock, OnceLock};

use locus_core::diagnostic::Verdict;
use locus_core::facts::Facts;
use locus_core::vocabulary::{Sig, Vocabulary, lg};
use locus_core::{Diagnostic, LocationGraph, Severity, Sources};
use locus_frontends::language::Loaded;
use locus_solver::search::Proof;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::decide::{Decision, Effort, decide};
use super::fold::fold_members;
use super::mend::Texts;
use super::populate::populate;
use super::report::{Binding, Reporter};
use crate::engine::{Atom, Database, Evaluator, Search, Shared, Slots, Tri};
use crate::library;
use crate::logic::VarId;
use crate::rules::{Library, Program, Rule, RuleProgram};

/// A configuration in terms of its language.
#[derive(Clone, Copy)]
pub struct Configuration<'a> {
    /// Locations and their properties.
    pub graph: &'a LocationGraph,
    /// What else the front-end states.
    pub facts: &'a Facts,
    /// Signatures that the project declares.
    pub declared: &'a [Sig],
}

impl<'a> Configuration<'a> {
    /// A configuration that was loaded.
    pub fn of(loaded: &'a Loaded) -> Self {
        Configuration {
            graph: &loaded.graph,
            facts: &loaded.facts,
            declared: &loaded.declared,
        }
    }
}

/// What to check, and how far to go.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Rules that are not checked, by identifier or name.
    pub ignore: Vec<String>,
    /// How bad violations of rules are, where that is not as the rules say.
    pub severities: Vec<(String, Severity)>,
    /// Steps after which the check of one rule is given up.
    pub budget: u64,
    /// The texts that edits are made for; without them findings have no fixes.
    pub texts: Option<&'a Sources>,
    /// Whether proofs are kept of what the solver decides.
    pub proofs: bool,
}

/// Something that the solver decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proved {
    /// The rule that asked.
    pub rule: String,
    /// What is proved, in words.
    pub claim: String,
    /// The clauses that contradict each other, and the proof.
    pub proof: Proof,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            ignore: Vec::new(),
            severities: Vec::new(),
            budget: 200_000_000,
            texts: None,
            proofs: false,
        }
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Rules about the language that were checked.
    pub rules: usize,
    /// Rules about every language that were checked.
    pub shared_rules: usize,
    /// Locations of the configuration.
    pub locations: usize,
    /// Violations that depend on inputs.
    pub violable: usize,
    /// Variables of the SAT problems that were solved.
    pub variables: usize,
    /// Clauses of the SAT problems that were solved.
    pub clauses: usize,
}

/// What came of checking a configuration.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Each violation, in the order of the text.
    pub findings: Vec<Diagnostic>,
    /// Rules that could not be decided, and why.
    pub unchecked: Vec<Diagnostic>,
    /// The assertions that were broken, by module and name.
    pub broken: Vec<(String, String)>,
    /// The steps that each assertion took, by its place in the program of its language.
    pub steps: Vec<(usize, u64)>,
    /// Proofs of what the solver decided, when they were asked for.
    pub proofs: Vec<Proved>,
    /// What was counted.
    pub stats: Stats,
}

impl Report {
    /// The same, of rules that are about every language.
    #[must_use]
    pub fn of_shared_rules(mut self) -> Report {
        self.stats.shared_rules += std::mem::take(&mut self.stats.rules);
        self
    }

    /// Adds what came of further rules about the same configuration.
    pub fn add(&mut self, other: Report) {
        let Report {
            findings,
            unchecked,
            broken,
            steps: _,
            proofs,
            stats,
        } = other;
        self.proofs.extend(proofs);
        self.findings.extend(findings);
        self.unchecked.extend(unchecked);
        self.broken.extend(broken);
        self.stats.rules += stats.rules;
        self.stats.shared_rules += stats.shared_rules;
        self.stats.locations = self.stats.locations.max(stats.locations);
        self.stats.violable += stats.violable;
        self.stats.variables += stats.variables;
        self.stats.clauses += stats.clauses;
    }
}

/// Compiled rules of one language, used for any number of configurations.
#[derive(Debug)]
pub struct Checker {
    program: Program,
    /// What is wrong with the rules themselves.
    diagnostics: Vec<Diagnostic>,
    /// How many identifiers the rules have; some are stated as several assertions.
    ids: usize,
    slots: OnceLock<Slots>,
    /// The rules that go by each name, in lower case, by their places in the program.
    named: OnceLock<FxHashMap<String, Vec<usize>>>,
}

/// A language, and its rules once they were taken.
type Builtin = (&'static str, OnceLock<Option<Checker>>);

/// The rules that come with the program, taken when a configuration of their language is met.
static BUILTIN: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    let all = library::languages().into_iter();
    all.map(|language| (language, OnceLock::new())).collect()
});

/// What a rule came to.
#[derive(Default)]
struct Outcome {
    findings: Vec<Diagnostic>,
    unchecked: Vec<Diagnostic>,
    violable: usize,
    effort: Effort,
    steps: u64,
    proofs: Vec<(&'static str, Proof)>,
}

/// Locations below which one thread checks all rules.
pub(super) const ALONE: usize = 300;

/// Possible violations of one rule that the solver is asked about; a template with more has an input that
/// nearly everything depends on.
const DECISIONS: usize = 32;

impl Checker {
    /// Compiles the rules of a library about one language. What is wrong with them is in
    /// [`diagnostics`](Self::diagnostics), with spans into `sources`.
    pub fn new(library: &Library, vocabulary: &Vocabulary, sources: &mut Sources) -> Self {
        let compiled = Program::compile(library, vocabulary, sources);
        Checker::of(compiled.program, compiled.diagnostics)
    }

    fn of(program: Program, diagnostics: Vec<Diagnostic>) -> Self {
        let ids = count_ids(program.rules.iter());
        Checker {
            program,
            diagnostics,
            ids,
            slots: OnceLock::new(),
            named: OnceLock::new(),
        }
    }

    /// Whether each rule is to be asked, by its place in the program.
    pub(super) fn enabled(&self, options: &Options<'_>) -> Vec<bool> {
        let rules = &self.program.rules;
        let named = self.named.get_or_init(|| {
            let mut named: FxHashMap<String, Vec<usize>> = FxHashMap::default();
            for (at, rule) in rules.iter().enumerate() {
                let Rule {
                    id, name, aliases, ..
                } = &rule.rule;
                for name in [id, name].into_iter().chain(aliases) {
                    named.entry(name.to_ascii_lowercase()).or_default().push(at);
                }
            }
            named
        });
        let mut enabled = vec![true; rules.len()];
        for name in &options.ignore {
            for &at in named.get(&name.to_ascii_lowercase()).into_iter().flatten() {
                if let Some(slot) = enabled.get_mut(at) {
                    *slot = false;
                }
            }
        }
        enabled
    }

    /// The rules about a language that come with the program.
    pub fn builtin(language: &str) -> Option<&'static Checker> {
        let mut all = BUILTIN.iter();
        let (_, checker) = all.find(|(other, _)| *other == language)?;
        let taken = || match library::compiled(language) {
            Some(stored) => Some(Checker::of(Program::stored(stored)?, Vec::new())),
            None => {
                let (program, wrong) = library::brought(language)?;
                Some(Checker::of(program, wrong))
            }
        };
        checker.get_or_init(taken).as_ref()
    }

    /// Checks a configuration that was loaded.
    pub fn check_loaded(&self, loaded: &Loaded, options: &Options<'_>) -> Report {
        if !crate::placement::is_asked(self, loaded, options) {
            return self.check(Configuration::of(loaded), options);
        }
        let (facts, unchecked) = crate::placement::facts(loaded);
        let configuration = Configuration {
            facts: &facts,
            ..Configuration::of(loaded)
        };
        let mut report = self.check(configuration, options);
        report.unchecked.extend(unchecked);
        report
    }

    /// What is wrong with the rules themselves.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The compiled rules.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Checks a configuration against all rules.
    pub fn check(&self, configuration: Configuration<'_>, options: &Options<'_>) -> Report {
        let graph = configuration.graph;
        let database = populate(&self.program, configuration, false);
        let slots = self.slots.get_or_init(|| Slots::new(&self.program.terms));
        let shared = Shared::new(slots);
        let rules = &self.program.rules;
        let enabled = self.enabled(options);
        let evaluator = || {
            let Program { terms, plans, .. } = &self.program;
            Evaluator::new(terms, plans, &database, &shared, options.budget)
        };
        let texts = options.texts.map(Texts::new);
        let check = |evaluator: &mut Evaluator<'_>, (rule, enabled): (&RuleProgram, &bool)| {
            let texts = texts.as_ref();
            enabled.then(|| self.check_rule(rule, evaluator, &database, texts, options))
        };
        // Below a certain size, handing rules to other threads takes longer than checking them.
        let outcomes: Vec<Option<Outcome>> = if graph.len() < ALONE {
            let mut evaluator = evaluator();
            let rules = rules.iter().zip(&enabled);
            rules.map(|rule| check(&mut evaluator, rule)).collect()
        } else {
            let rules = rules.par_iter().zip(&enabled);
            rules.map_init(evaluator, check).collect()
        };
        let mut report = Report::default();
        for (at, (rule, outcome)) in rules.iter().zip(outcomes).enumerate() {
            let Some(outcome) = outcome else {
                continue;
            };
            if !outcome.findings.is_empty() {
                let Rule {
                    module, assertion, ..
                } = &rule.rule;
                report.broken.push((module.clone(), assertion.clone()));
            }
            report.steps.push((at, outcome.steps));
            report.findings.extend(outcome.findings);
            report.unchecked.extend(outcome.unchecked);
            let proofs = outcome.proofs.into_iter();
            report.proofs.extend(proofs.map(|(claim, proof)| Proved {
                rule: rule.rule.id.clone(),
                claim: claim.to_owned(),
                proof,
            }));
            report.stats.violable += outcome.violable;
            report.stats.variables += outcome.effort.variables;
            report.stats.clauses += outcome.effort.clauses;
        }
        report.stats.rules = match options.ignore.as_slice() {
            [] => self.ids,
            _ => {
                let asked = rules.iter().zip(&enabled).filter(|(_, enabled)| **enabled);
                count_ids(asked.map(|(rule, _)| rule))
            }
        };
        report.stats.locations = graph.len();
        for finding in &mut report.findings {
            let named = |(id, _): &&(String, Severity)| *id == finding.code;
            if let Some(&(_, severity)) = options.severities.iter().find(named) {
                // What is wrong for some inputs only stays a warning, unless the project cares less.
                finding.severity = match finding.verdict {
                    Verdict::Violated => severity,
                    _ => severity.min(finding.severity),
                };
            }
        }
        let position = |diagnostic: &Diagnostic| {
            let span = diagnostic.primary();
            span.map(|span| (span.file, span.start, span.end))
        };
        report.findings.sort_by(|a, b| {
            let key = position(a).cmp(&position(b));
            key.then_with(|| a.code.cmp(&b.code))
                .then_with(|| a.message.cmp(&b.message))
        });
        report.findings.dedup_by(|a, b| {
            a.code == b.code && a.message == b.message && a.primary() == b.primary()
        });
        report.findings = fold_members(report.findings);
        report
    }

    fn check_rule(
        &self,
        rule: &RuleProgram,
        evaluator: &mut Evaluator<'_>,
        database: &Database,
        texts: Option<&Texts<'_>>,
        options: &Options<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let Some(query) = rule.query else {
            return outcome;
        };
        let terms = &self.program.terms;
        if evaluator.is_hopeless(query) {
            return outcome;
        }
        evaluator.restart(options.budget);
        let mut found: FxHashMap<Vec<Atom>, (Binding, Tri)> = FxHashMap::default();
        let mut order: Vec<Vec<Atom>> = Vec::new();
        let mut undecidable: Vec<Vec<Atom>> = Vec::new();
        let mut decisions = 0;
        let run = evaluator.run(query, Search::Certain, &mut |this, tri| {
            // That an input may be equal to a member of a set makes no second member of it.
            for &(var, range) in &terms.query(query).decls {
                let input = this.bound(var).filter(|&atom| database.is_symbol(atom));
                if let Some(atom) = input {
                    let set = this.expr(range)?;
                    if !set.open && !set.rows().any(|(row, _)| row == [atom]) {
                        return Ok(ControlFlow::Continue(()));
                    }
                }
            }
            let bound = |&(var, _): &(VarId, _)| Some((var, this.bound(var)?));
            let binding = Binding {
                values: terms.query(query).decls.iter().filter_map(bound).collect(),
            };
            let (key, ascending) = identity(rule, &binding);
            if this.met_undecidable() && tri == Tri::Unknown {
                undecidable.push(key.clone());
            }
            match found.get_mut(&key) {
                None => {
                    order.push(key.clone());
                    found.insert(key, (binding, tri));
                }
                Some(known) => {
                    // Certain before possible; of two orders, that of the text.
                    if (tri, ascending) > (known.1, identity(rule, &known.0).1) {
                        *known = (binding, tri);
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        outcome.steps = evaluator.steps(options.budget);
        if run.is_err() {
            let message = format!(
                "{} was given up after {} steps: {}",
                rule.rule.id, options.budget, rule.rule.title
            );
            let mut open = Diagnostic::warning(rule.rule.id.clone(), message);
            open.verdict = Verdict::Undecided {
                why: format!("it takes more than {} steps", options.budget),
            };
            outcome.unchecked.push(open);
        }
        let reporter = Reporter {
            program: &self.program,
            database,
            texts,
        };
        for key in order {
            let Some((binding, tri)) = found.get(&key) else {
                continue;
            };
            if *tri == Tri::True {
                outcome.findings.push(reporter.finding(rule, binding));
                continue;
            }
            let anchored: Vec<(VarId, Atom)> = binding
                .values
                .iter()
                .copied()
                .filter(|(var, _)| rule.anchors.contains(var))
                .collect();
            if undecidable.contains(&key) {
                let why = "a pattern here needs look-around or back-references";
                outcome
                    .unchecked
                    .push(reporter.undecided(rule, binding, why));
                continue;
            }
            decisions += 1;
            // Without listed values, what is not known is nearly anything: never certain to break a rule.
            let worthwhile = database.has_choices();
            let decision = if !worthwhile {
                Decision::Open
            } else if decisions > DECISIONS {
                Decision::Undecided
            } else {
                let proofs = options.proofs.then_some(&mut outcome.proofs);
                let effort = &mut outcome.effort;
                decide(terms, database, query, &anchored, effort, proofs)
            };
            match decision {
                Decision::Always => outcome.findings.push(reporter.finding(rule, binding)),
                Decision::Never => {}
                Decision::Sometimes | Decision::Open => outcome.violable += 1,
                Decision::Undecided => {
                    outcome.violable += 1;
                    let why = "it depends on inputs with too many values to try";
                    outcome
                        .unchecked
                        .push(reporter.undecided(rule, binding, why));
                }
            }
        }
        outcome
    }
}

/// What tells one finding of a rule from another: its anchors, in the order of the text where their order
/// does not matter; and whether they are in that order already.
pub(super) fn identity(rule: &RuleProgram, binding: &Binding) -> (Vec<Atom>, bool) {
    let value = |var: &VarId| {
        let found = binding.values.iter().find(|(other, _)| other == var);
        found.map(|&(_, atom)| atom)
    };
    let mut key: Vec<Atom> = rule.anchors.iter().filter_map(value).collect();
    let mut ascending = true;
    for group in &rule.disjoint {
        let mut atoms: Vec<Atom> = group.iter().filter_map(value).collect();
        ascending &= atoms.is_sorted();
        atoms.sort_unstable();
        let mut sorted = atoms.into_iter();
        for (anchor, slot) in rule.anchors.iter().zip(key.iter_mut()) {
            if group.contains(anchor)
                && let Some(atom) = sorted.next()
            {
                *slot = atom;
            }
        }
    }
    (key, ascending)
}

/// The number of identifiers of some rules.
fn count_ids<'r>(rules: impl Iterator<Item = &'r RuleProgram>) -> usize {
    let ids: BTreeSet<&str> = rules.map(|rule| rule.rule.id.as_str()).collect();
    ids.len()
}

/// Checks a configuration that was loaded, with the rules that come with the program: those about its language, and those
/// about every language.
pub fn check(loaded: &Loaded, options: &Options<'_>) -> Report {
    let mut report = match Checker::builtin(loaded.language) {
        Some(checker) => {
            let mut report = checker.check_loaded(loaded, options);
            report.unchecked.extend_from_slice(checker.diagnostics());
            report
        }
        None => no_rules(loaded.language),
    };
    if loaded.language != lg::NAME
        && let Some(checker) = Checker::builtin(lg::NAME)
    {
        report.add(checker.check_loaded(loaded, options).of_shared_rules());
    }
    report
}

fn no_rules(language: &str) -> Report {
    let message = format!("there are no rules about `{language}`");
    Report {
        unchecked: vec![Diagnostic::warning("rules", message)],
        ..Report::default()
    }
}
