//! Heat as a language among others.

use std::sync::Arc;

use locus_core::value::{Constraint, Domain, Field, Item, SymbolId, Value};
use locus_core::vocabulary::Vocabulary;
use locus_core::{Diagnostic, LocationGraph, Sources, suggest};
use rustc_hash::FxHashMap;

use super::constraint::Judge;
use super::data::ResourceType;
use super::parameter::{ParameterType, convert};
use crate::language::{
    Chosen, Confidence, FileText, Input, InputKind, Kind, KindRole, Language, Limit, Loaded,
    NameAt, Names, OpenInput, OwnSettings, Place, Request, SettingKey, Suggestion, Witness, choice,
};
use crate::loader::Loader;
use crate::yaml::{Mapping, Node};

/// Heat templates.
#[derive(Clone, Copy, Debug)]
pub struct Heat;

/// Resource types that the user declares, by name.
pub type UserTypes = FxHashMap<Arc<str>, Arc<ResourceType>>;

/// The settings of a project that only Heat knows.
#[derive(Clone, Debug, Default)]
pub struct HeatSettings {
    /// Resource types that the user's own plugins provide.
    pub types: UserTypes,
}

static TEMPLATE: Kind = Kind {
    name: "Heat template",
    role: KindRole::Configuration,
    sign: Some("starts with `heat_template_version`"),
};

static CFN: Kind = Kind {
    name: "CFN-style Heat template",
    role: KindRole::Configuration,
    sign: None,
};

static ENVIRONMENT: Kind = Kind {
    name: "Heat environment",
    role: KindRole::Part {
        with: "checked with its template",
        help: "name the template, and give this file as `-e {name}`",
    },
    sign: None,
};

static KINDS: [Kind; 3] = [TEMPLATE, CFN, ENVIRONMENT];

static INPUTS: &[Input] = &[
    Input {
        name: "environment",
        short: Some('e'),
        setting: Some("environments"),
        kind: InputKind::Path,
        placeholder: "FILE",
        help: "Environment of Heat templates; later ones override",
        repeatable: true,
    },
    Input {
        name: "param",
        short: Some('p'),
        setting: Some("parameters"),
        kind: InputKind::Pair,
        placeholder: "NAME=VALUE",
        help: "Parameter of Heat templates",
        repeatable: true,
    },
];

