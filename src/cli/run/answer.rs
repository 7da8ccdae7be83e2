//! One command and what is found about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::report::instance::View;
use locus_core::Diagnostic;
use locus_grammar::model::Command;
use locus_solver::alloy::{self, Translation};
use locus_solver::limits::{Limits, Reason};
use locus_solver::search::{Error, Options, Outcome, Overflow, Search, SolverKind};

use super::{Interrupt, ModelFile};
use crate::cli::Exit;
use crate::cli::flags::{self, RunArgs};

/// How long an expected instance is looked for without breaking symmetry.
const FIRST_ATTEMPT: Duration = Duration::from_secs(60);

/// How long the reason why there is no instance is looked for when nobody asked for it.
const UNASKED_CORE: Duration = Duration::from_secs(10);

/// How many more instances a page gets when nobody asked for a number, and how long they are looked for.
const UNASKED: usize = 9;
const UNASKED_INSTANCES: Duration = Duration::from_secs(5);

/// How many instances are wanted beyond the first.
fn more(args: &RunArgs) -> usize {
    match args.next {
        0 if args.html.is_some() => UNASKED,
        next => next,
    }
}

/// A command to answer.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) file: &'a ModelFile,
    pub(super) index: usize,
    pub(super) command: &'a Command,
}

/// What is known of a command's formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Sat,
    Unsat,
    Unknown,
    Error,
}

impl Verdict {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Verdict::Sat => "sat",
            Verdict::Unsat => "unsat",
            Verdict::Unknown => "unknown",
            Verdict::Error => "error",
        }
    }
}

/// Everything found about one command.
pub(super) struct Answer {
    pub(super) verdict: Verdict,
    pub(super) expect: Option<u32>,
    pub(super) is_check: bool,
    /// Why there is no verdict, or what to know about it.
    pub(super) message: Option<String>,
    pub(super) instances: Vec<View>,
    /// Whether enumeration ended because there are no more instances.
    pub(super) exhausted: bool,
    /// What to show besides: an error, a core, a warning.
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) primary_vars: usize,
    pub(super) vars: usize,
    pub(super) clauses: usize,
    pub(super) translate: Duration,
    pub(super) solve: Duration,
    /// Time until the verdict; what is told about it besides (a core, a proof, more instances)
    /// takes longer.
    pub(super) total: Duration,
}

impl Answer {
    /// Whether the verdict is the one that the command expects; `None` when it expects none.
    pub(super) fn as_expected(&self) -> Option<bool> {
        match (self.expect?, self.verdict) {
            (_, Verdict::Unknown | Verdict::Error) => None,
            (0, verdict) => Some(verdict == Verdict::Unsat),
            (_, verdict) => Some(verdict == Verdict::Sat),
        }
    }

    /// What this answer alone makes the program end with.
    pub(super) fn exit(&self) -> Exit {
        match (self.verdict, self.as_expected()) {
            (Verdict::Unknown | Verdict::Error, _) => Exit::Unanswered,
            (_, Some(true)) => Exit::Clean,
            (_, Some(false)) => Exit::Findings,
            (Verdict::Sat, None) if self.is_check => Exit::Findings,
            (_, None) => Exit::Clean,
        }
    }
}

/// Answers a command.
pub(super) fn answer(question: &Question, args: &RunArgs, interrupt: &Interrupt) -> Answer {
    let start = Instant::now();
    let command = question.command;
    let mut answer = Answer {
        verdict: Verdict::Error,
        expect: command.expect,
        is_check: command.is_check,
        message: None,
        instances: Vec::new(),
        exhausted: false,
        diagnostics: Vec::new(),
        primary_vars: 0,
        vars: 0,
        clauses: 0,
        translate: Duration::ZERO,
        solve: Duration::ZERO,
        total: Duration::ZERO,
    };
    match alloy::translate(&question.file.model, command) {
        Ok(translation) => {
            let mut answering = Answering {
                start,
                question,
                args,
                translation: &translation,
                answer: &mut answer,
            };
            let options = options(args, start, interrupt);
            answering.attempts(options);
        }
        Err(diagnostic) => {
            answer.total = start.elapsed();
            answer.message = Some(diagnostic.message.clone());
            answer.diagnostics.push(*diagnostic);
        }
    }
    answer
}

