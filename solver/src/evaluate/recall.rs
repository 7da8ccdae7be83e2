//! Values of terms by the variables that were looked at to find them.
//!
//! Which variables a value depends on is not computed from the term but seen while it is evaluated:
//! as long as all that was looked at is the same, so is the value. The solver finds out in another
//! way ([`crate::scope`]), so that an error in one of the two shows.

use rustc_hash::FxHashMap;

use crate::problem::Var;

/// What was looked at since some point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    seen: usize,
    judged: usize,
}

/// Who was looked at, and whether it mattered where.
#[derive(Debug, Default)]
pub(super) struct Trace {
    seen: Vec<Var>,
    /// How often it mattered what is around a term.
    judged: usize,
}

impl Trace {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            seen: self.seen.len(),
            judged: self.judged,
        }
    }

    /// A variable is looked at.
    pub(super) fn see(&mut self, var: Var) {
        self.seen.push(var);
    }

    pub(super) fn see_all(&mut self, vars: &[Var]) {
        self.seen.extend_from_slice(vars);
    }

    /// What is around the term is looked at.
    pub(super) fn judge(&mut self) {
        self.judged += 1;
    }

    /// A variable gets another value: it was not looked at from outside.
    pub(super) fn forget(&mut self, since: Mark, var: Var) {
        let mut kept = since.seen;
        for at in since.seen..self.seen.len() {
            if let Some(&seen) = self.seen.get(at)
                && seen != var
                && let Some(slot) = self.seen.get_mut(kept)
            {
                *slot = seen;
                kept += 1;
            }
        }
        self.seen.truncate(kept);
    }

    /// The variables looked at, ascending; none when it mattered what is around.
    pub(super) fn since(&mut self, since: Mark) -> Option<&[Var]> {
        let mut seen = self.seen.split_off(since.seen);
        seen.sort_unstable();
        seen.dedup();
        self.seen.append(&mut seen);
        (self.judged == since.judged)
            .then(|| self.seen.get(since.seen..))
            .flatten()
    }
}

/// The values of terms of one kind.
#[derive(Debug)]
pub(super) struct Recall<T> {
    /// By term: the lists of variables that were looked at.
    looked_at: FxHashMap<usize, Vec<Box<[Var]>>>,
    /// By term, place of the list, and what tells the values of its variables from others.
    values: FxHashMap<(usize, usize, Box<[u64]>), T>,
}

impl<T> Default for Recall<T> {
    fn default() -> Self {
        Recall {
            looked_at: FxHashMap::default(),
            values: FxHashMap::default(),
        }
    }
}

impl<T: Clone> Recall<T> {
    /// The value of a term and what it depends on, if it was found before.
    pub(super) fn get(
        &self,
        term: usize,
        identity: impl Fn(Var) -> Option<u64>,
    ) -> Option<(T, &[Var])> {
        let lists = self.looked_at.get(&term)?;
        lists.iter().enumerate().find_map(|(place, vars)| {
            let values: Option<Box<[u64]>> = vars.iter().map(|&var| identity(var)).collect();
            let value = self.values.get(&(term, place, values?))?;
            Some((value.clone(), vars.as_ref()))
        })
    }

    pub(super) fn insert(
        &mut self,
        term: usize,
        vars: &[Var],
        identity: impl Fn(Var) -> Option<u64>,
        value: T,
    ) {
        let Some(values) = vars.iter().map(|&var| identity(var)).collect() else {
            return;
        };
        let lists = self.looked_at.entry(term).or_default();
        let place = lists.iter().position(|list| **list == *vars);
        let place = place.unwrap_or_else(|| {
            lists.push(vars.into());
            lists.len() - 1
        });
        self.values.insert((term, place, values), value);
    }
}
