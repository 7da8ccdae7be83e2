//! How many pods workloads have: as it is written, as an autoscaler decides it, or as it was chosen for one check.
//!
//! Where an autoscaler decides, every number from `minReplicas` to `maxReplicas` is possible. A plain check takes the one
//! that is written where it is among them, the nearest one otherwise, and for budgets the fewest. Each number is an input
//! that `--all-inputs` takes all values of, and `--replicas` gives one.

use std::sync::Arc;

use locus_core::{Diagnostic, Sources, Span, suggest};
use rustc_hash::FxHashMap;

use super::access::Access as _;
use super::model::Model;
use super::object::Object;
use crate::loader::Loader;
use crate::yaml::{self, Limits, Node};

/// What the inputs that stand for numbers of pods are called, before the name of the workload.
pub(super) const INPUT: &str = "replicas of ";

/// A number of pods that is given for one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenReplicas {
    /// The workload: `namespace/kind/name`, `namespace/name` or the name.
    pub workload: Arc<str>,
    /// How many pods, as it is written.
    pub count: Arc<str>,
    /// Where it is written, when that is in a file.
    pub span: Option<Span>,
}

/// How many pods an autoscaler may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scaled {
    /// The fewest.
    pub(crate) least: usize,
    /// The most.
    pub(crate) most: usize,
    /// The autoscaler, by its position.
    pub(crate) by: usize,
    /// Where the fewest are written, or who asks for them.
    pub(crate) least_at: Span,
    /// Where the most are written.
    pub(crate) most_at: Span,
}

/// What is wrong, and what helps.
type Wrong = (String, Option<String>);

/// The numbers of pods of a project.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scales {
    /// What autoscalers ask for, by the object that they scale.
    scaled: FxHashMap<usize, Scaled>,
    /// What was chosen, by the object.
    chosen: FxHashMap<usize, usize>,
}

impl Scales {
    /// What autoscalers ask for and what was chosen; what is wrong with that is added to the diagnostics.
    pub(crate) fn of(
        model: &Model<'_>,
        given: &[GivenReplicas],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut scales = Scales::default();
        for (by, object) in model.objects.iter().enumerate() {
            if object.is("autoscaling", "HorizontalPodAutoscaler")
                && let Some((target, scaled)) = autoscaler(model, by, object)
            {
                scales.scaled.insert(target, scaled);
            }
        }
        for one in given {
            if let Err((message, help)) = scales.choose(model, one) {
                let diagnostic = Diagnostic::error("k8s-replicas", message).maybe_help(help);
                diagnostics.push(match one.span {
                    Some(span) => diagnostic.at(span),
                    None => diagnostic,
                });
            }
        }
        scales
    }

    /// Takes a number, or says what is wrong with it and what helps.
    fn choose(&mut self, model: &Model<'_>, given: &GivenReplicas) -> Result<(), Wrong> {
        let name = &given.workload;
        let named: Vec<usize> = (0..model.objects.len())
            .filter(|&at| {
                model
                    .object(at)
                    .is_some_and(|object| is_called(object, name))
            })
            .collect();
        let Some(&at) = named.first() else {
            let known = model.objects.iter().filter(|object| is_replicated(object));
            let known: Vec<String> = known.map(full_name).collect();
            let hint = suggest::did_you_mean(name, known.iter().map(String::as_str));
            let message = format!("no workload is called `{name}`");
            let help = hint.unwrap_or_else(|| {
                "write `namespace/kind/name`, as in `shop/Deployment/api`".to_owned()
            });
            return Err((message, Some(help)));
        };
        if let [one, other, ..] = named.as_slice()
            && let (Some(one), Some(other)) = (model.object(*one), model.object(*other))
            && full_name(one) != full_name(other)
        {
            let (one, other) = (full_name(one), full_name(other));
            let message = format!("`{name}` may be `{one}` or `{other}`");
            return Err((message, Some("write its namespace and kind too".to_owned())));
        }
        let Ok(count) = given.count.parse::<u32>() else {
            let message = format!("`{}` is not a number of pods", given.count);
            return Err((message, None));
        };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if let Some(Scaled { least, most, .. }) = self.scaled.get(&at)
            && !(*least..=*most).contains(&count)
        {
            let message = format!("`{name}` is scaled to {least} to {most} pods, never to {count}");
            return Err((message, None));
        }
        self.chosen.insert(at, count);
        Ok(())
    }

