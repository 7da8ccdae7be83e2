//! Exact relations over values that a SAT solver should not be asked about.

pub mod address;
pub mod mac;
pub mod number;
pub mod pattern;
pub mod quantity;
pub mod version;
