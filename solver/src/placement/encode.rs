//! Placements as clauses.
//!
//! For each group and place there is a variable for "at least one", "at least two" and so on, up to what fits, so that equal
//! things need no names. What a place can take is a diagram over these counts, one level for each group.

use std::time::{Duration, Instant};

use locus_core::placement::{Area, Instance, Placement, Relation};
use rustc_hash::FxHashMap;

use super::Outcome;
use crate::limits::{Limits, Reason};
#[cfg(feature = "cadical")]
use crate::sat::Relay as Solver;
#[cfg(not(feature = "cadical"))]
use crate::sat::Varisat as Solver;
use crate::sat::{Answer, SatSolver as _};

/// Literals after which a problem is too large to be stated.
const SIZE: usize = 20_000_000;

/// The time that the search may take when nobody says otherwise.
const TIME: Duration = Duration::from_millis(1500);

/// Decides whether there is a placement.
pub(super) fn place(instance: &Instance, limits: &Limits) -> Outcome {
    let shapes = instance.shapes();
    let mut encoder = Encoder {
        instance,
        solver: Solver::new(false),
        shapes,
        vars: 0,
        literals: 0,
        at_least: Vec::new(),
    };
    if !encoder.counts() {
        return Outcome::Impossible;
    }
    encoder.capacities();
    encoder.symmetries();
    for relation in &instance.relations {
        encoder.relation(relation);
        if encoder.literals > SIZE {
            return Outcome::Unknown(Reason::Memory);
        }
    }
    if encoder.literals > SIZE {
        return Outcome::Unknown(Reason::Memory);
    }
    let limits = Limits {
        deadline: limits.deadline.or_else(|| Instant::now().checked_add(TIME)),
        ..limits.clone()
    };
    match encoder.solver.solve(&[], &limits) {
        Answer::Sat => Outcome::Placed(encoder.placement()),
        Answer::Unsat => Outcome::Impossible,
        Answer::Unknown(reason) => Outcome::Unknown(reason),
    }
}

struct Encoder<'e> {
    instance: &'e Instance,
    solver: Solver,
    shapes: Vec<usize>,
    vars: i32,
    literals: usize,
    /// By group and place, the literals for "at least one", "at least two" and so on.
    at_least: Vec<Vec<Vec<i32>>>,
}

