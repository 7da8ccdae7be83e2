//! TOSCA as a language among others.

use std::sync::Arc;

use locus_core::Sources;
use locus_core::catalogue::Code;
use locus_core::vocabulary::Vocabulary;

use super::Options;
use crate::language::{Confidence, Input, InputKind, Kind, KindRole, Language, Loaded, Request};
use crate::loader::Loader;
use crate::yaml::{Mapping, Node};

/// TOSCA service templates.
#[derive(Clone, Copy, Debug)]
pub struct Tosca;

static TEMPLATE: Kind = Kind {
    name: "TOSCA service template",
    role: KindRole::Configuration,
    sign: Some("starts with `tosca_definitions_version`"),
};

static KINDS: [Kind; 1] = [TEMPLATE];

static INPUTS: &[Input] = &[
    Input {
        name: "param",
        short: Some('p'),
        setting: Some("inputs"),
        kind: InputKind::Pair,
        placeholder: "NAME=VALUE",
        help: "Input of TOSCA service templates",
        repeatable: true,
    },
    Input {
        name: "types",
        short: None,
        setting: Some("types"),
        kind: InputKind::Path,
        placeholder: "DIR",
        help: "Folder in which imported TOSCA files and profiles are looked for too",
        repeatable: true,
    },
    Input {
        name: "closed",
        short: None,
        setting: Some("closed"),
        kind: InputKind::Switch,
        placeholder: "",
        help: "Let no requirement of a TOSCA service be met from outside",
        repeatable: false,
    },
];

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

    fn by_first_line(&self, line: &str) -> Option<&'static Kind> {
        let value = line.strip_prefix("tosca_definitions_version:")?;
        (value.is_empty() || value.starts_with([' ', '\t'])).then_some(&TEMPLATE)
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        if root.get("tosca_definitions_version").is_some() {
            return Some((&TEMPLATE, Confidence::Certain));
        }
        let sections = ["topology_template", "service_template", "node_types"];
        let mut sections = sections.iter().filter_map(|key| root.get(key));
        let found = sections.any(|node: &Node| node.as_mapping().is_some());
        found.then_some((&TEMPLATE, Confidence::Possible))
    }

    fn inputs(&self) -> &'static [Input] {
        INPUTS
    }

    fn codes(&self) -> &'static [Code] {
        super::codes::CODES
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::of(&super::vocabulary::FACTS)
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let inputs = &request.inputs;
        let given = inputs.pairs("param").map(|(name, value)| {
            let file = sources.add(format!("--param {name}"), value);
            (name.to_owned(), file)
        });
        let options = Options {
            inputs: given.collect(),
            folders: inputs.texts("types").map(str::to_owned).collect(),
            all_inputs: request.all_inputs,
            closed: inputs.is_on("closed"),
        };
        let path = request.files.first().map_or("", String::as_str);
        let service = super::load(path, &options, loader, sources);
        Loaded {
            language: self.name(),
            graph: service.graph,
            facts: service.facts,
            declared: Arc::default(),
            diagnostics: service.diagnostics,
            about_settings: Vec::new(),
            unchecked: service.unchecked,
            files: service.files,
        }
    }
}
