//! Placements by repairing: everything is put somewhere, and what is too much for its place is moved, or swapped with what
//! is elsewhere, until nothing is too much. It finds those that are so tight that no order of placing things does.

use locus_core::placement::{Instance, Placement, Relation};

/// How long it is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Moves that are tried for one start, for each thing.
    moves: usize,
    /// How often it starts anew.
    starts: u64,
}

/// Enough for what is not tight.
pub(super) const QUICK: Effort = Effort {
    moves: 600,
    starts: 1,
};

/// As much as is worth its time.
pub(super) const THOROUGH: Effort = Effort {
    moves: 5_000,
    starts: 2,
};

/// Things for which more moves are made.
const MOST: usize = 1_000;

/// What a whole place of a resource is worth when too much is asked of it.
const UNIT: u128 = 1 << 20;

/// How much worse a move may make it, at first and in the end.
const WARM: f64 = 60_000.0;
const COLD: f64 = 400.0;

/// A placement, if repairing finds one.
pub(super) fn place(instance: &Instance, effort: Effort) -> Option<Placement> {
    (0..effort.starts).find_map(|start| {
        let mut search = Search::new(instance, start)?;
        let things: usize = instance.counts.iter().sum();
        let moves = effort.moves.saturating_mul(things.clamp(1, MOST));
        let found = search.run(moves).then(|| search.placement())?;
        // What is everywhere may break what others ask for.
        instance.refuses(&found).is_none().then_some(found)
    })
}

/// How a group may be moved.
#[derive(Clone, Debug, Default)]
struct Freedom {
    /// The relations that keep it from others, by their positions.
    apart: Vec<usize>,
    /// The relations that hold while it stays in its area.
    inside: Vec<usize>,
    /// Whether it stays where it is.
    fixed: bool,
}

struct Search<'s> {
    instance: &'s Instance,
    shapes: Vec<usize>,
    /// What is left in each place of each resource that is limited; less than nothing where it is too much.
    free: Vec<Vec<i128>>,
    /// What a unit of each resource is worth in each shape.
    worth: Vec<Vec<u128>>,
    counts: Vec<Vec<usize>>,
    freedom: Vec<Freedom>,
    areas: Vec<Vec<Option<usize>>>,
    /// How many things of each group are in each area of each relation that keeps groups apart.
    within: Vec<Vec<Vec<usize>>>,
    /// The groups in each place that may be moved, one entry for each thing.
    things: Vec<Vec<usize>>,
    /// How much too much there is in each place, and in all.
    excess: Vec<u128>,
    total: u128,
    random: u64,
}

impl<'s> Search<'s> {
    /// Everything that must be somewhere, somewhere; none where relations forbid it.
    fn new(instance: &'s Instance, seed: u64) -> Option<Self> {
        let shapes = instance.shapes();
        if shapes.len() < 2 {
            return None;
        }
        let groups = instance.counts.len();
        let mut search = Search {
            free: shapes.iter().map(|&shape| room(instance, shape)).collect(),
            worth: (0..instance.places.len())
                .map(|shape| worth(instance, shape))
                .collect(),
            counts: vec![vec![0; groups]; shapes.len()],
            freedom: (0..groups).map(|group| freedom(instance, group)).collect(),
            areas: areas(instance, &shapes),
            within: Vec::new(),
            things: vec![Vec::new(); shapes.len()],
            excess: vec![0; shapes.len()],
            total: 0,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d,
            instance,
            shapes,
        };
        search.within = search
            .areas
            .iter()
            .map(|areas| {
                let count = areas.iter().flatten().max().map_or(0, |most| most + 1);
                vec![vec![0; groups]; count]
            })
            .collect();
        for group in 0..groups {
            if instance.everywhere.get(group) == Some(&true) {
                for place in 0..search.shapes.len() {
                    if search.allows(group, place) {
                        search.put(group, place, false);
                    }
                }
            }
        }
        search.start()?;
        Some(search)
    }

