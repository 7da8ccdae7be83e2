//! Kubernetes manifests: the objects of a project to the location graph, facts and diagnostics.
//!
//! A project is a folder of objects in many files, or the files that are named, or standard input. Files are read into
//! [`Object`]s ([`reader`]); each is held against the fields of its kind ([`schema`], [`custom`] for kinds that a
//! CustomResourceDefinition declares) and against what the server refuses beyond them ([`checks`]). What objects are to each
//! other, which pods a selector matches and what a name refers to, is found once ([`model`]) and becomes locations, roles and
//! the facts of [`vocabulary`]; whether it is wrong is for rules to say.
//!
//! An analysis that needs more than facts (who can talk to whom, who may do what, where pods fit) starts from [`load`] and
//! [`model::Model`]: pods with their labels and namespaces, selectors that are indexed, objects by kind and name, all with the
//! places where they are written.

pub mod access;
mod build;
mod cel;
mod checks;
mod codes;
mod crd;
mod custom;
mod editing;
mod existing;
mod language;
mod metadata;
pub mod model;
pub mod network;
pub mod object;
pub mod placement;
pub mod policy;
pub mod rbac;
mod reader;
mod regular;
pub mod release;
mod render;
pub mod scale;
pub mod schema;
mod settings;
pub mod text;
pub mod vocabulary;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use locus_core::{Diagnostic, Sources};
use rayon::prelude::*;

use crate::loader::Loader;
use access::Access as _;
use crd::{Custom, Customs};
use object::Scope;
use release::Lookup;
use schema::Walker;

pub use language::Kubernetes;
pub use object::Object;

/// What is checked, and for which cluster.
#[derive(Clone, Debug)]
pub struct Options {
    /// The files.
    pub files: Vec<String>,
    /// Files with definitions of custom resources.
    pub crds: Vec<String>,
    /// Files with objects that are in the cluster already, which are not checked.
    pub existing: Vec<String>,
    /// The release that is deployed to: 37 for 1.37.
    pub release: u8,
    /// The namespace of objects that name none.
    pub namespace: Arc<str>,
    /// The Pod Security Standard that all pods must meet.
    pub pod_security: Option<String>,
    /// The nodes of the cluster, as far as they are known.
    pub nodes: Vec<placement::nodes::NodeShape>,
    /// What may be lost: `node` or `zone`.
    pub survive: Option<String>,
    /// What the project asks of its objects.
    pub policy: policy::Policy,
    /// Numbers of pods that are given.
    pub replicas: Vec<scale::GivenReplicas>,
    /// Whether the numbers of pods that autoscalers decide stay open.
    pub all_inputs: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            files: Vec::new(),
            crds: Vec::new(),
            existing: Vec::new(),
            release: release::NEWEST,
            namespace: "default".into(),
            pod_security: None,
            nodes: Vec::new(),
            survive: None,
            policy: policy::Policy::default(),
            replicas: Vec::new(),
            all_inputs: false,
        }
    }
}

/// The objects of a project.
#[derive(Debug, Default)]
pub struct Manifests {
    /// The objects, in the order of files and text.
    pub objects: Vec<Object>,
    /// What is wrong with them.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Diagnostic>,
    /// The paths of the files that were read.
    pub files: Vec<String>,
    /// Whether every file was understood as a whole; when not, what seems to be missing may be in a part that was not.
    pub complete: bool,
}

