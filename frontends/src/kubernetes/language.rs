//! Kubernetes manifests as a language among others.

use std::collections::{BTreeMap, BTreeSet};

use locus_core::catalogue::Code;
use locus_core::value::Field;
use locus_core::vocabulary::Vocabulary;
use locus_core::{Diagnostic, Sources, Span};

use super::build::Asked;
use super::policy::Policy;
use super::scale::{self, GivenReplicas};
use super::settings::Settings;
use super::vocabulary::{AUDIT, REACHABILITY};
use super::{Options, release};
use crate::language::render::{Renderer, Rendering, ToRender};
use crate::language::{
    Chosen, Confidence, Existing, FileText, Found, Input, InputKind, InputValue, Kind, KindRole,
    Language, Loaded, NameAt, Names, OpenInput, OwnSettings, Place, Project, Reach, Request,
    RightsAnswer, RightsQuestion, SettingKey, Suggestion, Witness, Word, choice,
};
use crate::loader::{Loader, PathKind, directory, join};
use crate::yaml::{Mapping, Node};

/// Kubernetes manifests.
#[derive(Clone, Copy, Debug)]
pub struct Kubernetes;

static MANIFEST: Kind = Kind {
    name: "Kubernetes manifest",
    role: KindRole::Configuration,
    sign: Some("has `apiVersion` and `kind`"),
};

static CHART: Kind = Kind {
    name: "Helm chart",
    role: KindRole::Source {
        help: "render it: `locus check --render {folder}`, or `helm template {folder} | locus check -`",
    },
    sign: None,
};

static CHART_PART: Kind = Kind {
    name: "Helm chart file",
    role: KindRole::Part {
        with: "rendered with its chart",
        help: "render the chart: `locus check --render CHART`, or `helm template CHART | locus check -`",
    },
    sign: None,
};

static KUSTOMIZATION: Kind = Kind {
    name: "kustomization",
    role: KindRole::Source {
        help: "build it: `locus check --render {folder}`, or `kustomize build {folder} | locus check -`",
    },
    sign: None,
};

static KUSTOMIZED: Kind = Kind {
    name: "kustomization file",
    role: KindRole::Part {
        with: "built with its kustomization",
        help: "build it: `locus check --render FOLDER`, or `kustomize build FOLDER | locus check -`",
    },
    sign: None,
};

static KINDS: [Kind; 5] = [MANIFEST, CHART, CHART_PART, KUSTOMIZATION, KUSTOMIZED];

/// The releases as words, the newest first: it holds when none is given.
static RELEASE_WORDS: [Word; 38] = {
    const fn of(word: &'static str) -> Word {
        Word { word, help: "" }
    }
    [
        of("1.37"),
        of("1.36"),
        of("1.35"),
        of("1.34"),
        of("1.33"),
        of("1.32"),
        of("1.31"),
        of("1.30"),
        of("1.29"),
        of("1.28"),
        of("1.27"),
        of("1.26"),
        of("1.25"),
        of("1.24"),
        of("1.23"),
        of("1.22"),
        of("1.21"),
        of("1.20"),
        of("1.19"),
        of("1.18"),
        of("1.17"),
        of("1.16"),
        of("1.15"),
        of("1.14"),
        of("1.13"),
        of("1.12"),
        of("1.11"),
        of("1.10"),
        of("1.9"),
        of("1.8"),
        of("1.7"),
        of("1.6"),
        of("1.5"),
        of("1.4"),
        of("1.3"),
        of("1.2"),
        of("1.1"),
        of("1.0"),
    ]
};

/// What may be lost.
static LOSSES: [Word; 2] = [
    Word {
        word: "node",
        help: "any one node",
    },
    Word {
        word: "zone",
        help: "any one zone, by the label `topology.kubernetes.io/zone`",
    },
];

/// The Pod Security Standards as words; the first asks for nothing.
static LEVEL_WORDS: [Word; 3] = [
    Word {
        word: "privileged",
        help: "nothing is asked of pods",
    },
    Word {
        word: "baseline",
        help: "no known ways to take over the node",
    },
    Word {
        word: "restricted",
        help: "current best practice",
    },
];

