//! Names of types: which type a name means in a file, through imports and their namespaces.

use std::cell::RefCell;
use std::sync::Arc;

use locus_core::{Diagnostic, Span, suggest};
use rustc_hash::{FxHashMap, FxHashSet};

use super::files::File;
use super::grammar::TypeKind;
use crate::yaml::{Node, Schema, Typed};

/// The identity of a type among those of all files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(u32);

impl TypeId {
    /// Position in the list of types.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub struct Defined<'a> {
    /// What it is a type of.
    pub kind: TypeKind,
    /// Its name in its file.
    pub name: &'a Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// Its definition.
    pub node: &'a Node,
    /// Its file.
    pub file: usize,
}

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A type.
    Type(TypeId),
    /// Something in a file that is not here.
    Unknown,
    /// Nothing.
    Nothing,
}

impl Meaning {
    /// The type, when it is one.
    pub fn id(self) -> Option<TypeId> {
        match self {
            Meaning::Type(id) => Some(id),
            _ => None,
        }
    }
}

/// The types of all files, and what names mean in each.
#[derive(Debug)]
pub struct Names<'a> {
    /// The files.
    pub files: &'a [File],
    /// The types.
    pub types: Vec<Defined<'a>>,
    own: Vec<FxHashMap<(TypeKind, &'a str), TypeId>>,
    short: FxHashMap<(usize, TypeKind, &'a str), TypeId>,
    known: RefCell<FxHashMap<(usize, TypeKind, String), Meaning>>,
    /// Whether the files are of several services, which know nothing of each other.
    pub apart: bool,
}

impl<'a> Names<'a> {
    /// The names of some files.
    pub fn new(files: &'a [File]) -> Self {
        let mut names = Names {
            files,
            types: Vec::new(),
            own: Vec::new(),
            short: FxHashMap::default(),
            known: RefCell::default(),
            apart: false,
        };
        for (index, file) in files.iter().enumerate() {
            let mut own = FxHashMap::default();
            for kind in TypeKind::ALL {
                let section = file.root.get(kind.section()).and_then(Node::as_mapping);
                for (name, entry) in section.into_iter().flat_map(|section| section.named()) {
                    if !matches!(entry.key.typed(Schema::Core), Some(Typed::Str(_))) {
                        continue;
                    }
                    let id = TypeId(u32::try_from(names.types.len()).unwrap_or(u32::MAX));
                    names.types.push(Defined {
                        kind,
                        name,
                        span: entry.key.span,
                        node: &entry.value,
                        file: index,
                    });
                    own.insert((kind, &**name), id);
                    if file.builtin && file.version.is_simple() {
                        let last = name.rsplit('.').next().unwrap_or(name);
                        names.short.entry((index, kind, last)).or_insert(id);
                        // `tosca.nodes.Container.Runtime` is `Container.Runtime` for short.
                        if let Some(rest) = name.splitn(3, '.').nth(2) {
                            names.short.insert((index, kind, rest), id);
                        }
                    }
                }
            }
            names.own.push(own);
        }
        names
    }

    /// A type.
    #[expect(
        clippy::indexing_slicing,
        reason = "an identity is only ever made with the type it stands for"
    )]
    pub fn get(&self, id: TypeId) -> &Defined<'a> {
        &self.types[id.index()]
    }

    /// All types.
    pub fn ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        let count = u32::try_from(self.types.len()).unwrap_or(u32::MAX);
        (0..count).map(TypeId)
    }

    /// What a name means in a file.
    pub fn lookup(&self, file: usize, kind: TypeKind, name: &str) -> Meaning {
        let key = (file, kind, name.to_owned());
        if let Some(&known) = self.known.borrow().get(&key) {
            return known;
        }
        let meaning = self.search(file, kind, name);
        self.known.borrow_mut().insert(key, meaning);
        meaning
    }

    fn search(&self, file: usize, kind: TypeKind, name: &str) -> Meaning {
        let mut seen = FxHashSet::default();
        let mut unknown = false;
        // The first that is found counts, in the order of the imports.
        let mut due = vec![(file, name)];
        while let Some((file, name)) = due.pop() {
            if !seen.insert((file, name.len())) {
                continue;
            }
            if let Some(&id) = self.own.get(file).and_then(|own| own.get(&(kind, name))) {
                return Meaning::Type(id);
            }
            let plain = name.strip_prefix("tosca:").unwrap_or(name);
            if let Some(&id) = self.short.get(&(file, kind, plain)) {
                return Meaning::Type(id);
            }
            let Some(this) = self.files.get(file) else {
                continue;
            };
            unknown |= this.broken;
            for import in this.imports.iter().rev() {
                let inner = match &import.prefix {
                    None => Some(name),
                    Some(prefix) => {
                        let rest = name.strip_prefix(&**prefix);
                        rest.and_then(|rest| rest.strip_prefix(':'))
                    }
                };
                let Some(inner) = inner else { continue };
                match import.file {
                    None => unknown = true,
                    Some(imported) => due.push((imported, inner)),
                }
            }
        }
        if unknown {
            Meaning::Unknown
        } else {
            Meaning::Nothing
        }
    }

    /// Every name of a kind that can be written in a file.
    pub fn visible(&self, file: usize, kind: TypeKind) -> Vec<String> {
        let mut names = Vec::new();
        let mut open = vec![(file, String::new())];
        let mut seen = FxHashSet::default();
        while let Some((at, prefix)) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let own = self.own.get(at).into_iter().flat_map(|own| own.keys());
            let own = own.filter(|(of, _)| *of == kind);
            names.extend(own.map(|(_, name)| format!("{prefix}{name}")));
            for import in self
                .files
                .get(at)
                .into_iter()
                .flat_map(|file| &file.imports)
            {
                let inner = match &import.prefix {
                    Some(namespace) => format!("{prefix}{namespace}:"),
                    None => prefix.clone(),
                };
                open.extend(import.file.map(|file| (file, inner)));
            }
        }
        names.sort_unstable();
        names
    }

    /// Says that a name means nothing.
    pub fn unknown(&self, file: usize, kind: TypeKind, name: &str, span: Span) -> Diagnostic {
        let other = TypeKind::ALL
            .into_iter()
            .find(|&other| other != kind && self.lookup(file, other, name).id().is_some());
        if let Some(other) = other {
            let message = format!("`{name}` is {}, and {} is needed", other.a(), kind.a());
            return Diagnostic::error("tosca-type-kind", message).at(span);
        }
        let names = self.visible(file, kind);
        let near = suggest::did_you_mean(name, names.iter().map(String::as_str));
        // A name whose namespace was left out, or put before what has none.
        let last = |name: &str| name.rsplit([':', '.']).next().unwrap_or(name).to_owned();
        let same = names.iter().find(|known| last(known) == last(name));
        let help = near.or_else(|| same.map(|same| format!("did you mean `{same}`?")));
        let message = format!("there is no {} `{name}`", kind.word());
        let diagnostic = Diagnostic::error("tosca-unknown-type", message);
        let elsewhere = self.own.iter().find_map(|own| own.get(&(kind, name)));
        let elsewhere = elsewhere.filter(|_| !self.apart);
        if let Some(&id) = elsewhere {
            return diagnostic
                .help("import the file that defines it here too: what another file imports is not seen here")
                .related(self.get(id).span, "defined in a file that this one does not import")
                .at(span);
        }
        diagnostic.maybe_help(help).at(span)
    }
}