fn options(args: &RunArgs, start: Instant, interrupt: &Interrupt) -> Options {
    Options {
        solver: match args.solver {
            #[cfg(feature = "cadical")]
            flags::Solver::Cadical => SolverKind::Cadical,
            flags::Solver::Varisat => SolverKind::Varisat,
            #[cfg(feature = "cadical")]
            flags::Solver::Relay => SolverKind::Relay,
        },
        symmetry: args.symmetry,
        every_relation: more(args) > 0,
        skolem_depth: args.skolem_depth,
        overflow: match args.overflow {
            flags::Overflow::Forbid => Overflow::Forbid,
            flags::Overflow::Wrap => Overflow::Wrap,
        },
        limits: Limits {
            deadline: args.timeout.map(|timeout| start + timeout),
            memory: args.memory.map(|mib| mib.saturating_mul(1 << 20)),
            interrupt: Some(interrupt.clone()),
        },
        ..Options::default()
    }
}

fn refuse(answer: &mut Answer, error: Error, question: &Question) {
    match error {
        Error::Limit(reason) => {
            answer.verdict = Verdict::Unknown;
            answer.message = Some(reason.to_string());
        }
        error => {
            answer.verdict = Verdict::Error;
            let mut diagnostic = Diagnostic::error(error.code(), error.to_string());
            diagnostic = diagnostic.at(question.command.span);
            answer.message = Some(diagnostic.message.clone());
            answer.diagnostics.push(diagnostic);
        }
    }
}

struct Answering<'a, 'q> {
    start: Instant,
    question: &'a Question<'q>,
    args: &'a RunArgs,
    translation: &'a Translation,
    answer: &'a mut Answer,
}

impl Answering<'_, '_> {
    /// Where an instance is expected, a search that may find any of many equal ones is mostly
    /// faster, and so Alloy does it; where it is not, breaking symmetry helps after all. Who asks
    /// for several instances wants them to differ.
    fn attempts(&mut self, options: Options) {
        let expects_instance = self.answer.expect == Some(1) && more(self.args) == 0;
        if expects_instance && options.symmetry > 0 {
            let mut first = options.clone();
            first.symmetry = 0;
            first.small_first = true;
            let patience = Instant::now() + FIRST_ATTEMPT;
            let deadline = first
                .limits
                .deadline
                .map_or(patience, |end| end.min(patience));
            first.limits.deadline = Some(deadline);
            self.attempt(&first);
            let gave_up = self.answer.verdict == Verdict::Unknown;
            let interrupted = first.limits.exceeded() == Some(Reason::Interrupted);
            let over = options.limits.exceeded().is_some();
            if !gave_up || interrupted || over {
                return;
            }
            self.answer.message = None;
        }
        self.attempt(&options);
    }

    fn attempt(&mut self, options: &Options) {
        let lowering = self.start.elapsed();
        match Search::new(&self.translation.problem, options) {
            Ok(search) => self.search(search, lowering),
            Err(error) => {
                self.answer.translate = self.start.elapsed();
                self.answer.total = self.answer.translate;
                refuse(self.answer, error, self.question);
            }
        }
    }

    fn search(&mut self, mut search: Search<'_>, lowering: Duration) {
        let outcome = if self.args.smallest {
            search.smallest()
        } else {
            search.next()
        };
        match outcome {
            Ok(Outcome::Sat(instance)) => {
                self.answer.verdict = Verdict::Sat;
                self.show(&instance);
            }
            Ok(Outcome::Unsat) => self.answer.verdict = Verdict::Unsat,
            Ok(Outcome::Unknown(reason)) => {
                self.answer.verdict = Verdict::Unknown;
                self.answer.message = Some(reason.to_string());
            }
            Err(error) => refuse(self.answer, error, self.question),
        }
        let stats = search.stats();
        self.answer.primary_vars = stats.primary_vars;
        self.answer.vars = stats.vars;
        self.answer.clauses = stats.clauses;
        self.answer.translate = lowering + stats.translate;
        self.answer.solve = stats.solve;
        self.answer.total = self.start.elapsed();
        if self.answer.verdict == Verdict::Sat {
            self.more(&mut search);
        }
        if matches!(self.answer.verdict, Verdict::Sat | Verdict::Unsat)
            && search.depends_on_overflow()
        {
            self.warn_of_overflow();
        }
        if self.answer.verdict == Verdict::Unsat {
            if self.wants_core() {
                self.core(&mut search);
            }
            if let Some(path) = &self.args.proof {
                self.proof(&mut search, path);
            }
        } else if self.args.proof.is_some() && self.answer.verdict == Verdict::Sat {
            let warning = Diagnostic::warning(
                "proof",
                "an instance was found, so there is no proof of its absence",
            );
            self.answer.diagnostics.push(warning);
        }
    }

