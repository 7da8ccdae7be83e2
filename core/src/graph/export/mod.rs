//! The graph in formats that others read.

mod als;
mod dot;
mod json;

pub use als::to_als;
pub use dot::to_dot;
pub use json::to_json;
