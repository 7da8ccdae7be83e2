//! One project, checked.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use locus_core::facts::Facts;
use locus_core::suggest::respelling;
use locus_core::vocabulary::{Vocabulary, lg};
use locus_core::{Diagnostic, FileId, LocationGraph, Severity, Sources, Span};
use locus_frontends::language::{Chosen, Inputs, Loaded, Reach, Request, Words};
use locus_invariants::instance::{self, Judgement};
use locus_invariants::rules::Rule;
use locus_invariants::{Options, OwnRules, Proved, Stats, check_loaded};
use locus_solver::limits::Limits;

use super::Snapshot;
use super::cancel::{Cancel, Cancelled};
use super::discover::Project;
use super::every::Everything;
use super::files::{Seen, Trace, Traced};
use super::ignores;
use super::settings::Settings;

/// What a project is checked with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Values of the inputs that languages declare; those of the settings come before them.
    pub inputs: Inputs,
    /// The variables of the process, for languages that replace them in their files.
    pub variables: Vec<(String, String)>,
    /// Whether to take every allowed input, also where there is a default.
    pub all_inputs: bool,
    /// The time with which dates are compared that must lie in the future; without it, none is past.
    pub now: Option<SystemTime>,
    /// Rules that are not checked, by identifier or name.
    pub ignore: Vec<String>,
    /// The only rules of the project's own that are checked, by identifier; all when there are none.
    pub only: Option<Vec<String>>,
    /// Whether rules are checked that are off unless they are asked for.
    pub all_rules: bool,
    /// The settings to use; without them, those of the nearest `locus.toml`.
    pub settings: Option<String>,
    /// Whether the reference model judges the graph too.
    pub as_instance: bool,
    /// Whether proofs are kept of what needed a solver.
    pub proofs: bool,
    /// Whether every file is checked by itself, also where some could be checked together sooner: for whoever checks it again and
    /// again to find reasons and edits.
    pub apart: bool,
    /// Whether few assignments are to cover all inputs even where all could be tried: for tests of just that.
    #[doc(hidden)]
    pub covered: bool,
}

impl Given {
    /// What this process would deploy with: its variables, and the time to the minute, so that a check is not made
    /// again each time somebody asks.
    pub fn of_process() -> Self {
        let variables = std::env::vars_os();
        let variables = variables
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let minutes = Duration::from_secs(now.as_secs() / 60 * 60);
        Given {
            variables,
            now: Some(UNIX_EPOCH + minutes),
            ..Given::default()
        }
    }
}

/// What came of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The language of the project.
    pub language: &'static str,
    /// What is wrong, in the order of the text.
    pub findings: Vec<Diagnostic>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Diagnostic>,
    /// What is wrong and a comment in the files ignores, with the reason that it gives.
    pub ignored: Vec<(Diagnostic, String)>,
    /// The places in comments that ignored something.
    pub(super) used_ignores: Vec<Span>,
    /// The sources that these are about.
    pub sources: Sources,
    /// The paths of the files that the project consists of, the first being the one it was named by.
    pub files: Vec<String>,
    /// The paths that were read, or looked for and not found: when one of them changes, so may the report.
    pub watched: Vec<String>,
    /// What was at those paths.
    pub seen: Vec<Seen>,
    /// Rules that were not asked, by identifier or name.
    pub off: Vec<String>,
    /// The location graph.
    pub graph: LocationGraph,
    /// What else the files say.
    pub facts: Facts,
    /// Whether the reference model has the graph as an instance; none when it was not asked, or cannot say.
    pub is_instance: Option<bool>,
    /// What came of taking every input, when that was asked for.
    pub everything: Everything,
    /// Proofs of what needed a solver, when they were asked for.
    pub proofs: Vec<Proved>,
    /// What was counted.
    pub stats: Stats,
}

impl Report {
    /// Whether everything was checked and nothing forbids to deploy it.
    pub fn is_deployable(&self) -> bool {
        let errors = self
            .findings
            .iter()
            .any(|found| found.severity == Severity::Error);
        !errors && self.unchecked.is_empty()
    }
}

/// A project that was loaded and is yet to be checked.
pub(super) struct Loading {
    pub(super) loaded: Loaded,
    pub(super) sources: Sources,
    pub(super) settings: Arc<Settings>,
    trace: Trace,
    /// The files that only tell what is there already.
    aside: Vec<String>,
}

