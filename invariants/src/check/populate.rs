//! Fills the relations that rules mention from a location graph and the facts beside it.

use std::sync::Arc;

use locus_core::Span;
use locus_core::facts::{AtomId, Facts};
use locus_core::graph::{Location, LocationGraph, LocationId, Presence};
use locus_core::value::{Field, Item, SymbolKind, Value, field};
use rustc_hash::FxHashMap;

use super::layout::{Layout, Origin, Property};
use super::run::Configuration;
use crate::engine::{Atom, AtomInfo, Database, DatabaseBuilder, Table, Tri};
use crate::logic::RelationId;
use crate::rules::Program;
use crate::vocabulary::{Members, Vocabulary};

/// An atom with properties: a location, or a map within the properties of one.
#[derive(Clone, Copy)]
struct Owner<'g> {
    atom: Atom,
    fields: &'g [Field],
    /// Whether it is there for every input.
    certain: Tri,
    /// What a default that it has points at.
    span: Span,
}

struct Populate<'a> {
    builder: DatabaseBuilder,
    vocabulary: &'a dyn Vocabulary,
    graph: &'a LocationGraph,
    facts: &'a Facts,
    locations: Vec<Atom>,
    fact_atoms: Vec<Atom>,
    by_sort: FxHashMap<&'a str, Vec<LocationId>>,
    by_sig: FxHashMap<&'static str, Vec<Atom>>,
    owners: FxHashMap<&'a str, Arc<Vec<Owner<'a>>>>,
    /// The atoms of maps, by where they are held in the graph.
    maps: FxHashMap<*const Item, Atom>,
}

/// The facts of a configuration, as far as a program mentions them.
pub(super) fn populate(
    program: &Program,
    layout: &Layout,
    configuration: Configuration<'_>,
    all_inputs: bool,
) -> Database {
    let Configuration {
        vocabulary,
        graph,
        facts,
    } = configuration;
    let symbols = graph.symbols().map(|(_, symbol)| symbol);
    let kinds = program.relations.iter().zip(&layout.origins);
    let kinds = kinds.map(|(entry, origin)| {
        let property = matches!(origin, Origin::Property { .. });
        (entry.arity, property)
    });
    let mut populate = Populate {
        builder: DatabaseBuilder::new(kinds, &program.constants, symbols, all_inputs),
        vocabulary,
        graph,
        facts,
        locations: Vec::new(),
        fact_atoms: Vec::new(),
        by_sort: FxHashMap::default(),
        by_sig: FxHashMap::default(),
        owners: FxHashMap::default(),
        maps: FxHashMap::default(),
    };
    populate.add_atoms();
    // Of most types there is no location.
    let sorts = populate.by_sort.keys();
    let mut typed: Vec<u32> = sorts
        .flat_map(|sort| layout.of_sort(sort).to_vec())
        .collect();
    typed.sort_unstable();
    typed.dedup();
    let entries = || (0..).zip(program.relations.iter().zip(&layout.origins));
    for (at, (entry, origin)) in entries() {
        let filled = match origin {
            Origin::Things { .. } | Origin::Property { .. } => typed.binary_search(&at).is_ok(),
            Origin::Atoms { .. } | Origin::Tuples { .. } | Origin::Existing => true,
            // These are over the values of all other relations.
            Origin::Builtin(_) => false,
        };
        if filled {
            let (table, property) = populate.table(origin, entry.arity);
            populate.builder.set(RelationId(at), table, property);
        }
    }
    for (at, (entry, origin)) in entries() {
        if let Origin::Builtin(builtin) = origin {
            populate
                .builder
                .set_builtin(RelationId(at), *builtin, entry.arity);
        }
    }
    populate.builder.finish()
}

