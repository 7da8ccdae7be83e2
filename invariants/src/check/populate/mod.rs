//! Fills the relations that rules mention from a location graph and the facts beside it.

mod graph;
mod things;

use std::sync::Arc;

use locus_core::facts::{AtomId, Facts};
use locus_core::graph::{Location, LocationGraph, LocationId, Presence};
use locus_core::value::Value;
use locus_core::vocabulary::Sig;
use rustc_hash::FxHashMap;

use super::run::Configuration;
use crate::engine::{Atom, AtomInfo, Database, DatabaseBuilder, Reasons, Table, Tri};
use crate::logic::RelationId;
use crate::rules::{Origin, Program};
use things::Owner;

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
                        match &property.item.value {
                            Value::Symbolic(symbol) => self.builder.name_by(atom, symbol.index()),
                            name @ Value::Str(_) => self.builder.call(atom, name.clone()),
                            _ => {}
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
                let placed = relation.flat_map(|relation| {
                    let all = relation.placed().enumerate();
                    all.map(move |(at, tuple)| (relation.when(at), tuple))
                });
                for (when, (tuple, written)) in placed {
                    row.clear();
                    row.extend(tuple.iter().filter_map(|&id| self.fact(id)));
                    let span = written.or_else(|| tuple.last().map(|&id| facts.get(id).span));
                    let mut reasons = Reasons::new();
                    reasons.extend(when.filter_map(|symbol| u32::try_from(symbol.index()).ok()));
                    if row.len() != arity {
                        continue;
                    }
                    match reasons.is_empty() {
                        true => table.push(&row, span, Tri::True),
                        false => table.push_because(&row, span, Tri::Unknown, &reasons),
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
