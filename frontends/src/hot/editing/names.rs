//! Names across files: parameters are also given values in environments, and in templates whose resources a template stands for.

use std::collections::BTreeMap;

use super::{NAMES, is_environment};
use crate::language::editing::{names_in, push};
use crate::language::{FileText, NameAt};
use crate::loader::{directory, join};
use crate::yaml::Node;

/// The position of parameters among the kinds of names.
const PARAMETER: usize = 0;

/// That of the values that environments give.
const VALUE: usize = 3;

/// All names of some files; each template has its own.
pub(in crate::hot) fn find(files: &[FileText<'_>]) -> Vec<Vec<NameAt>> {
    let nested = Nested::of(files);
    let all = files.iter().enumerate();
    all.map(|(at, file)| {
        let mut found = Vec::new();
        for root in &file.roots {
            if is_environment(root) {
                nested.given(files, at, root, &mut found);
                continue;
            }
            for mut name in names_in(NAMES, file.text, root) {
                name.scope = scope(at);
                found.push(name);
            }
            nested.passed(files, at, root, &mut found);
        }
        found.sort_by_key(|name| (name.span.start, name.kind, !name.is_definition()));
        found
    })
    .collect()
}

/// What the names of a file are names in.
fn scope(file: usize) -> String {
    format!("file {file}")
}

/// Whether a file defines a parameter.
fn has_parameter(file: &FileText<'_>, name: &str) -> bool {
    let mut roots = file.roots.iter().filter(|root| !is_environment(root));
    roots.any(|root| {
        let parameters = root.get("parameters");
        parameters.is_some_and(|all| all.get(name).is_some())
    })
}

/// Which templates are the types of resources.
struct Nested {
    /// The files by their paths.
    by_path: BTreeMap<String, usize>,
    /// The files that types stand for in environments.
    registry: BTreeMap<String, usize>,
}

impl Nested {
    fn of(files: &[FileText<'_>]) -> Self {
        let paths = files.iter().enumerate();
        let paths = paths.filter(|(_, file)| !file.path.is_empty());
        let by_path = paths.map(|(at, file)| (file.path.to_owned(), at)).collect();
        let mut nested = Nested {
            by_path,
            registry: BTreeMap::new(),
        };
        for file in files {
            for root in file.roots.iter().filter(|root| is_environment(root)) {
                let registry = root.get("resource_registry").and_then(Node::as_mapping);
                for (ty, entry) in registry.into_iter().flat_map(|all| all.named()) {
                    let template = entry.value.as_str();
                    if let Some(at) = template.and_then(|path| nested.file(file, path)) {
                        nested.registry.insert(ty.to_string(), at);
                    }
                }
            }
        }
        nested
    }

    /// The file that a path means which another file names.
    fn file(&self, from: &FileText<'_>, path: &str) -> Option<usize> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        let path = join(directory(from.path), path);
        self.by_path.get(&path).copied()
    }

    /// The properties of resources that are templates: the names of the parameters of these.
    fn passed(&self, files: &[FileText<'_>], at: usize, node: &Node, found: &mut Vec<NameAt>) {
        let Some(file) = files.get(at).filter(|_| node.alias().is_none()) else {
            return;
        };
        let ty = node.get("type").and_then(Node::as_str);
        let template = ty.and_then(|ty| {
            let registered = self.registry.get(ty).copied();
            registered.or_else(|| self.file(file, ty))
        });
        if let Some(template) = template.filter(|template| *template != at) {
            let given = node.get("properties").and_then(Node::as_mapping);
            for (name, entry) in given.into_iter().flat_map(|given| given.named()) {
                used(file, &entry.key, name, template, found);
            }
        }
        if let Some(mapping) = node.as_mapping() {
            for entry in &mapping.entries {
                self.passed(files, at, &entry.value, found);
            }
        }
        for item in node.as_sequence().unwrap_or_default() {
            self.passed(files, at, item, found);
        }
    }

    /// The parameters that an environment gives values: those of the first template that has them.
    fn given(&self, files: &[FileText<'_>], at: usize, root: &Node, found: &mut Vec<NameAt>) {
        let Some(file) = files.get(at) else { return };
        for section in ["parameters", "parameter_defaults"] {
            let given = root.get(section).and_then(Node::as_mapping);
            for (name, entry) in given.into_iter().flat_map(|given| given.named()) {
                let template = files.iter().position(|file| has_parameter(file, name));
                used(file, &entry.key, name, template.unwrap_or(at), found);
                let whole = Some(entry.span());
                push(file.text, &entry.key, name, VALUE, whole, found);
            }
        }
    }
}

/// Adds the use of a parameter of a template.
fn used(file: &FileText<'_>, key: &Node, name: &str, template: usize, found: &mut Vec<NameAt>) {
    let before = found.len();
    push(file.text, key, name, PARAMETER, None, found);
    if let Some(new) = found.get_mut(before) {
        new.scope = scope(template);
    }
}
