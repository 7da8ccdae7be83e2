//! A service that is in an archive.

use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Sources, Span};
use rustc_hash::FxHashMap;

use super::csar::{Archive, Chosen, Inside, check_artifacts, choose};
use super::files::{File, Reader};
use super::version::Version;
use super::{Options, Service, understand};
use crate::loader::Loader;
use crate::yaml::Node;

/// How deep a package may lie in others: a signed one around another.
const DEPTH: usize = 1;

/// Loads the service that an archive holds.
pub(super) fn load(
    path: &str,
    bytes: Arc<[u8]>,
    given: &FxHashMap<String, (Node, Span)>,
    options: &Options,
    loader: &dyn Loader,
    sources: &mut Sources,
    service: &mut Service,
) {
    // What is inside is named by paths without `./`, and so is the archive.
    let (mut path, mut bytes) = (crate::loader::normalize(path), bytes);
    for depth in 0..=DEPTH {
        let package = sources.add(path.clone(), "");
        let archive = match Archive::open(bytes) {
            Ok(archive) => archive,
            Err(faults) => return refuse(&faults, package, service),
        };
        for warning in &archive.warnings {
            let mut diagnostic = warning.diagnostic().at(Span::start_of(package));
            diagnostic.severity = locus_core::Severity::Warning;
            service.diagnostics.push(diagnostic);
        }
        let root = format!("{path}!");
        let chosen = choose(
            &archive,
            &root,
            sources,
            &mut service.diagnostics,
            &mut service.unchecked,
        );
        match chosen {
            Chosen::Nothing => return,
            Chosen::Service {
                entry,
                others,
                found,
            } => {
                let package = Package {
                    archive: &archive,
                    root: &root,
                    entry,
                    others,
                    found,
                };
                return package.load(given, options, loader, sources, service);
            }
            Chosen::Wrapper(inner) => {
                let content = archive.load(&inner);
                let (Ok(Some(content)), true) = (content, depth < DEPTH) else {
                    let message = format!("`{inner}` lies too deep in other archives");
                    let diagnostic = Diagnostic::warning("too-large", message);
                    service
                        .unchecked
                        .push(diagnostic.at(Span::start_of(package)));
                    return;
                };
                let message = format!(
                    "this is a signed package around `{inner}`, whose signature is not verified"
                );
                let diagnostic = Diagnostic::warning("tosca-archive", message);
                service
                    .diagnostics
                    .push(diagnostic.at(Span::start_of(package)));
                path = format!("{root}/{inner}");
                bytes = content;
            }
        }
    }
}

fn refuse(faults: &[super::csar::Fault], package: FileId, service: &mut Service) {
    for fault in faults {
        let diagnostic = fault.diagnostic().at(Span::start_of(package));
        if fault.is_limit() {
            service.unchecked.push(diagnostic);
        } else {
            service.diagnostics.push(diagnostic);
        }
    }
}

struct Package<'p> {
    archive: &'p Archive,
    root: &'p str,
    entry: String,
    others: Vec<(String, Span)>,
    found: bool,
}

impl Package<'_> {
    fn load(
        self,
        given: &FxHashMap<String, (Node, Span)>,
        options: &Options,
        loader: &dyn Loader,
        sources: &mut Sources,
        service: &mut Service,
    ) {
        let inside = Inside {
            archive: self.archive,
            root: self.root,
            outside: loader,
        };
        let below = format!("{}/", self.root);
        let mut reader = Reader::new(sources, &inside);
        reader.folders.clone_from(&options.folders);
        reader.root = Some(self.root.to_owned());
        let entry = reader.entry(&format!("{below}{}", self.entry));
        let mut others = Vec::new();
        for (name, span) in &self.others {
            if let Some(index) = reader.entry(&format!("{below}{name}")) {
                others.push((index, name.as_str(), *span));
            }
        }
        let files = std::mem::take(&mut reader.files);
        service.diagnostics.append(&mut reader.diagnostics);
        service.unchecked.append(&mut reader.unchecked);
        let outside = reader.paths.iter().filter(|path| !path.starts_with(&below));
        service.files.extend(outside.cloned());
        if let Some(file) = entry.and_then(|index| files.get(index))
            && self.found
        {
            named(file, &mut service.diagnostics);
        }
        if let Some(index) = entry {
            understand(&files, index, "", given, options, service);
        }
        let none = FxHashMap::default();
        for (index, name, span) in others {
            let Some(file) = files.get(index) else {
                continue;
            };
            let topology = file.root.get("topology_template");
            let topology = topology.or_else(|| file.root.get("service_template"));
            let mappings = topology.and_then(|topology| topology.get("substitution_mappings"));
            if mappings.is_none() {
                let message = format!(
                    "`{name}` has no `substitution_mappings`, so nothing can use it and it is ignored"
                );
                let diagnostic = Diagnostic::warning("tosca-archive", message);
                service.diagnostics.push(diagnostic.at(span));
            } else if Some(index) != entry {
                let prefix = format!("{name}: ");
                understand(&files, index, &prefix, &none, options, service);
            }
        }
        for file in files.iter().filter(|file| !file.builtin) {
            if let Some(path) = sources.name(file.id).strip_prefix(&below) {
                check_artifacts(self.archive, path, file, &mut service.diagnostics);
            }
        }
    }
}

/// Without a `TOSCA.meta`, the service says itself what it is called.
fn named(file: &File, diagnostics: &mut Vec<Diagnostic>) {
    if !matches!(file.version, Version::V1_1 | Version::V1_2 | Version::V1_3) {
        return;
    }
    let metadata = file.root.get("metadata");
    for key in ["template_name", "template_version"] {
        if metadata.is_none_or(|metadata| metadata.get(key).is_none()) {
            let message = format!(
                "`metadata` has no `{key}`, which a service without a `TOSCA.meta` must have"
            );
            let span = metadata.map_or(Span::start_of(file.id), Node::used_at);
            diagnostics.push(Diagnostic::warning("tosca-archive", message).at(span));
        }
    }
}
