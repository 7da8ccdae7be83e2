//! Reasons why there can be no placement that are found by counting.

use locus_core::placement::{Area, Instance, Relation};

/// Whether counting shows that there is no placement.
pub(super) fn exclude(instance: &Instance) -> bool {
    let free = match left(instance) {
        Some(free) => free,
        None => return true,
    };
    let fits = fits(instance, &free);
    nowhere(instance, &fits)
        || start(instance)
        || regions(instance, &fits)
        || crowded(instance, &fits)
        || flows(instance, &free)
        || halves(instance, &free)
}

/// What is left in a place of each shape when what is everywhere is there; none when that does not fit.
pub(super) fn left(instance: &Instance) -> Option<Vec<Vec<u64>>> {
    let mut free = instance.capacity.clone();
    for (shape, free) in free.iter_mut().enumerate() {
        if instance.places.get(shape).is_none_or(|&places| places == 0) {
            continue;
        }
        for (group, everywhere) in instance.everywhere.iter().enumerate() {
            if !everywhere || !instance.allows(group, shape) {
                continue;
            }
            for (free, need) in free.iter_mut().zip(demand(instance, group)) {
                if *free != u64::MAX {
                    *free = free.checked_sub(*need)?;
                }
            }
        }
    }
    Some(free)
}

fn demand(instance: &Instance, group: usize) -> &[u64] {
    instance.demand.get(group).map_or(&[], Vec::as_slice)
}

pub(super) fn count(instance: &Instance, group: usize) -> usize {
    instance.counts.get(group).copied().unwrap_or(0)
}

pub(super) fn places(instance: &Instance, shape: usize) -> usize {
    instance.places.get(shape).copied().unwrap_or(0)
}

/// How many things of each group a place of each shape can have, when there is nothing else.
pub(super) fn fits(instance: &Instance, free: &[Vec<u64>]) -> Vec<Vec<usize>> {
    let one = |group: usize, shape: usize| {
        if !instance.allows(group, shape) {
            return 0;
        }
        let capacity = free.get(shape).map_or(&[][..], Vec::as_slice);
        let most = capacity
            .iter()
            .zip(demand(instance, group))
            .filter(|(free, need)| **need > 0 && **free != u64::MAX)
            .map(|(free, need)| usize::try_from(free / need).unwrap_or(usize::MAX))
            .min();
        most.unwrap_or(usize::MAX).min(count(instance, group))
    };
    let shapes = instance.places.len();
    (0..instance.counts.len())
        .map(|group| (0..shapes).map(|shape| one(group, shape)).collect())
        .collect()
}

pub(super) fn fit(fits: &[Vec<usize>], group: usize, shape: usize) -> usize {
    let of = fits.get(group).and_then(|shapes| shapes.get(shape));
    of.copied().unwrap_or(0)
}

/// Whether a group does not fit even when it is alone.
fn nowhere(instance: &Instance, fits: &[Vec<usize>]) -> bool {
    (0..instance.counts.len()).any(|group| {
        let room = (0..instance.places.len()).fold(0_usize, |sum, shape| {
            let room = fit(fits, group, shape).saturating_mul(places(instance, shape));
            sum.saturating_add(room)
        });
        room < count(instance, group)
    })
}

