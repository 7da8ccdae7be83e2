//! The facts of one configuration as indexed tables.

use std::sync::Arc;

use locus_core::value::{Constraint, Domain, Symbol, SymbolKind, Value, ValueType};
use locus_core::{Span, int::Int};
use rustc_hash::FxHashMap;

use super::Builtin;
use super::set::{Atom, Tri};
use super::table::Table;
use crate::logic::RelationId;

/// What an atom is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value; equal values are one atom.
    Value,
    /// A value that is not known.
    Symbol,
    /// Something of the configuration: a location, an item, a reference.
    Thing,
    /// Something that exists already; its properties are not known.
    Existing,
}

/// An atom.
#[derive(Clone, Debug)]
pub struct AtomInfo {
    /// What messages call it.
    pub name: Arc<str>,
    /// Where it is written; values have a place only where they are used.
    pub span: Option<Span>,
    /// What it is.
    pub kind: Kind,
    /// Its value, when it is or has one.
    pub value: Option<Value>,
    /// What is known of a symbol.
    pub symbol: Option<Arc<Symbol>>,
    /// The places that brought it in, innermost first.
    pub included_by: Vec<Span>,
}

impl AtomInfo {
    /// Something of the configuration.
    pub fn thing(name: impl Into<Arc<str>>, span: Option<Span>) -> Self {
        AtomInfo {
            name: name.into(),
            span,
            kind: Kind::Thing,
            value: None,
            symbol: None,
            included_by: Vec::new(),
        }
    }
}