    /// What an autoscaler may ask for of an object.
    pub(crate) fn scaled(&self, at: usize) -> Option<&Scaled> {
        self.scaled.get(&at)
    }

    /// The number of pods that was chosen for an object.
    pub(crate) fn chosen(&self, at: usize) -> Option<usize> {
        self.chosen.get(&at).copied()
    }

    /// The objects that autoscalers scale and for which no number was chosen, in the order of the text.
    pub(crate) fn open(&self) -> Vec<(usize, Scaled)> {
        let open = self.scaled.iter();
        let open =
            open.filter(|(at, scaled)| scaled.least < scaled.most && !self.chosen.contains_key(at));
        let mut open: Vec<(usize, Scaled)> = open.map(|(at, scaled)| (*at, *scaled)).collect();
        open.sort_unstable_by_key(|(at, _)| *at);
        open
    }

    /// How many pods a workload has.
    pub(crate) fn count(&self, at: usize, object: &Object) -> usize {
        if let Some(&chosen) = self.chosen.get(&at) {
            return chosen;
        }
        let (written, _) = replicas(object);
        match self.scaled.get(&at) {
            Some(scaled) => written.min(scaled.most).max(scaled.least),
            None => written,
        }
    }

    /// The fewest pods that a workload has while nothing is wrong with it.
    pub(crate) fn fewest(&self, at: usize, object: &Object) -> usize {
        match (self.chosen.get(&at), self.scaled.get(&at)) {
            (None, Some(scaled)) => scaled.least,
            _ => self.count(at, object),
        }
    }

    /// Where it is written how many pods a workload has, when it is.
    pub(crate) fn place(&self, at: usize, object: &Object) -> Option<Span> {
        let (written, span) = replicas(object);
        match self.scaled.get(&at) {
            Some(scaled) => {
                let count = self.count(at, object);
                match span {
                    Some(span) if written == count => Some(span),
                    _ if count == scaled.least => Some(scaled.least_at),
                    _ => Some(scaled.most_at),
                }
            }
            None => span,
        }
    }
}

/// What an autoscaler scales, and how far.
fn autoscaler(model: &Model<'_>, by: usize, object: &Object) -> Option<(usize, Scaled)> {
    let spec = object.spec()?;
    let reference = spec.some("scaleTargetRef")?;
    let (kind, name) = (reference.str_of("kind")?, reference.str_of("name")?);
    let target = model.find(kind, object.namespace.as_deref(), name)?;
    let number = |key: &str| usize::try_from(spec.int_of(key)?).ok();
    let least = number("minReplicas").unwrap_or(1);
    let most = number("maxReplicas")?;
    let written = model.object(target)?.spec();
    let written = written.and_then(|spec| spec.int_of("replicas"));
    // An autoscaler leaves alone what was scaled to nothing, unless it may do that itself.
    if least > most || (written == Some(0) && least > 0) {
        return None;
    }
    let least_at = match spec.some("minReplicas") {
        Some(node) => node.used_at(),
        None => object.span(),
    };
    let scaled = Scaled {
        least,
        most,
        by,
        least_at,
        most_at: spec.span_of("maxReplicas"),
    };
    Some((target, scaled))
}

/// Whether an object has a number of pods that can be given.
fn is_replicated(object: &Object) -> bool {
    matches!(
        &*object.kind.text,
        "Deployment" | "StatefulSet" | "ReplicaSet" | "ReplicationController" | "DeploymentConfig"
    )
}

