//! The files of a service: the one that is named, and what it imports.

mod folders;
mod profiles;

use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Sources, Span, suggest};
use rustc_hash::FxHashMap;

use super::builtin;
use super::dialect;
use super::grammar::walk::Walk;
use super::grammar::{Shape, tables};
use super::version::{NAMES, Named, Version};
use crate::loader::{LoadError, Loader, directory, join};
use crate::yaml::{self, Limits, Mapping, Node, Schema, Typed};

/// A file that was read.
#[derive(Debug)]
pub struct File {
    /// Its text.
    pub id: FileId,
    /// Its version.
    pub version: Version,
    /// Its content, a map.
    pub root: Arc<Node>,
    /// What it imports.
    pub imports: Vec<Import>,
    /// Whether it comes with the program.
    pub builtin: bool,
    /// Whether a part of it could not be read, so that what seems to be missing may be there.
    pub broken: bool,
}

impl File {
    /// Its content.
    pub fn map(&self) -> &Mapping {
        static NOTHING: Mapping = Mapping {
            entries: Vec::new(),
        };
        self.root.as_mapping().unwrap_or(&NOTHING)
    }
}

/// An import of a file.
#[derive(Clone, Debug)]
pub struct Import {
    /// What is imported; none for what is not here: nothing is known of its names.
    pub file: Option<usize>,
    /// The namespace that its names are put into.
    pub prefix: Option<Arc<str>>,
}

/// Most files of one service.
const LIMIT: usize = 2000;

/// Reads files and follows their imports.
pub struct Reader<'r> {
    /// The texts.
    pub sources: &'r mut Sources,
    /// Where files come from.
    pub loader: &'r dyn Loader,
    /// Further folders in which types are looked for.
    pub folders: Vec<String>,
    /// The root of the archive that the files are in, as `package.csar!`; nothing is read from beside it.
    pub root: Option<String>,
    /// The files, each once.
    pub files: Vec<File>,
    /// The paths of the files that were read.
    pub paths: Vec<String>,
    /// What is wrong with them.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be looked at.
    pub unchecked: Vec<Diagnostic>,
    by_path: FxHashMap<String, Option<usize>>,
    /// Paths at which nothing can be read, and why.
    missing: FxHashMap<String, LoadError>,
    /// Whether every file is one that was named, of which everything is told.
    all_named: bool,
    /// How many files were there before those that are read for the file that was named last.
    before: usize,
    profiles: FxHashMap<String, Vec<(String, String)>>,
    normative: Option<usize>,
    /// The version of the file whose imports are being followed.
    importer: Option<Version>,
    /// Files whose imports are still to be followed, with their paths.
    due: Vec<(usize, String)>,
}

impl<'r> Reader<'r> {
    /// A reader that has read nothing.
    pub fn new(sources: &'r mut Sources, loader: &'r dyn Loader) -> Self {
        Reader {
            sources,
            loader,
            folders: Vec::new(),
            root: None,
            files: Vec::new(),
            paths: Vec::new(),
            diagnostics: Vec::new(),
            unchecked: Vec::new(),
            by_path: FxHashMap::default(),
            missing: FxHashMap::default(),
            all_named: false,
            before: 0,
            profiles: FxHashMap::default(),
            normative: None,
            importer: None,
            due: Vec::new(),
        }
    }

    /// Reads the file that the user named, and all that it imports.
    pub fn entry(&mut self, path: &str) -> Option<usize> {
        let index = self.read(path);
        self.find_types();
        index
    }

    /// Reads several files as if each were the one that was named, and all that they import; gives the first.
    pub fn entries(&mut self, paths: &[String]) -> Option<usize> {
        self.all_named = paths.len() > 1;
        let mut first = None;
        for path in paths {
            let index = self.read(path);
            first = first.or(index);
        }
        self.find_types();
        first
    }

    fn read(&mut self, path: &str) -> Option<usize> {
        if let Some(known) = self.by_path.get(path) {
            return *known;
        }
        self.before = self.files.len();
        match self.loader.load(path) {
            Ok(bytes) => {
                self.importer = None;
                let index = self.text(path, &bytes, None);
                self.by_path.insert(path.to_owned(), index);
                self.follow_due();
                index
            }
            Err(error) => {
                let message = format!("cannot read `{path}`: {}", error.reason);
                self.unchecked.push(Diagnostic::error("io", message));
                None
            }
        }
    }

