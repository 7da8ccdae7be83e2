//! Facts beside the graph: relations over what a configuration says, for rules to quantify over.
//!
//! A language declares a [`Vocabulary`] of signatures and fields, each documented; a front-end fills
//! [`Facts`] with atoms and tuples. Every atom has a span, so that a rule that fails for it has a
//! place to point at. Nothing here decides what is wrong: that is for rules.

use std::fmt::Write as _;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::LocationId;
use crate::source::Span;
use crate::value::Value;

/// How many atoms a field relates its owner to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multiplicity {
    /// Exactly one.
    One,
    /// None or one.
    Lone,
    /// Any number.
    Set,
}

/// A relation from the atoms of a signature.
#[derive(Clone, Copy, Debug)]
pub struct FieldDecl {
    /// Its name.
    pub name: &'static str,
    /// How many.
    pub multiplicity: Multiplicity,
    /// The signature of what it relates to; further columns for wider relations.
    pub columns: &'static [&'static str],
    /// What it means, one sentence.
    pub doc: &'static str,
}

/// A set of atoms.
#[derive(Clone, Copy, Debug)]
pub struct SigDecl {
    /// Its name.
    pub name: &'static str,
    /// The signature it is part of.
    pub parent: Option<&'static str>,
    /// Whether it is a mere subset of its parent (`in`), which may overlap others, and not a kind of
    /// its own (`extends`).
    pub subset: bool,
    /// What its atoms are and where their spans point, one sentence.
    pub doc: &'static str,
    /// Relations from its atoms.
    pub fields: &'static [FieldDecl],
}

/// All that the facts of one language may say.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary {
    /// The name of the module that rules open.
    pub module: &'static str,
    /// The signatures, parents before children.
    pub sigs: &'static [SigDecl],
}

impl Vocabulary {
    /// A signature by name.
    pub fn sig(&self, name: &str) -> Option<&SigDecl> {
        self.sigs.iter().find(|sig| sig.name == name)
    }

    /// The declarations in the language of models.
    pub fn to_als(&self) -> String {
        let mut out = format!("module {}\n", self.module);
        for sig in self.sigs {
            let _ = write!(out, "\n/** {} */\nsig {}", sig.doc, sig.name);
            if let Some(parent) = sig.parent {
                let word = if sig.subset { "in" } else { "extends" };
                let _ = write!(out, " {word} {parent}");
            }
            out.push_str(" {");
            for (index, field) in sig.fields.iter().enumerate() {
                let multiplicity = match field.multiplicity {
                    Multiplicity::One => "one ",
                    Multiplicity::Lone => "lone ",
                    Multiplicity::Set => "set ",
                };
                // A product takes no multiplicity in front.
                let multiplicity = if field.columns.len() > 1 {
                    ""
                } else {
                    multiplicity
                };
                let comma = if index + 1 < sig.fields.len() {
                    ","
                } else {
                    ""
                };
                let _ = write!(
                    out,
                    "\n  /** {} */\n  {}: {multiplicity}{}{comma}",
                    field.doc,
                    field.name,
                    field.columns.join(" -> "),
                );
            }
            out.push_str(if sig.fields.is_empty() {
                "}\n"
            } else {
                "\n}\n"
            });
        }
        out
    }
}

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
    pub sig: &'static str,
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
    vocabulary: &'static Vocabulary,
    atoms: Vec<Atom>,
    relations: FxHashMap<(&'static str, &'static str), usize>,
    tuples: Vec<Relation>,
    /// Relations by where their names are stored, which is quicker to look up than the names.
    known: FxHashMap<[usize; 4], usize>,
    subsets: FxHashMap<&'static str, Vec<AtomId>>,
}

impl Facts {
    /// No facts yet.
    pub fn new(vocabulary: &'static Vocabulary) -> Self {
        Facts {
            vocabulary,
            atoms: Vec::new(),
            relations: FxHashMap::default(),
            tuples: Vec::new(),
            known: FxHashMap::default(),
            subsets: FxHashMap::default(),
        }
    }