impl Snapshot {
    /// Loads a project with the inputs of its settings and those given.
    pub(super) fn load(&self, project: &Project, given: &Given) -> Loading {
        self.load_chosen(project, given, false, &[], Sources::new())
    }

    /// The same, with all other inputs open or with values chosen for some, into sources that have no files yet.
    pub(super) fn load_chosen(
        &self,
        project: &Project,
        given: &Given,
        open: bool,
        chosen: &[Chosen],
        sources: Sources,
    ) -> Loading {
        let found = self.settings(project, given);
        self.load_with(project, given, open, chosen, sources, found)
    }

    /// The same, with settings that were found before.
    pub(super) fn load_with(
        &self,
        project: &Project,
        given: &Given,
        open: bool,
        chosen: &[Chosen],
        mut sources: Sources,
        (settings, seen): (Arc<Settings>, Arc<Trace>),
    ) -> Loading {
        let traced = Traced::new(&self.files);
        let mut request = request(project, given, &settings, open);
        for chosen in chosen {
            project.language.choose(&mut request, chosen);
        }
        let aside = project.language.aside(&request);
        let loaded = project.language.load(&request, &traced, &mut sources);
        let mut trace = traced.into_trace();
        trace.extend(&seen);
        Loading {
            loaded,
            sources,
            settings,
            trace,
            aside,
        }
    }

    /// Checks what was loaded against the rules that come with the program, and the user's own.
    pub(super) fn judge(
        &self,
        loading: Loading,
        given: &Given,
        cancel: &Cancel,
    ) -> Result<(Trace, Report), Cancelled> {
        self.judge_and_mend(loading, given, true, cancel)
    }

    /// The same, with or without edits that mend what is found.
    pub(super) fn judge_and_mend(
        &self,
        loading: Loading,
        given: &Given,
        mend: bool,
        cancel: &Cancel,
    ) -> Result<(Trace, Report), Cancelled> {
        let Loading {
            mut loaded,
            sources,
            settings,
            trace,
            aside,
        } = loading;
        cancel.check()?;
        let mut ignore: Vec<String> = given.ignore.iter().chain(&settings.off).cloned().collect();
        ignore.extend(settings.off_in(&loaded.files));
        ignore.extend(settings.not_asked(given));
        if let Some(only) = &given.only {
            let own = settings
                .own_rules()
                .filter(|id| !only.iter().any(|one| one == id));
            ignore.extend(own.map(str::to_owned));
        }
        let options = Options {
            ignore: ignore.clone(),
            severities: settings.severities.clone(),
            texts: mend.then_some(&sources),
            proofs: given.proofs,
            ..Options::default()
        };
        let words = settings.rules_of(loaded.language).map(OwnRules::words);
        locus_invariants::placement::settle(&mut loaded, &options, &words.unwrap_or_default());
        let mut checked = check_loaded(&loaded, &options);
        let language = self.registry.named(loaded.language);
        let language = language.map(|language| (language.vocabulary(), loaded.declared.clone()));
        // Rules about every language know nothing of what a project declares.
        let shared =
            (loaded.language != lg::NAME).then(|| (Vocabulary::of_graphs(), Arc::default()));
        let mut own = Vec::new();
        for (vocabulary, declared) in language.into_iter().chain(shared) {
            if let Some(rules) = settings.rules_of(vocabulary.language()) {
                cancel.check()?;
                let rules = rules.compiled(&vocabulary, &declared);
                let found = rules.checker.check_loaded(&loaded, &options);
                checked.add(match vocabulary.language() == loaded.language {
                    true => found,
                    false => found.of_shared_rules(),
                });
                own.push(rules);
            }
        }
        cancel.check()?;
        loaded
            .diagnostics
            .retain(|found| !options.ignore.contains(&found.code));
        for found in &mut loaded.diagnostics {
            let mut asked = options.severities.iter();
            if let Some((_, severity)) = asked.find(|(code, _)| *code == found.code) {
                found.severity = *severity;
            }
        }
        let off = options.ignore;
        let mut report = Report::of(loaded, checked, sources, &settings, &trace);
        report.off = off;
        if mend {
            report.respell();
        }
        for own in own.iter().filter(|own| !own.wrong.is_empty()) {
            let files = report.sources.merge(vec![own.sources.clone()]);
            for mut wrong in own.wrong.iter().cloned() {
                wrong.move_to(files.first().map_or(&[], Vec::as_slice));
                report.findings.push(wrong);
            }
        }
        if given.as_instance {
            report.judge_as_instance();
        }
        report.leave_aside(&aside);
        settings.by_path(&mut report.findings, &report.sources, given);
        report.ignore(&settings, &ignore);
        report.sort();
        Ok((trace, report))
    }

