//! TOSCA as a language among others.

use std::sync::Arc;

use locus_core::catalogue::Code;
use locus_core::facts::Facts;
use locus_core::value::Domain;
use locus_core::vocabulary::Vocabulary;
use locus_core::{Diagnostic, LocationGraph, Sources, Span, Value};

use super::Options;
use crate::language::{
    Chosen, Confidence, Described, FileText, Input, InputKind, InputValue, Kind, KindRole,
    Language, Limit, Loaded, NameAt, Names, Place, Request, Suggestion, Witness, choice,
};
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

static ARCHIVE: Kind = Kind {
    name: "CSAR archive",
    role: KindRole::Configuration,
    sign: None,
};

static XML: Kind = Kind {
    name: "TOSCA 1.0 document in XML",
    role: KindRole::Unsupported,
    sign: None,
};

static KINDS: [Kind; 3] = [TEMPLATE, ARCHIVE, XML];

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
        name: "inputs-file",
        short: None,
        setting: None,
        kind: InputKind::Path,
        placeholder: "FILE",
        help: "File with inputs of TOSCA service templates, as `--witness` writes it: a line `name: value` for each",
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
    Input {
        name: "all-bindings",
        short: None,
        setting: None,
        kind: InputKind::Switch,
        placeholder: "",
        help: "Tell which nodes can meet each open requirement of a TOSCA service",
        repeatable: false,
    },
    Input {
        name: "hints",
        short: None,
        setting: None,
        kind: InputKind::Switch,
        placeholder: "",
        help: "Tell what TOSCA types say twice",
        repeatable: false,
    },
];

/// A value as it is written in YAML. In quotes, a text is a text, whatever is in it.
fn as_text(chosen: &Chosen) -> String {
    match &chosen.value {
        Value::Str(text) => serde_json::Value::String(text.to_string()).to_string(),
        other => other.to_string(),
    }
}