impl<'a> Populate<'a> {
    fn add_atoms(&mut self) {
        let graph = self.graph;
        self.locations = vec![Atom(0); graph.len()];
        for external in [true, false] {
            for (id, location) in graph.locations() {
                if location.external != external {
                    continue;
                }
                let info = AtomInfo {
                    included_by: location.origin.chain().collect(),
                    ..AtomInfo::thing(shown(graph, location), Some(location.origin.span))
                };
                let atom = if external {
                    self.builder.add_existing(info)
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
        self.builder.reserve(facts.len());
        self.fact_atoms.reserve(facts.len());
        // Atoms of one signature often come in a row.
        let first = facts.atoms().next().map_or("", |(_, fact)| fact.sig);
        let mut row = (first, Vec::new());
        for (_, fact) in facts.atoms() {
            let location = fact.location.and_then(|id| self.locations.get(id.index()));
            let value = fact.value.as_ref();
            let value = value.filter(|_| self.vocabulary.is_value(fact.sig));
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
            if fact.sig != row.0 {
                let done = std::mem::replace(&mut row.0, fact.sig);
                self.by_sig.entry(done).or_default().append(&mut row.1);
            }
            row.1.push(atom);
        }
        self.by_sig.entry(row.0).or_default().append(&mut row.1);
    }

    fn fact(&self, id: AtomId) -> Option<Atom> {
        self.fact_atoms.get(id.index()).copied()
    }

    /// The tuples of a relation, and whether it is a property.
    fn table(&mut self, origin: &'a Origin, arity: usize) -> (Table, bool) {
        let mut table = Table::new(arity);
        let facts = self.facts;
        match origin {
            Origin::Atoms { sigs, subset } => {
                for name in sigs {
                    for &atom in self.by_sig.get(name).map_or(&[][..], Vec::as_slice) {
                        table.push(&[atom], None, Tri::True);
                    }
                }
                for &id in facts.marked(subset) {
                    if let Some(atom) = self.fact(id) {
                        table.push(&[atom], None, Tri::True);
                    }
                }
                (table, false)
            }
            Origin::Tuples { sig, field } => {
                let mut row: Vec<Atom> = Vec::new();
                let relation = facts.relation_of(sig, field).into_iter();
                for (tuple, written) in relation.flat_map(|relation| relation.placed()) {
                    row.clear();
                    row.extend(tuple.iter().filter_map(|&id| self.fact(id)));
                    let span = written.or_else(|| tuple.last().map(|&id| facts.get(id).span));
                    if row.len() == arity {
                        table.push(&row, span, Tri::True);
                    }
                }
                (table, false)
            }
            Origin::Existing => {
                for ((_, location), &atom) in self.graph.locations().zip(&self.locations) {
                    if location.external {
                        table.push(&[atom], None, Tri::True);
                    }
                }
                (table, false)
            }
            Origin::Things { sig } => {
                for owner in self.owners(sig).iter() {
                    table.push(&[owner.atom], None, owner.certain);
                }
                (table, false)
            }
            Origin::Property {
                sig,
                name,
                property,
            } => {
                let find = || Property::find(self.vocabulary, sig, name);
                match property.get_or_init(find) {
                    Some(property) => {
                        self.property(sig, name, property, &mut table);
                        (table, true)
                    }
                    None => (table, false),
                }
            }
            Origin::Builtin(_) => (table, false),
        }
    }

    /// The atoms of a signature of locations or maps, with their properties.
    fn owners(&mut self, sig: &'a str) -> Arc<Vec<Owner<'a>>> {
        if let Some(owners) = self.owners.get(sig) {
            return owners.clone();
        }
        let owners = Arc::new(match self.vocabulary.members(sig) {
            Some(Members::Sort(sort)) => self.of_sort(&sort),
            Some(Members::Maps { sort, path }) => {
                let mut owners = self.of_sort(&sort);
                for property in &path {
                    owners = self.maps_of(&owners, property);
                }
                owners
            }
            Some(Members::Existing) | None => Vec::new(),
        });
        self.owners.insert(sig, owners.clone());
        owners
    }

    fn of_sort(&self, sort: &str) -> Vec<Owner<'a>> {
        let graph = self.graph;
        let ids = self.by_sort.get(sort).map_or(&[][..], Vec::as_slice);
        ids.iter()
            .filter_map(|&id| {
                let location = graph.location(id);
                let certain = match location.presence {
                    Presence::Present => Tri::True,
                    Presence::When(_) => Tri::Unknown,
                    Presence::Absent => return None,
                };
                (!location.external).then_some(Owner {
                    atom: *self.locations.get(id.index())?,
                    fields: &location.properties,
                    certain,
                    span: location.origin.span,
                })
            })
            .collect()
    }

    /// The maps that a property of some atoms holds.
    fn maps_of(&mut self, owners: &[Owner<'a>], property: &str) -> Vec<Owner<'a>> {
        let mut maps = Vec::new();
        for owner in owners {
            let Some(item) = field(owner.fields, property) else {
                continue;
            };
            let mut leaves = Vec::new();
            self.leaves(item, owner.certain, &mut leaves);
            let many = matches!(item.value, Value::List(_));
            for (index, (leaf, certain)) in leaves.into_iter().enumerate() {
                if let Value::Map(fields) = &leaf.value {
                    let name = if many {
                        format!("{property}.{index}")
                    } else {
                        property.to_owned()
                    };
                    maps.push(Owner {
                        atom: self.map(leaf, name),
                        fields,
                        certain,
                        span: leaf.span,
                    });
                }
            }
        }
        maps
    }

    fn map(&mut self, item: &'a Item, name: String) -> Atom {
        if let Some(&atom) = self.maps.get(&std::ptr::from_ref(item)) {
            return atom;
        }
        let atom = self.builder.add(AtomInfo {
            value: Some(item.value.clone()),
            ..AtomInfo::thing(name, Some(item.span))
        });
        self.maps.insert(std::ptr::from_ref(item), atom);
        atom
    }

    /// The values of a property: of a list each item, of a choice both alternatives.
    fn leaves(&self, item: &'a Item, certain: Tri, out: &mut Vec<(&'a Item, Tri)>) {
        match &item.value {
            Value::Null => {}
            Value::List(items) => {
                for item in items {
                    self.leaves(item, certain, out);
                }
            }
            Value::Symbolic(symbol) => match &self.graph.symbol(*symbol).kind {
                SymbolKind::Choice {
                    then, otherwise, ..
                } => {
                    self.leaves(then, Tri::Unknown, out);
                    if let Some(otherwise) = otherwise {
                        self.leaves(otherwise, Tri::Unknown, out);
                    }
                }
                _ => out.push((item, certain)),
            },
            _ => out.push((item, certain)),
        }
    }

    fn atom(&mut self, item: &'a Item, property: &str) -> Option<Atom> {
        match &item.value {
            Value::Null | Value::List(_) => None,
            Value::Map(_) => Some(self.map(item, property.to_owned())),
            Value::Location(id) => self.locations.get(id.index()).copied(),
            Value::Symbolic(symbol) => self.builder.symbol(symbol.index()),
            value => Some(self.builder.value(value)),
        }
    }

    /// The tuples of a property.
    fn property(&mut self, sig: &'a str, name: &str, property: &'a Property, table: &mut Table) {
        let owners = self.owners(sig);
        if owners.is_empty() {
            return;
        }
        // Maps get their names where they are first met.
        if let Some(maps) = &property.maps {
            self.owners(maps);
        }
        let mut leaves = Vec::new();
        for owner in owners.iter() {
            let mut fields = owner.fields.iter().rev();
            let given = fields.find(|field| is_mangled(&field.name, name));
            leaves.clear();
            if let Some(field) = given {
                self.leaves(&field.item, owner.certain, &mut leaves);
            }
            let absent = given.is_none_or(|field| matches!(field.item.value, Value::Null));
            if let (true, Some(default)) = (absent, &property.default) {
                let atom = self.builder.value(default);
                table.push(&[owner.atom, atom], Some(owner.span), owner.certain);
            }
            for &(leaf, certain) in &leaves {
                if let Some(atom) = self.atom(leaf, name) {
                    table.push(&[owner.atom, atom], Some(leaf.span), certain);
                }
                // Of a map without a schema the locations in it count too, under whatever key.
                if let (Value::Map(fields), None) = (&leaf.value, &property.maps) {
                    for field in fields {
                        if let Value::Location(id) = field.item.value
                            && let Some(&atom) = self.locations.get(id.index())
                        {
                            table.push(&[owner.atom, atom], Some(field.item.span), certain);
                        }
                    }
                }
            }
        }
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

/// Whether a name is this one as an identifier.
fn is_mangled(name: &str, identifier: &str) -> bool {
    let same = |(a, b): (char, char)| a == b || (b == '_' && !a.is_alphanumeric());
    name.len() == identifier.len() && name.chars().zip(identifier.chars()).all(same)
}
