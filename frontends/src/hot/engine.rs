//! The state of loading: files, templates, the graph and the facts as they grow.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::facts::{AtomId, Facts};
use locus_core::graph::{Location, Origin, Process, RoleKind};
use locus_core::suggest::nearest;
use locus_core::value::{Domain, Field, Item, Symbol, SymbolId, SymbolKind, Value, ValueType};
use locus_core::vocabulary::{FieldId, SigId};
use locus_core::{Diagnostic, FileId, LocationGraph, LocationId, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::constraint::Judge;
use super::data::{ResourceType, catalogue, language};
use super::environment::Environment;
use super::parameter::{self, Parameter};
use super::template::{self, Dialect, Template};
use super::vocabulary::{DECLARATIONS, field, sig};
use super::{Loaded, Loader, Request};
use crate::yaml::Limits;

/// A template with its names looked up.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) template: Template,
    pub(super) parameters: Vec<Parameter>,
    pub(super) by_parameter: FxHashMap<Arc<str>, usize>,
    pub(super) by_resource: FxHashMap<Arc<str>, usize>,
    pub(super) by_condition: FxHashMap<Arc<str>, usize>,
    pub(super) by_output: FxHashMap<Arc<str>, usize>,
}

/// What came of reading a template.
#[derive(Debug)]
struct Read {
    /// The template; none when it is not one at all.
    prepared: Option<Arc<Prepared>>,
    diagnostics: Vec<Diagnostic>,
}

impl Read {
    fn new(sources: &Sources, file: FileId, limits: &Limits) -> Self {
        let mut diagnostics = Vec::new();
        let read = template::read(sources, file, limits, &mut diagnostics);
        let prepared = read.map(|mut template| {
            let section = std::mem::take(&mut template.parameters);
            let mut keys = std::mem::take(&mut template.keys);
            let parameters = parameter::read(
                &section,
                template.dialect,
                template.info,
                &mut keys,
                &mut diagnostics,
            );
            template.keys = keys;
            // Of a repeated name the last counts, as in Heat.
            let index = |names: Vec<&Arc<str>>| -> FxHashMap<Arc<str>, usize> {
                let numbered = names.into_iter().enumerate();
                numbered
                    .map(|(index, name)| (name.clone(), index))
                    .collect()
            };
            Arc::new(Prepared {
                by_parameter: index(parameters.iter().map(|p| &p.name).collect()),
                by_resource: index(template.resources.iter().map(|r| &r.name).collect()),
                by_condition: index(template.conditions.iter().map(|c| &c.name).collect()),
                by_output: index(template.outputs.iter().map(|o| &o.name).collect()),
                parameters,
                template,
            })
        });
        Read {
            prepared,
            diagnostics,
        }
    }
}

/// The atoms that stand for the parts of a template.
#[derive(Clone, Debug, Default)]
pub(super) struct TemplateAtoms {
    pub(super) template: Option<AtomId>,
    pub(super) parameters: Vec<AtomId>,
    pub(super) conditions: Vec<AtomId>,
    pub(super) outputs: Vec<AtomId>,
}

/// What a resource's type turned out to be.
#[derive(Clone, Debug)]
pub(super) enum Resolved {
    /// A type with a schema.
    Type(Arc<ResourceType>),
    /// A template to expand.
    Template(FileId),
    /// A type about which nothing is known: accepted, or already reported.
    Opaque,
    /// No such type.
    Unknown,
}

/// A truth value that may not be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Known(bool),
    Symbol(SymbolId),
}

/// One use of a template: the one that is deployed, or one that a resource includes.
#[derive(Debug)]
pub(super) struct Stack {
    pub(super) prepared: Arc<Prepared>,
    pub(super) atoms: Rc<TemplateAtoms>,
    /// What the names of its locations start with.
    pub(super) prefix: String,
    pub(super) origin: Option<Arc<Origin>>,
    pub(super) parent: Option<LocationId>,
    /// Per resource of the template.
    pub(super) locations: Vec<LocationId>,
    pub(super) resources: Vec<AtomId>,
    pub(super) present: Vec<Truth>,
    pub(super) types: Vec<Resolved>,
    /// Per parameter.
    pub(super) values: Vec<Item>,
    /// Per condition; `None` until it is asked for.
    pub(super) conditions: Vec<Option<Truth>>,
    /// The files from the deployed template to this one.
    pub(super) path: Vec<FileId>,
}

