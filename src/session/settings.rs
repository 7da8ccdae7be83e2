//! `locus.toml`: what a project asks of a check.
//!
//! ```toml
//! [rules]
//! HOT302 = "error" # or `warning`, `info`, `off`
//! HOT020 = { severity = "off", paths = ["legacy/**"] }
//!
//! [heat]
//! rules = ["rules/naming.als"] # relative to this file
//! environments = ["environments/production.yaml"]
//!
//! [heat.types."Acme::Server".properties]
//! size = { type = "integer", required = true }
//! ```

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use globset::{Glob, GlobSet, GlobSetBuilder};
use locus_core::diagnostic::Verdict;
use locus_core::value::{Field, Item, Value};
use locus_core::{Diagnostic, FileId, Severity, Sources, Span, suggest};
use locus_frontends::language::{Language, Registry, Section, settings};
use locus_frontends::loader::{Loader, PathKind};
use locus_invariants::OwnRules;
use locus_invariants::library;
use locus_invariants::rules::Source;
use rustc_hash::FxHashMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::check::Given;
use super::files::{Files, Trace, Traced};
use crate::catalogue;

/// The name of the file, looked for beside a configuration and in every folder above.
const NAME: &str = "locus.toml";

/// How bad violations of a rule can be.
const LEVELS: [&str; 4] = ["off", "info", "warning", "error"];

/// The keys that every section of a language has.
const COMMON: &[&str] = &["rules"];

