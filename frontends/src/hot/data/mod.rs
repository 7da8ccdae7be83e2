//! What Heat knows: resource types, template versions, functions, constraints.
//!
//! The data is read when it is first asked for, and of the resource types only those that are used,
//! so that a small template does not pay for two hundred types.

mod language;
mod types;

pub use language::{Custom, CustomKind, FunctionShape, Language, VersionInfo, language};
pub use types::{
    Attribute, Catalogue, Checks, PropertyConstraint, PropertySchema, PropertyType, ResourceType,
    Status, StatusKind, Translation, catalogue,
};
