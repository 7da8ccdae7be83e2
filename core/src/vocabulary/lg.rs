//! The vocabulary that all languages share: the location graph itself.
//!
//! The signatures of a language extend [`LOCATION`], so that a rule about the language can follow roles too, and a rule that
//! mentions nothing but these signatures is about every language.

use serde::{Deserialize, Serialize};

use super::{Content, Field, Members, Multiplicity, Sig, Text};

/// The name of the vocabulary, which is also the folder of the rules that are about every language.
pub const NAME: &str = "lg";

/// The signature of locations.
pub const LOCATION: &str = "Location";

/// A set of atoms that every location graph has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GraphSet {
    /// Locations that are or may be deployed, and those that exist already.
    Locations,
    /// Locations that exist already.
    Existing,
    /// Roles.
    Roles,
    /// Names of locations.
    Names,
    /// Sorts of locations.
    Sorts,
    /// Processes of locations.
    Processes,
    /// Kinds of roles.
    Kinds,
    /// Labels of roles.
    Labels,
}

/// A relation that every location graph has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GraphField {
    /// From a location to its name.
    Name,
    /// From a location to its sort.
    Sort,
    /// From a location to its process.
    Process,
    /// From a location to the roles it provides.
    Provided,
    /// From a location to the roles it requires.
    Required,
    /// From a location to those of its roles that another location has at their other end.
    Bound,
    /// From a location to those inside of it.
    Contains,
    /// From a location to those that provide what it requires.
    Depends,
    /// From a role to its kind.
    Kind,
    /// From a role to its label.
    Label,
}

struct Declared {
    name: &'static str,
    parent: Option<&'static str>,
    /// Whether its atoms are texts: literals of rules are among them.
    value: bool,
    set: GraphSet,
    doc: &'static str,
    fields: &'static [DeclaredField],
}

struct DeclaredField {
    name: &'static str,
    of: &'static str,
    many: bool,
    field: GraphField,
    doc: &'static str,
}

const fn one(
    name: &'static str,
    of: &'static str,
    field: GraphField,
    doc: &'static str,
) -> DeclaredField {
    DeclaredField {
        name,
        of,
        many: false,
        field,
        doc,
    }
}

const fn set(
    name: &'static str,
    of: &'static str,
    field: GraphField,
    doc: &'static str,
) -> DeclaredField {
    DeclaredField {
        many: true,
        ..one(name, of, field, doc)
    }
}

const fn text(name: &'static str, set: GraphSet, doc: &'static str) -> Declared {
    Declared {
        name,
        parent: None,
        value: true,
        set,
        doc,
        fields: &[],
    }
}

static SIGS: &[Declared] = &[
    Declared {
        name: LOCATION,
        parent: None,
        value: false,
        set: GraphSet::Locations,
        doc: "A component, a connector or a relation among several of them; its span is its name.",
        fields: &[
            one(
                "name",
                "Name",
                GraphField::Name,
                "Its name, unique in the graph.",
            ),
            one(
                "sort",
                "Sort",
                GraphField::Sort,
                "What kind of thing it is, in the words of its language.",
            ),
            one(
                "process",
                "Process",
                GraphField::Process,
                "How it behaves: `create`, `existing`, or what its language says.",
            ),
            set(
                "provided",
                "Role",
                GraphField::Provided,
                "The roles through which it serves others.",
            ),
            set(
                "required",
                "Role",
                GraphField::Required,
                "The roles through which it is served.",
            ),
            set(
                "bound",
                "Role",
                GraphField::Bound,
                "Those of its roles that are provided and required: another location is at their other end.",
            ),
            set(
                "contains",
                LOCATION,
                GraphField::Contains,
                "The locations directly inside of it.",
            ),
            set(
                "depends",
                LOCATION,
                GraphField::Depends,
                "The locations that provide a role that it requires.",
            ),
        ],
    },
    Declared {
        name: "Existing",
        parent: Some(LOCATION),
        value: false,
        set: GraphSet::Existing,
        doc: "A location that exists before the deployment.",
        fields: &[],
    },
    Declared {
        name: "Role",
        parent: None,
        value: false,
        set: GraphSet::Roles,
        doc: "A point of attachment between two locations; its span is the use that it stands for.",
        fields: &[
            one(
                "kind",
                "Kind",
                GraphField::Kind,
                "What it is for: `reference`, `attribute`, `dependency`, `containment` or `connection`.",
            ),
            one(
                "label",
                "Label",
                GraphField::Label,
                "The property or key that it stands for; not unique.",
            ),
        ],
    },
    text("Name", GraphSet::Names, "The name of a location, a text."),
    text("Sort", GraphSet::Sorts, "The sort of a location, a text."),
    text(
        "Process",
        GraphSet::Processes,
        "The process of a location, a text.",
    ),
    text("Kind", GraphSet::Kinds, "The kind of a role, a text."),
    text("Label", GraphSet::Labels, "The label of a role, a text."),
];

impl Declared {
    fn sig(&self) -> Sig {
        let field = |field: &DeclaredField| Field {
            name: Text::Borrowed(field.name),
            columns: vec![vec![Text::Borrowed(field.of)]],
            multiplicity: match field.many {
                true => Multiplicity::Set,
                false => Multiplicity::One,
            },
            doc: Text::Borrowed(field.doc),
            content: Content::Graph(field.field),
        };
        Sig {
            name: Text::Borrowed(self.name),
            parent: self.parent.map(Text::Borrowed),
            subset: self.parent.is_some(),
            doc: Text::Borrowed(self.doc),
            fields: self.fields.iter().map(field).collect(),
            members: Members::Graph(self.set),
        }
    }
}

/// A signature by name.
pub fn sig(name: &str) -> Option<Sig> {
    let mut sigs = SIGS.iter();
    sigs.find(|sig| sig.name == name).map(Declared::sig)
}

/// The names of all signatures.
pub fn names() -> impl Iterator<Item = &'static str> {
    SIGS.iter().map(|sig| sig.name)
}

/// Whether the atoms of a signature are texts.
pub(super) fn is_value(name: &str) -> bool {
    SIGS.iter().any(|sig| sig.value && sig.name == name)
}

/// The name of the module that declares the signatures.
pub fn module_name() -> String {
    format!("{NAME}/vocabulary")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_leads_to_a_signature() {
        for decl in SIGS {
            for field in decl.fields {
                assert!(sig(field.of).is_some(), "{}.{}", decl.name, field.name);
            }
        }
    }

    #[test]
    fn each_set_and_each_relation_has_one_name() {
        let mut sets: Vec<GraphSet> = SIGS.iter().map(|sig| sig.set).collect();
        sets.dedup();
        assert_eq!(sets.len(), SIGS.len());
        let names: std::collections::BTreeSet<&str> = names().collect();
        assert_eq!(names.len(), SIGS.len());
    }
}
