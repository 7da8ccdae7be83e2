//! Fills the relations that rules mention from a location graph and the facts beside it.

use std::sync::Arc;

use locus_core::Span;
use locus_core::facts::{AtomId, Facts};
use locus_core::graph::{Location, LocationGraph, LocationId, Presence};
use locus_core::value::{Field, Item, SymbolKind, Value, field};
use rustc_hash::FxHashMap;

use crate::engine::{Atom, AtomInfo, Database, DatabaseBuilder, Table, Tri};
use crate::logic::RelationId;
use crate::rules::{Program, RelationKind};
use crate::vocabulary::{Members, PROPERTY, Vocabulary, mangle};

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
    /// The sorts that there are, as names of signatures.
    present: Vec<String>,
    by_sig: FxHashMap<&'static str, Vec<Atom>>,
    owners: FxHashMap<String, Arc<Vec<Owner<'a>>>>,
    /// The atoms of maps, by where they are held in the graph.
    maps: FxHashMap<*const Item, Atom>,
}

/// The facts of a configuration, as far as a program mentions them.
pub(super) fn populate(
    program: &Program,
    vocabulary: &dyn Vocabulary,
    graph: &LocationGraph,
    facts: &Facts,
    all_inputs: bool,
) -> Database {
    let symbols = graph.symbols().map(|(_, symbol)| symbol);
    let mut populate = Populate {
        builder: DatabaseBuilder::new(&program.constants, symbols, all_inputs),
        vocabulary,
        graph,
        facts,
        locations: Vec::new(),
        fact_atoms: Vec::new(),
        by_sort: FxHashMap::default(),
        present: Vec::new(),
        by_sig: FxHashMap::default(),
        owners: FxHashMap::default(),
        maps: FxHashMap::default(),
    };
    populate.add_atoms();
    let mut builtins = Vec::new();
    for (at, entry) in program.relations.iter().enumerate() {
        let id = RelationId(u32::try_from(at).unwrap_or(u32::MAX));
        match &entry.kind {
            RelationKind::Sig(name) => {
                let table = populate.sig(name);
                populate.builder.set(id, table, false);
            }
            RelationKind::Field { sig, name } => {
                let (table, property) = populate.field(sig, name, entry.arity);
                populate.builder.set(id, table, property);
            }
            // These are over the values of all other relations.
            RelationKind::Builtin(builtin) => builtins.push((id, *builtin, entry.arity)),
        }
    }
    for (id, builtin, arity) in builtins {
        populate.builder.set_builtin(id, builtin, arity);
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
        self.present = self.by_sort.keys().map(|sort| mangle(sort)).collect();
        let facts = self.facts;
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
            self.by_sig.entry(fact.sig).or_default().push(atom);
        }
    }

    fn fact(&self, id: AtomId) -> Option<Atom> {
        self.fact_atoms.get(id.index()).copied()
    }

    /// The atoms of a signature.
    fn sig(&mut self, name: &str) -> Table {
        let mut table = Table::new(1);
        let facts = self.facts;
        if let Some(decl) = facts.vocabulary().sig(name) {
            let sigs = facts.vocabulary().sigs;
            let mut names = vec![decl.name];
            let mut at = 0;
            while let Some(&parent) = names.get(at) {
                let children = sigs
                    .iter()
                    .filter(|sig| sig.parent == Some(parent) && !sig.subset);
                names.extend(children.map(|sig| sig.name));
                at += 1;
            }
            for name in names {
                for &atom in self.by_sig.get(name).map_or(&[][..], Vec::as_slice) {
                    table.push(&[atom], None, Tri::True);
                }
            }
            for &id in facts.marked(name) {
                if let Some(atom) = self.fact(id) {
                    table.push(&[atom], None, Tri::True);
                }
            }
            return table;
        }
        if self.vocabulary.members(name) == Some(Members::Existing) {
            for ((_, location), &atom) in self.graph.locations().zip(&self.locations) {
                if location.external {
                    table.push(&[atom], None, Tri::True);
                }
            }
            return table;
        }
        for owner in self.owners(name).iter() {
            table.push(&[owner.atom], None, owner.certain);
        }
        table
    }

    /// Whether a signature of locations or maps may have atoms. Its name starts with that of a sort, so that no
    /// type has to be looked at of which there is no location.
    fn may_have(&self, sig: &str) -> bool {
        self.present
            .iter()
            .any(|sort| sig.starts_with(sort.as_str()))
    }

    /// The atoms of a signature of locations or maps, with their properties.
    fn owners(&mut self, sig: &str) -> Arc<Vec<Owner<'a>>> {
        if let Some(owners) = self.owners.get(sig) {
            return owners.clone();
        }
        if !self.may_have(sig) {
            return Arc::default();
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
        self.owners.insert(sig.to_owned(), owners.clone());
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

    /// The tuples of a field, and whether it is a property.
    fn field(&mut self, sig: &str, name: &str, arity: usize) -> (Table, bool) {
        let mut table = Table::new(arity);
        let facts = self.facts;
        if facts.vocabulary().sig(sig).is_some() {
            let relation = facts.relation(sig, name).into_iter();
            let mut row: Vec<Atom> = Vec::with_capacity(arity);
            for (tuple, written) in relation.flat_map(|relation| relation.placed()) {
                row.clear();
                row.extend(tuple.iter().filter_map(|&id| self.fact(id)));
                let span = written.or_else(|| tuple.last().map(|&id| facts.get(id).span));
                if row.len() == arity {
                    table.push(&row, span, Tri::True);
                }
            }
            return (table, false);
        }
        if !self.may_have(sig) {
            return (table, true);
        }
        let Some(members) = self.vocabulary.members(sig) else {
            return (table, false);
        };
        let property = name.strip_prefix(PROPERTY).unwrap_or(name);
        let owners = self.owners(sig);
        if owners.is_empty() {
            return (table, true);
        }
        let default = self.vocabulary.default(&members, property);
        // Maps get their names where they are first met.
        let nested = format!("{sig}_{property}");
        let has_schema = self.vocabulary.members(&nested).is_some();
        if has_schema {
            self.owners(&nested);
        }
        for owner in owners.iter() {
            let mut fields = owner.fields.iter().rev();
            let given = fields.find(|field| is_mangled(&field.name, property));
            let mut leaves = Vec::new();
            if let Some(field) = given {
                self.leaves(&field.item, owner.certain, &mut leaves);
            }
            let absent = given.is_none_or(|field| matches!(field.item.value, Value::Null));
            if let (true, Some(default)) = (absent, &default) {
                let atom = self.builder.value(default);
                table.push(&[owner.atom, atom], Some(owner.span), owner.certain);
            }
            for (leaf, certain) in leaves {
                if let Some(atom) = self.atom(leaf, property) {
                    table.push(&[owner.atom, atom], Some(leaf.span), certain);
                }
                // Of a map without a schema the locations in it count too, under whatever key.
                if let (Value::Map(fields), false) = (&leaf.value, has_schema) {
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
        (table, true)
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
