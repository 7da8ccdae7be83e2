//! Questions of placement, answered before rules are asked: what conflicts is stated like any other fact.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use locus_core::Diagnostic;
use locus_core::diagnostic::Verdict;
use locus_core::facts::{AtomId, Facts};
use locus_core::placement::{LineId, Placement, Problem, Question, Relation, Rule};
use locus_frontends::language::{Loaded, Words};
use locus_solver::limits::Limits;
use locus_solver::placement::{Outcome, core, has_room_for, place};

use crate::check::{Checker, Options};

/// The time that all questions about a configuration may take.
const TIME: Duration = Duration::from_secs(10);

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All things have a place.
    Placed(Placement),
    /// Lines that cannot all stay as they are.
    Conflict(Vec<LineId>),
    /// It is not known, and why.
    Unknown(String),
}

/// Answers a question.
pub fn answer(question: &Question) -> Answer {
    solve(&question.asked(), &limits())
}

fn limits() -> Limits {
    Limits {
        deadline: Instant::now().checked_add(TIME),
        ..Limits::default()
    }
}

fn solve(problem: &Problem, limits: &Limits) -> Answer {
    match core(problem, limits) {
        Ok(lines) => Answer::Conflict(lines),
        Err(Outcome::Placed(placement)) => Answer::Placed(placement),
        Err(Outcome::Unknown(reason)) => Answer::Unknown(reason.to_string()),
        Err(Outcome::Impossible) => Answer::Conflict(Vec::new()),
    }
}

/// Answers the questions of a configuration once for all who ask, when a rule asks at all: what conflicts is then one of its
/// facts, and nobody answers them again.
pub fn settle(loaded: &mut Loaded, options: &Options<'_>, words: &Words) {
    let own = names(loaded).any(|name| words.contains(name));
    let asked = own
        || Checker::builtin(loaded.language)
            .is_some_and(|checker| is_asked(checker, loaded, options));
    if asked {
        let (facts, unchecked) = facts(loaded);
        if let Cow::Owned(facts) = facts {
            loaded.facts = facts;
        }
        loaded.unchecked.extend(unchecked);
    }
    loaded.questions.clear();
}

/// States of a configuration with open numbers of things what is so whatever they are; what depends on them is open.
pub fn settle_open(loaded: &mut Loaded) {
    let limits = limits();
    for question in std::mem::take(&mut loaded.questions) {
        let mut asked = question.clone();
        asked.more.extend(
            question
                .open
                .iter()
                .flat_map(|open| open.more.iter().copied()),
        );
        let problem = asked.asked();
        // With fewer things, what fits still does, unless some of them are needed by others.
        let needed = |rule: &Rule| match &rule.relation {
            Relation::Apart { .. } | Relation::Shared { .. } => false,
            Relation::Together { .. } | Relation::Spread { .. } => true,
        };
        let fits = !problem.rules.iter().any(needed)
            && matches!(place(&problem.whole(), &limits), Outcome::Placed(_));
        match &question.open {
            _ if fits => state(&mut loaded.facts, &question, false),
            Some(open) => {
                let tuple = [question.asked, open.truth];
                loaded.facts.tuple(question.impossible, &tuple);
            }
            // The plain check answers it.
            None => {}
        }
    }
}

/// States whether there is no placement.
fn state(facts: &mut Facts, question: &Question, impossible: bool) {
    let [no, yes] = question.truths;
    let truth = if impossible { yes } else { no };
    facts.tuple(question.impossible, &[question.asked, truth]);
}

/// The names of the fields that answers are stated in.
fn names(loaded: &Loaded) -> impl Iterator<Item = &'static str> {
    let first = loaded.questions.first();
    let fields = first.map(|one| [one.impossible.index(), one.conflict.index()]);
    fields.into_iter().flatten().filter_map(|field| {
        let sigs = loaded.facts.declarations().sigs.iter();
        let mut fields = sigs.flat_map(|sig| sig.fields);
        fields.nth(field).map(|field| field.name)
    })
}

/// Whether a rule that is on reads the answers.
pub(crate) fn is_asked(checker: &Checker, loaded: &Loaded, options: &Options<'_>) -> bool {
    let names: Vec<&str> = names(loaded).collect();
    let mut rules = checker.program().rules.iter().map(|rule| &rule.rule);
    rules.any(|rule| {
        let mut ignored = options.ignore.iter();
        names.iter().any(|name| rule.text.contains(name))
            && !ignored.any(|name| rule.is_called(name))
    })
}

/// The facts of a configuration with the answers to its questions, and what could not be answered.
pub(crate) fn facts(loaded: &Loaded) -> (Cow<'_, Facts>, Vec<Diagnostic>) {
    let Some((first, others)) = loaded.questions.split_first() else {
        return (Cow::Borrowed(&loaded.facts), Vec::new());
    };
    let limits = limits();
    let mut facts = Cow::Borrowed(&loaded.facts);
    let mut unchecked = Vec::new();
    let mut tell = |question: &Question, answer: Answer| match answer {
        Answer::Placed(_) => state(facts.to_mut(), question, false),
        Answer::Conflict(lines) => {
            let lines = lines.iter().filter_map(|&line| question.lines.get(line));
            let mut lines: Vec<AtomId> = lines.copied().collect();
            // First what is written where the question is, then what is in other files.
            let file = |atom: AtomId| loaded.facts.get(atom).span.file;
            lines.sort_by_key(|&line| file(line) != file(question.asked));
            let facts = facts.to_mut();
            state(facts, question, true);
            for line in lines {
                facts.tuple(question.conflict, &[question.asked, line]);
            }
        }
        Answer::Unknown(why) => {
            let asked = loaded.facts.atoms().find(|(id, _)| *id == question.asked);
            let name = asked.map_or("", |(_, atom)| &*atom.name);
            let message =
                format!("could not decide whether there is a placement for {name}: {why}");
            let mut open = Diagnostic::warning("placement", message);
            if let Some((_, atom)) = asked {
                open = open.at(atom.span);
            }
            open.verdict = Verdict::Undecided { why };
            unchecked.push(open);
        }
    };
    let whole = first.asked();
    let placed = match solve(&whole, &limits) {
        Answer::Placed(placement) => {
            tell(first, Answer::Placed(placement.clone()));
            placement
        }
        // What does not fit as it is does not fit with less room either.
        other => {
            tell(first, other);
            return (facts, unchecked);
        }
    };
    let instance = whole.whole();
    for question in others {
        let grows = question.places.is_none() && question.out == first.out;
        if grows
            && let [(group, more)] = *question.more.as_slice()
            && has_room_for(&instance, &placed, group, more)
        {
            continue;
        }
        tell(question, solve(&question.asked(), &limits));
    }
    (facts, unchecked)
}