/// Whether a file is in the language of TOSCA before it was written in YAML.
fn is_xml(bytes: &[u8]) -> bool {
    const NAMESPACE: &[u8] = b"http://docs.oasis-open.org/tosca/ns/2011/12";
    let start = bytes.get(..4096).unwrap_or(bytes);
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    text.trim_ascii_start().starts_with(b"<")
        && start
            .windows(NAMESPACE.len())
            .any(|window| window == NAMESPACE)
}

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

    fn extensions(&self) -> &'static [&'static str] {
        &["yaml", "yml", "csar"]
    }

    fn by_bytes(&self, bytes: &[u8]) -> Option<&'static Kind> {
        if super::csar::is_archive(bytes) {
            return Some(&ARCHIVE);
        }
        is_xml(bytes).then_some(&XML)
    }

    fn by_first_line(&self, line: &str) -> Option<&'static Kind> {
        let value = line.strip_prefix("tosca_definitions_version:")?;
        (value.is_empty() || value.starts_with([' ', '\t'])).then_some(&TEMPLATE)
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        if root.get("tosca_definitions_version").is_some() {
            return Some((&TEMPLATE, Confidence::Certain));
        }
        let api = root.get("apiVersion").and_then(Node::as_str);
        if api.is_some_and(super::version::is_ensemble) {
            return Some((&TEMPLATE, Confidence::Certain));
        }
        let sections = ["topology_template", "service_template", "node_types"];
        let mut sections = sections.iter().filter_map(|key| root.get(key));
        let found = sections.any(|node: &Node| node.as_mapping().is_some());
        found.then_some((&TEMPLATE, Confidence::Possible))
    }

    fn together(&self, alone: &[&str], loader: &dyn Loader) -> Vec<Vec<String>> {
        super::together::groups(alone, loader)
    }

    fn stands_alone(&self, path: &str, loader: &dyn Loader) -> bool {
        super::together::has_topology(path, loader)
    }

    fn inputs(&self) -> &'static [Input] {
        INPUTS
    }

    fn names(&self) -> &'static [Names] {
        super::editing::NAMES
    }

    fn find_names(&self, files: &[FileText<'_>]) -> Vec<Vec<NameAt>> {
        super::editing::find(files)
    }

    fn names_for(&self, place: &Place<'_>) -> Vec<(usize, Option<String>)> {
        super::editing::names_for(place)
    }

    fn create(&self, file: &FileText<'_>, name: &NameAt) -> Option<(usize, String)> {
        super::editing::create(self.names(), file, name)
    }

    fn constrain(&self, files: &[FileText<'_>], name: &NameAt) -> Vec<(String, usize, String)> {
        super::editing::constrain(files, name)
    }

    fn hints(&self, files: &[FileText<'_>], file: usize) -> Vec<(usize, String)> {
        let roots = files.get(file).into_iter().flat_map(|file| &file.roots);
        roots.flat_map(|root| super::editing::hints(root)).collect()
    }

    /// What is imported is read with the file.
    fn shares_names(&self) -> bool {
        true
    }

    fn is_function(&self, key: &str) -> bool {
        super::editing::is_function(key)
    }

    fn suggest(&self, place: &Place<'_>) -> Vec<Suggestion> {
        super::editing::suggest(place)
    }

    fn leads(&self, files: &[FileText<'_>], file: usize, offset: usize) -> Vec<(usize, Span)> {
        super::editing::leads(files, file, offset)
    }

    fn about(&self, place: &Place<'_>, written: &str) -> Option<Suggestion> {
        super::editing::about(place, written)
    }

    fn names_defined(&self, place: &Place<'_>) -> Vec<(usize, Option<String>)> {
        super::editing::names_defined(place)
    }

    fn codes(&self) -> &'static [Code] {
        super::codes::CODES
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::of(&super::vocabulary::FACTS)
    }

    fn limit(&self, limit: &Limit) -> Option<String> {
        Some(match limit {
            Limit::OneOf(values) => format!("valid_values: {}", choice::in_brackets(values)),
            Limit::AtLeast(least) => format!("greater_or_equal: {least}"),
            Limit::AtMost(most) => format!("less_or_equal: {most}"),
            Limit::Something => "min_length: 1".to_owned(),
            Limit::Named(_) => return None,
        })
    }

    fn admits(&self, domain: &Domain, value: &Value) -> Option<bool> {
        Some(super::build::domain::admits(domain, value))
    }

    fn tells(&self, domain: &Domain) -> bool {
        super::build::domain::tells(domain)
    }

    fn choose(&self, request: &mut Request, chosen: &Chosen) {
        let text = as_text(chosen);
        if let Some(input) = INPUTS.iter().find(|input| input.name == "param") {
            let value = InputValue::Pair(chosen.name.to_string(), text);
            request.inputs.add(input, value, None);
        }
    }

    fn witness(&self, chosen: &[Chosen], _: &Request, _: &dyn Loader) -> Option<Witness> {
        let line = |chosen: &Chosen| {
            let name = serde_json::Value::String(chosen.name.to_string());
            format!("{name}: {}\n", as_text(chosen))
        };
        Some(Witness {
            beside: Vec::new(),
            flag: "--inputs-file",
            extension: "yaml",
            comment: "#",
            text: chosen.iter().map(line).collect(),
        })
    }

    fn convert(
        &self,
        to: &str,
        graph: &LocationGraph,
        facts: &Facts,
    ) -> Option<Result<serde_json::Value, Vec<Diagnostic>>> {
        (to == "occi").then(|| super::occi::convert(graph, facts))
    }

    fn describe(
        &self,
        name: Option<&str>,
        request: &Request,
        loader: &dyn Loader,
        sources: &mut Sources,
    ) -> (Described, Vec<Diagnostic>) {
        let mut described = Described::default();
        let Some(path) = request.files.first() else {
            super::describe::builtin(name, &mut described);
            return (described, Vec::new());
        };
        let options = Options {
            folders: request.inputs.texts("types").map(str::to_owned).collect(),
            described: Some(name.map(str::to_owned)),
            ..Options::default()
        };
        let mut service = super::load(path, &options, loader, sources);
        service.diagnostics.append(&mut service.unchecked);
        (service.described, service.diagnostics)
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let inputs = &request.inputs;
        let given = inputs.pairs("param").map(|(name, value)| {
            let file = sources.add(format!("--param {name}"), value);
            (name.to_owned(), file)
        });
        let options = Options {
            inputs: given.collect(),
            input_files: inputs.texts("inputs-file").map(str::to_owned).collect(),
            folders: inputs.texts("types").map(str::to_owned).collect(),
            all_inputs: request.all_inputs,
            closed: inputs.is_on("closed"),
            all_bindings: inputs.is_on("all-bindings"),
            hints: inputs.is_on("hints"),
            apart: request.files.len() > 1,
            mentioned: request.mentioned.clone(),
            described: None,
        };
        let service = super::load_all(&request.files, &options, loader, sources);
        Loaded {
            questions: Vec::new(),
            language: self.name(),
            graph: service.graph,
            facts: service.facts,
            declared: Arc::new(service.declared),
            diagnostics: service.diagnostics,
            about_settings: Vec::new(),
            unchecked: service.unchecked,
            files: service.files,
        }
    }
}
