//! The relations that every location graph has.

use std::collections::BTreeSet;
use std::sync::Arc;

use locus_core::Span;
use locus_core::graph::{Location, Presence, RoleId, RoleKind};
use locus_core::value::Value;
use locus_core::vocabulary::{GraphField, GraphSet};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Populate;
use crate::engine::{Atom, AtomInfo, Reasons, Table, Tri};

/// Whether something is part of the configuration, and the symbols that decide it.
#[derive(Clone, Debug)]
pub(super) struct There {
    pub(super) certain: Tri,
    pub(super) reasons: Reasons,
}

impl There {
    /// That of a location; none when it is left out.
    pub(super) fn of(presence: &Presence) -> Option<There> {
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

impl<'a> Populate<'a> {
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
    pub(super) fn graph_set(&mut self, set: GraphSet, table: &mut Table) {
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
    pub(super) fn graph_field(&mut self, field: GraphField, table: &mut Table) {
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
}