    /// What the facts may say.
    pub fn vocabulary(&self) -> &'static Vocabulary {
        self.vocabulary
    }

    /// Adds an atom.
    pub fn atom(&mut self, sig: &'static str, name: impl Into<Arc<str>>, span: Span) -> AtomId {
        debug_assert!(self.vocabulary.sig(sig).is_some(), "undeclared {sig}");
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
        sig: &'static str,
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
    pub fn mark(&mut self, atom: AtomId, subset: &'static str) {
        debug_assert!(
            self.vocabulary.sig(subset).is_some_and(|sig| sig.subset),
            "{subset} is not a subset"
        );
        self.subsets.entry(subset).or_default().push(atom);
    }

    /// The atoms of a subset signature.
    pub fn marked(&self, subset: &str) -> &[AtomId] {
        self.subsets.get(subset).map_or(&[], Vec::as_slice)
    }

    /// The atoms of a signature: its own and those of the signatures that extend it.
    pub fn of<'a>(&'a self, sig: &'a str) -> impl Iterator<Item = AtomId> + 'a {
        let extends = move |mut name: &'static str| {
            while name != sig {
                match self.vocabulary.sig(name).and_then(|decl| decl.parent) {
                    Some(parent) => name = parent,
                    None => return false,
                }
            }
            true
        };
        let subset = self.vocabulary.sig(sig).is_some_and(|decl| decl.subset);
        let own = self
            .atoms()
            .filter(move |(_, atom)| !subset && extends(atom.sig))
            .map(|(id, _)| id);
        own.chain(self.marked(sig).iter().copied())
    }

    /// Adds a tuple to the field `field` of the signature `sig`.
    pub fn tuple(&mut self, sig: &'static str, field: &'static str, tuple: &[AtomId]) {
        debug_assert!(
            self.declares(sig, field, tuple),
            "undeclared {sig}.{field}/{}",
            tuple.len()
        );
        self.push(sig, field, tuple, None);
    }

    /// As [`tuple`](Self::tuple), for a tuple that is written at a place of its own.
    pub fn tuple_at(
        &mut self,
        sig: &'static str,
        field: &'static str,
        tuple: &[AtomId],
        span: Span,
    ) {
        debug_assert!(self.declares(sig, field, tuple), "undeclared {sig}.{field}");
        self.push(sig, field, tuple, Some(span));
    }

    fn declares(&self, sig: &str, field: &str, tuple: &[AtomId]) -> bool {
        self.vocabulary.sig(sig).is_some_and(|decl| {
            decl.fields
                .iter()
                .any(|f| f.name == field && f.columns.len() + 1 == tuple.len())
        })
    }

    fn push(
        &mut self,
        sig: &'static str,
        field: &'static str,
        tuple: &[AtomId],
        span: Option<Span>,
    ) {
        let at = |name: &'static str| (name.as_ptr().addr(), name.len());
        let ((a, b), (c, d)) = (at(sig), at(field));
        let address = [a, b, c, d];
        let place = match self.known.get(&address) {
            Some(&place) => place,
            None => {
                let next = self.tuples.len();
                let place = *self.relations.entry((sig, field)).or_insert(next);
                if place == next {
                    self.tuples.push(Relation::default());
                }
                self.known.insert(address, place);
                place
            }
        };
        let Some(relation) = self.tuples.get_mut(place) else {
            return;
        };
        relation.arity = tuple.len();
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

    /// The tuples of a field; none when nothing was said.
    pub fn relation(&self, sig: &str, field: &str) -> Option<&Relation> {
        let sig = self.vocabulary.sig(sig)?;
        let field = sig.fields.iter().find(|decl| decl.name == field)?;
        self.relation_of(sig.name, field.name)
    }

    /// As [`relation`](Self::relation), for names that the vocabulary declares.
    pub fn relation_of(&self, sig: &'static str, field: &'static str) -> Option<&Relation> {
        self.tuples.get(*self.relations.get(&(sig, field))?)
    }

    /// Every atom that a field relates an owner to, in the first column after the owner.
    pub fn related<'a>(
        &'a self,
        sig: &str,
        field: &str,
        owner: AtomId,
    ) -> impl Iterator<Item = AtomId> + use<'a> {
        self.relation(sig, field)
            .into_iter()
            .flat_map(Relation::tuples)
            .filter_map(move |tuple| match tuple {
                [first, second, ..] if *first == owner => Some(*second),
                _ => None,
            })
    }
}
