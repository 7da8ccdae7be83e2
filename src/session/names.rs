//! Names of a configuration: where they are defined and used, and what changes when one is renamed.
//!
//! Which keys and values are names is told by a table of the language, so that names are found in files that are broken
//! elsewhere, and each with its exact place.

use std::sync::Arc;

use locus_core::{FileId, Sources, Span};
use locus_frontends::language::{FileText, Language, NameAt, Recognised};
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
    pub what: String,
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
        let all = self.names_of(language, &[path.to_owned()]);
        all.into_iter().flat_map(|(_, names)| names).collect()
    }

    /// The names of files that share them.
    pub fn names_of(
        &self,
        language: &dyn Language,
        paths: &[String],
    ) -> Vec<(String, Vec<NameAt>)> {
        self.with_files(language, paths, |files| language.find_names(files))
            .map_or_else(Vec::new, |(paths, found)| {
                paths.into_iter().zip(found).collect()
            })
    }

    /// What a language shows in a file that the other files decide: places in bytes, and texts.
    pub fn hints(
        &self,
        language: &dyn Language,
        path: &str,
        together: &[String],
    ) -> Vec<(usize, String)> {
        let mut paths = vec![path.to_owned()];
        paths.extend(together.iter().filter(|other| *other != path).cloned());
        self.with_files(language, &paths, |files| language.hints(files, 0))
            .map_or_else(Vec::new, |(_, hints)| hints)
    }

    /// Where a place of a file leads that is not a name: paths and bytes.
    pub fn leads(
        &self,
        language: &dyn Language,
        path: &str,
        offset: usize,
        together: &[String],
    ) -> Vec<(String, std::ops::Range<usize>)> {
        let mut paths = vec![path.to_owned()];
        paths.extend(together.iter().filter(|other| *other != path).cloned());
        let found = self.with_files(language, &paths, |files| language.leads(files, 0, offset));
        let (paths, places) = found.unwrap_or_default();
        let place = |(file, span): (usize, Span)| {
            let path = paths.get(file)?.clone();
            Some((path, span.start as usize..span.end as usize))
        };
        places.into_iter().filter_map(place).collect()
    }

    /// What to write so that a name of a file is defined: a place in bytes, and a text.
    pub fn create(
        &self,
        language: &dyn Language,
        path: &str,
        name: &NameAt,
    ) -> Option<(usize, String)> {
        let (_, edit) = self.with_files(language, &[path.to_owned()], |files| {
            language.create(files.first()?, name)
        })?;
        edit
    }

    /// What an input of a file could be limited to, as its uses demand it: the constraint, a place in bytes and a text.
    pub fn constrain(
        &self,
        language: &dyn Language,
        path: &str,
        together: &[String],
        name: &NameAt,
    ) -> Vec<(String, usize, String)> {
        let mut paths = vec![path.to_owned()];
        paths.extend(together.iter().filter(|other| *other != path).cloned());
        self.with_files(language, &paths, |files| language.constrain(files, name))
            .map_or_else(Vec::new, |(_, found)| found)
    }

    /// Calls a function with the files among some that are of a language.
    fn with_files<T>(
        &self,
        language: &dyn Language,
        paths: &[String],
        call: impl FnOnce(&[FileText<'_>]) -> T,
    ) -> Option<(Vec<String>, T)> {
        let mut read = Vec::new();
        for (at, path) in paths.iter().enumerate() {
            // The first is asked about, whatever it is at the moment.
            let known = at == 0
                || self
                    .language_of(path)
                    .is_some_and(|known| known.language.name() == language.name());
            if let (true, Some((text, file))) = (known, self.text(path)) {
                let parsed = yaml::parse_text(&text, file, &yaml::Limits::default());
                read.push((path.clone(), text, parsed));
            } else if at == 0 {
                return None;
            }
        }
        let files: Vec<FileText<'_>> = read
            .iter()
            .map(|(path, text, parsed)| FileText {
                path,
                text,
                roots: parsed
                    .documents
                    .iter()
                    .map(|document| &document.root)
                    .collect(),
            })
            .collect();
        let found = call(&files);
        drop(files);
        Some((read.into_iter().map(|(path, ..)| path).collect(), found))
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
        let mut paths = vec![path.to_owned()];
        paths.extend(together.iter().filter(|other| *other != path).cloned());
        let files = self.names_of(language, &paths);
        let own = &files.first()?.1;
        let bytes = |span: Span| span.start as usize..span.end as usize;
        let covers = |name: &&NameAt| {
            let bytes = bytes(name.span);
            bytes.start <= offset && offset <= bytes.end
        };
        let at = own.iter().find(covers)?.clone();
        // A text may be a name of several kinds; the one that is defined somewhere is meant.
        let kinds: Vec<(usize, String)> = own
            .iter()
            .filter(covers)
            .map(|name| (name.kind, name.scope.clone()))
            .collect();
        let same = |name: &NameAt, kind: usize, scope: &str| {
            name.kind == kind && name.scope == scope && name.name == at.name
        };
        let defines = |(kind, scope): &&(usize, String)| {
            let mut names = files.iter().flat_map(|(_, names)| names);
            names.any(|name| name.is_definition() && same(name, *kind, scope))
        };
        let found = kinds.iter().find(defines).cloned();
        let (kind, scope) = found.unwrap_or_else(|| (at.kind, at.scope.clone()));
        let mut here = NameHere {
            what: language.called(&NameAt {
                kind,
                scope: scope.clone(),
                ..at.clone()
            }),
            here: bytes(at.span),
            name: at.name.clone(),
            defined: Vec::new(),
            used: Vec::new(),
        };
        for (path, names) in &files {
            for name in names {
                if same(name, kind, &scope) {
                    let place = (path.clone(), bytes(name.span));
                    match name.is_definition() {
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
                "`{new}` is not a name: it has blanks, or YAML reads it as something else"
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

/// Whether a name can stand anywhere in YAML as it is, and is text in every version of it.
pub fn is_plain(name: &str) -> bool {
    let is_text = |schema: yaml::Schema| schema.plain(name).is_none();
    let in_brackets =
        |c: char| matches!(c, ',' | '[' | ']' | '{' | '}') || c.is_control() || c.is_whitespace();
    let is_sign = |c: char| "-?:#&*!|>'\"%@`".contains(c);
    if name.contains(in_brackets)
        || name.starts_with(is_sign)
        || ![yaml::Schema::PyYaml, yaml::Schema::GoYaml2]
            .into_iter()
            .all(is_text)
    {
        return false;
    }
    let mut sources = Sources::new();
    let text = format!("[{name}]");
    let file = sources.add("", text.as_str());
    let parsed = yaml::parse(&sources, file, &yaml::Limits::default());
    let [document] = parsed.documents.as_slice() else {
        return false;
    };
    let items = document.root.as_sequence().unwrap_or_default();
    parsed.diagnostics.is_empty()
        && matches!(items, [one] if one.as_str() == Some(name)
            && one.span.len() == name.len()
            && one.anchor().is_none()
            && one.tag().is_none())
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn names_that_yaml_reads_as_text_need_no_quotes() {
        for name in [
            "web",
            "2web",
            "a/b",
            "app.kubernetes.io/name",
            "über",
            "x:y",
            "_a",
            "1.2.3",
        ] {
            assert!(is_plain(name), "{name}");
        }
        for name in [
            "", " ", "a ", "a b", "true", "No", "off", "y", "null", "~", "1", "1.5", "0x1f",
            "1:20", "a: b", "a #b", "#a", "-", "- a", "a,b", "{a}", "'a'", "\"a\"", "&a", "*a",
            "!a", "a\nb", "|", "@a", "a:",
        ] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
