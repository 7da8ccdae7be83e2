//! Questions of placement, answered before rules are asked: what conflicts is stated like any other fact.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use locus_core::Diagnostic;
use locus_core::diagnostic::Verdict;
use locus_core::facts::{AtomId, Facts};
use locus_core::placement::{LineId, Placement, Problem, Question};
use locus_frontends::language::Loaded;
use locus_solver::limits::Limits;
use locus_solver::placement::{Outcome, core, has_room_for};

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

/// The facts of a configuration with the answers to its questions, and what could not be answered.
pub(crate) fn facts(loaded: &Loaded) -> (Cow<'_, Facts>, Vec<Diagnostic>) {
    let Some((first, others)) = loaded.questions.split_first() else {
        return (Cow::Borrowed(&loaded.facts), Vec::new());
    };
    let limits = limits();
    let mut facts = Cow::Borrowed(&loaded.facts);
    let mut unchecked = Vec::new();
    let mut tell = |question: &Question, answer: Answer| match answer {
        Answer::Placed(_) => {}
        Answer::Conflict(lines) => {
            let lines = lines.iter().filter_map(|&line| question.lines.get(line));
            let mut lines: Vec<AtomId> = lines.copied().collect();
            // First what is written where the question is, then what is in other files.
            let file = |atom: AtomId| loaded.facts.get(atom).span.file;
            lines.sort_by_key(|&line| file(line) != file(question.asked));
            let facts = facts.to_mut();
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
        Answer::Placed(placement) => placement,
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
