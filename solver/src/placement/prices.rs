//! Reasons why there can be no placement that are found by prices.
//!
//! Each group has a price. What all things are worth cannot be more than what the places can hold at most, each filled with
//! what is worth most there, plus what it costs to keep to the limits of regions. Whatever the prices are, if it is more there
//! is no placement, so prices need not be right: they are moved towards what is short until they show it, or nothing more is
//! gained. For equal places this is as strong as the linear program over all ways to fill a place, which is nearly exact. All
//! sums are of whole numbers.

use locus_core::placement::{Area, Instance, Placement, Relation};

use super::bounds;
use super::greedy::State;

/// How often prices are moved.
const ROUNDS: usize = 4000;

/// How far prices are moved at first.
const PACE: f64 = 1.0;

/// How many ways to fill a place are tried for one place, and for all.
const TRIES: usize = 20_000;
const ALL_TRIES: usize = 3_000_000;

/// The highest price.
const SCALE: f64 = 1_000_000.0;

/// Places that are equal in all that counts.
struct Class {
    free: Vec<u64>,
    /// How many things of each group one of them can have.
    most: Vec<usize>,
    /// The limits that it is under.
    caps: Vec<usize>,
    places: usize,
}

/// How many things of a group there can be in a region.
struct Cap {
    group: usize,
    region: Vec<usize>,
    most: usize,
}

/// Whether prices show that there is no placement.
pub(super) fn exclude(instance: &Instance) -> bool {
    let Some(market) = Market::of(instance) else {
        return false;
    };
    let mut tries = ALL_TRIES;
    market.settle(&mut tries).shows
}

/// A placement, if filling place after place with what is worth most finds one; what lags behind is worth more.
pub(super) fn place(instance: &Instance) -> Option<Placement> {
    let market = Market::of(instance)?;
    let mut tries = ALL_TRIES;
    let found = market.settle(&mut tries);
    [found.prices, market.first_prices()]
        .iter()
        .find_map(|prices| market.fill(instance, prices))
}

struct Market {
    /// The groups of which there are things, by their positions in the problem.
    groups: Vec<usize>,
    /// The class of each shape; none where there are no places.
    class_of: Vec<Option<usize>>,
    counts: Vec<usize>,
    demand: Vec<Vec<u64>>,
    /// Groups that cannot share a place.
    apart: Vec<Vec<bool>>,
    caps: Vec<Cap>,
    classes: Vec<Class>,
}

impl Market {
    fn of(instance: &Instance) -> Option<Market> {
        let free = bounds::left(instance)?;
        let mut fits = bounds::fits(instance, &free);
        for relation in &instance.relations {
            // A region takes all places of its shapes; where each place is an area, its limit is that of the place.
            if let Relation::Spread {
                group,
                area: Area::Place,
                ..
            } = relation
                && let Some(rooms) = bounds::spread_rooms(instance, &fits, relation)
            {
                for (shapes, most) in rooms {
                    for shape in shapes {
                        let slot = fits.get_mut(*group).and_then(|all| all.get_mut(shape));
                        if let Some(slot) = slot {
                            *slot = most.min(*slot);
                        }
                    }
                }
            }
        }
        let groups: Vec<usize> = (0..instance.counts.len())
            .filter(|&group| bounds::count(instance, group) > 0)
            .collect();
        let apart = bounds::apart_in_places(instance, &groups);
        let caps = caps(instance, &fits, &groups);
        let mut classes: Vec<Class> = Vec::new();
        let mut class_of = Vec::new();
        for (shape, free) in free.into_iter().enumerate() {
            let places = bounds::places(instance, shape);
            if places == 0 {
                class_of.push(None);
                continue;
            }
            let most = groups.iter().enumerate().map(|(at, &group)| {
                let alone = apart.get(at).and_then(|all| all.get(at)) == Some(&true);
                let most = bounds::fit(&fits, group, shape);
                if alone { most.min(1) } else { most }
            });
            let most: Vec<usize> = most.collect();
            let own = caps.iter().enumerate();
            let own = own.filter(|(_, cap)| cap.region.contains(&shape));
            let own: Vec<usize> = own.map(|(at, _)| at).collect();
            let known = classes
                .iter_mut()
                .enumerate()
                .find(|(_, class)| class.free == free && class.most == most && class.caps == own);
            if let Some((at, known)) = known {
                known.places += places;
                class_of.push(Some(at));
                continue;
            }
            class_of.push(Some(classes.len()));
            classes.push(Class {
                free,
                most,
                caps: own,
                places,
            });
        }
        let of = |group: &usize| instance.demand.get(*group).cloned().unwrap_or_default();
        Some(Market {
            counts: groups
                .iter()
                .map(|&group| bounds::count(instance, group))
                .collect(),
            demand: groups.iter().map(of).collect(),
            apart,
            caps,
            classes,
            class_of,
            groups,
        })
    }