/// Whether some things can only follow each other, so that none is ever first.
fn start(instance: &Instance) -> bool {
    let needs: Vec<(usize, &Vec<usize>)> = instance
        .relations
        .iter()
        .filter_map(|relation| match relation {
            Relation::Together { group, others, .. } => Some((*group, others)),
            _ => None,
        })
        .collect();
    let there =
        |group: usize| count(instance, group) > 0 || instance.everywhere.get(group) == Some(&true);
    let mut started: Vec<bool> = vec![false; instance.counts.len()];
    loop {
        let mut changed = false;
        for group in 0..started.len() {
            let ready = needs
                .iter()
                .filter(|(own, _)| *own == group)
                .all(|(_, others)| {
                    others.iter().any(|&other| {
                        other == group || (there(other) && started.get(other) == Some(&true))
                    })
                });
            if let Some(slot) = started.get_mut(group)
                && !*slot
                && ready
            {
                *slot = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    started
        .iter()
        .enumerate()
        .any(|(group, started)| !started && count(instance, group) > 0)
}

/// How many places of each shape are in each area, and how many areas there are.
pub(super) fn areas(instance: &Instance, area: Area) -> Vec<Vec<(usize, usize)>> {
    match area {
        Area::Place => {
            let shapes = instance.shapes();
            shapes.into_iter().map(|shape| vec![(shape, 1)]).collect()
        }
        Area::Region(way) => {
            let mut all: Vec<Vec<(usize, usize)>> = Vec::new();
            for (shape, regions) in instance.regions.iter().enumerate() {
                let places = places(instance, shape);
                if let (Some(&Some(region)), 1..) = (regions.get(way), places) {
                    if all.len() <= region {
                        all.resize(region + 1, Vec::new());
                    }
                    if let Some(own) = all.get_mut(region) {
                        own.push((shape, places));
                    }
                }
            }
            all.retain(|area| !area.is_empty());
            all
        }
    }
}

/// Whether a group that is spread, or whose things are apart, has too few areas.
fn regions(instance: &Instance, fits: &[Vec<usize>]) -> bool {
    instance.relations.iter().any(|relation| match relation {
        Relation::Spread { group, .. } => {
            let rooms = spread_rooms(instance, fits, relation);
            let room = |rooms: Vec<(Vec<usize>, usize)>| {
                let rooms = rooms.into_iter().map(|(_, room)| room);
                rooms.fold(0_usize, usize::saturating_add)
            };
            rooms.is_some_and(|rooms| room(rooms) < count(instance, *group))
        }
        Relation::Shared { groups } => {
            // All of them must fit into one place.
            let fits_one = |shape: usize| {
                groups
                    .iter()
                    .all(|&group| fit(fits, group, shape) >= count(instance, group))
            };
            let mut shapes =
                (0..instance.places.len()).filter(|&shape| places(instance, shape) > 0);
            !shapes.any(fits_one) && groups.iter().any(|&group| count(instance, group) > 0)
        }
        _ => false,
    })
}

/// How many things of a group that is spread each of its areas can have, with the shapes of the area; none when that is not
/// known, as other groups count too or some places do not.
pub(super) fn spread_rooms(
    instance: &Instance,
    fits: &[Vec<usize>],
    relation: &Relation,
) -> Option<Vec<(Vec<usize>, usize)>> {
    let Relation::Spread {
        group,
        others,
        area,
        skew,
        least_areas,
        counted,
    } = relation
    else {
        return None;
    };
    if others != &[*group] {
        return None;
    }
    let counted = |shape: usize| counted.get(shape) == Some(&true);
    let mut shapes = 0..instance.places.len();
    if shapes.any(|shape| fit(fits, *group, shape) > 0 && !counted(shape)) {
        // There may be any number where it is not counted.
        return None;
    }
    let areas = areas(instance, *area);
    let areas = areas
        .iter()
        .filter(|area| area.iter().any(|(shape, _)| counted(*shape)));
    let mut rooms: Vec<(Vec<usize>, usize)> = areas
        .map(|area| {
            let own = area.iter().filter(|(shape, _)| counted(*shape));
            let room = own.clone().fold(0_usize, |sum, (shape, places)| {
                sum.saturating_add(fit(fits, *group, *shape).saturating_mul(*places))
            });
            (own.map(|(shape, _)| *shape).collect(), room)
        })
        .collect();
    let least = match rooms.len() < *least_areas {
        true => 0,
        // Where there are least, there are no more than when all areas have as many.
        false => {
            let even = count(instance, *group) / rooms.len().max(1);
            rooms.iter().map(|(_, room)| *room).fold(even, usize::min)
        }
    };
    let most = least.saturating_add(*skew);
    for (_, room) in &mut rooms {
        *room = (*room).min(most);
    }
    Some(rooms)
}

/// Which of some groups cannot share a place, with others and with their own.
pub(super) fn apart_in_places(instance: &Instance, groups: &[usize]) -> Vec<Vec<bool>> {
    let mut all = vec![vec![false; groups.len()]; groups.len()];
    for relation in &instance.relations {
        let Relation::Apart {
            group,
            others,
            area,
        } = relation
        else {
            continue;
        };
        // What is apart in a region is apart in each place, when all are in one.
        let everywhere = match area {
            Area::Place => true,
            Area::Region(way) => {
                let mut regions = instance.regions.iter();
                regions.all(|regions| regions.get(*way).is_some_and(Option::is_some))
            }
        };
        if !everywhere {
            continue;
        }
        for (a, one) in groups.iter().enumerate() {
            for (b, other) in groups.iter().enumerate() {
                if one == group
                    && others.contains(other)
                    && let Some(slot) = all.get_mut(a).and_then(|all| all.get_mut(b))
                {
                    *slot = true;
                    if let Some(slot) = all.get_mut(b).and_then(|all| all.get_mut(a)) {
                        *slot = true;
                    }
                }
            }
        }
    }
    all
}

/// Whether groups of which each area takes one thing at most have too many.
fn crowded(instance: &Instance, fits: &[Vec<usize>]) -> bool {
    let mut kinds: Vec<Area> = Vec::new();
    for relation in &instance.relations {
        if let Relation::Apart { area, .. } = relation
            && !kinds.contains(area)
        {
            kinds.push(*area);
        }
    }
    kinds.into_iter().any(|area| {
        let apart = |a: usize, b: usize| {
            instance.relations.iter().any(|relation| match relation {
                Relation::Apart {
                    group,
                    others,
                    area: own,
                } => {
                    // What is apart in a region is apart in each place of it.
                    let inside = |way: usize| {
                        let mut regions = instance.regions.iter();
                        regions.all(|regions| regions.get(way).is_some_and(Option::is_some))
                    };
                    let within = *own == area
                        || (area == Area::Place
                            && matches!(own, Area::Region(way) if inside(*way)));
                    within
                        && ((*group == a && others.contains(&b))
                            || (*group == b && others.contains(&a)))
                }
                _ => false,
            })
        };
        let selfish: Vec<usize> = (0..instance.counts.len())
            .filter(|&group| count(instance, group) > 0 && apart(group, group))
            .collect();
        let regions = areas(instance, area);
        // From each group on, as many as are all apart from each other.
        selfish.iter().any(|&first| {
            let mut clique = vec![first];
            for &group in &selfish {
                if group != first && clique.iter().all(|&other| apart(group, other)) {
                    clique.push(group);
                }
            }
            let things: usize = clique.iter().map(|&group| count(instance, group)).sum();
            let takes = |area: &&Vec<(usize, usize)>| {
                let mut shapes = area.iter();
                shapes.any(|(shape, _)| clique.iter().any(|&group| fit(fits, group, *shape) > 0))
            };
            // Places outside of all areas take any number.
            let outside = match area {
                Area::Place => false,
                Area::Region(way) => instance.regions.iter().enumerate().any(|(shape, regions)| {
                    regions.get(way).is_none_or(Option::is_none)
                        && places(instance, shape) > 0
                        && clique.iter().any(|&group| fit(fits, group, shape) > 0)
                }),
            };
            !outside && regions.iter().filter(takes).count() < things
        })
    })
}

/// Whether what is needed of a resource cannot flow from the places that are allowed: of all things as they are, and of
/// those that need at least so much, each counted as one.
fn flows(instance: &Instance, free: &[Vec<u64>]) -> bool {
    let resources = instance.capacity.first().map_or(0, Vec::len);
    for resource in 0..resources {
        let need = |group: usize| demand(instance, group).get(resource).copied().unwrap_or(0);
        let room = |shape: usize| {
            let capacity = free.get(shape).and_then(|all| all.get(resource));
            capacity.copied().unwrap_or(u64::MAX)
        };
        let whole = Network {
            instance,
            supply: &|group| u128::from(need(group)) * count(instance, group) as u128,
            room: &|shape| match room(shape) {
                u64::MAX => u128::MAX,
                room => u128::from(room) * places(instance, shape) as u128,
            },
            may: &|group, shape| instance.allows(group, shape) && need(group) <= room(shape),
        };
        if whole.overflows() {
            return true;
        }
        let mut sizes: Vec<u64> = (0..instance.counts.len())
            .filter(|&group| count(instance, group) > 0)
            .map(need)
            .filter(|need| *need > 0)
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            let counted = Network {
                instance,
                supply: &|group| match need(group) >= size {
                    true => count(instance, group) as u128,
                    false => 0,
                },
                room: &|shape| match room(shape) {
                    u64::MAX => u128::MAX,
                    room => u128::from(room / size) * places(instance, shape) as u128,
                },
                may: &|group, shape| instance.allows(group, shape) && need(group) <= room(shape),
            };
            if counted.overflows() {
                return true;
            }
        }
    }
    false
}

/// Whether things that cannot share a place leave too few places for the others: the bound of Martello and Toth, with all
/// places as large as the largest.
fn halves(instance: &Instance, free: &[Vec<u64>]) -> bool {
    let bins: u128 = instance.places.iter().map(|places| *places as u128).sum();
    let resources = instance.capacity.first().map_or(0, Vec::len);
    (0..resources).any(|resource| {
        let rooms = free.iter().enumerate();
        let rooms = rooms.filter(|(shape, _)| places(instance, *shape) > 0);
        let rooms = rooms.filter_map(|(_, all)| all.get(resource).copied());
        let Some(room) = rooms.max().filter(|room| *room != u64::MAX && *room > 0) else {
            return false;
        };
        let room = u128::from(room);
        let sizes: Vec<(u128, u128)> = (0..instance.counts.len())
            .map(|group| {
                let need = demand(instance, group).get(resource).copied().unwrap_or(0);
                (u128::from(need), count(instance, group) as u128)
            })
            .filter(|(need, count)| *need > 0 && *count > 0)
            .collect();
        let cuts = sizes.iter().map(|(need, _)| *need);
        cuts.filter(|cut| cut * 2 <= room).any(|cut| {
            let (mut alone, mut large, mut left, mut small) = (0_u128, 0_u128, 0_u128, 0_u128);
            for &(need, count) in &sizes {
                if need > room - cut {
                    alone += count;
                } else if need * 2 > room {
                    large += count;
                    left += (room - need) * count;
                } else if need >= cut {
                    small += need * count;
                }
            }
            alone + large + small.saturating_sub(left).div_ceil(room) > bins
        })
    })
}

/// Groups that supply, and shapes that have room.
struct Network<'n> {
    instance: &'n Instance,
    supply: &'n dyn Fn(usize) -> u128,
    room: &'n dyn Fn(usize) -> u128,
    may: &'n dyn Fn(usize, usize) -> bool,
}

impl Network<'_> {
    /// Whether not all supplies find room. Groups with the same places are one, so that there are few; their flow is
    /// found by augmenting.
    fn overflows(&self) -> bool {
        let shapes = self.instance.places.len();
        let mut sources: Vec<(Vec<bool>, u128)> = Vec::new();
        for group in 0..self.instance.counts.len() {
            let supply = (self.supply)(group);
            if supply == 0 {
                continue;
            }
            let may: Vec<bool> = (0..shapes).map(|shape| (self.may)(group, shape)).collect();
            match sources.iter_mut().find(|(other, _)| *other == may) {
                Some((_, sum)) => *sum = sum.saturating_add(supply),
                None => sources.push((may, supply)),
            }
        }
        let mut room: Vec<u128> = (0..shapes).map(|shape| (self.room)(shape)).collect();
        let mut sent: Vec<Vec<u128>> = vec![vec![0; shapes]; sources.len()];
        for source in 0..sources.len() {
            let mut left = sources.get(source).map_or(0, |(_, supply)| *supply);
            while left > 0 {
                match augment(&sources, &mut room, &mut sent, source, left) {
                    0 => return true,
                    sent => left -= sent,
                }
            }
        }
        false
    }
}

