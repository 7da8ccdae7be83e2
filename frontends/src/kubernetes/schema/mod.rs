//! The fields of the kinds that come with Kubernetes, and a walk of an object along them.

mod compile;
mod report;
mod stored;
pub mod types;
mod walk;

pub use compile::compile;
pub use stored::to_store;

pub(crate) use report::{Steps, list, wrong_kind};
pub(crate) use stored::{metadata, schema};
pub(crate) use types::{Definition, Served};
pub(crate) use walk::Walker;
