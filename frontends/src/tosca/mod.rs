//! TOSCA: service templates of the Simple Profile 1.0 to 1.3 and of TOSCA 2.0.
//!
//! A file and its imports are read ([`files`]), compared with the grammar of their version ([`grammar`]), their types are put
//! together ([`model`]) and checked ([`types`]), and the topology of the file that was named is checked against them
//! ([`topology`]). What it says becomes locations, roles and facts ([`build`]).

mod build;
mod builtin;
mod codes;
mod csar;
mod describe;
mod dialect;
mod editing;
pub mod files;
mod given;
pub mod grammar;
mod hints;
mod language;
mod lifecycle;
pub mod model;
pub mod names;
mod occi;
mod package;
#[cfg(test)]
mod tests;
pub mod text;
mod together;
pub mod topology;
mod types;
pub mod value;
pub mod version;
pub mod vocabulary;

use locus_core::facts::Facts;
use locus_core::vocabulary::Sig;
use locus_core::{Diagnostic, FileId, LocationGraph, Sources, Span};
use rustc_hash::FxHashMap;

use crate::language::{Described, Words};
use crate::loader::Loader;
use crate::yaml::Node;
use files::{File, Reader};
use grammar::walk::Walk;
use grammar::{TypeKind, tables};
use model::Model;
use names::Meaning;
use topology::Topology;

pub use builtin::to_store;
pub use language::Tosca;

pub(crate) use model::same as model_same;

/// What a service is loaded with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Folders in which types are looked for.
    pub folders: Vec<String>,
    /// The values of inputs, as text, each a source of its own.
    pub inputs: Vec<(String, FileId)>,
    /// Files with values of inputs, each a map from names to values.
    pub input_files: Vec<String>,
    /// Whether inputs without a given value stay open even when they have a default.
    pub all_inputs: bool,
    /// Whether every requirement must be met within the topology.
    pub closed: bool,
    /// Whether the nodes that can meet each open requirement are told.
    pub all_bindings: bool,
    /// Whether it is told what types say twice.
    pub hints: bool,
    /// Whether each file that was named is a service of its own.
    pub apart: bool,
    /// The words of the user's own rules.
    pub mentioned: Words,
    /// The name of types to describe instead of checking anything; without one, all are only listed.
    pub described: Option<Option<String>>,
}

/// A service, understood.
#[derive(Debug)]
pub struct Service {
    /// Locations and how they use each other.
    pub graph: LocationGraph,
    /// What rules quantify over.
    pub facts: Facts,
    /// The types that rules mention.
    pub declared: Vec<Sig>,
    /// What could not be read or is refused.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Diagnostic>,
    /// The paths of all files.
    pub files: Vec<String>,
    /// The types that were asked for.
    pub described: Described,
}

/// Loads a service from a file, or from the archive that the file is.
pub fn load(path: &str, options: &Options, loader: &dyn Loader, sources: &mut Sources) -> Service {
    load_all(&[path.to_owned()], options, loader, sources)
}

/// Loads a service as [`load`] does, or files of types, which are several.
pub fn load_all(
    paths: &[String],
    options: &Options,
    loader: &dyn Loader,
    sources: &mut Sources,
) -> Service {
    let path = paths.first().map_or("", String::as_str);
    let mut service = Service {
        graph: LocationGraph::new(),
        facts: Facts::new(&vocabulary::FACTS),
        declared: Vec::new(),
        diagnostics: Vec::new(),
        unchecked: Vec::new(),
        files: vec![path.to_owned()],
        described: Described::default(),
    };
    let given = given::all(options, loader, sources, &mut service);
    if let Ok(bytes) = loader.load(path)
        && csar::is_archive(&bytes)
    {
        package::load(path, bytes, &given, options, loader, sources, &mut service);
        return service;
    }
    let mut reader = Reader::new(sources, loader);
    reader.folders.clone_from(&options.folders);
    let entry = match paths {
        [_, _, ..] => reader.entries(paths),
        _ => reader.entry(path),
    };
    let files = std::mem::take(&mut reader.files);
    service.diagnostics.append(&mut reader.diagnostics);
    service.unchecked.append(&mut reader.unchecked);
    for path in &reader.paths {
        if !service.files.contains(path) {
            service.files.push(path.clone());
        }
    }
    if let Some(entry) = entry {
        understand(&files, entry, "", &given, options, &mut service);
    }
    service
}

