//! What gate and agent serve alike: endpoints behind access rules, problems, and the document about them.

pub mod endpoint;
pub mod openapi;
pub mod problem;

pub use problem::Problem;
