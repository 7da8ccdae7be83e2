//! Definitions of custom resources: the schemas of kinds that do not come with Kubernetes.

use std::sync::Arc;

use locus_core::{Diagnostic, Sources, Span};
use rustc_hash::FxHashMap;

use super::access::Access as _;
use super::object::{Object, Scope};
use super::reader;
use crate::loader::Loader;
use crate::yaml::Node;

/// A kind that a definition of custom resources declares, in one version.
#[derive(Clone, Debug)]
pub(crate) struct Custom {
    /// Whether its objects are in namespaces.
    pub(crate) scope: Scope,
    /// The schema of its objects; none when the definition has none.
    pub(crate) schema: Option<Arc<Node>>,
    /// Whether the version is served.
    pub(crate) served: bool,
    /// Whether it is deprecated, and what is said about that.
    pub(crate) deprecated: Option<String>,
    /// Where the version is defined.
    pub(crate) span: Span,
}

/// The kinds that definitions declare, by `apiVersion` and `kind`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Customs {
    kinds: FxHashMap<(Arc<str>, Arc<str>), Custom>,
}

impl Customs {
    /// Reads the definitions among some objects.
    pub(crate) fn add<'o>(&mut self, objects: impl Iterator<Item = &'o Object>) {
        for object in
            objects.filter(|object| object.is("apiextensions.k8s.io", "CustomResourceDefinition"))
        {
            self.definition(object);
        }
    }

    fn definition(&mut self, object: &Object) -> Option<()> {
        let spec = object.spec()?;
        let group = spec.str_of("group")?;
        let kind: Arc<str> = spec.at(&["names", "kind"])?.text()?.clone();
        let scope = match spec.str_of("scope") {
            Some("Cluster") => Scope::Cluster,
            _ => Scope::Namespaced,
        };
        // Before `v1`, all versions could share one schema.
        let shared = spec.at(&["validation", "openAPIV3Schema"]);
        let one = spec
            .str_of("version")
            .filter(|_| spec.items("versions").is_empty());
        if let Some(version) = one {
            let custom = Custom {
                scope,
                schema: shared.cloned().map(Arc::new),
                served: true,
                deprecated: None,
                span: spec.span_of("version"),
            };
            let api_version = format!("{group}/{version}").into();
            self.kinds.insert((api_version, kind.clone()), custom);
        }
        for version in spec.items("versions") {
            let Some(name) = version.str_of("name") else {
                continue;
            };
            let schema = version.at(&["schema", "openAPIV3Schema"]).or(shared);
            let deprecated = version.bool_of("deprecated").unwrap_or(false).then(|| {
                let warning = version.str_of("deprecationWarning");
                warning.unwrap_or("use a newer version").to_owned()
            });
            let custom = Custom {
                scope,
                schema: schema.cloned().map(Arc::new),
                served: version.bool_of("served").unwrap_or(true),
                deprecated,
                span: version.span_of("name"),
            };
            let api_version = format!("{group}/{name}").into();
            self.kinds.insert((api_version, kind.clone()), custom);
        }
        Some(())
    }

    /// The kind of an object.
    pub(crate) fn of(&self, object: &Object) -> Option<&Custom> {
        let key = (object.api_version.text.clone(), object.kind.text.clone());
        self.kinds.get(&key)
    }

    /// The versions in which a kind is declared, of whatever group.
    pub(crate) fn versions_of(&self, kind: &str) -> Vec<&str> {
        let known = self.kinds.keys().filter(|(_, known)| **known == *kind);
        let mut versions: Vec<&str> = known.map(|(version, _)| &**version).collect();
        versions.sort_unstable();
        versions
    }

    /// The kinds of a version of the interface.
    pub(crate) fn kinds_of(&self, api_version: &str) -> Vec<&str> {
        let known = self
            .kinds
            .keys()
            .filter(|(version, _)| **version == *api_version);
        let mut kinds: Vec<&str> = known.map(|(_, kind)| &**kind).collect();
        kinds.sort_unstable();
        kinds
    }
}

/// Reads the definitions of files that are named beside the project.
pub(crate) fn files(
    paths: &[String],
    loader: &dyn Loader,
    sources: &mut Sources,
) -> (Customs, Vec<Diagnostic>, Vec<String>) {
    let read = reader::read(paths, loader, sources);
    let mut diagnostics = read.diagnostics;
    for object in &read.objects {
        if !object.is("apiextensions.k8s.io", "CustomResourceDefinition") {
            let message = format!("a {} is not a CustomResourceDefinition", object.kind.text);
            let diagnostic = Diagnostic::warning("k8s-crd", message).at(object.kind.span);
            diagnostics
                .push(diagnostic.help("`--crd` takes files with definitions of custom resources"));
        }
    }
    let mut customs = Customs::default();
    customs.add(read.objects.iter());
    (customs, diagnostics, read.files)
}