/// Sends more from a source, moving what others sent; gives how much.
fn augment(
    sources: &[(Vec<bool>, u128)],
    room: &mut [u128],
    sent: &mut [Vec<u128>],
    from: usize,
    most: u128,
) -> u128 {
    let shapes = room.len();
    // How each shape was reached: from which source, and from which shape that source can move.
    let mut reached: Vec<Option<(usize, Option<usize>)>> = vec![None; shapes];
    let mut seen = vec![false; sources.len()];
    let mut open = vec![(from, None)];
    if let Some(seen) = seen.get_mut(from) {
        *seen = true;
    }
    let mut end = None;
    'search: while let Some((source, before)) = open.pop() {
        let Some((may, _)) = sources.get(source) else {
            continue;
        };
        for shape in 0..shapes {
            if may.get(shape) != Some(&true) || reached.get(shape).is_some_and(Option::is_some) {
                continue;
            }
            if let Some(slot) = reached.get_mut(shape) {
                *slot = Some((source, before));
            }
            if room.get(shape).is_some_and(|room| *room > 0) {
                end = Some(shape);
                break 'search;
            }
            for other in 0..sources.len() {
                let moves = sent.get(other).and_then(|row| row.get(shape)).copied();
                if moves.unwrap_or(0) > 0 && seen.get(other) == Some(&false) {
                    if let Some(seen) = seen.get_mut(other) {
                        *seen = true;
                    }
                    open.push((other, Some(shape)));
                }
            }
        }
    }
    let Some(end) = end else {
        return 0;
    };
    let mut amount = most.min(room.get(end).copied().unwrap_or(0));
    let mut at = Some(end);
    while let Some(shape) = at {
        let Some(Some((source, before))) = reached.get(shape) else {
            break;
        };
        if let Some(before) = before {
            let moved = sent.get(*source).and_then(|row| row.get(*before)).copied();
            amount = amount.min(moved.unwrap_or(0));
        }
        at = *before;
    }
    let mut at = Some(end);
    while let Some(shape) = at {
        let Some(&Some((source, before))) = reached.get(shape) else {
            break;
        };
        if let Some(row) = sent.get_mut(source) {
            if let Some(slot) = row.get_mut(shape) {
                *slot += amount;
            }
            if let Some(slot) = before.and_then(|before| row.get_mut(before)) {
                *slot -= amount;
            }
        }
        at = before;
    }
    if let Some(room) = room.get_mut(end)
        && *room != u128::MAX
    {
        *room -= amount;
    }
    amount
}
