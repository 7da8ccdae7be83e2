//! Random clusters that are nearly full, the same each time.

use locus_core::placement::{Area, Instance, Relation};

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end.max(1)
    }
}

/// 500 pods on 100 nodes that ask for 90 to 102 % of the CPU.
pub(crate) fn tight(seed: u64) -> Instance {
    let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
    let shapes = 1 + random.below(3) as usize;
    let mut places = vec![100 / shapes; shapes];
    places[0] += 100 % shapes;
    let sizes = [2000, 4000, 8000];
    let first = random.below(3);
    let mut capacity: Vec<Vec<u64>> = Vec::new();
    for shape in 0..shapes as u64 {
        let cpu = sizes[((first + shape) % 3) as usize];
        capacity.push(vec![cpu, cpu * (2 + 2 * random.below(2)), 110]);
    }
    let total = |resource: usize| -> u64 {
        places
            .iter()
            .zip(&capacity)
            .map(|(count, room)| *count as u64 * room[resource])
            .sum()
    };
    let groups = 4 + random.below(9) as usize;
    let mut counts = vec![500 / groups; groups];
    counts[0] += 500 % groups;
    for _ in 0..groups * 2 {
        let (a, b) = (
            random.below(groups as u64) as usize,
            random.below(groups as u64) as usize,
        );
        let moved = random.below(counts[a] as u64 / 2 + 1) as usize;
        counts[a] -= moved;
        counts[b] += moved;
    }
    let fill = 900 + random.below(121);
    let memory = 500 + random.below(480);
    // Weights of the groups, scaled so that all together ask for a share of what there is.
    let mut scaled = |share: u64, room: u64, step: u64, most: u64| -> Vec<u64> {
        let weights: Vec<u64> = (0..groups).map(|_| 1 + random.below(20)).collect();
        let sum: u64 = weights
            .iter()
            .zip(&counts)
            .map(|(w, c)| w * *c as u64)
            .sum();
        weights
            .iter()
            .map(|w| {
                let exact = w * room * share / 1000 / sum.max(1);
                (exact.div_ceil(step) * step).clamp(step, most)
            })
            .collect()
    };
    let largest = capacity.iter().map(|room| room[0]).max().unwrap_or(0);
    let cpus = scaled(fill, total(0), 10, largest);
    let memories = scaled(memory, total(1), 16, largest * 2);
    let mut relations = Vec::new();
    let mut allowed = vec![vec![true; shapes]; groups];
    for group in 0..groups {
        match random.below(8) {
            0 if counts[group] <= 100 => relations.push(Relation::Apart {
                group,
                others: vec![group],
                area: Area::Place,
            }),
            1 => relations.push(Relation::Spread {
                group,
                others: vec![group],
                area: Area::Region(0),
                skew: 1,
                least_areas: 1,
                counted: vec![true; shapes],
            }),
            2 if shapes > 1 => {
                let not = random.below(shapes as u64) as usize;
                allowed[group][not] = false;
            }
            _ => {}
        }
    }
    Instance {
        regions: (0..shapes).map(|shape| vec![Some(shape)]).collect(),
        places,
        capacity,
        demand: cpus
            .iter()
            .zip(&memories)
            .map(|(cpu, memory)| vec![*cpu, *memory, 1])
            .collect(),
        everywhere: vec![false; groups],
        allowed,
        counts,
        relations,
    }
}
