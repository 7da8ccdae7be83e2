//! The location graph: the one form that every configuration language is brought into.
//!
//! A graph is a set of locations. A location has a unique name, a sort, a process, provided roles and
//! required roles, and typed properties. A role is provided by at most one location and required by
//! at most one, and a location does not both provide and require it; a role that is provided and
//! required is bound. Rules check this (`invariants/library/lg/`). Everything carries its source.

mod export;
mod view;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::source::Span;
use crate::value::{Field, Item, Symbol, SymbolId, Value, field};

pub use export::{to_als, to_dot, to_json};
pub use view::{Cycle, View};

/// The identity of a location within its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocationId(u32);

/// The identity of a role within its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleId(u32);

impl LocationId {
    /// Position in the graph's list of locations.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl RoleId {
    /// Position in the graph's list of roles.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where something came from: its place, and the places that brought it in, innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The place itself.
    pub span: Span,
    /// What included it: the resource that names the nested template, and so on outwards.
    pub included_by: Option<Arc<Origin>>,
}

impl Origin {
    /// A place in the file that was given.
    pub fn new(span: Span) -> Self {
        Origin {
            span,
            included_by: None,
        }
    }

    /// The places that brought it in, innermost first.
    pub fn chain(&self) -> impl Iterator<Item = Span> {
        std::iter::successors(self.included_by.as_deref(), |origin| {
            origin.included_by.as_deref()
        })
        .map(|origin| origin.span)
    }
}

/// Whether a location is part of the configuration at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// It is.
    #[default]
    Present,
    /// It is not, for the inputs given.
    Absent,
    /// It is when a symbol is true.
    When(SymbolId),
}

/// A locus of computation: a server, a network, a container, a binding among several of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// Its name, unique in the graph; within nested configurations a path (`group/0/server`).
    pub name: Arc<str>,
    /// What kind of thing it is, in the words of the configuration language.
    pub sort: Arc<str>,
    /// How it behaves: `create`, `existing`, or the state machine that a language gives it.
    pub process: Arc<str>,
    /// Roles through which it serves others.
    pub provided: Vec<RoleId>,
    /// Roles through which it is served.
    pub required: Vec<RoleId>,
    /// Its properties as they are used: defaults filled in where the language does so.
    pub properties: Vec<Field>,
    /// Where it came from.
    pub origin: Origin,
    /// Whether it exists already and is only referred to.
    pub external: bool,
    /// Whether it is part of the configuration.
    pub presence: Presence,
    /// The location that contains it: the group, the nested stack.
    pub parent: Option<LocationId>,
}

impl Location {
    /// A location that is created, without roles and properties.
    pub fn new(name: impl Into<Arc<str>>, sort: impl Into<Arc<str>>, span: Span) -> Self {
        Location {
            name: name.into(),
            sort: sort.into(),
            process: Process::create(),
            provided: Vec::new(),
            required: Vec::new(),
            properties: Vec::new(),
            origin: Origin::new(span),
            external: false,
            presence: Presence::Present,
            parent: None,
        }
    }

    /// A property by name.
    pub fn property(&self, name: &str) -> Option<&Item> {
        field(&self.properties, name)
    }
}

/// The names of the processes that locations have when a language says nothing else.
#[derive(Clone, Copy, Debug)]
pub struct Process;

impl Process {
    /// The location is created by the deployment.
    pub fn create() -> Arc<str> {
        static NAME: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| "create".into());
        NAME.clone()
    }

    /// The location is there before the deployment.
    pub fn existing() -> Arc<str> {
        static NAME: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| "existing".into());
        NAME.clone()
    }
}

/// What a role is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleKind {
    /// A property names the provider.
    Reference,
    /// A value is taken from the provider once it exists.
    Attribute,
    /// The provider must come first.
    Dependency,
    /// The provider contains the one that requires the role.
    Containment,
    /// Traffic flows between the two.
    Connection,
}

impl RoleKind {
    /// Its name in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            RoleKind::Reference => "reference",
            RoleKind::Attribute => "attribute",
            RoleKind::Dependency => "dependency",
            RoleKind::Containment => "containment",
            RoleKind::Connection => "connection",
        }
    }
}

/// A point of attachment between two locations.
#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    /// What it is for.
    pub kind: RoleKind,
    /// The property or key that it stands for, as in `networks.0.port`; not unique.
    pub label: Arc<str>,
    /// Where it came from.
    pub span: Span,
    /// What characterises this use: the aliases on a network, the path a volume is mounted at.
    pub properties: Vec<Field>,
}

impl Role {
    /// A property by name.
    pub fn property(&self, name: &str) -> Option<&Item> {
        field(&self.properties, name)
    }
}

/// A role that one location provides and another requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The role.
    pub role: RoleId,
    /// Who provides it.
    pub provider: LocationId,
    /// Who requires it.
    pub requirer: LocationId,
}

/// A set of locations with their roles and the symbols that their values mention.
#[derive(Clone, Debug, Default)]
pub struct LocationGraph {
    locations: Vec<Location>,
    roles: Vec<Role>,
    symbols: Vec<Symbol>,
    by_name: FxHashMap<Arc<str>, LocationId>,
    /// Inputs, and values with which they name something.
    names: Vec<(SymbolId, Value)>,
}

