//! Stored relations, with indexes that are made when they are first needed.

use std::sync::{LazyLock, OnceLock};

use locus_core::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Builtin;
use super::database::Database;
use super::set::{Atom, Set, Tri};

/// Row numbers in the order of the atoms of one column.
#[derive(Debug, Default)]
struct Index {
    /// The least atom of the column.
    least: u32,
    /// Where the rows of each atom from the least on start, and the end; empty when the atoms lie far apart.
    starts: Vec<u32>,
    /// The atom of each row number, when they do.
    keys: Vec<Atom>,
    rows: Vec<u32>,
}

/// Atoms for each row up to which an index has a place for every atom.
const DENSE: usize = 16;

impl Index {
    fn new(column: impl Iterator<Item = Atom> + Clone) -> Index {
        let (mut least, mut most, mut count) = (u32::MAX, 0, 0_usize);
        for atom in column.clone() {
            (least, most) = (least.min(atom.0), most.max(atom.0));
            count += 1;
        }
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let width = most.saturating_sub(least) as usize + 1;
        if count == 0 || width > count.saturating_mul(DENSE) {
            let mut pairs: Vec<(Atom, u32)> = column
                .enumerate()
                .map(|(at, atom)| (atom, number(at)))
                .collect();
            if !pairs.is_sorted() {
                pairs.sort_unstable();
            }
            let (keys, rows) = pairs.into_iter().unzip();
            return Index {
                keys,
                rows,
                ..Index::default()
            };
        }
        // Counting: how many rows each atom has, then where they start, then the rows themselves.
        let mut starts = vec![0_u32; width + 1];
        let place = |atom: Atom| (atom.0 - least) as usize;
        for atom in column.clone() {
            if let Some(count) = starts.get_mut(place(atom) + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut next = starts.clone();
        let mut rows = vec![0; count];
        for (at, atom) in column.enumerate() {
            if let Some(next) = next.get_mut(place(atom)) {
                if let Some(row) = rows.get_mut(*next as usize) {
                    *row = number(at);
                }
                *next += 1;
            }
        }
        Index {
            least,
            starts,
            keys: Vec::new(),
            rows,
        }
    }

    fn get(&self, atom: Atom) -> &[u32] {
        if !self.starts.is_empty() {
            let place = atom.0.wrapping_sub(self.least) as usize;
            let ends = (self.starts.get(place), self.starts.get(place + 1));
            let (Some(&start), Some(&end)) = ends else {
                return &[];
            };
            return self.rows.get(start as usize..end as usize).unwrap_or(&[]);
        }
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
    /// For each row with a reason to doubt it, the symbols that decide it.
    reasons: FxHashMap<u32, Reasons>,
    /// Whether some column of some row may be the same as another atom.
    symbolic: bool,
    /// There may be more tuples.
    open: bool,
    /// Whether it holds properties, of which nothing is known for what exists already.
    property: bool,
    builtin: Option<Builtin>,
    /// The tuples, sorted.
    set: OnceLock<Set>,
    first: OnceLock<Index>,
    last: OnceLock<Index>,
    /// Rows with a symbol in the last column.
    symbol_last: OnceLock<Vec<u32>>,
    /// Rows with a symbol or something that exists already in the last column.
    vague_last: OnceLock<Vec<u32>>,
    /// The same for the first column.
    vague_first: OnceLock<Vec<u32>>,
}

/// The symbols that decide whether a row is there, by their positions among the symbols.
pub type Reasons = SmallVec<[u32; 2]>;

/// Most columns of an empty table that is shared.
const WIDEST: usize = 4;

/// A table without tuples, of each number of columns, first for what is no property.
static EMPTY: LazyLock<[Vec<Table>; 2]> = LazyLock::new(|| {
    [false, true].map(|property| {
        let widths = 0..=WIDEST;
        let table = |arity| Table {
            property,
            ..Table::new(arity)
        };
        widths.map(table).collect()
    })
});

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

    /// The table without tuples, shared by all that need one; none when it has too many columns.
    pub(super) fn shared_empty(arity: usize, property: bool) -> Option<&'static Table> {
        EMPTY.get(usize::from(property))?.get(arity)
    }

    /// A table for a built-in relation, which stores nothing.
    pub(super) fn of_builtin(builtin: Builtin, arity: usize) -> Table {
        Table {
            builtin: Some(builtin),
            ..Table::new(arity)
        }
    }

    /// States whether it holds properties and whether some atom in it may be the same as another.
    pub(super) fn qualify(&mut self, property: bool, is_vague: impl Fn(Atom) -> bool) {
        self.property = property;
        self.symbolic = self.rows.iter().any(|&atom| is_vague(atom));
    }

    /// All atoms, tuple by tuple.
    pub(super) fn flat(&self) -> &[Atom] {
        &self.rows
    }

    /// The table of a set.
    pub(super) fn of(set: Set, property: bool, is_symbol: impl Fn(Atom) -> bool) -> Table {
        let mut table = Table::new(set.arity);
        table.open = set.open;
        for (row, tri) in set.rows() {
            table.push(row, None, tri);
        }
        table.qualify(property, is_symbol);
        table.set = OnceLock::from(set);
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

    /// Adds a tuple that is there for some inputs, with the symbols that decide it.
    pub fn push_because(
        &mut self,
        row: &[Atom],
        span: Option<Span>,
        certain: Tri,
        reasons: &Reasons,
    ) {
        let at = u32::try_from(self.spans.len()).unwrap_or(u32::MAX);
        self.push(row, span, certain);
        if certain != Tri::True && !reasons.is_empty() {
            self.reasons.insert(at, reasons.clone());
        }
    }

    /// The symbols that decide whether a tuple is there.
    pub(super) fn reasons(&self, at: u32) -> &[u32] {
        self.reasons.get(&at).map_or(&[], |reasons| reasons)
    }

    /// The symbols that decide which tuples are there.
    pub(super) fn all_reasons(&self) -> impl Iterator<Item = u32> + '_ {
        self.reasons.values().flatten().copied()
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
        let rows = self.rows.chunks_exact(self.arity.max(1));
        Index::new(rows.map(|row| row[column]))
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
    pub(super) fn set(&self) -> &Set {
        self.set.get_or_init(|| {
            let mut set = Set::empty(self.arity);
            set.open = self.open;
            for at in 0..self.len() {
                set.push(self.row(at), self.certain(at));
            }
            set.normalize();
            set
        })
    }
}
