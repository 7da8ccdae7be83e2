//! What rules about a language can mention: signatures and fields, with what they mean and how a configuration fills them.
//!
//! A [`Vocabulary`] is a value that is put together at run time: the signatures that the front-end states facts about
//! ([`Declarations`]), the types that the language knows, described when they are asked for ([`Types`]), and what a project
//! declares itself. Beside them stand the signatures of the location graph ([`lg`]), which all languages share; where a
//! language has a signature or a field of the same name, that one counts in rules about the language. A rule that comes with
//! the program is compiled against all but what a project declares, a rule of the user's own against all.

pub mod declare;
pub mod lg;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use crate::value::Value;

pub use declare::{Declarations, FieldDecl, FieldId, Multiplicity, SigDecl, SigId, SubsetId};
pub use lg::{GraphField, GraphSet};

/// A text that is in the program, or made at run time.
pub type Text = Cow<'static, str>;

/// A signature: a set of atoms that rules quantify over.
#[derive(Clone, Debug, PartialEq)]
pub struct Sig {
    /// Its name.
    pub name: Text,
    /// The signature it is part of.
    pub parent: Option<Text>,
    /// Whether it may share atoms with its siblings.
    pub subset: bool,
    /// What its atoms are, one sentence.
    pub doc: Text,
    /// Its fields.
    pub fields: Vec<Field>,
    /// What its atoms are in a configuration.
    pub members: Members,
}

/// A field of a signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Text,
    /// Each column after the owner: the signatures it may hold, or none for anything.
    pub columns: Vec<Vec<Text>>,
    /// How many.
    pub multiplicity: Multiplicity,
    /// What it means, one sentence.
    pub doc: Text,
    /// What it holds in a configuration.
    pub content: Content,
}

/// What the atoms of a signature are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Members {
    /// Atoms of the facts.
    Atoms(SigId),
    /// Atoms of the facts that were put into a subset.
    Subset(SubsetId),
    /// The locations of a sort.
    Sort(Arc<str>),
    /// The locations whose atoms were put into a subset.
    Marked(SubsetId),
    /// The maps that properties of locations of a sort lead to.
    Maps {
        /// The sort.
        sort: Arc<str>,
        /// The properties, outermost first.
        path: Vec<Arc<str>>,
    },
    /// What every location graph has.
    Graph(GraphSet),
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The tuples of the facts' field at a position.
    Tuples(usize),
    /// Properties of a location or map.
    Property {
        /// Their names in the configuration: one, unless several become one identifier.
        names: Vec<Arc<str>>,
        /// The value when it is not given.
        default: Option<Value>,
        /// The signature of the maps in it, when they have a schema.
        maps: Option<Text>,
    },
    /// What every location graph has.
    Graph(GraphField),
}

/// Signatures that are described when they are asked for, because there are many.
pub trait Types: Sync {
    /// A signature by name.
    fn sig(&self, name: &str) -> Option<Sig>;

    /// The names of all signatures.
    fn names(&self) -> Vec<String>;

    /// What the signatures consist of that extend one, directly or not.
    fn extending(&self, name: &str) -> Vec<Members> {
        let _ = name;
        Vec::new()
    }
}

/// What rules about a language can mention.
#[derive(Clone)]
pub struct Vocabulary {
    facts: &'static Declarations,
    types: Option<&'static dyn Types>,
    declared: Arc<Vec<Sig>>,
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.language())
    }
}

impl Vocabulary {
    /// The vocabulary of a language whose rules mention facts only.
    pub fn of(facts: &'static Declarations) -> Self {
        Vocabulary {
            facts,
            types: None,
            declared: Arc::default(),
        }
    }

    /// The vocabulary of rules that are about every language.
    pub fn of_graphs() -> Self {
        static NONE: Declarations = Declarations::none(lg::NAME);
        Vocabulary::of(&NONE)
    }

    /// The same with the types that the language knows.
    #[must_use]
    pub fn with_types(mut self, types: &'static dyn Types) -> Self {
        self.types = Some(types);
        self
    }

    /// The same with what a project declares.
    #[must_use]
    pub fn with(mut self, declared: Arc<Vec<Sig>>) -> Self {
        self.declared = declared;
        self
    }

