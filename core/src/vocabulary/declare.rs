//! Tables of signatures that a front-end states facts about, and the identifiers that facts are keyed by.
//!
//! Identifiers of a table are found by the compiler ([`sig_of!`](crate::sig_of), [`subset_of!`](crate::subset_of),
//! [`field_of!`](crate::field_of)): what is not declared, or has another number of columns, does not build.

/// How many atoms a field relates its owner to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Multiplicity {
    /// Exactly one.
    One,
    /// None or one.
    Lone,
    /// Any number.
    Set,
}

impl Multiplicity {
    /// The word for it in the language of models.
    pub fn as_str(self) -> &'static str {
        match self {
            Multiplicity::One => "one",
            Multiplicity::Lone => "lone",
            Multiplicity::Set => "set",
        }
    }
}

/// A relation from the atoms of a signature.
#[derive(Clone, Copy, Debug)]
pub struct FieldDecl {
    /// Its name.
    pub name: &'static str,
    /// How many.
    pub multiplicity: Multiplicity,
    /// The signature of what it relates to, several joined by ` + `; further columns for wider relations.
    pub columns: &'static [&'static str],
    /// What it means, one sentence.
    pub doc: &'static str,
}

/// A field that has exactly one.
pub const fn one(
    name: &'static str,
    columns: &'static [&'static str],
    doc: &'static str,
) -> FieldDecl {
    FieldDecl {
        name,
        multiplicity: Multiplicity::One,
        columns,
        doc,
    }
}

/// A field that has none or one.
pub const fn lone(
    name: &'static str,
    columns: &'static [&'static str],
    doc: &'static str,
) -> FieldDecl {
    FieldDecl {
        multiplicity: Multiplicity::Lone,
        ..one(name, columns, doc)
    }
}

/// A field that has any number.
pub const fn set(
    name: &'static str,
    columns: &'static [&'static str],
    doc: &'static str,
) -> FieldDecl {
    FieldDecl {
        multiplicity: Multiplicity::Set,
        ..one(name, columns, doc)
    }
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
    /// Whether its atoms are values: equal ones are one, and literals of rules are among them.
    pub value: bool,
    /// What its atoms are and where their spans point, one sentence.
    pub doc: &'static str,
    /// Relations from its atoms.
    pub fields: &'static [FieldDecl],
}

/// A signature of its own.
pub const fn sig(
    name: &'static str,
    parent: Option<&'static str>,
    doc: &'static str,
    fields: &'static [FieldDecl],
) -> SigDecl {
    SigDecl {
        name,
        parent,
        subset: false,
        value: false,
        doc,
        fields,
    }
}

/// A subset of another signature.
pub const fn subset(name: &'static str, parent: &'static str, doc: &'static str) -> SigDecl {
    SigDecl {
        subset: true,
        ..sig(name, Some(parent), doc, &[])
    }
}

/// A signature whose atoms are values.
pub const fn value(name: &'static str, parent: Option<&'static str>, doc: &'static str) -> SigDecl {
    SigDecl {
        value: true,
        ..sig(name, parent, doc, &[])
    }
}

/// The identity of a signature among those of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SigId(u16);

/// The identity of a signature that is a subset; those that a project declares follow those of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubsetId(u16);

/// The identity of a field with so many columns, that of its owner included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId<const N: usize>(u16);

impl SigId {
    /// Position among the signatures of its table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SubsetId {
    /// Position among the signatures of its table and those that a project declares.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn at(index: usize) -> SubsetId {
        SubsetId(u16::try_from(index).unwrap_or(u16::MAX))
    }
}

impl<const N: usize> FieldId<N> {
    /// Position among the fields of all signatures of its table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All that the facts of one language may say.
#[derive(Clone, Copy, Debug)]
pub struct Declarations {
    /// The language, which is also the folder of its rules.
    pub language: &'static str,
    /// The signatures, parents before children.
    pub sigs: &'static [SigDecl],
}

impl Declarations {
    /// Those of a language about which nothing is stated.
    pub const fn none(language: &'static str) -> Self {
        Declarations {
            language,
            sigs: &[],
        }
    }