/// What is known of a relation. Most relations that rules mention have no tuple in a given configuration.
#[derive(Debug)]
enum Relation {
    Empty(&'static Table),
    Stored(Box<Table>),
}

impl Relation {
    fn empty((arity, property): (usize, bool)) -> Relation {
        match Table::shared_empty(arity, property) {
            Some(table) => Relation::Empty(table),
            None => Relation::Stored(Box::new(Table::new(arity))),
        }
    }
}

/// The facts of one configuration.
#[derive(Debug, Default)]
pub struct Database {
    atoms: Vec<AtomInfo>,
    /// Symbols are numbered from here.
    first_symbol: u32,
    /// And up to here; what exists already follows.
    end_symbols: u32,
    /// The end of what exists already.
    end_vague: u32,
    tables: Vec<Relation>,
    /// The symbols that name what exists already.
    named_by: FxHashMap<Atom, u32>,
    /// What things that exist already are called, where that is known.
    called: FxHashMap<Atom, Value>,
    /// Whether to look for what breaks a rule for some inputs, not only for all.
    all_inputs: bool,
}

impl Database {
    /// An atom.
    #[expect(
        clippy::indexing_slicing,
        reason = "atoms are made by the builder of the same database only"
    )]
    pub fn atom(&self, atom: Atom) -> &AtomInfo {
        &self.atoms[atom.index()]
    }

    /// All atoms.
    pub fn atoms(&self) -> impl Iterator<Item = Atom> + use<> {
        (0..u32::try_from(self.atoms.len()).unwrap_or(u32::MAX)).map(Atom)
    }

    /// A relation.
    #[expect(
        clippy::indexing_slicing,
        reason = "the builder makes a table for every relation of the program"
    )]
    pub fn table(&self, relation: RelationId) -> &Table {
        match &self.tables[relation.index()] {
            Relation::Empty(table) => table,
            Relation::Stored(table) => table,
        }
    }

    /// Whether an atom is a value that is not known.
    pub fn is_symbol(&self, atom: Atom) -> bool {
        (self.first_symbol..self.end_symbols).contains(&atom.0)
    }

    /// The position of the symbol that an atom is, or is named by.
    pub(super) fn symbol_of(&self, atom: Atom) -> Option<u32> {
        match self.is_symbol(atom) {
            true => atom.0.checked_sub(self.first_symbol),
            false => self.named_by.get(&atom).copied(),
        }
    }

    /// What an atom is compared as: its value, or what something that exists already is called.
    pub(crate) fn compared_as(&self, atom: Atom) -> Option<&Value> {
        let value = self.atom(atom).value.as_ref();
        value.or_else(|| self.called.get(&atom))
    }

    /// Whether an atom is something that exists already.
    pub fn is_existing(&self, atom: Atom) -> bool {
        (self.end_symbols..self.end_vague).contains(&atom.0)
    }

    /// Whether an atom may be the same as another: a value that is not known, or something that exists already and
    /// may have been named in two ways.
    pub(super) fn is_vague(&self, atom: Atom) -> bool {
        (self.first_symbol..self.end_vague).contains(&atom.0)
    }

    /// Everything that exists already.
    pub(super) fn existing(&self) -> impl Iterator<Item = Atom> + use<> {
        (self.end_symbols..self.end_vague).map(Atom)
    }

    /// Whether any atom may be the same as another.
    pub(super) fn has_vague(&self) -> bool {
        self.first_symbol < self.end_vague
    }

    /// Whether an atom is written before another; what has no place is not.
    pub(crate) fn written_before(&self, a: Atom, b: Atom) -> bool {
        match (self.atom(a).span, self.atom(b).span) {
            (Some(x), Some(y)) => (x.file, x.start, a) < (y.file, y.start, b),
            _ => false,
        }
    }

    /// Whether two atoms stand for one thing.
    pub fn equal(&self, a: Atom, b: Atom) -> Tri {
        if a == b {
            return Tri::True;
        }
        if !self.has_vague() {
            return Tri::False;
        }
        match (self.is_symbol(a), self.is_symbol(b)) {
            (false, false) if self.is_existing(a) && self.is_existing(b) => Tri::Unknown,
            (false, false) => Tri::False,
            (true, true) => Tri::Unknown,
            (true, false) => self.may_be(a, b),
            (false, true) => self.may_be(b, a),
        }
    }

    fn may_be(&self, symbol: Atom, atom: Atom) -> Tri {
        let other = self.atom(atom);
        let Some(symbol) = &self.atom(symbol).symbol else {
            return Tri::Unknown;
        };
        match (&other.value, other.kind) {
            (Some(value), Kind::Value) => admits(&symbol.domain, value),
            // An identifier that is not known may be that of a resource, never that of an item.
            (None, Kind::Thing) if other.span.is_none() => Tri::False,
            _ => Tri::Unknown,
        }
    }

    /// Whether a symbol has one value only, so that it may be certain to be it.
    pub(super) fn is_settled(&self, symbol: Atom) -> bool {
        let symbol = self.atom(symbol).symbol.as_ref();
        let choices = symbol.and_then(|symbol| symbol.domain.choices());
        choices.is_some_and(|choices| choices.len() == 1)
    }

    /// Whether looking for candidates should treat a symbol as any value it may take: when its values are
    /// listed, or when asked for all inputs and it is one.
    pub(super) fn expands(&self, symbol: Atom) -> bool {
        self.atom(symbol).symbol.as_ref().is_some_and(|symbol| {
            let input = !matches!(symbol.kind, SymbolKind::Attribute { .. });
            symbol.domain.choices().is_some() || (self.all_inputs && input)
        })
    }

    /// Whether the values of some symbol are listed.
    pub(crate) fn has_choices(&self) -> bool {
        let symbols = (self.first_symbol..self.end_symbols).map(Atom);
        symbols
            .into_iter()
            .any(|symbol| self.values(symbol).is_some())
    }

    /// The limits of the numbers that an atom may be; none when it may be something else.
    pub(super) fn bounds(&self, atom: Atom) -> Option<Bounds> {
        let info = self.atom(atom);
        match (&info.symbol, &info.value) {
            (Some(symbol), _) => range(&symbol.domain),
            (None, Some(Value::Int(number))) => {
                let number = number.to_i64()?;
                Some((Some(number), Some(number)))
            }
            _ => None,
        }
    }

    /// The values of an atom when they can be listed: its own, or those of a symbol's domain.
    pub(crate) fn values(&self, atom: Atom) -> Option<Vec<Value>> {
        let info = self.atom(atom);
        match (&info.symbol, &info.value) {
            (Some(symbol), _) => symbol.domain.choices(),
            (None, Some(value)) => Some(vec![value.clone()]),
            (None, None) => None,
        }
    }
}

/// The least and the greatest number that something may be, where there are such.
pub(super) type Bounds = (Option<i64>, Option<i64>);

