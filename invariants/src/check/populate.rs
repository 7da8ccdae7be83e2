//! Fills the relations that rules mention from a location graph and the facts beside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use locus_core::Span;
use locus_core::facts::{AtomId, Facts};
use locus_core::graph::{Location, LocationGraph, LocationId, Presence, RoleId, RoleKind};
use locus_core::value::{Field, Item, SymbolKind, Value, field};
use locus_core::vocabulary::{GraphField, GraphSet, Members, Sig};
use rustc_hash::{FxHashMap, FxHashSet};

use super::run::Configuration;
use crate::engine::{Atom, AtomInfo, Database, DatabaseBuilder, Reasons, Table, Tri};
use crate::logic::RelationId;
use crate::rules::{Origin, Program, Things};

/// An atom with properties: a location, or a map within the properties of one.
#[derive(Clone)]
struct Owner<'g> {
    atom: Atom,
    fields: &'g [Field],
    /// Whether it is there for every input.
    certain: Tri,
    /// The symbols that decide whether it is there.
    reasons: Reasons,
    /// What a default that it has points at.
    span: Span,
}

struct Populate<'a> {
    builder: DatabaseBuilder,
    program: &'a Program,
    graph: &'a LocationGraph,
    facts: &'a Facts,
    declared: &'a [Sig],
    locations: Vec<Atom>,
    fact_atoms: Vec<Atom>,
    by_sort: FxHashMap<&'a str, Vec<LocationId>>,
    /// The atoms of each signature of facts.
    by_sig: Vec<Vec<Atom>>,
    /// The locations or maps of signatures, once they are asked for.
    owners: Vec<Option<Arc<Vec<Owner<'a>>>>>,
    /// The atoms of maps: whose, in which property, at which place there.
    maps: FxHashMap<(Atom, &'a str, usize), Atom>,
    /// The atoms of roles, once they are asked for.
    roles: Option<Arc<Vec<Atom>>>,
    /// Whether rules mention nothing but the graph, in which no two locations are the same.
    about_graph: bool,
}

/// The facts of a configuration, as far as a program mentions them.
pub(super) fn populate(
    program: &Program,
    configuration: Configuration<'_>,
    all_inputs: bool,
) -> Database {
    let Configuration {
        graph,
        facts,
        declared,
    } = configuration;
    let about_graph = program.is_about_graph();
    let mut presences = graph.locations().map(|(_, location)| &location.presence);
    let symbolic = !about_graph || presences.any(|presence| matches!(presence, Presence::When(_)));
    let symbols = graph.symbols().map(|(_, symbol)| symbol);
    let symbols = symbols.filter(|_| symbolic);
    let kinds = program.relations.iter().map(|entry| {
        let property = matches!(entry.origin, Origin::Property { .. });
        (entry.arity, property)
    });
    let mut populate = Populate {
        builder: DatabaseBuilder::new(kinds, &program.constants, symbols, all_inputs),
        program,
        graph,
        facts,
        declared,
        locations: Vec::new(),
        fact_atoms: Vec::new(),
        by_sort: FxHashMap::default(),
        by_sig: vec![Vec::new(); facts.declarations().sigs.len()],
        owners: vec![None; program.things.len()],
        maps: FxHashMap::default(),
        roles: None,
        about_graph,
    };
    populate.add_atoms();
    // Of most types there is no location.
    let things = program.things.iter();
    let there: Vec<bool> = things.map(|things| populate.has(things)).collect();
    let is_there = |at: u32| there.get(at as usize) == Some(&true);
    for (at, entry) in (0..).zip(&program.relations) {
        let filled = match entry.origin {
            Origin::Things(of) | Origin::Property { of, .. } => is_there(of),
            Origin::Nothing => false,
            // These are over the values of all other relations.
            Origin::Builtin(_) => false,
            _ => true,
        };
        if filled {
            let table = populate.table(&entry.origin, entry.arity);
            let property = matches!(entry.origin, Origin::Property { .. });
            populate.builder.set(RelationId(at), table, property);
        }
    }
    for (at, entry) in (0..).zip(&program.relations) {
        if let Origin::Builtin(builtin) = entry.origin {
            populate
                .builder
                .set_builtin(RelationId(at), builtin, entry.arity);
        }
    }
    populate.builder.finish()
}