/// What a project asks for.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Rules that are not checked.
    pub(super) off: Vec<String>,
    /// Rules whose violations are as bad as the project says.
    pub(super) severities: Vec<(String, Severity)>,
    /// The same for some files only.
    by_path: Vec<PathLevel>,
    /// The folder that patterns of paths are relative to.
    folder: PathBuf,
    /// What the project says about each language.
    sections: Vec<(&'static str, Section)>,
    /// The project's own rules, by language.
    rules: Vec<(&'static str, OwnRules)>,
    /// What is wrong with the settings, and the sources that this is about.
    wrong: Vec<Diagnostic>,
    sources: Sources,
    file: Option<FileId>,
}

/// How bad violations of a rule are in some files.
#[derive(Clone, Debug)]
struct PathLevel {
    id: String,
    paths: GlobSet,
    /// None when they are not reported.
    severity: Option<Severity>,
}

impl PathLevel {
    fn is_about(&self, folder: &Path, file: &str) -> bool {
        let absolute = std::path::absolute(file);
        let absolute = absolute.unwrap_or_else(|_| PathBuf::from(file));
        let inside = absolute.strip_prefix(folder).unwrap_or(&absolute);
        self.paths.is_match(inside)
    }
}

impl Settings {
    /// The rules that are off in all of some files, and need not be checked.
    pub(super) fn off_in(&self, files: &[String]) -> Vec<String> {
        let off = self.by_path.iter().filter(|level| level.severity.is_none());
        let off = off.filter(|level| {
            let mut files = files.iter();
            files.len() > 0 && files.all(|file| level.is_about(&self.folder, file))
        });
        off.map(|level| level.id.clone()).collect()
    }

    /// The rules that are off unless they are asked for, and were not.
    pub(super) fn not_asked(&self, given: &Given) -> Vec<String> {
        let in_paths = |id: &str| {
            let mut levels = self.by_path.iter();
            levels.any(|level| level.id == id && level.severity.is_some())
        };
        let mut off = self.opt_in(given);
        off.retain(|id| !in_paths(id));
        off
    }

    /// The rules that are off unless they are asked for, and were not for all files.
    fn opt_in(&self, given: &Given) -> Vec<String> {
        if given.all_rules {
            return Vec::new();
        }
        let mut off: Vec<String> = Vec::new();
        let own = self.rules.iter().flat_map(|(_, own)| own.rules());
        let own = own.filter(|rule| rule.opt_in).map(|rule| &*rule.id);
        let builtin = library::off_by_default().map(|rule| -> &str { rule });
        for rule in builtin.chain(own) {
            let only = given.only.iter().flatten().any(|id| id == rule);
            let level = self.severities.iter().any(|(id, _)| id == rule);
            if !only && !level && !off.iter().any(|id| id == rule) {
                off.push(rule.to_owned());
            }
        }
        off
    }

    /// Makes findings as bad as the settings say for the files that they are in.
    pub(super) fn by_path(&self, findings: &mut Vec<Diagnostic>, sources: &Sources, given: &Given) {
        if self.by_path.is_empty() {
            return;
        }
        let off = self.opt_in(given);
        findings.retain_mut(|finding| {
            let Some(span) = finding.primary() else {
                return true;
            };
            let file = sources.name(span.file);
            let mut levels = self.by_path.iter().rev();
            let level =
                levels.find(|level| level.id == finding.code && level.is_about(&self.folder, file));
            match level.map(|level| level.severity) {
                None => !off.contains(&finding.code),
                Some(None) => false,
                Some(Some(severity)) => {
                    // What is wrong for some inputs only stays a warning.
                    finding.severity = match finding.verdict {
                        Verdict::Violated => severity,
                        _ => severity.min(finding.severity),
                    };
                    true
                }
            }
        });
    }

    /// What the project says about a language.
    pub(super) fn section(&self, language: &dyn Language) -> Section {
        let mut sections = self.sections.iter();
        let found = sections.find(|(name, _)| *name == language.name());
        found
            .map(|(_, section)| section.clone())
            .unwrap_or_default()
    }

    /// The name and text of the file.
    pub(super) fn file(&self) -> Option<(String, Arc<str>)> {
        let file = self.file?;
        let name = self.sources.name(file).to_owned();
        Some((name, self.sources.shared_text(file)))
    }

    /// The project's own rules about a language.
    pub(super) fn rules_of(&self, language: &str) -> Option<&OwnRules> {
        let mut own = self.rules.iter();
        own.find(|(name, _)| *name == language).map(|(_, own)| own)
    }

    /// The identifiers of the project's own rules.
    pub(super) fn own_rules(&self) -> impl Iterator<Item = &str> + Clone {
        let rules = self.rules.iter().flat_map(|(_, own)| own.rules());
        rules.map(|rule| rule.id.as_str())
    }

    /// What is wrong with the settings, as diagnostics about other sources; also what a configuration showed to be wrong.
    pub(super) fn problems(&self, shown: &[Diagnostic], sources: &mut Sources) -> Vec<Diagnostic> {
        let mut wrong: Vec<Diagnostic> = self.wrong.iter().chain(shown).cloned().collect();
        if wrong.is_empty() {
            return wrong;
        }
        let files = sources.merge(vec![self.sources.clone()]);
        for diagnostic in &mut wrong {
            diagnostic.move_to(files.first().map_or(&[], Vec::as_slice));
        }
        wrong
    }
}

type Read = (Arc<Settings>, Arc<Trace>);

/// The settings that were met, each with what it was made from.
#[derive(Default)]
pub(super) struct Known {
    by_path: Mutex<FxHashMap<String, Read>>,
    none: Arc<Settings>,
}

impl Known {
    /// The settings for a file: those given, or of the nearest `locus.toml`.
    pub(super) fn of(
        &self,
        registry: &Registry,
        files: &Files,
        given: Option<&str>,
        path: &Path,
    ) -> Read {
        let traced = Traced::new(files);
        let found = given.map(str::to_owned).or_else(|| nearest(&traced, path));
        let mut seen = traced.into_trace();
        let Some(found) = found else {
            return (self.none.clone(), Arc::new(seen));
        };
        let known = self.lock().get(&found).cloned();
        let (settings, trace) = match known {
            Some(known) if known.1.holds(files) => known,
            _ => {
                let traced = Traced::new(files);
                let settings = Arc::new(read(registry, &traced, &found));
                let read = (settings, Arc::new(traced.into_trace()));
                self.lock().insert(found, read.clone());
                read
            }
        };
        seen.extend(&trace);
        (settings, Arc::new(seen))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FxHashMap<String, Read>> {
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The `locus.toml` that is nearest to a file.
fn nearest(files: &dyn Loader, path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let candidates = path.ancestors().skip(1).map(|folder| folder.join(NAME));
    let mut candidates = candidates.map(|path| path.display().to_string());
    candidates.find(|file| files.kind(file) == Some(PathKind::File))
}

fn read(registry: &Registry, files: &dyn Loader, path: &str) -> Settings {
    let mut settings = Settings::default();
    let bytes = match files.load(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("cannot read `{path}`: {}", error.reason);
            settings.wrong.push(Diagnostic::error("settings", message));
            return settings;
        }
    };
    let path = Path::new(path);
    let (file, refused) = settings.sources.add_bytes(shown(path), &bytes);
    if refused.is_some() {
        settings.wrong.extend(refused);
        return settings;
    }
    settings.file = Some(file);
    let text = settings.sources.shared_text(file);
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let absolute = std::path::absolute(folder.unwrap_or(Path::new(".")));
    settings.folder = absolute.unwrap_or_default();
    let mut reader = Reader {
        registry,
        files,
        folder: folder.unwrap_or(Path::new(".")),
        settings: &mut settings,
    };
    match DeTable::parse(&text) {
        Ok(table) => reader.sections(&fields(table.get_ref(), file)),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = error.message().trim().to_owned();
            reader.error(Span::new(file, span.start, span.end), message, None);
        }
    }
    settings
}

/// A path as it is shown: from the current folder, if it lies in that.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir();
    let inside = here.ok().and_then(|here| path.strip_prefix(here).ok());
    inside.unwrap_or(path).display().to_string()
}

/// A table with the places of its keys and values.
fn fields(table: &DeTable<'_>, file: FileId) -> Vec<Field> {
    let at = |span: std::ops::Range<usize>| Span::new(file, span.start, span.end);
    let mut fields: Vec<Field> = table
        .iter()
        .map(|(key, value)| Field {
            name: (&**key.get_ref()).into(),
            key: at(key.span()),
            item: item(value, file),
        })
        .collect();
    fields.sort_by_key(|field| field.key.start);
    fields
}

fn item(value: &Spanned<DeValue<'_>>, file: FileId) -> Item {
    let span = Span::new(file, value.span().start, value.span().end);
    let content = match value.get_ref() {
        DeValue::String(text) => Value::str(&**text),
        DeValue::Integer(number) => {
            let parsed = locus_core::Int::parse(number.as_str(), number.radix());
            parsed.map_or_else(|| Value::str(number.as_str()), Value::Int)
        }
        DeValue::Float(number) => match number.as_str().parse() {
            Ok(float) => Value::Float(float),
            Err(_) => Value::str(number.as_str()),
        },
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(time) => Value::str(time.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|one| item(one, file)).collect()),
        DeValue::Table(table) => Value::Map(fields(table, file)),
    };
    Item::new(content, span)
}