/// The limits of the numbers of a domain; none when it has other values too.
fn range(domain: &Domain) -> Option<Bounds> {
    if !matches!(domain.ty, ValueType::Int | ValueType::Number) {
        return None;
    }
    let (mut low, mut high): Bounds = (None, None);
    for constraint in &domain.constraints {
        if let Constraint::Range { min, max } = constraint {
            if let Some(Value::Int(min)) = min {
                low = low.max(min.to_i64());
            }
            if let Some(max) = max.as_ref().and_then(|max| match max {
                Value::Int(max) => max.to_i64(),
                _ => None,
            }) {
                high = Some(high.map_or(max, |high| high.min(max)));
            }
        }
    }
    Some((low, high))
}

/// Whether a symbol of this domain may have a value.
fn admits(domain: &Domain, value: &Value) -> Tri {
    if let (Value::Int(number), Some((low, high))) = (value, range(domain))
        && let Some(number) = number.to_i64()
        && (low.is_some_and(|low| number < low) || high.is_some_and(|high| number > high))
    {
        return Tri::False;
    }
    match domain.choices() {
        Some(choices) => {
            let found = choices.iter().any(|choice| choice.same(value));
            match (found, choices.len()) {
                (true, 1) => Tri::True,
                (true, _) => Tri::Unknown,
                (false, _) => Tri::False,
            }
        }
        None => Tri::Unknown,
    }
}

/// A value as a key: equal values have equal keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Null,
    Bool(bool),
    Int(Int),
    Float(u64),
    Str(Arc<str>),
}

fn key(value: &Value) -> Option<Key> {
    Some(match value {
        Value::Null => Key::Null,
        Value::Bool(b) => Key::Bool(*b),
        Value::Int(n) => Key::Int(n.clone()),
        // `1.0` and `1` are one number.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the float is whole and small enough"
        )]
        Value::Float(f) if f.fract() == 0.0 && f.abs() < 1e15 => Key::Int(Int::Small(*f as i64)),
        Value::Float(f) => Key::Float(f.to_bits()),
        Value::Str(text) => Key::Str(text.clone()),
        _ => return None,
    })
}

/// Fills a database.
#[derive(Debug)]
pub struct DatabaseBuilder {
    database: Database,
    values: FxHashMap<Key, Atom>,
}

