//! All that a request is answered from: the files, the open texts and the projects, as they were when it came.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use locus_core::{FileId, Sources, Span};
use locus_frontends::loader::{Loader as _, PathKind, normalize};
use lsp_types::{Location, Position, Range as LspRange, Uri};

use super::checker::is_model;
use super::documents::Documents;
use super::position::{Encoding, Lines};
use super::uri;
use super::verdicts::Verdicts;
use crate::session::{Cancel, Cancelled, Given, NameHere, Project, Report, Snapshot};

/// What the client can do, and what it asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    /// What columns count.
    pub(super) encoding: Encoding,
    /// Whether the client asks for diagnostics by itself.
    pub(super) pulls: bool,
    /// Whether the client takes [`refresh`](https://microsoft.github.io/language-server-protocol) of diagnostics.
    pub(super) refreshes: bool,
    /// Whether the client takes the same of lenses.
    pub(super) lens_refreshes: bool,
    /// Whether the client fills in snippets.
    pub(super) snippets: bool,
    /// Whether the client takes a version with the edits of a file.
    pub(super) versioned_edits: bool,
    /// Whether the client shows a tree of symbols.
    pub(super) symbol_tree: bool,
    /// Whether the client takes registrations of watched files.
    pub(super) watches: bool,
    /// Whether the client takes code actions that are no commands.
    pub(super) actions: bool,
    /// Whether the client asks for the edits of an action once it is chosen.
    pub(super) resolves: bool,
    /// Whether the client shows progress.
    pub(super) progress: bool,
    /// What a link to the page of a rule starts with.
    pub(super) documentation: Option<String>,
    /// How long to wait after a change before files are checked.
    pub(super) debounce: std::time::Duration,
    /// Whether every allowed input is taken.
    pub(super) all_inputs: bool,
}

/// A project of the workspace, and what it reads.
#[derive(Clone, Debug)]
pub(super) struct Indexed {
    /// The project.
    pub(super) project: Project,
    /// The files that it reads, or looked for.
    pub(super) reads: BTreeSet<String>,
}

/// The projects of the workspace.
pub(super) type Index = Arc<Vec<Indexed>>;

/// Projects that are looked into for what they read; in a larger workspace the others are checked when they are open.
const INDEXED: usize = 2000;

/// The moment at which something was asked.
#[derive(Clone, Debug)]
pub(super) struct World {
    /// The files.
    pub(super) snapshot: Snapshot,
    /// The open texts.
    pub(super) documents: Documents,
    /// The folders of the workspace.
    pub(super) folders: Arc<Vec<String>>,
    /// The projects of the workspace.
    pub(super) index: Index,
    /// Whether they were looked for: before that, what a file is checked with is not known.
    pub(super) is_indexed: bool,
    /// What the commands of models came to.
    pub(super) verdicts: Verdicts,
    /// What the client can do.
    pub(super) options: Arc<Options>,
    /// Calls the work off.
    pub(super) cancel: Cancel,
}

/// One name for a file, as open texts have it.
pub(super) fn absolute(path: &str) -> String {
    let absolute = std::path::absolute(Path::new(path));
    normalize(&absolute.map_or_else(|_| path.to_owned(), |path| path.display().to_string()))
}

impl World {
    /// What projects are checked with.
    pub(super) fn given(&self) -> Given {
        Given {
            all_inputs: self.options.all_inputs,
            ..Given::of_process()
        }
    }

    /// Finds the projects in the folders of the workspace, with their own files.
    pub(super) fn find_projects(&self) -> Vec<Indexed> {
        let folders: Vec<PathBuf> = self.folders.iter().map(PathBuf::from).collect();
        if folders.is_empty() {
            return Vec::new();
        }
        let found = self.snapshot.discover(&folders).projects.into_iter();
        let indexed = found.map(|project| Indexed {
            reads: project.files.iter().map(|path| absolute(path)).collect(),
            project,
        });
        indexed.collect()
    }

    /// Adds what else projects read, which takes longer to find.
    pub(super) fn add_reads(&self, index: &mut [Indexed]) -> Result<(), Cancelled> {
        let given = self.given();
        for indexed in index.iter_mut().take(INDEXED) {
            self.cancel.check()?;
            let report = self.snapshot.read(&indexed.project, &given);
            indexed.reads = report.watched.iter().map(|path| absolute(path)).collect();
        }
        Ok(())
    }

