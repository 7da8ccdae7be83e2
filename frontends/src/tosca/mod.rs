//! TOSCA: TOSCA service templates are recognised, so that they are not taken for something else; they cannot be checked yet.

use locus_core::facts::{Facts, Vocabulary};
use locus_core::{Diagnostic, LocationGraph, Sources};

use crate::language::{Confidence, Kind, KindRole, Language, Loaded, Request};
use crate::loader::Loader;
use crate::yaml::{Mapping, Node};

/// TOSCA service templates.
#[derive(Clone, Copy, Debug)]
pub struct Tosca;

static KINDS: [Kind; 1] = [Kind {
    name: "TOSCA service template",
    role: KindRole::Unsupported,
    sign: None,
}];

static VOCABULARY: Vocabulary = Vocabulary {
    module: "tosca",
    sigs: &[],
};

impl Language for Tosca {
    fn name(&self) -> &'static str {
        "tosca"
    }

    fn title(&self) -> &'static str {
        "TOSCA"
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        let kind = KINDS.first()?;
        if root.get("tosca_definitions_version").is_some() {
            return Some((kind, Confidence::Certain));
        }
        let sections = ["topology_template", "service_template", "node_types"];
        let mut sections = sections.iter().filter_map(|key| root.get(key));
        let found = sections.any(|node: &Node| node.as_mapping().is_some());
        found.then_some((kind, Confidence::Possible))
    }

    fn load(&self, request: &Request, _loader: &dyn Loader, _sources: &mut Sources) -> Loaded {
        let message = "TOSCA service templates cannot be checked yet";
        Loaded {
            language: self.name(),
            graph: LocationGraph::new(),
            facts: Facts::new(&VOCABULARY),
            diagnostics: Vec::new(),
            unchecked: vec![Diagnostic::warning("kind", message)],
            files: request.files.clone(),
        }
    }
}
