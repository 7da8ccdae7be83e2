//! Locations and maps as atoms of signatures, and their properties.

use std::sync::Arc;

use locus_core::Span;
use locus_core::graph::LocationId;
use locus_core::value::{Field, Item, SymbolKind, Value, field};
use locus_core::vocabulary::{Members, Sig};

use super::Populate;
use super::graph::There;
use crate::engine::{Atom, AtomInfo, Reasons, Table, Tri};
use crate::rules::{Origin, Things};

/// An atom with properties: a location, or a map within the properties of one.
#[derive(Clone)]
pub(super) struct Owner<'g> {
    pub(super) atom: Atom,
    fields: &'g [Field],
    /// Whether it is there for every input.
    pub(super) certain: Tri,
    /// The symbols that decide whether it is there.
    pub(super) reasons: Reasons,
    /// What a default that it has points at.
    span: Span,
}

impl<'a> Populate<'a> {
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
    pub(super) fn has(&self, things: &Things) -> bool {
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
    pub(super) fn owners(&mut self, at: u32) -> Arc<Vec<Owner<'a>>> {
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
    pub(super) fn property(&mut self, origin: &'a Origin, table: &mut Table) {
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
