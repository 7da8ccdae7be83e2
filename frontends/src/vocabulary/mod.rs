//! What rules about a language can mention, and how that is filled from a configuration.

pub mod hot;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use locus_core::facts;

/// What rules about each language can mention; a further language is one more entry.
pub static VOCABULARIES: &[&dyn Vocabulary] = &[&hot::Hot, &COMPOSE];

/// Docker Compose: its front-end states all that rules mention.
pub static COMPOSE: FactsOnly = FactsOnly {
    language: "compose",
    facts: &crate::compose::vocabulary::VOCABULARY,
    values: crate::compose::vocabulary::VALUES,
};

/// What rules about a language can mention.
pub fn of(language: &str) -> Option<&'static dyn Vocabulary> {
    let mut all = VOCABULARIES.iter().copied();
    all.find(|vocabulary| vocabulary.language() == language)
}

/// A signature of a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sig {
    /// Its name.
    pub name: String,
    /// The signature it is part of.
    pub parent: Option<String>,
    /// Whether it may share atoms with its siblings.
    pub subset: bool,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A field of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Each column after the owner: the signatures it may hold, or none for anything.
    pub columns: Vec<Vec<String>>,
    /// `one`, `lone` or `set`.
    pub multiplicity: &'static str,
}

/// What rules about a language can mention.
pub trait Vocabulary: Sync {
    /// The folder of its rules.
    fn language(&self) -> &'static str;

    /// A signature by name.
    fn sig(&self, name: &str) -> Option<Sig>;

    /// Which locations a signature stands for, when it is not one of the front-end's facts.
    fn members(&self, name: &str) -> Option<Members>;

    /// Whether the atoms of a signature of facts are values, so that literals of rules are equal to them.
    fn is_value(&self, sig: &str) -> bool {
        let _ = sig;
        false
    }

    /// The value that a property has when it is not given.
    fn default(&self, members: &Members, property: &str) -> Option<locus_core::value::Value>;
}

/// A language whose rules mention nothing but the facts of its front-end.
#[derive(Clone, Copy, Debug)]
pub struct FactsOnly {
    /// The folder of its rules.
    pub language: &'static str,
    /// The facts.
    pub facts: &'static facts::Vocabulary,
    /// The signatures whose atoms are values.
    pub values: &'static [&'static str],
}

impl Vocabulary for FactsOnly {
    fn language(&self) -> &'static str {
        self.language
    }

    fn sig(&self, name: &str) -> Option<Sig> {
        let mut sig = self.facts.sig(name).map(from_facts)?;
        // Literals of rules are values too, and of no signature.
        let columns = sig.fields.iter_mut().flat_map(|field| &mut field.columns);
        for column in columns {
            column.retain(|sig| !self.is_value(sig));
        }
        Some(sig)
    }

    fn members(&self, _name: &str) -> Option<Members> {
        None
    }

    fn is_value(&self, sig: &str) -> bool {
        self.values.contains(&sig)
    }

    fn default(&self, _members: &Members, _property: &str) -> Option<locus_core::value::Value> {
        None
    }
}

/// A signature of the facts of a front-end.
pub fn from_facts(decl: &facts::SigDecl) -> Sig {
    let field = |field: &facts::FieldDecl| Field {
        name: field.name.to_owned(),
        columns: field
            .columns
            .iter()
            .map(|&sig| vec![sig.to_owned()])
            .collect(),
        multiplicity: match field.multiplicity {
            facts::Multiplicity::One => "one",
            facts::Multiplicity::Lone => "lone",
            facts::Multiplicity::Set => "set",
        },
    };
    Sig {
        name: decl.name.to_owned(),
        parent: decl.parent.map(str::to_owned),
        subset: decl.subset,
        fields: decl.fields.iter().map(field).collect(),
    }
}

/// What the atoms of a signature are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// The locations of a sort.
    Sort(String),
    /// The maps that properties of locations of a sort lead to.
    Maps {
        /// The sort.
        sort: String,
        /// The properties, outermost first.
        path: Vec<String>,
    },
    /// The locations that exist already.
    Existing,
}

/// What exists before the deployment: named by a parameter, or with an `external_id`.
pub const EXISTING: &str = "Existing";

/// The prefix of fields that are properties.
pub const PROPERTY: &str = "prop_";

/// A name as an identifier of the language.
pub fn mangle(name: &str) -> String {
    name.replace("::", "_")
        .replace(|c: char| !c.is_alphanumeric(), "_")
}

/// The signatures among some words, and what they need.
pub fn reachable(vocabulary: &dyn Vocabulary, words: &BTreeSet<&str>) -> Vec<Sig> {
    let mut found: BTreeMap<String, Sig> = BTreeMap::new();
    let mut open: VecDeque<String> = words.iter().map(|&word| word.to_owned()).collect();
    while let Some(name) = open.pop_front() {
        if found.contains_key(&name) {
            continue;
        }
        let Some(mut sig) = vocabulary.sig(&name) else {
            continue;
        };
        sig.fields
            .retain(|field| words.contains(field.name.as_str()));
        open.extend(sig.parent.clone());
        let columns = sig.fields.iter().flat_map(|field| &field.columns);
        open.extend(columns.flatten().cloned());
        found.insert(name, sig);
    }
    found.into_values().collect()
}

/// The declarations of the signatures and fields among some words, as a module. Rules do not pay for what
/// they do not mention: a language may have hundreds of types.
pub fn module(vocabulary: &dyn Vocabulary, sigs: &[Sig]) -> String {
    let mut out = format!("module {}/vocabulary\n", vocabulary.language());
    if vocabulary.sig("Bool").is_none() {
        out.push_str("abstract sig Bool {}\none sig True, False extends Bool {}\n");
    }
    for sig in sigs {
        let _ = write!(out, "sig {}", sig.name);
        if let Some(parent) = &sig.parent {
            let keyword = if sig.subset { "in" } else { "extends" };
            let _ = write!(out, " {keyword} {parent}");
        }
        out.push_str(" {");
        for (at, field) in sig.fields.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let columns: Vec<String> = field
                .columns
                .iter()
                .map(|sigs| match sigs.as_slice() {
                    [] => "univ".to_owned(),
                    sigs => format!("({})", sigs.join(" + ")),
                })
                .collect();
            let multiplicity = if columns.len() > 1 {
                ""
            } else {
                field.multiplicity
            };
            let _ = write!(
                out,
                "{comma}\n  {}: {multiplicity} {}",
                field.name,
                columns.join(" -> ")
            );
        }
        out.push_str(" }\n");
    }
    out
}
