//! Questions of placement, answered before rules are asked: what conflicts is stated like any other fact.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use locus_core::Diagnostic;
use locus_core::diagnostic::Verdict;
use locus_core::facts::{AtomId, Facts};
use locus_core::placement::{Group, LineId, Placement, Problem, Question, Relation, Rule};
use locus_core::vocabulary::FieldId;
use locus_frontends::language::{Loaded, Words};
use locus_solver::limits::Limits;
use locus_solver::placement::{Outcome, by_priority, core, has_room_for, place};

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

/// Things of a group that have no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The group.
    pub group: usize,
    /// How many have none.
    pub count: usize,
    /// In words: how many of how many, and of what priority.
    pub text: String,
}

/// What has no place when not everything has, by priority, the lowest first; nothing when all have the same priority, or it
/// could not be decided.
pub fn pending(problem: &Problem, limits: &Limits) -> Option<Vec<Pending>> {
    let there = || {
        let groups = problem.groups.iter();
        groups.filter(|group| group.count > 0 && !group.everywhere)
    };
    let first = there().next()?.priority;
    if there().all(|group| group.priority == first) {
        return None;
    }
    let fit = by_priority(problem, limits).ok()?;
    fit.placement.as_ref()?;
    let mut pending: Vec<Pending> = Vec::new();
    for (at, (group, placed)) in problem.groups.iter().zip(&fit.counts).enumerate() {
        let count = group.count.saturating_sub(*placed);
        if group.everywhere || count == 0 {
            continue;
        }
        let equals = there().filter(|other| other.priority == group.priority);
        // Of equals, which ones find a place is a matter of luck.
        let may = if equals.count() > 1 {
            "may stay"
        } else {
            "stay"
        };
        let (all, priority) = (group.count, group.priority);
        pending.push(Pending {
            group: at,
            count,
            text: format!("{count} of {all} pods {may} pending (priority {priority})"),
        });
    }
    pending.sort_by_key(|one| problem.groups.get(one.group).map(|group| group.priority));
    Some(pending)
}

/// What is driven out when things of lower priority than those that a question is about go, or why that does not help; none
/// when there are no such things, or they are not driven out.
fn by_driving_out(question: &Question, limits: &Limits) -> Option<Result<Vec<Pending>, Answer>> {
    let problem = question.asked();
    let own = problem.groups.get(question.about?)?;
    let lower = |group: &Group| !group.everywhere && group.priority < own.priority;
    if !own.preempts
        || !problem
            .groups
            .iter()
            .any(|group| group.count > 0 && lower(group))
    {
        return None;
    }
    let mut rest = problem.clone();
    for group in rest.groups.iter_mut().filter(|group| lower(group)) {
        group.count = 0;
    }
    Some(match solve(&rest, limits) {
        Answer::Placed(_) => {
            let mut pending = pending(&problem, limits).unwrap_or_default();
            pending.retain(|one| problem.groups.get(one.group).is_some_and(lower));
            Ok(pending)
        }
        other => Err(other),
    })
}

/// States which things have no place.
fn wait(facts: &mut Facts, question: &Question, field: FieldId<2>, pending: &[Pending]) {
    let told = &question.told;
    for one in pending {
        let Some(Some(group)) = told.groups.get(one.group).copied() else {
            continue;
        };
        let span = facts.get(group).span;
        let atom = facts.atom(told.sig, one.text.clone(), span);
        facts.tuple(told.of, &[atom, group]);
        facts.tuple(field, &[question.asked, atom]);
    }
}

/// That a question could not be answered.
fn unknown(loaded: &Loaded, question: &Question, why: String) -> Diagnostic {
    let atom = loaded.facts.get(question.asked);
    let name = &atom.name;
    let message = format!("could not decide whether there is a placement for {name}: {why}");
    let mut open = Diagnostic::warning("placement", message).at(atom.span);
    open.verdict = Verdict::Undecided { why };
    open
}

/// Answers a question.
pub fn answer(question: &Question) -> Answer {
    solve(&question.asked(), &limits())
}

/// The time that questions may take.
pub fn limits() -> Limits {
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
                if question.about.is_some() {
                    loaded.facts.tuple(question.told.drives, &tuple);
                }
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
    let fields = first.map(|one| {
        let told = &one.told;
        [
            one.impossible,
            one.conflict,
            told.pending,
            told.drives,
            told.driven,
        ]
        .map(FieldId::index)
    });
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
    let file = |atom: AtomId| loaded.facts.get(atom).span.file;
    let mut tell = |question: &Question, answer: Answer| {
        let driving = match &answer {
            Answer::Conflict(_) => by_driving_out(question, &limits),
            _ => None,
        };
        let answer = match driving {
            Some(Ok(driven)) => {
                let facts = facts.to_mut();
                state(facts, question, false);
                let [_, yes] = question.truths;
                facts.tuple(question.told.drives, &[question.asked, yes]);
                wait(facts, question, question.told.driven, &driven);
                return;
            }
            Some(Err(without)) => without,
            None => answer,
        };
        match answer {
            Answer::Placed(_) => state(facts.to_mut(), question, false),
            Answer::Conflict(lines) => {
                let lines = lines.iter().filter_map(|&line| question.lines.get(line));
                let mut lines: Vec<AtomId> = lines.copied().collect();
                // First what is written where the question is, then what is in other files.
                lines.sort_by_key(|&line| file(line) != file(question.asked));
                let facts = facts.to_mut();
                state(facts, question, true);
                for line in lines {
                    facts.tuple(question.conflict, &[question.asked, line]);
                }
                let pending = pending(&question.asked(), &limits).unwrap_or_default();
                wait(facts, question, question.told.pending, &pending);
            }
            Answer::Unknown(why) => unchecked.push(unknown(loaded, question, why)),
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
