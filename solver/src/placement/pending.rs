//! What has a place when not everything has: things of higher priority come first.

use std::cmp::Reverse;
use std::time::Instant;

use locus_core::placement::{Instance, Placement, Problem};

use super::{Outcome, place};
use crate::limits::{Limits, Reason};

/// How many things of each group have a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The numbers of things, by group; of those that are everywhere, none.
    pub counts: Vec<usize>,
    /// Where they are; none when not even what is everywhere has a place.
    pub placement: Option<Placement>,
}

/// How many things of each group have a place when those of higher priority come first, as many as there may be, and among
/// equals those of the group that is stated first.
///
/// # Errors
/// Why that could not be decided.
pub fn by_priority(problem: &Problem, limits: &Limits) -> Result<Fit, Reason> {
    let whole = problem.whole();
    let mut order: Vec<usize> = (0..whole.counts.len())
        .filter(|&group| count(&whole.counts, group) > 0)
        .collect();
    let priority = |group: usize| problem.groups.get(group).map_or(0, |group| group.priority);
    order.sort_by_key(|&group| (Reverse(priority(group)), group));
    let mut filling = Filling {
        counts: vec![0; whole.counts.len()],
        placement: None,
        whole,
        limits,
    };
    if !filling.take(Vec::new())? {
        return Ok(filling.fit());
    }
    // What follows others may have a place once these have theirs.
    loop {
        let before = filling.counts.clone();
        for level in order.chunk_by(|&a, &b| priority(a) == priority(b)) {
            let all = level.iter().map(|&group| (group, filling.full(group)));
            if filling.take(all.collect())? {
                continue;
            }
            for &group in level {
                filling.most(group)?;
            }
        }
        if filling.counts == before {
            return Ok(filling.fit());
        }
    }
}

fn count(counts: &[usize], group: usize) -> usize {
    counts.get(group).copied().unwrap_or(0)
}

struct Filling<'l> {
    whole: Instance,
    limits: &'l Limits,
    /// How many things have a place, as was seen.
    counts: Vec<usize>,
    placement: Option<Placement>,
}

impl Filling<'_> {
    fn full(&self, group: usize) -> usize {
        count(&self.whole.counts, group)
    }

    /// Takes other numbers of some groups, if all things then have a place.
    fn take(&mut self, changes: Vec<(usize, usize)>) -> Result<bool, Reason> {
        let mut counts = self.counts.clone();
        for (group, count) in changes {
            if let Some(slot) = counts.get_mut(group) {
                *slot = count;
            }
        }
        if self.placement.is_some() && counts == self.counts {
            return Ok(true);
        }
        if self.limits.deadline.is_some_and(|end| Instant::now() > end) {
            return Err(Reason::Time);
        }
        let instance = Instance {
            counts: counts.clone(),
            ..self.whole.clone()
        };
        match place(&instance, self.limits) {
            Outcome::Placed(placement) => {
                self.counts = counts;
                self.placement = Some(placement);
                Ok(true)
            }
            Outcome::Impossible => Ok(false),
            Outcome::Unknown(reason) => Err(reason),
        }
    }

    /// Takes as many things of a group as have a place beside the others.
    fn most(&mut self, group: usize) -> Result<(), Reason> {
        let mut above = self.full(group);
        if self.take(vec![(group, above)])? {
            return Ok(());
        }
        let mut known = count(&self.counts, group);
        while above - known > 1 {
            let middle = known + (above - known) / 2;
            match self.take(vec![(group, middle)])? {
                true => known = middle,
                false => above = middle,
            }
        }
        Ok(())
    }

    fn fit(self) -> Fit {
        Fit {
            counts: self.counts,
            placement: self.placement,
        }
    }
}
