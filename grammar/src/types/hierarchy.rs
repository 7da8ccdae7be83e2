//! Which signature extends which.

use crate::model::{SigId, builtin};

/// The parents of the signatures that are not subsets of others.
#[derive(Debug, Default)]
pub(crate) struct Hierarchy {
    parents: Vec<Option<SigId>>,
}

impl Hierarchy {
    /// The built-in signatures only.
    pub(crate) fn new() -> Self {
        let mut hierarchy = Hierarchy::default();
        hierarchy.set_parent(builtin::INT, builtin::UNIV);
        hierarchy.set_parent(builtin::SEQ_INT, builtin::INT);
        hierarchy.set_parent(builtin::STRING, builtin::UNIV);
        hierarchy
    }

    /// Records that a signature extends another.
    pub(crate) fn set_parent(&mut self, sig: SigId, parent: SigId) {
        if self.parents.len() <= sig.index() {
            self.parents.resize(sig.index() + 1, None);
        }
        if let Some(slot) = self.parents.get_mut(sig.index()) {
            *slot = Some(parent);
        }
    }

    /// Whether every atom of `a` is one of `b`.
    pub(crate) fn is_sub(&self, a: SigId, b: SigId) -> bool {
        if a == builtin::NONE || a == b || b == builtin::UNIV {
            return true;
        }
        if a == builtin::UNIV || b == builtin::NONE {
            return false;
        }
        let mut at = a;
        while let Some(Some(parent)) = self.parents.get(at.index()) {
            if *parent == b {
                return true;
            }
            at = *parent;
        }
        false
    }

    /// The smaller of two signatures on one line of descent, else `none`.
    pub(crate) fn intersect(&self, a: SigId, b: SigId) -> SigId {
        if self.is_sub(a, b) {
            a
        } else if self.is_sub(b, a) {
            b
        } else {
            builtin::NONE
        }
    }

    /// Whether they can share an atom.
    pub(crate) fn intersects(&self, a: SigId, b: SigId) -> bool {
        self.intersect(a, b) != builtin::NONE
    }
}
