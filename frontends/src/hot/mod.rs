//! Heat templates to the location graph.
//!
//! [`load`] reads a template with its environments and everything they include, and gives the graph,
//! the facts that rules quantify over ([`vocabulary`]), and the diagnostics of what could not be read.
//! Functions are evaluated as far as their arguments are known; what is not known is symbolic.

mod check;
mod condition;
mod constraint;
pub mod data;
mod editing;
mod engine;
pub mod environment;
mod eval;
mod format;
mod functions;
mod group;
mod language;
mod literal;
mod looks;
mod narrow;
mod nested;
mod own_types;
pub mod parameter;
mod resource;
mod scan;
mod statics;
pub mod template;
#[cfg(test)]
mod tests;
mod text;
pub mod vocabulary;
mod yaql;

use std::sync::Arc;
use std::time::SystemTime;

use locus_core::facts::Facts;
use locus_core::vocabulary::Sig;
use locus_core::{Diagnostic, FileId, LocationGraph, Sources};
use rustc_hash::FxHashMap;

use crate::yaml::Limits;
use data::ResourceType;

pub use language::{Heat, HeatSettings, UserTypes};

/// Where files come from; the front-end itself reads none.
pub trait Loader {
    /// The bytes of a file.
    ///
    /// # Errors
    /// Why it cannot be read, in words for the user.
    fn load(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// A loader without files, for a template that includes none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _path: &str) -> Result<Vec<u8>, String> {
        Err("no other files are available here".into())
    }
}

impl Loader for FxHashMap<String, String> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        self.get(path)
            .map(|text| text.clone().into_bytes())
            .ok_or_else(|| "no such file".into())
    }
}

/// Whether one of Heat's custom constraints, such as `mac_addr`, accepts a text; `None` when that cannot be told.
pub fn accepts(constraint: &str, text: &str) -> Option<bool> {
    format::accepts(constraint, text, None)
}

/// What to load, and how.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The template, already in the sources.
    pub template: Option<FileId>,
    /// Environments, already in the sources; later ones override.
    pub environments: Vec<FileId>,
    /// Parameters from the command line, which override environments. Their text lies in the sources,
    /// so that it can be pointed at: see [`Request::parameter`].
    pub parameters: Vec<environment::Given>,
    /// Whether parameters that are not given stay symbolic even when they have a default.
    pub all_inputs: bool,
    /// The time with which dates are compared that must lie in the future.
    pub now: Option<SystemTime>,
    /// Types that the user's own registry or plugins provide.
    pub types: FxHashMap<Arc<str>, Arc<ResourceType>>,
    /// The words of rules, among which are signatures of the user's own types.
    pub mentioned: crate::language::Words,
    /// What is refused.
    pub limits: Limits,
}

impl Request {
    /// The request to load a template without anything else.
    pub fn new(template: FileId) -> Self {
        Request {
            template: Some(template),
            ..Request::default()
        }
    }

    /// Sets a parameter as the command line does (`--param name=value`); the value is text, which the
    /// parameter's type converts.
    pub fn parameter(&mut self, sources: &mut Sources, name: &str, value: &str) {
        let file = sources.add("<command line>", format!("{name}={value}"));
        let span = |start, end| locus_core::Span::new(file, start, end);
        let text = locus_core::Value::str(value);
        self.parameters.push(environment::Given {
            name: name.into(),
            span: span(0, name.len()),
            item: locus_core::Item::new(text, span(name.len() + 1, name.len() + 1 + value.len())),
        });
    }
}

/// What came of it.
#[derive(Debug)]
pub struct Loaded {
    /// The configuration.
    pub graph: LocationGraph,
    /// What rules quantify over.
    pub facts: Facts,
    /// The user's own types that rules mention.
    pub declared: Vec<Sig>,
    /// What could not be read or is refused.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be checked and why: groups too large to expand, templates behind a URL.
    pub unchecked: Vec<Diagnostic>,
    /// All files that are part of the configuration.
    pub files: Vec<FileId>,
}

/// Loads a template with all that it includes.
pub fn load(sources: &mut Sources, loader: &dyn Loader, request: &Request) -> Loaded {
    engine::Engine::new(sources, loader, request).run()
}