    /// The language, which is also the folder of its rules.
    pub fn language(&self) -> &'static str {
        self.facts.language
    }

    /// The signatures that the front-end states facts about.
    pub fn facts(&self) -> &'static Declarations {
        self.facts
    }

    /// A signature by name. What the language knows itself comes before what a project declares, and that before what all
    /// languages share.
    pub fn sig(&self, name: &str) -> Option<Sig> {
        let stated = || self.stated(name);
        let known = || self.types.and_then(|types| types.sig(name));
        let declared = || self.declared.iter().find(|sig| sig.name == name).cloned();
        stated()
            .or_else(known)
            .or_else(declared)
            .or_else(|| lg::sig(name))
    }

    /// The names of all signatures: those of facts, then types, then what the project declares, then what all languages
    /// share.
    pub fn names(&self) -> Vec<String> {
        let facts = self.facts.sigs.iter().map(|sig| sig.name.to_owned());
        let types = self.types.map(Types::names).unwrap_or_default();
        let declared = self.declared.iter().map(|sig| sig.name.to_string());
        let mut names: Vec<String> = facts.chain(types).chain(declared).collect();
        for shared in lg::names() {
            if !names.iter().any(|name| name == shared) {
                names.push(shared.to_owned());
            }
        }
        names
    }

    /// The names that a project gives to more than one of its types.
    pub fn ambiguous(&self) -> BTreeSet<&str> {
        let declared = self.declared.iter().enumerate();
        declared
            .filter(|(at, sig)| {
                self.declared
                    .iter()
                    .skip(at + 1)
                    .any(|other| other.name == sig.name)
            })
            .map(|(_, sig)| &*sig.name)
            .collect()
    }

    /// What the signatures consist of that extend a type that the language knows.
    pub fn extending(&self, name: &str) -> Vec<Members> {
        self.types
            .map(|types| types.extending(name))
            .unwrap_or_default()
    }

    /// A signature of facts.
    fn stated(&self, name: &str) -> Option<Sig> {
        let mut first = 0;
        let decl = self.facts.sigs.iter().find(|decl| {
            let found = decl.name == name;
            first += if found { 0 } else { decl.fields.len() };
            found
        })?;
        let field = |(at, field): (usize, &'static FieldDecl)| Field {
            name: field.name.into(),
            columns: field
                .columns
                .iter()
                .map(|column| column.split(" + ").map(Text::Borrowed).collect())
                .collect(),
            multiplicity: field.multiplicity,
            doc: field.doc.into(),
            content: Content::Tuples(first + at),
        };
        Some(Sig {
            name: decl.name.into(),
            parent: decl.parent.map(Text::Borrowed),
            subset: decl.subset,
            doc: decl.doc.into(),
            fields: decl.fields.iter().enumerate().map(field).collect(),
            members: match self.facts.subset(name) {
                Some(subset) => Members::Subset(subset),
                None => Members::Atoms(self.facts.sig(name)?),
            },
        })
    }

    fn is_value(&self, name: &str) -> bool {
        let mut sigs = self.facts.sigs.iter();
        sigs.any(|sig| sig.value && sig.name == name)
    }

    /// The positions of the signatures of facts that are a signature or extend it.
    pub fn kinds_of(&self, id: SigId) -> Vec<usize> {
        let Some(decl) = self.facts.decl(id) else {
            return Vec::new();
        };
        let mut names = vec![decl.name];
        let mut positions = vec![id.index()];
        let mut at = 0;
        while let Some(&parent) = names.get(at) {
            let sigs = self.facts.sigs.iter().enumerate();
            for (position, sig) in sigs.filter(|(_, sig)| sig.parent == Some(parent) && !sig.subset)
            {
                names.push(sig.name);
                positions.push(position);
            }
            at += 1;
        }
        positions
    }

    /// The signatures among some words and what they need, each with the fields among the words. Rules do not pay for
    /// what they do not mention: a language may have thousands of types.
    pub fn reachable(&self, words: &BTreeSet<&str>) -> Vec<Sig> {
        let mut found: BTreeMap<String, Sig> = BTreeMap::new();
        let mut open: VecDeque<String> = words.iter().map(|&word| word.to_owned()).collect();
        while let Some(name) = open.pop_front() {
            if found.contains_key(&name) {
                continue;
            }
            let Some(mut sig) = self.sig(&name) else {
                continue;
            };
            sig.fields.retain(|field| words.contains(&*field.name));
            // Literals of rules are values too, and of no signature.
            let shared = sig.is_shared();
            let is_value = |name: &str| match shared {
                true => lg::is_value(name),
                false => self.is_value(name),
            };
            let columns = sig.fields.iter_mut().flat_map(|field| &mut field.columns);
            columns.for_each(|column| column.retain(|name| !is_value(name)));
            open.extend(sig.parent.iter().map(|parent| parent.to_string()));
            let columns = sig.fields.iter().flat_map(|field| &field.columns);
            open.extend(columns.flatten().map(|name| name.to_string()));
            found.insert(name, sig);
        }
        let mut found: Vec<Sig> = found.into_values().collect();
        hide(&mut found);
        found
    }

    /// The name of the module that declares signatures for rules.
    pub fn module_name(&self) -> String {
        format!("{}/vocabulary", self.language())
    }

    /// The modules that declare some signatures: that of what all languages share, and that of the language, which opens
    /// it.
    pub fn modules(&self, sigs: &[Sig]) -> Vec<(String, String)> {
        let mut shared = format!("module {}\n", lg::module_name());
        for sig in sigs.iter().filter(|sig| sig.is_shared()) {
            sig.declare(&mut shared, false);
        }
        let bools = "abstract sig Bool {}\none sig True, False extends Bool {}\n";
        if self.language() == lg::NAME {
            shared.push_str(bools);
            return vec![(lg::module_name(), shared)];
        }
        let mut own = format!(
            "module {}\nopen {}\n",
            self.module_name(),
            lg::module_name()
        );
        if self.sig("Bool").is_none() {
            own.push_str(bools);
        }
        for sig in sigs.iter().filter(|sig| !sig.is_shared()) {
            sig.declare(&mut own, false);
        }
        vec![(lg::module_name(), shared), (self.module_name(), own)]
    }

    /// All signatures of facts as a documented module.
    pub fn facts_module(&self) -> String {
        let mut out = format!(
            "module {}\nopen {}\n",
            self.module_name(),
            lg::module_name()
        );
        for sig in self
            .facts
            .sigs
            .iter()
            .filter_map(|decl| self.stated(decl.name))
        {
            out.push('\n');
            sig.declare(&mut out, true);
        }
        out
    }
}

