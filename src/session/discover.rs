//! Which projects there are in files and folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use locus_core::{Diagnostic, Sources};
use locus_frontends::language::{Found, Language, Recognised, Registry};
use locus_frontends::loader::normalize;

use super::files::Files;
use super::recognise::{Recognition, Skip, recognise, recognise_inside};

/// Files that are loaded and checked together.
#[derive(Clone, Debug)]
pub struct Project {
    /// The language they are in.
    pub language: &'static dyn Language,
    /// Their paths; the first gives the project its place and its settings.
    pub files: Vec<String>,
}

impl Project {
    /// The project of some files in a language.
    pub fn new<S: Into<String>>(
        language: &'static dyn Language,
        files: impl IntoIterator<Item = S>,
    ) -> Self {
        Project {
            language,
            files: files.into_iter().map(Into::into).collect(),
        }
    }

    /// The path of its first file.
    pub fn first(&self) -> &str {
        self.files.first().map_or("", String::as_str)
    }
}

/// A file in a folder that is not checked, and why that is no mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its path.
    pub path: String,
    /// Why.
    pub why: Skip,
}

/// What was found in files and folders.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The projects, in the order of their languages and paths.
    pub projects: Vec<Project>,
    /// Files that cannot be understood.
    pub broken: Vec<Diagnostic>,
    /// Files and folders that were named and cannot be checked.
    pub unchecked: Vec<Diagnostic>,
    /// Files met in folders that are not checked by themselves.
    pub skipped: Vec<Skipped>,
    /// Files that other programs make configurations of, with their languages.
    pub to_render: Vec<(String, &'static dyn Language)>,
    /// The folders that were searched, and the files in them that may be configurations.
    pub searched: Vec<(String, Vec<String>)>,
    /// How many files could not be understood.
    pub broken_files: usize,
    /// The sources that the diagnostics are about.
    pub sources: Sources,
}

/// Finds the projects in some files and folders. What `.gitignore` leaves out of a folder is left out.
pub(super) fn discover(registry: &Registry, files: &Files, paths: &[PathBuf]) -> Discovery {
    let mut discovery = Discovery::default();
    let candidates = walk(registry, files, paths, &mut discovery);
    let read = super::on_all_cores(&candidates, |(path, named)| {
        if path == named {
            recognise(registry, files, path)
        } else {
            recognise_inside(registry, files, path)
        }
    });
    let mut found: Vec<(&str, &str, Recognised)> = Vec::new();
    let (sources, read): (Vec<Sources>, Vec<Recognition>) = read.into_iter().unzip();
    let said = |recognition: &Recognition| !matches!(recognition, Recognition::Configuration(_));
    let about = sources.into_iter().zip(&read);
    let about = about.map(|(sources, read)| if said(read) { sources } else { Sources::new() });
    let files_of = discovery.sources.merge(about.collect());
    for (((path, named), recognition), ids) in candidates.iter().zip(read).zip(files_of) {
        let moved = |mut diagnostic: Diagnostic| {
            diagnostic.move_to(&ids);
            diagnostic
        };
        match recognition {
            Recognition::Configuration(recognised) => {
                found.push((path.as_str(), named.as_str(), recognised))
            }
            Recognition::Broken(diagnostics) => {
                discovery.broken_files += 1;
                discovery.broken.extend(diagnostics.into_iter().map(moved));
            }
            Recognition::Skipped(why, _) if named != path && why.is_harmless() => {
                let path = path.clone();
                discovery.skipped.push(Skipped { path, why });
            }
            Recognition::Skipped(Skip::Empty, diagnostic) => {
                discovery.broken_files += 1;
                discovery.broken.push(moved(*diagnostic));
            }
            Recognition::Skipped(why, diagnostic) => {
                if let Skip::Source(kind) = why {
                    let mut languages = registry.languages();
                    let own = languages.find(|language| language.kinds().contains(kind));
                    discovery
                        .to_render
                        .extend(own.map(|language| (path.clone(), language)));
                }
                discovery.unchecked.push(moved(*diagnostic));
            }
        }
    }
    // Parts are checked with what they are parts of; where nothing else was found, nothing was checked.
    let is_part = |skipped: &Skipped| matches!(skipped.why, Skip::Part(_));
    if found.is_empty()
        && discovery.broken.is_empty()
        && discovery.unchecked.is_empty()
        && discovery.skipped.iter().any(is_part)
    {
        let folders = discovery.searched.iter();
        let folders = folders.map(|(folder, _)| format!("`{folder}`"));
        let folders: Vec<String> = folders.collect();
        let message = format!("nothing in {} can be checked by itself", folders.join(", "));
        let diagnostic = Diagnostic::warning("kind", message);
        let help = "name what its files are parts of, such as the folder above";
        discovery.unchecked.push(diagnostic.help(help));
    }
    for language in registry.languages() {
        let own = found
            .iter()
            .filter(|(.., known)| known.language.name() == language.name());
        let own: Vec<Found<'_>> = own
            .map(|&(path, named, known)| Found {
                path,
                kind: known.kind,
                named,
            })
            .collect();
        if own.is_empty() {
            continue;
        }
        let projects = language.projects(&own, files).into_iter();
        let projects = projects.map(|project| Project::new(language, project.files));
        discovery.projects.extend(projects);
    }
    discovery
}

