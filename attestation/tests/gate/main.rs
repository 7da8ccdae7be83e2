//! The gate and the agent from end to end, over mutual TLS.
//!
//! Without the feature `tpm` the TPMs are emulated; with it they are `swtpm` processes behind libtss2.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

#[cfg(feature = "tpm")]
mod agent_program;
mod attacks;
mod commands;
#[cfg(feature = "tpm")]
mod demo;
mod denial;
mod faults;
mod forgotten;
mod gate_program;
mod kept;
mod killed;
mod meanwhile;
mod measured;
mod measured_boot;
mod notified;
#[cfg(feature = "tpm")]
mod one_tpm;
mod ordinary;
mod pause;
mod periodic;
mod protocols;
mod push;
mod readmission;
mod results;
mod rogue;
mod roles;
mod schemas;
mod separation;
mod signed;
mod stricter;
mod tour;
mod watching;
mod whole;
mod world;

use schemas::check as watch;
