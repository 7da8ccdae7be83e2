//! What a verdict depends on: the symbols because of which it is not known.
//!
//! Only what is not known has reasons: a formula that is true or false in three values is so for every input. So
//! whenever an evaluation ends with a definite value, all that it met is forgotten.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashSet;

use super::database::Database;
use super::set::Atom;

/// A symbol that a verdict depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Touched {
    /// Its position among the symbols.
    pub symbol: u32,
    /// Whether more matters than what it is equal to: its text or size was looked at.
    pub opaque: bool,
}

/// The symbols met so far.
#[derive(Debug, Default)]
pub(super) struct Trail {
    on: Cell<bool>,
    met: RefCell<Vec<Touched>>,
    /// Symbols and the atoms that they may be, of all that was noted since the trail was made.
    compared: RefCell<FxHashSet<(u32, Atom)>>,
    /// Symbols and the atoms that built-in relations may relate them to, in whatever way.
    met_with: RefCell<FxHashSet<(u32, Atom)>>,
    /// Symbols that may be the same, the lower one first.
    linked: RefCell<FxHashSet<(u32, u32)>>,
}

/// Symbols after which repeats are dropped.
const CROWDED: usize = 4096;

impl Trail {
    /// Starts to note what is met, or stops.
    pub(super) fn switch(&self, on: bool) {
        self.on.set(on);
        self.met.borrow_mut().clear();
    }

    pub(super) fn is_on(&self) -> bool {
        self.on.get()
    }

    /// What was met, each once.
    pub(super) fn take(&self) -> Vec<Touched> {
        let mut met = std::mem::take(&mut *self.met.borrow_mut());
        met.sort_unstable();
        met.dedup();
        met
    }

    /// A place to return to.
    pub(super) fn mark(&self) -> usize {
        self.met.borrow().len()
    }

    /// Forgets what was met since.
    pub(super) fn forget(&self, mark: usize) {
        self.met.borrow_mut().truncate(mark);
    }

    /// What was met since.
    pub(super) fn since(&self, mark: usize) -> Vec<Touched> {
        let met = self.met.borrow();
        let mut since = met.get(mark..).unwrap_or(&[]).to_vec();
        since.sort_unstable();
        since.dedup();
        since
    }

    /// Notes symbols.
    pub(super) fn note(&self, symbols: impl IntoIterator<Item = Touched>) {
        if self.on.get() {
            let mut met = self.met.borrow_mut();
            let before = met.len();
            met.extend(symbols);
            // What was just added may be what was added before, many times over.
            if met.len() - before > CROWDED {
                let mut new = met.split_off(before);
                new.sort_unstable();
                new.dedup();
                met.extend(new);
            }
        }
    }

    /// Notes symbols that decide whether tuples are there.
    pub(super) fn note_reasons(&self, reasons: impl IntoIterator<Item = u32>) {
        let touched = |symbol| Touched {
            symbol,
            opaque: false,
        };
        self.note(reasons.into_iter().map(touched));
    }

    /// Notes that it is not known whether two atoms are the same.
    pub(super) fn note_pair(&self, database: &Database, a: Atom, b: Atom) {
        for (one, other) in [(a, b), (b, a)] {
            self.note_atom(database, one, false);
            match (database.symbol_of(one), database.symbol_of(other)) {
                (Some(symbol), None) => {
                    self.compared.borrow_mut().insert((symbol, other));
                }
                (Some(symbol), Some(other)) if symbol < other => {
                    self.linked.borrow_mut().insert((symbol, other));
                }
                _ => {}
            }
        }
    }

    /// Notes that it is not known whether a built-in relation has a row.
    pub(super) fn note_row(&self, database: &Database, row: &[Atom]) {
        if !self.on.get() {
            return;
        }
        for &atom in row {
            self.note_atom(database, atom, true);
            if let Some(symbol) = database.symbol_of(atom) {
                let others = row
                    .iter()
                    .filter(|&&other| database.symbol_of(other).is_none());
                let mut met = self.met_with.borrow_mut();
                met.extend(others.map(|&other| (symbol, other)));
            }
        }
    }

    /// Symbols and what built-in relations may relate them to.
    pub(super) fn met_with(&self) -> Vec<(u32, Atom)> {
        let mut met: Vec<(u32, Atom)> = self.met_with.borrow().iter().copied().collect();
        met.sort_unstable();
        met
    }

    /// Symbols that were compared with each other.
    pub(super) fn linked(&self) -> Vec<(u32, u32)> {
        let mut linked: Vec<(u32, u32)> = self.linked.borrow().iter().copied().collect();
        linked.sort_unstable();
        linked
    }

    /// Symbols and what they were compared with.
    pub(super) fn compared(&self) -> Vec<(u32, Atom)> {
        let mut compared: Vec<(u32, Atom)> = self.compared.borrow().iter().copied().collect();
        compared.sort_unstable();
        compared
    }

    /// Notes an atom, when it is not known what it is.
    pub(super) fn note_atom(&self, database: &Database, atom: Atom, opaque: bool) {
        if self.on.get()
            && let Some(symbol) = database.symbol_of(atom)
        {
            self.note([Touched { symbol, opaque }]);
        }
    }
}