    /// Fills the places one by one.
    fn fill(&self, instance: &Instance, prices: &[f64]) -> Option<Placement> {
        let mut state = State::new(instance)?;
        let shapes = instance.shapes();
        let mut left = self.counts.clone();
        let mut tries = ALL_TRIES;
        let size = |place: &usize| -> u128 {
            let class = shapes
                .get(*place)
                .and_then(|&shape| self.class_of.get(shape));
            let class = class.and_then(|class| self.classes.get((*class)?));
            let free = class.map_or(&[][..], |class| class.free.as_slice()).iter();
            free.map(|free| u128::from(*free)).sum()
        };
        let mut places: Vec<usize> = (0..state.places()).collect();
        places.sort_by_key(|place| (size(place), *place));
        for (done, &place) in places.iter().enumerate() {
            let class = shapes
                .get(place)
                .and_then(|&shape| self.class_of.get(shape));
            let Some(class) = class.and_then(|class| self.classes.get((*class)?)) else {
                continue;
            };
            let ahead = (places.len() - done) as f64 / places.len() as f64;
            let lagging = self.counts.iter().zip(&left).map(|(count, left)| {
                let share = *left as f64 / *count as f64;
                share / ahead
            });
            let values: Vec<u64> = prices
                .iter()
                .zip(lagging)
                .map(|(price, lag)| (price * lag * lag * SCALE).clamp(1.0, SCALE * 1e3) as u64)
                .collect();
            let most = class.most.iter().zip(&left).zip(&self.groups);
            let most = most.map(|((most, left), group)| match state.may(*group, place) {
                true => *most.min(left),
                false => 0,
            });
            let here = Class {
                free: class.free.clone(),
                most: most.collect(),
                caps: Vec::new(),
                places: 1,
            };
            let mut own = TRIES.min(tries);
            let best = Filling::best(self, &here, &values, &mut own);
            tries = tries.saturating_sub(TRIES - own.min(TRIES));
            for (at, count) in best.taken {
                let Some(&group) = self.groups.get(at) else {
                    continue;
                };
                for _ in 0..count {
                    if state.has_room(group, place)
                        && state.may(group, place)
                        && let Some(left) = left.get_mut(at)
                    {
                        state.put(group, place);
                        *left -= 1;
                    }
                }
            }
        }
        for (&group, left) in self.groups.iter().zip(left) {
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

    /// What all things need of each resource, as a share of what there is: the price to begin with.
    fn first_prices(&self) -> Vec<f64> {
        let resources = self.demand.first().map_or(0, Vec::len);
        let mut prices = vec![0.001; self.counts.len()];
        for resource in 0..resources {
            let room = |class: &Class| match class.free.get(resource) {
                Some(&u64::MAX) | None => f64::INFINITY,
                Some(&free) => free as f64 * class.places as f64,
            };
            let all: f64 = self.classes.iter().map(room).sum();
            let need = |at: usize| -> f64 {
                let demand = self.demand.get(at).and_then(|all| all.get(resource));
                demand.copied().unwrap_or(0) as f64
            };
            let asked = self.counts.iter().enumerate();
            let asked: f64 = asked.map(|(at, count)| need(at) * *count as f64).sum();
            if all > 0.0 && all.is_finite() && asked > 0.0 {
                // What is scarce counts most.
                let weight = (asked / all).powi(8) / all;
                for (at, price) in prices.iter_mut().enumerate() {
                    *price += need(at) * weight * 1000.0;
                }
            }
        }
        prices
    }

    /// Moves prices until they show that there is no placement, or nothing more is gained.
    fn settle(&self, tries: &mut usize) -> Settled {
        let mut prices = self.first_prices();
        let mut fees: Vec<f64> = self
            .caps
            .iter()
            .map(|cap| prices.get(cap.group).copied().unwrap_or(0.0) * 0.05)
            .collect();
        let (mut sum, mut fee_sum) = (vec![0.0; prices.len()], vec![0.0; fees.len()]);
        let mut climbed = 0.0;
        for round in 0..ROUNDS {
            let highest = prices.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            for price in prices.iter_mut().chain(&mut fees) {
                *price /= highest;
            }
            let made = self.offer(&prices, &fees, tries);
            if made.shows || *tries == 0 {
                let shows = made.shows;
                return Settled { shows, prices };
            }
            for (sum, price) in sum.iter_mut().zip(&prices) {
                *sum += price;
            }
            for (sum, fee) in fee_sum.iter_mut().zip(&fees) {
                *sum += fee;
            }
            // What was long ago is far from the best.
            if round > 100 && round.is_power_of_two() {
                sum.fill(0.0);
                fee_sum.fill(0.0);
            }
            // Prices swing about the best ones, which their mean comes near to.
            if round % 10 == 9 {
                let highest = sum.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
                let mean =
                    |all: &[f64]| -> Vec<f64> { all.iter().map(|one| one / highest).collect() };
                let prices = mean(&sum);
                if self.offer(&prices, &mean(&fee_sum), tries).shows {
                    let shows = true;
                    return Settled { shows, prices };
                }
            }
            let short = made.things.iter().zip(&self.counts);
            let short: Vec<f64> = short
                .map(|(made, count)| (*count as f64 - *made as f64) / *count as f64)
                .collect();
            let over = made.used.iter().zip(&self.caps);
            let over: Vec<f64> = over
                .map(|(used, cap)| (*used as f64 - cap.most as f64) / (cap.most as f64).max(1.0))
                .collect();
            let steepest = short
                .iter()
                .chain(&over)
                .fold(0.0, |most: f64, one| most.max(one.abs()));
            climbed += steepest * steepest;
            // Steps become shorter with the way, so that what is far off at first does not throw them about for ever.
            let pace = PACE / climbed.sqrt().max(1.0);
            for (price, by) in prices
                .iter_mut()
                .zip(short)
                .chain(fees.iter_mut().zip(over))
            {
                *price = (*price * (pace * by).exp()).max(1e-7);
            }
        }
        let highest = sum.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        Settled {
            shows: false,
            prices: sum.iter().map(|sum| sum / highest).collect(),
        }
    }

    /// What places hold at these prices.
    fn offer(&self, prices: &[f64], fees: &[f64], tries: &mut usize) -> Offer {
        let whole = |price: &f64| (price * SCALE).round().clamp(0.0, SCALE * 1e3) as u64;
        let prices: Vec<u64> = prices.iter().map(whole).collect();
        let fees: Vec<u64> = fees.iter().map(whole).collect();
        let mut worth: u128 = 0;
        for (price, count) in prices.iter().zip(&self.counts) {
            worth += u128::from(*price) * *count as u128;
        }
        let mut held: u128 = 0;
        for (fee, cap) in fees.iter().zip(&self.caps) {
            held += u128::from(*fee) * cap.most as u128;
        }
        let mut things = vec![0_u128; prices.len()];
        let mut used = vec![0_u128; fees.len()];
        for class in &self.classes {
            let mut values = prices.clone();
            for &cap in &class.caps {
                let group = self.caps.get(cap).map(|cap| cap.group);
                let fee = fees.get(cap).copied().unwrap_or(0);
                if let Some(value) = group.and_then(|group| values.get_mut(group)) {
                    *value = value.saturating_sub(fee);
                }
            }
            let best = Filling::best(self, class, &values, tries);
            held = held.saturating_add(u128::from(best.value) * class.places as u128);
            for (group, count) in best.taken {
                let made = count as u128 * class.places as u128;
                if let Some(sum) = things.get_mut(group) {
                    *sum += made;
                }
                for &cap in &class.caps {
                    if self.caps.get(cap).is_some_and(|cap| cap.group == group)
                        && let Some(sum) = used.get_mut(cap)
                    {
                        *sum += made;
                    }
                }
            }
        }
        Offer {
            shows: worth > held,
            things,
            used,
        }
    }
}

/// Prices that were found.
struct Settled {
    /// Whether they show that there is no placement.
    shows: bool,
    prices: Vec<f64>,
}

struct Offer {
    /// Whether all things are worth more than places can hold.
    shows: bool,
    /// How many things of each group there are when each place holds what is worth most.
    things: Vec<u128>,
    /// How many of them count for each limit.
    used: Vec<u128>,
}

/// What a place can hold that is worth most, or a value that it cannot exceed.
struct Filling<'f> {
    market: &'f Market,
    /// Groups with their values and numbers, those that are worth most for their size first.
    groups: Vec<(usize, u64, usize)>,
    /// Of each resource, what is worth most for a unit first: positions of groups, with what they need.
    orders: Vec<Vec<(usize, u64)>>,
    /// What all groups from one on are worth.
    rest: Vec<u128>,
    taken: Vec<(usize, usize)>,
    best: u64,
    best_taken: Vec<(usize, usize)>,
    tries: usize,
}

struct Filled {
    value: u64,
    taken: Vec<(usize, usize)>,
}

impl<'f> Filling<'f> {
    fn best(market: &'f Market, class: &Class, values: &[u64], tries: &mut usize) -> Filled {
        let mut groups: Vec<(usize, u64, usize)> = values
            .iter()
            .zip(&class.most)
            .enumerate()
            .filter(|(_, (value, most))| **value > 0 && **most > 0)
            .map(|(at, (value, most))| (at, *value, *most))
            .collect();
        let density = |&(group, value, _): &(usize, u64, usize)| -> f64 {
            let demand = market.demand.get(group).map_or(&[][..], Vec::as_slice);
            let share = demand
                .iter()
                .zip(&class.free)
                .map(|(need, free)| match free {
                    &u64::MAX => 0.0,
                    free => *need as f64 / (*free as f64).max(1.0),
                });
            value as f64 / share.sum::<f64>().max(1e-12)
        };
        groups.sort_by(|a, b| density(b).total_cmp(&density(a)).then(a.0.cmp(&b.0)));
        let mut orders = Vec::new();
        for (resource, free) in class.free.iter().enumerate() {
            if *free == u64::MAX {
                orders.push(Vec::new());
                continue;
            }
            let need = |(at, (group, ..)): (usize, &(usize, u64, usize))| {
                let demand = market.demand.get(*group);
                let need = demand.and_then(|all| all.get(resource));
                (at, need.copied().unwrap_or(0))
            };
            let mut order: Vec<(usize, u64)> = groups.iter().enumerate().map(need).collect();
            let value = |at: usize| groups.get(at).map_or(0, |(_, value, _)| u128::from(*value));
            // What needs nothing comes first.
            order.sort_by(|a, b| {
                let (one, other) = (value(a.0) * u128::from(b.1), value(b.0) * u128::from(a.1));
                other.cmp(&one).then(a.cmp(b))
            });
            orders.push(order);
        }
        let mut rest = vec![0_u128; groups.len() + 1];
        for (at, &(_, value, most)) in groups.iter().enumerate().rev() {
            let after = rest.get(at + 1).copied().unwrap_or(0);
            if let Some(slot) = rest.get_mut(at) {
                *slot = after + u128::from(value) * most as u128;
            }
        }
        let mut filling = Filling {
            market,
            groups,
            orders,
            rest,
            taken: Vec::new(),
            best: 0,
            best_taken: Vec::new(),
            tries: TRIES.min(*tries),
        };
        let before = filling.tries;
        let bound = filling.bound(0, &class.free);
        filling.fill(0, &class.free, 0);
        *tries = tries.saturating_sub(before - filling.tries);
        let value = match filling.tries {
            // Not all ways were tried: only the bound is sure.
            0 => u64::try_from(bound).unwrap_or(u64::MAX),
            _ => filling.best,
        };
        Filled {
            value,
            taken: filling.best_taken,
        }
    }

