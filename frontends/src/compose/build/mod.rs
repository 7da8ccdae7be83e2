//! The merged files to locations, roles and facts.

mod components;
mod deploy;
mod environment;
mod mounts;
mod naming;
mod publish;
mod service;
mod uses;
mod values;

use std::collections::BTreeSet;
use std::sync::Arc;

use locus_core::facts::{AtomId, Facts};
use locus_core::graph::{Origin, Presence, Process};
use locus_core::value::{Domain, Logic, Symbol, SymbolId, SymbolKind, ValueType};
use locus_core::vocabulary::{FieldId, SigId};
use locus_core::{
    Diagnostic, Int, Item, Location, LocationGraph, LocationId, Sources, Span, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::language::PROFILE;
use super::project::Project;
use super::tree::Tree;
use super::vocabulary::{DECLARATIONS, field, sig};
use super::{Composition, Options};
use crate::loader::Loader;

/// Builds the graph and the facts of a project.
pub(crate) fn build(
    mut project: Project,
    options: &Options,
    loader: &dyn Loader,
    sources: &mut Sources,
) -> Composition {
    let diagnostics = std::mem::take(&mut project.diagnostics);
    let mut builder = Builder {
        project: &project,
        options,
        loader,
        sources,
        graph: LocationGraph::new(),
        facts: Facts::new(&DECLARATIONS),
        reported: diagnostics.iter().filter_map(Diagnostic::primary).collect(),
        diagnostics,
        texts: FxHashMap::default(),
        numbers: FxHashMap::default(),
        truths: [None; 2],
        symbols: FxHashMap::default(),
        open: FxHashMap::default(),
        profiles: FxHashMap::default(),
        components: FxHashMap::default(),
        publications: Vec::new(),
        hosts: FxHashMap::default(),
        entries: Vec::new(),
        mentioned: BTreeSet::new(),
        mounted: Vec::new(),
    };
    // About one atom on a line and a new text on every second, so that tables seldom grow.
    let files = builder.sources.files();
    let bytes: usize = files.map(|file| builder.sources.text(file).len()).sum();
    builder.facts.reserve(bytes / 32);
    builder.texts.reserve(bytes / 64);
    builder.project_facts();
    builder.components();
    builder.services();
    builder.publish();
    builder.mentions();
    builder.naming();
    let Builder {
        graph,
        facts,
        mut diagnostics,
        ..
    } = builder;
    diagnostics.sort_by_key(Diagnostic::primary);
    Composition {
        name: project.name.clone(),
        graph,
        facts,
        diagnostics,
        complete: project.complete,
        files: project.files.iter().map(|file| file.path.clone()).collect(),
    }
}

/// A service, network, volume, secret, config or model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Component {
    pub(super) location: LocationId,
    pub(super) atom: AtomId,
}

/// The service that is being built.
#[derive(Clone, Debug)]
pub(super) struct Current {
    pub(super) name: Arc<str>,
    pub(super) span: Span,
    pub(super) component: Component,
}

pub(super) struct Builder<'b> {
    pub(super) project: &'b Project,
    pub(super) options: &'b Options,
    pub(super) loader: &'b dyn Loader,
    pub(super) sources: &'b mut Sources,
    pub(super) graph: LocationGraph,
    pub(super) facts: Facts,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Where something is wrong already.
    pub(super) reported: FxHashSet<Span>,
    texts: FxHashMap<Arc<str>, AtomId>,
    numbers: FxHashMap<Int, AtomId>,
    truths: [Option<AtomId>; 2],
    /// Symbols of variables, by name.
    symbols: FxHashMap<Arc<str>, SymbolId>,
    /// Atoms of texts that depend on variables, by what is written.
    open: FxHashMap<(SigId, Arc<str>), AtomId>,
    profiles: FxHashMap<Arc<str>, (AtomId, Option<SymbolId>)>,
    components: FxHashMap<&'static str, FxHashMap<Arc<str>, Component>>,
    pub(super) publications: Vec<publish::Pending>,
    /// Services by the names they are reached by.
    pub(super) hosts: FxHashMap<Arc<str>, AtomId>,
    /// Variables of containers whose values may name services.
    pub(super) entries: Vec<environment::Candidate>,
    /// The hosts that variables of containers name, where every value of the project's variables is considered.
    pub(super) mentioned: BTreeSet<Arc<str>>,
    /// The mounts of the service that is being built, with their paths.
    pub(super) mounted: Vec<(AtomId, Arc<str>, Span)>,
}

