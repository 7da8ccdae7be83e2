//! TOSCA: TOSCA service templates are recognised, so that they are not taken for something else; they cannot be checked yet.

use locus_core::vocabulary::{Declarations, Vocabulary};

use crate::language::{Confidence, Kind, KindRole, Language};
use crate::yaml::{Mapping, Node};

/// TOSCA service templates.
#[derive(Clone, Copy, Debug)]
pub struct Tosca;

static KINDS: [Kind; 1] = [Kind {
    name: "TOSCA service template",
    role: KindRole::Unsupported,
    sign: None,
}];

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

    fn vocabulary(&self) -> Vocabulary {
        static FACTS: Declarations = Declarations::none("tosca");
        Vocabulary::of(&FACTS)
    }
}
