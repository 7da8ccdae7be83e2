//! Kubernetes: Kubernetes manifests are recognised, so that they are not taken for something else; they cannot be checked yet.

use locus_core::vocabulary::{Declarations, Vocabulary};

use crate::language::{Confidence, Kind, KindRole, Language};
use crate::yaml::{Mapping, Node};

/// Kubernetes manifests.
#[derive(Clone, Copy, Debug)]
pub struct Kubernetes;

static KINDS: [Kind; 1] = [Kind {
    name: "Kubernetes manifest",
    role: KindRole::Unsupported,
    sign: None,
}];

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

    fn vocabulary(&self) -> Vocabulary {
        static FACTS: Declarations = Declarations::none("kubernetes");
        Vocabulary::of(&FACTS)
    }
}

/// Whether a text is a version of Kubernetes' interface, as in `apps/v1beta2`: other programs number theirs.
fn is_api_version(text: &str) -> bool {
    let version = text.rsplit('/').next().unwrap_or(text);
    version
        .strip_prefix('v')
        .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}
