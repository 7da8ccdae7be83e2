//! The rule library and the checker that joins graph and model.

pub mod models;