impl<'a> Populate<'a> {
    fn add_atoms(&mut self) {
        let graph = self.graph;
        self.locations = vec![Atom(0); graph.len()];
        for vague in [true, false] {
            for (id, location) in graph.locations() {
                if (location.external && !self.about_graph) != vague {
                    continue;
                }
                let info = AtomInfo {
                    included_by: location.origin.chain().collect(),
                    ..AtomInfo::thing(shown(graph, location), Some(location.origin.span))
                };
                let atom = if vague {
                    let atom = self.builder.add_existing(info);
                    for property in &location.properties {
                        if let Value::Symbolic(symbol) = property.item.value {
                            self.builder.name_by(atom, symbol.index());
                        }
                    }
                    atom
                } else {
                    self.builder.add(info)
                };
                if let Some(slot) = self.locations.get_mut(id.index()) {
                    *slot = atom;
                }
                self.by_sort.entry(&location.sort).or_default().push(id);
            }
        }
        let facts = self.facts;
        if self.about_graph {
            for (_, fact) in facts.atoms() {
                let location = fact.location.and_then(|id| self.locations.get(id.index()));
                if let Some(&atom) = location {
                    self.builder.rename(atom, fact.name.clone());
                }
            }
            return;
        }
        self.builder.reserve(facts.len());
        self.fact_atoms.reserve(facts.len());
        for (_, fact) in facts.atoms() {
            let location = fact.location.and_then(|id| self.locations.get(id.index()));
            let value = fact.value.as_ref();
            let decl = facts.declarations().decl(fact.sig);
            let value = value.filter(|_| decl.is_some_and(|decl| decl.value));
            let known = match (location, value) {
                (Some(&atom), _) => {
                    // The front-end knows what the user calls it.
                    self.builder.rename(atom, fact.name.clone());
                    Some(atom)
                }
                (None, Some(Value::Symbolic(symbol))) => self.builder.symbol(symbol.index()),
                (None, Some(value)) => Some(self.builder.value(value)),
                (None, None) => None,
            };
            let atom = known.unwrap_or_else(|| {
                self.builder.add(AtomInfo {
                    value: fact.value.clone(),
                    ..AtomInfo::thing(fact.name.clone(), Some(fact.span))
                })
            });
            self.fact_atoms.push(atom);
            if let Some(atoms) = self.by_sig.get_mut(fact.sig.index()) {
                atoms.push(atom);
            }
        }
    }

    fn fact(&self, id: AtomId) -> Option<Atom> {
        self.fact_atoms.get(id.index()).copied()
    }

    /// The tuples of a relation.
    fn table(&mut self, origin: &'a Origin, arity: usize) -> Table {
        let mut table = Table::new(arity);
        let facts = self.facts;
        match origin {
            Origin::Atoms(sigs) => {
                for &sig in sigs {
                    for &atom in self.by_sig.get(sig).map_or(&[][..], Vec::as_slice) {
                        table.push(&[atom], None, Tri::True);
                    }
                }
            }
            Origin::Subset(subset) => {
                for &id in facts.marked(*subset) {
                    if let Some(atom) = self.fact(id) {
                        table.push(&[atom], None, Tri::True);
                    }
                }
            }
            Origin::Tuples(field) => {
                let mut row: Vec<Atom> = Vec::new();
                let relation = facts.relation_at(*field).into_iter();
                for (tuple, written) in relation.flat_map(|relation| relation.placed()) {
                    row.clear();
                    row.extend(tuple.iter().filter_map(|&id| self.fact(id)));
                    let span = written.or_else(|| tuple.last().map(|&id| facts.get(id).span));
                    if row.len() == arity {
                        table.push(&row, span, Tri::True);
                    }
                }
            }
            Origin::GraphSet(set) => self.graph_set(*set, &mut table),
            Origin::GraphField(field) => self.graph_field(*field, &mut table),
            Origin::Things(of) => {
                for owner in self.owners(*of).iter() {
                    table.push_because(&[owner.atom], None, owner.certain, &owner.reasons);
                }
            }
            Origin::Property { .. } => self.property(origin, &mut table),
            Origin::Builtin(_) | Origin::Nothing => {}
        }
        table
    }

