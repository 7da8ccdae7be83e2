//! Placements against brute force, and by example.

use locus_core::placement::{
    Area, Group, Instance, Limit, Placement, Problem, Relation, Rule, Shape,
};
use proptest::prelude::*;

use super::{Outcome, by_priority, core, encode, place, prices, random, repair};
use crate::limits::Limits;

/// Tries all placements.
fn brute(instance: &Instance) -> bool {
    fn fill(
        instance: &Instance,
        placement: &mut Placement,
        group: usize,
        place: usize,
        left: usize,
    ) -> bool {
        let places = placement.counts.len();
        if group == instance.counts.len() {
            return instance.refuses(placement).is_none();
        }
        if instance.everywhere[group] {
            let shapes = instance.shapes();
            for (at, shape) in shapes.iter().enumerate() {
                placement.counts[at][group] = usize::from(instance.allowed[group][*shape]);
            }
            return next(instance, placement, group);
        }
        if place == places {
            return left == 0 && next(instance, placement, group);
        }
        for count in 0..=left {
            placement.counts[place][group] = count;
            if fill(instance, placement, group, place + 1, left - count) {
                return true;
            }
        }
        placement.counts[place][group] = 0;
        false
    }
    fn next(instance: &Instance, placement: &mut Placement, group: usize) -> bool {
        let left = instance.counts.get(group + 1).copied().unwrap_or(0);
        fill(instance, placement, group + 1, 0, left)
    }
    let places = instance.places.iter().sum();
    let mut placement = Placement {
        counts: vec![vec![0; instance.counts.len()]; places],
    };
    let left = instance.counts.first().copied().unwrap_or(0);
    fill(instance, &mut placement, 0, 0, left)
}

fn relation(groups: usize) -> impl Strategy<Value = Relation> {
    let area = prop_oneof![Just(Area::Place), Just(Area::Region(0))];
    (
        0..5usize,
        0..groups,
        prop::collection::vec(0..groups, 1..3),
        area,
        1..3usize,
        0..4usize,
    )
        .prop_map(|(kind, group, mut others, area, skew, least_areas)| {
            others.sort_unstable();
            others.dedup();
            match kind {
                0 => Relation::Apart {
                    group,
                    others,
                    area,
                },
                // What follows others comes after them, so that there is an order.
                1 => {
                    others.retain(|other| *other <= group);
                    if others.is_empty() {
                        others.push(group);
                    }
                    Relation::Together {
                        group,
                        others,
                        area,
                    }
                }
                2 | 3 => Relation::Spread {
                    group,
                    others: if kind == 2 { vec![group] } else { others },
                    area,
                    skew,
                    least_areas,
                    counted: vec![true; 3],
                },
                _ => Relation::Shared { groups: others },
            }
        })
}

fn instance() -> impl Strategy<Value = Instance> {
    let shapes = prop::collection::vec((0..3usize, 0..9u64, prop::option::of(0..2usize)), 1..4);
    let groups = prop::collection::vec(
        (
            0..4usize,
            0..5u64,
            prop::collection::vec(prop::bool::weighted(0.8), 3),
            prop::bool::weighted(0.1),
        ),
        1..4,
    );
    (shapes, groups).prop_flat_map(|(shapes, groups)| {
        let relations = prop::collection::vec(relation(groups.len()), 0..3);
        relations.prop_map(move |relations| Instance {
            places: shapes.iter().map(|(places, ..)| *places).collect(),
            capacity: shapes.iter().map(|(_, room, _)| vec![*room, 4]).collect(),
            regions: shapes.iter().map(|(_, _, region)| vec![*region]).collect(),
            counts: groups
                .iter()
                .map(|(count, _, _, everywhere)| if *everywhere { 0 } else { *count })
                .collect(),
            demand: groups.iter().map(|(_, need, ..)| vec![*need, 1]).collect(),
            allowed: groups
                .iter()
                .map(|(_, _, allowed, _)| allowed[..shapes.len()].to_vec())
                .collect(),
            everywhere: groups.iter().map(|(.., everywhere)| *everywhere).collect(),
            relations,
        })
    })
}

/// All numbers of things that have a place, those of the first groups first, of higher priority before lower.
fn brute_counts(instance: &Instance, order: &[usize]) -> Option<Vec<usize>> {
    let mut best: Option<Vec<usize>> = None;
    let mut counts = vec![0; instance.counts.len()];
    loop {
        let key = |counts: &[usize]| -> Vec<usize> { order.iter().map(|&at| counts[at]).collect() };
        let better = best.as_ref().is_none_or(|best| key(&counts) > key(best));
        let some = Instance {
            counts: counts.clone(),
            ..instance.clone()
        };
        if better && brute(&some) {
            best = Some(counts.clone());
        }
        let Some(at) = (0..counts.len()).find(|&at| counts[at] < instance.counts[at]) else {
            return best;
        };
        counts[..at].fill(0);
        counts[at] += 1;
    }
}