    /// The most that groups from one on can be worth in what is free: of each resource alone, what is worth most for a
    /// unit, and a part of the last.
    fn bound(&self, from: usize, free: &[u64]) -> u128 {
        let mut least = self.rest.get(from).copied().unwrap_or(0);
        for (order, free) in self.orders.iter().zip(free) {
            if *free == u64::MAX {
                continue;
            }
            let (mut left, mut sum) = (u128::from(*free), 0_u128);
            for &(at, need) in order.iter().filter(|(at, _)| *at >= from) {
                let Some(&(_, value, most)) = self.groups.get(at) else {
                    continue;
                };
                let (value, need, most) = (u128::from(value), u128::from(need), most as u128);
                if need * most <= left {
                    left -= need * most;
                    sum += value * most;
                } else {
                    sum += left * value / need.max(1);
                    break;
                }
            }
            least = least.min(sum);
        }
        least
    }

    fn fill(&mut self, at: usize, free: &[u64], value: u64) {
        if self.tries == 0 {
            return;
        }
        self.tries -= 1;
        if value > self.best {
            self.best = value;
            self.best_taken.clone_from(&self.taken);
        }
        let Some(&(group, worth, most)) = self.groups.get(at) else {
            return;
        };
        if u128::from(value) + self.bound(at, free) <= u128::from(self.best) {
            return;
        }
        let demand = self.market.demand.get(group).map_or(&[][..], Vec::as_slice);
        let apart = self.market.apart.get(group);
        let clash = self
            .taken
            .iter()
            .any(|(other, _)| apart.and_then(|all| all.get(*other)) == Some(&true));
        let room = demand
            .iter()
            .zip(free)
            .filter_map(|(need, free)| match (need, free) {
                (0, _) | (_, &u64::MAX) => None,
                (need, free) => usize::try_from(free / need).ok(),
            });
        let room = if clash {
            0
        } else {
            room.fold(most, usize::min)
        };
        let mut left = free.to_vec();
        for take in (0..=room).rev() {
            let count = take as u64;
            for ((left, free), need) in left.iter_mut().zip(free).zip(demand) {
                if *free != u64::MAX {
                    *left = free.saturating_sub(need.saturating_mul(count));
                }
            }
            if take > 0 {
                self.taken.push((group, take));
            }
            let value = value.saturating_add(worth.saturating_mul(count));
            self.fill(at + 1, &left, value);
            if take > 0 {
                self.taken.pop();
            }
        }
    }
}

/// How many things of groups there can be in regions: those that are spread, and those of which a region takes one.
fn caps(instance: &Instance, fits: &[Vec<usize>], groups: &[usize]) -> Vec<Cap> {
    let mut caps = Vec::new();
    for relation in &instance.relations {
        match relation {
            Relation::Spread {
                group,
                area: Area::Region(_),
                ..
            } => {
                let Some(at) = groups.iter().position(|other| other == group) else {
                    continue;
                };
                let Some(rooms) = bounds::spread_rooms(instance, fits, relation) else {
                    continue;
                };
                caps.extend(rooms.into_iter().map(|(region, most)| Cap {
                    group: at,
                    region,
                    most,
                }));
            }
            Relation::Apart {
                group,
                others,
                area: area @ Area::Region(_),
            } if others.contains(group) => {
                let Some(at) = groups.iter().position(|other| other == group) else {
                    continue;
                };
                let regions = bounds::areas(instance, *area).into_iter();
                caps.extend(regions.map(|region| Cap {
                    group: at,
                    region: region.into_iter().map(|(shape, _)| shape).collect(),
                    most: 1,
                }));
            }
            _ => {}
        }
    }
    caps
}
