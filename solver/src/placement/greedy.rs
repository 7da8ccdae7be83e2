//! Placements by trying: the hardest things first, each into the place that suits it best.

use locus_core::placement::{Instance, Placement, Relation};

/// How a place is chosen among those that will do.
#[derive(Clone, Copy, Debug)]
enum Taste {
    /// The one with the least room.
    Tight,
    /// The one with the most room.
    Loose,
    /// The first.
    First,
}

/// A placement, if trying finds one.
pub(super) fn place(instance: &Instance) -> Option<Placement> {
    let orders = [order(instance, true), order(instance, false)];
    for order in &orders {
        for taste in [Taste::Tight, Taste::Loose, Taste::First] {
            if let Some(placement) = State::new(instance)?.run(order, taste)
                && instance.refuses(&placement).is_none()
            {
                return Some(placement);
            }
        }
    }
    None
}

/// Whether there is room for more things of a group in a placement.
pub(super) fn has_room_for(
    instance: &Instance,
    placement: &Placement,
    group: usize,
    more: usize,
) -> bool {
    let mut state = State::empty(instance);
    for (place, counts) in placement.counts.iter().enumerate() {
        for (group, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                state.put(group, place);
            }
        }
    }
    (0..more).all(|_| {
        let mut places = 0..state.shapes.len();
        let found = places.find(|&place| {
            state.allows(group, place) && state.has_room(group, place) && state.may(group, place)
        });
        if let Some(place) = found {
            state.put(group, place);
        }
        found.is_some()
    })
}

/// How much of the largest place a thing of a group takes, of the resource that is the scarcest for it; in thousandths.
fn weight(instance: &Instance, group: usize) -> u128 {
    let demand = instance.demand.get(group).map_or(&[][..], Vec::as_slice);
    let share = |(resource, need): (usize, &u64)| {
        let rooms = instance.capacity.iter().filter_map(|all| all.get(resource));
        let most = rooms.filter(|room| **room != u64::MAX).max()?;
        Some(u128::from(*need) * 1000 / u128::from(*most).max(1))
    };
    demand
        .iter()
        .enumerate()
        .filter_map(share)
        .max()
        .unwrap_or(0)
}

/// The groups in the order in which they are placed.
fn order(instance: &Instance, by_choice: bool) -> Vec<usize> {
    let choice = |group: usize| -> usize {
        let shapes = instance.places.iter().enumerate();
        shapes
            .filter(|(shape, _)| instance.allows(group, *shape))
            .map(|(_, places)| places)
            .sum()
    };
    let bound = |group: usize| {
        let mut relations = instance.relations.iter();
        relations.any(|relation| match relation {
            Relation::Shared { groups } => groups.contains(&group),
            Relation::Apart { group: own, .. } | Relation::Spread { group: own, .. } => {
                *own == group
            }
            Relation::Together { .. } => false,
        })
    };
    // What follows others is placed after them.
    let follows = |group: usize| {
        let mut relations = instance.relations.iter();
        relations.any(
            |relation| matches!(relation, Relation::Together { group: own, others, .. } if *own == group && !others.contains(&group)),
        )
    };
    let mut groups: Vec<usize> = (0..instance.counts.len()).collect();
    groups.sort_by_key(|&group| {
        let weight = std::cmp::Reverse(weight(instance, group));
        let choice = if by_choice { choice(group) } else { 0 };
        (follows(group), choice, weight, !bound(group), group)
    });
    groups
}

/// Places, and what is in them so far.
pub(super) struct State<'s> {
    instance: &'s Instance,
    shapes: Vec<usize>,
    free: Vec<Vec<u64>>,
    counts: Vec<Vec<usize>>,
    /// The relations that each group is part of, with the area of each place.
    relations: Vec<Vec<usize>>,
    areas: Vec<Vec<Option<usize>>>,
    /// How many things of each group are in each area of each relation.
    inside: Vec<Vec<Vec<usize>>>,
}

impl<'s> State<'s> {
    /// Places with what is everywhere; none when that does not fit.
    pub(super) fn new(instance: &'s Instance) -> Option<Self> {
        let mut state = State::empty(instance);
        for group in 0..instance.counts.len() {
            if instance.everywhere.get(group) == Some(&true) {
                for place in 0..state.shapes.len() {
                    if state.allows(group, place) {
                        if !state.has_room(group, place) {
                            return None;
                        }
                        state.put(group, place);
                    }
                }
            }
        }
        Some(state)
    }