    const fn position(&self, name: &str) -> Option<(u16, &'static SigDecl)> {
        let mut at = 0;
        let mut rest = self.sigs;
        while let [sig, more @ ..] = rest {
            if same(sig.name, name) {
                return Some((at, sig));
            }
            at += 1;
            rest = more;
        }
        None
    }

    /// A signature that is not a subset, by name.
    pub const fn sig(&self, name: &str) -> Option<SigId> {
        match self.position(name) {
            Some((at, sig)) if !sig.subset => Some(SigId(at)),
            _ => None,
        }
    }

    /// A signature that is a subset, by name.
    pub const fn subset(&self, name: &str) -> Option<SubsetId> {
        match self.position(name) {
            Some((at, sig)) if sig.subset => Some(SubsetId(at)),
            _ => None,
        }
    }

    /// A field by the names of its signature and itself, if it has so many columns.
    pub const fn field<const N: usize>(&self, sig: &str, field: &str) -> Option<FieldId<N>> {
        let mut at = 0;
        let mut rest = self.sigs;
        while let [decl, more @ ..] = rest {
            let is_it = same(decl.name, sig);
            let mut fields = decl.fields;
            while let [one, others @ ..] = fields {
                if is_it && same(one.name, field) && one.columns.len() + 1 == N {
                    return Some(FieldId(at));
                }
                at += 1;
                fields = others;
            }
            rest = more;
        }
        None
    }

    /// The declaration of a signature.
    pub fn decl(&self, id: SigId) -> Option<&'static SigDecl> {
        self.sigs.get(id.index())
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    while let ([x, xs @ ..], [y, ys @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (xs, ys);
    }
    true
}

/// The identity of a signature of a table, found by the compiler.
#[macro_export]
macro_rules! sig_of {
    ($declarations:expr, $name:expr) => {
        const {
            match $declarations.sig($name) {
                Some(id) => id,
                None => panic!("there is no such signature, or it is a subset"),
            }
        }
    };
}

/// The identity of a subset of a table, found by the compiler.
#[macro_export]
macro_rules! subset_of {
    ($declarations:expr, $name:expr) => {
        const {
            match $declarations.subset($name) {
                Some(id) => id,
                None => panic!("there is no such subset"),
            }
        }
    };
}

/// The identity of a field of a table, found by the compiler.
#[macro_export]
macro_rules! field_of {
    ($declarations:expr, $sig:expr, $field:expr) => {
        const {
            match $declarations.field($sig, $field) {
                Some(id) => id,
                None => panic!("there is no such field, or it has another number of columns"),
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Declarations = Declarations {
        language: "test",
        sigs: &[
            sig(
                "A",
                None,
                "an a",
                &[one("x", &["A"], "one"), set("y", &["A", "B"], "pairs")],
            ),
            subset("B", "A", "some"),
            sig("C", Some("A"), "a c", &[lone("x", &["C"], "c")]),
        ],
    };

    #[test]
    fn identifiers_are_positions_in_the_table() {
        assert_eq!(sig_of!(TABLE, "C").index(), 2);
        assert_eq!(subset_of!(TABLE, "B").index(), 1);
        let (pair, triple): (FieldId<2>, FieldId<3>) =
            (field_of!(TABLE, "C", "x"), field_of!(TABLE, "A", "y"));
        assert_eq!((pair.index(), triple.index()), (2, 1));
    }

    #[test]
    fn what_is_not_declared_has_no_identifier() {
        assert_eq!(TABLE.sig("D"), None);
        assert_eq!(TABLE.sig("B"), None, "a subset");
        assert_eq!(TABLE.subset("A"), None, "not a subset");
        assert_eq!(TABLE.field::<2>("A", "z"), None);
        assert_eq!(TABLE.field::<2>("B", "x"), None, "of another signature");
        assert_eq!(TABLE.field::<2>("A", "y"), None, "three columns");
    }
}