    /// Reads a text and follows its imports.
    fn text(&mut self, path: &str, bytes: &[u8], imported: Option<Span>) -> Option<usize> {
        let (id, refused) = self.sources.add_bytes(path, bytes);
        self.paths.push(path.to_owned());
        if let Some(refused) = refused {
            self.diagnostics.push(refused);
            return None;
        }
        let parsed = yaml::parse(self.sources, id, &Limits::default());
        let broken = !parsed.broken.is_empty();
        self.diagnostics.extend(parsed.diagnostics);
        let duplicates = parsed.duplicates.iter();
        self.diagnostics
            .extend(duplicates.map(yaml::DuplicateKey::diagnostic));
        let mut documents = parsed.documents.into_iter();
        let Some(document) = documents.next() else {
            if !broken {
                self.diagnostics.push(yaml::empty_file(id));
            }
            return None;
        };
        if let Some(second) = documents.next() {
            let message = "a TOSCA file has one document, and this is a second one";
            let diagnostic = Diagnostic::error("tosca-shape", message);
            self.diagnostics.push(diagnostic.at(second.root.span));
        }
        let Some(root) = document.root.as_mapping() else {
            let is = document.root.describe(Schema::Core);
            let message = format!("a TOSCA file is a map, not {is}");
            let diagnostic = Diagnostic::error("tosca-shape", message);
            self.diagnostics.push(diagnostic.at(document.root.span));
            return None;
        };
        let version = self.version(root, id, imported)?;
        Some(self.add(path, document.root, id, version, broken))
    }

    fn add(&mut self, path: &str, root: Node, id: FileId, version: Version, broken: bool) -> usize {
        let index = self.files.len();
        self.files.push(File {
            id,
            version,
            root: Arc::new(root),
            imports: Vec::new(),
            builtin: false,
            broken,
        });
        self.by_path.insert(path.to_owned(), Some(index));
        self.due.push((index, path.to_owned()));
        index
    }

    /// Follows the imports of the files that were read, and of those that are read for it, one after the other: a chain of
    /// imports may be long.
    fn follow_due(&mut self) {
        while let Some((index, path)) = self.due.pop() {
            self.follow_imports(index, &path);
        }
    }

    fn follow_imports(&mut self, index: usize, path: &str) {
        let Some((id, version)) = self.files.get(index).map(|file| (file.id, file.version)) else {
            return;
        };
        let mut imports = self.imports(index, path);
        if version.is_simple() {
            let file = Some(self.normative(version));
            imports.push(Import { file, prefix: None });
            imports.extend(self.nfv(index));
            if self.sources.text(id).contains(builtin::MENTIONS) {
                let file = Some(self.builtin(builtin::lifecycle()));
                imports.push(Import { file, prefix: None });
            }
        }
        if let Some(file) = self.files.get_mut(index) {
            file.imports = imports;
        }
    }

    /// The profile for NFV brings types that do not come with the program; whoever imports none relies on them.
    fn nfv(&mut self, index: usize) -> Option<Import> {
        let root = &self.files.get(index)?.root;
        let version = root.get("tosca_definitions_version")?;
        if !version.as_str()?.contains("nfv") || root.get("imports").is_some() {
            return None;
        }
        let message = "the types of the profile for NFV do not come with the program, so what uses them is not checked";
        let diagnostic = Diagnostic::warning("unchecked", message).help(
            "import a file of these types; `--types DIR` names a folder in which it is looked for",
        );
        self.unchecked.push(diagnostic.at(version.used_at()));
        Some(Import {
            file: None,
            prefix: None,
        })
    }

