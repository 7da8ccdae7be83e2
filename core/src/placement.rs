//! Things to be put into places: whether all of them fit, stated without any language.
//!
//! A front-end states a [`Problem`] in terms of the lines that it comes from; a solver asks for it as it is, or
//! [without](Problem::without) some of its lines, as an [`Instance`], and gives a [`Placement`] or says that there is none.
//! [`Instance::refuses`] says what is wrong with a placement, and shares no code with whoever found it.

use std::fmt;
use std::sync::Arc;

use crate::facts::AtomId;
use crate::vocabulary::{FieldId, SigId};

/// The position of a line in its problem.
pub type LineId = usize;

/// Places that are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What they are called.
    pub name: Arc<str>,
    /// How many there are.
    pub count: usize,
    /// How much of each resource each of them has, and the line that says so; none where it is not limited.
    pub capacity: Vec<Option<(u64, Option<LineId>)>>,
    /// The region they are in, for each way to divide places into regions; none when they are in no region.
    pub regions: Vec<Option<usize>>,
}

/// A part of what is needed of a resource, and the line that says so.
pub type Part = (u64, Option<LineId>);

/// Which places are allowed, and the line that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The line.
    pub line: Option<LineId>,
    /// Whether each shape is allowed.
    pub shapes: Vec<bool>,
}

/// Things that are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they are called.
    pub name: Arc<str>,
    /// How many there are; of things that are in every allowed place, this does not count.
    pub count: usize,
    /// The line that says how many; without it, there is one.
    pub count_line: Option<LineId>,
    /// What each needs of each resource: the greatest of some sums.
    pub demand: Vec<Vec<Vec<Part>>>,
    /// Which places are allowed: those that all limits allow.
    pub limits: Vec<Limit>,
    /// Whether there is one in every allowed place.
    pub everywhere: bool,
    /// Those with the higher number go first when not all fit.
    pub priority: i64,
    /// Whether they drive out those of lower priority when there is no room for them.
    pub preempts: bool,
}

/// Where things must be apart, together, or spread: in one place, or in one region of a way to divide them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    /// A place.
    Place,
    /// A region, by the position of the way to divide places.
    Region(usize),
}

/// What things are to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// No thing of the first group is in one area with one of the others; of the own group, no two are.
    Apart {
        /// The group.
        group: usize,
        /// The others.
        others: Vec<usize>,
        /// The area.
        area: Area,
    },
    /// Each thing of the first group is in one area with a thing of the others. When the group is one of them, the first of
    /// its things may start an area, one for all.
    Together {
        /// The group.
        group: usize,
        /// The others.
        others: Vec<usize>,
        /// The area.
        area: Area,
    },
    /// Where things of the group are, there are at most `skew` more things of the others than where there are least.
    Spread {
        /// The group.
        group: usize,
        /// The groups that are counted.
        others: Vec<usize>,
        /// The areas.
        area: Area,
        /// By how many they may differ.
        skew: usize,
        /// With fewer areas than these, the least is zero.
        least_areas: usize,
        /// The shapes whose areas count.
        counted: Vec<bool>,
    },
    /// All things of some groups are in one place.
    Shared {
        /// The groups.
        groups: Vec<usize>,
    },
}

/// What a relation is, and the line that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The relation.
    pub relation: Relation,
    /// The line.
    pub line: Option<LineId>,
}

/// Things to be put into places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The names of the resources.
    pub resources: Vec<Arc<str>>,
    /// The places.
    pub shapes: Vec<Shape>,
    /// The things.
    pub groups: Vec<Group>,
    /// What things are to each other.
    pub rules: Vec<Rule>,
    /// How many lines it has.
    pub lines: usize,
}

/// A problem with numbers only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// How many places of each shape there are.
    pub places: Vec<usize>,
    /// How much of each resource a place of each shape has.
    pub capacity: Vec<Vec<u64>>,
    /// The regions of each shape.
    pub regions: Vec<Vec<Option<usize>>>,
    /// How many things of each group there are; of those that are everywhere, none.
    pub counts: Vec<usize>,
    /// What a thing of each group needs of each resource.
    pub demand: Vec<Vec<u64>>,
    /// The shapes that each group may be in.
    pub allowed: Vec<Vec<bool>>,
    /// The groups that are in every allowed place.
    pub everywhere: Vec<bool>,
    /// What things are to each other.
    pub relations: Vec<Relation>,
}

/// How many things of each group are in a place: a place for each of each shape, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The counts by place and group.
    pub counts: Vec<Vec<usize>>,
}

