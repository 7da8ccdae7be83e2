//! Heat templates to the location graph.

pub mod data;
pub mod template;
