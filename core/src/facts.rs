//! Facts beside the graph: relations over what a configuration says, for rules to quantify over.
//!
//! A language declares signatures and fields, each documented ([`Declarations`]); a front-end fills
//! [`Facts`] with atoms and tuples. Every atom has a span, so that a rule that fails for it has a
//! place to point at. Nothing here decides what is wrong: that is for rules.

use std::sync::Arc;

use crate::graph::LocationId;
use crate::source::Span;
use crate::value::{SymbolId, Value};
use crate::vocabulary::{Declarations, FieldId, SigId, SubsetId};

/// The identity of an atom within its [`Facts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtomId(u32);

impl AtomId {
    /// Position in the list of atoms.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something that rules speak about.
#[derive(Clone, Debug, PartialEq)]
pub struct Atom {
    /// The most specific signature it belongs to.
    pub sig: SigId,
    /// What a message calls it.
    pub name: Arc<str>,
    /// Where it is written.
    pub span: Span,
    /// The location it is, when it is one.
    pub location: Option<LocationId>,
    /// The value it is or has, for the built-in relations over values.
    pub value: Option<Value>,
}

/// The tuples of one field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relation {
    arity: usize,
    columns: Vec<AtomId>,
    spans: Vec<Option<Span>>,
    /// The symbols that decide whether a tuple is there, each with its position, in the order of these.
    when: Vec<(usize, SymbolId)>,
}

impl Relation {
    /// The tuples, owner first.
    pub fn tuples(&self) -> impl Iterator<Item = &[AtomId]> {
        self.columns.chunks_exact(self.arity.max(1))
    }

    /// The tuples with the places where they are written; without one, the place is that of the
    /// last atom. Where equal values are one atom, only the tuple knows its place.
    pub fn placed(&self) -> impl Iterator<Item = (&[AtomId], Option<Span>)> {
        self.tuples().zip(self.spans.iter().copied())
    }

    /// The symbols that decide whether the tuple at a position is there; none where it is for every input.
    pub fn when(&self, at: usize) -> impl Iterator<Item = SymbolId> {
        let first = self.when.partition_point(|(other, _)| *other < at);
        let own = self.when.iter().skip(first);
        own.take_while(move |(other, _)| *other == at)
            .map(|(_, symbol)| *symbol)
    }

    /// Number of tuples.
    pub fn len(&self) -> usize {
        self.columns.len() / self.arity.max(1)
    }

    /// Whether there is no tuple.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}

/// Atoms and the relations among them.
#[derive(Clone, Debug)]
pub struct Facts {
    declarations: &'static Declarations,
    atoms: Vec<Atom>,
    /// The tuples of each field; those of the last fields are missing while there are none.
    tuples: Vec<Relation>,
    /// The atoms of each subset, in the same way.
    subsets: Vec<Vec<AtomId>>,
    /// Subsets that the project declares, after those of the table.
    declared: Vec<Arc<str>>,
}

impl Facts {
    /// No facts yet.
    pub fn new(declarations: &'static Declarations) -> Self {
        Facts {
            declarations,
            atoms: Vec::new(),
            tuples: Vec::new(),
            subsets: Vec::new(),
            declared: Vec::new(),
        }
    }

    /// What the facts may say.
    pub fn declarations(&self) -> &'static Declarations {
        self.declarations
    }

    /// The subset with a name that the project declares; a new one when the name is new.
    pub fn declare(&mut self, name: &Arc<str>) -> SubsetId {
        let first = self.declarations.sigs.len();
        let known = self.declared.iter().position(|other| other == name);
        let at = known.unwrap_or_else(|| {
            self.declared.push(name.clone());
            self.declared.len() - 1
        });
        SubsetId::at(first + at)
    }

    /// Adds an atom.
    pub fn atom(&mut self, sig: SigId, name: impl Into<Arc<str>>, span: Span) -> AtomId {
        let id = AtomId(u32::try_from(self.atoms.len()).unwrap_or(u32::MAX));
        self.atoms.push(Atom {
            sig,
            name: name.into(),
            span,
            location: None,
            value: None,
        });
        id
    }

    /// Adds an atom that has a value.
    pub fn valued(
        &mut self,
        sig: SigId,
        name: impl Into<Arc<str>>,
        span: Span,
        value: Value,
    ) -> AtomId {
        let id = self.atom(sig, name, span);
        if let Some(atom) = self.atoms.get_mut(id.index()) {
            atom.value = Some(value);
        }
        id
    }

    /// Says which location an atom is.
    pub fn locate(&mut self, atom: AtomId, location: LocationId) {
        if let Some(atom) = self.atoms.get_mut(atom.index()) {
            atom.location = Some(location);
        }
    }

    /// Gives an atom its value.
    pub fn set_value(&mut self, atom: AtomId, value: Value) {
        if let Some(atom) = self.atoms.get_mut(atom.index()) {
            atom.value = Some(value);
        }
    }

