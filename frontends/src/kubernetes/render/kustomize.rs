//! Kustomizations, built by `kustomize` or `kubectl`, which can be made to note the file that each object is from.
//!
//! The output is in an order of its own, so that places are found by the keys that lead to them.

use std::collections::HashMap;
use std::sync::Arc;

use locus_core::{FileId, Sources};

use super::paths::{self, Source};
use crate::language::render::{Origin, Renderer, Rendering, ToRender};
use crate::loader::{Loader, PathKind, directory, join, normalize};
use crate::yaml::{self, Limits, Node};

/// The annotation that names the file of an object.
const ORIGIN: &str = "config.kubernetes.io/origin";

/// What a kustomization may be called.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// How deep kustomizations are followed that are made of others.
const DEPTH: usize = 32;

pub(super) fn renderers(asked: &ToRender<'_>) -> Vec<Renderer> {
    let noting = format!(
        "resources: [\"{}\"]\nbuildMetadata: [originAnnotations]\n",
        relative(asked.scratch, asked.folder)
    );
    let scratch = vec![("kustomization.yaml", noting)];
    let of = |program: &'static str, verbs: &[&str], folder: &str, scratch: &[_]| {
        let verbs = verbs.iter().map(|verb| (*verb).to_owned());
        Renderer {
            program,
            arguments: verbs.chain([folder.to_owned()]).collect(),
            scratch: scratch.to_vec(),
        }
    };
    let all = [("kustomize", "build"), ("kubectl", "kustomize")];
    let with_origins = all.map(|(program, verb)| of(program, &[verb], asked.scratch, &scratch));
    // Releases that know nothing of origins build it all the same, and say best what is wrong with it.
    let plain = all.map(|(program, verb)| of(program, &[verb], asked.folder, &[]));
    with_origins.into_iter().chain(plain).collect()
}

/// The way from one absolute folder to another.
fn relative(from: &str, to: &str) -> String {
    let parts = |path: &str| -> Vec<String> {
        let parts = path.split('/').filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (from, to) = (parts(from), parts(to));
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(same).map(|_| "..".to_owned());
    let down = to.iter().skip(same).cloned();
    let way: Vec<String> = up.chain(down).collect();
    match way.is_empty() {
        true => ".".to_owned(),
        false => way.join("/"),
    }
}

pub(super) fn rendering(asked: &ToRender<'_>, output: &str) -> Rendering {
    let (text, notes) = without_notes(output);
    let mut sources = Sources::new();
    let file = sources.add(asked.path, text.as_str());
    let parsed = yaml::parse(&sources, file, &Limits::default());
    let mut files = Files {
        asked,
        known: HashMap::new(),
        all: Vec::new(),
    };
    named(asked.path, asked.loader, 0, &mut files.all);
    let mut origins = vec![Origin {
        part: 0..text.len(),
        path: asked.path.into(),
        place: 0..0,
    }];
    for document in &parsed.documents {
        let start = document.root.span.start as usize;
        let note = notes.iter().rev().find(|note| note.after <= start);
        files.object(
            &document.root,
            note.and_then(|note| note.path.as_deref()),
            &mut origins,
        );
    }
    Rendering { text, origins }
}

/// What was noted of the object that starts after a place.
struct Note {
    after: usize,
    /// The file it is from, relative to the folder that was built.
    path: Option<String>,
}

/// The output without the annotations that were asked for, and what they say of each document.
fn without_notes(output: &str) -> (String, Vec<Note>) {
    let mut text = String::with_capacity(output.len());
    let mut notes = vec![Note {
        after: 0,
        path: None,
    }];
    let lines: Vec<&str> = output.split_inclusive('\n').collect();
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        if line.trim_end() == "---" {
            text.push_str(line);
            notes.push(Note {
                after: text.len(),
                path: None,
            });
            continue;
        }
        if !line.trim_start().starts_with(ORIGIN) {
            text.push_str(line);
            continue;
        }
        let depth = indent(line);
        while let Some(noted) = lines.get(at).filter(|next| indent(next) > depth) {
            at += 1;
            let (key, value) = noted.trim().split_once(": ").unwrap_or_default();
            if matches!(key, "path" | "configuredIn")
                && let Some(note) = notes.last_mut()
            {
                note.path = Some(value.trim_matches(['"', '\'']).to_owned());
            }
        }
        // Annotations that are left empty were none.
        let more = lines.get(at).is_some_and(|next| indent(next) == depth);
        let before = text
            .trim_end_matches('\n')
            .rfind('\n')
            .map_or(0, |at| at + 1);
        let opened = text
            .get(before..)
            .is_some_and(|last| last.trim() == "annotations:" && indent(last) < depth);
        if opened && !more {
            text.truncate(before);
        }
    }
    (text, notes)
}

/// The files of a kustomization, and of those that it is made of.
struct Files<'a> {
    asked: &'a ToRender<'a>,
    known: HashMap<String, Arc<Vec<Source>>>,
    /// In the order in which they count: what changes an object before the object.
    all: Vec<String>,
}

