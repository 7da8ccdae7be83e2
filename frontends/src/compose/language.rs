//! Docker Compose as a language among others.

use std::sync::Arc;

use locus_core::Sources;
use locus_core::catalogue::Code;
use locus_core::value::{Domain, Value, ValueType};
use locus_core::vocabulary::Vocabulary;

use super::{Options, Target};
use crate::language::project::with_bases;
use crate::language::{
    Chosen, Confidence, Found, Input, InputKind, InputValue, Kind, KindRole, Language, Loaded,
    Names, OpenInput, Place, Project, Request, Suggestion, Witness, Word, choice,
};
use crate::loader::Loader;
use crate::yaml::Mapping;

/// Docker Compose projects.
#[derive(Clone, Copy, Debug)]
pub struct Compose;

/// What the names of the symbols of profiles start with.
pub(super) const PROFILE: &str = "profile ";

static KINDS: [Kind; 1] = [Kind {
    name: "Compose file",
    role: KindRole::Configuration,
    sign: Some("has `services`"),
}];

static INPUTS: &[Input] = &[
    Input {
        name: "file",
        short: Some('f'),
        setting: None,
        kind: InputKind::Project,
        placeholder: "FILE",
        help: "Compose file; several are merged into one project, later ones override",
        repeatable: true,
    },
    Input {
        name: "env-file",
        short: None,
        setting: Some("env_files"),
        kind: InputKind::Path,
        placeholder: "FILE",
        help: "Environment file of Compose projects, in place of `.env`; later ones override",
        repeatable: true,
    },
    Input {
        name: "profile",
        short: None,
        setting: Some("profiles"),
        kind: InputKind::Text,
        placeholder: "PROFILE",
        help: "Profile of Compose projects that is enabled; `*` enables all",
        repeatable: true,
    },
    Input {
        name: "target",
        short: None,
        setting: Some("target"),
        kind: InputKind::Word(&[
            Word {
                word: "compose",
                help: "`docker compose up`",
            },
            Word {
                word: "swarm",
                help: "`docker stack deploy`",
            },
        ]),
        placeholder: "TARGET",
        help: "What Compose projects are deployed with",
        repeatable: false,
    },
    Input {
        name: "nodes",
        short: None,
        setting: Some("nodes"),
        kind: InputKind::Number,
        placeholder: "N",
        help: "How many nodes the swarm has",
        repeatable: false,
    },
];

impl Language for Compose {
    fn name(&self) -> &'static str {
        "compose"
    }

    fn title(&self) -> &'static str {
        "Docker Compose"
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    /// Compose reads these files and no others by itself.
    fn by_name(&self, path: &str) -> Option<&'static Kind> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let stem = name
            .strip_suffix(".yaml")
            .or_else(|| name.strip_suffix(".yml"))?;
        let stem = stem.strip_suffix(".override").unwrap_or(stem);
        let known = matches!(stem, "compose" | "docker-compose");
        KINDS.first().filter(|_| known)
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        let has = |key: &str| root.get(key).is_some();
        let compose = [
            "services", "networks", "volumes", "secrets", "configs", "include", "x-",
        ];
        let like_compose = root.named().all(|(key, _)| {
            matches!(&**key, "version" | "name" | "models" | "jobs")
                || compose.contains(&&**key)
                || key.starts_with("x-")
        });
        let is = has("services") || (like_compose && compose.iter().any(|key| has(key)));
        Some((KINDS.first().filter(|_| is)?, Confidence::Likely))
    }

    fn projects(&self, found: &[Found<'_>], loader: &dyn Loader) -> Vec<Project> {
        with_bases(found, loader, |path| self.overridden(path))
    }

    fn inputs(&self) -> &'static [Input] {
        INPUTS
    }

    fn codes(&self) -> &'static [Code] {
        super::codes::CODES
    }

    fn names(&self) -> &'static [Names] {
        super::editing::NAMES
    }

    /// Variables are replaced; two signs stand for one.
    fn is_computed(&self, text: &str) -> bool {
        text.replace("$$", "").contains('$')
    }

    /// What includes, overrides and extends is one project.
    fn shares_names(&self) -> bool {
        true
    }

    fn suggest(&self, place: &Place<'_>) -> Vec<Suggestion> {
        super::editing::suggest(place)
    }

    fn about(&self, place: &Place<'_>, written: &str) -> Option<Suggestion> {
        super::editing::about(place, written)
    }

    fn vocabulary(&self) -> Vocabulary {
        super::vocabulary::vocabulary()
    }

    fn open_inputs(&self, loaded: &Loaded) -> Vec<OpenInput> {
        let mut inputs = choice::parameters(loaded);
        for input in &mut inputs {
            // Each use of a variable may have another default, so none of them is what not giving it means.
            if input.domain.ty != ValueType::Bool {
                input.default = None;
            }
            input.optional = true;
        }
        inputs
    }

    fn admits(&self, domain: &Domain, value: &Value) -> Option<bool> {
        let empty = matches!(value, Value::Str(text) if text.is_empty());
        Some(!empty || domain.constraints.is_empty())
    }

    fn choose(&self, request: &mut Request, chosen: &Chosen) {
        match chosen.name.strip_prefix(PROFILE) {
            Some(profile) => {
                let input = INPUTS.iter().find(|input| input.name == "profile");
                if let (Some(input), Value::Bool(true)) = (input, &chosen.value) {
                    let value = InputValue::Text(profile.to_owned());
                    request.inputs.add(input, value, None);
                }
            }
            None if chosen.value == Value::Null => request.left_out.push(chosen.name.to_string()),
            None => {
                let variables = &mut request.variables;
                variables.retain(|(name, _)| **name != *chosen.name);
                variables.push((chosen.name.to_string(), chosen.value.to_string()));
            }
        }
    }

    fn witness(
        &self,
        chosen: &[Chosen],
        request: &Request,
        loader: &dyn Loader,
    ) -> Option<Witness> {
        Some(super::witness::witness(chosen, request, loader))
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let inputs = &request.inputs;
        let options = Options {
            files: request.files.clone(),
            env_files: inputs.texts("env-file").map(str::to_owned).collect(),
            environment: request.variables.clone(),
            profiles: inputs.texts("profile").map(str::to_owned).collect(),
            target: match inputs.text("target") {
                Some("swarm") => Target::Swarm,
                _ => Target::Compose,
            },
            nodes: inputs
                .number("nodes")
                .map(|nodes| u32::try_from(nodes).unwrap_or(u32::MAX)),
            all_inputs: request.all_inputs,
            unset: request.left_out.clone(),
            ..Options::default()
        };
        let composition = super::load(&options, loader, sources);
        Loaded {
            questions: Vec::new(),
            language: self.name(),
            graph: composition.graph,
            facts: composition.facts,
            declared: Arc::default(),
            diagnostics: composition.diagnostics,
            about_settings: Vec::new(),
            unchecked: Vec::new(),
            files: composition.files,
        }
    }
}

impl Compose {
    /// The file that Compose reads before this one, by either extension; none when this is not an override.
    fn overridden(self, path: &str) -> Option<Vec<String>> {
        self.by_name(path)?;
        let stem = path
            .strip_suffix(".override.yaml")
            .or_else(|| path.strip_suffix(".override.yml"))?;
        Some(vec![format!("{stem}.yaml"), format!("{stem}.yml")])
    }
}