    /// Places that have room for anything, so that only relations count.
    pub(super) fn unlimited(instance: &'s Instance) -> Self {
        let mut state = State::empty(instance);
        for free in state.free.iter_mut().flatten() {
            *free = u64::MAX;
        }
        for group in 0..instance.counts.len() {
            if instance.everywhere.get(group) == Some(&true) {
                for place in 0..state.shapes.len() {
                    if state.allows(group, place) {
                        state.put(group, place);
                    }
                }
            }
        }
        state
    }

    /// Places with nothing in them.
    fn empty(instance: &'s Instance) -> Self {
        let shapes = instance.shapes();
        let groups = instance.counts.len();
        let mut relations = vec![Vec::new(); groups];
        let (mut areas, mut inside) = (Vec::new(), Vec::new());
        for (at, relation) in instance.relations.iter().enumerate() {
            let (mut parts, area) = match relation {
                Relation::Apart {
                    group,
                    others,
                    area,
                }
                | Relation::Together {
                    group,
                    others,
                    area,
                }
                | Relation::Spread {
                    group,
                    others,
                    area,
                    ..
                } => {
                    let mut parts = others.clone();
                    parts.push(*group);
                    (parts, *area)
                }
                Relation::Shared { groups } => (groups.clone(), locus_core::placement::Area::Place),
            };
            parts.sort_unstable();
            parts.dedup();
            for part in parts {
                if let Some(own) = relations.get_mut(part) {
                    own.push(at);
                }
            }
            let own = instance.areas(area, &shapes);
            let count = own.iter().flatten().max().map_or(0, |most| most + 1);
            areas.push(own);
            inside.push(vec![vec![0; groups]; count]);
        }
        let free = shapes
            .iter()
            .map(|&shape| instance.capacity.get(shape).cloned().unwrap_or_default())
            .collect();
        State {
            instance,
            counts: vec![vec![0; groups]; shapes.len()],
            shapes,
            free,
            relations,
            areas,
            inside,
        }
    }

    pub(super) fn allows(&self, group: usize, place: usize) -> bool {
        let shape = self.shapes.get(place);
        shape.is_some_and(|&shape| self.instance.allows(group, shape))
    }

    /// How many places there are.
    pub(super) fn places(&self) -> usize {
        self.shapes.len()
    }

    /// What a place has left of a resource.
    pub(super) fn free(&self, place: usize, resource: usize) -> u64 {
        let free = self.free.get(place).and_then(|free| free.get(resource));
        free.copied().unwrap_or(0)
    }

    /// What is in each place.
    pub(super) fn placement(self) -> Placement {
        Placement {
            counts: self.counts,
        }
    }

    fn demand(&self, group: usize) -> &'s [u64] {
        self.instance.demand.get(group).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_room(&self, group: usize, place: usize) -> bool {
        let free = self.free.get(place).map_or(&[][..], Vec::as_slice);
        free.iter()
            .zip(self.demand(group))
            .all(|(free, need)| free >= need)
    }

    pub(super) fn put(&mut self, group: usize, place: usize) {
        let need = self.demand(group);
        if let Some(free) = self.free.get_mut(place) {
            for (free, need) in free.iter_mut().zip(need) {
                if *free != u64::MAX {
                    *free = free.saturating_sub(*need);
                }
            }
        }
        if let Some(slot) = self
            .counts
            .get_mut(place)
            .and_then(|all| all.get_mut(group))
        {
            *slot += 1;
        }
        let relations = self.relations.get(group).cloned().unwrap_or_default();
        for relation in relations {
            let area = self
                .areas
                .get(relation)
                .and_then(|all| all.get(place).copied());
            if let Some(area) = area.flatten()
                && let Some(all) = self.inside.get_mut(relation)
                && let Some(slot) = all.get_mut(area).and_then(|all| all.get_mut(group))
            {
                *slot += 1;
            }
        }
    }

    fn within(&self, relation: usize, area: usize, group: usize) -> usize {
        let all = self.inside.get(relation).and_then(|all| all.get(area));
        all.and_then(|all| all.get(group)).copied().unwrap_or(0)
    }

