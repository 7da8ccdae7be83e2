//! The gate of a cluster from end to end: a real API server with scheduler and controller manager, and agents on software TPMs.
//! The main path has a real kubelet with containerd and runc; elsewhere a stand-in says what a kubelet says and runs nothing.
//!
//! `cargo xtask cluster build` makes the server; where it is not there and Go is not either, this says so and tests nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

mod admitted;
mod attacks;
// Its test rests for a minute, in which those after it run.
mod broken;
mod demo;
mod deploys;
mod images;
mod lives;
mod lossy;
mod orphans;
mod real;
mod town;
#[allow(dead_code, unreachable_pub, reason = "other tests use more of it")]
#[path = "../gate/world/mod.rs"]
mod world;

/// The world shows whoever wants to see what is asked and answered.
fn watch(
    _: &hyper::Method,
    _: &str,
    _: &serde_json::Value,
    _: hyper::StatusCode,
    _: &serde_json::Value,
) {
}
