//! Sets of connections as numbers: equal sets have one number, and what was joined once is remembered.

use rustc_hash::FxHashMap;

use super::connections::Connections;

/// A set of connections in a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id(u32);

/// No connection.
pub(super) const NONE: Id = Id(0);
/// Every connection.
pub(super) const ALL: Id = Id(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Join {
    Union,
    Intersection,
    Without,
}

/// The sets that were met.
#[derive(Debug)]
pub(super) struct Table {
    sets: Vec<Connections>,
    ids: FxHashMap<Connections, Id>,
    joined: FxHashMap<(Join, Id, Id), Id>,
}

impl Table {
    pub(super) fn new() -> Table {
        let mut table = Table {
            sets: Vec::new(),
            ids: FxHashMap::default(),
            joined: FxHashMap::default(),
        };
        table.id(Connections::default());
        table.id(Connections::all());
        table
    }

    pub(super) fn id(&mut self, set: Connections) -> Id {
        if let Some(id) = self.ids.get(&set) {
            return *id;
        }
        let id = Id(u32::try_from(self.sets.len()).unwrap_or(u32::MAX));
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }

    pub(super) fn get(&self, id: Id) -> Connections {
        self.sets.get(id.0 as usize).cloned().unwrap_or_default()
    }

    pub(super) fn union(&mut self, a: Id, b: Id) -> Id {
        match (a, b) {
            (NONE, other) | (other, NONE) => other,
            (ALL, _) | (_, ALL) => ALL,
            _ if a == b => a,
            _ => self.join(Join::Union, a, b),
        }
    }

    pub(super) fn intersection(&mut self, a: Id, b: Id) -> Id {
        match (a, b) {
            (NONE, _) | (_, NONE) => NONE,
            (ALL, other) | (other, ALL) => other,
            _ if a == b => a,
            _ => self.join(Join::Intersection, a, b),
        }
    }

    pub(super) fn without(&mut self, a: Id, b: Id) -> Id {
        match (a, b) {
            (_, NONE) => a,
            (NONE, _) | (_, ALL) => NONE,
            _ if a == b => NONE,
            _ => self.join(Join::Without, a, b),
        }
    }

    fn join(&mut self, join: Join, a: Id, b: Id) -> Id {
        if let Some(id) = self.joined.get(&(join, a, b)) {
            return *id;
        }
        let (one, two) = (self.get(a), self.get(b));
        let set = match join {
            Join::Union => one.union(&two),
            Join::Intersection => one.intersection(&two),
            Join::Without => one.without(&two),
        };
        let id = self.id(set);
        self.joined.insert((join, a, b), id);
        id
    }
}