    /// Whether a file is in a folder of the workspace that is still being searched for what it is checked with: what is
    /// said about it alone would be wrong.
    pub(super) fn must_wait(&self, path: &str) -> bool {
        let is_inside = |folder: &String| {
            let rest = path.strip_prefix(folder.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        if self.is_indexed || !self.folders.iter().any(is_inside) {
            return false;
        }
        is_model(path)
            || self
                .snapshot
                .language_of(path)
                .is_some_and(|known| known.language.shares_names())
    }

    /// The projects that a file is part of: the one it belongs to first.
    pub(super) fn projects_of(&self, path: &str) -> Vec<Project> {
        let mut own: Vec<Project> = Vec::new();
        let mut others: Vec<Project> = Vec::new();
        for indexed in self.index.iter() {
            let mut files = indexed.project.files.iter();
            if files.any(|file| absolute(file) == path) {
                own.push(indexed.project.clone());
            } else if indexed.reads.contains(path) {
                others.push(indexed.project.clone());
            }
        }
        if let Some(project) = self.snapshot.project_of(path) {
            // A file that is checked with others is not checked by itself; but what it is may have changed since the
            // workspace was searched.
            own.retain(|known| known.language.name() == project.language.name());
            if own.is_empty() {
                own.push(project);
            }
        } else {
            own.clear();
        }
        own.extend(others);
        own
    }

    /// The report of the project that a file belongs to.
    pub(super) fn report(&self, path: &str) -> Result<Option<Arc<Report>>, Cancelled> {
        match self.projects_of(path).first() {
            Some(project) => self.check(project).map(Some),
            None => Ok(None),
        }
    }

    /// The reports of all projects that a file is part of.
    pub(super) fn reports(&self, path: &str) -> Result<Vec<Arc<Report>>, Cancelled> {
        let projects = self.projects_of(path);
        projects.iter().map(|project| self.check(project)).collect()
    }

    /// Checks a project.
    pub(super) fn check(&self, project: &Project) -> Result<Arc<Report>, Cancelled> {
        self.snapshot.check(project, &self.given(), &self.cancel)
    }

    /// The text of a file, open or not.
    pub(super) fn text(&self, path: &str) -> Option<Arc<str>> {
        if let Some(document) = self.documents.get(path) {
            return Some(document.text.clone());
        }
        let bytes = self.snapshot.files().load(path).ok()?;
        let text = locus_core::decode(&bytes).ok()?;
        Some(Arc::from(&*text))
    }

    /// The lines of a text.
    pub(super) fn lines<'t>(&self, text: &'t str) -> Lines<'t> {
        Lines::new(text, self.options.encoding)
    }

    /// The URI of a file: the one that the editor uses, if it is open there.
    pub(super) fn uri(&self, path: &str) -> Option<Uri> {
        let path = absolute(path);
        match self.documents.get(&path) {
            Some(document) => Some(document.uri.clone()),
            None => uri::of_path(&path),
        }
    }

    /// The place of some bytes of a file.
    pub(super) fn location(&self, path: &str, bytes: Range<usize>) -> Option<Location> {
        let text = self.text(path)?;
        Some(Location::new(
            self.uri(path)?,
            self.lines(&text).range(bytes),
        ))
    }

    /// The name at a place of a file, with all that is the same in the files that share their names with it.
    pub(super) fn name_at(&self, path: &str, offset: usize) -> Result<Option<NameHere>, Cancelled> {
        let together = self.together(path)?;
        Ok(self.snapshot.name_at(path, offset, &together))
    }

    /// The files that share their names with a file.
    pub(super) fn together(&self, path: &str) -> Result<Vec<String>, Cancelled> {
        let mut together: Vec<String> = Vec::new();
        let known = self.snapshot.language_of(path);
        if known.is_some_and(|known| known.language.names_cross_files()) {
            for project in self.projects_of(path) {
                together.extend(project.files.iter().map(|file| absolute(file)));
            }
            // What a project reads beyond its own files is known once it was checked.
            for report in self.reports(path)? {
                together.extend(report.files.iter().map(|file| absolute(file)));
            }
            together.sort_unstable();
            together.dedup();
        }
        Ok(together)
    }

    /// The texts of the other files that share their names with a file.
    pub(super) fn others(&self, path: &str) -> Result<Vec<Arc<str>>, Cancelled> {
        let known = self.language(path);
        if !known.is_some_and(|known| known.shares_names()) {
            return Ok(Vec::new());
        }
        let together = self.together(path)?.into_iter();
        let others = together.filter(|other| other != path);
        Ok(others.filter_map(|other| self.text(&other)).collect())
    }

    /// The language of a file; one that cannot be recognised while it is typed is what it was in the workspace.
    pub(super) fn language(
        &self,
        path: &str,
    ) -> Option<&'static dyn locus_frontends::language::Language> {
        match self.snapshot.language_of(path) {
            Some(known) => Some(known.language),
            None => self
                .projects_of(path)
                .first()
                .map(|project| project.language),
        }
    }

    /// A place of a text in bytes.
    pub(super) fn offset(&self, text: &str, position: Position) -> usize {
        self.lines(text).offset(position)
    }

    /// Whether there is such a file, saved or not: reports also point into what is given otherwise.
    pub(super) fn exists(&self, path: &str) -> bool {
        self.snapshot.files().kind(path) == Some(PathKind::File)
    }
}

/// Turns spans of some sources into ranges; the lines of each file are counted once.
pub(super) struct Ranges<'w, 's> {
    world: &'w World,
    sources: &'s Sources,
    lines: HashMap<FileId, Lines<'s>>,
}

impl<'w, 's> Ranges<'w, 's> {
    pub(super) fn new(world: &'w World, sources: &'s Sources) -> Self {
        Ranges {
            world,
            sources,
            lines: HashMap::new(),
        }
    }

    /// The range of a span.
    pub(super) fn range(&mut self, span: Span) -> LspRange {
        let (world, sources) = (self.world, self.sources);
        let lines = self
            .lines
            .entry(span.file)
            .or_insert_with(|| world.lines(sources.text(span.file)));
        lines.range(bytes(span))
    }

    /// Whether a text is the name of a file.
    pub(super) fn is_file(&self, name: &str) -> bool {
        let mut files = self.sources.files();
        files.any(|file| self.sources.name(file) == name)
    }

    /// The place of a span; none when it is in no file.
    pub(super) fn location(&mut self, span: Span) -> Option<Location> {
        let path = self.sources.name(span.file);
        if !self.world.exists(path) {
            return None;
        }
        Some(Location::new(self.world.uri(path)?, self.range(span)))
    }
}

/// The bytes of a span.
pub(super) fn bytes(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}