    /// The version that a file says it has.
    fn version(&mut self, root: &Mapping, id: FileId, imported: Option<Span>) -> Option<Version> {
        let first = root.entries.first();
        let api = root.get("apiVersion");
        if let Some(api) = api.filter(|api| api.as_str().is_some_and(super::version::is_ensemble)) {
            let message = "this is an ensemble of Unfurl, whose files differ from TOSCA and cannot be checked";
            let diagnostic = Diagnostic::warning("tosca-dialect", message);
            self.unchecked.push(diagnostic.at(api.used_at()));
            return None;
        }
        let Some(entry) = root.entry("tosca_definitions_version") else {
            let message = "there is no `tosca_definitions_version`";
            let diagnostic = Diagnostic::error("tosca-version", message)
                .help("start the file with `tosca_definitions_version: tosca_2_0`")
                .at(Span::start_of(id));
            let diagnostic = match imported {
                Some(span) => diagnostic.related(span, "imported here"),
                None => diagnostic,
            };
            self.diagnostics.push(diagnostic);
            let simple = root.get("topology_template").is_some();
            let own = if simple { Version::V1_3 } else { Version::V2_0 };
            // Most likely that of the file that imports it.
            return Some(self.importer.unwrap_or(own));
        };
        let text = match entry.value.typed(Schema::Core) {
            Some(Typed::Str(text)) => text,
            _ => {
                let is = entry.value.describe(Schema::Core);
                let message = format!("`tosca_definitions_version` is a string, not {is}");
                let diagnostic = Diagnostic::error("tosca-version", message);
                let help = format!("write one of {}", NAMES.join(", "));
                self.diagnostics
                    .push(diagnostic.help(help).at(entry.value.used_at()));
                return None;
            }
        };
        let version = match Version::named(&text) {
            Named::Version(version) => version,
            Named::Dialect(name) => {
                let message = format!(
                    "`{text}` is a version of {name}, whose files differ from TOSCA and cannot be checked"
                );
                let diagnostic = Diagnostic::warning("tosca-dialect", message);
                self.unchecked.push(diagnostic.at(entry.value.used_at()));
                return None;
            }
            Named::Unknown => {
                let near = suggest::did_you_mean(&text, NAMES.iter().copied());
                let help = near.unwrap_or_else(|| format!("write one of {}", NAMES.join(", ")));
                let message = format!("`{text}` is not a version of TOSCA");
                let diagnostic = Diagnostic::error("tosca-version", message);
                self.diagnostics
                    .push(diagnostic.help(help).at(entry.value.used_at()));
                return None;
            }
        };
        let text = self.sources.text(id);
        if let Some(mark) = dialect::mark(root, text).filter(|_| version.is_simple()) {
            let program = mark.program;
            let message = format!(
                "`{}` is for {program}, whose files differ from TOSCA and cannot be checked",
                mark.what
            );
            let diagnostic = Diagnostic::warning("tosca-dialect", message);
            self.unchecked.push(diagnostic.at(mark.span));
            return None;
        }
        if first.is_some_and(|first| first.key.as_str() != Some("tosca_definitions_version")) {
            let message = "`tosca_definitions_version` must be the first line";
            let diagnostic = match version {
                Version::V1_0 | Version::V2_0 => Diagnostic::error("tosca-version", message),
                _ => Diagnostic::warning("tosca-version", message),
            };
            self.diagnostics.push(diagnostic.at(entry.key.span));
        }
        Some(version)
    }

    /// The types that come with a version of the Simple Profile: those of the file that was named, for all.
    fn normative(&mut self, version: Version) -> usize {
        if let Some(index) = self.normative {
            return index;
        }
        let index = self.builtin(builtin::normative(version));
        self.normative = Some(index);
        index
    }

    /// The position of a file that comes with the program.
    pub(super) fn builtin(&mut self, text: builtin::Text) -> usize {
        if let Some(Some(index)) = self.by_path.get(text.name) {
            return *index;
        }
        let id = self.sources.add(text.name, text.text);
        let root = Arc::new(builtin::tree(&text, id, self.sources));
        let index = self.files.len();
        self.files.push(File {
            id,
            version: text.version,
            root,
            imports: Vec::new(),
            builtin: true,
            broken: false,
        });
        self.by_path.insert(text.name.to_owned(), Some(index));
        index
    }

    /// Follows the imports of a file.
    fn imports(&mut self, index: usize, path: &str) -> Vec<Import> {
        let Some(file) = self.files.get(index) else {
            return Vec::new();
        };
        let version = file.version;
        self.importer = Some(version);
        let root = file.root.clone();
        let Some(items) = root.get("imports").and_then(Node::as_sequence) else {
            return Vec::new();
        };
        let mut imports = Vec::new();
        for item in items {
            let Some(stated) = self.stated(item, version) else {
                let file = None;
                imports.push(Import { file, prefix: None });
                continue;
            };
            let file = match self.follow(&stated, path, &root, version) {
                Followed::File(file) => Some(file),
                // What was refused has been told, and what it would have defined is not known.
                Followed::Elsewhere | Followed::Refused => None,
            };
            imports.push(Import {
                file,
                prefix: stated.prefix,
            });
        }
        imports
    }

