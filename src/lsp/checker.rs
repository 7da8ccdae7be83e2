//! The thread that checks what changed, once typing pauses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use lsp_types::PublishDiagnosticsParams;
use lsp_types::notification::PublishDiagnostics;

use super::diagnostics::{self, ByPath};
use super::transport::Client;
use super::world::{World, absolute};
use crate::session::{Cancelled, Project};

/// A change, and the world after it.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) world: World,
    pub(super) what: Changed,
}

/// What changed.
#[derive(Debug)]
pub(super) enum Changed {
    /// These files.
    Files(Vec<String>),
    /// Possibly everything.
    All,
}

/// Something that is checked as a whole.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// A configuration.
    Project(Project),
    /// A model, or rules of the user's own.
    Model(String),
    /// Settings.
    Settings(String),
}

impl Subject {
    fn key(&self) -> Key {
        match self {
            Subject::Project(project) => (project.language.name(), project.files.clone()),
            Subject::Model(path) => ("model", vec![path.clone()]),
            Subject::Settings(path) => ("settings", vec![path.clone()]),
        }
    }
}

/// What tells subjects apart.
type Key = (&'static str, Vec<String>);

/// What came of checking a subject.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) by_path: ByPath,
    pub(super) reads: BTreeSet<String>,
}

impl World {
    /// What is checked because a file is open.
    pub(super) fn subjects(&self, path: &str) -> Vec<Subject> {
        if is_model(path) {
            // Rules of a project are checked with what it is about.
            let users = self.index.iter().filter(|one| one.reads.contains(path));
            let users: Vec<Subject> = users
                .map(|one| Subject::Project(one.project.clone()))
                .collect();
            return match users.is_empty() {
                true => vec![Subject::Model(path.to_owned())],
                false => users,
            };
        }
        if path.ends_with("/locus.toml") {
            return vec![Subject::Settings(path.to_owned())];
        }
        let projects = self.projects_of(path).into_iter();
        projects.map(Subject::Project).collect()
    }

    /// Checks a subject.
    pub(super) fn examine(&self, subject: &Subject) -> Result<Found, Cancelled> {
        let mut found = Found::default();
        match subject {
            Subject::Project(project) => {
                let report = self.check(project)?;
                let findings = report.findings.iter().chain(&report.unchecked);
                let first = project.first();
                diagnostics::add(self, findings, &report.sources, first, &mut found.by_path);
                found.reads = report.watched.iter().map(|path| absolute(path)).collect();
            }
            Subject::Model(path) => {
                let model = self.snapshot.model(path);
                let findings = &model.diagnostics;
                diagnostics::add(self, findings, &model.sources, path, &mut found.by_path);
                found.reads = model.watched.iter().map(|path| absolute(path)).collect();
            }
            Subject::Settings(path) => {
                let (sources, wrong, watched) = self.snapshot.check_settings(path);
                diagnostics::add(self, &wrong, &sources, path, &mut found.by_path);
                found.reads = watched.iter().map(|path| absolute(path)).collect();
            }
        }
        Ok(found)
    }
}

/// Whether a file holds a model, or rules.
pub(super) fn is_model(path: &str) -> bool {
    path.ends_with(".als")
}

/// The longest time that changes in a row put a check off.
const PATIENCE: u32 = 10;

/// Checks what changes until there are no more changes.
pub(super) fn run(changes: &Receiver<Change>, client: &Client, debounce: Duration) {
    let mut checker = Checker {
        client: client.clone(),
        dirty: BTreeSet::new(),
        all: true,
        owners: BTreeMap::new(),
        entries: BTreeMap::new(),
        published: BTreeMap::new(),
    };
    while let Ok(change) = changes.recv() {
        let mut world = checker.note(change);
        // Whoever types is not checked at every key.
        let start = Instant::now();
        loop {
            match changes.recv_timeout(debounce) {
                Ok(change) => world = checker.note(change),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if start.elapsed() > debounce * PATIENCE {
                break;
            }
        }
        // A check that is called off is made after the change that called it off.
        let _ = checker.check(&world);
    }
}

struct Checker {
    client: Client,
    /// The files that changed since they were last checked.
    dirty: BTreeSet<String>,
    all: bool,
    /// What is checked because of each open file.
    owners: BTreeMap<String, Vec<Subject>>,
    entries: BTreeMap<Key, Found>,
    /// What the client was told.
    published: ByPath,
}

impl Checker {
    fn note(&mut self, change: Change) -> World {
        match change.what {
            Changed::Files(paths) => self.dirty.extend(paths),
            Changed::All => self.all = true,
        }
        change.world
    }

    fn check(&mut self, world: &World) -> Result<(), Cancelled> {
        let open: BTreeSet<&str> = world.documents.paths().collect();
        self.owners.retain(|path, _| open.contains(path.as_str()));
        for &path in &open {
            world.cancel.check()?;
            if self.all || self.dirty.contains(path) || !self.owners.contains_key(path) {
                // It is looked at again once the workspace was searched.
                if world.must_wait(path) {
                    self.owners.remove(path);
                    continue;
                }
                self.owners.insert(path.to_owned(), world.subjects(path));
            }
        }
        let owned = self.owners.values().flatten();
        let wanted: BTreeMap<Key, &Subject> = owned.map(|one| (one.key(), one)).collect();
        self.entries.retain(|key, _| wanted.contains_key(key));
        for (key, subject) in wanted {
            let is_current = self.entries.get(&key).is_some_and(|found| {
                !self.all && !self.dirty.iter().any(|path| found.reads.contains(path))
            });
            if !is_current {
                let found = world.examine(subject)?;
                self.entries.insert(key, found);
            }
        }
        world.cancel.check()?;
        let dirty = std::mem::take(&mut self.dirty);
        self.all = false;
        self.publish(world, &dirty);
        Ok(())
    }

    /// Tells the client what it does not know yet.
    fn publish(&mut self, world: &World, dirty: &BTreeSet<String>) {
        let mut now = ByPath::new();
        for (path, said) in self.entries.values().flat_map(|found| &found.by_path) {
            let all = now.entry(path.clone()).or_default();
            for diagnostic in said {
                if !all.contains(diagnostic) {
                    all.push(diagnostic.clone());
                }
            }
        }
        if world.options.pulls {
            if world.options.refreshes && now != self.published {
                self.client.raw(serde_json::json!({
                    "jsonrpc": "2.0",
                    "id": format!("refresh-{}", world.snapshot.revision()),
                    "method": "workspace/diagnostic/refresh",
                }));
            }
            self.published = now;
            return;
        }
        // An open file is told of at each change, even when nothing is wrong with it: the editor knows that this version
        // was looked at.
        for path in self.owners.iter().filter(|(_, own)| !own.is_empty()) {
            now.entry(path.0.clone()).or_default();
        }
        let gone = self
            .published
            .keys()
            .filter(|path| !now.contains_key(*path));
        let gone: Vec<String> = gone.cloned().collect();
        for path in gone {
            self.tell(world, &path, Vec::new());
        }
        for (path, said) in &now {
            if dirty.contains(path) || self.published.get(path) != Some(said) {
                self.tell(world, path, said.clone());
            }
        }
        self.published = now;
    }

    fn tell(&self, world: &World, path: &str, diagnostics: Vec<lsp_types::Diagnostic>) {
        let Some(uri) = world.uri(path) else {
            return;
        };
        let version = world.documents.get(path).map(|document| document.version);
        self.client
            .notify::<PublishDiagnostics>(PublishDiagnosticsParams {
                uri,
                diagnostics,
                version,
            });
    }
}