/// Whether a name is that of a workload whose pods are counted.
fn is_called(object: &Object, name: &str) -> bool {
    if !is_replicated(object) {
        return false;
    }
    let called = object.called();
    let namespaced = || {
        let namespace = object.namespace.as_deref().unwrap_or("");
        name.split_once('/') == Some((namespace, called))
    };
    name == called || namespaced() || name == full_name(object)
}

/// The name that tells a workload from all others, as locations have it.
pub(super) fn full_name(object: &Object) -> String {
    let (kind, name) = (&object.kind.text, object.called());
    match &object.namespace {
        Some(namespace) => format!("{namespace}/{kind}/{name}"),
        None => format!("{kind}/{name}"),
    }
}

/// How many pods of a workload are written, with the place.
pub(crate) fn replicas(object: &Object) -> (usize, Option<Span>) {
    let spec = object.spec();
    let key = match &*object.kind.text {
        "Pod" => return (1, None),
        "Job" => "parallelism",
        "CronJob" => {
            let job = object.node.at(&["spec", "jobTemplate", "spec"]);
            let count = job.and_then(|job| job.int_of("parallelism")).unwrap_or(1);
            return (usize::try_from(count).unwrap_or(0), None);
        }
        _ => "replicas",
    };
    let written = spec.and_then(|spec| spec.int_of(key));
    let span = written.and(spec.map(|spec| spec.span_of(key)));
    let mut count = usize::try_from(written.unwrap_or(1)).unwrap_or(0);
    if &*object.kind.text == "Job"
        && let Some(spec) = spec
    {
        if let Some(completions) = spec.int_of("completions") {
            count = count.min(usize::try_from(completions).unwrap_or(0));
        }
        if spec.bool_of("suspend") == Some(true) {
            count = 0;
        }
    }
    (count, span)
}

/// Reads files with numbers of pods: a map from workloads to numbers.
pub(super) fn read(
    paths: &[String],
    loader: &dyn Loader,
    sources: &mut Sources,
) -> (Vec<GivenReplicas>, Vec<Diagnostic>) {
    let (mut given, mut diagnostics) = (Vec::new(), Vec::new());
    for path in paths {
        let bytes = match loader.load(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let message = format!("cannot read `{path}`: {}", error.reason);
                diagnostics.push(Diagnostic::error("io", message));
                continue;
            }
        };
        let text = match locus_core::decode(&bytes) {
            Ok(text) => text,
            Err(refused) => {
                let file = sources.add(path.as_str(), refused.shown.as_str());
                diagnostics.push(refused.diagnostic(file));
                continue;
            }
        };
        let file = sources.add(path.as_str(), &*text);
        let parsed = yaml::parse(sources, file, &Limits::default());
        let whole = parsed.is_complete();
        diagnostics.extend(parsed.diagnostics);
        diagnostics.extend(parsed.duplicates.iter().map(yaml::DuplicateKey::diagnostic));
        let roots = parsed.documents.iter().map(|document| &document.root);
        let before = given.len();
        for root in roots.clone() {
            table(root, &mut given, &mut diagnostics);
        }
        if whole && given.len() == before && roots.count() == 0 {
            diagnostics.push(yaml::empty_file(file));
        }
    }
    (given, diagnostics)
}

fn table(root: &Node, given: &mut Vec<GivenReplicas>, diagnostics: &mut Vec<Diagnostic>) {
    let mut wrong = |span: Span| {
        let message = "this is not a number of pods of a workload";
        let diagnostic = Diagnostic::error("k8s-replicas", message).at(span);
        diagnostics.push(diagnostic.help("write `shop/Deployment/api: 3`"));
    };
    if root.as_mapping().is_none() {
        wrong(root.span);
    }
    for entry in root.entries() {
        match (entry.name(), entry.value.text()) {
            (Some(name), Some(count)) if entry.value.int().is_some_and(|count| count >= 0) => {
                given.push(GivenReplicas {
                    workload: name.clone(),
                    count: count.clone(),
                    span: Some(entry.value.used_at()),
                });
            }
            _ => wrong(entry.value.span),
        }
    }
}
