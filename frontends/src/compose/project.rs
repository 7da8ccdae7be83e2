//! The files of a project: read, extended, included, merged and held against the schema.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, FileId, Sources, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::conventions;
use super::environment::{Environment, Setting, Usages};
use super::merge;
use super::naming::{self, Naming};
use super::reader::Reader;
use super::schema;
use super::tree::{Kind, Pair, Tree};
use super::{Options, files};
use crate::loader::{self, Loader};
use crate::yaml;

/// A file of the project and what it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectFile {
    pub(crate) path: String,
    pub(crate) span: Span,
    /// Files that it includes, and where.
    pub(crate) includes: Vec<(String, Span)>,
}

/// A service that is extended: who extends whom, by file and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) from: (String, Arc<str>),
    pub(crate) from_span: Span,
    pub(crate) to: (String, Arc<str>),
    /// Where the service that is extended is defined, when it is.
    pub(crate) to_span: Option<Span>,
    pub(crate) span: Span,
}

/// What the files say together.
pub(crate) struct Project {
    pub(crate) tree: Tree,
    pub(crate) environment: Environment,
    pub(crate) usages: Usages,
    pub(crate) files: Vec<ProjectFile>,
    pub(crate) extensions: Vec<Extension>,
    /// The directory that relative paths of a file start from.
    pub(crate) directories: FxHashMap<FileId, String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) name: Arc<str>,
    /// Where each included service, network and so on was included.
    pub(crate) included_at: FxHashMap<FileId, Span>,
    /// Whether every file could be read as a whole.
    pub(crate) complete: bool,
    /// Texts that name something and depend on variables, where every value of these is considered.
    pub(crate) naming: Vec<Naming>,
}

/// Files included or extended in a row; more are refused.
const DEPTH: usize = 64;

type Documents = Rc<Vec<Tree>>;

pub(crate) struct Session<'s> {
    pub(crate) loader: &'s dyn Loader,
    pub(crate) sources: &'s mut Sources,
    pub(crate) options: &'s Options,
    pub(crate) usages: Usages,
    pub(crate) files: Vec<ProjectFile>,
    pub(crate) extensions: Vec<Extension>,
    pub(crate) directories: FxHashMap<FileId, String>,
    pub(crate) included_at: FxHashMap<FileId, Span>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) complete: bool,
    naming: Vec<Naming>,
    /// Whether a file asks for anything but being merged.
    marked: bool,
    /// Files read, by path and by the environment they were read in.
    documents: FxHashMap<(String, usize), Option<Documents>>,
    /// Environments made so far.
    pub(crate) environments: usize,
}

/// What a file is read in: where paths start, which variables are set.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) directory: String,
    pub(crate) environment: Rc<Environment>,
    /// Which environment, for the cache.
    pub(crate) environment_id: usize,
    /// The files that are being included, outermost first.
    pub(crate) stack: Vec<String>,
    /// Where the file is named, when it is included.
    pub(crate) included_at: Option<Span>,
}

/// Reads a project.
pub(crate) fn load(options: &Options, loader: &dyn Loader, sources: &mut Sources) -> Project {
    let mut session = Session {
        loader,
        sources,
        options,
        usages: Usages::default(),
        files: Vec::new(),
        extensions: Vec::new(),
        directories: FxHashMap::default(),
        included_at: FxHashMap::default(),
        diagnostics: Vec::new(),
        complete: true,
        naming: Vec::new(),
        marked: false,
        documents: FxHashMap::default(),
        environments: 1,
    };
    let files = files::with_override(options, loader);
    let directory = match (&options.project_directory, files.first()) {
        (Some(directory), _) => loader::normalize(directory),
        (None, Some(first)) => loader::directory(first).to_owned(),
        (None, None) => ".".to_owned(),
    };
    let environment = session.environment(&directory);
    let context = Context {
        directory: directory.clone(),
        environment: Rc::new(environment.clone()),
        environment_id: 0,
        stack: Vec::new(),
        included_at: None,
    };
    let tree = session.model(&files, &context);
    let merged: FxHashSet<Option<Span>> = session
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.code == "compose-merge")
        .map(Diagnostic::primary)
        .collect();
    let mut seen = FxHashSet::default();
    session.diagnostics.retain(|diagnostic| {
        // Of a value that is neither what it should be nor what it overrides, one is said.
        let said = diagnostic.code == "compose-type" && merged.contains(&diagnostic.primary());
        !said
            && seen.insert((
                diagnostic.code.clone(),
                diagnostic.primary(),
                diagnostic.message.clone(),
            ))
    });
    let name = files::project_name(options, &environment, &tree, &directory);
    Project {
        tree,
        environment,
        usages: session.usages,
        files: session.files,
        extensions: session.extensions,
        directories: session.directories,
        diagnostics: session.diagnostics,
        name,
        included_at: session.included_at,
        complete: session.complete,
        naming: session.naming,
    }
}

/// Whether a document may have another file read, or be read again itself.
fn names_files(document: &Tree) -> bool {
    let extends = |section: &Pair| {
        let mut entries = section.value.pairs().iter();
        entries.any(|entry| entry.value.get("extends").is_some())
    };
    document.get("include").is_some() || document.pairs().iter().any(extends)
}

