//! Placements of 500 replicas on 100 nodes, possible and impossible.

use locus_core::placement::{Area, Instance, Relation};
use locus_solver::limits::Limits;
use locus_solver::placement::{Outcome, place};

use super::{Figure, best, tight};

/// Nodes with CPUs and memory, each shape in a zone of its own, and pods that ask for both.
fn instance(nodes: &[(usize, u64, u64)], pods: &[(usize, u64, u64)]) -> Instance {
    Instance {
        places: nodes.iter().map(|(count, ..)| *count).collect(),
        capacity: nodes
            .iter()
            .map(|(_, cpu, memory)| vec![*cpu, *memory])
            .collect(),
        regions: (0..nodes.len()).map(|zone| vec![Some(zone)]).collect(),
        counts: pods.iter().map(|(count, ..)| *count).collect(),
        demand: pods
            .iter()
            .map(|(_, cpu, memory)| vec![*cpu, *memory])
            .collect(),
        allowed: pods.iter().map(|_| vec![true; nodes.len()]).collect(),
        everywhere: pods.iter().map(|_| false).collect(),
        relations: Vec::new(),
    }
}

fn with(mut instance: Instance, relations: Vec<Relation>) -> Instance {
    instance.relations = relations;
    instance
}

fn apart(group: usize, others: &[usize]) -> Relation {
    Relation::Apart {
        group,
        others: others.to_vec(),
        area: Area::Place,
    }
}

fn spread(group: usize, zones: usize) -> Relation {
    Relation::Spread {
        group,
        others: vec![group],
        area: Area::Region(0),
        skew: 1,
        least_areas: 1,
        counted: vec![true; zones],
    }
}

pub(crate) fn measure(figures: &mut Vec<Figure>) {
    let equal = [(100, 4000, 16_000)];
    let zones = [(34, 4000, 16_000), (33, 4000, 16_000), (33, 2000, 16_000)];
    let mut tainted = instance(&zones, &[(300, 500, 64), (200, 500, 64)]);
    tainted.allowed = vec![vec![true, true, false]; 2];
    tainted.relations = vec![spread(0, 3)];
    let cases = [
        (
            "too much CPU",
            false,
            instance(&equal, &[(200, 1300, 64), (200, 900, 64), (100, 500, 64)]),
        ),
        (
            "sizes that leave a rest",
            false,
            instance(&equal, &[(90, 2100, 64), (210, 700, 64), (200, 310, 64)]),
        ),
        (
            "CPU or memory, not both",
            false,
            instance(
                &equal,
                &[(60, 3000, 2000), (60, 2000, 12_000), (380, 100, 64)],
            ),
        ),
        (
            "one too many to be apart",
            false,
            with(
                instance(&equal, &[(51, 100, 64), (50, 100, 64), (399, 700, 64)]),
                vec![apart(0, &[0, 1]), apart(1, &[0, 1])],
            ),
        ),
        ("spread over a tainted zone", false, tainted),
        (
            "spread over a small zone",
            false,
            with(
                instance(&zones, &[(240, 700, 64), (130, 1500, 64), (130, 100, 64)]),
                vec![spread(0, 3)],
            ),
        ),
        (
            "just enough CPU",
            true,
            instance(&equal, &[(100, 1300, 64), (200, 900, 64), (200, 450, 64)]),
        ),
        (
            "just enough places apart",
            true,
            with(
                instance(&equal, &[(50, 100, 64), (50, 100, 64), (400, 700, 64)]),
                vec![apart(0, &[0, 1]), apart(1, &[0, 1])],
            ),
        ),
        (
            "spread over zones",
            true,
            with(
                instance(
                    &[(34, 4000, 16_000), (33, 4000, 16_000), (33, 4000, 16_000)],
                    &[(300, 500, 64), (200, 600, 64)],
                ),
                vec![spread(0, 3)],
            ),
        ),
    ];
    for (name, possible, instance) in cases {
        let (time, outcome) = best(3, || place(&instance, &Limits::default()));
        let right = match outcome {
            Outcome::Placed(_) => possible,
            Outcome::Impossible => !possible,
            Outcome::Unknown(_) => false,
        };
        assert!(right, "{name}: not decided as it is");
        figures.push(Figure {
            name: format!("500 pods on 100 nodes, {name}"),
            value: time.as_secs_f64(),
            unit: "s",
            limit: 2.0,
        });
    }
    nearly_full(figures);
}

/// Random clusters that are nearly full: how many are not decided, and how long the others take.
fn nearly_full(figures: &mut Vec<Figure>) {
    let (mut open, mut slowest) = (0, 0.0_f64);
    for seed in 0..40 {
        let instance = tight::tight(seed);
        let (time, outcome) = best(1, || place(&instance, &Limits::default()));
        match outcome {
            Outcome::Unknown(_) => open += 1,
            _ => slowest = slowest.max(time.as_secs_f64()),
        }
    }
    figures.push(Figure {
        name: "40 random clusters, CPU asked for to 90 to 102 %: undecided".to_owned(),
        value: f64::from(open),
        unit: "clusters",
        limit: 2.0,
    });
    figures.push(Figure {
        name: "the slowest of those that are decided".to_owned(),
        value: slowest,
        unit: "s",
        limit: 2.0,
    });
}