    /// The locations that are or may be part of the configuration.
    fn deployed(&self) -> Vec<(&'a Location, Atom, There)> {
        let all = self.graph.locations().zip(&self.locations);
        all.filter_map(|((_, location), &atom)| {
            Some((location, atom, There::of(&location.presence)?))
        })
        .collect()
    }

    /// The atoms of roles, made when they are first asked for.
    fn roles(&mut self) -> Arc<Vec<Atom>> {
        if self.roles.is_none() {
            let roles = self.graph.roles().map(|(_, role)| {
                let info = AtomInfo::thing(role.label.clone(), Some(role.span));
                self.builder.add(info)
            });
            self.roles = Some(Arc::new(roles.collect()));
        }
        self.roles.clone().unwrap_or_default()
    }

    /// The tuples of a set that every location graph has.
    fn graph_set(&mut self, set: GraphSet, table: &mut Table) {
        let texts: Vec<&Arc<str>> = match set {
            GraphSet::Locations => {
                for (_, atom, there) in self.deployed() {
                    there.push(table, &[atom], None);
                }
                return;
            }
            GraphSet::Existing => {
                for ((_, location), &atom) in self.graph.locations().zip(&self.locations) {
                    if location.external {
                        table.push(&[atom], None, Tri::True);
                    }
                }
                return;
            }
            GraphSet::Roles => {
                for &role in self.roles().iter() {
                    table.push(&[role], None, Tri::True);
                }
                return;
            }
            GraphSet::Names => self.of_locations(|location| &location.name),
            GraphSet::Sorts => self.of_locations(|location| &location.sort),
            GraphSet::Processes => self.of_locations(|location| &location.process),
            GraphSet::Labels => self.graph.roles().map(|(_, role)| &role.label).collect(),
            GraphSet::Kinds => {
                let kinds: BTreeSet<&str> =
                    self.graph.roles().map(|(_, r)| r.kind.as_str()).collect();
                for kind in kinds {
                    let atom = self.builder.value(&Value::str(kind));
                    table.push(&[atom], None, Tri::True);
                }
                return;
            }
        };
        let different: BTreeSet<&Arc<str>> = texts.into_iter().collect();
        for text in different {
            let atom = self.builder.value(&Value::Str(text.clone()));
            table.push(&[atom], None, Tri::True);
        }
    }

    fn of_locations(&self, text: impl Fn(&'a Location) -> &'a Arc<str>) -> Vec<&'a Arc<str>> {
        let deployed = self.deployed().into_iter();
        deployed.map(|(location, ..)| text(location)).collect()
    }

    /// The tuples of a relation that every location graph has.
    fn graph_field(&mut self, field: GraphField, table: &mut Table) {
        match field {
            GraphField::Name => self.text_of_locations(table, |location| &location.name),
            GraphField::Sort => self.text_of_locations(table, |location| &location.sort),
            GraphField::Process => self.text_of_locations(table, |location| &location.process),
            GraphField::Provided => self.roles_of(table, |location| &location.provided),
            GraphField::Required => self.roles_of(table, |location| &location.required),
            GraphField::Bound => {
                let roles = self.roles();
                for (role, [provider, requirer], there) in self.ends() {
                    let Some(&atom) = roles.get(role.index()) else {
                        continue;
                    };
                    let span = Some(self.graph.role(role).span);
                    there.push(table, &[provider, atom], span);
                    if requirer != provider {
                        there.push(table, &[requirer, atom], span);
                    }
                }
            }
            GraphField::Depends => {
                let mut known: FxHashSet<[Atom; 2]> = FxHashSet::default();
                for (role, [provider, requirer], there) in self.ends() {
                    if known.insert([requirer, provider]) {
                        let span = Some(self.graph.role(role).span);
                        there.push(table, &[requirer, provider], span);
                    }
                }
            }
            GraphField::Contains => {
                let mut known: FxHashSet<[Atom; 2]> = FxHashSet::default();
                for (role, ends, there) in self.ends() {
                    let role = self.graph.role(role);
                    if role.kind == RoleKind::Containment && known.insert(ends) {
                        there.push(table, &ends, Some(role.span));
                    }
                }
                for (location, atom, there) in self.deployed() {
                    let parent = location
                        .parent
                        .and_then(|id| self.locations.get(id.index()));
                    if let Some(ends) = parent.map(|&parent| [parent, atom])
                        && known.insert(ends)
                    {
                        there.push(table, &ends, Some(location.origin.span));
                    }
                }
            }
            GraphField::Label | GraphField::Kind => {
                let roles = self.roles();
                for ((_, role), &atom) in self.graph.roles().zip(roles.iter()) {
                    let text = match field {
                        GraphField::Label => Value::Str(role.label.clone()),
                        _ => Value::str(role.kind.as_str()),
                    };
                    let text = self.builder.value(&text);
                    table.push(&[atom, text], Some(role.span), Tri::True);
                }
            }
        }
    }

