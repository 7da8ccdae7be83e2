//! The files of a project to objects.

use locus_core::{Diagnostic, FileId, Sources, Span};
use rayon::prelude::*;

use super::object::Object;
use crate::loader::Loader;
use crate::yaml::{self, Entry, Kind, Limits, Mapping, Node, Schema};

/// What was read of the files.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The objects, in the order of files and text.
    pub(crate) objects: Vec<Object>,
    /// What is wrong with the text of the files.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The paths of the files that could be read.
    pub(crate) files: Vec<String>,
    /// Whether all of them were understood; when not, what seems to be missing may be in a part that was not.
    pub(crate) complete: bool,
}

/// Reads files.
pub(crate) fn read(paths: &[String], loader: &dyn Loader, sources: &mut Sources) -> Read {
    let mut read = Read {
        complete: true,
        ..Read::default()
    };
    let loaded = paths
        .iter()
        .filter_map(|path| read.load(path, loader, sources));
    let loaded: Vec<FileId> = loaded.collect();
    // Files are parsed side by side; for one, no thread is started.
    let sources = &*sources;
    let parts: Vec<Read> = match loaded.as_slice() {
        [] => Vec::new(),
        [one] => vec![Read::of(*one, sources)],
        all => all
            .par_iter()
            .map(|file| Read::of(*file, sources))
            .collect(),
    };
    for part in parts {
        read.objects.extend(part.objects);
        read.diagnostics.extend(part.diagnostics);
        read.complete &= part.complete;
    }
    read
}