    /// Reads one import, in any of its forms.
    fn stated(&mut self, item: &Node, version: Version) -> Option<Stated> {
        if let Some(Typed::Str(text)) = item.typed(Schema::Core) {
            return Some(Stated {
                what: What::Path(text),
                span: item.used_at(),
                repository: None,
                prefix: None,
            });
        }
        let map = item.as_mapping().filter(|map| !map.is_empty());
        let Some(map) = map else {
            let is = item.describe(Schema::Core);
            let message = format!("an import is a path or a map, not {is}");
            let diagnostic = Diagnostic::error("tosca-import", message);
            self.diagnostics.push(diagnostic.at(item.used_at()));
            return None;
        };
        // 1.x: `- name: path` and `- name: {file: path}`.
        if let ([entry], true) = (map.entries.as_slice(), version.is_simple())
            && !tables::IMPORT
                .keys
                .iter()
                .any(|key| entry.key.as_str() == Some(key.name))
        {
            if entry.value.as_mapping().is_none() && entry.value.as_str().is_none() {
                let message = "an import is a path or a map";
                let diagnostic = Diagnostic::error("tosca-import", message);
                self.diagnostics.push(diagnostic.at(entry.key.span));
                return None;
            }
            return self.stated(&entry.value, version);
        }
        let mut ignore = |_, _: &Node| {};
        Walk {
            version,
            types: &mut ignore,
            diagnostics: &mut self.diagnostics,
        }
        .node(
            item,
            &Shape::Entity(&tables::IMPORT),
            "imports",
            item.used_at(),
        );
        let text = |key: &str| {
            let node = map.get(key)?;
            Some((node.text()?.clone(), node.used_at()))
        };
        let repository = text("repository");
        let prefix = text("namespace").or_else(|| text("namespace_prefix"));
        let prefix = prefix
            .map(|(prefix, _)| prefix)
            .filter(|prefix| !prefix.is_empty());
        let what = match (text("file").or_else(|| text("url")), text("profile")) {
            (Some(_), Some((_, span))) => {
                let message = "an import has a `url` or a `profile`, not both";
                self.diagnostics
                    .push(Diagnostic::error("tosca-import", message).at(span));
                return None;
            }
            (Some((path, span)), None) => (What::Path(path), span),
            (None, Some((name, span))) => {
                if let Some((_, span)) = repository {
                    let message = "an import by `profile` has no `repository`";
                    self.diagnostics
                        .push(Diagnostic::error("tosca-import", message).at(span));
                    return None;
                }
                (What::Profile(name), span)
            }
            (None, None) => {
                if !version.is_simple() {
                    let message = "this import names neither a `url` nor a `profile`";
                    let diagnostic = Diagnostic::error("tosca-import", message);
                    self.diagnostics.push(diagnostic.at(item.used_at()));
                }
                return None;
            }
        };
        Some(Stated {
            what: what.0,
            span: what.1,
            repository,
            prefix,
        })
    }

    fn follow(&mut self, stated: &Stated, path: &str, root: &Node, version: Version) -> Followed {
        let text = match &stated.what {
            What::Profile(name) => return self.profile(name, stated.span, path),
            What::Path(text) => text,
        };
        let mut folder = directory(path).to_owned();
        let mut text: &str = text;
        if let Some((name, span)) = &stated.repository {
            let repositories = root.get("repositories").and_then(Node::as_mapping);
            let Some(repository) = repositories.and_then(|all| all.get(name)) else {
                let known = repositories.into_iter().flat_map(Mapping::named);
                let known: Vec<&str> = known.map(|(name, _)| &**name).collect();
                let message = format!("there is no repository `{name}`");
                let diagnostic = Diagnostic::error("tosca-import", message)
                    .maybe_help(suggest::did_you_mean(name, known.iter().copied()))
                    .at(*span);
                self.diagnostics.push(diagnostic);
                return Followed::Refused;
            };
            let url = repository
                .as_str()
                .or_else(|| repository.get("url")?.as_str());
            match url.map(place) {
                Some(Place::Local(local)) => folder = join(&folder, local),
                _ => return self.elsewhere(text, stated.span),
            }
        }
        if let Some(name) = text
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'))
        {
            let message =
                format!("`{name}` is a file that comes with Yorc, so what it defines is not known");
            let diagnostic = Diagnostic::warning("tosca-dialect", message)
                .help("import a copy of it, or name the folder of one by `--types DIR`");
            for folder in self.folders.clone() {
                let path = join(&folder, name);
                if self.loader.load(&path).is_ok() {
                    return self.file(&path, &path, stated.span);
                }
            }
            self.unchecked.push(diagnostic.at(stated.span));
            return Followed::Elsewhere;
        }
        match place(text) {
            Place::Remote => {
                // A profile that comes with the program may be named by where it is published.
                return self.elsewhere(text, stated.span);
            }
            Place::Local(local) => text = local,
        }
        // A leading `/` is the root of what is deployed, which for a file is its folder.
        let target = match (text.strip_prefix('/'), &self.root) {
            (Some(inside), Some(root)) => join(root, inside),
            (None, Some(root)) => {
                let target = join(&folder, text);
                if !target.starts_with(&format!("{root}/")) {
                    let message = format!("`{text}` leaves the archive");
                    let diagnostic = Diagnostic::error("tosca-import", message);
                    self.diagnostics.push(diagnostic.at(stated.span));
                    return Followed::Refused;
                }
                target
            }
            (inside, None) => match inside {
                Some(inside) if !version.is_simple() && self.loader.load(text).is_err() => {
                    join(directory(path), inside)
                }
                _ => join(&folder, text),
            },
        };
        self.file(&target, text, stated.span)
    }

