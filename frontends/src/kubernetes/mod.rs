//! Kubernetes: Kubernetes manifests are recognised, so that they are not taken for something else; they cannot be checked yet.

use locus_core::facts::{Facts, Vocabulary};
use locus_core::{Diagnostic, LocationGraph, Sources};

use crate::language::{Confidence, Kind, KindRole, Language, Loaded, Request};
use crate::loader::Loader;
use crate::yaml::{Mapping, Node};

/// Kubernetes manifests.
#[derive(Clone, Copy, Debug)]
pub struct Kubernetes;

static KINDS: [Kind; 1] = [Kind {
    name: "Kubernetes manifest",
    role: KindRole::Unsupported,
    sign: None,
}];

static VOCABULARY: Vocabulary = Vocabulary {
    module: "kubernetes",
    sigs: &[],
};

impl Language for Kubernetes {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn title(&self) -> &'static str {
        "Kubernetes"
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        let kind = KINDS.first()?;
        let api = root.get("apiVersion");
        if api.is_some() && root.get("kind").is_some() {
            return Some((kind, Confidence::Certain));
        }
        let versioned = api.and_then(Node::as_str).is_some_and(is_api_version);
        (root.get("kind").is_some() || versioned).then_some((kind, Confidence::Possible))
    }

    fn load(&self, request: &Request, _loader: &dyn Loader, _sources: &mut Sources) -> Loaded {
        let message = "Kubernetes manifests cannot be checked yet";
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

/// Whether a text is a version of Kubernetes' interface, as in `apps/v1beta2`: other programs number theirs.
fn is_api_version(text: &str) -> bool {
    let version = text.rsplit('/').next().unwrap_or(text);
    version
        .strip_prefix('v')
        .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}
