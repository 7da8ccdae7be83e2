//! The facts of one configuration as indexed tables.

use std::sync::{Arc, OnceLock};

use locus_core::value::{Domain, Symbol, SymbolKind, Value};
use locus_core::{Span, int::Int};
use rustc_hash::FxHashMap;

use super::builtin::Builtin;
use super::set::{Atom, Set, Tri};
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

/// Row numbers in the order of the atoms of one column.
#[derive(Debug, Default)]
struct Index {
    keys: Vec<Atom>,
    rows: Vec<u32>,
}

impl Index {
    fn get(&self, atom: Atom) -> &[u32] {
        let start = self.keys.partition_point(|&key| key < atom);
        let rest = self.keys.get(start..).unwrap_or(&[]);
        let len = rest.partition_point(|&key| key == atom);
        self.rows.get(start..start + len).unwrap_or(&[])
    }
}

/// A relation: stored tuples, or a built-in.
#[derive(Debug, Default)]
pub struct Table {
    arity: usize,
    rows: Vec<Atom>,
    spans: Vec<Option<Span>>,
    /// Rows that are there for some inputs only; empty when all are certain.
    doubtful: Vec<bool>,
    /// Whether some column of some row may be the same as another atom.
    symbolic: bool,
    /// There may be more tuples.
    open: bool,
    /// Whether it holds properties, of which nothing is known for what exists already.
    property: bool,
    builtin: Option<Builtin>,
    first: OnceLock<Index>,
    last: OnceLock<Index>,
    /// Rows with a symbol in the last column.
    symbol_last: OnceLock<Vec<u32>>,
    /// Rows with a symbol or something that exists already in the last column.
    vague_last: OnceLock<Vec<u32>>,
    /// The same for the first column.
    vague_first: OnceLock<Vec<u32>>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "row numbers come from the indexes over the same rows"
)]
impl Table {
    /// An empty table.
    pub fn new(arity: usize) -> Table {
        Table {
            arity,
            ..Table::default()
        }
    }

    /// The table of a set.
    pub(super) fn of(set: Set, property: bool, is_symbol: impl Fn(Atom) -> bool) -> Table {
        let mut table = Table::new(set.arity);
        table.open = set.open;
        table.property = property;
        for (row, tri) in set.rows() {
            table.push(row, None, tri);
        }
        table.symbolic = table.rows.iter().any(|&atom| is_symbol(atom));
        table
    }

    /// Adds a tuple, with where it is written and whether it is there for every input.
    pub fn push(&mut self, row: &[Atom], span: Option<Span>, certain: Tri) {
        if certain != Tri::True && self.doubtful.is_empty() {
            self.doubtful = vec![false; self.spans.len()];
        }
        if !self.doubtful.is_empty() || certain != Tri::True {
            self.doubtful.push(certain != Tri::True);
        }
        self.rows.extend_from_slice(row);
        self.spans.push(span);
    }

    /// Number of columns.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Number of tuples.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether no tuple is stored.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether it may have more tuples than are stored.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Whether nothing is known of the properties it would have for what exists already.
    pub(super) fn is_property(&self) -> bool {
        self.property
    }

    /// The built-in relation it is, when it is one that is not stored.
    pub(crate) fn builtin(&self) -> Option<Builtin> {
        self.builtin
    }

    /// A tuple by its number.
    pub(crate) fn row(&self, at: usize) -> &[Atom] {
        &self.rows[at * self.arity..(at + 1) * self.arity]
    }

    /// Whether a tuple is certain.
    pub(crate) fn certain(&self, at: usize) -> Tri {
        if self.doubtful.get(at).copied().unwrap_or(false) {
            Tri::Unknown
        } else {
            Tri::True
        }
    }

    /// Where a tuple is written.
    pub(crate) fn span(&self, at: usize) -> Option<Span> {
        self.spans.get(at).copied().flatten()
    }

    fn index(&self, column: usize) -> Index {
        let mut pairs: Vec<(Atom, u32)> = (0..self.len())
            .map(|at| {
                let row = u32::try_from(at).unwrap_or(u32::MAX);
                (self.row(at)[column], row)
            })
            .collect();
        if !pairs.is_sorted() {
            pairs.sort_unstable();
        }
        let (keys, rows) = pairs.into_iter().unzip();
        Index { keys, rows }
    }

    /// The numbers of the tuples that start with an atom.
    pub(crate) fn starting(&self, atom: Atom) -> &[u32] {
        self.first.get_or_init(|| self.index(0)).get(atom)
    }

    /// The numbers of the tuples that end with an atom.
    pub(super) fn ending(&self, atom: Atom) -> &[u32] {
        if self.arity == 1 {
            return self.starting(atom);
        }
        let last = self.arity.saturating_sub(1);
        self.last.get_or_init(|| self.index(last)).get(atom)
    }