    fn text_of_locations(
        &mut self,
        table: &mut Table,
        text: impl Fn(&'a Location) -> &'a Arc<str>,
    ) {
        for (location, atom, there) in self.deployed() {
            let value = self.builder.value(&Value::Str(text(location).clone()));
            there.push(table, &[atom, value], Some(location.origin.span));
        }
    }

    fn roles_of(&mut self, table: &mut Table, side: impl Fn(&'a Location) -> &'a [RoleId]) {
        let roles = self.roles();
        for (location, atom, there) in self.deployed() {
            for role in side(location) {
                if let Some(&of) = roles.get(role.index()) {
                    there.push(table, &[atom, of], Some(self.graph.role(*role).span));
                }
            }
        }
    }

    /// Each role that is provided and required, with every pair of locations that does, and whether both are there.
    fn ends(&self) -> Vec<(RoleId, [Atom; 2], There)> {
        let deployed = self.deployed();
        let mut providers: FxHashMap<RoleId, Vec<(Atom, &There)>> = FxHashMap::default();
        for (location, atom, there) in &deployed {
            for &role in &location.provided {
                providers.entry(role).or_default().push((*atom, there));
            }
        }
        let mut ends = Vec::new();
        for (location, requirer, there) in &deployed {
            for &role in &location.required {
                for &(provider, other) in providers.get(&role).into_iter().flatten() {
                    ends.push((role, [provider, *requirer], other.and(there)));
                }
            }
        }
        ends
    }

    /// Signatures that the project declares and that extend one, directly or not.
    fn extending(&self, sig: &str) -> Vec<&'a Sig> {
        let mut found: Vec<&'a Sig> = Vec::new();
        let mut open = vec![sig.to_owned()];
        while let Some(name) = open.pop() {
            for sig in self.declared {
                let is_part = sig.parent.as_deref() == Some(&*name);
                if is_part && !found.iter().any(|known| known.name == sig.name) {
                    open.push(sig.name.to_string());
                    found.push(sig);
                }
            }
        }
        found
    }

    /// Whether there are locations of a signature, or with the maps of it.
    fn has(&self, things: &Things) -> bool {
        let is_used = |subset: usize| !self.facts.marked(subset).is_empty();
        let sort = |sort: &str| self.by_sort.contains_key(sort);
        things.sorts.iter().any(|one| sort(one))
            || things.marked.is_some_and(is_used)
            || self
                .extending(&things.sig)
                .iter()
                .any(|sig| match &sig.members {
                    Members::Sort(one) => sort(one),
                    Members::Marked(subset) => is_used(subset.index()),
                    _ => false,
                })
    }

    /// The atoms of a signature of locations or maps, with their properties.
    fn owners(&mut self, at: u32) -> Arc<Vec<Owner<'a>>> {
        let program = self.program;
        let (Some(things), Some(slot)) = (
            program.things.get(at as usize),
            self.owners.get(at as usize),
        ) else {
            return Arc::default();
        };
        if let Some(owners) = slot {
            return owners.clone();
        }
        let mut owners: Vec<Owner<'a>> = Vec::new();
        for sort in &things.sorts {
            owners.extend(self.of_sort(sort));
        }
        let mut marked: Vec<usize> = things.marked.into_iter().collect();
        for sig in self.extending(&things.sig) {
            match &sig.members {
                Members::Sort(sort) => owners.extend(self.of_sort(sort)),
                Members::Marked(subset) => marked.push(subset.index()),
                _ => {}
            }
        }
        for subset in marked {
            let atoms = self.facts.marked(subset).iter();
            let ids = atoms.filter_map(|&id| self.facts.get(id).location);
            for owner in ids.filter_map(|id| self.owner(id)).collect::<Vec<_>>() {
                // A type that stands for another one has its locations in both.
                if !owners.iter().any(|known| known.atom == owner.atom) {
                    owners.push(owner);
                }
            }
        }
        for property in &things.path {
            owners = self.maps_of(&owners, property);
        }
        let owners = Arc::new(owners);
        if let Some(slot) = self.owners.get_mut(at as usize) {
            *slot = Some(owners.clone());
        }
        owners
    }

