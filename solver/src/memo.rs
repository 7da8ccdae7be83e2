//! Results of terms by the values of their free variables.

use rustc_hash::FxHashMap;

use crate::problem::Var;

/// A term, the context it is judged in, and the values of its free variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Small(u32, u32, [u64; 3]),
    Large(u32, u32, Box<[u64]>),
}

impl Key {
    /// The key of a term; `None` when a free variable has no value.
    pub(crate) fn new(
        index: usize,
        context: u32,
        free: &[Var],
        value: impl Fn(Var) -> Option<u64>,
    ) -> Option<Key> {
        let index = u32::try_from(index).ok()?;
        if free.len() <= 3 {
            let mut values = [0; 3];
            for (slot, &var) in values.iter_mut().zip(free) {
                *slot = value(var)?;
            }
            Some(Key::Small(index, context, values))
        } else {
            let values: Option<Box<[u64]>> = free.iter().map(|&var| value(var)).collect();
            Some(Key::Large(index, context, values?))
        }
    }
}

/// A table of results.
#[derive(Debug)]
pub(crate) struct Memo<T> {
    table: FxHashMap<Key, T>,
    weight: u64,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo {
            table: FxHashMap::default(),
            weight: 0,
        }
    }
}

impl<T: Clone> Memo<T> {
    pub(crate) fn get(&self, key: &Key) -> Option<T> {
        self.table.get(key).cloned()
    }

    pub(crate) fn insert(&mut self, key: Key, value: T, weight: usize) {
        self.weight += weight as u64 + 2;
        self.table.insert(key, value);
    }

    /// What the table holds, in units of about a matrix cell.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    pub(crate) fn clear(&mut self) {
        self.table = FxHashMap::default();
        self.weight = 0;
    }
}