/// Checks files that were read, and says what the one that was named describes; its locations get names with the prefix.
fn understand<'a>(
    files: &'a [File],
    entry: usize,
    prefix: &str,
    given: &'a FxHashMap<String, (Node, Span)>,
    options: &Options,
    service: &mut Service,
) {
    let Some(file) = files.get(entry) else { return };
    let nothing = Node::new(
        crate::yaml::Kind::Mapping(crate::yaml::Mapping::default()),
        Span::start_of(file.id),
    );
    let mut model = Model::new(files);
    model.names.apart = options.apart;
    if let Some(name) = &options.described {
        return describe::types(&model, name.as_deref(), &mut service.described);
    }
    if let Some(id) = model.too_deep {
        let ty = model.names.get(id);
        let message = format!(
            "`{}` derives from a thousand types, one from the next, and what lies above them is not looked at",
            ty.name
        );
        let diagnostic = Diagnostic::warning("too-large", message);
        service.unchecked.push(diagnostic.at(ty.span));
    }
    for index in 0..files.len() {
        grammar(&model, index, &mut service.diagnostics);
        types::dsl_definitions(&model, index);
    }
    types::check(&model);
    collisions(&model);
    if options.hints {
        service.diagnostics.extend(hints::redundant(&model, false));
    }
    let section = if file.version.is_simple() {
        "topology_template"
    } else {
        "service_template"
    };
    let written = file.root.get(section);
    // Without a topology there is still something to say of the types.
    let node = match written {
        Some(node) if node.as_mapping().is_some() => Some(node),
        Some(_) => None,
        None => Some(&nothing),
    };
    if let Some(node) = node {
        let mut topology = Topology::read(&model, entry, node, given, options.all_inputs);
        topology.check();
        topology.mark_used(node);
        let types = file
            .map()
            .entries
            .iter()
            .filter(|held| held.key.as_str() != Some(section));
        types.for_each(|held| topology.mark_used(&held.value));
        build::build(&topology, prefix, options, service);
        let mut told = Vec::new();
        if let Err(span) = lifecycle::check(&topology, &mut told) {
            let message = "there are too many ways to choose the final states of lifecycles";
            let diagnostic = Diagnostic::warning("unchecked", message);
            service.unchecked.push(diagnostic.at(span));
        }
        service.diagnostics.append(&mut told);
        service
            .diagnostics
            .append(&mut topology.diagnostics.borrow_mut());
    }
    service
        .diagnostics
        .append(&mut model.diagnostics.borrow_mut());
    // What two passes find in one place is said once.
    let mut seen = rustc_hash::FxHashSet::default();
    service.diagnostics.retain(|diagnostic| {
        let at = diagnostic
            .primary()
            .map(|span| (span.file, span.start, span.end));
        seen.insert((diagnostic.code.clone(), diagnostic.message.clone(), at))
    });
}

/// Compares a file with the grammar of its version.
fn grammar(model: &Model<'_>, index: usize, diagnostics: &mut Vec<Diagnostic>) {
    let file = model.file(index);
    if file.builtin {
        return;
    }
    let mut unknown = Vec::new();
    let mut types = |kind: TypeKind, node: &Node| {
        let name = node.as_str().unwrap_or_default();
        if kind == TypeKind::Data && model::Primitive::named(name, file.version).is_some() {
            return;
        }
        if name == model::ENTITY && file.version.is_simple() && model.derives_from(index, node) {
            return;
        }
        if model.names.lookup(index, kind, name) == Meaning::Nothing {
            unknown.push(model.names.unknown(index, kind, name, node.used_at()));
        }
    };
    let mut found = Vec::new();
    Walk {
        version: file.version,
        types: &mut types,
        diagnostics: &mut found,
    }
    .node(
        &file.root,
        &tables::FILE_SHAPE,
        "this file",
        Span::start_of(file.id),
    );
    found.retain(|diagnostic| {
        !diagnostic
            .message
            .ends_with("has no `tosca_definitions_version`")
    });
    diagnostics.extend(found);
    diagnostics.extend(unknown);
    if let (Some(profile), Some(_)) = (
        file.map().entry("profile"),
        file.root.get("service_template"),
    ) {
        let message = "a file that defines a profile has no service template";
        let diagnostic = Diagnostic::error("tosca-profile", message);
        diagnostics.push(diagnostic.at(profile.key.span));
    }
}

/// Types that are imported under the name of one of the file's own.
fn collisions(model: &Model<'_>) {
    for id in model.names.ids() {
        let ty = model.names.get(id);
        let file = model.file(ty.file);
        if file.version.is_simple() || file.builtin {
            continue;
        }
        for import in file.imports.iter().filter(|import| import.prefix.is_none()) {
            let Some(imported) = import.file else {
                continue;
            };
            let found = model.names.lookup(imported, ty.kind, ty.name).id();
            if let Some(other) = found.filter(|other| *other != id) {
                let message = format!(
                    "`{}` is also imported, and the name can mean one of them only",
                    ty.name
                );
                let diagnostic = Diagnostic::warning("tosca-collision", message)
                    .help("import the other with a `namespace`")
                    .related(model.names.get(other).span, "the other one");
                model.report(ty.file, diagnostic.at(ty.span));
            }
        }
    }
}