pub(super) struct Engine<'a> {
    pub(super) sources: &'a mut Sources,
    pub(super) loader: &'a dyn Loader,
    pub(super) request: &'a Request,
    pub(super) environment: Environment,
    pub(super) graph: LocationGraph,
    pub(super) facts: Facts,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) unchecked: Vec<Diagnostic>,
    pub(super) judge: Judge,
    files: FxHashMap<String, Result<FileId, String>>,
    templates: FxHashMap<FileId, Option<Known>>,
    pub(super) order: Vec<FileId>,
    /// Existing things by constraint and name, or by constraint and symbol.
    external: FxHashMap<(Arc<str>, ExternalKey), LocationId>,
    pub(super) resolved: FxHashMap<(Arc<str>, FileId), Resolved>,
    /// One symbol per attribute of a location.
    pub(super) attributes: FxHashMap<(LocationId, String), SymbolId>,
    /// The outputs of nested templates that have been built, by the resource that includes them.
    pub(super) outputs: FxHashMap<(LocationId, Arc<str>), Item>,
    /// References by place, so that what is found out later can be added.
    pub(super) references: FxHashMap<Span, AtomId>,
    /// The function that a key of a file may have been meant to be.
    pub(super) suspects: FxHashMap<(Arc<str>, FileId), Option<&'static str>>,
    /// Places about which something was already said.
    pub(super) said: FxHashSet<(Span, &'static str)>,
    pub(super) places: FxHashMap<&'static str, AtomId>,
    pub(super) words: FxHashMap<(SigId, Arc<str>, Span), AtomId>,
    pub(super) pseudo: FxHashMap<Arc<str>, SymbolId>,
    /// The properties of each location's resource atom, for groups that copy them.
    pub(super) by_location: FxHashMap<LocationId, AtomId>,
    /// The user's own types that rules mention and resources have.
    pub(super) own_types: Vec<(Arc<str>, Resolved)>,
    /// Templates whose references have been stated.
    pub(super) scanned: FxHashSet<FileId>,
    /// Calls within calls being evaluated.
    pub(super) depth: usize,
}

/// A template that has been read, and its atoms once it has been used.
type Known = (Arc<Prepared>, Option<Rc<TemplateAtoms>>);