    /// Reads a file that is imported, once.
    fn file(&mut self, target: &str, text: &str, span: Span) -> Followed {
        if let Some(known) = self.by_path.get(target) {
            let known = *known;
            if let (true, Some(error)) = (self.all_named, self.missing.get(target).cloned()) {
                self.tell_missing(text, span, &error);
            }
            return known.map_or(Followed::Refused, Followed::File);
        }
        if self.files.len() - self.before >= LIMIT {
            let message = format!("more than {LIMIT} files are imported");
            self.unchecked
                .push(Diagnostic::error("too-large", message).at(span));
            return Followed::Elsewhere;
        }
        let mut found = self
            .loader
            .load(target)
            .map(|bytes| (target.to_owned(), bytes));
        for folder in &self.folders {
            if found.is_ok() {
                break;
            }
            let path = join(folder, text.trim_start_matches('/'));
            found = self.loader.load(&path).map(|bytes| (path, bytes));
        }
        match found {
            Ok((path, bytes)) => {
                if let Some(known) = self.by_path.get(&path) {
                    return known.map_or(Followed::Refused, Followed::File);
                }
                let before = self.unchecked.len();
                let index = self.text(&path, &bytes, Some(span));
                self.by_path.insert(target.to_owned(), index);
                match index {
                    Some(index) => Followed::File(index),
                    None if self.unchecked.len() > before => Followed::Elsewhere,
                    None => Followed::Refused,
                }
            }
            Err(error) => {
                self.by_path.insert(target.to_owned(), None);
                self.tell_missing(text, span, &error);
                self.missing.insert(target.to_owned(), error);
                Followed::Refused
            }
        }
    }

    fn tell_missing(&mut self, text: &str, span: Span, error: &LoadError) {
        let message = format!("cannot import `{text}`: {}", error.reason);
        let mut diagnostic = Diagnostic::error("tosca-import", message);
        if error.missing {
            diagnostic =
                diagnostic.help("`--types DIR` names a folder in which types are looked for too");
        }
        self.diagnostics.push(diagnostic.at(span));
    }

    fn elsewhere(&mut self, text: &str, span: Span) -> Followed {
        let message = format!("`{text}` is not fetched, so what it defines is not known");
        let diagnostic = Diagnostic::warning("unchecked", message)
            .help("import a copy of it, or name the folder of one by `--types DIR`");
        for folder in self.folders.clone() {
            let name = text.rsplit('/').next().unwrap_or(text);
            let path = join(&folder, name);
            if self.loader.load(&path).is_ok() {
                return self.file(&path, &path, span);
            }
        }
        self.unchecked.push(diagnostic.at(span));
        Followed::Elsewhere
    }
}

/// An import as it is written.
struct Stated {
    what: What,
    span: Span,
    repository: Option<(Arc<str>, Span)>,
    prefix: Option<Arc<str>>,
}

enum What {
    Path(Arc<str>),
    Profile(Arc<str>),
}

enum Followed {
    /// The file was read.
    File(usize),
    /// It is not here, and nothing is known of it.
    Elsewhere,
    /// It was told what is wrong.
    Refused,
}

enum Place<'a> {
    Local(&'a str),
    Remote,
}

/// Whether an address is a path, also one written as `file:`.
fn place(text: &str) -> Place<'_> {
    if let Some(path) = text.strip_prefix("file:") {
        return Place::Local(path.strip_prefix("//").unwrap_or(path));
    }
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.len() > 1
            && scheme
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    if scheme.is_some_and(is_scheme) {
        Place::Remote
    } else {
        Place::Local(text)
    }
}