impl Session<'_> {
    /// The variables of the project: the shell's, then those of the environment files.
    fn environment(&mut self, directory: &str) -> Environment {
        let mut environment = Environment::default();
        for name in &self.options.unset {
            environment.unset(name.as_str());
        }
        for (name, value) in &self.options.environment {
            let text = value.as_str().into();
            environment.or_insert(name.as_str(), Setting { text, span: None });
        }
        if self.options.env_files.is_empty() {
            let path = loader::join(directory, ".env");
            self.env_file(&path, None, &mut environment);
        } else {
            // Of several files the last counts, and what is read first stays.
            for path in self.options.env_files.iter().rev() {
                let missing = self.loader.load(path).is_err();
                let at = missing.then(|| Span::start_of(self.sources.add(path.clone(), "")));
                self.env_file(path, at, &mut environment);
            }
        }
        if let Some(name) = &self.options.project_name {
            let text = name.as_str().into();
            environment.or_insert("COMPOSE_PROJECT_NAME", Setting { text, span: None });
        }
        environment
    }

    /// Adds an environment file; `at` is where it is named, or `None` when it may be absent.
    pub(crate) fn env_file(&mut self, path: &str, at: Option<Span>, environment: &mut Environment) {
        if let Some((file, text)) = self.read_text(path, at, "environment file") {
            environment.read_file(
                &text,
                |range| Span::new(file, range.start, range.end),
                &mut self.diagnostics,
            );
        }
    }

    /// The text of a file, which becomes one of the sources.
    pub(crate) fn read_text(
        &mut self,
        path: &str,
        at: Option<Span>,
        what: &str,
    ) -> Option<(FileId, Arc<str>)> {
        let bytes = match self.loader.load(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                if let Some(at) = at {
                    self.complete = false;
                    self.diagnostics.push(
                        Diagnostic::error(
                            "compose-file",
                            format!("the {what} `{path}` cannot be read: {}", error.reason),
                        )
                        .at(at)
                        .help("check the path: it is relative to the project directory"),
                    );
                }
                return None;
            }
        };
        let (file, refused) = self.sources.add_bytes(path, &bytes);
        if refused.is_some() {
            self.complete = false;
            self.diagnostics.extend(refused);
            return None;
        }
        Some((file, self.sources.shared_text(file)))
    }

    /// The documents of a file, read once for each environment.
    pub(crate) fn documents(
        &mut self,
        path: &str,
        at: Option<Span>,
        context: &Context,
    ) -> Option<Documents> {
        let key = (path.to_owned(), context.environment_id);
        if let Some(done) = self.documents.get(&key) {
            return done.clone();
        }
        let at = at.or_else(|| {
            // A file named on the command line that is not there still needs a place.
            (self.loader.load(path).is_err())
                .then(|| Span::start_of(self.sources.add(path.to_owned(), "")))
        });
        let documents = self.parse(path, at, context).map(Rc::new);
        self.documents.insert(key, documents.clone());
        documents
    }

    fn parse(&mut self, path: &str, at: Option<Span>, context: &Context) -> Option<Vec<Tree>> {
        let (file, text) = self.read_text(path, at, "file")?;
        self.files.push(ProjectFile {
            path: path.to_owned(),
            span: Span::start_of(file),
            includes: Vec::new(),
        });
        self.directories.insert(file, context.directory.clone());
        if let Some(at) = context.included_at {
            self.included_at.insert(file, at);
        }
        let parsed = yaml::parse(self.sources, file, &self.options.limits);
        self.complete &= parsed.is_complete();
        if parsed.documents.is_empty() && parsed.diagnostics.is_empty() {
            self.complete = false;
            self.diagnostics.push(yaml::empty_file(file));
        }
        self.diagnostics.extend(parsed.diagnostics);
        self.diagnostics
            .extend(parsed.duplicates.iter().map(yaml::DuplicateKey::diagnostic));
        let several = parsed.documents.len() > 1;
        let mut documents = Vec::with_capacity(parsed.documents.len());
        for document in parsed.documents {
            let mut reader = Reader {
                text: &text,
                file,
                environment: &context.environment,
                all_inputs: self.options.all_inputs,
                usages: &mut self.usages,
                marked: &mut self.marked,
                diagnostics: &mut self.diagnostics,
            };
            let tree = reader.tree(document.root);
            if self.options.all_inputs {
                naming::collect(&tree, &mut self.naming);
            }
            match tree.kind {
                Kind::Map(_) => documents.push(tree),
                Kind::Null if several => {}
                Kind::Null => {
                    self.complete = false;
                    self.diagnostics.push(yaml::empty_file(file));
                }
                _ => {
                    self.complete = false;
                    self.diagnostics.push(
                        Diagnostic::error(
                            "compose-type",
                            format!("a Compose file is a map, but this is {}", tree.describe()),
                        )
                        .at(tree.span)
                        .help("start with `services:`"),
                    );
                }
            }
        }
        Some(documents)
    }

    /// Several files as one: each is extended, its includes are added, and it overrides those before.
    pub(crate) fn model(&mut self, files: &[String], context: &Context) -> Tree {
        let mut merged: Option<Tree> = None;
        for path in files {
            if context.stack.len() >= DEPTH || context.stack.contains(path) {
                // The edges of the cycle are facts; following them again would not end.
                continue;
            }
            let Some(documents) = self.documents(path, context.included_at, context) else {
                continue;
            };
            let alone = files.len() == 1 && context.stack.is_empty();
            let documents = if alone && !documents.iter().any(names_files) {
                // Nobody will ask for them again.
                self.documents.clear();
                Rc::try_unwrap(documents).unwrap_or_else(|shared| shared.to_vec())
            } else {
                documents.to_vec()
            };
            for mut document in documents {
                self.extend_services(path, &mut document, context);
                let mut inner = context.clone();
                inner.stack.push(path.clone());
                self.include(path, &mut document, &inner);
                let next = match merged.take() {
                    None => {
                        if self.marked {
                            merge::strip_marks(&mut document);
                        }
                        document
                    }
                    Some(earlier) => merge::merge(earlier, document, &mut self.diagnostics),
                };
                let mut found = Vec::new();
                schema::check(&next, &mut found);
                conventions::check(&next, &self.usages, &mut found);
                if !self.complete {
                    // What seems to be missing may be in a part that could not be read.
                    found.retain(|diagnostic| diagnostic.code != "compose-missing-key");
                }
                self.diagnostics.extend(found);
                merged = Some(next);
            }
        }
        merged.unwrap_or_else(|| {
            let file = self.sources.files().next();
            let file = file.unwrap_or_else(|| self.sources.add("", ""));
            Tree::new(Kind::Map(Vec::new()), Span::start_of(file))
        })
    }

    fn extend_services(&mut self, path: &str, document: &mut Tree, context: &Context) {
        let Kind::Map(sections) = &mut document.kind else {
            return;
        };
        for section in sections
            .iter_mut()
            .filter(|p| matches!(&*p.key, "services" | "jobs"))
        {
            let extends = |pair: &Pair| pair.value.some("extends").is_some();
            if !section.value.pairs().iter().any(extends) {
                continue;
            }
            let original = section.value.clone();
            let Kind::Map(services) = &mut section.value.kind else {
                continue;
            };
            for service in services.iter_mut().filter(|pair| extends(pair)) {
                let mut stack = Vec::new();
                let done = self.extended(path, &original, service, context, &mut stack);
                service.value = done;
            }
        }
    }

    /// A service with what it extends merged in.
    fn extended(
        &mut self,
        path: &str,
        services: &Tree,
        service: &Pair,
        context: &Context,
        stack: &mut Vec<(String, Arc<str>)>,
    ) -> Tree {
        let me = (path.to_owned(), service.key.clone());
        let Some(extends) = service.value.some("extends") else {
            return service.value.clone();
        };
        let (name, file) = match &extends.kind {
            Kind::Map(_) => (extends.some("service"), extends.some("file")),
            _ => (Some(extends), None),
        };
        let Some((name, name_span)) = name.and_then(|name| Some((name.text()?, name.span))) else {
            return service.value.clone();
        };
        let file = file.and_then(|file| Some((file.text()?, file.span)));
        let target_path = match &file {
            Some((file, _)) => loader::join(&context.directory, file),
            None => path.to_owned(),
        };
        let target = (target_path.clone(), name.clone());
        let mut inner = context.clone();
        let other: Option<Documents> = match &file {
            Some((_, span)) if target_path != path => {
                inner.directory = loader::directory(&target_path).to_owned();
                inner.included_at = None;
                self.documents(&target_path, Some(*span), &inner)
            }
            _ => None,
        };
        let other_services = other
            .as_ref()
            .and_then(|documents| documents.iter().find_map(|tree| tree.get("services")));
        let target_services = if target_path == path {
            Some(services)
        } else {
            other_services
        };
        let base = target_services.and_then(|services| services.pair(&name));
        if stack.is_empty() || !stack.contains(&me) {
            let known = self
                .extensions
                .iter()
                .any(|known| known.from == me && known.to == target);
            if !known && (target_services.is_some() || file.is_none()) {
                self.extensions.push(Extension {
                    from: me.clone(),
                    from_span: service.key_span,
                    to: target.clone(),
                    to_span: base.map(|base| base.key_span),
                    span: name_span,
                });
            }
        }
        let (Some(base), Some(target_services)) = (base, target_services) else {
            return service.value.clone();
        };
        if me == target || stack.contains(&target) || stack.len() >= DEPTH {
            return service.value.clone();
        }
        stack.push(me);
        let mut base = self.extended(&target_path, target_services, base, &inner, stack);
        stack.pop();
        if let Kind::Map(pairs) = &mut base.kind {
            pairs.retain(|pair| &*pair.key != "extends");
        }
        merge::merge_service(base, service.value.clone(), &mut self.diagnostics)
    }
}