/// What an existing thing is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ExternalKey {
    Name(Arc<str>),
    Symbol(SymbolId),
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        sources: &'a mut Sources,
        loader: &'a dyn Loader,
        request: &'a Request,
    ) -> Self {
        Engine {
            sources,
            loader,
            request,
            environment: Environment::default(),
            graph: LocationGraph::new(),
            facts: Facts::new(&DECLARATIONS),
            diagnostics: Vec::new(),
            unchecked: Vec::new(),
            judge: Judge::new(request.now),
            files: FxHashMap::default(),
            templates: FxHashMap::default(),
            order: Vec::new(),
            external: FxHashMap::default(),
            resolved: FxHashMap::default(),
            attributes: FxHashMap::default(),
            outputs: FxHashMap::default(),
            references: FxHashMap::default(),
            suspects: FxHashMap::default(),
            said: FxHashSet::default(),
            places: FxHashMap::default(),
            words: FxHashMap::default(),
            pseudo: FxHashMap::default(),
            by_location: FxHashMap::default(),
            own_types: Vec::new(),
            scanned: FxHashSet::default(),
            depth: 0,
        }
    }

    pub(super) fn run(mut self) -> Loaded {
        for &file in &self.request.environments {
            self.environment.read(
                self.sources,
                file,
                &self.request.limits,
                &mut self.diagnostics,
            );
            self.order.push(file);
        }
        // The command line comes last and overrides.
        for given in &self.request.parameters {
            let parameters = &mut self.environment.parameters;
            parameters.retain(|old| old.name != given.name);
            parameters.push(given.clone());
        }
        if let Some(file) = self.request.template
            && let Some(prepared) = self.prepare(file)
        {
            self.environment_facts(&prepared);
            let inputs = std::mem::take(&mut self.environment.parameters);
            let given: Vec<Field> = inputs
                .into_iter()
                .map(|given| Field {
                    name: given.name,
                    key: given.span,
                    item: given.item,
                })
                .collect();
            self.stack(&prepared, String::new(), None, None, given, vec![file]);
        }
        let declared = self.declared_types();
        // Environments are read first, but the template is what the configuration is named by.
        let template = self.request.template;
        self.order.sort_by_key(|&file| Some(file) != template);
        Loaded {
            graph: self.graph,
            facts: self.facts,
            declared,
            diagnostics: self.diagnostics,
            unchecked: self.unchecked,
            files: self.order,
        }
    }

    /// A template that has been read.
    pub(super) fn prepared(&self, file: FileId) -> Option<&Prepared> {
        let known = self.templates.get(&file)?.as_ref();
        known.map(|(prepared, _)| &**prepared)
    }

    /// Reads a template once, however often it is used.
    pub(super) fn prepare(&mut self, file: FileId) -> Option<Arc<Prepared>> {
        if let Some(known) = self.templates.get(&file) {
            return known.as_ref().map(|(prepared, _)| prepared.clone());
        }
        self.order.push(file);
        let limits = &self.request.limits;
        let read = self
            .sources
            .once(file, || Read::new(self.sources, file, limits));
        self.diagnostics.extend(read.diagnostics.iter().cloned());
        let prepared = read.prepared.clone();
        let entry = prepared.clone().map(|prepared| (prepared, None));
        self.templates.insert(file, entry);
        prepared
    }

    /// The atoms of a template, made when it is first used.
    pub(super) fn template_atoms(&mut self, prepared: &Arc<Prepared>) -> Rc<TemplateAtoms> {
        let file = prepared.template.file;
        if let Some(Some((_, Some(atoms)))) = self.templates.get(&file) {
            return atoms.clone();
        }
        let atoms = Rc::new(self.static_facts(prepared));
        if let Some(Some((_, slot))) = self.templates.get_mut(&file) {
            *slot = Some(atoms.clone());
        }
        atoms
    }

    /// A file named in another file; its name is relative to that one.
    pub(super) fn file(&mut self, name: &str, relative_to: FileId) -> Result<FileId, String> {
        let path = resolve_path(name, self.sources.name(relative_to));
        if let Some(known) = self.files.get(&path) {
            return known.clone();
        }
        let known = self
            .sources
            .files()
            .find(|&file| self.sources.name(file) == path);
        let result = match known {
            Some(file) => Ok(file),
            None if path.contains("://") => {
                Err("it is behind a URL, and Locus fetches nothing".into())
            }
            None => match self.loader.load(&path) {
                Ok(bytes) => {
                    let (file, refused) = self.sources.add_bytes(path.clone(), &bytes);
                    if refused.is_some() {
                        self.diagnostics.extend(refused);
                        self.templates.insert(file, None);
                    }
                    Ok(file)
                }
                Err(why) => Err(self.rendered_from(&path).unwrap_or(why)),
            },
        };
        self.files.insert(path, result.clone());
        result
    }

    /// What to do about a file that a Jinja template beside it is rendered to.
    fn rendered_from(&self, path: &str) -> Option<String> {
        let (stem, extension) = path.rsplit_once('.')?;
        let template = format!("{stem}.j2.{extension}");
        self.loader.load(&template).ok()?;
        let name = template.rsplit('/').next().unwrap_or(&template);
        Some(format!("render the Jinja template `{name}` first"))
    }

    /// What the type of a resource stands for: registry, aliases, user types, then the catalogue.
    pub(super) fn resolve_type(
        &mut self,
        name: &Arc<str>,
        span: Span,
        resource: &str,
        file: FileId,
    ) -> Resolved {
        if let Some((mapped, to)) = self.environment.lookup(name, resource) {
            let (file, span) = (mapped.file, mapped.to.span);
            if to != *name {
                return self.resolve_name(&to, span, file, 0);
            }
        }
        let key = (name.clone(), file);
        if let Some(known) = self.resolved.get(&key) {
            return known.clone();
        }
        let resolved = self.resolve_name(name, span, file, 0);
        self.resolved.insert(key, resolved.clone());
        resolved
    }

    fn resolve_name(&mut self, name: &Arc<str>, span: Span, file: FileId, hops: usize) -> Resolved {
        if let Some(ty) = self.request.types.get(name) {
            return Resolved::Type(ty.clone());
        }
        if let Some(ty) = catalogue().get(name) {
            return Resolved::Type(ty);
        }
        if is_template_name(name) {
            return match self.file(name, file) {
                Ok(file) => Resolved::Template(file),
                Err(why) => {
                    self.missing_file(name, span, &why);
                    Resolved::Opaque
                }
            };
        }
        if hops < 8 {
            if let Some((mapped, to)) = self.environment.lookup(name, "") {
                let (file, span) = (mapped.file, mapped.to.span);
                if to != *name {
                    return self.resolve_name(&to, span, file, hops + 1);
                }
            }
            if let Some(alias) = catalogue().alias(name) {
                return self.resolve_name(&alias.into(), span, file, hops + 1);
            }
        }
        if language().template_type(name) {
            return Resolved::Opaque;
        }
        Resolved::Unknown
    }

    /// States that a file cannot be read; when it is behind a URL, it is only not checked.
    pub(super) fn missing_file(&mut self, name: &str, span: Span, why: &str) {
        if !self.said.insert((span, "file")) {
            return;
        }
        if why.contains("URL") {
            let message = format!("`{name}` was not checked: {why}");
            self.unchecked
                .push(Diagnostic::warning("unchecked", message).at(span));
            return;
        }
        let file = self.facts.atom(sig!("MissingFile"), name, span);
        let reason = self.word(sig!("Reason"), why, span);
        self.facts
            .tuple(field!("MissingFile", "reason"), &[file, reason]);
    }

    /// The existing thing that a constraint and a name, or a symbol, stand for.
    pub(super) fn external(
        &mut self,
        constraint: &Arc<str>,
        key: ExternalKey,
        item: &Item,
    ) -> LocationId {
        let full = (constraint.clone(), key);
        if let Some(&known) = self.external.get(&full) {
            return known;
        }
        let name = match &full.1 {
            ExternalKey::Name(name) => format!("{constraint}:{name}"),
            ExternalKey::Symbol(symbol) => {
                format!("{constraint}:?{}", self.graph.symbol(*symbol).name)
            }
        };
        let custom = language().custom_constraints.get(&**constraint);
        let sort = custom
            .and_then(|custom| custom.resource_types.first().cloned())
            .unwrap_or_else(|| constraint.clone());
        let mut location = Location::new(name, sort, item.from.unwrap_or(item.span));
        location.external = true;
        location.process = Process::existing();
        location.properties.push(Field {
            name: "name".into(),
            key: item.span,
            item: item.clone(),
        });
        let id = self.graph.add_location(location);
        self.external.insert(full, id);
        id
    }

    /// A value that is computed from others and not known.
    pub(super) fn computed(
        &mut self,
        name: &str,
        ty: ValueType,
        span: Span,
        parts: &[&Item],
    ) -> Item {
        let mut depends = Vec::new();
        for part in parts {
            part.value.visit(&mut |leaf| {
                if let Value::Symbolic(id) = leaf
                    && !depends.contains(id)
                {
                    depends.push(*id);
                }
            });
        }
        let symbol = self.graph.add_symbol(Symbol {
            name: name.into(),
            kind: SymbolKind::Computed,
            domain: Domain::of(ty),
            span,
            default: None,
            depends,
        });
        Item::new(Value::Symbolic(symbol), span)
    }

    /// Binds a location to what it needs.
    pub(super) fn bind(
        &mut self,
        provider: LocationId,
        requirer: LocationId,
        kind: RoleKind,
        label: &str,
        span: Span,
    ) {
        self.graph.bind(provider, requirer, kind, label, span);
    }

    /// The atom of a place where keys are written.
    pub(super) fn place(&mut self, place: &'static str, span: Span) -> AtomId {
        if let Some(&known) = self.places.get(place) {
            return known;
        }
        let atom = self.facts.atom(sig!("Place"), place, span);
        self.places.insert(place, atom);
        atom
    }

    /// An atom that only carries words, one per text and place.
    pub(super) fn word(&mut self, sig: SigId, text: &str, span: Span) -> AtomId {
        let key = (sig, Arc::from(text), span);
        if let Some(&known) = self.words.get(&key) {
            return known;
        }
        let atom = self.facts.atom(sig, key.1.clone(), span);
        self.words.insert(key, atom);
        atom
    }

    /// States the known name that is nearest to one that is not known.
    pub(super) fn suggest<'n>(
        &mut self,
        field: FieldId<2>,
        atom: AtomId,
        written: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        // In order, so that of two equally near names the same one is always given.
        let mut known: Vec<&str> = known.into_iter().collect();
        known.sort_unstable();
        if let Some(meant) = nearest(written, known) {
            let span = self.facts.get(atom).span;
            let meant = self.word(sig!("Suggestion"), meant, span);
            self.facts.tuple(field, &[atom, meant]);
        }
    }

    /// The symbol of a pseudo parameter.
    pub(super) fn pseudo_parameter(&mut self, name: &Arc<str>, span: Span) -> SymbolId {
        if let Some(&known) = self.pseudo.get(name) {
            return known;
        }
        let symbol = self.graph.add_symbol(Symbol {
            name: name.clone(),
            kind: SymbolKind::Parameter,
            domain: Domain::of(ValueType::String),
            span,
            default: None,
            depends: Vec::new(),
        });
        self.pseudo.insert(name.clone(), symbol);
        symbol
    }
}