    /// Puts everything where there is most room for it.
    fn start(&mut self) -> Option<()> {
        use super::greedy::State;
        let instance = self.instance;
        let mut order: Vec<usize> = (0..instance.counts.len()).collect();
        let need = |group: usize| -> u64 {
            let demand = instance.demand.get(group).map_or(&[][..], Vec::as_slice);
            demand.iter().copied().max().unwrap_or(0)
        };
        // What is bound to others comes first, then what is large.
        order.sort_by_key(|&group| {
            let free = self.freedom.get(group);
            let bound = free.is_some_and(|free| free.fixed || !free.inside.is_empty());
            let apart = free.is_some_and(|free| !free.apart.is_empty());
            (!bound, !apart, std::cmp::Reverse(need(group)), group)
        });
        let mut state = State::unlimited(instance);
        for group in order {
            let count = instance.counts.get(group).copied().unwrap_or(0);
            for _ in 0..count {
                let places = 0..self.shapes.len();
                let allowed =
                    places.filter(|&place| state.allows(group, place) && state.may(group, place));
                let best = allowed.min_by_key(|&place| {
                    let after = self.excess_with(place, Some(group), None);
                    let left = self.room_left(place);
                    (
                        state.crowd(group, place),
                        after,
                        std::cmp::Reverse(left),
                        place,
                    )
                })?;
                state.put(group, best);
                self.put(group, best, true);
            }
        }
        Some(())
    }

    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        let next = self.next();
        usize::try_from(next % (end.max(1) as u64)).unwrap_or(0)
    }

    fn allows(&self, group: usize, place: usize) -> bool {
        let shape = self.shapes.get(place);
        shape.is_some_and(|&shape| self.instance.allows(group, shape))
    }

    fn demand(&self, group: usize) -> &'s [u64] {
        self.instance.demand.get(group).map_or(&[], Vec::as_slice)
    }

    /// How much room a place has, of what it has least of.
    fn room_left(&self, place: usize) -> i128 {
        let free = self.free.get(place).map_or(&[][..], Vec::as_slice);
        let worth = self
            .shapes
            .get(place)
            .and_then(|&shape| self.worth.get(shape));
        let worth = worth.map_or(&[][..], Vec::as_slice);
        let share = |(free, worth): (&i128, &u128)| {
            free.saturating_mul(i128::try_from(*worth).unwrap_or(i128::MAX))
        };
        let limited = free.iter().zip(worth).filter(|(_, worth)| **worth > 0);
        limited.map(share).min().unwrap_or(i128::MAX)
    }

    /// How much too much there is in a place when one thing comes and another goes.
    fn excess_with(&self, place: usize, comes: Option<usize>, goes: Option<usize>) -> u128 {
        let none: &[u64] = &[];
        let free = self.free.get(place).map_or(&[][..], Vec::as_slice);
        let worth = self
            .shapes
            .get(place)
            .and_then(|&shape| self.worth.get(shape));
        let worth = worth.map_or(&[][..], Vec::as_slice);
        let comes = comes.map_or(none, |group| self.demand(group));
        let goes = goes.map_or(none, |group| self.demand(group));
        let mut sum: u128 = 0;
        for (at, (free, worth)) in free.iter().zip(worth).enumerate() {
            if *worth == 0 {
                continue;
            }
            let of = |all: &[u64]| i128::from(all.get(at).copied().unwrap_or(0));
            let left = free - of(comes) + of(goes);
            if left < 0 {
                sum = sum.saturating_add(left.unsigned_abs().saturating_mul(*worth));
            }
        }
        sum >> 20
    }

    fn change(&mut self, group: usize, place: usize, comes: bool) {
        let need = self.demand(group);
        if let Some(free) = self.free.get_mut(place) {
            for (free, need) in free.iter_mut().zip(need) {
                let need = i128::from(*need);
                *free += if comes { -need } else { need };
            }
        }
        let slot = self
            .counts
            .get_mut(place)
            .and_then(|all| all.get_mut(group));
        if let Some(slot) = slot {
            *slot = if comes {
                *slot + 1
            } else {
                slot.saturating_sub(1)
            };
        }
        for (areas, within) in self.areas.iter().zip(&mut self.within) {
            let area = areas.get(place).copied().flatten();
            let slot = area.and_then(|area| within.get_mut(area)?.get_mut(group));
            if let Some(slot) = slot {
                *slot = if comes {
                    *slot + 1
                } else {
                    slot.saturating_sub(1)
                };
            }
        }
        let after = self.excess_with(place, None, None);
        if let Some(slot) = self.excess.get_mut(place) {
            self.total = self.total - *slot + after;
            *slot = after;
        }
    }

    fn put(&mut self, group: usize, place: usize, moves: bool) {
        self.change(group, place, true);
        let fixed = self.freedom.get(group).is_none_or(|free| free.fixed);
        if moves
            && !fixed
            && let Some(things) = self.things.get_mut(place)
        {
            things.push(group);
        }
    }

    /// Moves a thing by its position in its place.
    fn shift(&mut self, from: usize, at: usize, to: usize) {
        let thing = self
            .things
            .get_mut(from)
            .map(|things| things.swap_remove(at));
        if let Some(group) = thing {
            self.change(group, from, false);
            self.put(group, to, true);
        }
    }

    /// Whether relations let a thing go from one place to another, where another thing may go the other way.
    fn may(&self, group: usize, from: usize, to: usize, back: Option<usize>) -> bool {
        let Some(freedom) = self.freedom.get(group) else {
            return false;
        };
        let area = |relation: usize, place: usize| {
            let areas = self.areas.get(relation);
            areas.and_then(|areas| areas.get(place).copied().flatten())
        };
        let stays = freedom
            .inside
            .iter()
            .all(|&relation| area(relation, from) == area(relation, to));
        stays
            && freedom.apart.iter().all(|&at| {
                let Some(Relation::Apart {
                    group: own, others, ..
                }) = self.instance.relations.get(at)
                else {
                    return true;
                };
                let Some(to_area) = area(at, to) else {
                    return true;
                };
                let same = area(at, from) == Some(to_area);
                let there = |other: usize| {
                    let within = self.within.get(at).and_then(|all| all.get(to_area));
                    let count = within.and_then(|all| all.get(other)).copied().unwrap_or(0);
                    let leaves = (same && other == group) || (!same && back == Some(other));
                    count.saturating_sub(usize::from(leaves))
                };
                (*own != group || others.iter().all(|&other| there(other) == 0))
                    && (!others.contains(&group) || there(*own) == 0)
            })
    }

    /// Moves things until nothing is too much; whether that came about.
    fn run(&mut self, moves: usize) -> bool {
        let places = self.shapes.len();
        let mut full: Vec<usize> = Vec::new();
        for step in 0..moves {
            if self.total == 0 {
                return true;
            }
            let share = step as f64 / moves as f64;
            let heat = WARM * (COLD / WARM).powf(share);
            if step % 64 == 0 {
                full.clear();
                full.extend((0..places).filter(|&at| self.excess.get(at).is_some_and(|e| *e > 0)));
            }
            let from = match self.below(4) {
                0 => self.below(places),
                _ => {
                    let at = self.below(full.len());
                    full.get(at).copied().unwrap_or(0)
                }
            };
            let count = self.things.get(from).map_or(0, Vec::len);
            if count == 0 {
                continue;
            }
            let at = self.below(count);
            let to = self.below(places);
            let thing = self
                .things
                .get(from)
                .and_then(|things| things.get(at))
                .copied();
            let Some(group) = thing else { continue };
            if to == from || !self.allows(group, to) {
                continue;
            }
            let others = self.things.get(to).map_or(0, Vec::len);
            // One entry more stands for a move without a swap.
            let other_at = self.below(others + 1);
            let other = self
                .things
                .get(to)
                .and_then(|things| things.get(other_at))
                .copied();
            if other == Some(group) {
                continue;
            }
            if let Some(other) = other
                && (!self.allows(other, from) || !self.may(other, to, from, Some(group)))
            {
                continue;
            }
            if !self.may(group, from, to, other) {
                continue;
            }
            let before = self.excess.get(from).copied().unwrap_or(0)
                + self.excess.get(to).copied().unwrap_or(0);
            let after = self.excess_with(from, other, Some(group))
                + self.excess_with(to, Some(group), other);
            if after > before {
                let worse = (after - before) as f64;
                let chance = (-worse / heat).exp();
                let drawn = self.next() as f64 / u64::MAX as f64;
                if drawn >= chance {
                    continue;
                }
            }
            self.shift(from, at, to);
            if other.is_some() {
                self.shift(to, other_at, from);
            }
        }
        self.total == 0
    }

    fn placement(self) -> Placement {
        Placement {
            counts: self.counts,
        }
    }
}