    fn rows_with(&self, of: impl Fn(&[Atom]) -> bool) -> Vec<u32> {
        (0..self.len())
            .filter(|&at| of(self.row(at)))
            .map(|at| u32::try_from(at).unwrap_or(u32::MAX))
            .collect()
    }

    /// The numbers of the tuples whose last atom may be the same as a given one without being it: a symbol, or for
    /// something that exists already another such thing.
    pub(super) fn ending_vaguely(&self, database: &Database, like: Atom) -> &[u32] {
        if !self.symbolic {
            return &[];
        }
        let last = |row: &[Atom], is: &dyn Fn(Atom) -> bool| row.last().is_some_and(|&a| is(a));
        if database.is_vague(like) {
            let vague = || self.rows_with(|row| last(row, &|atom| database.is_vague(atom)));
            self.vague_last.get_or_init(vague)
        } else {
            let symbols = || self.rows_with(|row| last(row, &|atom| database.is_symbol(atom)));
            self.symbol_last.get_or_init(symbols)
        }
    }

    /// The numbers of the tuples whose first atom may be the same as another.
    pub(super) fn starting_vaguely(&self, database: &Database) -> &[u32] {
        if !self.symbolic {
            return &[];
        }
        let vague = |row: &[Atom]| row.first().is_some_and(|&atom| database.is_vague(atom));
        self.vague_first.get_or_init(|| self.rows_with(vague))
    }

    /// The tuples as a set.
    pub(super) fn to_set(&self) -> Set {
        let mut set = Set::empty(self.arity);
        set.open = self.open;
        for at in 0..self.len() {
            set.push(self.row(at), self.certain(at));
        }
        set.normalize();
        set
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
    tables: Vec<Table>,
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
        &self.tables[relation.index()]
    }

    /// Whether an atom is a value that is not known.
    pub fn is_symbol(&self, atom: Atom) -> bool {
        (self.first_symbol..self.end_symbols).contains(&atom.0)
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

/// Whether a symbol of this domain may have a value.
fn admits(domain: &Domain, value: &Value) -> Tri {
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
    /// Starts with the constants of a program, which are the first atoms, and the symbols of a graph.
    pub fn new<'a>(
        constants: &[Value],
        symbols: impl IntoIterator<Item = &'a Symbol>,
        all_inputs: bool,
    ) -> Self {
        let mut builder = DatabaseBuilder {
            database: Database {
                all_inputs,
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
        let key = key(value);
        if let Some(key) = &key
            && let Some(&atom) = self.values.get(key)
        {
            return atom;
        }
        let name = match value {
            Value::Str(text) => text.clone(),
            other => other.to_string().into(),
        };
        let atom = self.add(AtomInfo {
            kind: Kind::Value,
            value: Some(value.clone()),
            ..AtomInfo::thing(name, None)
        });
        if let Some(key) = key {
            self.values.insert(key, atom);
        }
        atom
    }

    /// Sets the tuples of a relation; those of a property are not known for what exists already.
    pub fn set(&mut self, relation: RelationId, mut table: Table, property: bool) {
        let database = &self.database;
        table.symbolic =
            database.has_vague() && table.rows.iter().any(|&atom| database.is_vague(atom));
        table.property = property;
        let tables = &mut self.database.tables;
        while tables.len() <= relation.index() {
            tables.push(Table::default());
        }
        if let Some(slot) = tables.get_mut(relation.index()) {
            *slot = table;
        }
    }

    /// Sets a built-in relation, once all other values are there.
    pub fn set_builtin(&mut self, relation: RelationId, builtin: Builtin, arity: usize) {
        let mut table = Table::new(arity);
        if builtin.is_function() {
            let database = &self.database;
            let known: Vec<(Atom, Value)> = if builtin == Builtin::NameOf {
                let name = |atom| Value::Str(database.atom(atom).name.clone());
                database.atoms().map(|atom| (atom, name(atom))).collect()
            } else {
                database
                    .atoms()
                    .filter_map(|atom| Some((atom, database.atom(atom).value.clone()?)))
                    .collect()
            };
            for (atom, value) in known {
                if let Some(result) = builtin.result(&value) {
                    let result = self.value(&result);
                    table.push(&[atom, result], None, Tri::True);
                }
            }
            // Results are values too, and mostly results of themselves.
            let owners: rustc_hash::FxHashSet<Atom> =
                table.rows.iter().copied().step_by(2).collect();
            let mut results: Vec<Atom> = table.rows.iter().copied().skip(1).step_by(2).collect();
            results.retain(|result| !owners.contains(result));
            results.sort_unstable();
            results.dedup();
            for atom in results {
                let value = self.database.atom(atom).value.clone();
                if let Some(result) = value.and_then(|value| builtin.result(&value)) {
                    let result = self.value(&result);
                    table.push(&[atom, result], None, Tri::True);
                }
            }
        } else {
            table.builtin = Some(builtin);
        }
        self.set(relation, table, false);
    }

    /// The database.
    pub fn finish(self) -> Database {
        self.database
    }
}