impl Read {
    /// Takes a file among the sources; none when there is no text to parse, which is told.
    fn load(&mut self, path: &str, loader: &dyn Loader, sources: &mut Sources) -> Option<FileId> {
        let bytes = match loader.load(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let message = format!("cannot read `{path}`: {}", error.reason);
                self.diagnostics.push(Diagnostic::error("io", message));
                self.complete = false;
                return None;
            }
        };
        self.files.push(path.to_owned());
        match locus_core::decode(&bytes) {
            Ok(text) => Some(sources.add(path, &*text)),
            Err(refused) => {
                let file = sources.add(path, refused.shown.as_str());
                self.diagnostics.push(refused.diagnostic(file));
                self.complete = false;
                None
            }
        }
    }

    /// What is in a file.
    fn of(file: FileId, sources: &Sources) -> Read {
        let mut read = Read::default();
        let mut parsed = yaml::parse(sources, file, &Limits::default());
        if !parsed.diagnostics.is_empty() {
            let limits = Limits {
                lenient: true,
                ..Limits::default()
            };
            parsed = yaml::parse(sources, file, &limits);
        }
        read.complete = parsed.is_complete();
        read.diagnostics.extend(parsed.diagnostics);
        for duplicate in &parsed.duplicates {
            let mut diagnostic = duplicate.diagnostic();
            diagnostic.severity = locus_core::Severity::Warning;
            read.diagnostics.push(
                diagnostic.help(
                    "`kubectl` takes the last one and says nothing: remove or rename the other",
                ),
            );
        }
        let found = parsed.documents.len();
        for document in parsed.documents {
            read.document(document.root);
        }
        if read.objects.is_empty() && read.complete && found == 0 {
            read.diagnostics.push(yaml::empty_file(file));
        } else if read.objects.is_empty() && read.complete {
            read.nothing(file);
        }
        read
    }

    /// A file that has documents, all of them empty.
    fn nothing(&mut self, file: FileId) {
        let told = self.diagnostics.iter().filter_map(Diagnostic::primary);
        if !told.into_iter().any(|span| span.file == file) {
            let diagnostic = Diagnostic::error("empty", "there is no object in this file")
                .at(Span::start_of(file))
                .help("nothing was checked: give a file with objects, or leave it out");
            self.diagnostics.push(diagnostic);
        }
    }

    /// An object, or the items of a list of objects. `kubectl` leaves out what is empty.
    fn document(&mut self, node: Node) {
        if node.is_null(Schema::GoYaml2) {
            return;
        }
        if !is_list(&node) {
            self.object(node);
            return;
        }
        let Kind::Mapping(mapping) = node.kind else {
            return;
        };
        let mut items = None;
        let inherited = inherited(&mapping);
        for entry in mapping.entries {
            match entry.name().map(|name| &**name) {
                Some("items") => items = Some(entry.value),
                Some("apiVersion" | "kind" | "metadata") => {}
                _ => {
                    let name = entry.name().map_or("", |name| name);
                    let message = format!("unknown field `{name}` in a list");
                    let diagnostic =
                        Diagnostic::error("k8s-unknown-field", message).at(entry.key.span);
                    self.diagnostics
                        .push(diagnostic.help("a list has `items`, and nothing else of its own"));
                }
            }
        }
        match items.map(|items| (items.span, items.kind)) {
            Some((_, Kind::Sequence(items))) => {
                for mut item in items {
                    inherit(&mut item, &inherited);
                    self.document(item);
                }
            }
            Some((span, _)) => {
                let diagnostic = Diagnostic::error("k8s-type", "`items` must be a list").at(span);
                self.diagnostics.push(diagnostic);
            }
            None => {}
        }
    }

    fn object(&mut self, node: Node) {
        let span = node.span;
        let Kind::Mapping(mapping) = &node.kind else {
            let found = node.describe(Schema::GoYaml2);
            let message = format!("this document is {found}, not an object");
            self.refuse(message, span);
            return;
        };
        for key in ["apiVersion", "kind"] {
            match mapping.entry(key) {
                None => {
                    let first = mapping.entries.first().map_or(span, |entry| entry.key.span);
                    self.refuse(format!("this object has no `{key}`"), first);
                    return;
                }
                Some(entry) if entry.value.is_null(Schema::GoYaml2) => {
                    self.refuse(format!("`{key}` has no value"), entry.key.span);
                    return;
                }
                Some(_) => {}
            }
        }
        match Object::read(node) {
            Some(object) => self.objects.push(object),
            None => self.refuse("`apiVersion` and `kind` must be strings".to_owned(), span),
        }
    }

    fn refuse(&mut self, message: String, span: Span) {
        let diagnostic = Diagnostic::error("k8s-document", message).at(span);
        self.diagnostics.push(diagnostic.help(
            "every object starts with its `apiVersion` and `kind`, as in `apiVersion: v1` and `kind: Pod`",
        ));
    }
}

/// What the items of the list of a kind need not say: a `PodList` is of `Pod`s, in its own `apiVersion`.
fn inherited(list: &Mapping) -> Vec<Entry> {
    let mut kind = list.entry("kind").cloned();
    let of = kind.as_ref().and_then(|kind| kind.value.as_str());
    let of = of.and_then(|of| of.strip_suffix("List")).map(str::to_owned);
    let Some(of) = of.filter(|of| !of.is_empty()) else {
        return Vec::new();
    };
    if let Some(entry) = &mut kind
        && let Kind::Scalar(scalar) = &mut entry.value.kind
    {
        scalar.text = of.into();
    }
    let version = list.entry("apiVersion").cloned();
    version.into_iter().chain(kind).collect()
}

/// Adds what an item takes from its list.
fn inherit(item: &mut Node, inherited: &[Entry]) {
    if let Kind::Mapping(mapping) = &mut item.kind {
        for entry in inherited {
            if entry
                .name()
                .is_some_and(|name| mapping.entry(name).is_none())
            {
                mapping.entries.push(entry.clone());
            }
        }
    }
}

/// Whether a document is a list of objects: `List`, or the list of a kind, as in `PodList`.
fn is_list(node: &Node) -> bool {
    let kind = node.get("kind").and_then(Node::as_str);
    kind.is_some_and(|kind| kind.ends_with("List")) && node.get("items").is_some()
        || kind == Some("List")
}
