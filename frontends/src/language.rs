//! The languages behind one face: which kinds of files are theirs, and how a configuration is loaded.
//!
//! A further language is one entry of [`LANGUAGES`]; whoever loads, checks or draws configurations asks
//! here and names no language.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use locus_core::facts::Facts;
use locus_core::{Diagnostic, LocationGraph, Sources};
use rustc_hash::FxHashMap;

use crate::compose::{self, Target};
use crate::hot;
use crate::kind::FileKind;
use crate::loader::Loader;

/// What to load, and the inputs it is loaded with; each language takes those that it knows.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The files of the configuration; where a language merges files, a later one overrides.
    pub files: Vec<String>,
    /// Environments of Heat templates; later ones override.
    pub environments: Vec<String>,
    /// Parameters of Heat templates.
    pub parameters: Vec<(String, String)>,
    /// Environment files of Compose projects; without one, `.env` beside the first file.
    pub env_files: Vec<String>,
    /// Variables of the shell, which Compose replaces in its files.
    pub variables: Vec<(String, String)>,
    /// Profiles of Compose projects that are enabled.
    pub profiles: Vec<String>,
    /// What Compose projects are deployed with.
    pub target: Target,
    /// How many nodes a swarm has.
    pub nodes: Option<u32>,
    /// Resource types of Heat that the user's own plugins provide.
    pub types: UserTypes,
    /// Whether inputs that are not given stay open even when they have a default.
    pub all_inputs: bool,
    /// The time with which dates are compared that must lie in the future; without it, none is past.
    pub now: Option<SystemTime>,
}

/// Resource types that the user declares, by name.
pub type UserTypes = FxHashMap<Arc<str>, Arc<hot::data::ResourceType>>;

/// A configuration, understood.
#[derive(Debug)]
pub struct Loaded {
    /// Its language, by the name of the folder of its rules.
    pub language: &'static str,
    /// Locations and how they use each other.
    pub graph: LocationGraph,
    /// What rules quantify over.
    pub facts: Facts,
    /// What could not be read or is refused.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Diagnostic>,
    /// The paths of all files that are part of it, the first being the one named.
    pub files: Vec<String>,
}

/// A configuration language.
pub trait Language: Sync {
    /// The name of the folder of its rules.
    fn name(&self) -> &'static str;

    /// Whether files of this kind are configurations of its own.
    fn reads(&self, kind: FileKind) -> bool;

    /// Loads a configuration.
    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded;
}

/// All languages.
pub static LANGUAGES: &[&dyn Language] = &[&Heat, &Compose];

/// The language of a kind of file.
pub fn of(kind: FileKind) -> Option<&'static dyn Language> {
    LANGUAGES
        .iter()
        .copied()
        .find(|language| language.reads(kind))
}

/// The language with a name.
pub fn named(name: &str) -> Option<&'static dyn Language> {
    LANGUAGES
        .iter()
        .copied()
        .find(|language| language.name() == name)
}

struct Heat;

impl Language for Heat {
    fn name(&self) -> &'static str {
        "hot"
    }

    fn reads(&self, kind: FileKind) -> bool {
        matches!(kind, FileKind::Hot | FileKind::Cfn)
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let mut unchecked = Vec::new();
        let mut add = |sources: &mut Sources, path: &String| match loader.load(path) {
            Ok(bytes) => {
                let text: Cow<'_, str> = match std::str::from_utf8(&bytes) {
                    Ok(text) => text.into(),
                    // What is no UTF-8 stays visible, so that the parser can point at it.
                    Err(_) => String::from_utf8_lossy(&bytes),
                };
                Some(sources.add(path.as_str(), text))
            }
            Err(error) => {
                let message = format!("cannot read `{path}`: {}", error.reason);
                unchecked.push(Diagnostic::error("io", message));
                None
            }
        };
        let mut inner = hot::Request {
            template: request.files.first().and_then(|path| add(sources, path)),
            now: request.now,
            all_inputs: request.all_inputs,
            types: request.types.clone(),
            ..hot::Request::default()
        };
        for path in &request.environments {
            inner.environments.extend(add(sources, path));
        }
        for (name, value) in &request.parameters {
            inner.parameter(sources, name, value);
        }
        let loaded = hot::load(sources, &loader, &inner);
        unchecked.extend(loaded.unchecked);
        Loaded {
            language: self.name(),
            graph: loaded.graph,
            facts: loaded.facts,
            diagnostics: loaded.diagnostics,
            unchecked,
            files: loaded
                .files
                .iter()
                .map(|&file| sources.name(file).to_owned())
                .collect(),
        }
    }
}

struct Compose;

impl Language for Compose {
    fn name(&self) -> &'static str {
        "compose"
    }

    fn reads(&self, kind: FileKind) -> bool {
        kind == FileKind::Compose
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let options = compose::Options {
            files: request.files.clone(),
            env_files: request.env_files.clone(),
            environment: request.variables.clone(),
            profiles: request.profiles.clone(),
            target: request.target,
            nodes: request.nodes,
            all_inputs: request.all_inputs,
            ..compose::Options::default()
        };
        let composition = compose::load(&options, loader, sources);
        Loaded {
            language: self.name(),
            graph: composition.graph,
            facts: composition.facts,
            diagnostics: composition.diagnostics,
            unchecked: Vec::new(),
            files: composition.files,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::MemoryLoader;

    #[test]
    fn a_configuration_of_either_language_is_loaded_in_one_way() {
        let loader = MemoryLoader::new()
            .with("a.yaml", "heat_template_version: rocky\nresources: {}\n")
            .with("b.yaml", "services:\n  web:\n    image: nginx:1.27\n");
        for (kind, path, language, locations) in [
            (FileKind::Hot, "a.yaml", "hot", 0),
            (FileKind::Compose, "b.yaml", "compose", 2),
        ] {
            let mut sources = Sources::new();
            let request = Request {
                files: vec![path.to_owned()],
                ..Request::default()
            };
            let loaded = of(kind).unwrap().load(&request, &loader, &mut sources);
            assert_eq!(loaded.language, language);
            assert_eq!(loaded.graph.len(), locations);
            assert_eq!(loaded.files, [path]);
            assert_eq!(named(language).unwrap().name(), language);
        }
        assert!(of(FileKind::HeatEnvironment).is_none());
        assert!(named("cobol").is_none());
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        for language in LANGUAGES {
            let mut sources = Sources::new();
            let request = Request {
                files: vec!["a.yaml".to_owned()],
                ..Request::default()
            };
            let loaded = language.load(&request, &MemoryLoader::new(), &mut sources);
            let told = loaded.diagnostics.len() + loaded.unchecked.len();
            assert_eq!(told, 1, "{}", language.name());
        }
    }
}