impl DatabaseBuilder {
    /// Starts with the constants of a program, which are the first atoms, the symbols of a graph, and relations
    /// without tuples, of which it is said how many columns they have and whether they are properties.
    pub fn new<'a>(
        relations: impl Iterator<Item = (usize, bool)>,
        constants: &[Value],
        symbols: impl IntoIterator<Item = &'a Symbol>,
        all_inputs: bool,
    ) -> Self {
        let mut builder = DatabaseBuilder {
            database: Database {
                all_inputs,
                tables: relations.map(Relation::empty).collect(),
                ..Database::default()
            },
            values: FxHashMap::default(),
        };
        for value in constants {
            builder.value(value);
        }
        let len = |builder: &Self| u32::try_from(builder.database.atoms.len()).unwrap_or(u32::MAX);
        builder.database.first_symbol = len(&builder);
        for symbol in symbols {
            builder.add(AtomInfo {
                kind: Kind::Symbol,
                symbol: Some(Arc::new(symbol.clone())),
                ..AtomInfo::thing(symbol.name.clone(), Some(symbol.span))
            });
        }
        builder.database.end_symbols = len(&builder);
        builder.database.end_vague = len(&builder);
        builder
    }

    /// Adds something that exists already; before anything else is added.
    pub fn add_existing(&mut self, info: AtomInfo) -> Atom {
        debug_assert_eq!(self.database.end_vague as usize, self.database.atoms.len());
        let atom = self.add(AtomInfo {
            kind: Kind::Existing,
            ..info
        });
        self.database.end_vague = atom.0.saturating_add(1);
        atom
    }

    /// States what something that exists already is called.
    pub fn call(&mut self, atom: Atom, name: Value) {
        self.database.called.insert(atom, name);
    }

    /// States that something that exists already is named by a symbol, by its position among the symbols.
    pub fn name_by(&mut self, atom: Atom, symbol: usize) {
        if let Ok(symbol) = u32::try_from(symbol) {
            self.database.named_by.insert(atom, symbol);
        }
    }

    /// Makes room for so many atoms, most of them values.
    pub fn reserve(&mut self, atoms: usize) {
        self.database.atoms.reserve(atoms);
        self.values.reserve(atoms);
    }

    /// Adds an atom of its own.
    pub fn add(&mut self, info: AtomInfo) -> Atom {
        let atom = Atom(u32::try_from(self.database.atoms.len()).unwrap_or(u32::MAX));
        self.database.atoms.push(info);
        atom
    }

    /// Changes what messages call an atom.
    pub fn rename(&mut self, atom: Atom, name: Arc<str>) {
        if let Some(info) = self.database.atoms.get_mut(atom.index()) {
            info.name = name;
        }
    }

    /// The atom of a symbol, by its position among the symbols.
    pub fn symbol(&self, index: usize) -> Option<Atom> {
        let atom = self
            .database
            .first_symbol
            .checked_add(u32::try_from(index).ok()?)?;
        (atom < self.database.end_symbols).then_some(Atom(atom))
    }

    /// The atom of a value.
    pub fn value(&mut self, value: &Value) -> Atom {
        let next = Atom(u32::try_from(self.database.atoms.len()).unwrap_or(u32::MAX));
        if let Some(key) = key(value) {
            let known = *self.values.entry(key).or_insert(next);
            if known != next {
                return known;
            }
        }
        let name = match value {
            Value::Str(text) => text.clone(),
            other => other.to_string().into(),
        };
        self.add(AtomInfo {
            kind: Kind::Value,
            value: Some(value.clone()),
            ..AtomInfo::thing(name, None)
        })
    }

    /// Sets the tuples of a relation; those of a property are not known for what exists already.
    pub fn set(&mut self, relation: RelationId, mut table: Table, property: bool) {
        let shared = Table::shared_empty(table.arity(), property);
        let shared = shared.filter(|_| table.is_empty() && table.builtin().is_none());
        let entry = match shared {
            Some(empty) => Relation::Empty(empty),
            None => {
                let database = &self.database;
                table.qualify(property, |atom| database.is_vague(atom));
                Relation::Stored(Box::new(table))
            }
        };
        if let Some(slot) = self.database.tables.get_mut(relation.index()) {
            *slot = entry;
        }
    }

    /// Sets a built-in relation, once all other values are there.
    pub fn set_builtin(&mut self, relation: RelationId, builtin: Builtin, arity: usize) {
        if builtin.is_function() {
            let mut table = Table::new(arity);
            for atom in self.database.atoms() {
                self.apply(builtin, atom, &mut table);
            }
            // Results are values too, and mostly results of themselves. Owners are in order.
            let owner = |result: &Atom| {
                let (mut low, mut high) = (0, table.len());
                while low < high {
                    let middle = low.midpoint(high);
                    match table.flat().get(2 * middle).cmp(&Some(result)) {
                        std::cmp::Ordering::Equal => return true,
                        std::cmp::Ordering::Less => low = middle + 1,
                        std::cmp::Ordering::Greater => high = middle,
                    }
                }
                false
            };
            let results = table.flat().iter().copied().skip(1).step_by(2);
            let mut results: Vec<Atom> = results.filter(|result| !owner(result)).collect();
            results.sort_unstable();
            results.dedup();
            for atom in results {
                self.apply(builtin, atom, &mut table);
            }
            self.set(relation, table, false);
        } else {
            self.set(relation, Table::of_builtin(builtin, arity), false);
        }
    }

    /// Adds the result that a relation that is a function has for an atom.
    fn apply(&mut self, builtin: Builtin, atom: Atom, table: &mut Table) {
        let info = self.database.atom(atom);
        let result = match (builtin, &info.value) {
            (Builtin::NameOf, _) => Some(Value::Str(info.name.clone())),
            (_, Some(value)) => builtin.result(value),
            (_, None) => None,
        };
        let Some(result) = result else { return };
        // Mostly the value itself, which needs no looking up.
        let itself = match (&info.value, &result) {
            (Some(Value::Str(text)), Value::Str(found)) => {
                info.kind == Kind::Value && text == found
            }
            _ => false,
        };
        let result = if itself { atom } else { self.value(&result) };
        table.push(&[atom, result], None, Tri::True);
    }

    /// The database.
    pub fn finish(self) -> Database {
        self.database
    }
}
