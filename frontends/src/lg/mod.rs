//! Location graphs written down: what a program without a front-end of its own can have checked and drawn.
//!
//! ```yaml
//! location_graph: 1
//! locations:
//!   - { name: net, sort: Network, provided: [lan] }
//!   - { name: web, sort: Server, required: [lan] }
//! roles:
//!   lan: { kind: connection, label: networks.0 }
//! ```
//!
//! Of a location only `name` and `sort` must be given; a role is there as soon as a location names it.

mod read;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use locus_core::facts::Facts;
use locus_core::vocabulary::{Vocabulary, lg};
use locus_core::{Diagnostic, LocationGraph, Sources};

use crate::language::{Confidence, Kind, KindRole, Language, Loaded, Request};
use crate::loader::Loader;
use crate::yaml::{self, Mapping};

/// The key that tells a location graph.
const KEY: &str = "location_graph";

/// Location graphs that are written down.
#[derive(Clone, Copy, Debug)]
pub struct Graphs;

static KINDS: [Kind; 1] = [Kind {
    name: "location graph",
    role: KindRole::Configuration,
    sign: Some("starts with `location_graph`"),
}];

impl Language for Graphs {
    fn name(&self) -> &'static str {
        lg::NAME
    }

    fn title(&self) -> &'static str {
        "location graphs"
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn by_first_line(&self, line: &str) -> Option<&'static Kind> {
        let rest = line.strip_prefix(KEY)?.strip_prefix(':')?;
        KINDS
            .first()
            .filter(|_| rest.is_empty() || rest.starts_with(' '))
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        root.get(KEY)?;
        Some((KINDS.first()?, Confidence::Certain))
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::of_graphs()
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let mut graph = LocationGraph::new();
        let mut diagnostics = Vec::new();
        for path in &request.files {
            let bytes = match loader.load(path) {
                Ok(bytes) => bytes,
                Err(error) => {
                    let message = format!("cannot read `{path}`: {}", error.reason);
                    diagnostics.push(Diagnostic::error("io", message));
                    continue;
                }
            };
            let (file, refused) = sources.add_bytes(path.as_str(), &bytes);
            if refused.is_some() {
                diagnostics.extend(refused);
                continue;
            }
            let parsed = yaml::parse(sources, file, &yaml::Limits::default());
            diagnostics.extend(parsed.duplicates.iter().map(|twice| twice.diagnostic()));
            diagnostics.extend(parsed.diagnostics);
            if parsed.documents.is_empty() && diagnostics.is_empty() {
                diagnostics.push(yaml::empty_file(file));
            }
            for document in &parsed.documents {
                read::read(&document.root, &mut graph, &mut diagnostics);
            }
        }
        Loaded {
            questions: Vec::new(),
            language: self.name(),
            graph,
            facts: Facts::new(self.vocabulary().facts()),
            declared: Arc::default(),
            diagnostics,
            about_settings: Vec::new(),
            unchecked: Vec::new(),
            files: request.files.clone(),
        }
    }
}
