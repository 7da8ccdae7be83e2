//! Which files make a project, what it is called, and what a file includes.

use std::rc::Rc;
use std::sync::Arc;

use locus_core::Diagnostic;

use super::Options;
use super::environment::Environment;
use super::project::{Context, Session};
use super::tree::{Kind, Pair, Tree};
use crate::loader::{self, Loader};

/// The files named, and the override that Compose adds when only the usual file is.
pub(crate) fn with_override(options: &Options, loader: &dyn Loader) -> Vec<String> {
    let mut files: Vec<String> = options
        .files
        .iter()
        .map(|path| loader::normalize(path))
        .collect();
    if let ([only], true) = (files.as_slice(), options.find_override) {
        let directory = loader::directory(only);
        let name = only.rsplit('/').next().unwrap_or(only);
        let stem = match name.rsplit_once('.') {
            Some((stem @ ("compose" | "docker-compose"), "yaml" | "yml")) => stem,
            _ => return files,
        };
        let found = ["yaml", "yml"]
            .iter()
            .map(|extension| loader::join(directory, &format!("{stem}.override.{extension}")))
            .find(|path| loader.load(path).is_ok());
        files.extend(found);
    }
    files
}

/// The name of the project: as asked for, from the environment, from the file, from the directory.
pub(crate) fn project_name(
    options: &Options,
    environment: &Environment,
    tree: &Tree,
    directory: &str,
) -> Arc<str> {
    if let Some(name) = &options.project_name {
        return name.as_str().into();
    }
    if let Some(setting) = environment.get("COMPOSE_PROJECT_NAME") {
        return setting.text.clone();
    }
    if let Some(name) = tree.some("name").and_then(Tree::text)
        && !name.is_empty()
    {
        return name;
    }
    let last = directory.rsplit('/').next().unwrap_or("");
    let name: String = last
        .to_lowercase()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        .collect();
    let name = name.trim_start_matches(['_', '-']);
    if name.is_empty() { "project" } else { name }.into()
}

const SECTIONS: [&str; 7] = [
    "services", "networks", "volumes", "secrets", "configs", "models", "jobs",
];

impl Session<'_> {
    /// Adds to a file what it includes.
    pub(crate) fn include(&mut self, path: &str, document: &mut Tree, context: &Context) {
        let Some(include) = document.some("include") else {
            return;
        };
        let entries: Vec<Tree> = include.items().to_vec();
        for entry in &entries {
            let paths: Vec<(String, locus_core::Span)> = entry
                .some("path")
                .unwrap_or(entry)
                .one_or_many()
                .iter()
                .filter_map(|item| {
                    let text = item.text()?;
                    Some((loader::join(&context.directory, &text), item.span))
                })
                .collect();
            let Some((first, span)) = paths.first().cloned() else {
                continue;
            };
            if let Some(file) = self.files.iter_mut().find(|file| file.path == path) {
                for edge in &paths {
                    if !file.includes.contains(edge) {
                        file.includes.push(edge.clone());
                    }
                }
            }
            let directory = match entry.some("project_directory").and_then(Tree::text) {
                Some(directory) => loader::join(&context.directory, &directory),
                None => loader::directory(&first).to_owned(),
            };
            let mut environment = Environment::clone(&context.environment);
            match entry.some("env_file") {
                Some(files) => {
                    for file in files.one_or_many().iter().rev() {
                        if let Some(text) = file.text() {
                            let path = loader::join(&context.directory, &text);
                            self.env_file(&path, Some(file.span), &mut environment);
                        }
                    }
                }
                None => {
                    let path = loader::join(&directory, ".env");
                    if directory != context.directory {
                        self.env_file(&path, None, &mut environment);
                    }
                }
            }
            self.environments += 1;
            let inner = Context {
                directory,
                environment: Rc::new(environment),
                environment_id: self.environments,
                stack: context.stack.clone(),
                included_at: Some(span),
            };
            let files: Vec<String> = paths.into_iter().map(|(path, _)| path).collect();
            let included = self.model(&files, &inner);
            self.import(document, included);
        }
    }

    /// Adds the services, networks and so on of an included model.
    fn import(&mut self, document: &mut Tree, included: Tree) {
        let Kind::Map(sections) = &mut document.kind else {
            return;
        };
        let Kind::Map(imported) = included.kind else {
            return;
        };
        for section in imported {
            if !SECTIONS.contains(&&*section.key) {
                continue;
            }
            let Kind::Map(entries) = section.value.kind else {
                continue;
            };
            let existing = sections.iter().position(|pair| pair.key == section.key);
            let Some(existing) = existing.and_then(|index| sections.get_mut(index)) else {
                sections.push(Pair {
                    value: Tree::new(Kind::Map(entries), section.value.span),
                    ..section
                });
                continue;
            };
            if existing.value.is_null() {
                existing.value.kind = Kind::Map(Vec::new());
            }
            for entry in entries {
                match existing.value.pair(&entry.key) {
                    None => {
                        if let Kind::Map(pairs) = &mut existing.value.kind {
                            pairs.push(entry);
                        }
                    }
                    Some(own) if own.value.same(&entry.value) => {}
                    Some(own) => self.diagnostics.push(
                        Diagnostic::error(
                            "compose-include",
                            format!(
                                "`{}.{}` is also defined, differently, by an included file",
                                section.key, entry.key
                            ),
                        )
                        .at(own.key_span)
                        .related(entry.key_span, "the other definition")
                        .help("rename one of them, or override it in a second file of the `include` entry"),
                    ),
                }
            }
        }
    }
}