impl Builder<'_> {
    /// States that a field relates an owner to an atom, as written at a place.
    pub(super) fn fact(&mut self, field: FieldId<2>, owner: AtomId, value: AtomId, span: Span) {
        self.facts.tuple_at(field, &[owner, value], span);
    }

    fn project_facts(&mut self) {
        let project = self.project;
        let start = project.tree.span;
        let name = project.name.clone();
        let composition = self.facts.atom(sig!("Composition"), name.clone(), start);
        let name = self.text(&name, start);
        self.fact(field!("Composition", "name"), composition, name, start);
        let mode = self.text(self.options.target.as_str(), start);
        self.fact(field!("Composition", "mode"), composition, mode, start);
        let complete = self.truth(project.complete, start);
        self.fact(
            field!("Composition", "complete"),
            composition,
            complete,
            start,
        );
        if let Some(version) = project.tree.some("version") {
            self.text_fact(field!("Composition", "version"), composition, version);
        }
        let mut files = FxHashMap::default();
        for file in &project.files {
            let atom = self.facts.atom(sig!("File"), file.path.as_str(), file.span);
            files.entry(file.path.as_str()).or_insert(atom);
        }
        for file in &project.files {
            for (included, span) in &file.includes {
                if let (Some(&from), Some(&to)) =
                    (files.get(file.path.as_str()), files.get(included.as_str()))
                {
                    self.fact(field!("File", "includes"), from, to, *span);
                }
            }
        }
        self.extensions();
        for usage in project.usages.iter() {
            let Some(&span) = usage.uses.first() else {
                continue;
            };
            let atom = self.facts.atom(sig!("Variable"), usage.name.clone(), span);
            let name = self.text(&usage.name, span);
            self.fact(field!("Variable", "name"), atom, name, span);
            if let Some(given) = &usage.given {
                let at = given.span.unwrap_or(span);
                let value = self.text(&given.text, at);
                self.fact(field!("Variable", "value"), atom, value, at);
            }
            if let Some(default) = &usage.default {
                let value = self.text(default, span);
                self.fact(field!("Variable", "fallback"), atom, value, span);
            }
            if let Some((at, message)) = &usage.required {
                let value = self.text(message, *at);
                self.fact(field!("Variable", "demand"), atom, value, *at);
            }
        }
    }

    /// Who extends whom, services that are not defined included.
    fn extensions(&mut self) {
        let mut definitions: FxHashMap<(String, Arc<str>), AtomId> = FxHashMap::default();
        let project = self.project;
        let mut defined = Vec::new();
        for extension in &project.extensions {
            defined.push((
                extension.from.clone(),
                Some(extension.from_span),
                extension.span,
            ));
            defined.push((extension.to.clone(), extension.to_span, extension.span));
        }
        for (key, span, at) in defined {
            if definitions.contains_key(&key) {
                continue;
            }
            let atom = self
                .facts
                .atom(sig!("Definition"), key.1.clone(), span.unwrap_or(at));
            let truth = self.truth(span.is_some() || !project.complete, at);
            self.fact(field!("Definition", "defined"), atom, truth, at);
            definitions.insert(key, atom);
        }
        for extension in &project.extensions {
            if let (Some(&from), Some(&to)) = (
                definitions.get(&extension.from),
                definitions.get(&extension.to),
            ) {
                self.fact(field!("Definition", "base"), from, to, extension.span);
            }
        }
    }

    /// Adds a location for something the files define.
    pub(super) fn component(
        &mut self,
        section: &'static str,
        sort: SigId,
        name: &Arc<str>,
        span: Span,
        tree: Option<&Tree>,
    ) -> Component {
        let mut location =
            Location::new(format!("{section}.{name}"), self.facts.sig_name(sort), span);
        if let Some(&at) = self.project.included_at.get(&span.file) {
            location.origin.included_by = Some(Arc::new(Origin::new(at)));
        }
        let external = tree.is_some_and(|tree| {
            tree.some("external")
                .is_some_and(|external| match &external.kind {
                    super::tree::Kind::Bool(b) => *b,
                    super::tree::Kind::Str(text) => super::units::boolean(text).unwrap_or(false),
                    _ => true,
                })
        });
        if external {
            location.external = true;
            location.process = Process::existing();
        }
        if let Some(tree) = tree {
            location.properties = self.fields(tree);
        }
        let location = self.graph.add_location(location);
        let atom = self.facts.atom(sort, name.clone(), span);
        self.facts.locate(atom, location);
        let word = self.shared_text(name, span);
        self.fact(field!("Component", "name"), atom, word, span);
        let actual = tree.and_then(|tree| {
            tree.some("name")
                .or_else(|| tree.some("external")?.some("name"))
        });
        match actual {
            Some(actual) if sort != sig!("Service") && sort != sig!("Job") => {
                self.text_fact(field!("Component", "actual_name"), atom, actual);
            }
            _ => {
                let actual: Arc<str> = if external {
                    name.clone()
                } else {
                    format!("{}_{name}", self.project.name).into()
                };
                let actual = self.shared_text(&actual, span);
                self.fact(field!("Component", "actual_name"), atom, actual, span);
            }
        }
        let truth = self.truth(external, span);
        self.fact(field!("Component", "external"), atom, truth, span);
        let old_name = tree.and_then(|tree| tree.some("external")?.some("name"));
        if let Some(name) = old_name {
            self.text_fact(field!("Component", "external_name"), atom, name);
        }
        if external {
            let pairs = tree.map_or(&[][..], Tree::pairs).iter();
            let own = pairs.filter(|pair| &*pair.key != "external" && !pair.key.starts_with("x-"));
            for pair in own.collect::<Vec<_>>() {
                let key = self.text(&pair.key, pair.key_span);
                self.fact(field!("Component", "own_keys"), atom, key, pair.key_span);
            }
        }
        let component = Component { location, atom };
        self.components
            .entry(section)
            .or_default()
            .insert(name.clone(), component);
        component
    }

    /// What the files define under a name.
    pub(super) fn find(&self, section: &'static str, name: &str) -> Option<Component> {
        self.components.get(section)?.get(name).copied()
    }

    /// The atom of a profile, and its symbol unless it was asked for.
    pub(super) fn profile(&mut self, name: &Arc<str>, span: Span) -> (AtomId, Option<SymbolId>) {
        if let Some(&known) = self.profiles.get(name) {
            return known;
        }
        let asked = self.enabled_profiles().any(|p| p == &**name || p == "*");
        let atom = self.facts.atom(sig!("Profile"), name.clone(), span);
        let word = self.text(name, span);
        self.fact(field!("Profile", "name"), atom, word, span);
        let symbol = (!asked).then(|| {
            self.graph.add_symbol(Symbol {
                name: format!("{PROFILE}{name}").into(),
                kind: SymbolKind::Parameter,
                domain: Domain::of(ValueType::Bool),
                span,
                default: Some(Item::new(Value::Bool(false), span)),
                depends: Vec::new(),
            })
        });
        let enabled = match symbol {
            None => self.truth(true, span),
            Some(symbol) => self.facts.valued(
                sig!("Bool"),
                format!("profile {name}"),
                span,
                Value::Symbolic(symbol),
            ),
        };
        self.fact(field!("Profile", "enabled"), atom, enabled, span);
        // Taken for all inputs, whether somebody asks for it is open too.
        let truth = match self.options.all_inputs {
            true => enabled,
            false => self.truth(asked, span),
        };
        self.fact(field!("Profile", "asked"), atom, truth, span);
        self.profiles.insert(name.clone(), (atom, symbol));
        (atom, symbol)
    }

    fn enabled_profiles(&self) -> impl Iterator<Item = &str> {
        let environment = self
            .project
            .environment
            .get("COMPOSE_PROFILES")
            .map_or("", |setting| &*setting.text);
        let given = self.options.profiles.iter().map(String::as_str);
        given.chain(
            environment
                .split(',')
                .map(str::trim)
                .filter(|p| !p.is_empty()),
        )
    }

    /// Whether a service is started, given its profiles.
    pub(super) fn activity(&mut self, current: &Current, tree: &Tree) {
        let mut symbols = Vec::new();
        let mut enabled = false;
        let items = tree.some("profiles").map_or(&[][..], Tree::items);
        for item in items {
            let Some(name) = item.text() else { continue };
            let (profile, symbol) = self.profile(&name, item.span);
            let atom = current.component.atom;
            self.fact(field!("Service", "profiles"), atom, profile, item.span);
            enabled |= symbol.is_none();
            symbols.extend(symbol);
        }
        let always = enabled || symbols.is_empty();
        let span = tree.some("profiles").map_or(current.span, |tree| tree.span);
        let active = match symbols.as_slice() {
            _ if always => self.truth(true, span),
            symbols => {
                let symbol = match symbols {
                    [one] => *one,
                    several => self.graph.add_symbol(Symbol {
                        name: format!("a profile of {}", current.name).into(),
                        kind: SymbolKind::Logic(Logic::Any(several.to_vec())),
                        domain: Domain::of(ValueType::Bool),
                        span,
                        default: Some(Item::new(Value::Bool(false), span)),
                        depends: several.to_vec(),
                    }),
                };
                self.graph.location_mut(current.component.location).presence =
                    Presence::When(symbol);
                let name = format!("{} is active", current.name);
                self.facts
                    .valued(sig!("Bool"), name, span, Value::Symbolic(symbol))
            }
        };
        self.fact(
            field!("Service", "active"),
            current.component.atom,
            active,
            span,
        );
    }
}