fn id(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

impl LocationGraph {
    /// The graph without locations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a location. A name that is taken is accepted here: a rule reports it.
    pub fn add_location(&mut self, location: Location) -> LocationId {
        let new = LocationId(id(self.locations.len()));
        self.by_name.entry(location.name.clone()).or_insert(new);
        self.locations.push(location);
        new
    }

    /// Adds a role that nobody provides or requires yet.
    pub fn add_role(&mut self, kind: RoleKind, label: impl Into<Arc<str>>, span: Span) -> RoleId {
        let new = RoleId(id(self.roles.len()));
        self.roles.push(Role {
            kind,
            label: label.into(),
            span,
            properties: Vec::new(),
        });
        new
    }

    /// Lets a location provide a role.
    pub fn provide(&mut self, location: LocationId, role: RoleId) {
        if let Some(location) = self.locations.get_mut(location.index()) {
            location.provided.push(role);
        }
    }

    /// Lets a location require a role.
    pub fn require(&mut self, location: LocationId, role: RoleId) {
        if let Some(location) = self.locations.get_mut(location.index()) {
            location.required.push(role);
        }
    }

    /// Binds two locations by a new role.
    pub fn bind(
        &mut self,
        provider: LocationId,
        requirer: LocationId,
        kind: RoleKind,
        label: impl Into<Arc<str>>,
        span: Span,
    ) -> RoleId {
        let role = self.add_role(kind, label, span);
        self.provide(provider, role);
        self.require(requirer, role);
        role
    }

    /// Adds a symbol.
    pub fn add_symbol(&mut self, symbol: Symbol) -> SymbolId {
        let new = SymbolId(id(self.symbols.len()));
        self.symbols.push(symbol);
        new
    }

    /// Notes that an input names something when it has a value: what the configuration consists of is another then.
    pub fn may_name(&mut self, input: SymbolId, value: Value) {
        let known = self.names.iter();
        if !known
            .clone()
            .any(|(one, own)| *one == input && own.same(&value))
        {
            self.names.push((input, value));
        }
    }

    /// Inputs, and the values with which they name something.
    pub fn naming(&self) -> &[(SymbolId, Value)] {
        &self.names
    }

    /// All locations, in the order they were added.
    pub fn locations(&self) -> impl Iterator<Item = (LocationId, &Location)> {
        self.locations
            .iter()
            .enumerate()
            .map(|(index, location)| (LocationId(id(index)), location))
    }

    /// All roles, in the order they were added.
    pub fn roles(&self) -> impl Iterator<Item = (RoleId, &Role)> {
        self.roles
            .iter()
            .enumerate()
            .map(|(index, role)| (RoleId(id(index)), role))
    }

    /// All symbols, in the order they were added.
    pub fn symbols(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.symbols
            .iter()
            .enumerate()
            .map(|(index, symbol)| (SymbolId(id(index)), symbol))
    }

    /// Tells of everything that it is somewhere else: at the place where it is written, when the text that it was read from
    /// was made of that.
    pub fn relocate(&mut self, place: &mut dyn FnMut(Span) -> Span) {
        for location in &mut self.locations {
            location.origin.span = place(location.origin.span);
        }
        for role in &mut self.roles {
            role.span = place(role.span);
        }
        for symbol in &mut self.symbols {
            symbol.span = place(symbol.span);
        }
    }

    /// Number of locations.
    pub fn len(&self) -> usize {
        self.locations.len()
    }

    /// Whether there is no location.
    pub fn is_empty(&self) -> bool {
        self.locations.is_empty()
    }

    /// A location by its identity.
    #[expect(
        clippy::indexing_slicing,
        reason = "an identity is only ever made by the graph that holds the location"
    )]
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.index()]
    }

    /// A location to change.
    #[expect(
        clippy::indexing_slicing,
        reason = "an identity is only ever made by the graph that holds the location"
    )]
    pub fn location_mut(&mut self, id: LocationId) -> &mut Location {
        &mut self.locations[id.index()]
    }

    /// A role by its identity.
    #[expect(
        clippy::indexing_slicing,
        reason = "an identity is only ever made by the graph that holds the role"
    )]
    pub fn role(&self, id: RoleId) -> &Role {
        &self.roles[id.index()]
    }

    /// A role to change.
    #[expect(
        clippy::indexing_slicing,
        reason = "an identity is only ever made by the graph that holds the role"
    )]
    pub fn role_mut(&mut self, id: RoleId) -> &mut Role {
        &mut self.roles[id.index()]
    }

    /// A symbol by its identity.
    #[expect(
        clippy::indexing_slicing,
        reason = "an identity is only ever made by the graph that holds the symbol"
    )]
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.index()]
    }

    /// The location with a name; of several the first.
    pub fn find(&self, name: &str) -> Option<LocationId> {
        self.by_name.get(name).copied()
    }

    /// The roles that are both provided and required, in the order of the roles.
    pub fn bindings(&self) -> Vec<Binding> {
        let mut ends: Vec<(Option<LocationId>, Option<LocationId>)> =
            vec![(None, None); self.roles.len()];
        for (location, data) in self.locations() {
            for role in &data.provided {
                if let Some(end) = ends.get_mut(role.index()) {
                    end.0.get_or_insert(location);
                }
            }
            for role in &data.required {
                if let Some(end) = ends.get_mut(role.index()) {
                    end.1.get_or_insert(location);
                }
            }
        }
        self.roles()
            .zip(ends)
            .filter_map(|((role, _), ends)| match ends {
                (Some(provider), Some(requirer)) => Some(Binding {
                    role,
                    provider,
                    requirer,
                }),
                _ => None,
            })
            .collect()
    }
}
