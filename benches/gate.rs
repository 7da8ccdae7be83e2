//! Figures of several gates and of admission, each beside the limit it is held to; exits with 1 when one is missed.
//!
//! `cargo bench -p locus-attestation --features kubernetes,testing --bench gate` prints them all; words after `--` choose some
//! (`several`, `admission`, `overhead`). The last needs a control plane (`cargo xtask cluster build`). PostgreSQL has to be installed; one is made for the run, and ends with it.
//!
//! Time is time on the wall, and shares the machine with the database and with all that are simulated.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark that cannot go on has nothing to say"
)]

#[cfg(feature = "kubernetes")]
#[path = "gate/admission.rs"]
mod admission;
#[allow(dead_code, reason = "other benchmarks use more of it")]
#[path = "attestation/machine.rs"]
mod machine;
#[cfg(feature = "kubernetes")]
#[path = "gate/overhead.rs"]
mod overhead;
#[path = "gate/several.rs"]
mod several;
// The cluster of the tests, with the gate in it.
#[cfg(feature = "kubernetes")]
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../attestation/tests/cluster/images.rs"]
mod images;
#[cfg(feature = "kubernetes")]
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../attestation/tests/cluster/lossy.rs"]
mod lossy;
#[cfg(feature = "kubernetes")]
#[allow(dead_code, unused_imports, reason = "the tests use more of it")]
#[path = "../attestation/tests/cluster/real.rs"]
mod real;
#[cfg(feature = "kubernetes")]
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../attestation/tests/cluster/town.rs"]
mod town;
#[cfg(feature = "kubernetes")]
#[allow(dead_code, unreachable_pub, reason = "the tests use more of it")]
#[path = "../attestation/tests/gate/world/mod.rs"]
mod world;

use std::process::ExitCode;
use std::time::Duration;

/// As in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The world shows whoever wants to see what is asked and answered.
#[cfg(feature = "kubernetes")]
fn watch(
    _: &hyper::Method,
    _: &str,
    _: &serde_json::Value,
    _: hyper::StatusCode,
    _: &serde_json::Value,
) {
}

/// The lines of the report, and whether every limit was kept.
pub(crate) struct Report {
    missed: bool,
}

impl Report {
    /// A duration that is held to a limit, if it is.
    pub(crate) fn time(&mut self, name: &str, took: Duration, most: Option<Duration>) {
        let kept = most.is_none_or(|most| took <= most);
        let words = most.map_or_else(String::new, |most| {
            let part = 100.0 * took.as_secs_f64() / most.as_secs_f64();
            format!("{part:.0}% of {most:?}")
        });
        let verdict = if kept { "" } else { "  MISSED" };
        println!("{name:<74} {took:>10.1?}  {words}{verdict}");
        self.missed |= !kept;
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let mut report = Report { missed: false };
    if wanted("several") {
        several::run(&mut report);
    }
    #[cfg(feature = "kubernetes")]
    if wanted("admission") {
        admission::run(&mut report);
    }
    #[cfg(feature = "kubernetes")]
    if wanted("overhead") {
        overhead::run(&mut report);
    }
    ExitCode::from(u8::from(report.missed))
}
