//! Placements by filling: place after place, with what leaves the least of it unused. It finds those that are so tight
//! that what is put where it fits best leaves a rest everywhere.

use locus_core::placement::{Instance, Placement};

use super::greedy::State;

/// How many sets of things are tried for one place.
const TRIES: usize = 5_000;

/// A placement, if filling finds one.
pub(super) fn place(instance: &Instance) -> Option<Placement> {
    let resource = scarcest(instance)?;
    let mut state = State::new(instance)?;
    let mut left = instance.counts.clone();
    let need = |group: usize| needs(instance, group, resource);
    let mut groups: Vec<usize> = (0..left.len()).filter(|&group| need(group) > 0).collect();
    groups.sort_by_key(|&group| (std::cmp::Reverse(need(group)), group));
    let mut places: Vec<usize> = (0..state.places()).collect();
    places.sort_by_key(|&place| (state.free(place, resource), place));
    for place in places {
        let mut knapsack = Knapsack {
            things: groups
                .iter()
                .copied()
                .filter(|&group| state.allows(group, place) && state.may(group, place))
                .map(|group| (group, need(group), left.get(group).copied().unwrap_or(0)))
                .filter(|(_, _, count)| *count > 0)
                .collect(),
            taken: Vec::new(),
            best: Vec::new(),
            rest: u64::MAX,
            tries: TRIES,
        };
        knapsack.fill(0, state.free(place, resource));
        for (group, count) in knapsack.best {
            for _ in 0..count {
                // Other resources and relations may allow fewer.
                if state.has_room(group, place)
                    && state.may(group, place)
                    && let Some(left) = left.get_mut(group)
                {
                    state.put(group, place);
                    *left -= 1;
                }
            }
        }
    }
    // What needs nothing of that resource, and what is left, goes where it can.
    for (group, left) in left.into_iter().enumerate() {
        for _ in 0..left {
            let place = (0..state.places()).find(|&place| {
                state.allows(group, place)
                    && state.has_room(group, place)
                    && state.may(group, place)
            })?;
            state.put(group, place);
        }
    }
    Some(state.placement())
}

/// The resource of which the largest part is asked for.
fn scarcest(instance: &Instance) -> Option<usize> {
    let count = instance.demand.iter().map(Vec::len).max()?;
    let share = |resource: usize| -> Option<u128> {
        let groups = instance.counts.iter().enumerate();
        let asked: u128 = groups
            .map(|(group, count)| u128::from(needs(instance, group, resource)) * *count as u128)
            .sum();
        let shapes = instance.capacity.iter().zip(&instance.places);
        let mut there = 0_u128;
        for (capacity, places) in shapes {
            let room = capacity.get(resource).copied().unwrap_or(0);
            if room == u64::MAX {
                return None;
            }
            there += u128::from(room) * *places as u128;
        }
        Some(asked * 1000 / there.max(1))
    };
    let shares = (0..count).filter_map(|resource| Some((share(resource)?, resource)));
    shares.max().map(|(_, resource)| resource)
}

/// What of the things that are left fills a place best: large ones first, as many as there is room for, then fewer.
struct Knapsack {
    /// Group, need and number.
    things: Vec<(usize, u64, usize)>,
    taken: Vec<(usize, usize)>,
    best: Vec<(usize, usize)>,
    rest: u64,
    tries: usize,
}

impl Knapsack {
    fn fill(&mut self, at: usize, free: u64) {
        if self.tries == 0 || self.rest == 0 {
            return;
        }
        self.tries -= 1;
        if free < self.rest {
            self.rest = free;
            self.best.clone_from(&self.taken);
        }
        let Some(&(group, need, count)) = self.things.get(at) else {
            return;
        };
        let most = usize::try_from(free / need.max(1)).unwrap_or(usize::MAX);
        for take in (0..=most.min(count)).rev() {
            self.taken.push((group, take));
            self.fill(at + 1, free.saturating_sub(need * take as u64));
            self.taken.pop();
        }
    }
}

/// What a thing of a group needs of a resource.
fn needs(instance: &Instance, group: usize, resource: usize) -> u64 {
    let demand = instance.demand.get(group);
    let need = demand.and_then(|all| all.get(resource));
    need.copied().unwrap_or(0)
}