    /// Puts an atom into a subset signature.
    pub fn mark(&mut self, atom: AtomId, subset: SubsetId) {
        grown(&mut self.subsets, subset.index()).push(atom);
    }

    /// The atoms of the subset at a position.
    pub fn marked(&self, subset: usize) -> &[AtomId] {
        self.subsets.get(subset).map_or(&[], Vec::as_slice)
    }

    /// The name of a signature.
    pub fn sig_name(&self, sig: SigId) -> &'static str {
        self.declarations.decl(sig).map_or("", |decl| decl.name)
    }

    /// The atoms of a signature: its own and those of the signatures that extend it.
    pub fn of(&self, sig: &str) -> Vec<AtomId> {
        if let Some(subset) = self.declarations.subset(sig) {
            return self.marked(subset.index()).to_vec();
        }
        let extends = |id: SigId| {
            let mut name = self.sig_name(id);
            while name != sig {
                let mut sigs = self.declarations.sigs.iter();
                match sigs
                    .find(|decl| decl.name == name)
                    .and_then(|decl| decl.parent)
                {
                    Some(parent) => name = parent,
                    None => return false,
                }
            }
            true
        };
        let own = self.atoms().filter(|(_, atom)| extends(atom.sig));
        own.map(|(id, _)| id).collect()
    }

    /// Adds a tuple to a field.
    pub fn tuple<const N: usize>(&mut self, field: FieldId<N>, tuple: &[AtomId; N]) {
        self.push(field, tuple, None);
    }

    /// As [`tuple`](Self::tuple), for a tuple that is written at a place of its own.
    pub fn tuple_at<const N: usize>(&mut self, field: FieldId<N>, tuple: &[AtomId; N], span: Span) {
        self.push(field, tuple, Some(span));
    }

    /// As [`tuple_at`](Self::tuple_at), for a tuple that is there for some values of symbols.
    pub fn tuple_when<const N: usize>(
        &mut self,
        field: FieldId<N>,
        tuple: &[AtomId; N],
        span: Span,
        when: impl IntoIterator<Item = SymbolId>,
    ) {
        self.push(field, tuple, Some(span));
        if let Some(relation) = self.tuples.get_mut(field.index()) {
            let at = relation.spans.len().saturating_sub(1);
            relation
                .when
                .extend(when.into_iter().map(|symbol| (at, symbol)));
        }
    }

    fn push<const N: usize>(&mut self, field: FieldId<N>, tuple: &[AtomId; N], span: Option<Span>) {
        let relation = grown(&mut self.tuples, field.index());
        relation.arity = N;
        relation.columns.extend_from_slice(tuple);
        relation.spans.push(span);
    }

    /// The tuples of all relations, each with the place where it is written if it has one of its own.
    pub fn placed(&self) -> impl Iterator<Item = (&[AtomId], Option<Span>)> {
        self.tuples.iter().flat_map(Relation::placed)
    }

    /// How many atoms there are.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Whether there is no atom.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// Makes room for so many atoms.
    pub fn reserve(&mut self, atoms: usize) {
        self.atoms.reserve(atoms);
    }

    /// All atoms.
    pub fn atoms(&self) -> impl Iterator<Item = (AtomId, &Atom)> {
        self.atoms
            .iter()
            .enumerate()
            .map(|(index, atom)| (AtomId(u32::try_from(index).unwrap_or(u32::MAX)), atom))
    }

    /// An atom by its identity.
    #[expect(
        clippy::indexing_slicing,
        reason = "an identity is only ever made by the facts that hold the atom"
    )]
    pub fn get(&self, id: AtomId) -> &Atom {
        &self.atoms[id.index()]
    }

    /// The tuples of a field, by names; none when nothing was said.
    pub fn relation(&self, sig: &str, field: &str) -> Option<&Relation> {
        let sigs = self.declarations.sigs.iter();
        let mut fields = sigs.flat_map(|decl| decl.fields.iter().map(move |field| (decl, field)));
        let at = fields.position(|(decl, one)| decl.name == sig && one.name == field)?;
        self.relation_at(at)
    }

    /// The tuples of the field at a position; none when nothing was said.
    pub fn relation_at(&self, field: usize) -> Option<&Relation> {
        self.tuples.get(field)
    }

    /// Every atom that a field relates an owner to.
    pub fn related(&self, field: FieldId<2>, owner: AtomId) -> impl Iterator<Item = AtomId> {
        let relation = self.relation_at(field.index()).into_iter();
        let tuples = relation.flat_map(Relation::tuples);
        tuples.filter_map(move |tuple| match tuple {
            [first, second, ..] if *first == owner => Some(*second),
            _ => None,
        })
    }
}

/// The element at a position, which is made with those before it when it is missing.
#[expect(
    clippy::indexing_slicing,
    reason = "the list was made long enough just before"
)]
fn grown<T: Default>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize_with(at + 1, T::default);
    }
    &mut list[at]
}