static INPUTS: &[Input] = &[
    Input {
        name: "kubernetes-version",
        short: None,
        setting: Some("version"),
        kind: InputKind::Word(&RELEASE_WORDS),
        placeholder: "VERSION",
        help: "Release of Kubernetes that manifests are deployed to",
        repeatable: false,
    },
    Input {
        name: "pod-security",
        short: None,
        setting: Some("pod-security"),
        kind: InputKind::Word(&LEVEL_WORDS),
        placeholder: "LEVEL",
        help: "Pod Security Standard that all pods must meet, as of the release that is deployed to",
        repeatable: false,
    },
    Input {
        name: "policy",
        short: None,
        setting: None,
        kind: InputKind::Pair,
        placeholder: "NAME=VALUE",
        help: "Parameter of rules, as in `replicas=2`; lists take one value each time",
        repeatable: true,
    },
    Input {
        name: "crd",
        short: None,
        setting: Some("crds"),
        kind: InputKind::Path,
        placeholder: "FILE",
        help: "File with definitions of custom resources, for the schemas of their kinds",
        repeatable: true,
    },
    Input {
        name: "existing",
        short: None,
        setting: Some("existing"),
        kind: InputKind::Path,
        placeholder: "FILE",
        help: "File with objects that are in the cluster already: they may be referred to, and are not checked",
        repeatable: true,
    },
    Input {
        name: "values",
        short: None,
        setting: None,
        kind: InputKind::Path,
        placeholder: "FILE",
        help: "Values for the charts that `--render` renders",
        repeatable: true,
    },
    Input {
        name: "namespace",
        short: None,
        setting: Some("namespace"),
        kind: InputKind::Text,
        placeholder: "NAMESPACE",
        help: "Namespace of objects that name none, in place of `default`",
        repeatable: false,
    },
    Input {
        name: "replicas",
        short: None,
        setting: None,
        kind: InputKind::Pair,
        placeholder: "WORKLOAD=COUNT",
        help: "How many pods a workload has, as in `shop/Deployment/api=3`, where an autoscaler may ask for others",
        repeatable: true,
    },
    Input {
        name: "replicas-file",
        short: None,
        setting: None,
        kind: InputKind::Path,
        placeholder: "FILE",
        help: "File with numbers of pods, as `--witness` writes it: a line `shop/Deployment/api: 3` for each workload",
        repeatable: true,
    },
    Input {
        name: "survive",
        short: None,
        setting: Some("survive"),
        kind: InputKind::Word(&LOSSES),
        placeholder: "LOSS",
        help: "Also check that all pods fit when a node or a zone is lost",
        repeatable: false,
    },
];

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

    fn extensions(&self) -> &'static [&'static str] {
        &["yaml", "yml", "json"]
    }

    /// Of JSON files, most are not for Kubernetes.
    fn may_be(&self, path: &str, text: &str) -> bool {
        !path.ends_with(".json") || (text.contains("\"apiVersion\"") && text.contains("\"kind\""))
    }

    fn by_name(&self, path: &str) -> Option<&'static Kind> {
        match path.rsplit(['/', '\\']).next().unwrap_or(path) {
            "Chart.yaml" => Some(&CHART),
            "kustomization.yaml" | "kustomization.yml" => Some(&KUSTOMIZATION),
            _ => None,
        }
    }

    fn by_place(&self, path: &str, loader: &dyn Loader) -> Option<&'static Kind> {
        let is_file = |path: &str| loader.kind(path) == Some(PathKind::File);
        let folder = directory(path);
        let mut parts: Vec<&str> = folder.split('/').collect();
        let name = path.rsplit('/').next().unwrap_or(path);
        // Everything below `templates` and `charts` of a chart, and its values.
        if name.starts_with("values") && is_file(&join(folder, "Chart.yaml")) {
            return Some(&CHART_PART);
        }
        while let Some(last) = parts.pop() {
            let above = match parts.as_slice() {
                [] => ".".to_owned(),
                [""] => "/".to_owned(),
                parts => parts.join("/"),
            };
            if matches!(last, "templates" | "charts") && is_file(&join(&above, "Chart.yaml")) {
                return Some(&CHART_PART);
            }
        }
        let built = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
        let known = built.iter().any(|name| is_file(&join(folder, name)));
        (known && !built.contains(&name)).then_some(&KUSTOMIZED)
    }

    fn by_first_line(&self, line: &str) -> Option<&'static Kind> {
        let version = line.strip_prefix("apiVersion:")?.trim();
        let plain = version
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/' | b'-'));
        (plain && is_api_version(version) && !is_tool(version)).then_some(&MANIFEST)
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        let api = root.get("apiVersion");
        if api.and_then(Node::as_str).is_some_and(is_tool) {
            return None;
        }
        if api.is_some() && root.get("kind").is_some() {
            return Some((&MANIFEST, Confidence::Certain));
        }
        let versioned = api.and_then(Node::as_str).is_some_and(is_api_version);
        (root.get("kind").is_some() || versioned).then_some((&MANIFEST, Confidence::Possible))
    }

    /// The manifests of a folder are one project, and so are all that are named one by one: objects refer to each other
    /// across files. What is rendered is one by itself: of several, some may be there instead of others.
    fn projects(&self, found: &[Found<'_>], _: &dyn Loader) -> Vec<Project> {
        let rendered = found.iter().filter(|found| !found.kind.is_configuration());
        let rendered: BTreeSet<&str> = rendered.map(|found| found.path).collect();
        let mut projects: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let own = found.iter().filter(|found| found.kind.is_configuration());
        let mut seen = BTreeSet::new();
        for one in own {
            let folder = if one.named == one.path { "" } else { one.named };
            let files = projects.entry(folder).or_default();
            if seen.insert((folder, one.path)) {
                files.push(one.path.to_owned());
            }
        }
        projects
            .into_values()
            .map(|files| Project { files })
            .chain(rendered.into_iter().map(Project::of))
            .collect()
    }

    fn renderers(&self, asked: &ToRender<'_>) -> Vec<Renderer> {
        super::render::renderers(asked)
    }

    fn rendered_parts(&self, sources: &[String], loader: &dyn Loader) -> BTreeSet<String> {
        super::render::parts(sources, loader)
    }

    fn rendering(&self, asked: &ToRender<'_>, output: &str) -> Rendering {
        super::render::rendering(asked, output)
    }

    fn next_question(&self, answers: &[String]) -> Option<Renderer> {
        super::existing::next_question(answers)
    }

    fn existing(&self, answers: &[String]) -> Option<Existing> {
        super::existing::objects(answers)
    }

    fn aside(&self, request: &Request) -> Vec<String> {
        options(request).0.existing
    }

    fn inputs(&self) -> &'static [Input] {
        INPUTS
    }

    fn setting_keys(&self) -> &'static [SettingKey] {
        super::settings::KEYS
    }

    fn setting_schema(&self, key: &str) -> Option<serde_json::Value> {
        super::settings::schema(key)
    }

    fn settings(&self, fields: &[Field], diagnostics: &mut Vec<Diagnostic>) -> Option<OwnSettings> {
        Some(super::settings::read(fields, diagnostics))
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
        super::editing::create(file, name)
    }

    fn called(&self, name: &NameAt) -> String {
        super::editing::called(name)
    }

    /// The objects of a folder refer to each other.
    fn shares_names(&self) -> bool {
        true
    }

    fn suggest(&self, place: &Place<'_>) -> Vec<Suggestion> {
        super::editing::suggest(place)
    }

    fn about(&self, place: &Place<'_>, written: &str) -> Option<Suggestion> {
        super::editing::about(place, written)
    }

    fn names_defined(&self, place: &Place<'_>) -> Vec<(usize, Option<String>)> {
        super::editing::names_defined(place)
    }

    fn leads(&self, files: &[FileText<'_>], file: usize, offset: usize) -> Vec<(usize, Span)> {
        super::editing::selected(files, file, offset)
    }

    fn hints(&self, files: &[FileText<'_>], file: usize) -> Vec<(usize, String)> {
        super::editing::hints(files, file)
    }

    fn codes(&self) -> &'static [Code] {
        super::codes::CODES
    }

    fn vocabulary(&self) -> Vocabulary {
        super::vocabulary::vocabulary()
    }

    fn on_demand(&self) -> &'static [&'static str] {
        super::vocabulary::AUDIT
    }

    fn says_who_reaches_whom(&self) -> bool {
        true
    }

    fn reach(
        &self,
        request: &Request,
        loader: &dyn Loader,
        sources: &mut Sources,
    ) -> Option<Reach> {
        Some(super::network::reach(&options(request).0, loader, sources))
    }

    fn who_can(
        &self,
        request: &Request,
        loader: &dyn Loader,
        sources: &mut Sources,
        question: &RightsQuestion,
    ) -> Option<RightsAnswer> {
        let manifests = super::load(&options(request).0, loader, sources);
        Some(super::rbac::answer::answer(manifests, question))
    }

    /// Objects are what they are, however many pods autoscalers ask for.
    fn judges_values(&self) -> bool {
        false
    }

    fn open_inputs(&self, loaded: &Loaded) -> Vec<OpenInput> {
        let mut inputs = choice::parameters(loaded);
        for input in &mut inputs {
            // A plain check takes the fewest for some questions, and what is written for others.
            input.optional = true;
        }
        inputs
    }

    fn choose(&self, request: &mut Request, chosen: &Chosen) {
        let mut inputs = INPUTS.iter();
        if let Some(input) = inputs.find(|input| input.name == "replicas")
            && let Some(workload) = chosen.name.strip_prefix(scale::INPUT)
        {
            let value = InputValue::Pair(workload.to_owned(), chosen.text());
            request.inputs.add(input, value, None);
        }
    }

    fn witness(&self, chosen: &[Chosen], _: &Request, _: &dyn Loader) -> Option<Witness> {
        let line = |chosen: &Chosen| {
            let workload = chosen.name.strip_prefix(scale::INPUT)?;
            Some(format!("{workload}: {}\n", chosen.text()))
        };
        Some(Witness {
            beside: Vec::new(),
            flag: "--replicas-file",
            extension: "yaml",
            comment: "#",
            text: chosen.iter().filter_map(line).collect(),
        })
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let (mut options, mut wrong) = options(request);
        let files: Vec<String> = request
            .inputs
            .texts("replicas-file")
            .map(str::to_owned)
            .collect();
        let (given, unreadable) = scale::read(&files, loader, sources);
        // What is given by name replaces what files say.
        options.replicas.splice(0..0, given);
        wrong.extend(unreadable);
        let manifests = super::load(&options, loader, sources);
        let settings = request.settings.as_ref();
        let settings = settings.and_then(OwnSettings::get::<Settings>);
        if let Some(settings) = settings
            && !settings.nodes.is_empty()
            && let Some((name, text)) = &request.settings_file
        {
            // Nodes are written in the settings, which findings then point into.
            let file = sources.add(name.clone(), text.to_string());
            options.nodes = settings.nodes.clone();
            options.nodes.iter_mut().for_each(|node| node.move_to(file));
        }
        let asked = Asked {
            assertions: settings.map_or(&[], |settings| &settings.assertions),
            reaches: REACHABILITY
                .iter()
                .any(|word| request.mentioned.contains(*word)),
            audits: !AUDIT.iter().all(|word| request.unasked.contains(*word)),
        };
        let mut loaded = super::build::build(manifests, &options, &asked);
        loaded.diagnostics.extend(wrong);
        loaded
    }
}