    /// Who can talk to whom in a project; none when its language does not say.
    pub fn reach(&self, project: &Project, given: &Given) -> Option<(Reach, Sources)> {
        let mut sources = Sources::new();
        let (settings, _) = self.settings(project, given);
        let request = request(project, given, &settings, false);
        let mut reach = project
            .language
            .reach(&request, &self.files, &mut sources)?;
        reach
            .diagnostics
            .extend(settings.problems(&[], &mut sources));
        Some((reach, sources))
    }

    /// Reads a project without asking any rule.
    pub fn read(&self, project: &Project, given: &Given) -> Report {
        let Loading {
            loaded,
            sources,
            settings,
            trace,
            ..
        } = self.load(project, given);
        let checked = locus_invariants::Report::default();
        let mut report = Report::of(loaded, checked, sources, &settings, &trace);
        report.sort();
        report
    }

    /// The rules that a project has of its own.
    pub fn rules_of(&self, project: &Project, given: &Given) -> Vec<Rule> {
        let (settings, _) = self.settings(project, given);
        let languages = BTreeSet::from([project.language.name(), lg::NAME]);
        let own = languages
            .into_iter()
            .filter_map(|language| settings.rules_of(language));
        own.flat_map(|own| own.rules().to_vec()).collect()
    }

    /// The identifiers of the rules that a project has of its own.
    pub fn own_rules(&self, project: &Project, settings: Option<&str>) -> Vec<String> {
        let given = Given {
            settings: settings.map(str::to_owned),
            ..Given::default()
        };
        let (settings, _) = self.settings(project, &given);
        settings.own_rules().map(str::to_owned).collect()
    }
}

/// What a project is loaded with.
pub(super) fn request(
    project: &Project,
    given: &Given,
    settings: &Settings,
    open: bool,
) -> Request {
    let section = settings.section(project.language);
    Request {
        files: project.files.clone(),
        inputs: section
            .inputs
            .then(project.language.inputs(), &given.inputs),
        settings: section.own,
        settings_file: settings.file(),
        variables: given.variables.clone(),
        all_inputs: open,
        left_out: Vec::new(),
        now: given.now,
        mentioned: settings
            .rules_of(project.language.name())
            .map(OwnRules::words)
            .unwrap_or_default(),
        unasked: unasked(project, given, settings),
    }
}

/// What a language finds only when it is asked for, and no rule that is on mentions.
fn unasked(project: &Project, given: &Given, settings: &Settings) -> Words {
    let rare = project.language.on_demand();
    if rare.is_empty() {
        return Words::default();
    }
    let own = settings.rules_of(project.language.name());
    let own = own.map(OwnRules::words).unwrap_or_default();
    let off = settings.not_asked(given);
    let is_on = |rule: &&Rule| {
        let mut all = given.ignore.iter().chain(&settings.off).chain(&off);
        !all.any(|name| rule.is_called(name))
    };
    let rules = locus_invariants::rules().iter();
    let rules = rules.filter(|rule| rule.language == project.language.name());
    let texts: Vec<&str> = rules.filter(is_on).map(|rule| &*rule.text).collect();
    let is_asked =
        |word: &&str| own.contains(*word) || texts.iter().any(|text| text.contains(word));
    let unasked = rare.iter().copied().filter(|word| !is_asked(word));
    Words::new(unasked.map(str::to_owned).collect())
}

