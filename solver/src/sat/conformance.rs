//! What every solver must do; each runs the same suite.

use std::time::{Duration, Instant};

use super::{Answer, SatSolver, Varisat};
use crate::limits::{Limits, Reason};

/// `pigeons` into one hole fewer.
fn pigeonhole(solver: &mut dyn SatSolver, pigeons: i32) {
    let holes = pigeons - 1;
    let var = |pigeon: i32, hole: i32| pigeon * holes + hole + 1;
    for pigeon in 0..pigeons {
        let clause: Vec<i32> = (0..holes).map(|hole| var(pigeon, hole)).collect();
        solver.add_clause(&clause);
    }
    for hole in 0..holes {
        for a in 0..pigeons {
            for b in a + 1..pigeons {
                solver.add_clause(&[-var(a, hole), -var(b, hole)]);
            }
        }
    }
}

fn suite(make: &dyn Fn() -> Box<dyn SatSolver>) {
    let none = Limits::default();

    let mut empty = make();
    assert_eq!(empty.solve(&[], &none), Answer::Sat);

    let mut contradiction = make();
    contradiction.add_clause(&[]);
    assert_eq!(contradiction.solve(&[], &none), Answer::Unsat);

    let mut incremental = make();
    incremental.add_clause(&[1, 2]);
    incremental.add_clause(&[-1, 3]);
    assert_eq!(incremental.solve(&[], &none), Answer::Sat);
    assert_eq!(incremental.solve(&[1], &none), Answer::Sat);
    assert!(incremental.value(1) && incremental.value(3));
    assert_eq!(incremental.solve(&[-2], &none), Answer::Sat);
    assert!(incremental.value(1) && !incremental.value(2) && incremental.value(3));
    assert_eq!(incremental.solve(&[4, -2, -3], &none), Answer::Unsat);
    assert!(incremental.failed(-2) && incremental.failed(-3) && !incremental.failed(4));
    // Assumptions hold for one question only.
    assert_eq!(incremental.solve(&[], &none), Answer::Sat);
    incremental.add_clause(&[-2]);
    incremental.add_clause(&[-3]);
    assert_eq!(incremental.solve(&[], &none), Answer::Unsat);
    assert_eq!(incremental.solve(&[5], &none), Answer::Unsat);
    assert!(!incremental.failed(5));

    let mut models = make();
    models.add_clause(&[1, 2, 3]);
    let mut count = 0;
    while models.solve(&[], &none) == Answer::Sat {
        count += 1;
        assert!(count <= 7, "a model was repeated");
        let block: Vec<i32> = (1..=3)
            .map(|var| if models.value(var) { -var } else { var })
            .collect();
        models.add_clause(&block);
    }
    assert_eq!(count, 7);

    let mut holes = make();
    pigeonhole(holes.as_mut(), 6);
    assert_eq!(holes.solve(&[], &none), Answer::Unsat);

    let mut hard = make();
    pigeonhole(hard.as_mut(), 14);
    let start = Instant::now();
    let soon = Limits {
        deadline: Some(start + Duration::from_millis(200)),
        ..Limits::default()
    };
    assert_eq!(hard.solve(&[], &soon), Answer::Unknown(Reason::Time));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn varisat_conforms() {
    suite(&|| Box::new(Varisat::new(true)));
}

#[cfg(feature = "cadical")]
#[test]
fn cadical_conforms() {
    for hopeful in [false, true] {
        suite(&|| Box::new(super::Cadical::new(hopeful)));
    }
}

#[cfg(feature = "cadical")]
#[test]
fn relay_conforms() {
    for hopeful in [false, true] {
        suite(&|| Box::new(super::Relay::new(hopeful)));
    }
}

#[cfg(feature = "cadical")]
#[test]
fn relay_hands_over() {
    // Too hard for a moment of the first, not for the second; and it goes on afterwards.
    let mut relay = super::Relay::new(false);
    pigeonhole(&mut relay, 9);
    relay.add_clause(&[100, 101]);
    assert_eq!(relay.solve(&[], &Limits::default()), Answer::Unsat);
    let mut relay = super::Relay::new(false);
    relay.add_clause(&[1, 2]);
    assert_eq!(relay.solve(&[-1], &Limits::default()), Answer::Sat);
    assert!(relay.value(2) && !relay.value(1));
    relay.add_clause(&[-2]);
    assert_eq!(relay.solve(&[-1], &Limits::default()), Answer::Unsat);
    assert!(relay.failed(-1));
}