/// Whether a type names a template and not a type.
pub(super) fn is_template_name(name: &str) -> bool {
    let end = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    end.ends_with(".yaml") || end.ends_with(".template") || end.ends_with(".yml")
}

/// A path relative to the file that names it, without `.` and `..` where they can be undone.
pub(super) fn resolve_path(name: &str, relative_to: &str) -> String {
    let name = name.strip_prefix("file://").unwrap_or(name);
    if name.starts_with('/') || name.contains("://") {
        return name.to_owned();
    }
    let directory = relative_to.rsplit_once('/').map_or("", |(dir, _)| dir);
    let absolute = relative_to.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute {
        format!("/{joined}")
    } else {
        joined
    }
}

impl Prepared {
    pub(super) fn is_cfn(&self) -> bool {
        self.template.dialect == Dialect::Cfn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_file_that_names_them() {
        let cases = [
            ("b.yaml", "a.yaml", "b.yaml"),
            ("b.yaml", "dir/a.yaml", "dir/b.yaml"),
            ("../b.yaml", "dir/sub/a.yaml", "dir/b.yaml"),
            ("../b.yaml", "a.yaml", "../b.yaml"),
            ("./x/../b.yaml", "/etc/a.yaml", "/etc/b.yaml"),
            ("file:///x/b.yaml", "a.yaml", "/x/b.yaml"),
            ("http://h/b.yaml", "a.yaml", "http://h/b.yaml"),
        ];
        for (name, from, expected) in cases {
            assert_eq!(resolve_path(name, from), expected);
        }
    }
}