/// What is loaded, and for which cluster; and what is wrong with the parameters of rules.
fn options(request: &Request) -> (Options, Vec<Diagnostic>) {
    let inputs = &request.inputs;
    let settings = request.settings.as_ref();
    let settings = settings.and_then(OwnSettings::get::<Settings>);
    let mut policy = settings.map_or_else(Policy::default, |settings| settings.policy.clone());
    let wrong = policy.give(inputs.pairs("policy"));
    let release = inputs.text("kubernetes-version").and_then(release::parse);
    // A file that is checked is not there already.
    let existing = inputs
        .texts("existing")
        .filter(|path| !request.files.iter().any(|file| file == path));
    let options = Options {
        files: request.files.clone(),
        crds: inputs.texts("crd").map(str::to_owned).collect(),
        existing: existing.map(str::to_owned).collect(),
        release: release.unwrap_or(release::NEWEST),
        namespace: inputs.text("namespace").unwrap_or("default").into(),
        pod_security: inputs.text("pod-security").map(str::to_owned),
        policy,
        nodes: Vec::new(),
        survive: inputs.text("survive").map(str::to_owned),
        replicas: inputs
            .pairs("replicas")
            .map(|(workload, count)| GivenReplicas {
                workload: workload.into(),
                count: count.into(),
                span: None,
            })
            .collect(),
        all_inputs: request.all_inputs,
    };
    (options, wrong)
}

/// Whether a text is a version of Kubernetes' interface, as in `apps/v1beta2`: other programs number theirs.
fn is_api_version(text: &str) -> bool {
    let version = text.rsplit('/').next().unwrap_or(text);
    version
        .strip_prefix('v')
        .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether files of this version are the settings of a program, which are never sent to a cluster.
fn is_tool(version: &str) -> bool {
    let group = super::object::group(version);
    let suffix = group.ends_with(".config.k8s.io");
    suffix
        || matches!(
            group,
            "skaffold"
                | "kind.x-k8s.io"
                | "tilt.dev"
                | "kubeadm.k8s.io"
                | "audit.k8s.io"
                | "apiserver.k8s.io"
                | "cli.kyverno.io"
                | "chainsaw.kyverno.io"
                | "kpt.dev"
                | "unfurl"
        )
}