impl Report {
    fn of(
        loaded: Loaded,
        checked: locus_invariants::Report,
        mut sources: Sources,
        settings: &Settings,
        trace: &Trace,
    ) -> Self {
        let Loaded {
            language,
            graph,
            facts,
            declared: _,
            questions: _,
            diagnostics: mut findings,
            mut unchecked,
            about_settings,
            files,
        } = loaded;
        findings.extend(checked.findings);
        findings.extend(settings.problems(&about_settings, &mut sources));
        unchecked.extend(checked.unchecked);
        Report {
            language,
            findings,
            unchecked,
            ignored: Vec::new(),
            used_ignores: Vec::new(),
            sources,
            files,
            watched: watched(trace),
            seen: trace.seen(),
            off: Vec::new(),
            graph,
            facts,
            is_instance: None,
            everything: Everything::default(),
            proofs: checked.proofs,
            stats: checked.stats,
        }
    }
}

impl Report {
    /// Adds the edit to findings that ask whether another word was meant.
    fn respell(&mut self) {
        for found in &mut self.findings {
            if found.fixes.is_empty() {
                found.fixes.extend(respelling(found, &self.sources));
            }
        }
    }

    /// Lets the reference model judge the graph.
    fn judge_as_instance(&mut self) {
        match instance::judge(&self.graph, &Limits::default()) {
            Judgement::Instance => self.is_instance = Some(true),
            Judgement::Broken(findings) => {
                self.is_instance = Some(false);
                self.findings.extend(findings);
            }
            Judgement::Unknown(reason) => self.unchecked.push(*reason),
        }
    }

    /// Takes out what is only about files that tell what is there already; what is about others too is told there.
    fn leave_aside(&mut self, aside: &[String]) {
        if aside.is_empty() {
            return;
        }
        let sources = &self.sources;
        let is_own = |span: Span| !aside.iter().any(|path| path == sources.name(span.file));
        let keep = |found: &mut Diagnostic| {
            let Some(first) = found.primary() else {
                return true;
            };
            // What cannot be read of them is told all the same.
            if is_own(first) || matches!(&*found.code, "syntax" | "io" | "too-large" | "encoding") {
                return true;
            }
            let labels = found.labels.iter();
            if let Some(at) = labels.clone().position(|label| is_own(label.span)) {
                let label = found.labels.remove(at);
                found.labels.insert(0, label);
                return true;
            }
            let mut related = found.related.iter();
            match related.position(|label| is_own(label.span)) {
                Some(at) => {
                    let label = found.related.remove(at);
                    found.labels.insert(0, label);
                    true
                }
                None => false,
            }
        };
        self.findings.retain_mut(keep);
        self.unchecked.retain_mut(keep);
    }

    /// Takes out what comments ignore. Whether they are needed is not known where something was not checked.
    fn ignore(&mut self, settings: &Settings, off: &[String]) {
        let is_whole = self.unchecked.is_empty();
        let is_checked = |id: &str| is_whole && !off.iter().any(|off| off == id);
        let own = settings.own_rules();
        let applied = ignores::apply(&mut self.findings, &self.sources, own, is_checked);
        self.ignored = applied.ignored;
        self.used_ignores = applied.used;
        self.findings.extend(applied.wrong);
    }

    /// Brings the findings into the order of the text, each once.
    pub(super) fn sort(&mut self) {
        in_order(&mut self.findings, &self.sources);
        self.findings.dedup();
    }
}

/// Brings findings into the order of the names of files, of the text, and of codes.
pub(super) fn in_order(findings: &mut [Diagnostic], sources: &Sources) {
    let mut files: Vec<FileId> = sources.files().collect();
    files.sort_by_key(|file| sources.name(*file));
    // Files of one name share a rank, as a finding about one may be the same as that about the other.
    let mut ranks = vec![0; files.len()];
    let mut rank = 0;
    for (at, file) in files.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| files.get(at));
        if before.is_some_and(|before| sources.name(*before) != sources.name(*file)) {
            rank += 1;
        }
        if let Some(slot) = ranks.get_mut(file.index()) {
            *slot = rank;
        }
    }
    let place = |finding: &Diagnostic| {
        let span = finding.primary()?;
        Some((ranks.get(span.file.index()).copied(), span.start))
    };
    findings.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.code.cmp(&b.code)));
}

/// The paths that something depends on, each once.
pub(super) fn watched(trace: &Trace) -> Vec<String> {
    let mut paths: Vec<String> = trace.paths().map(str::to_owned).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// The folder that a project's settings are looked for from.
pub(super) fn place(project: &Project) -> &Path {
    Path::new(match project.first() {
        "" => ".",
        first => first,
    })
}
