//! The gate and the agent from end to end, over mutual TLS.
//!
//! Without the feature `tpm` the TPMs are emulated, and everything is tested. With it they are `swtpm` processes behind libtss2,
//! which take their time: then only what a TPM has a part in is tested again.

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
#[cfg(not(feature = "tpm"))]
mod commands;
#[cfg(feature = "tpm")]
mod demo;
#[cfg(not(feature = "tpm"))]
mod denial;
mod faults;
#[cfg(not(feature = "tpm"))]
mod forgotten;
#[cfg(not(feature = "tpm"))]
mod gate_program;
#[cfg(not(feature = "tpm"))]
mod kept;
#[cfg(not(feature = "tpm"))]
mod killed;
#[cfg(not(feature = "tpm"))]
mod meanwhile;
#[cfg_attr(
    feature = "tpm",
    allow(dead_code, reason = "other tests use more of it")
)]
mod measured;
mod measured_boot;
#[cfg(not(feature = "tpm"))]
mod notified;
#[cfg(feature = "tpm")]
mod one_tpm;
mod ordinary;
#[cfg(not(feature = "tpm"))]
mod page;
#[cfg(not(feature = "tpm"))]
mod pause;
#[cfg(not(feature = "tpm"))]
mod periodic;
#[cfg_attr(
    feature = "tpm",
    allow(dead_code, reason = "other tests use more of it")
)]
mod protocols;
#[cfg(not(feature = "tpm"))]
mod push;
mod readmission;
#[cfg(not(feature = "tpm"))]
mod results;
mod rogue;
#[cfg(not(feature = "tpm"))]
mod roles;
#[cfg_attr(
    feature = "tpm",
    allow(dead_code, reason = "other tests use more of it")
)]
mod schemas;
#[cfg(not(feature = "tpm"))]
mod separation;
#[cfg(all(feature = "postgres", not(feature = "tpm")))]
mod several;
#[cfg(not(feature = "tpm"))]
mod signed;
#[cfg(not(feature = "tpm"))]
mod stricter;
mod tour;
#[cfg(not(feature = "tpm"))]
mod watching;
#[cfg(not(feature = "tpm"))]
mod whole;
#[cfg_attr(
    feature = "tpm",
    allow(dead_code, reason = "other tests use more of it")
)]
mod world;

use schemas::check as watch;