/// The files named, and those in the folders named that may be configurations, each with what was named.
fn walk(
    registry: &Registry,
    files: &Files,
    paths: &[PathBuf],
    discovery: &mut Discovery,
) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for path in paths {
        let named = path.display().to_string();
        if !path.is_dir() {
            all.push((named.clone(), named));
            continue;
        }
        let mut wrong = Vec::new();
        let inside = search(registry, path, unsaved(files, path), &mut wrong);
        let wrong = wrong.into_iter();
        let wrong = wrong.map(|error| Diagnostic::error("io", error));
        discovery.unchecked.extend(wrong);
        discovery.searched.push((named.clone(), inside.clone()));
        if inside.is_empty() {
            let message = format!("there is no configuration in `{named}`");
            discovery
                .unchecked
                .push(Diagnostic::warning("kind", message));
        }
        all.extend(inside.into_iter().map(|path| (path, named.clone())));
    }
    all
}

/// The files in a folder, and some more, that may be configurations.
fn search(
    registry: &Registry,
    folder: &Path,
    more: Vec<PathBuf>,
    wrong: &mut Vec<String>,
) -> Vec<String> {
    let mut inside: BTreeSet<PathBuf> = more.into_iter().collect();
    for entry in WalkBuilder::new(folder).build() {
        match entry {
            Ok(entry) if entry.path().is_file() => {
                inside.insert(entry.into_path());
            }
            Ok(_) => {}
            Err(error) => wrong.push(error.to_string()),
        }
    }
    // As files that name each other are called: `a.yaml`, not `./a.yaml`.
    let inside = inside.iter().map(|path| {
        let path = path.strip_prefix(".").unwrap_or(path);
        path.display().to_string()
    });
    inside.filter(|path| registry.is_candidate(path)).collect()
}

/// The files in a folder that may be configurations of a language that comes with the program.
pub(crate) fn searched(folder: &Path) -> Vec<String> {
    search(&Registry::builtin(), folder, Vec::new(), &mut Vec::new())
}

/// The files of a folder that exist only as unsaved text.
fn unsaved(files: &Files, folder: &Path) -> Vec<PathBuf> {
    let Ok(absolute) = std::path::absolute(folder) else {
        return Vec::new();
    };
    let absolute = normalize(&absolute.display().to_string());
    let inside = files.overlays().filter_map(|path| {
        let rest = path.strip_prefix(&absolute)?.strip_prefix('/')?;
        let path = folder.join(rest);
        (!path.exists()).then_some(path)
    });
    inside.collect()
}