/// The kustomizations that one names, and those that these name.
pub(super) fn bases(path: &str, loader: &dyn Loader) -> Vec<String> {
    let mut all = Vec::new();
    named(path, loader, 0, &mut all);
    all.retain(|other| other != path && is_kustomization(other));
    all
}

fn is_kustomization(path: &str) -> bool {
    NAMES.contains(&path.rsplit('/').next().unwrap_or(path))
}

/// A kustomization and the files that it names, in the order in which they count.
fn named(path: &str, loader: &dyn Loader, depth: usize, all: &mut Vec<String>) {
    if depth > DEPTH || all.iter().any(|known| known == path) {
        return;
    }
    all.push(path.to_owned());
    let mut names = Vec::new();
    for source in documents(path, loader) {
        texts(&source.root, &mut names);
    }
    let is_file = |path: &String| loader.kind(path) == Some(PathKind::File);
    // What is named last is applied last.
    for name in names.iter().rev() {
        let below = normalize(&join(directory(path), name));
        let inside = NAMES.iter().map(|file| join(&below, file));
        if let Some(other) = inside.into_iter().find(is_file) {
            named(&other, loader, depth + 1, all);
        } else if is_manifest(&below) && is_file(&below) && !all.contains(&below) {
            all.push(below);
        }
    }
}

fn is_manifest(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "yaml" | "yml" | "json")
}

impl Files<'_> {
    /// The documents of a file.
    fn read(&mut self, path: &str) -> Arc<Vec<Source>> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let read = Arc::new(documents(path, self.asked.loader));
        self.known.insert(path.to_owned(), read.clone());
        read
    }

    /// Finds where an object is from, key by key.
    fn object(&mut self, object: &Node, noted: Option<&str>, origins: &mut Vec<Origin>) {
        let noted = noted.map(|noted| self.as_named(noted));
        let mut candidates = Vec::new();
        let all = self.all.clone();
        for path in all.iter().chain(&noted) {
            for source in self.read(path).iter() {
                let is_own = noted.as_ref() == Some(path);
                if paths::may_be(&source.root, object, is_own) {
                    candidates.push(source.clone());
                }
            }
        }
        // A generator is a part of its kustomization.
        if candidates.is_empty()
            && let Some(path) = noted
        {
            let whole = paths::generator(&self.read(&path), object);
            origins.push(Origin {
                part: object.span.start as usize..object.span.end as usize,
                path: path.into(),
                place: whole,
            });
            return;
        }
        paths::align(object, &candidates, noted.as_deref(), origins);
    }

    /// A path that is relative to the fresh folder, as the user would write it.
    fn as_named(&self, noted: &str) -> String {
        let absolute = normalize(&join(self.asked.scratch, noted));
        let way = relative(self.asked.folder, &absolute);
        normalize(&join(directory(self.asked.path), &way))
    }
}

fn documents(path: &str, loader: &dyn Loader) -> Vec<Source> {
    let Some(text) = super::text(loader, path) else {
        return Vec::new();
    };
    let mut sources = Sources::new();
    let file: FileId = sources.add(path, text.as_str());
    let parsed = yaml::parse(&sources, file, &Limits::default());
    let documents = parsed.documents.into_iter();
    let source = |document: yaml::Document| Source {
        path: path.into(),
        root: Arc::new(document.root),
    };
    documents.map(source).collect()
}

/// Every text in a tree, of which some are names of files.
fn texts(node: &Node, all: &mut Vec<String>) {
    match &node.kind {
        yaml::Kind::Scalar(scalar) if !scalar.text.contains('\n') => {
            all.push(scalar.text.to_string());
        }
        yaml::Kind::Scalar(_) => {}
        yaml::Kind::Sequence(items) => items.iter().for_each(|item| texts(item, all)),
        yaml::Kind::Mapping(mapping) => {
            for entry in &mapping.entries {
                texts(&entry.value, all);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_between_folders() {
        assert_eq!(relative("/tmp/x", "/srv/k8s"), "../../srv/k8s");
        assert_eq!(relative("/tmp/x", "/tmp/x/y"), "y");
        assert_eq!(relative("/tmp/x", "/tmp/x"), ".");
    }

    #[test]
    fn notes_are_taken_out_again() {
        let output = "kind: A\nmetadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      path: ../a.yaml\n  name: a\n---\nkind: B\nmetadata:\n  annotations:\n    config.kubernetes.io/origin: |\n      configuredIn: ../k.yaml\n      configuredBy:\n        kind: X\n    own: x\n";
        let (text, notes) = without_notes(output);
        assert_eq!(
            text,
            "kind: A\nmetadata:\n  name: a\n---\nkind: B\nmetadata:\n  annotations:\n    own: x\n"
        );
        let paths: Vec<_> = notes.iter().map(|note| note.path.as_deref()).collect();
        assert_eq!(paths, [Some("../a.yaml"), Some("../k.yaml")]);
    }
}