    fn of_sort(&self, sort: &str) -> Vec<Owner<'a>> {
        let ids = self.by_sort.get(sort).map_or(&[][..], Vec::as_slice);
        ids.iter().filter_map(|&id| self.owner(id)).collect()
    }

    /// A location that is or may be deployed.
    fn owner(&self, id: LocationId) -> Option<Owner<'a>> {
        let location = self.graph.location(id);
        let There { certain, reasons } = There::of(&location.presence)?;
        (!location.external).then_some(Owner {
            atom: *self.locations.get(id.index())?,
            fields: &location.properties,
            certain,
            reasons,
            span: location.origin.span,
        })
    }

    /// The maps that a property of some atoms holds.
    fn maps_of(&mut self, owners: &[Owner<'a>], property: &'a str) -> Vec<Owner<'a>> {
        let mut maps = Vec::new();
        for owner in owners {
            let Some(item) = field(owner.fields, property) else {
                continue;
            };
            let mut leaves = Vec::new();
            self.leaves(item, owner.certain, &owner.reasons, &mut leaves);
            let many = matches!(item.value, Value::List(_));
            for (index, (leaf, certain, reasons)) in leaves.into_iter().enumerate() {
                if let Value::Map(fields) = &leaf.value {
                    let name = if many {
                        format!("{property}.{index}")
                    } else {
                        property.to_owned()
                    };
                    maps.push(Owner {
                        atom: self.map((owner.atom, property, index), leaf, name),
                        fields,
                        certain,
                        reasons,
                        span: leaf.span,
                    });
                }
            }
        }
        maps
    }

    /// The atom of a map, made when it is first met.
    fn map(&mut self, place: (Atom, &'a str, usize), item: &Item, name: String) -> Atom {
        if let Some(&atom) = self.maps.get(&place) {
            return atom;
        }
        let atom = self.builder.add(AtomInfo {
            value: Some(item.value.clone()),
            ..AtomInfo::thing(name, Some(item.span))
        });
        self.maps.insert(place, atom);
        atom
    }

    /// The values of a property: of a list each item, of a choice both alternatives. Returns whether there may be none.
    fn leaves(
        &self,
        item: &'a Item,
        certain: Tri,
        reasons: &Reasons,
        out: &mut Vec<(&'a Item, Tri, Reasons)>,
    ) -> Option<Reasons> {
        match &item.value {
            Value::Null => None,
            Value::List(items) => {
                for item in items {
                    self.leaves(item, certain, reasons, out);
                }
                None
            }
            Value::Symbolic(symbol) => match &self.graph.symbol(*symbol).kind {
                SymbolKind::Choice {
                    condition,
                    then,
                    otherwise,
                } => {
                    let mut reasons = reasons.clone();
                    reasons.extend(u32::try_from(condition.index()));
                    let mut missing = self.leaves(then, Tri::Unknown, &reasons, out);
                    let is_null = |item: &Item| matches!(item.value, Value::Null);
                    let mut nothing = is_null(then);
                    match otherwise {
                        Some(otherwise) => {
                            let more = self.leaves(otherwise, Tri::Unknown, &reasons, out);
                            missing = missing.or(more);
                            nothing |= is_null(otherwise);
                        }
                        None => nothing = true,
                    }
                    missing.or(nothing.then_some(reasons))
                }
                _ => {
                    out.push((item, certain, reasons.clone()));
                    None
                }
            },
            _ => {
                out.push((item, certain, reasons.clone()));
                None
            }
        }
    }

    fn atom(&mut self, place: (Atom, &'a str, usize), item: &Item) -> Option<Atom> {
        match &item.value {
            Value::Null | Value::List(_) => None,
            Value::Map(_) => Some(self.map(place, item, place.1.to_owned())),
            Value::Location(id) => self.locations.get(id.index()).copied(),
            Value::Symbolic(symbol) => self.builder.symbol(symbol.index()),
            value => Some(self.builder.value(value)),
        }
    }

    /// The tuples of a property.
    fn property(&mut self, origin: &'a Origin, table: &mut Table) {
        let Origin::Property {
            of,
            names,
            default,
            maps,
        } = origin
        else {
            return;
        };
        let owners = self.owners(*of);
        if owners.is_empty() {
            return;
        }
        // Maps get their names where they are first met.
        if let Some(maps) = maps {
            self.owners(*maps);
        }
        let default = default.as_ref().map(|default| default.value());
        let mut leaves = Vec::new();
        for owner in owners.iter() {
            let mut absent = true;
            // The default is there when a choice leaves the property out.
            let mut possible: Option<Reasons> = None;
            for name in names {
                let given = field(owner.fields, name);
                leaves.clear();
                if let Some(item) = given {
                    let missing = self.leaves(item, owner.certain, &owner.reasons, &mut leaves);
                    possible = possible.or(missing);
                    absent &= matches!(item.value, Value::Null);
                }
                for (index, (leaf, certain, reasons)) in leaves.iter().enumerate() {
                    let (leaf, certain) = (*leaf, *certain);
                    if let Some(atom) = self.atom((owner.atom, name, index), leaf) {
                        let row = [owner.atom, atom];
                        table.push_because(&row, Some(leaf.span), certain, reasons);
                    }
                    // Of a map without a schema the locations in it count too, under whatever key.
                    if let (Value::Map(fields), None) = (&leaf.value, maps) {
                        for field in fields {
                            if let Value::Location(id) = field.item.value
                                && let Some(&atom) = self.locations.get(id.index())
                            {
                                let row = [owner.atom, atom];
                                table.push_because(&row, Some(field.item.span), certain, reasons);
                            }
                        }
                    }
                }
            }
            if let (true, Some(default)) = (absent, &default) {
                let atom = self.builder.value(default);
                let row = [owner.atom, atom];
                table.push_because(&row, Some(owner.span), owner.certain, &owner.reasons);
            } else if let (Some(reasons), Some(default)) = (possible, &default) {
                let row = [owner.atom, self.builder.value(default)];
                table.push_because(&row, Some(owner.span), Tri::Unknown, &reasons);
            }
        }
    }
}

/// Whether something is part of the configuration, and the symbols that decide it.
#[derive(Clone, Debug)]
struct There {
    certain: Tri,
    reasons: Reasons,
}

impl There {
    /// That of a location; none when it is left out.
    fn of(presence: &Presence) -> Option<There> {
        let mut reasons = Reasons::new();
        let certain = match presence {
            Presence::Present => Tri::True,
            Presence::When(symbol) => {
                reasons.extend(u32::try_from(symbol.index()));
                Tri::Unknown
            }
            Presence::Absent => return None,
        };
        Some(There { certain, reasons })
    }

    /// That both are there.
    fn and(&self, other: &There) -> There {
        let mut reasons = self.reasons.clone();
        reasons.extend(other.reasons.iter().copied());
        There {
            certain: self.certain.and(other.certain),
            reasons,
        }
    }

    /// Adds a tuple that is there with it.
    fn push(&self, table: &mut Table, row: &[Atom], span: Option<Span>) {
        table.push_because(row, span, self.certain, &self.reasons);
    }
}

/// What messages call a location: one that exists already is known by the name or input that stands for it.
fn shown(graph: &LocationGraph, location: &Location) -> Arc<str> {
    let own = location.properties.first().filter(|_| location.external);
    let own = own.filter(|property| &*property.name == "name");
    match own.map(|property| &property.item.value) {
        Some(Value::Str(name)) => name.clone(),
        Some(Value::Symbolic(symbol)) => graph.symbol(*symbol).name.clone(),
        _ => location.name.clone(),
    }
}