/// Reads the objects of a project, and checks each by itself.
pub fn load(options: &Options, loader: &dyn Loader, sources: &mut Sources) -> Manifests {
    let read = reader::read(&options.files, loader, sources);
    let existing = reader::read(&options.existing, loader, sources);
    let (mut customs, diagnostics, more) = crd::files(&options.crds, loader, sources);
    customs.add(read.objects.iter().chain(&existing.objects));
    let mut manifests = Manifests {
        objects: read.objects,
        diagnostics: read.diagnostics,
        unchecked: Vec::new(),
        files: read.files,
        complete: read.complete && existing.complete,
    };
    // What cannot be read of what is there already may be what is referred to.
    manifests.diagnostics.extend(existing.diagnostics);
    manifests.files.extend(existing.files);
    manifests.diagnostics.extend(diagnostics);
    manifests.files.extend(more);
    let mut checker = Checker::new(options, &customs);
    // Each object is checked by itself, many of them side by side.
    if manifests.objects.len() <= PART {
        manifests
            .objects
            .iter_mut()
            .for_each(|object| checker.object(object));
    } else {
        let parts = manifests.objects.par_chunks_mut(PART).map(|part| {
            let mut checker = Checker::new(options, &customs);
            part.iter_mut().for_each(|object| checker.object(object));
            checker
        });
        let parts: Vec<Checker<'_>> = parts.collect();
        parts.into_iter().for_each(|part| checker.add(part));
    }
    let own: HashSet<String> = match existing.objects.as_slice() {
        [] => HashSet::new(),
        _ => manifests.objects.iter().map(Object::identity).collect(),
    };
    let there = existing.objects.into_iter().filter_map(|mut object| {
        checker.place(&mut object);
        (!own.contains(&object.identity())).then_some(object)
    });
    manifests.objects.extend(there);
    manifests.diagnostics.append(&mut checker.diagnostics);
    manifests.unchecked.extend(checker.unchecked());
    manifests.diagnostics.sort_by_key(Diagnostic::primary);
    manifests
}

/// How many objects are checked one after the other.
const PART: usize = 256;

/// The kinds of objects that could not be checked, with the first of them and how many there are.
type Kinds = BTreeMap<(Arc<str>, Arc<str>), (locus_core::Span, usize)>;

struct Checker<'c> {
    options: &'c Options,
    customs: &'c Customs,
    diagnostics: Vec<Diagnostic>,
    /// Kinds that nothing is known of.
    unknown: Kinds,
    /// Kinds with rules in CEL.
    unevaluated: Kinds,
}

impl<'c> Checker<'c> {
    fn new(options: &'c Options, customs: &'c Customs) -> Self {
        Checker {
            options,
            customs,
            diagnostics: Vec::new(),
            unknown: BTreeMap::new(),
            unevaluated: BTreeMap::new(),
        }
    }

    /// Adds what was found in objects that come after.
    fn add(&mut self, later: Checker<'_>) {
        self.diagnostics.extend(later.diagnostics);
        let kinds = [
            (&mut self.unknown, later.unknown),
            (&mut self.unevaluated, later.unevaluated),
        ];
        for (kinds, later) in kinds {
            for (kind, (span, more)) in later {
                let (_, count) = kinds.entry(kind).or_insert((span, 0));
                *count += more;
            }
        }
    }
}