/// Takes fields away from what all languages share where a signature that extends it has one of the same name: fields of
/// one name cannot be told apart there.
fn hide(sigs: &mut [Sig]) {
    let parents: BTreeMap<String, String> = sigs
        .iter()
        .filter_map(|sig| Some((sig.name.to_string(), sig.parent.as_ref()?.to_string())))
        .collect();
    let mut hidden: BTreeSet<(String, String)> = BTreeSet::new();
    for sig in sigs.iter().filter(|sig| !sig.is_shared()) {
        let above = std::iter::successors(parents.get(&*sig.name), |name| parents.get(*name));
        // A project may declare types that extend each other.
        for ancestor in above.take(parents.len()) {
            let fields = sig.fields.iter();
            hidden.extend(fields.map(|field| (ancestor.clone(), field.name.to_string())));
        }
    }
    let shared: BTreeSet<String> = sigs
        .iter()
        .filter(|sig| sig.is_shared())
        .map(|sig| sig.name.to_string())
        .collect();
    for sig in sigs.iter_mut().filter(|sig| sig.is_shared()) {
        let owner = sig.name.to_string();
        sig.fields.retain(|field| {
            // What a signature of the language takes the name of cannot be said here.
            let columns = field.columns.iter().flatten();
            columns.into_iter().all(|column| shared.contains(&**column))
                && !hidden.contains(&(owner.clone(), field.name.to_string()))
        });
    }
}

impl Sig {
    /// Whether all languages share it.
    fn is_shared(&self) -> bool {
        matches!(self.members, Members::Graph(_))
    }

    /// The signature in the language of models, with its documentation.
    pub fn to_als(&self) -> String {
        let mut out = String::new();
        self.declare(&mut out, true);
        out
    }

    /// Writes the signature in the language of models.
    fn declare(&self, out: &mut String, documented: bool) {
        if documented {
            let _ = writeln!(out, "/** {} */", self.doc);
        }
        let _ = write!(out, "sig {}", self.name);
        if let Some(parent) = &self.parent {
            let keyword = if self.subset { "in" } else { "extends" };
            let _ = write!(out, " {keyword} {parent}");
        }
        out.push_str(" {");
        for (at, field) in self.fields.iter().enumerate() {
            out.push_str(if at > 0 { ",\n" } else { "\n" });
            if documented {
                let _ = writeln!(out, "  /** {} */", field.doc);
            }
            let columns = field.columns.iter().map(|sigs| match sigs.as_slice() {
                [] => "univ".to_owned(),
                [one] => one.to_string(),
                sigs => format!("({})", sigs.join(" + ")),
            });
            let columns: Vec<String> = columns.collect();
            // A product takes no multiplicity in front.
            let multiplicity = match columns.as_slice() {
                [_] => format!("{} ", field.multiplicity.as_str()),
                _ => String::new(),
            };
            let _ = write!(
                out,
                "  {}: {multiplicity}{}",
                field.name,
                columns.join(" -> ")
            );
        }
        out.push_str(if self.fields.is_empty() {
            "}\n"
        } else {
            "\n}\n"
        });
    }
}

/// A name as an identifier of the language of models.
pub fn identifier(name: &str) -> String {
    let name = name.replace("::", "_");
    name.replace(|c: char| !c.is_alphanumeric(), "_")
}
