//! Docker Compose: the files of a project to the location graph, facts and diagnostics.
//!
//! A project is several files: overrides, included files, files that are extended, environment
//! files. They are read, variables are replaced, what is merged is merged as Compose merges it, and
//! the result is held against the specification's schema. Services, networks, volumes, secrets and
//! configs become locations; each use of one by a service is a role that carries its attributes.
//! What is wrong beyond the shape of the files is for rules to say, over the facts of
//! [`vocabulary`].

mod build;
mod codes;
mod conventions;
pub mod dotenv;
mod editing;
pub mod environment;
mod files;
mod language;
mod merge;
pub mod mounts;
mod naming;
pub mod ports;
mod project;
mod reader;
pub mod schema;
pub mod template;
pub mod tree;
pub mod units;
pub mod vocabulary;
mod witness;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use locus_core::facts::Facts;
use locus_core::{Diagnostic, LocationGraph, Sources};

use crate::loader::Loader;
use crate::yaml::Limits;

pub use language::Compose;

/// What the project is deployed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// `docker compose up`.
    #[default]
    Compose,
    /// `docker stack deploy`.
    Swarm,
}

impl Target {
    /// Its name in facts and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Target::Compose => "compose",
            Target::Swarm => "swarm",
        }
    }
}

/// What is checked, and for which inputs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The Compose files; a later one overrides an earlier one.
    pub files: Vec<String>,
    /// Whether to add `compose.override.yaml` when only `compose.yaml` is named.
    pub find_override: bool,
    /// Environment files; `.env` of the project directory when none is named.
    pub env_files: Vec<String>,
    /// Variables of the shell.
    pub environment: Vec<(String, String)>,
    /// Profiles to enable; `*` for all.
    pub profiles: Vec<String>,
    /// What the project is deployed with.
    pub target: Target,
    /// How many nodes a swarm has, when that is known.
    pub nodes: Option<u32>,
    /// The name of the project.
    pub project_name: Option<String>,
    /// The directory that relative paths start from; that of the first file when none is given.
    pub project_directory: Option<String>,
    /// Whether every value of a variable is considered, and not only its default.
    pub all_inputs: bool,
    /// Variables that have no value even where every one is considered.
    pub unset: Vec<String>,
    /// What is refused.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            files: Vec::new(),
            find_override: true,
            env_files: Vec::new(),
            environment: Vec::new(),
            profiles: Vec::new(),
            target: Target::Compose,
            nodes: None,
            project_name: None,
            project_directory: None,
            all_inputs: false,
            unset: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// A project, understood.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The name of the project.
    pub name: Arc<str>,
    /// Services, networks, volumes, secrets and configs, and how they use each other.
    pub graph: LocationGraph,
    /// What rules may speak about.
    pub facts: Facts,
    /// What is wrong with the files themselves.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether every file could be read as a whole; when not, what seems to be undefined may be in a
    /// part that could not be read.
    pub complete: bool,
    /// The paths of the Compose files that were read, the first being the first named.
    pub files: Vec<String>,
}

/// Reads a project.
pub fn load(options: &Options, loader: &dyn Loader, sources: &mut Sources) -> Composition {
    let project = project::load(options, loader, sources);
    build::build(project, options, loader, sources)
}