    /// Whether the relations allow one more thing of a group in a place.
    pub(super) fn may(&self, group: usize, place: usize) -> bool {
        let relations = self.relations.get(group).map_or(&[][..], Vec::as_slice);
        relations.iter().all(|&at| {
            let area = self
                .areas
                .get(at)
                .and_then(|all| all.get(place).copied())
                .flatten();
            match self.instance.relations.get(at) {
                Some(Relation::Apart {
                    group: own, others, ..
                }) => area.is_none_or(|area| {
                    (*own != group
                        || others
                            .iter()
                            .all(|&other| self.within(at, area, other) == 0))
                        && (!others.contains(&group) || self.within(at, area, *own) == 0)
                }),
                Some(Relation::Together {
                    group: own, others, ..
                }) if *own == group => area.is_some_and(|area| {
                    let near = others.iter().any(|&other| self.within(at, area, other) > 0);
                    let areas = self.inside.get(at).map_or(0, Vec::len);
                    let first = || {
                        others.contains(&group)
                            && (0..areas).all(|area| self.within(at, area, group) == 0)
                    };
                    near || first()
                }),
                Some(Relation::Spread {
                    group: own,
                    others,
                    skew,
                    least_areas,
                    counted,
                    ..
                }) if *own == group => area.is_some_and(|area| {
                    let (least, _) = self.least(at, others, *least_areas, counted);
                    let here: usize = others
                        .iter()
                        .map(|&other| self.within(at, area, other))
                        .sum();
                    here + usize::from(others.contains(&group)) <= least + skew
                }),
                Some(Relation::Shared { groups }) => (0..self.shapes.len()).all(|other| {
                    other == place || groups.iter().all(|&g| self.within(at, other, g) == 0)
                }),
                _ => true,
            }
        })
    }

    /// The least number of things in an area that counts.
    fn least(
        &self,
        relation: usize,
        others: &[usize],
        least_areas: usize,
        counted: &[bool],
    ) -> (usize, usize) {
        let areas = self.areas.get(relation).map_or(&[][..], Vec::as_slice);
        let mut seen: Vec<usize> = areas
            .iter()
            .zip(&self.shapes)
            .filter(|(_, shape)| counted.get(**shape) == Some(&true))
            .filter_map(|(area, _)| *area)
            .collect();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() < least_areas {
            return (0, seen.len());
        }
        let total = |area: &usize| -> usize {
            others
                .iter()
                .map(|&other| self.within(relation, *area, other))
                .sum()
        };
        (seen.iter().map(total).min().unwrap_or(0), seen.len())
    }

    /// How crowded the areas of a place are for a group that is spread.
    pub(super) fn crowd(&self, group: usize, place: usize) -> usize {
        let relations = self.relations.get(group).map_or(&[][..], Vec::as_slice);
        let crowd = |&at: &usize| match self.instance.relations.get(at) {
            Some(Relation::Spread {
                group: own, others, ..
            }) if *own == group => {
                let area = self
                    .areas
                    .get(at)
                    .and_then(|all| all.get(place).copied())??;
                {
                    let here = others.iter().map(|&other| self.within(at, area, other));
                    Some(here.sum::<usize>())
                }
            }
            _ => None,
        };
        relations.iter().filter_map(crowd).sum()
    }

    /// How much room a place has, of what it has least of.
    fn room(&self, place: usize) -> u128 {
        let shape = self.shapes.get(place);
        let capacity = shape.and_then(|&shape| self.instance.capacity.get(shape));
        let free = self.free.get(place).map_or(&[][..], Vec::as_slice);
        let shares = free.iter().zip(capacity.map_or(&[][..], Vec::as_slice));
        let shares = shares.filter(|(_, all)| **all != u64::MAX && **all > 0);
        let share = |(free, all): (&u64, &u64)| u128::from(*free) * 1000 / u128::from(*all);
        shares.map(share).min().unwrap_or(1000)
    }

    fn run(mut self, order: &[usize], taste: Taste) -> Option<Placement> {
        for &group in order {
            let count = self.instance.counts.get(group).copied().unwrap_or(0);
            for _ in 0..count {
                let places = (0..self.shapes.len()).filter(|&place| {
                    self.allows(group, place)
                        && self.has_room(group, place)
                        && self.may(group, place)
                });
                let best = places.min_by_key(|&place| {
                    let room = self.room(place);
                    let taste = match taste {
                        Taste::Tight => room,
                        Taste::Loose => 1000_u128.saturating_sub(room),
                        Taste::First => 0,
                    };
                    (self.crowd(group, place), taste, place)
                });
                self.put(group, best?);
            }
        }
        Some(self.placement())
    }
}
