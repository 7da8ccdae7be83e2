//! The solver on known hard and known easy problems, as ratios between its backends.
//!
//! ```sh
//! cargo bench --bench solver                          # and the change since the last run
//! cargo bench --bench solver -- --save-baseline old   # on the previous commit, then
//! cargo bench --bench solver -- --baseline old        # the change since it
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark fails by panicking"
)]
#![allow(
    missing_docs,
    reason = "the macros of criterion define undocumented items"
)]

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion};
use locus_core::Sources;
use locus_grammar::model::Model;
use locus_solver::alloy;
use locus_solver::search::{Options, Outcome, Search, SolverKind};

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn read(text: &str) -> Model {
    let reading = locus_grammar::read(
        "bench.als",
        text,
        &mut Sources::new(),
        &locus_grammar::NoFiles,
    );
    reading
        .model
        .unwrap_or_else(|| panic!("{:?}", reading.diagnostics))
}

/// A command: what it is called here, its model, its index.
struct Case {
    name: &'static str,
    model: Model,
    command: usize,
    satisfiable: bool,
}

fn cases() -> Vec<Case> {
    let example = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("examples/alloy")
            .join(name);
        read(&std::fs::read_to_string(path).expect("the example is there"))
    };
    vec![
        Case {
            name: "pigeonhole",
            model: example("pigeonhole.als"),
            command: 1,
            satisfiable: false,
        },
        Case {
            name: "roles_bind_two_of_40",
            model: read(LOCATION_GRAPH),
            command: 0,
            satisfiable: false,
        },
        Case {
            name: "ring_election",
            model: example("ring_election.als"),
            command: 0,
            satisfiable: false,
        },
        Case {
            name: "hotel_locking",
            model: example("hotel_locking.als"),
            command: 0,
            satisfiable: true,
        },
        Case {
            name: "concrete_graph_of_1000",
            model: read(&concrete_graph(1000)),
            command: 0,
            satisfiable: true,
        },
    ]
}

/// A role of a well-formed location set binds at most two locations.
const LOCATION_GRAPH: &str = "
sig Name, Role {}
sig Location { name: one Name, provided, required: set Role } { no provided & required }
pred WellFormed[ls: set Location] {
	no disj a, b: ls | a.name = b.name
	no disj a, b: ls | some a.provided & b.provided
	no disj a, b: ls | some a.required & b.required
}
assert ARoleBindsAtMostTwoLocations {
	all all_locations: set Location, r: Role | WellFormed[all_locations] implies
		all ls: set all_locations | (all l: ls | r in l.required + l.provided) implies #ls < 3
}
check ARoleBindsAtMostTwoLocations for 40 but 7 Int";

/// A graph whose every edge is known: a tree with cross edges, checked for a cycle.
fn concrete_graph(nodes: usize) -> String {
    let mut text = String::from("abstract sig Node { edges: set Node }\n");
    for node in 0..nodes {
        let _ = writeln!(text, "one sig N{node} extends Node {{}}");
    }
    text.push_str("fact {\n");
    for node in 0..nodes {
        let targets: Vec<String> = [2 * node + 1, 2 * node + 2, node + 7]
            .iter()
            .filter(|&&target| target < nodes)
            .map(|target| format!("N{target}"))
            .collect();
        let targets = if targets.is_empty() {
            "none".to_owned()
        } else {
            targets.join(" + ")
        };
        let _ = writeln!(text, "N{node}.edges = {targets}");
    }
    text.push_str("}\nrun { no n: Node | n in n.^edges }\n");
    text
}

fn solve(case: &Case, solver: SolverKind) -> Duration {
    let start = Instant::now();
    let command = case
        .model
        .commands
        .get(case.command)
        .expect("the command is there");
    let translation = alloy::translate(&case.model, command).expect("the command translates");
    let options = Options {
        solver,
        ..Options::default()
    };
    let mut search = Search::new(&translation.problem, &options).expect("the problem translates");
    let outcome = search.next().expect("the solver answers");
    assert_eq!(
        matches!(outcome, Outcome::Sat(_)),
        case.satisfiable,
        "{}",
        case.name
    );
    black_box(outcome);
    start.elapsed()
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let solvers = SolverKind::ALL;
    let cases = cases();
    for case in &cases {
        let mut group = criterion.benchmark_group(case.name);
        for &solver in solvers {
            group.bench_function(BenchmarkId::from_parameter(solver.name()), |bencher| {
                bencher.iter(|| solve(case, solver));
            });
        }
        group.finish();
    }
    criterion.final_summary();
    println!("median milliseconds, and as a multiple of the default solver's");
    print!("{:<24}", "problem");
    for solver in solvers {
        print!(" {:>20}", solver.name());
    }
    println!();
    for case in &cases {
        let median = |solver| {
            let mut times: Vec<Duration> = (0..5).map(|_| solve(case, solver)).collect();
            times.sort();
            times.get(2).copied().unwrap_or_default().as_secs_f64() * 1e3
        };
        let default = median(SolverKind::default());
        print!("{:<24}", case.name);
        for &solver in solvers {
            let time = median(solver);
            print!(" {:>11.2} ({:>5.2}x)", time, time / default);
        }
        println!();
    }
}
