//! What is installed in a cluster, and how it is deployed to: with the library, and with a real API server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod chart;
mod checked;
mod deployed;
mod installed;
mod policies;
mod world;