impl Problem {
    /// The numbers of the problem when some of its lines are not there.
    pub fn without(&self, is_gone: &dyn Fn(LineId) -> bool) -> Instance {
        let stays = |line: Option<LineId>| line.is_none_or(|line| !is_gone(line));
        let capacity = |shape: &Shape| -> Vec<u64> {
            let limit = |capacity: &Option<Part>| match capacity {
                Some((amount, line)) if stays(*line) => *amount,
                _ => u64::MAX,
            };
            shape.capacity.iter().map(limit).collect()
        };
        let sum = |parts: &Vec<Part>| {
            let parts = parts.iter().filter(|(_, line)| stays(*line));
            parts.fold(0_u64, |sum, (amount, _)| sum.saturating_add(*amount))
        };
        let need = |sums: &Vec<Vec<Part>>| sums.iter().map(sum).max().unwrap_or(0);
        let allowed = |group: &Group| -> Vec<bool> {
            let limits = || group.limits.iter().filter(|limit| stays(limit.line));
            let all = |at: usize| limits().all(|limit| limit.shapes.get(at) == Some(&true));
            (0..self.shapes.len()).map(all).collect()
        };
        let count = |group: &Group| match group {
            Group {
                everywhere: true, ..
            } => 0,
            group if stays(group.count_line) => group.count,
            group => group.count.min(1),
        };
        let rules = self.rules.iter().filter(|rule| stays(rule.line));
        Instance {
            places: self.shapes.iter().map(|shape| shape.count).collect(),
            capacity: self.shapes.iter().map(capacity).collect(),
            regions: self
                .shapes
                .iter()
                .map(|shape| shape.regions.clone())
                .collect(),
            counts: self.groups.iter().map(count).collect(),
            demand: self
                .groups
                .iter()
                .map(|group| group.demand.iter().map(need).collect())
                .collect(),
            allowed: self.groups.iter().map(allowed).collect(),
            everywhere: self.groups.iter().map(|group| group.everywhere).collect(),
            relations: rules.map(|rule| rule.relation.clone()).collect(),
        }
    }

    /// The numbers of the problem as it is.
    pub fn whole(&self) -> Instance {
        self.without(&|_| false)
    }
}