/// What a place of a shape has.
fn room(instance: &Instance, shape: usize) -> Vec<i128> {
    let capacity = instance.capacity.get(shape).map_or(&[][..], Vec::as_slice);
    capacity.iter().map(|room| i128::from(*room)).collect()
}

/// What a unit of each resource is worth in a place of a shape, so that each resource counts the same; nothing where there
/// is no limit.
fn worth(instance: &Instance, shape: usize) -> Vec<u128> {
    let capacity = instance.capacity.get(shape).map_or(&[][..], Vec::as_slice);
    let worth = |room: &u64| match room {
        &u64::MAX => 0,
        room => (UNIT << 20) / u128::from(*room).max(1),
    };
    capacity
        .iter()
        .map(|room| worth(room).max(u128::from(*room != u64::MAX)))
        .collect()
}

/// The area of each place, for each relation.
fn areas(instance: &Instance, shapes: &[usize]) -> Vec<Vec<Option<usize>>> {
    let of = |relation: &Relation| match relation {
        Relation::Apart { area, .. }
        | Relation::Together { area, .. }
        | Relation::Spread { area, .. } => instance.areas(*area, shapes),
        Relation::Shared { .. } => Vec::new(),
    };
    instance.relations.iter().map(of).collect()
}

/// How a group may be moved without breaking what holds.
fn freedom(instance: &Instance, group: usize) -> Freedom {
    let mut freedom = Freedom::default();
    for (at, relation) in instance.relations.iter().enumerate() {
        match relation {
            Relation::Apart {
                group: own, others, ..
            } => {
                if *own == group || others.contains(&group) {
                    freedom.apart.push(at);
                }
            }
            Relation::Together {
                group: own, others, ..
            }
            | Relation::Spread {
                group: own, others, ..
            } => {
                if *own == group || others.contains(&group) {
                    freedom.inside.push(at);
                }
            }
            Relation::Shared { groups } => freedom.fixed |= groups.contains(&group),
        }
    }
    freedom
}