struct Reader<'a> {
    registry: &'a Registry,
    files: &'a dyn Loader,
    folder: &'a Path,
    settings: &'a mut Settings,
}

impl Reader<'_> {
    fn error(&mut self, at: Span, message: String, help: Option<String>) {
        let diagnostic = Diagnostic::error("settings", message).maybe_help(help);
        self.settings.wrong.push(diagnostic.at(at));
    }

    fn sections(&mut self, all: &[Field]) {
        for section in all {
            let language = self.registry.with_section(&section.name);
            let own = match (&section.item.value, language) {
                (Value::Map(_), None) if &*section.name == "rules" => continue,
                (Value::Map(own), Some(_)) => own,
                (other, known) => {
                    let known = known.is_some() || &*section.name == "rules";
                    self.no_section(section, known.then(|| other.describe()));
                    continue;
                }
            };
            let Some(language) = language else { continue };
            // Whatever names a file, it has one name.
            let folder = shown(self.folder);
            let wrong = &mut self.settings.wrong;
            let read = settings::read(language, own, COMMON, &folder, wrong);
            self.settings.sections.push((language.name(), read));
            let mut rules = own.iter().filter(|field| &*field.name == "rules");
            if let Some(rules) = rules.next_back() {
                let own = self.rules(language.name(), &rules.item);
                let named = own.map(|own| (language.name(), own));
                self.settings.rules.extend(named);
            }
        }
        let levels = all.iter().filter(|section| &*section.name == "rules");
        for section in levels {
            if let Value::Map(levels) = &section.item.value {
                self.levels(levels);
            }
        }
    }

    /// Says that a section is not one, or is not a table.
    fn no_section(&mut self, section: &Field, is: Option<&str>) {
        match is {
            Some(is) => {
                let message = format!("`{}` is a table, not {is}", section.name);
                self.error(section.item.span, message, None);
            }
            None => {
                let known = self.registry.languages().map(|language| language.section());
                let help = suggest::did_you_mean(&section.name, known.chain(["rules"]));
                let message = format!("`{}` is not a section of the settings", section.name);
                self.error(section.key, message, help);
            }
        }
    }

    /// The rules of some files.
    fn rules(&mut self, language: &'static str, files: &Item) -> Option<OwnRules> {
        let Value::List(files) = &files.value else {
            self.error(files.span, "`rules` takes a list of paths".to_owned(), None);
            return None;
        };
        let mut found = Vec::new();
        for name in files {
            let Some(file) = name.value.as_str() else {
                self.error(name.span, "`rules` takes a list of paths".to_owned(), None);
                continue;
            };
            let path = self.folder.join(file);
            match self.files.load(&path.display().to_string()) {
                Ok(bytes) => {
                    let text = match locus_core::decode(&bytes) {
                        Ok(text) => text.into_owned(),
                        Err(refused) => refused.shown,
                    };
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                    found.push(Source {
                        module: format!("{language}/{stem}"),
                        path: shown(&path),
                        text,
                    });
                }
                Err(error) => {
                    let message = format!("cannot read `{}`: {}", path.display(), error.reason);
                    self.error(name.span, message, None);
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        let (own, wrong) = OwnRules::read(found, &mut self.settings.sources);
        self.settings.wrong.extend(wrong);
        Some(own)
    }

    fn levels(&mut self, levels: &[Field]) {
        for Field { name, item, key } in levels {
            let id = match catalogue::find(name, self.settings.own_rules()) {
                Ok(id) => id,
                Err(refused) => {
                    self.error(*key, refused.message, refused.help);
                    continue;
                }
            };
            match &item.value {
                Value::Map(fields) => self.level(&id, fields, item.span),
                Value::List(items) => {
                    for one in items {
                        match &one.value {
                            Value::Map(fields) => self.level(&id, fields, one.span),
                            other => {
                                let message = format!("`{other}` is not a table with `severity`");
                                self.error(one.span, message, None);
                            }
                        }
                    }
                }
                _ => match self.severity(item) {
                    Some(Some(severity)) => self.settings.severities.push((id, severity)),
                    Some(None) => self.settings.off.push(id),
                    None => {}
                },
            }
        }
    }

    /// How bad something is; `off` is none within.
    fn severity(&mut self, item: &Item) -> Option<Option<Severity>> {
        match item.value.as_str() {
            Some("off") => Some(None),
            Some("info") => Some(Some(Severity::Info)),
            Some("warning") => Some(Some(Severity::Warning)),
            Some("error") => Some(Some(Severity::Error)),
            other => {
                let help = other.and_then(|word| suggest::did_you_mean(word, LEVELS));
                let message = format!("`{}` is not one of {}", item.value, LEVELS.join(", "));
                self.error(item.span, message, help);
                None
            }
        }
    }

    /// A table about one rule: how bad it is, and where.
    fn level(&mut self, id: &str, fields: &[Field], span: Span) {
        let (mut severity, mut paths) = (None, None);
        let mut wrong = false;
        for field in fields {
            match &*field.name {
                "severity" => {
                    severity = self.severity(&field.item);
                    wrong |= severity.is_none();
                }
                "paths" => {
                    paths = self.patterns(&field.item);
                    wrong |= paths.is_none();
                }
                other => {
                    let help = suggest::did_you_mean(other, ["severity", "paths"]);
                    let message = format!("`{other}` is not a setting of a rule");
                    self.error(field.key, message, help);
                    wrong = true;
                }
            }
        }
        match (severity, paths) {
            _ if wrong => {}
            (None, _) => {
                let message = format!("`severity` of `{id}` is missing");
                let help = format!("it is one of {}", LEVELS.join(", "));
                self.error(span, message, Some(help));
            }
            (Some(severity), Some(paths)) => self.settings.by_path.push(PathLevel {
                id: id.to_owned(),
                paths,
                severity,
            }),
            (Some(Some(severity)), None) => {
                self.settings.severities.push((id.to_owned(), severity));
            }
            (Some(None), None) => self.settings.off.push(id.to_owned()),
        }
    }

    /// Patterns of paths, relative to the settings.
    fn patterns(&mut self, item: &Item) -> Option<GlobSet> {
        let Value::List(items) = &item.value else {
            let message = "`paths` takes a list of patterns".to_owned();
            self.error(
                item.span,
                message,
                Some("as in `[\"legacy/**\"]`".to_owned()),
            );
            return None;
        };
        let mut set = GlobSetBuilder::new();
        let mut wrong = false;
        for one in items {
            let pattern = one.value.as_str().map(Glob::new);
            match pattern {
                Some(Ok(glob)) => {
                    set.add(glob);
                }
                Some(Err(error)) => {
                    let message = format!("`{}` is not a pattern: {}", one.value, error.kind());
                    self.error(one.span, message, None);
                    wrong = true;
                }
                None => {
                    let message = "`paths` takes a list of patterns".to_owned();
                    self.error(one.span, message, None);
                    wrong = true;
                }
            }
        }
        if wrong {
            return None;
        }
        match set.build() {
            Ok(set) => Some(set),
            Err(error) => {
                let message = format!("the patterns are too large: {}", error.kind());
                self.error(item.span, message, None);
                None
            }
        }
    }
}
