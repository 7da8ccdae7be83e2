//! Placements: found by trying and repairing, excluded by bounds and prices, and decided by a SAT solver where none of
//! these is enough.

mod bounds;
mod encode;
mod fill;
mod greedy;
mod pending;
mod prices;
#[cfg(test)]
#[path = "../../../benches/kubernetes/tight.rs"]
mod random;
mod repair;
#[cfg(test)]
mod tests;

use std::time::Instant;

use locus_core::placement::{Instance, LineId, Placement, Problem};

use crate::limits::{Limits, Reason};

pub use pending::{Fit, by_priority};

/// What is known about a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All things have a place.
    Placed(Placement),
    /// There is no placement.
    Impossible,
    /// A limit was reached before it was known.
    Unknown(Reason),
}

/// Things times places up to which a problem is small.
const SMALL: usize = 4_000;

/// Whether all things have a place.
pub fn place(instance: &Instance, limits: &Limits) -> Outcome {
    if bounds::exclude(instance) {
        return Outcome::Impossible;
    }
    if let Some(placement) = greedy::place(instance) {
        return Outcome::Placed(placement);
    }
    let good = |placement: Option<Placement>| {
        let placement = placement.filter(|placement| instance.refuses(placement).is_none());
        placement.map(Outcome::Placed)
    };
    let filled = good(fill::place(instance));
    let repaired = || good(repair::place(instance, repair::QUICK));
    if let Some(placed) = filled.or_else(repaired) {
        return placed;
    }
    if prices::exclude(instance) {
        return Outcome::Impossible;
    }
    // What is small is decided sooner by the solver than by trying on.
    let things: usize = instance.counts.iter().sum();
    let is_small = things * instance.places.iter().sum::<usize>() <= SMALL;
    let last = || good(prices::place(instance));
    let thorough = || good(repair::place(instance, repair::THOROUGH)).or_else(last);
    if let Some(placed) = (!is_small).then(thorough).flatten() {
        return placed;
    }
    let outcome = encode::place(instance, limits);
    // An answer that the instance itself refuses is none.
    match outcome {
        Outcome::Placed(placement) if instance.refuses(&placement).is_some() => {
            Outcome::Unknown(Reason::Interrupted)
        }
        other => other,
    }
}

/// Whether there is room for more things of a group where others have their places already.
pub fn has_room_for(instance: &Instance, placement: &Placement, group: usize, more: usize) -> bool {
    greedy::has_room_for(instance, placement, group, more)
}

/// Lines that cannot all stay as they are: without any one of them, there is a placement, or what excludes it no longer
/// does. None when there is a placement, or it is not known.
pub fn core(problem: &Problem, limits: &Limits) -> Result<Vec<LineId>, Outcome> {
    match place(&problem.whole(), limits) {
        Outcome::Impossible => {}
        other => return Err(other),
    }
    let mut search = Core {
        problem,
        limits,
        kept: vec![true; problem.lines],
        means: match problem.whole() {
            // What counting shows is shown again and again in no time.
            instance if bounds::exclude(&instance) => Means::Counting,
            instance if prices::exclude(&instance) => Means::Prices,
            _ => Means::All,
        },
    };
    let all: Vec<LineId> = (0..problem.lines).collect();
    search.shrink(&all);
    let kept = search.kept.iter().enumerate();
    Ok(kept
        .filter(|(_, kept)| **kept)
        .map(|(line, _)| line)
        .collect())
}

struct Core<'c> {
    problem: &'c Problem,
    limits: &'c Limits,
    kept: Vec<bool>,
    means: Means,
}

/// By what means it is known that there is no placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Counting,
    Prices,
    All,
}

impl Core<'_> {
    /// Whether it is known that there is no placement with the lines that are kept.
    fn conflicts(&self) -> bool {
        let gone = |line: LineId| self.kept.get(line) != Some(&true);
        let instance = self.problem.without(&gone);
        match self.means {
            Means::Counting => bounds::exclude(&instance),
            // Where there is a placement, no prices need to be tried.
            Means::Prices => {
                bounds::exclude(&instance)
                    || (greedy::place(&instance).is_none()
                        && fill::place(&instance).is_none()
                        && repair::place(&instance, repair::QUICK).is_none()
                        && prices::exclude(&instance))
            }
            Means::All => place(&instance, self.limits) == Outcome::Impossible,
        }
    }

    fn set(&mut self, lines: &[LineId], kept: bool) {
        for &line in lines {
            if let Some(slot) = self.kept.get_mut(line) {
                *slot = kept;
            }
        }
    }

    /// Takes away what is not needed, halves at a time.
    fn shrink(&mut self, lines: &[LineId]) {
        // When the time is over, the lines that are left still conflict, though some may not be needed.
        let late = |deadline: Instant| Instant::now() > deadline;
        if lines.is_empty() || self.limits.deadline.is_some_and(late) {
            return;
        }
        self.set(lines, false);
        if self.conflicts() {
            return;
        }
        self.set(lines, true);
        if lines.len() > 1 {
            let (first, second) = lines.split_at(lines.len() / 2);
            self.shrink(first);
            self.shrink(second);
        }
    }
}