impl Checker<'_> {
    fn object(&mut self, object: &mut Object) {
        self.place(object);
        match self.customs.of(object) {
            Some(custom) => self.custom(object, custom),
            None => self.builtin(object),
        }
        // Checking it may have told more of its scope.
        self.name_namespace(object);
    }

    /// Finds out where an object is, without checking it.
    fn place(&self, object: &mut Object) {
        object.scope = match self.customs.of(object) {
            Some(custom) => custom.scope,
            None => release::scope(&object.kind.text),
        };
        self.name_namespace(object);
    }

    fn name_namespace(&self, object: &mut Object) {
        let written = object.node.at(&["metadata"]);
        let written = written.and_then(|metadata| metadata.text_of("namespace"));
        let written = written.filter(|namespace| !namespace.text.is_empty());
        object.namespace = match object.scope {
            Scope::Cluster => None,
            _ => Some(written.map_or_else(|| self.options.namespace.clone(), |given| given.text)),
        };
    }

    fn builtin(&mut self, object: &mut Object) {
        let (api_version, kind) = (&object.api_version, &object.kind);
        match release::lookup(&api_version.text, &kind.text, self.options.release) {
            Lookup::Served {
                definition,
                replacement,
            } => {
                Walker::new(self.options.release, &mut self.diagnostics).object(
                    definition,
                    &object.node,
                    kind.span,
                );
                metadata::check(object, self.options.release, &mut self.diagnostics);
                if let Some(replacement) = replacement {
                    let message =
                        format!("`{}` of `{}` is deprecated", kind.text, api_version.text);
                    let diagnostic = Diagnostic::warning("k8s-deprecated-api", message);
                    let help = match &*kind.text {
                        "Endpoints" => "use an `EndpointSlice` of `discovery.k8s.io/v1`".to_owned(),
                        _ => format!("use `apiVersion: {replacement}`"),
                    };
                    self.diagnostics
                        .push(diagnostic.at(api_version.span).help(help));
                }
            }
            Lookup::Gone { message, help } => {
                let diagnostic = Diagnostic::error("k8s-removed-api", message);
                self.diagnostics
                    .push(diagnostic.at(api_version.span).help(help));
            }
            Lookup::Unknown { message, help } => {
                let declared = self.customs.versions_of(&kind.text);
                let help = help.or_else(|| {
                    let version = declared.first()?;
                    Some(format!("`{}` is in `{version}`", kind.text))
                });
                let diagnostic = Diagnostic::error("k8s-kind", message).at(kind.span);
                self.diagnostics.push(diagnostic.maybe_help(help));
            }
            Lookup::Unchecked | Lookup::Foreign if network::admin::is_admin_policy(object) => {
                object.scope = Scope::Cluster;
                metadata::check(object, self.options.release, &mut self.diagnostics);
                // It is read again when someone asks who can talk to whom.
                let _ = network::admin::read(0, object, &mut self.diagnostics);
            }
            Lookup::Unchecked | Lookup::Foreign => {
                object.scope = Scope::Unknown;
                let kinds = self.customs.kinds_of(&api_version.text);
                if kinds.is_empty() {
                    let key = (api_version.text.clone(), kind.text.clone());
                    let (_, count) = self.unknown.entry(key).or_insert((kind.span, 0));
                    *count += 1;
                    metadata::check(object, self.options.release, &mut self.diagnostics);
                } else {
                    let (kind, version) = (&kind.text, &api_version.text);
                    let message = format!("there is no kind `{kind}` in `{version}`");
                    let help = locus_core::suggest::did_you_mean(kind, kinds);
                    let diagnostic = Diagnostic::error("k8s-kind", message).at(object.kind.span);
                    self.diagnostics.push(diagnostic.maybe_help(help));
                }
            }
        }
    }

    fn custom(&mut self, object: &Object, custom: &Custom) {
        metadata::check(object, self.options.release, &mut self.diagnostics);
        let (api_version, kind) = (&object.api_version, &object.kind);
        if !custom.served {
            let message = format!("`{}` of `{}` is not served", kind.text, api_version.text);
            let diagnostic = Diagnostic::error("k8s-removed-api", message).at(api_version.span);
            self.diagnostics
                .push(diagnostic.related(custom.span, "this version has `served: false`"));
        }
        if let Some(warning) = &custom.deprecated {
            let message = format!("`{}` of `{}` is deprecated", kind.text, api_version.text);
            let diagnostic = Diagnostic::warning("k8s-deprecated-api", message);
            self.diagnostics
                .push(diagnostic.at(api_version.span).help(warning.clone()));
        }
        let Some(schema) = &custom.schema else {
            return;
        };
        let mut walker = custom::Walker::new(&mut self.diagnostics);
        walker.value(schema, &object.node, kind.span, true);
        if walker.skipped_rules {
            let key = (api_version.text.clone(), kind.text.clone());
            let (_, count) = self.unevaluated.entry(key).or_insert((kind.span, 0));
            *count += 1;
        }
        if let Some(meta) = schema::metadata() {
            let mut walker = Walker::new(self.options.release, &mut self.diagnostics);
            if let Some(entry) = object.node.some_entry("metadata") {
                walker.steps.key("metadata");
                walker.object(meta, &entry.value, entry.key.span);
            }
        }
    }

    /// What could not be checked: a line for each kind.
    fn unchecked(self) -> Vec<Diagnostic> {
        let mut all = Vec::new();
        let objects = |count: usize| match count {
            1 => "1 object was".to_owned(),
            count => format!("{count} objects were"),
        };
        for ((version, kind), (span, count)) in self.unknown {
            let message = format!(
                "the kind `{kind}` of `{version}` is not known: {} not checked",
                objects(count)
            );
            let help = "name the file that defines it with `--crd FILE`, or add its CustomResourceDefinition to the files";
            all.push(Diagnostic::warning("kind", message).at(span).help(help));
        }
        for ((version, kind), (span, count)) in self.unevaluated {
            let message = format!(
                "the rules in CEL (`x-kubernetes-validations`) of `{kind}` of `{version}` could not all be evaluated: {} checked against the rest",
                objects(count)
            );
            all.push(Diagnostic::warning("kind", message).at(span));
        }
        all
    }
}