/// A problem of which an instance is the numbers, without lines.
fn problem_of(instance: &Instance, priorities: &[i64]) -> Problem {
    let shape = |at: usize| Shape {
        name: format!("n{at}").into(),
        count: instance.places[at],
        capacity: instance.capacity[at]
            .iter()
            .map(|room| Some((*room, None)))
            .collect(),
        regions: instance.regions[at].clone(),
    };
    let group = |at: usize| Group {
        name: format!("g{at}").into(),
        count: instance.counts[at],
        count_line: None,
        demand: instance.demand[at]
            .iter()
            .map(|need| vec![vec![(*need, None)]])
            .collect(),
        limits: vec![Limit {
            line: None,
            shapes: instance.allowed[at].clone(),
        }],
        everywhere: instance.everywhere[at],
        priority: priorities[at],
        preempts: true,
    };
    let rule = |relation: &Relation| Rule {
        relation: relation.clone(),
        line: None,
    };
    Problem {
        resources: vec!["cpu".into(), "pods".into()],
        shapes: (0..instance.places.len()).map(shape).collect(),
        groups: (0..instance.counts.len()).map(group).collect(),
        rules: instance.relations.iter().map(rule).collect(),
        lines: 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn those_of_higher_priority_come_first(
        instance in instance(),
        priorities in prop::collection::vec(0..3_i64, 3),
    ) {
        let problem = problem_of(&instance, &priorities);
        let fit = by_priority(&problem, &Limits::default());
        let fit = fit.map_err(|reason| TestCaseError::fail(reason.to_string()))?;
        let mut order: Vec<usize> = (0..instance.counts.len()).collect();
        order.sort_by_key(|&at| (std::cmp::Reverse(priorities[at]), at));
        let some = |counts: &[usize]| Instance { counts: counts.to_vec(), ..instance.clone() };
        match &fit.placement {
            Some(placement) => {
                prop_assert_eq!(some(&fit.counts).refuses(placement), None);
                // Nothing more of anything has a place.
                for at in 0..instance.counts.len() {
                    let mut more = fit.counts.clone();
                    more[at] += 1;
                    prop_assert!(more[at] > instance.counts[at] || !brute(&some(&more)));
                }
            }
            None => prop_assert!(!brute(&some(&vec![0; instance.counts.len()]))),
        }
        // What is needed by others, or counted by them, may be worth more than the group that comes first.
        let bound = |relation: &Relation| !matches!(relation, Relation::Apart { .. });
        if fit.placement.is_some() && !instance.relations.iter().any(bound) {
            prop_assert_eq!(Some(fit.counts), brute_counts(&instance, &order));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn placements_are_as_brute_force_finds_them(instance in instance()) {
        let expected = brute(&instance);
        // Prices never exclude what there is.
        prop_assert!(!(expected && prices::exclude(&instance)));
        if let Some(placement) = repair::place(&instance, repair::QUICK) {
            prop_assert!(expected);
            prop_assert_eq!(instance.refuses(&placement), None);
        }
        // By all means, and by the solver alone.
        for outcome in [place(&instance, &Limits::default()), encode::place(&instance, &Limits::default())] {
            match outcome {
                Outcome::Placed(placement) => {
                    prop_assert_eq!(instance.refuses(&placement), None);
                    prop_assert!(expected);
                }
                Outcome::Impossible => prop_assert!(!expected, "there is one"),
                Outcome::Unknown(reason) => prop_assert!(false, "{}", reason),
            }
        }
    }
}

/// Nodes with CPUs, and things that need some.
fn problem(nodes: &[(usize, u64)], things: &[(usize, u64)]) -> Problem {
    let shape = |(at, &(count, room)): (usize, &(usize, u64))| Shape {
        name: format!("n{at}").into(),
        count,
        capacity: vec![Some((room, Some(at)))],
        regions: Vec::new(),
    };
    let group = |(at, &(count, need)): (usize, &(usize, u64))| Group {
        name: format!("g{at}").into(),
        count,
        count_line: Some(100 + at),
        demand: vec![vec![vec![(need, Some(200 + at))]]],
        limits: Vec::new(),
        everywhere: false,
        priority: 0,
        preempts: true,
    };
    Problem {
        resources: vec!["cpu".into()],
        shapes: nodes.iter().enumerate().map(shape).collect(),
        groups: things.iter().enumerate().map(group).collect(),
        rules: Vec::new(),
        lines: 300,
    }
}

#[test]
fn five_hundred_things_on_a_hundred_places_are_placed() {
    let problem = problem(
        &[(60, 4000), (40, 8000)],
        &[(200, 1000), (200, 1100), (100, 1250)],
    );
    let outcome = place(&problem.whole(), &Limits::default());
    let Outcome::Placed(placement) = outcome else {
        panic!("there is a placement: {outcome:?}");
    };
    assert_eq!(problem.whole().refuses(&placement), None);
}

#[test]
fn what_is_wasted_in_each_place_is_counted() {
    // There is enough for all as a whole, but each place has room for three only, and a rest.
    let problem = problem(&[(100, 3900)], &[(301, 1000)]);
    assert_eq!(
        place(&problem.whole(), &Limits::default()),
        Outcome::Impossible
    );
    assert_eq!(core(&problem, &Limits::default()), Ok(vec![0, 100, 200]));
}

#[test]
fn what_cannot_share_a_place_is_counted() {
    // A thing of six leaves no room for one of five, and two of five fill a place.
    let problem = problem(&[(100, 10)], &[(60, 6), (81, 5)]);
    assert_eq!(
        place(&problem.whole(), &Limits::default()),
        Outcome::Impossible
    );
}

#[test]
fn a_core_has_only_what_conflicts() {
    let mut problem = problem(&[(2, 4000), (1, 16000)], &[(2, 1000), (3, 500), (1, 9000)]);
    // The last one may not be on the large place.
    problem.groups[2].limits.push(Limit {
        line: Some(50),
        shapes: vec![true, false],
    });
    problem.rules.push(Rule {
        relation: Relation::Apart {
            group: 0,
            others: vec![0],
            area: Area::Place,
        },
        line: Some(60),
    });
    assert_eq!(core(&problem, &Limits::default()), Ok(vec![0, 50, 202]));
}

#[test]
fn things_that_wait_for_each_other_have_no_place() {
    let mut instance = problem(&[(2, 4000)], &[(1, 1), (1, 1)]).whole();
    let together = |group, other| Relation::Together {
        group,
        others: vec![other],
        area: Area::Place,
    };
    instance.relations = vec![together(0, 1), together(1, 0)];
    assert_eq!(place(&instance, &Limits::default()), Outcome::Impossible);
    instance.relations = vec![together(0, 1)];
    assert!(matches!(
        place(&instance, &Limits::default()),
        Outcome::Placed(_)
    ));
}

/// Nodes with CPUs and memory, and things that need both.
fn wide(nodes: &[(usize, u64, u64)], things: &[(usize, u64, u64)]) -> Instance {
    Instance {
        places: nodes.iter().map(|(count, ..)| *count).collect(),
        capacity: nodes
            .iter()
            .map(|(_, cpu, memory)| vec![*cpu, *memory])
            .collect(),
        regions: nodes.iter().map(|_| vec![]).collect(),
        counts: things.iter().map(|(count, ..)| *count).collect(),
        demand: things
            .iter()
            .map(|(_, cpu, memory)| vec![*cpu, *memory])
            .collect(),
        allowed: things.iter().map(|_| vec![true; nodes.len()]).collect(),
        everywhere: things.iter().map(|_| false).collect(),
        relations: Vec::new(),
    }
}

#[test]
fn prices_show_what_no_resource_shows_alone() {
    // One of each leaves too little CPU, two of the second too little memory, and of each resource there is enough.
    let instance = wide(&[(100, 4, 8)], &[(60, 3, 2), (60, 2, 6)]);
    assert!(prices::exclude(&instance));
    let instance = wide(&[(100, 4, 8)], &[(60, 3, 2), (40, 2, 6)]);
    assert!(!prices::exclude(&instance));
}

#[test]
fn prices_show_what_sizes_leave_over() {
    // Thirds and halves and a bit: each place holds two of the first and one of the second, or less that is worth as much.
    let instance = wide(
        &[(100, 1000, 1000)],
        &[(200, 340, 1), (100, 320, 1), (40, 330, 1), (160, 335, 1)],
    );
    assert!(matches!(
        place(&instance, &Limits::default()),
        Outcome::Impossible
    ));
}

#[test]
fn prices_show_what_zones_leave_over() {
    // Three zones of 34, 33 and 33 places, one of which the spread group may not use but must count.
    let zones = [34, 33, 33];
    let mut instance = wide(
        &zones.map(|count| (count, 4, 100)),
        &[(150, 1, 1), (120, 3, 1)],
    );
    instance.regions = vec![vec![Some(0)], vec![Some(1)], vec![Some(2)]];
    instance.allowed = vec![vec![true, true, true], vec![true, true, false]];
    instance.relations = vec![Relation::Spread {
        group: 0,
        others: vec![0],
        area: Area::Region(0),
        skew: 1,
        least_areas: 1,
        counted: vec![true; 3],
    }];
    assert_eq!(place(&instance, &Limits::default()), Outcome::Impossible);
}

#[test]
fn nearly_full_clusters_are_decided() {
    let mut placed = 0;
    for seed in 0..16 {
        let instance = random::tight(seed);
        match place(&instance, &Limits::default()) {
            Outcome::Placed(placement) => {
                assert_eq!(instance.refuses(&placement), None, "{seed}");
                placed += 1;
            }
            Outcome::Impossible => {}
            Outcome::Unknown(reason) => panic!("{seed} is not decided: {reason}"),
        }
    }
    assert!((4..16).contains(&placed), "{placed} of 16 are placed");
}
