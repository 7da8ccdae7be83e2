//! Lists that only grow, indexed by what their `push` returned.

use std::ops::{Index, IndexMut};

/// A list that only grows.
#[derive(Debug)]
pub(super) struct Arena<T>(Vec<T>);

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena(Vec::new())
    }
}

impl<T> Arena<T> {
    pub(super) fn push(&mut self, item: T) -> usize {
        self.0.push(item);
        self.0.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "indices come from `push` of the same list, which never shrinks"
)]
impl<T> Index<usize> for Arena<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        &self.0[index]
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "indices come from `push` of the same list, which never shrinks"
)]
impl<T> IndexMut<usize> for Arena<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.0[index]
    }
}
