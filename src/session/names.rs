//! Names of a configuration: where they are defined and used, and what changes when one is renamed.
//!
//! Which keys and values are names is told by a table of the language, so that names are found in files that are broken
//! elsewhere, and each with its exact place.

use std::sync::Arc;

use locus_core::{FileId, Sources, Span};
use locus_frontends::language::editing::{NameAt, names_in};
use locus_frontends::language::{Language, Recognised};
use locus_frontends::loader::Loader as _;
use locus_frontends::yaml;

use super::recognise::{Recognition, Skip, recognise};
use super::{Cancel, Cancelled, Given, Project, Snapshot};

/// A name at a place, and everything that is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameHere {
    /// The name.
    pub name: String,
    /// What it is: `parameter`, `service`.
    pub what: &'static str,
    /// Where it is written at the place that was asked for.
    pub here: std::ops::Range<usize>,
    /// Where it is defined: paths and bytes.
    pub defined: Vec<(String, std::ops::Range<usize>)>,
    /// Where it is used.
    pub used: Vec<(String, std::ops::Range<usize>)>,
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The path of the file.
    pub path: String,
    /// What is replaced.
    pub bytes: std::ops::Range<usize>,
    /// What stands there instead.
    pub text: String,
}

/// What came of a wish to rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renamed {
    /// These changes rename it everywhere.
    Edits(Vec<TextEdit>),
    /// It cannot be renamed, in words for the user.
    Refused(String),
}

impl Snapshot {
    /// The language of a file, and what kind of file it is; also of files that are parts of configurations.
    pub fn language_of(&self, path: &str) -> Option<Recognised> {
        match recognise(&self.registry, &self.files, path).1 {
            Recognition::Configuration(known) => Some(known),
            Recognition::Skipped(Skip::Part(kind), _) => {
                let mut all = self.registry.languages();
                let language = all.find(|language| language.kinds().contains(kind))?;
                Some(Recognised { language, kind })
            }
            _ => None,
        }
    }

    /// The names of a file.
    pub fn names(&self, language: &dyn Language, path: &str) -> Vec<NameAt> {
        let Some((text, file)) = self.text(path) else {
            return Vec::new();
        };
        let parsed = yaml::parse_text(&text, file, &yaml::Limits::default());
        let documents = parsed.documents.iter();
        documents
            .flat_map(|document| names_in(language.names(), &text, &document.root))
            .collect()
    }

    fn text(&self, path: &str) -> Option<(Arc<str>, FileId)> {
        let bytes = self.files.load(path).ok()?;
        let text = locus_core::decode(&bytes).ok()?;
        let mut sources = Sources::new();
        let file = sources.add(path, &*text);
        Some((sources.shared_text(file), file))
    }

    /// The name at a place of a file, looked for in all files that are checked with it.
    pub fn name_at(&self, path: &str, offset: usize, together: &[String]) -> Option<NameHere> {
        let language = self.language_of(path)?.language;
        let own = self.names(language, path);
        let bytes = |span: Span| span.start as usize..span.end as usize;
        let covers = |name: &&NameAt| {
            let bytes = bytes(name.span);
            bytes.start <= offset && offset <= bytes.end
        };
        let at = own.iter().find(covers)?.clone();
        let kinds: Vec<usize> = own.iter().filter(covers).map(|name| name.kind).collect();
        // A text may be a name of several kinds; the one that is defined somewhere is meant.
        let mut files: Vec<(String, Vec<NameAt>)> = vec![(path.to_owned(), own.clone())];
        for other in together.iter().filter(|other| *other != path) {
            let known = self.language_of(other);
            if known.is_some_and(|known| known.language.name() == language.name()) {
                files.push((other.clone(), self.names(language, other)));
            }
        }
        let defines = |kind: usize| {
            let mut names = files.iter().flat_map(|(_, names)| names);
            names.any(|name| name.kind == kind && name.is_definition && name.name == at.name)
        };
        let kind = kinds.iter().copied().find(|&kind| defines(kind));
        let kind = kind.unwrap_or(at.kind);
        let mut here = NameHere {
            what: language
                .names()
                .get(kind)
                .map_or("name", |names| names.what),
            here: bytes(at.span),
            name: at.name.clone(),
            defined: Vec::new(),
            used: Vec::new(),
        };
        for (path, names) in files {
            for name in names {
                if name.kind == kind && name.name == here.name {
                    let place = (path.clone(), bytes(name.span));
                    match name.is_definition {
                        true => here.defined.push(place),
                        false => here.used.push(place),
                    }
                }
            }
        }
        Some(here)
    }

    /// The changes that rename what is at a place. They are made in a copy and checked: a change after which anything else
    /// is found than before is refused.
    ///
    /// # Errors
    /// When the check was called off.
    pub fn rename(
        &self,
        here: &NameHere,
        new: &str,
        projects: &[Project],
        given: &Given,
        cancel: &Cancel,
    ) -> Result<Renamed, Cancelled> {
        let refuse = |message: String| Ok(Renamed::Refused(message));
        if !is_plain(new) {
            return refuse(format!(
                "`{new}` cannot be written as a name without quotes"
            ));
        }
        if here.defined.is_empty() {
            return refuse(format!("no {} `{}` is defined", here.what, here.name));
        }
        let places = here.defined.iter().chain(&here.used);
        let edits: Vec<TextEdit> = places
            .map(|(path, bytes)| TextEdit {
                path: path.clone(),
                bytes: bytes.clone(),
                text: new.to_owned(),
            })
            .collect();
        if new == here.name {
            return Ok(Renamed::Edits(edits));
        }
        let mut after = self.clone();
        // What is tried is not remembered.
        after.memo = None;
        let mut paths: Vec<&str> = edits.iter().map(|edit| edit.path.as_str()).collect();
        paths.dedup();
        for path in paths {
            let Some((text, _)) = self.text(path) else {
                continue;
            };
            let mut text = text.to_string();
            let mut own: Vec<&TextEdit> = edits.iter().filter(|edit| edit.path == path).collect();
            own.sort_by_key(|edit| std::cmp::Reverse(edit.bytes.start));
            for edit in own {
                if text.get(edit.bytes.clone()).is_some() {
                    text.replace_range(edit.bytes.clone(), new);
                }
            }
            after.files.overlay(path, Some(text.into_bytes().into()));
        }
        for project in projects {
            let before = self.check(project, given, cancel)?;
            let made = after.check(project, given, cancel)?;
            let said = |report: &super::Report| {
                let findings = report.findings.iter().chain(&report.unchecked);
                let mut codes: Vec<String> = findings.map(|found| found.code.clone()).collect();
                codes.sort_unstable();
                codes
            };
            let (then, now) = (said(&before), said(&made));
            let same = before.graph.len() == made.graph.len()
                && before.graph.bindings().len() == made.graph.bindings().len();
            if then != now || !same {
                let findings = made.findings.iter();
                let new_one = findings.filter(|found| !then.contains(&found.code));
                let message = new_one.map(|found| found.message.clone()).next();
                let message = message.unwrap_or_else(|| "its meaning would change".to_owned());
                return refuse(format!(
                    "renaming `{}` to `{new}` would break `{}`: {message}",
                    here.name,
                    project.first()
                ));
            }
        }
        Ok(Renamed::Edits(edits))
    }
}

/// Whether a name can stand anywhere in YAML as it is.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_');
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    starts
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !words.contains(&name.to_lowercase().as_str())
}
