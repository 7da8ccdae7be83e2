//! Figures of the verifier, each beside the limit it is held to; exits with 1 when one is missed.
//!
//! `cargo bench -p locus-attestation --features tpm --bench attestation` prints them all; words after `--`
//! choose some (`pod`, `replay`, `load`, `keylime`, `memory`, `denial`, `swtpm`). Without the feature `tpm` the last is left
//! out. `KEYLIME_PYTHON` names a Python interpreter that has Keylime; without it there is no comparison.
//!
//! Evidence is made beforehand; only verification is timed, on one core and in processor time, so that a busy
//! machine gives the same figures as an idle one. Memory is the most that a gate in a process of its own had. What an
//! operator waits for under attack is time on the wall, and shares the machine with the attackers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark that cannot go on has nothing to say"
)]

#[path = "attestation/cluster.rs"]
mod cluster;
#[path = "attestation/denial.rs"]
mod denial;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../attestation/tests/gate/world/emulated.rs"]
mod emulated;
#[path = "attestation/keylime.rs"]
mod keylime;
#[path = "attestation/load.rs"]
mod load;
#[path = "attestation/machine.rs"]
mod machine;
#[path = "attestation/memory.rs"]
mod memory;
#[path = "attestation/pod.rs"]
mod pod;
#[path = "attestation/replay.rs"]
mod replay;
#[cfg(feature = "tpm")]
#[path = "attestation/swtpm.rs"]
mod swtpm;

// The world of the tests: a gate, agents, software TPMs.
#[cfg(feature = "tpm")]
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../attestation/tests/gate/world/mod.rs"]
mod world;

/// What is timed is not looked at.
#[cfg(feature = "tpm")]
fn watch(
    _: &hyper::Method,
    _: &str,
    _: &serde_json::Value,
    _: hyper::StatusCode,
    _: &serde_json::Value,
) {
}

use std::process::ExitCode;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The lines of the report, and whether every limit was kept.
pub(crate) struct Report {
    missed: bool,
}

impl Report {
    /// A duration.
    pub(crate) fn time(&self, name: &str, took: Duration) {
        println!("{name:<58} {took:>10.1?}");
    }

    /// A number that is held to a limit.
    pub(crate) fn figure(&mut self, name: &str, value: f64, limit: Limit) {
        let (kept, words) = match limit {
            Limit::AtMost(most) => (value <= most, format!("at most {most}")),
            Limit::AtLeast(least) => (value >= least, format!("at least {least}")),
            Limit::None => (true, String::new()),
        };
        let verdict = if kept { "" } else { "  MISSED" };
        println!("{name:<58} {value:>10.2}  {words}{verdict}");
        self.missed |= !kept;
    }
}

/// What a figure is held to.
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
    None,
}

pub(crate) fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// The time that the processor has spent on this thread: what else the machine does is no part of it.
fn spent() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("a clock of the thread")
        .into()
}

/// How long something took the processor.
pub(crate) fn once(run: impl FnOnce()) -> Duration {
    let begun = spent();
    run();
    spent().saturating_sub(begun)
}

/// The shortest of some runs: what the machine can do when nothing else disturbs it.
pub(crate) fn best(runs: u32, mut run: impl FnMut()) -> Duration {
    (0..runs).map(|_| once(&mut run)).min().unwrap_or_default()
}

/// The shortest runs of two things, in turns: what disturbs one disturbs the other.
pub(crate) fn best_of_two(
    runs: u32,
    mut one: impl FnMut(),
    mut other: impl FnMut(),
) -> (Duration, Duration) {
    (0..runs).fold((Duration::MAX, Duration::MAX), |(first, second), _| {
        (first.min(once(&mut one)), second.min(once(&mut other)))
    })
}

fn main() -> ExitCode {
    if cluster::gate() {
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let mut report = Report { missed: false };
    if wanted("pod") {
        pod::run(&mut report);
    }
    if wanted("replay") {
        replay::run(&mut report);
    }
    if wanted("load") {
        load::run(&mut report);
    }
    if wanted("keylime") {
        keylime::run(&mut report);
    }
    if wanted("memory") {
        memory::run(&mut report);
    }
    if wanted("denial") {
        denial::run(&mut report);
    }
    #[cfg(feature = "tpm")]
    if wanted("swtpm") {
        swtpm::run(&mut report);
    }
    ExitCode::from(u8::from(report.missed))
}
