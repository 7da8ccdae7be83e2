//! The graph in formats that others read.

mod als;
mod dot;
mod json;
mod svg;

pub use als::to_als;
pub use dot::to_dot;
pub use json::to_json;
pub use svg::to_svg;
