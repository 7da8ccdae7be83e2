//! Configuration languages to the location graph.
//!
//! Nothing here reads a file: text comes from the caller, or through a loader that the caller gives.

pub mod codes;
pub mod compose;
pub mod loader;

pub mod hot;
pub mod kubernetes;
pub mod language;
pub mod lg;
pub mod tosca;

pub use locus_yaml as yaml;