/// What is wrong with a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is not about these places and groups.
    Size,
    /// A group has another number of things.
    Count(usize),
    /// A group is in a place that is not allowed.
    Place(usize),
    /// A place has too little of a resource.
    Full(usize),
    /// A relation does not hold.
    Relation(usize),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Instance {
    /// The shape of each place.
    pub fn shapes(&self) -> Vec<usize> {
        let shapes = self.places.iter().enumerate();
        shapes
            .flat_map(|(shape, &count)| std::iter::repeat_n(shape, count))
            .collect()
    }

    /// The areas that places of the given shapes are in; places that are in none have none.
    pub fn areas(&self, area: Area, shapes: &[usize]) -> Vec<Option<usize>> {
        let of = |(place, shape): (usize, &usize)| match area {
            Area::Place => Some(place),
            Area::Region(way) => *self.regions.get(*shape)?.get(way)?,
        };
        shapes.iter().enumerate().map(of).collect()
    }

    /// Whether a group may be in places of a shape.
    pub fn allows(&self, group: usize, shape: usize) -> bool {
        let allowed = self.allowed.get(group).and_then(|all| all.get(shape));
        allowed == Some(&true)
    }

    /// What is wrong with a placement, if anything.
    pub fn refuses(&self, placement: &Placement) -> Option<Refusal> {
        let shapes = self.shapes();
        let counts = &placement.counts;
        let groups = self.counts.len();
        if counts.len() != shapes.len() || counts.iter().any(|place| place.len() != groups) {
            return Some(Refusal::Size);
        }
        let at = |place: usize, group: usize| {
            let place = counts.get(place);
            place
                .and_then(|place| place.get(group))
                .copied()
                .unwrap_or(0)
        };
        for group in 0..groups {
            let everywhere = self.everywhere.get(group) == Some(&true);
            let mut total = 0;
            for (place, &shape) in shapes.iter().enumerate() {
                let here = at(place, group);
                total += here;
                let allowed = self.allows(group, shape);
                if (here > 0 && !allowed) || (everywhere && here != usize::from(allowed)) {
                    return Some(Refusal::Place(group));
                }
            }
            if !everywhere && Some(&total) != self.counts.get(group) {
                return Some(Refusal::Count(group));
            }
        }
        for (place, &shape) in shapes.iter().enumerate() {
            for (resource, &capacity) in self.capacity.get(shape)?.iter().enumerate() {
                let need = |group: usize| {
                    let demand = self.demand.get(group).and_then(|all| all.get(resource));
                    let count = at(place, group) as u128;
                    count * u128::from(demand.copied().unwrap_or(0))
                };
                if (0..groups).map(need).sum::<u128>() > u128::from(capacity) {
                    return Some(Refusal::Full(place));
                }
            }
        }
        let broken = |relation: &Relation| !self.holds(relation, &shapes, &at);
        self.relations
            .iter()
            .position(broken)
            .map(Refusal::Relation)
    }

    fn holds(
        &self,
        relation: &Relation,
        shapes: &[usize],
        at: &dyn Fn(usize, usize) -> usize,
    ) -> bool {
        let in_area = |areas: &[Option<usize>], area: usize, group: usize| -> usize {
            let places = areas.iter().enumerate();
            let places = places.filter(|(_, own)| **own == Some(area));
            places.map(|(place, _)| at(place, group)).sum()
        };
        let distinct = |areas: &[Option<usize>]| {
            let mut all: Vec<usize> = areas.iter().flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        match relation {
            Relation::Apart {
                group,
                others,
                area,
            } => {
                let areas = self.areas(*area, shapes);
                distinct(&areas).into_iter().all(|area| {
                    let own = in_area(&areas, area, *group);
                    let other = |other: &usize| match other == group {
                        true => own <= 1,
                        false => own == 0 || in_area(&areas, area, *other) == 0,
                    };
                    others.iter().all(other)
                })
            }
            Relation::Together {
                group,
                others,
                area,
            } => {
                let areas = self.areas(*area, shapes);
                let outside = areas.iter().enumerate();
                let mut outside = outside.filter(|(_, area)| area.is_none());
                if outside.any(|(place, _)| at(place, *group) > 0) {
                    return false;
                }
                let alone = distinct(&areas).into_iter().filter(|&area| {
                    let mut others = others.iter().filter(|other| *other != group);
                    in_area(&areas, area, *group) > 0
                        && !others.any(|other| in_area(&areas, area, *other) > 0)
                });
                alone.count() <= usize::from(others.contains(group))
            }
            Relation::Spread {
                group,
                others,
                area,
                skew,
                least_areas,
                counted,
            } => {
                let areas = self.areas(*area, shapes);
                let eligible = |place: &usize| {
                    let shape = shapes.get(*place);
                    shape.and_then(|&shape| counted.get(shape)) == Some(&true)
                };
                let outside = areas.iter().enumerate();
                let mut outside = outside.filter(|(_, area)| area.is_none());
                if outside.any(|(place, _)| at(place, *group) > 0) {
                    return false;
                }
                let places: Vec<Option<usize>> = areas
                    .iter()
                    .enumerate()
                    .map(|(place, area)| area.filter(|_| eligible(&place)))
                    .collect();
                let all = distinct(&places);
                let total = |area: usize| -> usize {
                    let count = |other: &usize| in_area(&places, area, *other);
                    others.iter().map(count).sum()
                };
                let least = match all.len() < *least_areas {
                    true => 0,
                    false => all.iter().map(|&area| total(area)).min().unwrap_or(0),
                };
                all.iter()
                    .all(|&area| in_area(&places, area, *group) == 0 || total(area) <= least + skew)
            }
            Relation::Shared { groups } => {
                let used = (0..shapes.len())
                    .filter(|&place| groups.iter().any(|&group| at(place, group) > 0));
                used.count() <= 1
            }
        }
    }
}

/// A problem about a configuration, and where the answer is stated: when there is no placement, the things that stand for
/// the lines that conflict are related to the thing that stands for the question.
#[derive(Clone, Debug)]
pub struct Question {
    /// The problem.
    pub problem: Arc<Problem>,
    /// The lines that are gone, as for a place that is lost: how many places of each shape there are instead.
    pub places: Option<Vec<usize>>,
    /// Groups of which there are more: by how many.
    pub more: Vec<(usize, usize)>,
    /// Groups that are left out.
    pub out: Vec<usize>,
    /// What stands for the question.
    pub asked: AtomId,
    /// The field that relates it to the lines.
    pub conflict: FieldId<2>,
    /// What stands for each line.
    pub lines: Arc<Vec<AtomId>>,
    /// The field that relates it to whether there is no placement.
    pub impossible: FieldId<2>,
    /// What stands for no and for yes.
    pub truths: [AtomId; 2],
    /// What numbers of things that are open make of it; none when it depends on none.
    pub open: Option<Open>,
    /// The group that it is about: the others are there already, and those of lower priority may have to go.
    pub about: Option<usize>,
    /// How it is stated which things have no place.
    pub told: Told,
}

/// How it is stated which things have no place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What stands for the things of each group; none for those that nothing stands for.
    pub groups: Arc<Vec<Option<AtomId>>>,
    /// The signature of things of a group that have no place.
    pub sig: SigId,
    /// The field that relates them to what stands for their group.
    pub of: FieldId<2>,
    /// The field that relates a question to those that wait.
    pub pending: FieldId<2>,
    /// The field that relates a question to those that are driven out.
    pub driven: FieldId<2>,
    /// The field that relates a question to whether any are.
    pub drives: FieldId<2>,
}

/// A question whose answer depends on numbers of things that are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// What stands for the answer.
    pub truth: AtomId,
    /// The groups whose numbers are open, each with by how many it may grow.
    pub more: Vec<(usize, usize)>,
}

impl Question {
    /// The problem that is asked.
    pub fn asked(&self) -> Problem {
        let mut problem = (*self.problem).clone();
        if let Some(places) = &self.places {
            for (shape, count) in problem.shapes.iter_mut().zip(places) {
                shape.count = *count;
            }
        }
        for &(group, more) in &self.more {
            if let Some(group) = problem.groups.get_mut(group) {
                group.count += more;
            }
        }
        for &group in &self.out {
            if let Some(group) = problem.groups.get_mut(group) {
                group.count = 0;
            }
        }
        problem
    }
}