impl Language for Heat {
    fn name(&self) -> &'static str {
        "hot"
    }

    fn title(&self) -> &'static str {
        "Heat"
    }

    fn section(&self) -> &'static str {
        "heat"
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["yaml", "yml", "template"]
    }

    /// A block mapping whose first key is the version of a template is one, whatever follows.
    fn by_first_line(&self, line: &str) -> Option<&'static Kind> {
        let value = line.strip_prefix("heat_template_version:")?;
        (value.is_empty() || value.starts_with([' ', '\t'])).then_some(&TEMPLATE)
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        let has = |key: &str| root.get(key).is_some();
        if has("heat_template_version") {
            return Some((&TEMPLATE, Confidence::Certain));
        }
        if has("AWSTemplateFormatVersion") || has("HeatTemplateFormatVersion") {
            return Some((&CFN, Confidence::Certain));
        }
        let environment = [
            "resource_registry",
            "parameter_defaults",
            "encrypted_param_names",
            "event_sinks",
            "parameter_merge_strategies",
        ];
        let only_environment = root
            .named()
            .all(|(key, _)| &**key == "parameters" || environment.contains(&&**key));
        if environment.iter().any(|key| has(key)) || (has("parameters") && only_environment) {
            return Some((&ENVIRONMENT, Confidence::Likely));
        }
        // A template whose version was forgotten is still a template, and is told so.
        if typed(root.get("resources"), "type") {
            return Some((&TEMPLATE, Confidence::Likely));
        }
        typed(root.get("Resources"), "Type").then_some((&CFN, Confidence::Likely))
    }

    fn inputs(&self) -> &'static [Input] {
        INPUTS
    }

    fn setting_keys(&self) -> &'static [SettingKey] {
        &[SettingKey {
            name: "types",
            help: "Resource types that plugins of your own provide",
            json_type: "object",
        }]
    }

    fn setting_schema(&self, key: &str) -> Option<serde_json::Value> {
        (key == "types").then(types_schema)
    }

    fn settings(&self, fields: &[Field], diagnostics: &mut Vec<Diagnostic>) -> Option<OwnSettings> {
        let mut settings = HeatSettings::default();
        for field in fields {
            match &field.item.value {
                Value::Map(types) => settings.types = user_types(types, diagnostics),
                other => {
                    let message = format!("`types` is a table of types, not {}", other.describe());
                    diagnostics.push(Diagnostic::error("settings", message).at(field.item.span));
                }
            }
        }
        Some(OwnSettings::new(settings))
    }

    fn names(&self) -> &'static [Names] {
        super::editing::NAMES
    }

    fn find_names(&self, files: &[FileText<'_>]) -> Vec<Vec<NameAt>> {
        super::editing::find(files)
    }

    fn names_cross_files(&self) -> bool {
        true
    }

    fn suggest(&self, place: &Place<'_>) -> Vec<Suggestion> {
        super::editing::suggest(place)
    }

    fn about(&self, place: &Place<'_>, written: &str) -> Option<Suggestion> {
        super::editing::about(place, written)
    }

    fn hints(&self, files: &[FileText<'_>], file: usize) -> Vec<(usize, String)> {
        let roots = files.get(file).into_iter().flat_map(|file| &file.roots);
        roots.flat_map(|root| super::editing::hints(root)).collect()
    }

    fn constrain(&self, files: &[FileText<'_>], name: &NameAt) -> Vec<(String, usize, String)> {
        // The first kind of names are parameters.
        let file = files.first().filter(|_| name.kind == 0);
        file.map_or_else(Vec::new, |file| super::narrow::constrain(file, &name.name))
    }

    fn is_function(&self, key: &str) -> bool {
        super::editing::is_function(key)
    }

    fn vocabulary(&self) -> Vocabulary {
        super::vocabulary::vocabulary()
    }

    fn open_inputs(&self, loaded: &Loaded) -> Vec<OpenInput> {
        let mut inputs = choice::parameters(loaded);
        // Parameters of included templates are given by the resources that include them.
        inputs.retain(|input| !input.name.contains('/') && !is_pseudo(&input.name));
        for input in &mut inputs {
            let written = input.default.take();
            let ty = ParameterType::of_value(input.domain.ty);
            let item = written.map(|value| Item::new(value, input.span));
            input.default = item.and_then(|item| convert(ty, &item));
            let lists = ty == ParameterType::List;
            for constraint in &mut input.domain.constraints {
                if let (Constraint::OneOf(values), false) = (constraint, lists) {
                    let item = |value: &Value| Item::new(value.clone(), input.span);
                    *values = values
                        .iter()
                        .filter_map(|value| convert(ty, &item(value)))
                        .collect();
                }
            }
        }
        inputs
    }

    fn admits(&self, domain: &Domain, value: &Value) -> Option<bool> {
        let mut judge = Judge::new(None);
        let mut all = Some(true);
        for constraint in &domain.constraints {
            match judge.holds(constraint, value) {
                Some(false) => return Some(false),
                Some(true) => {}
                None => all = None,
            }
        }
        all
    }

    /// What a value is wrong about is a fact, and for rules to say.
    fn judges_values(&self) -> bool {
        false
    }

    fn looks_at(
        &self,
        graph: &LocationGraph,
        symbol: SymbolId,
        sort: &str,
        path: &[Arc<str>],
    ) -> bool {
        super::looks::looks(graph, symbol, sort, path)
    }

    fn witness(&self, chosen: &[Chosen], _: &Request, _: &dyn Loader) -> Option<Witness> {
        let mut text = String::from("parameters:\n");
        for Chosen { name, value } in chosen {
            // JSON is YAML, whatever is in the text.
            let value = serde_json::Value::String(choice::written(value));
            text += &format!(
                "  {}: {value}\n",
                serde_json::Value::String(name.to_string())
            );
        }
        Some(Witness {
            beside: Vec::new(),
            flag: "-e",
            extension: "yaml",
            comment: "#",
            text,
        })
    }

    fn limit(&self, limit: &Limit) -> Option<String> {
        Some(match limit {
            Limit::OneOf(values) => format!("allowed_values: {}", choice::in_brackets(values)),
            Limit::AtLeast(least) => format!("range: {{ min: {least} }}"),
            Limit::AtMost(most) => format!("range: {{ max: {most} }}"),
            Limit::Something => "length: { min: 1 }".to_owned(),
            Limit::Named(name) => format!("custom_constraint: {name}"),
        })
    }

    fn tighten(&self, bad: &[&Value], good: Option<&Value>) -> Option<String> {
        let accepts = |constraint: &str, value: &Value| {
            super::accepts(constraint, &choice::written(value)) == Some(true)
        };
        let known = choice::LIMITS;
        // Of what keeps the default, that which leaves the fewest of the others.
        let good = good.filter(|value| !choice::written(value).is_empty());
        let fitting = good.map(|good| known.iter().filter(move |name| accepts(name, good)));
        let left = |name: &&&str| bad.iter().filter(|value| accepts(name, value)).count();
        let best = fitting.into_iter().flatten().min_by_key(left);
        let best = best.filter(|name| left(name) < bad.len());
        let Some(name) = best else {
            return Some("`allowed_values` or an `allowed_pattern` would rule it out".to_owned());
        };
        Some(match left(&name) {
            0 => format!("an `allowed_pattern` or `custom_constraint: {name}` would rule it out"),
            _ => format!(
                "`custom_constraint: {name}` would rule out some of it, `allowed_values` or an `allowed_pattern` the rest"
            ),
        })
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let mut unchecked = Vec::new();
        let mut diagnostics = Vec::new();
        let mut add = |sources: &mut Sources, path: &str| match loader.load(path) {
            Ok(bytes) => {
                let (file, refused) = sources.add_bytes(path, &bytes);
                let readable = refused.is_none().then_some(file);
                diagnostics.extend(refused);
                readable
            }
            Err(error) => {
                let message = format!("cannot read `{path}`: {}", error.reason);
                unchecked.push(Diagnostic::error("io", message));
                None
            }
        };
        let own = request.settings.as_ref();
        let own = own.and_then(|settings| settings.get::<HeatSettings>());
        let mut inner = super::Request {
            template: request.files.first().and_then(|path| add(sources, path)),
            now: request.now,
            all_inputs: request.all_inputs,
            types: own.map(|own| own.types.clone()).unwrap_or_default(),
            mentioned: request.mentioned.clone(),
            ..super::Request::default()
        };
        for path in request.inputs.texts("environment") {
            inner.environments.extend(add(sources, path));
        }
        for (name, value) in request.inputs.pairs("param") {
            inner.parameter(sources, name, value);
        }
        let loaded = super::load(sources, &loader, &inner);
        diagnostics.extend(loaded.diagnostics);
        unchecked.extend(loaded.unchecked);
        Loaded {
            questions: Vec::new(),
            language: self.name(),
            graph: loaded.graph,
            facts: loaded.facts,
            declared: Arc::new(loaded.declared),
            diagnostics,
            about_settings: Vec::new(),
            unchecked,
            files: loaded
                .files
                .iter()
                .map(|&file| sources.name(file).to_owned())
                .collect(),
        }
    }
}

/// Whether Heat itself gives a parameter its value.
fn is_pseudo(name: &str) -> bool {
    name.starts_with("OS::") || name.starts_with("AWS::")
}

/// Whether a section holds something with a type.
fn typed(section: Option<&Node>, key: &str) -> bool {
    section.and_then(Node::as_mapping).is_some_and(|section| {
        section
            .entries
            .iter()
            .any(|entry| entry.value.get(key).is_some())
    })
}

/// The resource types that settings declare.
fn user_types(types: &[Field], diagnostics: &mut Vec<Diagnostic>) -> UserTypes {
    let mut known = UserTypes::default();
    for ty in types {
        let mut json = match choice::to_json(&ty.item.value) {
            serde_json::Value::Object(json) => json,
            _ => serde_json::Map::new(),
        };
        let words = ["properties", "attributes"];
        let keys = match &ty.item.value {
            Value::Map(fields) => fields.as_slice(),
            _ => &[],
        };
        if let Some(wrong) = keys.iter().find(|field| !words.contains(&&*field.name)) {
            let message = format!("a resource type has no `{}`", wrong.name);
            let help = suggest::did_you_mean(&wrong.name, words);
            let diagnostic = Diagnostic::error("settings", message).maybe_help(help);
            diagnostics.push(diagnostic.at(wrong.key));
            continue;
        }
        let open = !json.contains_key("properties");
        json.insert("type".into(), (&*ty.name).into());
        match ResourceType::from_json(serde_json::Value::Object(json)) {
            Ok(mut found) => {
                found.open = open;
                known.insert(ty.name.clone(), Arc::new(found));
            }
            Err(why) => {
                let message = format!("`{}`: {why}", ty.name);
                diagnostics.push(Diagnostic::error("settings", message).at(ty.item.span));
            }
        }
    }
    known
}

/// What `types` may be, as a JSON schema.
fn types_schema() -> serde_json::Value {
    let members = |what: &str| {
        serde_json::json!({
            "type": "object",
            "description": what,
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "type": {
                        "enum": ["string", "integer", "number", "boolean", "list", "map", "any"],
                        "description": "What the value is",
                    },
                    "required": { "type": "boolean", "description": "Whether it must be given" },
                    "constraints": { "type": "array", "description": "What the value must fulfil, as in a template" },
                    "items": { "type": "object", "description": "What the items of a list are" },
                    "schema": { "type": "object", "description": "What the entries of a map are" },
                },
            },
        })
    };
    serde_json::json!({
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {
                "properties": members("What resources of the type are given; without this, anything"),
                "attributes": members("What others can ask of them"),
            },
            "additionalProperties": false,
        },
    })
}