impl Encoder<'_> {
    fn var(&mut self) -> i32 {
        self.vars = self.vars.saturating_add(1);
        self.vars
    }

    fn add(&mut self, clause: &[i32]) {
        self.literals += clause.len();
        if self.literals <= SIZE {
            self.solver.add_clause(clause);
        }
    }

    fn of(&self, group: usize, place: usize) -> &[i32] {
        let places = self
            .at_least
            .get(group)
            .and_then(|places| places.get(place));
        places.map_or(&[], Vec::as_slice)
    }

    /// How many things of a group a place can take at most.
    fn most(&self, group: usize, place: usize) -> usize {
        let Some(&shape) = self.shapes.get(place) else {
            return 0;
        };
        if !self.instance.allows(group, shape) {
            return 0;
        }
        let selfish = self
            .instance
            .relations
            .iter()
            .any(|relation| match relation {
                Relation::Apart {
                    group: own,
                    others,
                    area,
                } => {
                    let areas = self.instance.areas(*area, &self.shapes);
                    *own == group
                        && others.contains(&group)
                        && areas.get(place).is_some_and(Option::is_some)
                }
                _ => false,
            });
        let capacity = self
            .instance
            .capacity
            .get(shape)
            .map_or(&[][..], Vec::as_slice);
        let demand = self
            .instance
            .demand
            .get(group)
            .map_or(&[][..], Vec::as_slice);
        let fits = capacity
            .iter()
            .zip(demand)
            .filter(|(room, need)| **need > 0 && **room != u64::MAX)
            .map(|(room, need)| usize::try_from(room / need).unwrap_or(usize::MAX))
            .min()
            .unwrap_or(usize::MAX);
        let count = match self.instance.everywhere.get(group) {
            Some(true) => 1,
            _ => self.instance.counts.get(group).copied().unwrap_or(0),
        };
        let fits = fits.min(count);
        if selfish { fits.min(1) } else { fits }
    }

    /// The variables, and how many things there are; whether that is possible at all.
    fn counts(&mut self) -> bool {
        for group in 0..self.instance.counts.len() {
            let mut places = Vec::with_capacity(self.shapes.len());
            for place in 0..self.shapes.len() {
                let most = self.most(group, place);
                let own: Vec<i32> = (0..most).map(|_| self.var()).collect();
                for pair in own.windows(2) {
                    if let [less, more] = pair {
                        self.add(&[-more, *less]);
                    }
                }
                places.push(own);
            }
            self.at_least.push(places);
        }
        for group in 0..self.instance.counts.len() {
            if self.instance.everywhere.get(group) == Some(&true) {
                for place in 0..self.shapes.len() {
                    let shape = self.shapes.get(place).copied().unwrap_or(0);
                    if self.instance.allows(group, shape) {
                        match self.of(group, place).first().copied() {
                            Some(one) => self.add(&[one]),
                            None => return false,
                        }
                    }
                }
                continue;
            }
            let count = self.instance.counts.get(group).copied().unwrap_or(0);
            let places = self.at_least.get(group).cloned().unwrap_or_default();
            let all: Vec<i32> = places.into_iter().flatten().collect();
            if all.len() < count {
                return false;
            }
            self.exactly(&all, count);
        }
        true
    }

    /// Demands that so many of the literals are true.
    fn exactly(&mut self, literals: &[i32], count: usize) {
        match count {
            0 => literals.iter().for_each(|&literal| self.add(&[-literal])),
            1 => {
                self.add(literals);
                let counts = self.counter(literals, 2);
                if let Some(&two) = counts.get(1) {
                    self.add(&[-two]);
                }
            }
            count => {
                let negated: Vec<i32> = literals.iter().map(|literal| -literal).collect();
                let gone = literals.len() - count;
                let above = self.counter(literals, count + 1);
                if let Some(&more) = above.get(count) {
                    self.add(&[-more]);
                }
                let below = self.counter(&negated, gone + 1);
                if let Some(&more) = below.get(gone) {
                    self.add(&[-more]);
                }
            }
        }
    }

    /// Literals of which the one at `k` is true whenever more than `k` of the given ones are, up to `most`.
    fn counter(&mut self, literals: &[i32], most: usize) -> Vec<i32> {
        let mut counts: Vec<i32> = Vec::new();
        for &literal in literals {
            let width = (counts.len() + 1).min(most);
            let next: Vec<i32> = (0..width).map(|_| self.var()).collect();
            for (at, &out) in next.iter().enumerate() {
                if let Some(&before) = counts.get(at) {
                    self.add(&[-before, out]);
                }
                match at.checked_sub(1).map(|below| counts.get(below)) {
                    None => self.add(&[-literal, out]),
                    Some(Some(&below)) => self.add(&[-literal, -below, out]),
                    Some(None) => {}
                }
            }
            counts = next;
            if self.literals > SIZE {
                break;
            }
        }
        counts
    }

    fn capacities(&mut self) {
        for place in 0..self.shapes.len() {
            let shape = self.shapes.get(place).copied().unwrap_or(0);
            let capacity = self
                .instance
                .capacity
                .get(shape)
                .cloned()
                .unwrap_or_default();
            for (resource, room) in capacity.into_iter().enumerate() {
                if room != u64::MAX {
                    self.capacity(place, resource, room);
                }
            }
        }
    }

    /// What a place can take of a resource: a level for each group, the largest first.
    fn capacity(&mut self, place: usize, resource: usize, room: u64) {
        let need = |group: usize| {
            let demand = self.instance.demand.get(group);
            demand
                .and_then(|all| all.get(resource))
                .copied()
                .unwrap_or(0)
        };
        let mut levels: Vec<(u64, Vec<i32>)> = (0..self.instance.counts.len())
            .map(|group| (need(group), self.of(group, place).to_vec()))
            .filter(|(need, own)| *need > 0 && !own.is_empty())
            .collect();
        levels.sort_by_key(|level| std::cmp::Reverse(level.0));
        // What all levels from one on need at most.
        let mut rest = vec![0_u128; levels.len() + 1];
        for (at, (need, own)) in levels.iter().enumerate().rev() {
            let after = rest.get(at + 1).copied().unwrap_or(0);
            if let Some(slot) = rest.get_mut(at) {
                *slot = after + u128::from(*need) * own.len() as u128;
            }
        }
        if rest.first().is_none_or(|all| *all <= u128::from(room)) {
            return;
        }
        let root = self.var();
        self.add(&[root]);
        let mut open: FxHashMap<u64, i32> = FxHashMap::default();
        open.insert(room, root);
        for (at, (need, own)) in levels.iter().enumerate() {
            let after = rest.get(at + 1).copied().unwrap_or(0);
            let mut next: FxHashMap<u64, i32> = FxHashMap::default();
            let mut nodes: Vec<(u64, i32)> = open.into_iter().collect();
            nodes.sort_unstable();
            for (room, node) in nodes {
                for count in 0..=own.len() {
                    let taken = u128::from(*need) * count as u128;
                    let mut clause = vec![-node];
                    if let Some(&literal) = count.checked_sub(1).and_then(|at| own.get(at)) {
                        clause.push(-literal);
                    }
                    match u128::from(room).checked_sub(taken) {
                        None => {
                            self.add(&clause);
                            break;
                        }
                        // The others fit whatever they are.
                        Some(left) if left >= after => {}
                        Some(left) => {
                            let left = u64::try_from(left).unwrap_or(u64::MAX);
                            let to = match next.get(&left) {
                                Some(&to) => to,
                                None => {
                                    let to = self.var();
                                    next.insert(left, to);
                                    to
                                }
                            };
                            clause.push(to);
                            self.add(&clause);
                        }
                    }
                }
            }
            open = next;
            if self.literals > SIZE {
                return;
            }
        }
    }

    /// Of equal places, an earlier one has at least as many things of the first group.
    fn symmetries(&mut self) {
        let first = (0..self.instance.counts.len()).max_by_key(|&group| {
            let demand = self
                .instance
                .demand
                .get(group)
                .map_or(&[][..], Vec::as_slice);
            let count = self.instance.counts.get(group).copied().unwrap_or(0);
            (
                count > 0,
                demand.first().copied().unwrap_or(0),
                std::cmp::Reverse(group),
            )
        });
        let Some(group) = first else {
            return;
        };
        for place in 1..self.shapes.len() {
            if self.shapes.get(place) != self.shapes.get(place - 1) {
                continue;
            }
            let (before, after) = (
                self.of(group, place - 1).to_vec(),
                self.of(group, place).to_vec(),
            );
            for (before, after) in before.iter().zip(&after) {
                self.add(&[-after, *before]);
            }
        }
    }

    /// The literals that are true when there are things of a group in an area.
    fn literals_in(&self, areas: &[Option<usize>], area: usize, group: usize) -> Vec<i32> {
        let places = areas.iter().enumerate();
        let places = places.filter(|(_, own)| **own == Some(area));
        places
            .flat_map(|(place, _)| self.of(group, place).iter().copied())
            .collect()
    }

    fn areas(&self, area: Area) -> (Vec<Option<usize>>, Vec<usize>) {
        let areas = self.instance.areas(area, &self.shapes);
        let mut all: Vec<usize> = areas.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        (areas, all)
    }

    fn relation(&mut self, relation: &Relation) {
        match relation {
            Relation::Apart {
                group,
                others,
                area,
            } => {
                let (areas, all) = self.areas(*area);
                for area in all {
                    let own = self.literals_in(&areas, area, *group);
                    if others.contains(group) {
                        let counts = self.counter(&own, 2);
                        if let Some(&two) = counts.get(1) {
                            self.add(&[-two]);
                        }
                    }
                    let here = self.some(&own);
                    for &other in others.iter().filter(|other| *other != group) {
                        for literal in self.literals_in(&areas, area, other) {
                            self.add(&[-here, -literal]);
                        }
                    }
                }
            }
            Relation::Together {
                group,
                others,
                area,
            } => {
                let (areas, all) = self.areas(*area);
                self.outside(&areas, *group);
                let mut starts = Vec::new();
                for area in all {
                    let own = self.literals_in(&areas, area, *group);
                    let here = self.some(&own);
                    let mut clause = vec![-here];
                    for &other in others.iter().filter(|other| *other != group) {
                        clause.extend(self.literals_in(&areas, area, other));
                    }
                    if others.contains(group) {
                        let start = self.var();
                        starts.push(start);
                        clause.push(start);
                    }
                    self.add(&clause);
                }
                let counts = self.counter(&starts, 2);
                if let Some(&two) = counts.get(1) {
                    self.add(&[-two]);
                }
            }
            Relation::Spread {
                group,
                others,
                area,
                skew,
                least_areas,
                counted,
            } => self.spread(*group, others, *area, *skew, *least_areas, counted),
            Relation::Shared { groups } => {
                let mut used = Vec::new();
                for place in 0..self.shapes.len() {
                    let all: Vec<i32> = groups
                        .iter()
                        .filter_map(|&group| self.of(group, place).first().copied())
                        .collect();
                    used.push(self.some(&all));
                }
                let counts = self.counter(&used, 2);
                if let Some(&two) = counts.get(1) {
                    self.add(&[-two]);
                }
            }
        }
    }

    /// A literal that is true whenever one of some is.
    fn some(&mut self, literals: &[i32]) -> i32 {
        let any = self.var();
        for &literal in literals {
            self.add(&[-literal, any]);
        }
        any
    }

    /// Demands that no thing of a group is outside of all areas.
    fn outside(&mut self, areas: &[Option<usize>], group: usize) {
        for (place, area) in areas.iter().enumerate() {
            if area.is_none()
                && let Some(&one) = self.of(group, place).first()
            {
                self.add(&[-one]);
            }
        }
    }

    fn spread(
        &mut self,
        group: usize,
        others: &[usize],
        area: Area,
        skew: usize,
        least_areas: usize,
        counted: &[bool],
    ) {
        let (mut areas, _) = self.areas(area);
        self.outside(&areas, group);
        for (area, shape) in areas.iter_mut().zip(&self.shapes) {
            if counted.get(*shape) != Some(&true) {
                *area = None;
            }
        }
        let mut all: Vec<usize> = areas.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        let things: Vec<(Vec<i32>, Vec<i32>)> = all
            .iter()
            .map(|&area| {
                let counted = others
                    .iter()
                    .flat_map(|&other| self.literals_in(&areas, area, other));
                (self.literals_in(&areas, area, group), counted.collect())
            })
            .collect();
        let most = things.iter().map(|(_, all)| all.len()).max().unwrap_or(0);
        // `least[k]`: there are more than `k` things in every area.
        let least: Vec<i32> = match all.len() < least_areas {
            true => Vec::new(),
            false => (0..most).map(|_| self.var()).collect(),
        };
        for (own, counted) in &things {
            let negated: Vec<i32> = counted.iter().map(|literal| -literal).collect();
            let absent = self.counter(&negated, counted.len());
            for (more, &literal) in least.iter().enumerate() {
                // More than `more` are there: at most `counted.len() - more - 1` are not.
                match counted.len().checked_sub(more + 1) {
                    None => self.add(&[-literal]),
                    Some(gone) => {
                        if let Some(&too_many) = absent.get(gone) {
                            self.add(&[-literal, -too_many]);
                        }
                    }
                }
            }
            let here = self.some(own);
            let present = self.counter(counted, counted.len());
            // With more than `skew + k` things here, there are more than `k` in every area.
            for (at, &more) in present.iter().enumerate().skip(skew) {
                let mut clause = vec![-here, -more];
                clause.extend(least.get(at - skew));
                self.add(&clause);
            }
        }
    }

    fn placement(&self) -> Placement {
        let groups = self.instance.counts.len();
        let count = |group: usize, place: usize| {
            let own = self.of(group, place).iter();
            own.filter(|&&literal| self.solver.value(literal)).count()
        };
        let place = |place: usize| (0..groups).map(|group| count(group, place)).collect();
        Placement {
            counts: (0..self.shapes.len()).map(place).collect(),
        }
    }
}