    fn show(&mut self, instance: &locus_solver::search::Instance) {
        // A view is worth its time only when somebody looks at it.
        let shown = self.args.format == flags::Format::Text || self.args.instances;
        if shown || self.args.html.is_some() {
            match View::new(&self.question.file.model, self.translation, instance) {
                Ok(view) => self.answer.instances.push(view),
                Err(error) => {
                    let message = format!("the instance cannot be shown: {error:?}");
                    self.answer
                        .diagnostics
                        .push(Diagnostic::warning("instance", message));
                }
            }
        }
    }

    fn more(&mut self, search: &mut Search<'_>) {
        let asked = self.args.next > 0;
        let start = Instant::now();
        for _ in 0..more(self.args) {
            if !asked && start.elapsed() > UNASKED_INSTANCES {
                return;
            }
            match search.next() {
                Ok(Outcome::Sat(instance)) => self.show(&instance),
                Ok(Outcome::Unsat) => {
                    self.answer.exhausted = true;
                    return;
                }
                Ok(Outcome::Unknown(reason)) => {
                    self.answer.message = Some(format!("no further instance: {reason}"));
                    return;
                }
                Err(error) => return refuse(self.answer, error, self.question),
            }
        }
    }

    /// A core explains what was not wanted: a `run` without an instance.
    fn wants_core(&self) -> bool {
        self.args.core || (!self.answer.is_check && self.answer.expect != Some(0))
    }

    fn core(&mut self, search: &mut Search<'_>) {
        let core = if self.args.core {
            search.core()
        } else {
            search.core_until(Instant::now() + UNASKED_CORE)
        };
        let core = match core {
            Ok(core) => core,
            Err(error) => {
                let mut warning = Diagnostic::warning("core", format!("no explanation: {error}"));
                if !self.args.core {
                    warning = warning.help("`--core` searches for one without this limit");
                }
                self.answer.diagnostics.push(warning);
                return;
            }
        };
        let message = if core.constraints.len() == 1 {
            "this cannot hold in the given scope"
        } else {
            "these cannot all hold in the given scope"
        };
        let mut diagnostic = Diagnostic::new(locus_core::Severity::Info, "core", message);
        let mut spans: Vec<_> = core
            .constraints
            .iter()
            .filter_map(|&index| self.translation.problem.constraints.get(index))
            .collect();
        spans.sort_by_key(|constraint| constraint.span);
        spans.dedup_by(|a, b| a.span == b.span && a.label == b.label);
        for constraint in spans {
            if let Some(span) = constraint.span {
                diagnostic = diagnostic.label(span, constraint.label.clone());
            }
        }
        if !core.minimal {
            diagnostic = diagnostic
                .help("a limit was reached: some of these may not be needed for the conflict");
        }
        self.answer.diagnostics.push(diagnostic);
    }

    fn proof(&mut self, search: &mut Search<'_>, path: &Path) {
        let cnf = PathBuf::from(format!("{}.cnf", path.display()));
        let written = search
            .proof()
            .map_err(|error| error.to_string())
            .and_then(|proof| {
                let write = |path: &Path, bytes: &[u8]| {
                    fs::write(path, bytes)
                        .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
                };
                write(&cnf, &proof.dimacs)?;
                write(path, &proof.drat)
            });
        if let Err(message) = written {
            self.answer.verdict = Verdict::Error;
            self.answer.message = Some(message.clone());
            self.answer
                .diagnostics
                .push(Diagnostic::error("proof", message));
        }
    }

    fn warn_of_overflow(&mut self) {
        let other = match self.args.overflow {
            flags::Overflow::Forbid => "wrap",
            flags::Overflow::Wrap => "forbid",
        };
        let warning = Diagnostic::warning(
            "overflow",
            format!(
                "the answer depends on integers that do not fit into {} bits",
                self.translation.problem.bitwidth
            ),
        )
        .at(self.question.command.span)
        .help(format!(
            "it is another with `--overflow {other}`; a larger scope of `Int` settles it"
        ));
        self.answer.diagnostics.push(warning);
    }
}
